// Package file is Salt's execution module file, and what the file states are
// made of.
//
// [Module] lists the functions. The states work on an [FS], which is the files
// of one call: start there, then [FS.ManageFile] and [FS.CheckPerms].
//
// Salt: salt/modules/file.py.
package file

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/cp"
	"brine/modules/machine"
)

// An FS is the file system as one call of a function sees it.
type FS struct {
	Env     *fun.Env
	Test    bool   // change nothing
	SaltEnv string // of sources that name none
	// Umask, where set, holds for what is made without a mode of its own,
	// instead of the process's.
	Umask *uint32

	host.Host
}

// A BelowFS is an FS for work on all that a directory holds.
type BelowFS struct {
	FS
	Done func() // lets go of the directory
}

// Below returns f for work on all that dir holds: what it gives away, changes
// the mode of or removes there is reached through no link.
func (f *FS) Below(dir string) (*BelowFS, error) {
	h, done, err := host.Beneath(f.Host, dir)
	if err != nil {
		return nil, err
	}
	below := *f
	below.Host = h
	return &BelowFS{below, done}, nil
}

// failure returns an error in Salt's words, which do not name the cause, and
// tells the cause as a warning.
func (f *FS) failure(cause error, format string, args ...any) error {
	err := fun.Errorf(format, args...)
	f.Env.Warn(fun.Warning{Text: err.Error() + ": " + host.OSError(cause)})
	return err
}

// newMode returns the mode of a file (0666) or directory (0777) that is made
// without one of its own, and whether a umask says it; else the process's
// applies.
func (f *FS) newMode(all fs.FileMode) (fs.FileMode, bool) {
	if f.Umask == nil {
		return all, false
	}
	return all &^ fs.FileMode(*f.Umask&0o777), true
}

// New returns the files of a call.
func New(env *fun.Env, saltenv string, test bool) *FS {
	if saltenv == "" {
		saltenv = env.SaltEnv
	}
	if saltenv == "" {
		saltenv = "base"
	}
	return &FS{Env: env, Test: test, SaltEnv: saltenv, Host: env.Host}
}

// cp returns the client that fetches sources.
func (f *FS) cp() *cp.Client { return cp.New(f.Env, f.SaltEnv) }

// Opt returns an option of the configuration as text.
func (f *FS) Opt(name string) string {
	if v := f.Env.Opts.At(name); v != nil {
		return value.Str(v)
	}
	return ""
}

// Expand is [machine.Expand].
func (f *FS) Expand(p string) string { return machine.Expand(f.Host, p) }

// Exists reports whether path is there, links followed.
func (f *FS) Exists(path string) bool { _, err := f.Stat(path); return err == nil }

// LExists reports whether path is there, be it a link to nowhere.
func (f *FS) LExists(path string) bool { _, err := f.Lstat(path); return err == nil }

// IsFile reports whether path is a regular file, links followed.
func (f *FS) IsFile(path string) bool {
	st, err := f.Stat(path)
	return err == nil && st.Mode.IsRegular()
}

// IsDir reports whether path is a directory, links followed.
func (f *FS) IsDir(path string) bool {
	st, err := f.Stat(path)
	return err == nil && st.Mode.IsDir()
}

// IsLink reports whether path is a symbolic link.
func (f *FS) IsLink(path string) bool {
	st, err := f.Lstat(path)
	return err == nil && st.Mode&fs.ModeSymlink != 0
}

// RealPath resolves the links in path as Python's os.path.realpath: what does
// not exist stays as it is, as does a path that a link of another user leads
// astray. It is for what is shown and compared: what is opened is the path as it
// was given.
func (f *FS) RealPath(p string) string {
	if !filepath.IsAbs(p) {
		if wd, err := f.Getwd(); err == nil {
			p = filepath.Join(wd, p)
		}
	}
	p = filepath.Clean(p)
	rest := ""
	for dir := p; ; {
		if real, err := f.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		} else if errors.Is(err, fs.ErrPermission) {
			return p
		}
		if to, err := f.Readlink(dir); err == nil { // a link to nowhere
			if !filepath.IsAbs(to) {
				to = filepath.Join(filepath.Dir(dir), to)
			}
			if to != dir && f.LExists(filepath.Dir(to)) {
				return filepath.Join(to, rest)
			}
		}
		if dir == "/" {
			return p
		}
		rest = filepath.Join(filepath.Base(dir), rest)
		dir = filepath.Dir(dir)
	}
}

