package host

import (
	"os"
	"os/exec"

	"golang.org/x/sys/unix"
)

// start starts cmd in the network, which the first program makes.
func (n *Netns) start(cmd *exec.Cmd) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	done := make(chan error)
	onOwnThread(func() { done <- n.enter(cmd) })
	return <-done
}

// enter starts cmd on a thread that ends afterwards.
func (n *Netns) enter(cmd *exec.Cmd) error {
	if n.ns != nil {
		if err := unix.Setns(int(n.ns.Fd()), unix.CLONE_NEWNET); err != nil {
			return os.NewSyscallError("setns", err)
		}
		return startRetry(cmd)
	}
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return os.NewSyscallError("unshare", err)
	}
	ns, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return err
	}
	n.ns = ns
	return startRetry(cmd)
}
