package host

import (
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// nameless returns a new file in root that has no name, so that it is gone with
// the process, or nil where the file system cannot. It needs /proc for its name
// later on.
func nameless(root *os.Root, perm fs.FileMode) *os.File {
	f, err := root.OpenFile(".", os.O_RDWR|unix.O_TMPFILE, perm)
	if err != nil {
		return nil
	}
	if _, err := os.Stat(procName(f)); err != nil {
		_ = f.Close()
		return nil
	}
	return f
}

func procName(f *os.File) string {
	return "/proc/self/fd/" + strconv.Itoa(int(f.Fd()))
}

// link gives a nameless file its name, which must be free.
func link(f *os.File, root *os.Root, name string) error {
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	return unix.Linkat(unix.AT_FDCWD, procName(f), int(dir.Fd()), name, unix.AT_SYMLINK_FOLLOW)
}
