package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// OSError returns err in the words in which Python prints an OSError:
// "[Errno 13] Permission denied: '/x'". What is no error of the system is
// printed as it is.
func OSError(err error) string {
	s := Strerror(err)
	var errno syscall.Errno
	if !errors.As(err, &errno) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrPermission) {
		return s
	}
	if errno == 0 {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			errno = syscall.ENOENT
		case errors.Is(err, fs.ErrExist):
			errno = syscall.EEXIST
		default:
			errno = syscall.EACCES
		}
	}
	s = fmt.Sprintf("[Errno %d] %s", int(errno), s)
	var link *os.LinkError
	var path *fs.PathError
	switch {
	case errors.As(err, &link):
		s += ": '" + link.Old + "' -> '" + link.New + "'"
	case errors.As(err, &path):
		s += ": '" + path.Path + "'"
	}
	return s
}

// Strerror returns what the system says of err, as C's strerror: "Permission
// denied".
func Strerror(err error) string {
	var errno syscall.Errno
	s := err.Error()
	switch {
	case errors.As(err, &errno):
		s = errno.Error()
	case errors.Is(err, fs.ErrNotExist):
		s = syscall.ENOENT.Error()
	case errors.Is(err, fs.ErrExist):
		s = syscall.EEXIST.Error()
	case errors.Is(err, fs.ErrPermission):
		s = syscall.EACCES.Error()
	default:
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
