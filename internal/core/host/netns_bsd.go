//go:build darwin || freebsd

package host

import (
	"errors"
	"os/exec"
)

func (*Netns) start(*exec.Cmd) error { return errors.ErrUnsupported }
