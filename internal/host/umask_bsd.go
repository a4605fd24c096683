//go:build darwin || freebsd

package host

import "os/exec"

// startUmask starts cmd with a umask of its own, which a shell sets: the
// umask of this process belongs to all its threads.
func startUmask(cmd *exec.Cmd, umask *int) error {
	if umask == nil {
		return startRetry(cmd)
	}
	return startShell(cmd, *umask)
}
