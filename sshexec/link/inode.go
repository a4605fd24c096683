package link

import (
	"io/fs"
	"syscall"
)

// inode returns the number of a file and the time of its last change of any
// kind, as far as the system tells them.
func inode(st fs.FileInfo) any {
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	return [2]uint64{uint64(sys.Dev), uint64(sys.Ino)} //nolint:unconvert // types differ by system
}
