package file

import (
	"context"
	"path/filepath"
	"sort"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/tool"
)

// Perms are the owner and mode that a file should have; what is nil or "" is
// left as it is.
type Perms struct {
	User, Group value.Value // names or numbers
	Mode        string      // as NormMode writes it
	Attrs       *string     // chattr(1) attributes; "" takes all off
	Follow      bool        // of a link, what it leads to
}

// Before is how a file was before [FS.CheckPerms].
type Before struct {
	User, Group value.Value
	Mode        string
}

// sameOwner reports whether want (a name or number) is the owner with this
// name and number.
func sameOwner(want, name value.Value, id int) bool {
	if n, ok := value.AsInt(want); ok {
		return int(n) == id
	}
	return value.Equal(want, name)
}

// CheckPerms gives a file the owner, mode and attributes that p wants, and
// notes in r what it changed or, in test mode, would change. It returns an
// error where the file is not there.
//
// Salt: check_perms.
func (f *FS) CheckPerms(ctx context.Context, name string, r *Return, p Perms) (Before, error) {
	name = f.Expand(name)
	cur, err := f.Stats(name, p.Follow)
	if err != nil {
		return Before{}, err
	}
	var notes []string
	link := cur.Type == "link" || f.IsLink(name)
	newUser := truthy(p.User) && !sameOwner(p.User, cur.User, cur.UID)
	newGroup := truthy(p.Group) && !sameOwner(p.Group, cur.Group, cur.GID)
	if (newUser || newGroup) && !f.Test {
		notes = append(notes, f.giveAway(name, r, p, cur, link)...)
	}
	skipMode := p.Mode == "" || link && !p.Follow
	newMode := !skipMode && p.Mode != cur.Mode
	post := cur
	if !f.Test && (newUser || newGroup || newMode) {
		if newMode {
			f.tryChmod(name, p.Mode)
		}
		if post, err = f.Stats(name, p.Follow); err != nil {
			return Before{}, err
		}
	}
	verify := func(key string, want value.Value, done bool) {
		if done || f.Test {
			r.Changes.Set(key, want)
			return
		}
		r.Result = fun.Failed
		notes = append(notes, "Failed to change "+key+" to "+value.Str(want))
	}
	if newUser {
		verify("user", p.User, sameOwner(p.User, post.User, post.UID))
	}
	if newGroup {
		verify("group", p.Group, sameOwner(p.Group, post.Group, post.GID))
	}
	// An owner that changed may have cost the setuid bit, so the mode is
	// looked at again even where it was right.
	if !skipMode && (newMode || post.Mode != p.Mode) {
		verify("mode", p.Mode, post.Mode == p.Mode)
	}
	if p.Attrs != nil && cur.Type != "dir" && (!link || p.Follow) {
		notes = append(notes, f.checkAttrs(ctx, name, r, *p.Attrs)...)
	}
	r.note(notes)
	if f.Test && r.Changes.Len() > 0 {
		r.Result = fun.WouldChange
	}
	return Before{cur.User, cur.Group, cur.Mode}, nil
}

// tryChmod sets a mode where it is one; the caller looks whether it was set.
func (f *FS) tryChmod(name, mode string) {
	if m, ok := ParseMode(mode); ok {
		_ = f.Chmod(name, m)
	}
}

// note adds notes to the comment.
func (r *Return) note(notes []string) {
	if r.Comment != "" {
		notes = append([]string{r.Comment}, notes...)
	}
	r.Comment = strings.Join(notes, "; ")
}

// truthy reports whether an owner is named; the number 0 does not count, as in
// Salt.
func truthy(owner value.Value) bool { return value.Truth(owner) }

// giveAway changes the owner; it returns what is to be said of failure.
func (f *FS) giveAway(name string, r *Return, p Perms, cur Stats, link bool) []string {
	uid, gid := -1, -1
	var fault string
	if p.User != nil {
		id, ok := f.UserToUID(p.User)
		if !ok {
			fault += "User does not exist\n"
		}
		uid = id
	}
	if p.Group != nil {
		id, ok := f.GroupToGID(p.Group)
		if !ok {
			fault += "Group does not exist\n"
		}
		gid = id
	}
	if fault != "" {
		r.Result = fun.Failed
		return []string{fault}
	}
	chown := f.Chown
	if !p.Follow { // it may have become a link since it was looked at
		chown = f.Lchown
	}
	if err := chown(name, uid, gid); err != nil {
		r.Result = fun.Failed
		return nil
	}
	// chown takes setuid and setgid off.
	if !link || p.Follow {
		if cur.Perm()&0o6000 != 0 {
			_ = f.Chmod(name, host.FileMode(cur.Perm()))
		}
	}
	return nil
}

