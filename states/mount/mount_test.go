package mount_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	mod "brine/modules/mount"
	"brine/states/mount"
)

// machine mounts in memory: mount, umount and swapon change what /proc says.
func machine() (*calltest.Rig, *host.Fake) {
	h := host.NewFake()
	h.PutFile("/etc/fstab", "# static\n/dev/sdb1 /data ext4 defaults 0 2\n", 0o644)
	for _, d := range []string{"/mnt/a", "/mnt/c", "/src", "/data"} {
		h.PutDir(d, 0o755)
	}
	lines := []string{"1 0 8:1 / / rw - ext4 /dev/sda1 rw"}
	proc := func() {
		h.PutFile("/proc/self/mountinfo", strings.Join(lines, "\n")+"\n", 0o444)
		short := ""
		for _, l := range lines {
			f := strings.Fields(l)
			short += f[8] + " " + f[4] + " " + f[7] + " " + f[5] + " 0 0\n"
		}
		h.PutFile("/proc/self/mounts", short, 0o444)
	}
	h.PutFile("/proc/swaps", "Filename\n", 0o444)
	proc()
	drop := func(name string) {
		lines = slices.DeleteFunc(lines, func(l string) bool { return strings.Fields(l)[4] == name })
	}
	h.HandleCommand("mount *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		n := len(c.Argv)
		name, device, opts, kind := c.Argv[n-1], "tmpfs", "rw", "tmpfs"
		if c.Argv[n-2] != "--" {
			device = c.Argv[n-2]
		}
		if i := slices.Index(c.Argv, "-o"); i > 0 {
			opts += "," + c.Argv[i+1]
		}
		if device == "/dev/bad" {
			return host.Output{Status: 32, Stderr: []byte("mount: " + name + ": special device /dev/bad does not exist.\n")}, nil
		}
		drop(name)
		super := "rw"
		for _, m := range []string{"1", "2"} {
			if strings.Contains(opts, "size="+m+"m") {
				super = map[string]string{"1": "rw,size=1024k", "2": "rw,size=2048k"}[m]
			}
		}
		lines = append(lines, "2 1 0:3 / "+name+" "+opts+" - "+kind+" "+device+" "+super)
		proc()
		return host.Output{}, nil
	})
	h.HandleCommand("umount -- *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		if c.Argv[2] == "/data" {
			return host.Output{Status: 32, Stderr: []byte("umount: /data: target is busy.\n")}, nil
		}
		drop(c.Argv[2])
		proc()
		return host.Output{}, nil
	})
	h.HandleCommand("swapon -- *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		if c.Argv[2] == "/swap" {
			h.PutFile("/proc/swaps", "Filename\n/swap file 1 0 -2\n", 0o444)
		}
		return host.Output{}, nil
	})
	h.PutExe("/sbin/blkid")
	h.OnCommand("blkid *", host.Output{Status: 2})
	h.OnCommand("blkid", host.Output{})
	h.OnCommand("blkid /dev/sdb1", host.Output{Stdout: []byte("/dev/sdb1: UUID=\"AB-1\" TYPE=\"ext4\"\n")})
	return calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "mount", Load: mod.Module}, fun.Entry{Kind: fun.State, Name: "mount", Load: mount.States}), h
}

