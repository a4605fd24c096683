package host

import (
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// startUmask starts cmd with a umask of its own, and, where it runs as another user,
// in its directory as this user enters it: the other one may not be allowed to, as with
// sudo and su. Both belong to what threads of a process share, so the start happens on a
// thread that has let go of the share and ends afterwards; where the kernel forbids
// that, a shell sets the umask, and the other user has to enter the directory. With a
// it sees what that says, or is not started.
func startUmask(cmd *exec.Cmd, umask *int, a *apart) error {
	enter := cmd.Dir != "" && cmd.SysProcAttr != nil && cmd.SysProcAttr.Credential != nil
	if umask == nil && !enter && a == nil {
		return startRetry(cmd)
	}
	done := make(chan error)
	onOwnThread(func() {
		if a != nil {
			done <- a.start(cmd, umask)
			return
		}
		if err := unix.Unshare(unix.CLONE_FS); err != nil {
			if umask == nil {
				done <- startRetry(cmd)
			} else {
				done <- startShell(cmd, *umask)
			}
			return
		}
		if umask != nil {
			unix.Umask(*umask & 0o777)
		}
		if enter && unix.Chdir(cmd.Dir) == nil { // else the start says what is wrong with it
			cmd.Dir = ""
		}
		done <- startRetry(cmd)
	})
	return <-done
}

// onOwnThread calls do on a thread that ends afterwards. That is not the first one: it
// does not end, and what /proc shows of the process is that of this thread. It waits
// here while another works.
func onOwnThread(do func()) {
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() != unix.Getpid() {
			do() // never unlocked: the thread ends with the goroutine
			return
		}
		defer runtime.UnlockOSThread()
		ran := make(chan struct{})
		go func() {
			defer close(ran)
			runtime.LockOSThread()
			do()
		}()
		<-ran
	}()
}
