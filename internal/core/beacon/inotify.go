package beacon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"brine/internal/core/host"
	"brine/internal/py/pyre"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

const (
	maxFiles = 10000    // files that a beacon watches
	maxHash  = 64 << 20 // bytes of a file whose content is compared; a larger one counts by size and time
)

// masks are the changes that can be seen by comparing, with their names in events.
var masks = map[string]string{
	"create": "IN_CREATE", "delete": "IN_DELETE", "modify": "IN_MODIFY", "attrib": "IN_ATTRIB", "close_write": "IN_CLOSE_WRITE", "delete_self": "IN_DELETE_SELF",
}

// unseen are those that only a process sees which watches all the time.
var unseen = []string{"access", "close_nowrite", "excl_unlink", "dont_follow", "ignored", "moved_from", "moved_to", "move_self", "oneshot", "onlydir", "open", "unmount"}

// inotify tells of files that were made, changed or removed. It compares with what it saw
// before, by the hash of the content; a path unit of systemd has it look at once.
// Salt: salt/beacons/inotify.py. Difference: it is not told of changes, so it sees no more
// than what is different from the look before.
var inotify = Kind{
	Name: "inotify", Doc: "files that were made, changed or removed",
	keys: []key{
		{name: "files", required: true, check: (*checking).isMapping},
		{name: "coalesce", check: (*checking).isBool},
	},
	check: func(c *checking) {
		c.mappings("files", []string{"auto_add", "exclude", "mask", "recurse"}, true, func(at source.Pos, where string, m *value.Map) {
			for k, v := range m.All() {
				switch name := value.Str(k); name {
				case "auto_add", "recurse":
					c.isBool(m.Pos(k), where+": "+name, v)
				case "mask":
					c.masks(m.Pos(k), where, v)
				case "exclude":
					c.excludes(m.Pos(k), where, v)
				}
			}
		})
		all := c.mapping("files")
		for k := range all.All() {
			c.isPath(all.Pos(k), "files", k)
		}
	},
	look: lookFiles,
}

// masks checks the changes that are to be seen.
func (c *checking) masks(at source.Pos, where string, v value.Value) {
	l, ok := v.(*value.List)
	if !ok {
		c.fault(at, "", "%s: mask must be a list, not %s", where, value.Kind(v))
		return
	}
	names := []string{"create", "delete", "modify", "attrib", "close_write", "delete_self"}
	for i, x := range l.Items {
		name := value.Str(x)
		switch {
		case masks[name] != "":
		case slices.Contains(unseen, name):
			c.fault(l.PosAt(i), "masks are "+strings.Join(names, ", "), "%s: mask: %s needs a process that watches all the time, which brine does not have", where, name)
		default:
			c.fault(l.PosAt(i), "masks are "+strings.Join(names, ", "), "%s: there is no mask %q%s", where, name, source.DidYouMean(name, names))
		}
	}
}

// excludes checks what is left out.
func (c *checking) excludes(at source.Pos, where string, v value.Value) {
	if _, err := excluding(v); err != nil {
		c.fault(at, "", "%s: exclude: %v", where, err)
	}
}

// excluding returns what tells whether a path is left out: it begins with one of a list, or
// matches a glob or, as {PATTERN: {regex: True}}, a regular expression.
func excluding(v value.Value) (func(path string) bool, error) {
	if v == nil {
		return func(string) bool { return false }, nil
	}
	l, ok := v.(*value.List)
	if !ok {
		return nil, fmt.Errorf("it must be a list, not %s", value.Kind(v))
	}
	var tests []func(string) bool
	for _, x := range l.Items {
		pattern, regex := value.Str(x), false
		if m, ok := x.(*value.Map); ok && m.Len() == 1 {
			k, o := m.Entry(0)
			pattern = value.Str(k)
			if o, ok := o.(*value.Map); ok {
				regex = value.Truth(o.At("regex"))
			}
		} else if _, ok := x.(string); !ok {
			return nil, fmt.Errorf("%s is neither a path nor {PATTERN: {regex: True}}", value.Repr(x))
		}
		switch {
		case regex:
			re, err := pyre.Compile(pattern, 0)
			if err != nil {
				return nil, fmt.Errorf("%q is not a regular expression: %w", pattern, err)
			}
			tests = append(tests, func(path string) bool {
				hit, err := re.Has(path)
				return err == nil && hit
			})
		case strings.Contains(pattern, "*"):
			tests = append(tests, func(path string) bool { return value.Fnmatch(pattern, path) })
		default:
			tests = append(tests, func(path string) bool { return strings.HasPrefix(path, pattern) })
		}
	}
	return func(path string) bool {
		return slices.ContainsFunc(tests, func(t func(string) bool) bool { return t(path) })
	}, nil
}

// Watched returns the paths that beacons watch: what a path unit of systemd waits for.
func (c *Config) Watched() (names, paths []string) {
	for _, e := range c.Entries {
		if e.Kind.Name != inotify.Name || !e.Enabled {
			continue
		}
		names = append(names, e.Name)
		for k := range e.mapping("files").All() {
			paths = append(paths, value.Str(k))
		}
	}
	slices.Sort(paths)
	return names, slices.Compact(paths)
}

