package machine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"brine/internal/core/host"
)

// Saves reports whether what a machine of the driver changed can be saved, and be part of
// others. Without root, files of other users could not be removed again.
func (d *Driver) Saves(h host.Host) bool { return !d.container && !d.given && h.Geteuid() == 0 }

// powerOff is the signal by which systemd powers a machine off.
const powerOff = syscall.Signal(34 + 4)

// Save ends what runs in the machine, and copies what it has other than its image to a
// directory, which is made.
func (m *Machine) Save(ctx context.Context, dir string) error {
	if m.driver.boots {
		if err := syscall.Kill(m.init, powerOff); err != nil {
			return fmt.Errorf("switch the machine off: %w", err)
		}
		if err := m.waitEnded(ctx); err != nil {
			return err
		}
	}
	if err := m.pool.Host.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	// Attributes say which files of the image are gone.
	copyAll := `tar -C "$1" --xattrs "--xattrs-include=*" -cf - . | tar -C "$2" --xattrs "--xattrs-include=*" --numeric-owner -xpf -`
	argv := append(m.mounts(), "sh", "-euc", copyAll, "sh", filepath.Join(m.dir, "m/up"), dir)
	out, err := m.pool.Host.Run(ctx, host.Cmd{Argv: argv, Merge: true})
	if text := strings.TrimSpace(string(out.Stdout)); err == nil && (out.Status != 0 || text != "") {
		err = fmt.Errorf("save what the machine changed: tar ended with status %d: %s", out.Status, text)
	}
	return err
}

// waitEnded waits until a machine with an init has ended.
func (m *Machine) waitEnded(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, bootTime)
	defer cancel()
	for {
		if _, err := m.pool.Host.Stat(filepath.Join(m.dir, "ended")); err == nil {
			return nil
		}
		select {
		case <-m.over:
			return m.why()
		case <-ctx.Done():
			return errors.New("the machine did not end")
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// unlikeScript prints those paths of a machine that are not as in its image.
const unlikeScript = `root=$1 over=$2 image=$3
shift 3
for p; do
	if [ -n "$over" ] && { [ -e "$over$p" ] || [ -L "$over$p" ]; }; then was=$over$p; else was=$image$p; fi
	now=$root$p
	if [ ! -e "$was" ] && [ ! -L "$was" ] && [ ! -e "$now" ] && [ ! -L "$now" ]; then continue; fi
	if [ "$(stat -c '%f %u %g' "$was" 2>/dev/null)" = "$(stat -c '%f %u %g' "$now" 2>/dev/null)" ]; then
		if [ -L "$now" ]; then
			[ "$(readlink "$was")" != "$(readlink "$now")" ] || continue
		elif [ -d "$now" ]; then
			continue
		elif [ -f "$now" ]; then
			! cmp -s "$was" "$now" || continue
		fi
	fi
	printf '%s\0' "$p"
done
`

// Unlike returns those of some paths that are not as in the image of the machine.
func (m *Machine) Unlike(ctx context.Context, paths []string) ([]string, error) {
	argv := append(m.mounts(), "sh", "-c", unlikeScript, "sh", filepath.Join(m.dir, "m/root"), m.saved, m.image)
	out, err := m.pool.Host.Run(ctx, host.Cmd{Argv: append(argv, paths...), ReadOnly: true})
	if err != nil {
		return nil, err
	}
	if out.Status != 0 {
		return nil, fmt.Errorf("compare the files with those of the image: %s", strings.TrimSpace(string(out.Stderr)))
	}
	var unlike []string
	for p := range strings.SplitSeq(string(out.Stdout), "\x00") {
		if p != "" {
			unlike = append(unlike, p)
		}
	}
	return unlike, nil
}