func TestMounted(t *testing.T) {
	t.Parallel()
	r, h := machine()
	const a = "{name: /mnt/a/, device: tmpfs, fstype: tmpfs, opts: 'size=1m,nodev'}"
	const b = "{name: /mnt/a, device: tmpfs, fstype: tmpfs, opts: 'size=2m,nodev'}"
	r.Steps(t, []calltest.Step{
		{"test mount.mounted " + a, "None: /mnt/a would be mounted {}"},
		{"state mount.mounted " + a, "True: Target was successfully mounted. Added new entry to the fstab. {'mount': True, 'persist': 'new'}"},
		{"state mount.mounted " + a, "True: Target was already mounted. Entry already exists in the fstab. {}"},
		{"test mount.mounted " + a, "True: Target was already mounted. Entry already exists in the fstab. {}"},
		{"test mount.mounted " + b, "None: Remount would be forced because options (size=1m)changed {}"},
		{"test mount.mounted {name: /mnt/a, device: tmpfs, fstype: tmpfs, persist: False, opts: 'size=1m,nodev,noauto,user,exec,suid,async,x-systemd.automount'}", "True: Target was already mounted {}"},
		{"state mount.mounted {name: /mnt/x, device: /dev/sdb1, fstype: ext4, mkmnt: True, persist: False, opts: noatime}", "True: Target was successfully mounted {'mount': True}"},
		{"test mount.mounted {name: /mnt/x, device: /dev/sdb1, fstype: ext4, persist: False, opts: 'noatime,noauto,user,exec,suid,async,x-systemd.automount'}", "True: Target was already mounted {}"},
		{"test mount.mounted {name: /mnt/x, device: /dev/sdb1, fstype: ext4, persist: False, opts: 'noatime,noexec,sync'}", "None: Remount would be forced because options (noexec,sync) changed {}"},
		{"state mount.unmounted {name: /mnt/x}", "True: Target was successfully unmounted {'umount': True}"},
		{"watch mount.mounted " + a, "True: /mnt/a/ remounted {}"},
		{"state mount.mounted " + b, "True: Target was already mounted. Updated the entry in the fstab. {'umount': 'Forced remount because options (size=1024k) changed', 'persist': 'update'}"},
		{"test mount.mounted {name: /mnt/a, device: other, fstype: tmpfs, persist: False, opts: 'size=2m,nodev'}", "None: An umount would have been forced because devices do not match.  Watched: other {}"},
		{"state mount.mounted {name: /mnt/a, device: other, fstype: tmpfs, persist: False, opts: 'size=2m,nodev', device_name_regex: ['t.p']}", "True: An umount will not be forced because device matched device_name_regex: tmpfs {}"},
		{"state mount.mounted {name: /mnt/a, device: other, fstype: tmpfs, persist: False, opts: 'size=2m,nodev'}", "True: Target was successfully mounted {'umount': \"Forced unmount because devices don't match. Wanted: other, current: tmpfs, /root/tmpfs\", 'mount': True}"},
		{"test mount.mounted {name: /mnt/n, device: tmpfs, fstype: tmpfs}", "None: /mnt/n does not exist and would not be created {}"},
		{"test mount.mounted {name: /mnt/n, device: tmpfs, fstype: tmpfs, mkmnt: True}", "None: /mnt/n would be created and mounted {}"},
		{"state mount.mounted {name: /mnt/n, device: tmpfs, fstype: tmpfs}", "False: Mount directory is not present {}"},
		{"test mount.mounted {name: /mnt/n, device: tmpfs, fstype: tmpfs, mount: False, persist: False, mkmnt: True}", "None: /mnt/n would be created, but not mounted {}"},
		{"state mount.mounted {name: /mnt/n, device: tmpfs, fstype: tmpfs, mount: False, persist: False, mkmnt: True}", "True: /mnt/n was created, not mounted {}"},
		{"state mount.mounted {name: /mnt/c, device: tmpfs, fstype: tmpfs, mount: False, config: /etc/none}", "False: /mnt/c not mounted. However, the fstab was not found. {}"},
		{"test mount.mounted {name: /mnt/c, device: tmpfs, fstype: tmpfs, mount: False}", "None: /mnt/c would not be mounted. /mnt/c needs to be written to the fstab in order to be made persistent. {}"},
		{"state mount.mounted {name: /mnt/c, device: /dev/bad, fstype: ext4}", "False: mount: /mnt/c: special device /dev/bad does not exist. {}"},
		{"state mount.mounted {name: /mnt/c, device: LABEL=x, fstype: ext4}", "False: Unable to find device with label x. {}"},
		{"state mount.mounted {name: /mnt/c, device: '', fstype: ext4}", "False: Must provide device to mount.mounted {}"},
	})
	if got, want := h.Text("/etc/fstab"), "# static\n/dev/sdb1 /data ext4 defaults 0 2\ntmpfs\t\t/mnt/a\ttmpfs\tsize=2m,nodev\t0 0\n"; got != want {
		t.Errorf("fstab: %q, want %q", got, want)
	}
	h.Forget()
	if got := r.State(t, "mount.mounted", b, true); strings.Contains(got, "error") || len(h.Writes()) > 0 {
		t.Errorf("test mode: %s, wrote %v", got, h.Writes())
	}
}

