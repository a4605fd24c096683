package host

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// A program follows links by its own rules, and some run what they find beside the
// files that they are given: the hooks and the configuration of a repository. The
// rules of reach.go cannot be made theirs, so a program that has root's rights and
// writes a tree of files gets only directories that nobody else can change.

// A SharedPathError says that User can change Dir, on the way to Path.
type SharedPathError struct {
	Path, Dir string
	User      string // name or number; of a group, "members of ..."
	Arg       string // argument that says who runs the program
	Err       error  // why the program could not be kept from what is in Dir, or nil
}

func (e *SharedPathError) Error() string {
	at := e.Path
	if e.Dir != e.Path {
		at += " is in " + e.Dir + ", which"
	}
	fix := "use a directory that only root can change"
	if e.Arg != "" {
		fix = fmt.Sprintf("run it as that user with the argument %s, or %s", e.Arg, fix)
	}
	why := ""
	if e.Err != nil {
		why = fmt.Sprintf(" (here brine cannot hide %s from the program: %s)", e.Dir, Strerror(e.Err))
	}
	return fmt.Sprintf("%s can be changed by %s, who could lead a program of root's elsewhere there or leave code for it%s: %s", at, e.User, why, fix)
}

// Is reports whether target is fs.ErrPermission.
func (e *SharedPathError) Is(target error) bool { return target == fs.ErrPermission }

// CheckAlone returns a *[SharedPathError] if brine runs as root and somebody
// else can change the directory at path or one of its parents, and so what a
// path through it leads to. If path does not exist, its existing parents are
// checked. arg names the argument of the call that sets the user who runs a
// program.
func CheckAlone(h Host, path, arg string) error {
	if h.Geteuid() != 0 {
		return nil
	}
	real, err := existing(h, path)
	if err != nil {
		return err
	}
	dir, who, _, err := firstShared(h, "/", real)
	if err == nil && who != "" {
		err = &SharedPathError{Path: path, Dir: dir, User: who, Arg: arg}
	}
	return err
}

// firstShared returns the first directory from top to path, which is below and has no
// links, that somebody besides root can change, and who that is. moves says that
// they can also give it another name: it is theirs in a directory like /tmp.
func firstShared(h Host, top, path string) (dir, who string, moves bool, err error) {
	for dir = top; ; {
		st, err := h.Lstat(dir)
		if err != nil {
			return "", "", false, err
		}
		if who = sharedWith(h, st); who != "" || dir == path {
			return dir, who, moves, nil
		}
		moves = st.Mode&fs.ModeSticky != 0 && st.Mode.Perm()&0o022 != 0
		rest, err := filepath.Rel(dir, path)
		if err != nil {
			return "", "", false, err
		}
		name, _, _ := strings.Cut(rest, "/")
		dir = filepath.Join(dir, name)
	}
}

// existing returns the deepest existing directory on the way to path, with
// links resolved.
func existing(h Host, path string) (string, error) {
	for p := filepath.Clean(path); ; p = filepath.Dir(p) {
		real, err := h.Target(p)
		if err == nil {
			if _, err = h.Lstat(real); err == nil {
				return real, nil
			}
		}
		if !errors.Is(err, fs.ErrNotExist) || p == filepath.Dir(p) {
			return "", err
		}
	}
}

// sharedWith returns who besides root can change a file or directory, "" where
// nobody can. In a directory with the sticky bit what is root's is root's.
func sharedWith(h Host, st Stat) string {
	switch mode := st.Mode; {
	case st.UID != 0:
		if a, err := h.LookupUID(st.UID); err == nil {
			return "user " + a.Name
		}
		return fmt.Sprintf("user %d", st.UID)
	case mode&fs.ModeSticky != 0 && mode.IsDir():
		return ""
	case mode&0o002 != 0:
		return "everybody"
	case mode&0o020 != 0 && hasOthers(h, st.GID):
		if g, err := h.LookupGID(st.GID); err == nil {
			return "members of the group " + g.Name
		}
		return fmt.Sprintf("members of the group %d", st.GID)
	}
	return ""
}

// hasOthers reports whether a group has members besides root.
func hasOthers(h Host, gid int) bool {
	if gid == 0 {
		return false
	}
	users, err := h.Users()
	if err != nil {
		return true
	}
	if slices.ContainsFunc(users, func(a Account) bool { return a.GID == gid && a.UID != 0 }) {
		return true
	}
	g, err := h.LookupGID(gid)
	return err == nil && slices.ContainsFunc(g.Members, func(m string) bool { return m != "root" })
}
