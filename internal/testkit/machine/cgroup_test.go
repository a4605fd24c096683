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

func TestGroupDirs(t *testing.T) {
	t.Parallel()
	const (
		hybrid = `30 25 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
31 30 0:27 / /sys/fs/cgroup/unified rw,nosuid shared:9 - cgroup2 cgroup2 rw
32 30 0:28 / /sys/fs/cgroup/systemd rw,nosuid shared:10 - cgroup cgroup rw,xattr,name=systemd
33 30 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
`
		unified = "31 25 0:27 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
		inside  = "31 25 0:27 /docker/x /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n"
	)
	for _, test := range []struct{ name, mounts, groups, want string }{
		{"both", hybrid, "9:name=systemd:/a/b\n4:memory:/m\n0::/c\n", "/sys/fs/cgroup/systemd/a/b /sys/fs/cgroup/unified/c"},
		{"unified", unified, "0::/user.slice/x\n", "/sys/fs/cgroup/user.slice/x"},
		{"a part of it is mounted", inside, "0::/docker/x/y\n", "/sys/fs/cgroup/y"},
		{"another part is mounted", inside, "0::/elsewhere\n", ""},
		{"not mounted", "", "0::/\n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := strings.Join(groupDirs(test.mounts, test.groups), " "); got != test.want {
				t.Errorf("want %s, got %s", test.want, got)
			}
		})
	}
}

// Machines with a unit of the same name do not share its control group, and leave
// no groups behind.
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
