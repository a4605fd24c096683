package machine

import (
	"context"
	_ "embed"
	"errors"
	"strings"

	"brine/internal/core/host"
)

//go:embed apt.sh
var aptScript string

// noApt is the exit status of aptScript on a machine without apt.
const noApt = 3

// ErrNoApt says that a machine does not install packages of Debian.
var ErrNoApt = errors.New("the machine has no apt-get: packages are made and served only for Debian and its kin")

// Offer lets apt of the machine install from a repository, which the machine has at dir.
// The error is [ErrNoApt] where there is no apt.
func (m *Machine) Offer(ctx context.Context, dir string) error {
	out, err := m.Run(ctx, host.Cmd{Argv: []string{"/bin/sh", "-c", aptScript, "apt.sh", dir, label}, Merge: true})
	switch {
	case err != nil:
		return err
	case out.Status == noApt:
		return ErrNoApt
	case out.Status != 0:
		return errors.New("apt cannot read them: " + strings.TrimSpace(string(out.Stdout)))
	}
	return nil
}