// checkAttrs compares and sets chattr(1) attributes, where lsattr is there.
func (f *FS) checkAttrs(ctx context.Context, name string, r *Return, want string) []string {
	have, ok := f.Lsattr(ctx, name)
	if !ok {
		return nil
	}
	added, removed := diffAttrs(have, want)
	if added == "" && removed == "" {
		return nil
	}
	changes := value.MapOf("old", have, "new", want)
	r.Changes.Set("attrs", changes)
	if f.Test {
		return nil
	}
	for _, x := range []struct{ op, attrs string }{{"+", added}, {"-", removed}} {
		if x.attrs != "" {
			_, _ = tool.Run(ctx, f.Host, "chattr", x.op+x.attrs, name)
		}
	}
	now, _ := f.Lsattr(ctx, name)
	if a, b := diffAttrs(now, want); a != "" || b != "" {
		r.Result = fun.Failed
		changes.Set("new", now)
		return []string{"Failed to change attributes to " + want}
	}
	return nil
}

// diffAttrs returns the attributes to add and to remove. The e of ext4 extents
// cannot be taken off, so it never counts.
func diffAttrs(have, want string) (added, removed string) {
	only := func(a, b string) string {
		var out []string
		for _, c := range a {
			if c != 'e' && !strings.ContainsRune(b, c) {
				out = append(out, string(c))
			}
		}
		sort.Strings(out)
		return strings.Join(out, "")
	}
	return only(want, have), only(have, want)
}

// Lsattr returns the chattr(1) attributes of a file, and false where lsattr is
// not there or does not know.
func (f *FS) Lsattr(ctx context.Context, name string) (string, bool) {
	if !tool.Has(f.Host, "lsattr") {
		return "", false
	}
	out, err := tool.Run(ctx, f.Host, "lsattr", "-d", name)
	if err != nil || !out.OK() {
		return "", false
	}
	attrs, _, _ := strings.Cut(strings.TrimSpace(out.Stdout), " ")
	return attributes(attrs), true
}

// attributes returns the letters of the first column of lsattr(1) that Salt knows.
func attributes(column string) string {
	return strings.Map(func(c rune) rune {
		if strings.ContainsRune("aAcCdDeijPsStTu", c) {
			return c
		}
		return -1
	}, column)
}

// MakeDirs makes the directory that contains name and what is missing above
// it, with owner and mode.
//
// Salt: makedirs.
func (f *FS) MakeDirs(ctx context.Context, name string, p Perms) error {
	return f.Mkdir(ctx, filepath.Dir(filepath.Clean(name)), p)
}

// Mkdir makes a directory and what is missing above it, with owner and mode;
// those that exist stay as they are.
//
// Salt: mkdir, makedirs_perms.
func (f *FS) Mkdir(ctx context.Context, dir string, p Perms) error {
	dir = filepath.Clean(f.Expand(dir))
	if f.IsDir(dir) {
		return nil
	}
	if up := filepath.Dir(dir); up != dir {
		if err := f.Mkdir(ctx, up, p); err != nil {
			return err
		}
	}
	mode, ok := ParseMode(p.Mode)
	set := false
	if p.Mode == "" || !ok {
		mode, set = f.newMode(0o777)
	}
	if err := f.Host.Mkdir(dir, mode.Perm()); err != nil && !f.IsDir(dir) {
		return err
	}
	if set {
		if err := f.Chmod(dir, mode); err != nil {
			return err
		}
	}
	return f.setPerms(ctx, dir, Perms{User: p.User, Group: p.Group, Mode: p.Mode})
}

// setPerms is CheckPerms for what was just made: it returns an error where an owner or mode
// cannot be set. Salt does not look there, and finds out when the state runs again.
func (f *FS) setPerms(ctx context.Context, name string, p Perms) error {
	r := NewReturn(name)
	if _, err := f.CheckPerms(ctx, name, r, p); err != nil {
		return err
	}
	if r.Result == fun.Failed {
		return &PermsError{name, r.Comment}
	}
	return nil
}

// A PermsError says that something was made, and that its owner or mode could not be set.
type PermsError struct{ Name, Why string }

// Error says what could not be set.
func (e *PermsError) Error() string { return e.Name + ": " + e.Why }

// DirMode returns the mode for directories that are made for a file of mode:
// each digit that gives a right also gives the right to enter.
func DirMode(mode string) string {
	if mode == "" {
		return ""
	}
	b := []byte(mode[max(0, len(mode)-3):])
	for i, c := range b {
		if c != '0' {
			b[i] = c | 1
		}
	}
	return NormMode(string(b))
}