// NormMode returns a mode as four digits or more ("0644"), and "" for None:
// YAML makes a number of 0644, and users write modes in many ways.
// Salt: salt/utils/files.py normalize_mode.
func NormMode(v value.Value) string {
	if v == nil {
		return ""
	}
	s := strings.ReplaceAll(value.Str(v), "0o", "0")
	s = strings.TrimLeft(strings.Trim(strings.Trim(s, `"`), "'"), "0")
	for len(s) < 4 {
		s = "0" + s
	}
	return s
}

// ParseMode returns a mode that [NormMode] wrote as bits, and false where it
// is not an octal number.
func ParseMode(mode string) (fs.FileMode, bool) {
	n, err := strconv.ParseUint(mode, 8, 16)
	if err != nil || n > 0o7777 {
		return 0, false
	}
	return host.FileMode(uint32(n)), true
}

// modeText returns the permission bits of a file as "0644".
func modeText(m fs.FileMode) string {
	return NormMode(strconv.FormatUint(uint64(host.UnixMode(m)), 8))
}

// UserToUID returns the number of a user: of a name, of a number itself, of
// None the one brine runs as. It returns false where the user is not known.
func (f *FS) UserToUID(user value.Value) (int, bool) {
	if user == nil {
		return f.Geteuid(), true
	}
	if n, ok := value.AsInt(user); ok {
		return int(n), true
	}
	a, err := f.LookupUser(value.Str(user))
	return a.UID, err == nil
}

// GroupToGID returns the number of a group, and false where it is not known.
func (f *FS) GroupToGID(group value.Value) (int, bool) {
	if group == nil {
		return 0, false
	}
	if n, ok := value.AsInt(group); ok {
		return int(n), true
	}
	g, err := f.LookupGroup(value.Str(group))
	return g.GID, err == nil
}

// UIDToUser returns the name of a user, or the number where it has none.
func (f *FS) UIDToUser(uid int) value.Value {
	if a, err := f.LookupUID(uid); err == nil {
		return a.Name
	}
	return int64(uid)
}

// GIDToGroup returns the name of a group, or the number where it has none.
func (f *FS) GIDToGroup(gid int) value.Value {
	if g, err := f.LookupGID(gid); err == nil {
		return g.Name
	}
	return int64(gid)
}

// DefaultUser returns the user that brine runs as: Salt's __opts__['user'].
func (f *FS) DefaultUser() value.Value {
	if f.Geteuid() == 0 {
		if u := f.Opt("user"); u != "" {
			return u
		}
	}
	return f.UIDToUser(f.Geteuid())
}

// PrimaryGroup returns the primary group of a user by name; that of a user who
// is not known is the group 0, as in Salt.
func (f *FS) PrimaryGroup(user value.Value) value.Value {
	gid := 0
	if n, ok := value.AsInt(user); ok {
		if a, err := f.LookupUID(int(n)); err == nil {
			gid = a.GID
		}
	} else if a, err := f.LookupUser(value.Str(user)); err == nil {
		gid = a.GID
	}
	return f.GIDToGroup(gid)
}

// Stats are what file.stats tells of a file.
type Stats struct {
	host.Stat
	User, Group value.Value // names, or numbers where there is none
	Mode        string      // "0644"
	Type        string      // file, dir, link, char, block, pipe, socket
}

// Stats returns what is known of a file; of a link to nowhere, of the link. A
// path that is not there is "Path not found: ...".
func (f *FS) Stats(p string, follow bool) (Stats, error) {
	st, err := f.Lstat(p)
	if err == nil && follow && st.Mode&fs.ModeSymlink != 0 {
		if to, err := f.Stat(p); err == nil {
			st = to
		}
	}
	if err != nil {
		return Stats{}, &notFoundError{fun.CommandError{Msg: "Path not found: " + p}}
	}
	return Stats{
		Stat: st, User: f.UIDToUser(st.UID), Group: f.GIDToGroup(st.GID),
		Mode: modeText(st.Mode), Type: typeName(st.Mode),
	}, nil
}

// ErrNotFound is the error of Stats, and of what calls it, of a path that is not
// there.
var ErrNotFound = errors.New("path not found")

