package machine

import (
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
