package host

import (
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// startUmask starts cmd with a umask of its own. The umask belongs to what
// threads of a process share, so the start happens on a thread that has let go
// of the share and ends afterwards; where the kernel forbids that, a shell
// sets it.
func startUmask(cmd *exec.Cmd, umask *int) error {
	if umask == nil {
		return startRetry(cmd)
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if err := unix.Unshare(unix.CLONE_FS); err != nil {
			done <- startShell(cmd, *umask)
			return
		}
		unix.Umask(*umask & 0o777)
		done <- startRetry(cmd)
	}()
	return <-done
}