// A notFoundError is ErrNotFound with Salt's text.
type notFoundError struct{ fun.CommandError }

func (e *notFoundError) Unwrap() error { return &e.CommandError }

// Is reports whether target is ErrNotFound.
func (e *notFoundError) Is(target error) bool { return target == ErrNotFound }

func typeName(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "dir"
	case m&fs.ModeSymlink != 0:
		return "link"
	case m&fs.ModeCharDevice != 0:
		return "char"
	case m&fs.ModeDevice != 0:
		return "block"
	case m&fs.ModeNamedPipe != 0:
		return "pipe"
	case m&fs.ModeSocket != 0:
		return "socket"
	}
	return "file"
}

// Seconds returns a time as Python's float of seconds.
func Seconds(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }

// Unix returns the time of a Python number of seconds.
func Unix(v value.Value) (time.Time, bool) {
	switch v := v.(type) {
	case int64:
		return time.Unix(v, 0), true
	case float64:
		sec := int64(v)
		return time.Unix(sec, int64((v-float64(sec))*1e9)), true
	case string:
		n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
		return time.Unix(n, 0), err == nil
	}
	return time.Time{}, false
}

// Touch creates an empty file, or sets the times of one that exists. A nil
// time is now. Salt: touch.
func (f *FS) Touch(p string, atime, mtime value.Value) error {
	var at, mt time.Time
	var ok bool
	if atime != nil {
		if at, ok = Unix(atime); !ok {
			return invalid("atime and mtime must be integers")
		}
	}
	if mtime != nil {
		if mt, ok = Unix(mtime); !ok {
			return invalid("atime and mtime must be integers")
		}
	}
	there := f.LExists(p)
	if err := f.AppendFile(p, nil, 0o666); err != nil && !f.IsDir(p) {
		return err
	}
	if mode, set := f.newMode(0o666); set && !there {
		if err := f.Chmod(p, mode); err != nil {
			return err
		}
	}
	now := f.Now()
	if atime == nil {
		at = now
	}
	if mtime == nil {
		mt = now
	}
	return f.Chtimes(p, at, mt)
}

// Remove takes a file, a link or a directory with all in it out, and reports
// whether there was one. Salt: remove.
func (f *FS) Remove(p string) (bool, error) {
	if !filepath.IsAbs(p) {
		return false, fun.Errorf("File path must be absolute: %s", p)
	}
	st, err := f.Lstat(p)
	if err != nil {
		return false, nil
	}
	if err := f.CheckSystem(p, false); err != nil {
		return false, fun.Errorf("%s", err)
	}
	if st.Mode.IsDir() {
		err = f.RemoveAll(p)
	} else {
		err = f.Host.Remove(p)
	}
	if err != nil {
		return false, fun.Errorf("Could not remove '%s': %s", p, host.OSError(err))
	}
	return true, nil
}

// Walk visits dir and the directories below it, the upper ones first, with the
// names of directories (links to some among them, but those are not entered
// unless follow) and of other files in each. It stops when visit returns an
// error. Directories that cannot be read are left out.
func (f *FS) Walk(dir string, follow bool, visit func(dir string, dirs, files []string) error) error {
	return f.walk(dir, follow, nil, visit)
}

func (f *FS) walk(dir string, follow bool, above []host.Stat, visit func(string, []string, []string) error) error {
	names, err := f.ReadDir(dir)
	if err != nil {
		return nil // as Python's os.walk
	}
	var dirs, files []string
	for _, n := range names {
		if f.IsDir(path.Join(dir, n)) {
			dirs = append(dirs, n)
		} else {
			files = append(files, n)
		}
	}
	if err := visit(dir, dirs, files); err != nil {
		return err
	}
	for _, n := range dirs {
		sub := path.Join(dir, n)
		if !follow && f.IsLink(sub) {
			continue
		}
		st, err := f.Stat(sub)
		if err != nil || within(above, st) {
			continue
		}
		if err := f.walk(sub, follow, append(above, st), visit); err != nil {
			return err
		}
	}
	return nil
}

// within reports whether st is one of the directories above: a loop of links.
func within(above []host.Stat, st host.Stat) bool {
	for _, a := range above {
		if a.Inode == st.Inode && a.Dev == st.Dev {
			return true
		}
	}
	return false
}
