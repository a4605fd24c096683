package history_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// To open a history once more in a process leaves the first one its locks.
func TestOpenKeepsLocks(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history.db")
	locked := func() bool {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		// To close it would drop the locks that are looked for.
		t.Cleanup(func() { _ = f.Close() })
		// Unlike F_GETLK, this one sees the locks of this process, too.
		l := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart}
		if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, &l); err != nil {
			t.Fatal(err)
		}
		return l.Type != unix.F_UNLCK
	}
	_ = open(t, path)
	if !locked() {
		t.Fatal("an open history holds no lock on its file")
	}
	_ = open(t, path)
	if !locked() {
		t.Error("the locks of the first connection are gone")
	}
}
