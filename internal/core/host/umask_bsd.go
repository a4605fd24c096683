//go:build darwin || freebsd

package host

import (
	"errors"
	"os/exec"
)

// startUmask starts cmd with a umask of its own, which a shell sets: the
// umask of this process belongs to all its threads. There are no views of their own here.
func startUmask(cmd *exec.Cmd, umask *int, a *apart) error {
	if a != nil {
		return a.refuse(errors.ErrUnsupported)
	}
	if umask == nil {
		return startRetry(cmd)
	}
	return startShell(cmd, *umask)
}
