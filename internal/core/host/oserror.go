package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// OSError formats err as Python prints an OSError: "[Errno 13] Permission
// denied: '/x'". An error that does not come from the system is printed
// unchanged.
func OSError(err error) string {
	s := Strerror(err)
	if ownRefusal(err) != nil {
		return s
	}
	errno := errnoOf(err)
	if errno == 0 {
		return s
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

// ownRefusal returns the error in err with which brine itself refuses something, whose
// text says more than that of the system; or nil.
func ownRefusal(err error) error {
	if e, ok := errors.AsType[*UnsafeLinkError](err); ok {
		return e
	}
	if e, ok := errors.AsType[*SharedPathError](err); ok {
		return e
	}
	if e, ok := errors.AsType[*GivenLinkError](err); ok {
		return e
	}
	return nil
}

// errnoOf returns the number of an error of the system, 0 of another one.
func errnoOf(err error) syscall.Errno {
	var errno syscall.Errno
	switch {
	case errors.As(err, &errno):
		return errno
	case errors.Is(err, fs.ErrNotExist):
		return syscall.ENOENT
	case errors.Is(err, fs.ErrExist):
		return syscall.EEXIST
	case errors.Is(err, fs.ErrPermission):
		return syscall.EACCES
	}
	return 0
}

// OSErrorClass returns the name of the Python exception that an error of the
// system is: FileNotFoundError, PermissionError, ..., OSError; "" of what is
// none.
func OSErrorClass(err error) string {
	switch errnoOf(err) {
	case 0:
		return ""
	case syscall.ENOENT:
		return "FileNotFoundError"
	case syscall.EEXIST:
		return "FileExistsError"
	case syscall.EACCES, syscall.EPERM:
		return "PermissionError"
	case syscall.EISDIR:
		return "IsADirectoryError"
	case syscall.ENOTDIR:
		return "NotADirectoryError"
	default:
		return "OSError"
	}
}

// Strerror returns what the system says of err, as C's strerror: "Permission
// denied".
func Strerror(err error) string {
	var errno syscall.Errno
	s := err.Error()
	switch t := ownRefusal(err); {
	case t != nil:
		return t.Error()
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
