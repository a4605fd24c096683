//go:build unix

package sshexec

import "syscall"

// FileLimit returns how many descriptors this process may have; 0 is not known.
// The limit has been raised to the hard one by then: the os package of Go does so
// when a program starts, and gives programs that it runs the one from before.
func FileLimit() int {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return 0
	}
	return int(min(uint64(l.Cur), 1<<30)) //nolint:unconvert // Cur is signed on FreeBSD
}
