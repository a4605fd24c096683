package file

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/cp"
)

// A Plan is a file that is to be managed.
type Plan struct {
	Name       string
	Source     string   // "" where the content is given
	From       *Managed // the source; nil where there is none
	Contents   []byte   // where HasText
	HasText    bool
	Perms      Perms
	KeepMode   bool // the mode of the source
	Backup     string
	MakeDirs   bool
	DirMode    string
	HideDiff   bool // show_changes: False
	SkipVerify bool
	UseETag    bool
}

// content returns what the file shall have; nil where it is only to exist.
func (p *Plan) content() *Content {
	switch {
	case p.HasText:
		return Text(p.Contents)
	case p.From != nil:
		return p.From.Content
	}
	return nil
}

// checkSum returns what there is to say where the source has not the digest
// that was asked for; about names it in the text.
func (p *Plan) checkSum(about, more string) (string, error) {
	if p.Source == "" || cp.Scheme(p.Source) == "salt" || p.SkipVerify || p.UseETag || p.From == nil || p.From.Content == nil {
		return "", nil
	}
	want := p.From.Sum
	have, err := p.From.Content.Sum(want.Type)
	if err != nil || have == want.Hex {
		return "", err
	}
	return fmt.Sprintf("Specified %s checksum for %s (%s) does not match actual checksum (%s)%s", want.Type, about, want.Hex, have, more), nil
}

// sourceMode returns the mode of a source on the file server or on this
// machine, "" where it has none.
func (f *FS) sourceMode(ctx context.Context, source string) string {
	switch scheme := cp.Scheme(source); scheme {
	case "salt":
		if fi, err := f.cp().Stat(ctx, source); err == nil {
			return modeText(fi.Mode)
		}
	case "", "file":
		if st, err := f.Stat(strings.TrimPrefix(source, "file://")); err == nil {
			return modeText(st.Mode)
		}
	}
	return ""
}

// ManageFile makes a file what p says and notes in r what it did. A file is
// replaced atomically, with mode and owner; on failure it is as it was.
//
// Salt: manage_file.
func (f *FS) ManageFile(ctx context.Context, r *Return, p Plan) *Return {
	p.Name = f.Expand(p.Name)
	if p.KeepMode {
		if m := f.sourceMode(ctx, p.Source); m != "" {
			p.Perms.Mode = m
		}
	}
	st, err := f.Lstat(p.Name)
	if err == nil && (st.Mode.IsRegular() || f.IsLink(p.Name) || f.IsFile(p.Name)) {
		return f.manageOld(ctx, r, p)
	}
	return f.manageNew(ctx, r, p)
}

// manageOld manages a file that exists.
func (f *FS) manageOld(ctx context.Context, r *Return, p Plan) *Return {
	link := f.IsLink(p.Name)
	if link && p.Perms.Follow && !f.Exists(p.Name) { // a link to nowhere: the file it names is made
		return f.manageNew(ctx, r, p)
	}
	replaceLink := link && !p.Perms.Follow
	if fault := f.updateOld(r, p, replaceLink); fault != "" {
		return r.Fail("%s", fault)
	}
	if _, err := f.CheckPerms(ctx, p.Name, r, p.Perms); err != nil {
		return r.Fail("%s", err)
	}
	switch {
	case r.Changes.Len() > 0:
		if r.Result == fun.OK || r.Comment == "" {
			r.Comment = fmt.Sprintf("File %s updated", p.Name)
		}
	case r.Result == fun.OK:
		r.Comment = fmt.Sprintf("File %s is in the correct state", p.Name)
	}
	return r
}

// updateOld brings the content of a file up to date.
func (f *FS) updateOld(r *Return, p Plan, replaceLink bool) string {
	want := p.content()
	if want == nil {
		return ""
	}
	old := f.FileAt(p.Name)
	if p.From != nil && p.From.Content != nil {
		have, err := old.Sum(p.From.Sum.Type)
		if err == nil && have == p.From.Sum.Hex && !replaceLink {
			return ""
		}
		const more = ". If the 'source_hash' value refers to a remote file with multiple possible matches, then it may be necessary to set 'source_hash_name'."
		if fault, err := p.checkSum(p.Source, more); err != nil || fault != "" {
			return either(fault, err)
		}
	}
	diff, err := f.showDiff(old, want, p.HideDiff)
	if replaceLink && (err != nil || diff == "") {
		diff, err = "Replace symbolic link with regular file", nil
	}
	if err != nil {
		return "Unable to manage file: " + host.OSError(err)
	}
	if diff == "" {
		return ""
	}
	if err := f.replaceContent(r, p, replaceLink, want); err != nil {
		return "Failed to commit change: " + host.OSError(err)
	}
	r.Changes.Set("diff", diff)
	return ""
}

// showDiff is Diff, with the words that stand for it where it is not wanted.
func (f *FS) showDiff(old, want *Content, hide bool) (string, error) {
	if !hide && !value.Truth(f.Env.Opts.At("obfuscate_templates")) {
		return Diff(old, want)
	}
	same, err := old.equal(want)
	switch {
	case err != nil || same:
		return "", err
	case value.Truth(f.Env.Opts.At("obfuscate_templates")):
		return "<Obfuscated Template>", nil
	}
	return "<show_changes=False>", nil
}

