//go:build linux

package machine

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestMachinesApart: machines with a unit of the same name do not share its control group,
// and leave no groups behind.
func TestMachinesApart(t *testing.T) {
	image := Image(t)
	t.Parallel()
	var a, b *Machine
	t.Run("apart", func(t *testing.T) {
		a, b = Boot(t, image), Boot(t, image)
		for _, m := range []*Machine{a, b} {
			r := m.Shell("/", "systemd-run -q --unit apart sleep 1000 && cat /sys/fs/cgroup/system.slice/apart.service/cgroup.procs /sys/fs/cgroup/*/system.slice/apart.service/cgroup.procs 2>/dev/null | sort -u")
			// The process of another machine is shown as 0.
			if pids := strings.Fields(r.Stdout); len(pids) != 1 || slices.Contains(pids, "0") {
				t.Errorf("%s: processes in the group of the unit: %q %s", m.name, pids, r.Stderr)
			}
		}
	})
	for _, m := range []*Machine{a, b} {
		if len(m.groups) == 0 {
			t.Errorf("%s has no groups of its own", m.name)
		}
		for _, dir := range m.groups {
			if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the group %s was left: %v", dir, err)
			}
		}
	}
}
