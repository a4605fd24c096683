package host

import (
	"io/fs"
	"syscall"
	"testing"
)

// TestOfTarget: an error names the file that was to be written, not the one that
// is staged beside it.
func TestOfTarget(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  error
		want string
	}{
		{&fs.PathError{Op: "openat", Path: "/etc/.brine-0123", Err: syscall.EACCES}, "write /etc/hosts: permission denied"},
		{&fs.PathError{Op: "openat", Path: ".brine-0123", Err: syscall.EACCES}, "write /etc/hosts: permission denied"},
		{&fs.PathError{Op: "open", Path: ".", Err: syscall.EROFS}, "open /etc/hosts: read-only file system"},
		{&fs.PathError{Op: "open", Path: "/etc", Err: syscall.EIO}, "open /etc: input/output error"},
		{syscall.ENOSPC, "no space left on device"},
	} {
		if got := ofTarget(tt.err, "/etc/hosts").Error(); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.err, got, tt.want)
		}
	}
}
