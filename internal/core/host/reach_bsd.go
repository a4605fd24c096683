//go:build darwin || freebsd

package host

import "golang.org/x/sys/unix"

// openDir opens a directory.
const openDir = unix.O_RDONLY

// omitTime leaves a time as it is (UTIME_OMIT).
const omitTime = -2

// chmodAt changes the mode of base, which must not be a link.
func chmodAt(dir int, base string, mode uint32) error {
	var st unix.Stat_t
	if err := unix.Fstatat(dir, base, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	if isLink(&st) {
		return unix.EOPNOTSUPP
	}
	_, err := retryEINTR(func() (int, error) { return 0, unix.Fchmodat(dir, base, mode, unix.AT_SYMLINK_NOFOLLOW) })
	return err
}

// protectedHardlinks reports whether users may give a name only to files that
// they could change anyway. These systems leave that to the administrator.
func protectedHardlinks() bool { return true }

// openPlain opens a path that has no links: these systems have no such call.
func openPlain(string, int) (int, error) { return -1, unix.ENOSYS }

// mayBeWalked reports whether openPlain did not say what the path leads to.
func mayBeWalked(error) bool { return true }

// chownAt changes the owner of base itself, be it a link.
func chownAt(dir int, base string, uid, gid int) error {
	var st unix.Stat_t
	if err := unix.Fstatat(dir, base, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	if err := checkNames(&st); err != nil {
		return err
	}
	if err := checkGift(dir, base, &st, uid); err != nil {
		return err
	}
	_, err := retryEINTR(func() (int, error) { return 0, unix.Fchownat(dir, base, uid, gid, unix.AT_SYMLINK_NOFOLLOW) })
	return err
}
