package host

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// The root directory and the directories that the system consists of are not
// removed, and not changed with all that they hold, unless the caller says so by
// [Files].Force: an empty variable in a path ("/{{ app }}") must not cost a
// machine. Remove, RemoveAll and Rename refuse them as they walk to the path.
// What goes through a directory, or has a program do so, asks CheckSystem first,
// in test mode too.

// systemDirs are the directories under / that are refused, and those that they
// are links to on most systems.
var systemDirs = []string{
	"/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib32", "/lib64", "/libexec", "/libx32", "/opt", "/proc",
	"/root", "/run", "/sbin", "/srv", "/sys", "/tmp", "/usr", "/var",
	"/usr/bin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32", "/usr/sbin",
}

// A SystemPathError says that Path is the system directory Dir, by whatever
// name, and that it was left as it is.
type SystemPathError struct{ Path, Dir string }

func (e *SystemPathError) Error() string {
	is := "it"
	if e.Path != e.Dir {
		is = e.Dir
	}
	return fmt.Sprintf("refusing to remove or recursively change %q: %s is a system directory (force_system_path: True allows it)", e.Path, is)
}

// isSystem reports whether a path without links is a system directory.
func isSystem(path string) bool { return path == "/" || slices.Contains(systemDirs, path) }

// checkSystem is CheckSystem of a machine that nobody forces.
func checkSystem(f Files, path string, follow bool) error {
	if !filepath.IsAbs(path) {
		return nil
	}
	names := []string{filepath.Clean(path)}
	if real, err := realPath(f, path); err == nil {
		names = append(names, real)
	}
	if follow {
		if real, err := f.EvalSymlinks(path); err == nil {
			names = append(names, real)
		}
	}
	for _, name := range names {
		if isSystem(name) {
			return &SystemPathError{path, name}
		}
	}
	for _, dir := range systemDirs {
		if real, err := f.EvalSymlinks(dir); err == nil && real != dir && slices.Contains(names, real) {
			return &SystemPathError{path, dir}
		}
	}
	return nil
}

// realPath returns a path without links, but for one in its last part.
func realPath(f Files, path string) (string, error) {
	path = strings.TrimRight(path, "/")
	for strings.HasSuffix(path, "/.") {
		path = strings.TrimRight(strings.TrimSuffix(path, "/."), "/")
	}
	dir, base := filepath.Split(path)
	if base == "" || base == ".." {
		return f.EvalSymlinks(path + "/")
	}
	real, err := f.EvalSymlinks(dir)
	return filepath.Join(real, base), err
}

// spare returns an error where base in a directory without links is a system
// directory.
func spare(path, dir, base string) error {
	if full := filepath.Join(dir, base); isSystem(full) {
		return &SystemPathError{path, full}
	}
	return nil
}

// A remover is a machine that removes and renames whatever it is told to.
type remover interface {
	remove(path string, forced bool) error
	removeAll(path string, forced bool) error
	rename(from, to string, forced bool) error
}

// forced is a machine whose system directories may be removed.
type forced struct {
	Host
	on remover
}

func (f forced) CheckSystem(string, bool) error { return nil }
func (f forced) Force() Host                    { return f }
func (f forced) Remove(path string) error       { return f.on.remove(path, true) }
func (f forced) RemoveAll(path string) error    { return f.on.removeAll(path, true) }
func (f forced) Rename(from, to string) error   { return f.on.rename(from, to, true) }

// CheckSystem returns a *SystemPathError where path is a system directory.
func (l *Local) CheckSystem(path string, follow bool) error { return checkSystem(l, path, follow) }

// Force returns l, whose system directories may be removed.
func (l *Local) Force() Host { return forced{l, l} }

// CheckSystem returns a *SystemPathError where path is a system directory.
func (f *Fake) CheckSystem(path string, follow bool) error { return checkSystem(f, path, follow) }

// Force returns f, whose system directories may be removed.
func (f *Fake) Force() Host { return forced{f, f} }

// Force returns f, whose system directories may be removed.
func (f *fakeFork) Force() Host { return forced{f, f.Fake} }