// either returns the text of a fault or of an error.
func either(fault string, err error) string {
	if err != nil {
		return host.OSError(err)
	}
	return fault
}

// replaceContent backs a file up where that is asked for, and replaces it. The
// wanted mode and owner are set before the content is seen under its name, and
// noted as changes.
func (f *FS) replaceContent(r *Return, p Plan, replaceLink bool, want *Content) error {
	if mode := f.BackupMode(p.Backup); mode == "minion" || mode == "both" {
		if err := f.Backup(p.Name); err != nil {
			return err
		}
	}
	cur, err := f.Stats(p.Name, !replaceLink)
	if err != nil {
		return err
	}
	write := func(opts host.WriteOptions) error {
		rd, err := want.Open()
		if err != nil {
			return err
		}
		defer rd.Close()
		opts.FollowLinks = !replaceLink
		return f.WriteFile(p.Name, rd, opts)
	}
	opts, changes := f.attrsFor(p.Perms, cur)
	err = write(opts)
	if err != nil && (opts.UID != nil || opts.GID != nil) {
		// Who may not give files away still gets the content; CheckPerms says
		// what failed.
		return write(host.WriteOptions{})
	}
	if err == nil {
		r.Changes.Update(changes)
	}
	return err
}

// attrsFor returns how to write a file so that it has the wanted owner and
// mode, and which changes that is. What is not wanted stays as it is.
func (f *FS) attrsFor(p Perms, cur Stats) (host.WriteOptions, *value.Map) {
	var opts host.WriteOptions
	changes := value.NewMap(3)
	if cur.Type == "link" {
		return opts, changes // the link's own attributes are not the file's
	}
	if truthy(p.User) && !sameOwner(p.User, cur.User, cur.UID) {
		if uid, ok := f.UserToUID(p.User); ok {
			opts.UID = &uid
			changes.Set("user", p.User)
		}
	}
	if truthy(p.Group) && !sameOwner(p.Group, cur.Group, cur.GID) {
		if gid, ok := f.GroupToGID(p.Group); ok {
			opts.GID = &gid
			changes.Set("group", p.Group)
		}
	}
	if m, ok := ParseMode(p.Mode); ok && p.Mode != "" && p.Mode != cur.Mode {
		opts.Mode = &m
		changes.Set("mode", p.Mode)
	}
	return opts, changes
}

// manageNew makes a file that is not there.
func (f *FS) manageNew(ctx context.Context, r *Return, p Plan) *Return {
	if fault, err := p.checkSum(p.Name, ""); err != nil || fault != "" {
		return r.Fail("%s", either(fault, err))
	}
	target, err := f.Target(p.Name) // of a link, the file it names
	if err != nil {
		target = p.Name
	}
	if dir := filepath.Dir(target); !f.IsDir(dir) {
		if !p.MakeDirs {
			return r.Fail("Parent directory not present")
		}
		dirMode := p.DirMode
		if dirMode == "" {
			dirMode = DirMode(p.Perms.Mode)
		}
		if err := f.MakeDirs(ctx, target, Perms{User: p.Perms.User, Group: p.Perms.Group, Mode: dirMode}); err != nil {
			return r.Fail("Unable to manage file: %s", host.OSError(err))
		}
	}
	if f.Test {
		r.Comment = fmt.Sprintf("File %s not updated", p.Name)
		return r
	}
	if fault := f.create(r, p); fault != "" {
		return r.Fail("%s", fault)
	}
	if p.Perms.Attrs != nil {
		if notes := f.checkAttrs(ctx, p.Name, r, *p.Perms.Attrs); len(notes) > 0 {
			r.Comment = strings.Join(notes, "; ")
		}
	}
	if r.Comment == "" {
		r.Comment = fmt.Sprintf("File %s updated", p.Name)
	}
	return r
}

// create writes the new file with mode and owner at once, and notes the
// changes as Salt finds them: it makes a file that only its owner may read (or
// one by the umask, where content is given and no mode), and counts what
// differs from that.
func (f *FS) create(r *Return, p Plan) string {
	opts := host.WriteOptions{FollowLinks: true}
	if p.Perms.Mode != "" {
		m, ok := ParseMode(p.Perms.Mode)
		if !ok {
			m = host.FileMode(0o600) // as the file was before its mode is set
		}
		opts.Mode = &m
	} else if m, set := f.newMode(0o666); set {
		opts.Mode = &m
	}
	if truthy(p.Perms.User) {
		uid, ok := f.UserToUID(p.Perms.User)
		if !ok {
			return "User does not exist\n"
		}
		opts.UID = &uid
	}
	if truthy(p.Perms.Group) {
		gid, ok := f.GroupToGID(p.Perms.Group)
		if !ok {
			return "Group does not exist\n"
		}
		opts.GID = &gid
	}
	want := p.content()
	fromSource := !p.HasText && want != nil
	if want == nil {
		want = Text(nil)
	}
	rd, err := want.Open()
	if err == nil {
		err = f.WriteFile(p.Name, rd, opts)
		rd.Close()
	}
	if err != nil && (opts.UID != nil || opts.GID != nil) {
		// Who may not give files away still gets the file; what of the owner
		// could not be set is said, as in Salt.
		return f.createAsSelf(r, p, want, opts, err)
	}
	if err != nil {
		return "Unable to manage file: " + host.OSError(err)
	}
	f.noteNew(r, p, fromSource)
	return ""
}

