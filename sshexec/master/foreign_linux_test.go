package master

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// TestHostileForeign: a socket of another user is not used, who could answer everything.
func TestHostileForeign(t *testing.T) {
	t.Parallel()
	dir := socketDir(t)
	path, uid := filepath.Join(dir, "s"), os.Geteuid()
	if uid == 0 {
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		listenAs(t, path, 65534)
	} else {
		listenAs(t, path, uid)
		uid++ // of that one's point of view, this user is another one
	}
	var f *ForeignError
	if _, err := Open(t.Context(), path, uid); !errors.As(err, &f) || !strings.Contains(err.Error(), "runs as another user") {
		t.Errorf("%v", err)
	}
}

// listenAs listens at a socket as another user, which only one thread is for a moment.
func listenAs(t *testing.T, path string, uid int) {
	t.Helper()
	keep := ^uintptr(0)
	set := func(uid int) {
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, keep, uintptr(uid), keep); errno != 0 {
			t.Error(errno)
		}
	}
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	runtime.LockOSThread()
	set(uid)
	err = errors.Join(syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}), syscall.Listen(fd, 5))
	set(os.Getuid())
	runtime.UnlockOSThread()
	if err != nil {
		t.Fatal(err)
	}
}

// TestHostileOtherUser: a client of another user is not served.
func TestHostileOtherUser(t *testing.T) {
	t.Parallel()
	uid := os.Geteuid()
	if uid != 0 {
		uid++ // to the server, this user is another one
	}
	_, h, path := served(t, uid)
	if uid != 0 {
		if _, err := Open(t.Context(), path, os.Geteuid()); err == nil {
			t.Error("it was served")
		}
		return
	}
	if err := os.Chmod(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	runtime.LockOSThread()
	keep := ^uintptr(0)
	_, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, keep, 65534, keep)
	err = syscall.Connect(fd, &syscall.SockaddrUnix{Name: path})
	_, _, back := syscall.RawSyscall(syscall.SYS_SETRESUID, keep, 0, keep)
	runtime.UnlockOSThread()
	if err != nil || errno != 0 || back != 0 {
		t.Fatal(err, errno, back)
	}
	if n, err := syscall.Read(fd, make([]byte, 64)); n != 0 || err != nil {
		t.Errorf("it was told %d bytes, %v", n, err)
	}
	if h.starts.Load() != 0 {
		t.Error("a command was started")
	}
}
