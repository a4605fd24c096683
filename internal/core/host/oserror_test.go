package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"
)

func TestOSError(t *testing.T) {
	t.Parallel()
	// The wanted texts are Python's on Linux.
	for _, tt := range []struct {
		err  error
		want string
	}{
		{&fs.PathError{Op: "open", Path: "/x", Err: syscall.EACCES}, "[Errno 13] Permission denied: '/x'"},
		{fmt.Errorf("write: %w", &fs.PathError{Op: "open", Path: "/x", Err: fs.ErrNotExist}), "[Errno 2] No such file or directory: '/x'"},
		{&os.LinkError{Op: "symlink", Old: "a", New: "b", Err: syscall.EEXIST}, "[Errno 17] File exists: 'a' -> 'b'"},
		{errors.New("plain"), "plain"},
	} {
		if got := OSError(tt.err); got != tt.want {
			t.Errorf("OSError(%v) = %q, want %q", tt.err, got, tt.want)
		}
	}
}