func TestUnmounted(t *testing.T) {
	t.Parallel()
	r, h := machine()
	r.State(t, "mount.mounted", "{name: /mnt/a, device: tmpfs, fstype: tmpfs}", false)
	r.State(t, "mount.mounted", "{name: /data, device: /dev/sdb1, fstype: ext4}", false)
	r.Steps(t, []calltest.Step{
		{"test mount.unmounted {name: /mnt/a, persist: True}", "None: Mount point /mnt/a is mounted but should not be {}"},
		{"state mount.unmounted {name: /mnt/a/, persist: True}", "True: Target was successfully unmounted. Removed target from fstab {'umount': True, 'persist': 'purged'}"},
		{"state mount.unmounted {name: /mnt/a, persist: True}", "True: Target was already unmounted. fstab entry not found {}"},
		{"state mount.unmounted {name: /data, device: /dev/sdb1, persist: True}", "False: umount: /data: target is busy. {}"},
		{"watch mount.unmounted {name: /data}", "True: Watch not supported in unmounted at this time {}"},
	})
	if !strings.Contains(h.Text("/etc/fstab"), "/data") {
		t.Error("what is mounted was taken out of the fstab")
	}
}

func TestFstab(t *testing.T) {
	t.Parallel()
	r, _ := machine()
	const a = "{name: tmpfs, fs_file: /mnt/a/, fs_vfstype: tmpfs, fs_mntops: ro}"
	r.Steps(t, []calltest.Step{
		{"test mount.fstab_present " + a, "None: ['/mnt/a entry will be written in /etc/fstab.', 'Will mount tmpfs on /mnt/a'] {}"},
		{"state mount.fstab_present " + a, "True: ['/mnt/a entry added in /etc/fstab.', 'Mounted tmpfs on /mnt/a'] {'persist': 'new'}"},
		{"state mount.fstab_present " + a, "True: ['/mnt/a entry was already in /etc/fstab.'] {}"},
		{"test mount.fstab_present " + a, "True: ['/mnt/a entry is already in /etc/fstab.'] {}"},
		{"test mount.fstab_present {name: tmpfs, fs_file: /mnt/a, fs_vfstype: tmpfs}", "None: ['/mnt/a entry will be updated in /etc/fstab.'] {}"},
		{"state mount.fstab_present {name: tmpfs, fs_file: /mnt/a, fs_vfstype: tmpfs}", "True: ['/mnt/a entry updated in /etc/fstab.'] {'persist': 'change'}"},
		{"test mount.fstab_present {name: /dev/sdx, fs_file: /x, fs_vfstype: ext4, mount_by: uuid}", "False: ['Device /dev/sdx cannot be converted to uuid'] {}"},
		{"state mount.fstab_present {name: /dev/sdb1, fs_file: /x, fs_vfstype: ext4, mount_by: uuid, mount: False}", "True: ['/x entry added in /etc/fstab.'] {'persist': 'new'}"},
		{"state mount.fstab_present {name: x, fs_file: /x, fs_vfstype: ext4, config: /none}", `False: ['/x entry cannot be changed in /none: Bad config file "/none".'] {}`},
		{"test mount.fstab_absent {name: tmpfs, fs_file: /mnt/a}", "None: ['/mnt/a entry will be removed from /etc/fstab.'] {}"},
		{"state mount.fstab_absent {name: UUID=AB-1, fs_file: /x}", "True: ['/x entry removed from /etc/fstab.'] {'persist': 'removed'}"},
		{"state mount.fstab_absent {name: other, fs_file: /mnt/a}", "True: ['The /mnt/a entry in /etc/fstab is of another device and stays.'] {}"},
		{"test mount.fstab_absent {name: tmpfs, fs_file: /never}", "True: ['/never entry is already missing in /etc/fstab.'] {}"},
	})
}

func TestSwap(t *testing.T) {
	t.Parallel()
	r, _ := machine()
	r.Steps(t, []calltest.Step{
		{"test mount.swap {name: /swap}", "None: Swap /swap is set to be activated {}"},
		{"state mount.swap {name: /swap}", "True: Swap /swap activated. Added new entry to the fstab. {'type': 'file', 'size': '1', 'used': '0', 'priority': '-2', 'persist': 'new'}"},
		{"state mount.swap {name: /swap}", "True: Swap /swap already active {}"},
		{"test mount.swap {name: /swap}", "True: Swap /swap already active {}"},
		{"state mount.swap {name: /none, persist: False}", "False: Swap /none failed to activate {}"},
	})
}
