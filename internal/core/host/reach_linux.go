package host

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// openDir opens a directory that need not be readable.
const openDir = unix.O_PATH

const omitTime = unix.UTIME_OMIT

// chmodAt changes the mode of base, which must not be a link.
func chmodAt(dir int, base string, mode uint32) error {
	var st unix.Stat_t
	if err := unix.Fstatat(dir, base, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	if err := checkNames(&st); err != nil {
		return err
	}
	_, err := retryEINTR(func() (int, error) { return 0, unix.Fchmodat(dir, base, mode, unix.AT_SYMLINK_NOFOLLOW) })
	if !errors.Is(err, unix.EOPNOTSUPP) && !errors.Is(err, unix.ENOSYS) {
		return err
	}
	// A kernel before 6.6.
	fd, err := retryEINTR(func() (int, error) {
		return unix.Openat(dir, base, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if isLink(&st) {
		return unix.EOPNOTSUPP
	}
	return unix.Chmod("/proc/self/fd/"+strconv.Itoa(fd), mode)
}

// protectedHardlinks reports whether users may give a name only to files that
// they could change anyway.
var protectedHardlinks = sync.OnceValue(func() bool {
	b, err := os.ReadFile("/proc/sys/fs/protected_hardlinks")
	return err == nil && string(bytes.TrimSpace(b)) == "1"
})

// openPlain opens a path that has no links. What may have links fails with an
// error for which mayBeWalked holds.
func openPlain(path string, flags int) (int, error) {
	how := unix.OpenHow{Flags: uint64(flags), Resolve: unix.RESOLVE_NO_SYMLINKS}
	return retryEINTR(func() (int, error) { return unix.Openat2(unix.AT_FDCWD, path, &how) })
}

// mayBeWalked reports whether openPlain failed for a link, or since the kernel
// (before 5.6, or by seccomp) has no such call.
func mayBeWalked(err error) bool {
	return errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) || errors.Is(err, unix.EAGAIN)
}

// chownAt changes the owner of base itself, be it a link.
func chownAt(dir int, base string, uid, gid int) error {
	fd, err := retryEINTR(func() (int, error) {
		return unix.Openat(dir, base, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if err := checkNames(&st); err != nil {
		return err
	}
	if err := checkGift(dir, base, &st, uid); err != nil {
		return err
	}
	_, err = retryEINTR(func() (int, error) { return 0, unix.Fchownat(fd, "", uid, gid, unix.AT_EMPTY_PATH) })
	return err
}
