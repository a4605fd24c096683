package raid_test

import (
	"context"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	"brine/modules/mdadmraid"
	"brine/states/raid"
)

const detail = `/dev/md0:
           Version : 1.2
     Creation Time : Sat Nov  1 12:00:00 2025
        Raid Level : raid1
              UUID : 1:2:3:4

    Number   Major   Minor   RaidDevice State
       0       8       17        0      active sync   /dev/sdb
       1       8       33        1      active sync   /dev/sdc
`

// machine returns a machine with the devices sdb, sdc and sdd, and mdadm that
// remembers the array /dev/md0.
func machine() *host.Fake {
	h := host.NewFake()
	h.PutExe("/usr/sbin/mdadm")
	h.PutFile("/etc/mdadm/mdadm.conf", "MAILADDR root\nARRAY /dev/md0 UUID=old\n", 0o644)
	for _, d := range []string{"sdb", "sdc", "sdd", "sde"} {
		h.PutFile("/dev/"+d, "", 0o600)
	}
	active := false
	uuid := map[string]string{"/dev/sde": "9:9"}
	h.Handle(func(host.Cmd) bool { return true }, func(_ context.Context, c host.Cmd) (host.Output, error) {
		line, last := strings.Join(c.Argv, " "), c.Argv[len(c.Argv)-1]
		out := ""
		switch {
		case line == "mdadm --detail --scan" && active:
			out = "ARRAY /dev/md0 metadata=1.2 name=x:0 UUID=1:2:3:4\nodd\n"
		case line == "mdadm --detail /dev/md0":
			out = detail
		case strings.HasPrefix(line, "mdadm -Y -E"):
			if uuid[last] == "" {
				return host.Output{Status: 1, Stderr: []byte("mdadm: No md superblock\n")}, nil
			}
			out = "MD_LEVEL=raid1\nMD_UUID=" + uuid[last] + "\n"
		case strings.HasPrefix(line, "mdadm -C /dev/md0"):
			active, uuid["/dev/sdb"], uuid["/dev/sdc"] = true, "1:2:3:4", "1:2:3:4"
			h.PutFile("/dev/md0", "", 0o600)
			return host.Output{Stderr: []byte("mdadm: array /dev/md0 started.\n")}, nil
		case strings.HasPrefix(line, "mdadm -A /dev/md0"):
			active = true
		case strings.HasPrefix(line, "mdadm --manage"):
			if last == "/dev/sdd" {
				uuid[last] = "1:2:3:4"
			}
		case strings.HasPrefix(line, "mdadm --stop"):
			active = false
		case strings.HasPrefix(line, "mdadm --zero-superblock"):
			clear(uuid)
		}
		return host.Output{Stdout: []byte(out)}, nil
	})
	return h
}

func rig(h host.Host) *calltest.Rig {
	return calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "mdadm_raid", Virtual: "raid", Load: mdadmraid.Module}, fun.Entry{Kind: fun.State, Name: "mdadm_raid", Virtual: "raid", Load: raid.States})
}

