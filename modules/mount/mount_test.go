package mount_test

import (
	"context"
	"io/fs"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	"brine/modules/mount"
)

const table = "# static\n/dev/sdz1 /data ext4 defaults 0 2 # note\nUUID=1234 /boot ext2 ro 0 1\nproc\n\ntmpfs /tmp tmpfs b,a\n"

func machine() *host.Fake {
	h := host.NewFake()
	h.PutFile("/etc/fstab", table, 0o600)
	h.PutFile("/proc/self/mounts", "/dev/sda1 / ext4 rw 0 0\ntmpfs /mnt/a\\040b tmpfs rw,uid=root 0 0\n", 0o444)
	h.PutFile("/proc/self/mountinfo", "1 0 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n2 1 0:30 / /mnt/a\\040b rw - tmpfs tmpfs rw,size=1024k\nshort line\n", 0o444)
	h.PutFile("/proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n/dev/sda2 partition 100 0 -2\n", 0o444)
	h.PutExe("/sbin/blkid")
	h.OnCommand("blkid", host.Output{Stdout: []byte("/dev/sda1: UUID=\"ABC\" LABEL=\"ro\\\"ot\" TYPE=\"ext4\"\n")})
	h.HandleCommand("*mount *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		if c.Argv[len(c.Argv)-1] == "/bad" {
			return host.Output{Status: 32, Stderr: []byte("mount: /bad: mount point does not exist.\n")}, nil
		}
		return host.Output{}, nil
	})
	h.HandleCommand("swap* -- *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		return host.Output{}, nil
	})
	return h
}

func rig(h host.Host) *calltest.Rig {
	return calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "mount", Load: mount.Module})
}

func TestFstab(t *testing.T) {
	t.Parallel()
	h := machine()
	rig(h).Steps(t, []calltest.Step{
		{"call mount.fstab []", "{'/boot': {'device': 'UUID=1234', 'fstype': 'ext2', 'opts': ['ro'], 'dump': '0', 'pass': '1'}, '/tmp': {'device': 'tmpfs', 'fstype': 'tmpfs', 'opts': ['b', 'a'], 'dump': '0', 'pass': '0'}}"},
		{"call mount.fstab [/etc/none]", "{}"},
		{"call mount.set_fstab {name: /tmp, device: tmpfs, fstype: tmpfs, opts: [a, b]}", "'present'"},
		{"call mount.set_fstab {name: /tmp, device: tmpfs, fstype: tmpfs, opts: 'a,c', test: True}", "'change'"},
		{"call mount.set_fstab {name: /tmp, device: tmpfs, fstype: tmpfs, opts: 'a,c', not_change: True}", "'present'"},
		{"call mount.set_fstab {name: /boot, device: UUID=1234, fstype: ext4, match_on: [name, device]}", "'change'"},
		{"call mount.set_fstab {name: '/mnt/a b', device: //h/x y, fstype: cifs, opts: 'a,b c'}", "'new'"},
		{"call mount.set_fstab {name: /x, device: a, fstype: ext4, match_on: [name, bogus]}", `error: Unrecognized keys in match_on: "bogus"`},
		{"call mount.set_fstab {name: /x, device: a, fstype: ext4, config: /etc/none}", `error: Bad config file "/etc/none"`},
		{`call mount.set_fstab {name: "/x\n/dev/x", device: a, fstype: ext4}`, `error: invalid name of an fstab entry: '/x\n/dev/x'`},
		{"call mount.rm_fstab [/data, /dev/sdz1]", "True"},
		{"call mount.rm_fstab [/tmp, other]", "True"},
		{"call mount.rm_fstab [/tmp, null]", "True"},
	})
	want := "# static\n/dev/sdz1 /data ext4 defaults 0 2 # note\nUUID=1234\t\t/boot\text4\tdefaults\t0 0\nproc\n\n//h/x\\040y\t\t/mnt/a\\040b\tcifs\ta,b\\040c\t0 0\n"
	if got := h.Text("/etc/fstab"); got != want {
		t.Errorf("fstab:\n%s\nwant:\n%s", got, want)
	}
	if st, _ := h.Stat("/etc/fstab"); st.Mode.Perm() != fs.FileMode(0o600) {
		t.Errorf("mode %o", st.Mode.Perm())
	}
}

