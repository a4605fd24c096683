package link_test

import "syscall"

// alive reports whether a process group is there, by its leader.
func alive(pid int) bool { return syscall.Kill(-pid, 0) == nil }

func kill(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
