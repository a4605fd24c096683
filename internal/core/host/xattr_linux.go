package host

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"golang.org/x/sys/unix"
)

// Xattrs is for the function of its name.
func (l *Local) Xattrs(p string) (out map[string]string, err error) {
	w, base, err := enter(p, false, true)
	if err != nil {
		return nil, &fs.PathError{Op: "listxattr", Path: p, Err: err}
	}
	defer w.close()
	err = withPath(w.fd, base, func(at string) error {
		out, err = readXattrs(at)
		return err
	})
	if err != nil {
		return nil, &fs.PathError{Op: "listxattr", Path: p, Err: err}
	}
	return out, nil
}

// SetXattrs is for the function of its name.
func (l *Local) SetXattrs(p string, want map[string]string) error {
	defer l.changes.Add(1)
	return in("setxattr", p, false, func(dir int, base string) error {
		return withPath(dir, base, func(at string) error {
			have, err := readXattrs(at)
			if err != nil {
				return err
			}
			return writeXattrs(at, have, want)
		})
	})
}

// withPath calls do with a path of the file that a name in a directory has now, whatever
// becomes of the name. A link has no attributes of those that matter: do is not called.
func withPath(dir int, base string, do func(at string) error) error {
	fd, err := retryEINTR(func() (int, error) {
		return unix.Openat(dir, base, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || isLink(&st) {
		return err
	}
	return do(fmt.Sprintf("/proc/self/fd/%d", fd))
}

// without reports whether an error says that there are no extended attributes: none of
// the name, none in the file system, or no /proc to ask by.
func without(err error) bool {
	return errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.ENODATA) || errors.Is(err, unix.ENOENT)
}

// maxXattrs is how much of names or of one value is read: more, Linux does not allow.
const maxXattrs = 64 << 10

func readXattrs(at string) (map[string]string, error) {
	n, err := unix.Listxattr(at, nil)
	if n == 0 || without(err) {
		return nil, nil
	}
	buf := make([]byte, maxXattrs)
	if n, err = unix.Listxattr(at, buf); err != nil {
		return nil, err
	}
	var out map[string]string
	for name := range strings.SplitSeq(strings.TrimRight(string(buf[:n]), "\x00"), "\x00") {
		if !isKept(name) {
			continue
		}
		n, err := unix.Getxattr(at, name, buf)
		if without(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if out == nil {
			out = map[string]string{}
		}
		out[name] = string(buf[:n])
	}
	return out, nil
}

func writeXattrs(at string, have, want map[string]string) error {
	for name := range have {
		if _, ok := want[name]; !ok {
			if err := unix.Removexattr(at, name); err != nil && !without(err) {
				return err
			}
		}
	}
	for name, text := range want {
		if now, ok := have[name]; ok && now == text {
			continue
		}
		if err := unix.Setxattr(at, name, []byte(text), 0); err != nil {
			return err
		}
	}
	return nil
}