func TestMounts(t *testing.T) {
	t.Parallel()
	h := machine()
	r := rig(h)
	r.Steps(t, []calltest.Step{
		{"call mount.active []", `{'/': {'device': '/dev/sda1', 'alt_device': '/dev/sda1', 'fstype': 'ext4', 'opts': ['rw']}, '/mnt/a\\040b': {'device': 'tmpfs', 'alt_device': 'tmpfs', 'fstype': 'tmpfs', 'opts': ['rw', 'uid=0']}}`},
		{"call mount.active [True]", `{'/': {'mountid': '1', 'parentid': '0', 'major': '8', 'minor': '1', 'root': '/', 'opts': ['rw', 'relatime'], 'fstype': 'ext4', 'device': '/dev/sda1', 'alt_device': '/dev/sda1', 'superopts': ['rw'], 'device_uuid': 'abc', 'device_label': 'ro\\"ot'}, '/mnt/a\\040b': {'mountid': '2', 'parentid': '1', 'major': '0', 'minor': '30', 'root': '/', 'opts': ['rw'], 'fstype': 'tmpfs', 'device': 'tmpfs', 'alt_device': 'tmpfs', 'superopts': ['rw', 'size=1024k'], 'device_uuid': None, 'device_label': None}}`},
		{"call mount.is_mounted ['/mnt/a b']", "True"},
		{"call mount.is_mounted [/mnt]", "False"},
		{"call mount.mount [/mnt/new, tmpfs, True, tmpfs, 'ro,nodev']", "True"},
		{"call mount.mount [/bad]", "'mount: /bad: mount point does not exist.'"},
		{"call mount.mount {name: /x, device: y, util: guestfs}", "error: util must be mount: brine does not mount images by guestfs"},
		{"call mount.mount {name: /x, device: y, user: nosuch}", "error: User 'nosuch' is not available"},
		{"call mount.remount {name: /, device: /dev/sda1, opts: ro}", "True"},
		{"call mount.umount [/]", "True"},
		{"call mount.umount [/nowhere]", "'/nowhere does not have anything mounted'"},
		{"call mount.swaps []", "{'/dev/sda2': {'type': 'partition', 'size': '100', 'used': '0', 'priority': '-2'}}"},
		{"call mount.swapon [/dev/sda2]", "{'stats': {'type': 'partition', 'size': '100', 'used': '0', 'priority': '-2'}, 'new': False}"},
		{"call mount.swapon [/dev/sdx, 3]", "{}"},
		{"call mount.swapoff [/dev/sdx]", "None"},
		{"call mount.swapoff [/dev/sda2]", "False"},
		{"call mount.get_device_from_path [/etc/fstab]", "'/dev/sda1'"},
		{"call mount.get_mount_from_path [/etc/fstab]", "'/'"},
		{"call mount.is_fuse_exec [nosuch]", "False"},
		{"call mount.write_mount_cache [/m, d, False, tmpfs, [a]]", "True"},
		{"call mount.read_mount_cache [/m]", "{'device': 'd', 'fstype': 'tmpfs', 'mkmnt': False, 'opts': ['a']}"},
		{"call mount.delete_mount_cache [/m]", "True"},
		{"call mount.read_mount_cache [/m]", "{}"},
	})
	var calls []string
	for _, c := range h.Calls() {
		calls = append(calls, strings.Join(c.Argv, " "))
	}
	want := "blkid|mount -o ro,nodev -t tmpfs -- tmpfs /mnt/new|mount -- /bad|mount -o ro,remount -- /dev/sda1 /|umount -- /|swapon -p 3 -- /dev/sdx|swapoff -- /dev/sda2"
	if got := strings.Join(calls, "|"); got != want {
		t.Errorf("commands:\n%s\nwant:\n%s", got, want)
	}
}

func FuzzTables(f *testing.F) {
	f.Add(table)
	f.Add("1 0 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n/dev/sda1: UUID=\"A\" B=\"\\\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		end := text
		if end != "" && !strings.HasSuffix(end, "\n") {
			end += "\n"
		}
		tab := mount.ParseTable(text)
		if got := tab.String(); got != end {
			t.Errorf("printed again: %q", got)
		}
		e := mount.Entry{Device: "/dev/fuzz", Name: "/fuzz", FSType: "ext4", Opts: "ro", Dump: "0", Pass: "0"}
		on, _ := e.Criteria(nil)
		set, _ := tab.Set(e, on, false)
		if _, did := set.Set(e, on, false); did != "present" {
			t.Errorf("the entry does not settle in %q", set.String())
		}
		mount.ParseMounts(text)
		mount.ParseMountInfo(text)
		mount.ParseBlkid(text)
	})
}