func lookFiles(ctx context.Context, l *look) (found []*value.Map, err error) {
	var errs []error
	last := l.state.Map("last")
	kept, n := value.NewMap(4), 0
	for k, v := range l.mapping("files").All() {
		top := value.Str(k)
		o, _ := v.(*value.Map)
		skip, err := excluding(o.At("exclude"))
		if err != nil {
			return nil, err
		}
		w := &walk{h: l.env.Host, recurse: value.Truth(o.At("recurse")), skip: skip, was: last.Map(top), is: value.NewMap(8), left: maxFiles - n}
		if err := w.top(ctx, top); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", top, err))
			if w.was != nil {
				kept.Set(top, w.was) // to compare with when it can be read again
			}
			continue
		}
		n += w.is.Len()
		kept.Set(top, w.is)
		if w.was != nil {
			found = append(found, differences(top, w.was, w.is, maskOf(o.At("mask")))...)
		}
	}
	if len(found) > maxFound {
		errs = append(errs, fmt.Errorf("%d changes at once are more than %d: the others are not told", len(found), maxFound))
		found = found[:maxFound]
	}
	l.state.Set("last", kept)
	return found, errors.Join(errs...)
}

// maskOf returns the changes that are to be seen.
func maskOf(v value.Value) []string {
	if l, ok := v.(*value.List); ok && l.Len() > 0 {
		return l.Strs()
	}
	return []string{"create", "delete", "modify"}
}

// A walk notes the files at a path.
type walk struct {
	h       host.Host
	recurse bool
	skip    func(string) bool
	was, is *value.Map // the notes of each path; was is nil in the first look
	left    int        // how many more files it may note
}

// top notes a watched path and, of a directory, what is in it. A path that does not exist
// is not an error: it may come.
func (w *walk) top(ctx context.Context, path string) error {
	st, err := w.h.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = w.note(path, st)
	}
	if err != nil || !st.Mode.IsDir() {
		return err
	}
	return w.dir(ctx, path)
}

func (w *walk) dir(ctx context.Context, path string) error {
	names, err := w.h.ReadDir(path)
	if err != nil {
		return err
	}
	for _, name := range names {
		p := filepath.Join(path, name)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if w.skip(p) {
			continue
		}
		st, err := w.h.Lstat(p)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = w.note(p, st)
		}
		if err == nil && w.recurse && st.Mode.IsDir() {
			err = w.dir(ctx, p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// note notes a file: its type and permissions, owner, what tells whether it may have
// changed, and the hash of its content, which is worked out again only then.
func (w *walk) note(path string, st host.Stat) error {
	if w.left--; w.left < 0 {
		return fmt.Errorf("there are more than %d files", maxFiles)
	}
	attrs := fmt.Sprintf("%o %d %d", uint32(st.Mode), st.UID, st.GID)
	moment := fmt.Sprintf("%d %d %d %d", st.Size, st.Mtime.UnixNano(), st.Ctime.UnixNano(), st.Inode)
	sum := ""
	if old, _ := w.was.At(path).(*value.List); old.Len() == 3 && old.Items[1] == moment {
		sum = value.Str(old.Items[2])
	} else {
		var err error
		if sum, err = w.content(path, st); err != nil {
			return err
		}
	}
	w.is.Set(path, value.NewList(attrs, moment, sum))
	return nil
}

// content is what is compared of a file.
func (w *walk) content(path string, st host.Stat) (string, error) {
	switch {
	case st.Mode&fs.ModeSymlink != 0:
		to, err := w.h.Readlink(path)
		return "link " + to, err
	case !st.Mode.IsRegular():
		return "", nil // a directory has changed where what is in it has
	case st.Size > maxHash:
		return fmt.Sprintf("large %d %d", st.Size, st.Mtime.UnixNano()), nil
	}
	f, err := w.h.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, io.LimitReader(f, maxHash)); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// differences returns the data of the changes between two looks, by path.
func differences(top string, was, is *value.Map, want []string) (found []*value.Map) {
	tell := func(path string, isDir bool, changes ...string) {
		for _, change := range changes {
			if !slices.Contains(want, change) {
				continue
			}
			name, dir := masks[change], path
			if isDir {
				name += "|IN_ISDIR"
			}
			if path != top {
				dir = filepath.Dir(path)
			}
			found = append(found, value.MapOf("tag", dir, "path", path, "change", name))
		}
	}
	all := was.Copy()
	all.Update(is)
	for _, path := range sorted(all) {
		old, _ := was.At(path).(*value.List)
		cur, _ := is.At(path).(*value.List)
		switch {
		case old.Len() != 3 && cur.Len() != 3: // not what was noted
		case old.Len() != 3:
			tell(path, isDirNote(cur), "create")
		case cur.Len() != 3 && path == top:
			tell(path, isDirNote(old), "delete_self", "delete")
		case cur.Len() != 3:
			tell(path, isDirNote(old), "delete")
		default:
			if old.Items[2] != cur.Items[2] {
				tell(path, false, "modify", "close_write")
			}
			if old.Items[0] != cur.Items[0] {
				tell(path, isDirNote(cur), "attrib")
			}
		}
	}
	return found
}

// isDirNote reports whether a note is that of a directory.
func isDirNote(l *value.List) bool {
	var mode uint32
	_, err := fmt.Sscanf(value.Str(l.Items[0]), "%o", &mode)
	return err == nil && fs.FileMode(mode).IsDir()
}
