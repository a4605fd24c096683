package schedule

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
)

// UnitDir is where an administrator has units of systemd.
const UnitDir = "/etc/systemd/system"

// HasSystemd reports whether this account can install units of the system.
func HasSystemd(h host.Host) bool {
	st, err := h.Stat("/run/systemd/system")
	return err == nil && st.Mode.IsDir() && h.Geteuid() == 0
}

// Units are the units of systemd in a directory.
type Units struct {
	Host host.Host
	Dir  string
}

// Write writes the files of units, by name.
func (u *Units) Write(files map[string]string) error {
	for name, text := range files {
		mode := fs.FileMode(0o644)
		if err := u.Host.WriteFile(filepath.Join(u.Dir, name), strings.NewReader(text), host.WriteOptions{Mode: &mode}); err != nil {
			return err
		}
	}
	return nil
}

// Start starts units now and whenever the machine starts.
func (u *Units) Start(ctx context.Context, names []string) error {
	return errors.Join(u.Systemctl(ctx, append([]string{"enable", "--"}, names...)...), u.Systemctl(ctx, append([]string{"restart", "--"}, names...)...))
}

// Drop stops the units that start others, and removes their files and those of the others,
// which go on if they run.
func (u *Units) Drop(ctx context.Context, starting, others []string) error {
	if len(starting) == 0 {
		return nil
	}
	errs := []error{u.Systemctl(ctx, append([]string{"disable", "--now", "--"}, starting...)...)}
	for _, names := range [][]string{starting, others} {
		for _, n := range names {
			if err := u.Host.Remove(filepath.Join(u.Dir, n)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// Systemctl runs systemctl.
func (u *Units) Systemctl(ctx context.Context, args ...string) error {
	out, err := u.Host.Run(ctx, host.Cmd{Argv: append([]string{"systemctl"}, args...), Timeout: toolTime})
	if err == nil && out.Status != 0 {
		err = fun.Errorf("systemctl %s: %s", args[0], strings.TrimSpace(string(out.Stderr)+string(out.Stdout)))
	}
	return err
}