func TestStates(t *testing.T) {
	t.Parallel()
	h := machine()
	r := rig(h)
	const array = "{'device': '/dev/md0', 'metadata': '1.2', 'name': 'x:0', 'uuid': '1:2:3:4'}"
	r.Steps(t, []calltest.Step{
		{"test raid.present {name: /dev/md0, level: 1, devices: [/dev/sdb, /dev/sdc, missing], chunk: 256, run: true}", "None: Raid will be created with: mdadm -C /dev/md0 -R -v -l 1 --chunk 256 --run -e default -n 3 /dev/sdb /dev/sdc missing Missing devices: ['missing'] {}"},
		{"state raid.present {name: /dev/md0, level: 1, devices: [/dev/sdb, /dev/sdc]}", "True: Raid /dev/md0 created. " + array},
		{"state raid.present {name: /dev/md0, level: 1, devices: [/dev/sdb, /dev/sdc]}", "True: Raid /dev/md0 already present. {}"},
		{"test raid.present {name: /dev/md0, level: 1, devices: [/dev/sdb, /dev/sdc, /dev/sdd, /dev/none]}", "None: Raid /dev/md0 already present. New devices will be added: ['/dev/sdd'] Missing devices: ['/dev/none'] {}"},
		{"state raid.present {name: /dev/md0, level: 1, devices: [/dev/sdb, /dev/sdc, /dev/sdd]}", "True: Raid /dev/md0 already present. Added new device /dev/sdd to /dev/md0.\n {'added': ['/dev/sdd']}"},
		{"state raid.present {name: /dev/md0, level: 1, devices: [/dev/sdb, /dev/sde]}", "False: Devices are a mix of RAID constituents with multiple MD_UUIDs: ['1:2:3:4', '9:9']. {}"},
		{"state raid.present {name: /dev/md0, level: 1, devices: [/dev/sde]}", "False: Devices MD_UUIDs: 9:9 differs from present RAID uuid 1:2:3:4. {}"},
		{"call raid.stop []", "False"},
		{"test raid.present {name: /dev/md0, level: 1, devices: [/dev/sdb, /dev/sdc]}", "None: Raid will be assembled with: ['mdadm', '-A', '/dev/md0', '-v', '/dev/sdb', '/dev/sdc'] {}"},
		{"state raid.present {name: /dev/md0, level: 1, devices: [/dev/sdb, /dev/sdc]}", "True: Raid /dev/md0 assembled. " + array},
		{"state raid.present {name: /dev/md1, level: 1, devices: [/dev/none]}", "False: All devices are missing: ['/dev/none']. {}"},
		{"state raid.present {name: /dev/md1, level: 1, devices: [/dev/sde]}", "False: Raid /dev/md1 failed to be assembled. {}"},
		{"test raid.absent {name: /dev/md0}", "None: Raid /dev/md0 is set to be destroyed {}"},
		{"state raid.absent {name: /dev/md0}", "True: Raid /dev/md0 has been destroyed {'/dev/md0': {'old': " + array + ", 'new': None}}"},
		{"state raid.absent {name: /dev/md0}", "True: Raid /dev/md0 already absent {}"},
	})
	if got, want := h.Text("/etc/mdadm/mdadm.conf"), "MAILADDR root\n"; got != want {
		t.Errorf("mdadm.conf: %q, want %q", got, want)
	}
	if got := calltest.Commands(h); !strings.Contains(got, "mdadm --zero-superblock /dev/sdb /dev/sdc;") || !strings.Contains(got, "update-initramfs -u;") {
		t.Errorf("commands: %s", got)
	}
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	h := machine()
	r := rig(h)
	h.PutFile("/dev/md0", "", 0o600)
	r.Steps(t, []calltest.Step{
		{"call raid.list []", "{}"},
		{"call raid.detail [/dev/md9]", "error: Device /dev/md9 doesn't exist!"},
		{"call raid.detail []", "{'members': {'0': {'device': '/dev/sdb', 'major': '8', 'minor': '17', 'number': '0', 'raiddevice': '0', 'state': 'active sync'}, '1': {'device': '/dev/sdc', 'major': '8', 'minor': '33', 'number': '1', 'raiddevice': '1', 'state': 'active sync'}}, 'version': '1.2', 'creation_time': 'Sat Nov  1 12:00:00 2025', 'raid_level': 'raid1', 'uuid': '1:2:3:4'}"},
		{"call raid.examine [/dev/sde]", "{'MD_LEVEL': 'raid1', 'MD_UUID': '9:9'}"},
		{"call raid.create {name: /dev/md0, level: 5, devices: [/dev/sdb, /dev/sdc, /dev/sdd], spare-devices: 1, test_mode: true}", "'mdadm -C /dev/md0 -R -v -l 5 --spare-devices 1 -e default -n 2 /dev/sdb /dev/sdc /dev/sdd'"},
		{"call raid.create {name: /dev/md0, level: 1, devices: [/dev/sdb, /dev/sdc], 'x y': 1}", "error: invalid option of mdadm: 'x y'"},
		{"call raid.create {name: /dev/md0, level: 1, devices: [--fail]}", "error: invalid device: '--fail'"},
		{"call raid.create {name: /dev/md0, level: 1, devices: '/dev/sdb,/dev/sdc'}", "'mdadm: array /dev/md0 started.'"},
		{"call raid.save_config []", "''"},
		{"call raid.add [/dev/md0, /dev/sdd]", "True"},
		{"call raid.destroy [/dev/md9]", "False"},
	})
	if got, want := h.Text("/etc/mdadm/mdadm.conf"), "MAILADDR root\nARRAY /dev/md0 metadata=1.2 name=x:0 UUID=1:2:3:4\n"; got != want {
		t.Errorf("mdadm.conf: %q, want %q", got, want)
	}
}
