package host

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// An UntrustedFileError says that a file that was found, not named, is not read:
// somebody else could have written it.
type UntrustedFileError struct{ Path, Why string }

func (e *UntrustedFileError) Error() string {
	return fmt.Sprintf("%s is not read, since it %s: give it to yourself or root and take write permission from others, or name it on the command line", e.Path, e.Why)
}

// ReadTrusted returns the content of a file that says what is run, such as a
// configuration that lies where brine looks for one. As ssh does with its own
// configuration, it refuses, with an *[UntrustedFileError], a file that belongs
// to somebody else than root or oneself, or that others may write. A group may
// where it is one's own or that of root.
func ReadTrusted(h Host, path string) ([]byte, error) {
	f, err := h.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var st Stat
	if o, ok := f.(interface{ Stat() (os.FileInfo, error) }); ok { // of what is read, whatever the name leads to by now
		fi, err := o.Stat()
		if err != nil {
			return nil, err
		}
		st = statOf(path, fi)
	} else if st, err = h.Stat(path); err != nil {
		return nil, err
	}
	if why := untrusted(h, st); why != "" {
		return nil, &UntrustedFileError{path, why}
	}
	b, err := io.ReadAll(io.LimitReader(f, maxDevice+1))
	if err == nil && len(b) > maxDevice {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("more than %d bytes", maxDevice)}
	}
	return b, err
}

// Untrusted says why somebody else could have written a file, or what is in a directory;
// "" where only oneself and root could.
func Untrusted(h Host, st Stat) string { return untrusted(h, st) }

// untrusted says why a file is not to be trusted, "" where it is.
func untrusted(h Host, st Stat) string {
	switch {
	case st.UID != 0 && st.UID != h.Geteuid():
		who := fmt.Sprintf("user %d", st.UID)
		if a, err := h.LookupUID(st.UID); err == nil {
			who = "user " + a.Name
		}
		return "belongs to " + who
	case st.Mode.Perm()&0o002 != 0:
		return "is writable by everybody"
	case st.Mode.Perm()&0o020 != 0 && st.GID != 0 && st.GID != h.Getegid():
		who := fmt.Sprintf("group %d", st.GID)
		if g, err := h.LookupGID(st.GID); err == nil {
			who = "the group " + g.Name
		}
		return "is writable by " + who
	}
	return ""
}