func (f *FS) createAsSelf(r *Return, p Plan, want *Content, opts host.WriteOptions, cause error) string {
	rd, err := want.Open()
	if err == nil {
		opts.UID, opts.GID = nil, nil
		err = f.WriteFile(p.Name, rd, opts)
		rd.Close()
	}
	if err != nil {
		return "Unable to manage file: " + host.OSError(cause)
	}
	f.noteNew(r, p, !p.HasText && p.From != nil)
	st, err := f.Stats(p.Name, true)
	if err != nil {
		return err.Error()
	}
	var notes []string
	if truthy(p.Perms.User) && !sameOwner(p.Perms.User, st.User, st.UID) {
		notes = append(notes, "Failed to change user to "+value.Str(p.Perms.User))
		r.Changes.Delete("user")
	}
	if truthy(p.Perms.Group) && !sameOwner(p.Perms.Group, st.Group, st.GID) {
		notes = append(notes, "Failed to change group to "+value.Str(p.Perms.Group))
		r.Changes.Delete("group")
	}
	r.Result = fun.Failed
	r.Comment = strings.Join(notes, "; ")
	return ""
}

func (f *FS) noteNew(r *Return, p Plan, fromSource bool) {
	if p.HasText || fromSource {
		r.Changes.Set("diff", "New file")
	} else {
		r.Changes.Set("new", fmt.Sprintf("file %s created", p.Name))
		r.Comment = "Empty file"
	}
	if truthy(p.Perms.User) && !sameOwner(p.Perms.User, f.UIDToUser(f.Geteuid()), f.Geteuid()) {
		r.Changes.Set("user", p.Perms.User)
	}
	if truthy(p.Perms.Group) {
		gid := f.Getegid()
		if dir, err := f.Stat(filepath.Dir(p.Name)); err == nil && dir.Perm()&0o2000 != 0 {
			gid = dir.GID
		}
		if !sameOwner(p.Perms.Group, f.GIDToGroup(gid), gid) {
			r.Changes.Set("group", p.Perms.Group)
		}
	}
	mode := p.Perms.Mode
	if mode == "" && fromSource {
		if st, err := f.Stat(p.Name); err == nil {
			mode = modeText(st.Mode)
		}
	}
	if _, ok := ParseMode(mode); mode != "" && !ok {
		r.Result, r.Comment = fun.Failed, joinNotes(r.Comment, "Failed to change mode to "+mode)
	} else if mode != "" && mode != "0600" {
		r.Changes.Set("mode", mode)
	}
}

// joinNotes adds a remark to a comment.
func joinNotes(comment, more string) string {
	if comment == "" {
		return more
	}
	return comment + "; " + more
}

// WouldChange returns what ManageFile would change, or what there is to say
// where the source cannot be had.
//
// Salt: check_managed_changes, check_file_meta.
func (f *FS) WouldChange(ctx context.Context, p Plan) (*value.Map, error) {
	changes := value.NewMap(2)
	p.Name = f.Expand(p.Name)
	if p.KeepMode {
		if m := f.sourceMode(ctx, p.Source); m != "" {
			p.Perms.Mode = m
		}
	}
	st, err := f.Stats(p.Name, p.Perms.Follow)
	if err != nil {
		changes.Set("newfile", p.Name)
		return changes, nil
	}
	want := p.content()
	due := want != nil
	if due && !p.HasText {
		have, err := f.FileAt(p.Name).Sum(p.From.Sum.Type)
		due = err != nil || have != p.From.Sum.Hex
	}
	if due && st.Type != "dir" {
		diff, err := f.showDiff(f.FileAt(p.Name), want, false)
		if err != nil {
			diff = host.Strerror(err)
		}
		if diff != "" {
			changes.Set("diff", diff)
		}
	}
	if u := p.Perms.User; u != nil && !sameOwner(u, st.User, st.UID) {
		changes.Set("user", u)
	}
	if g := p.Perms.Group; g != nil && !sameOwner(g, st.Group, st.GID) {
		changes.Set("group", g)
	}
	if p.Perms.Mode != "" && p.Perms.Mode != st.Mode {
		changes.Set("mode", p.Perms.Mode)
	}
	if p.Perms.Attrs != nil && *p.Perms.Attrs != "" {
		if have, ok := f.Lsattr(ctx, p.Name); ok {
			if a, b := diffAttrs(have, *p.Perms.Attrs); a != "" || b != "" {
				changes.Set("attrs", *p.Perms.Attrs)
			}
		}
	}
	return changes, nil
}
