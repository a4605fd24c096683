package main

import (
	"os"
	"syscall"
)

// peak returns the most memory that a process had, in KiB.
func peak(s *os.ProcessState) int64 {
	if u, ok := s.SysUsage().(*syscall.Rusage); ok {
		return u.Maxrss
	}
	return 0
}
