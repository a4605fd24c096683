package lvm_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	"brine/modules/linuxlvm"
	"brine/states/lvm"
)

// machine returns a machine with the devices /dev/sdb and /dev/sdc, and LVM that
// remembers what was done. Extents have 4 MiB.
func machine() *host.Fake {
	h := host.NewFake()
	h.PutExe("/usr/sbin/lvm")
	h.PutFile("/dev/sdb", "", 0o600)
	h.PutFile("/dev/sdc", "", 0o600)
	pvs, vg, extents := map[string]string{}, false, 0
	h.Handle(func(host.Cmd) bool { return true }, func(_ context.Context, c host.Cmd) (host.Output, error) {
		last := c.Argv[len(c.Argv)-1]
		no := func(s string) (host.Output, error) {
			return host.Output{Status: 5, Stderr: []byte("  " + s + "\n")}, nil
		}
		say := func(s string) (host.Output, error) { return host.Output{Stdout: []byte(s + "\n")}, nil }
		line := strings.Join(c.Argv, " ")
		switch {
		case line == "lvm version":
			return say("  LVM version:     2.03.16(2) (2022-05-18)\n  Library version: 1.02.185 (2022-05-18)")
		case strings.HasPrefix(line, "pvdisplay"):
			group, ok := pvs[last]
			if !ok {
				return no("Failed to find physical volume " + last + ".")
			}
			return say("  WARNING: odd\n  \"" + last + "\" is a new physical volume of \"1 GiB\"\n  " + last + ":" + group + ":2097152:-1:8:8:-1:4096:255:255:0:UUID")
		case strings.HasPrefix(line, "pvcreate"), strings.HasPrefix(line, "pvresize"):
			pvs[c.Argv[2]] = ""
		case strings.HasPrefix(line, "pvremove"):
			delete(pvs, last)
		case strings.HasPrefix(line, "vgdisplay"):
			if !vg {
				return no("Volume group not found")
			}
			return say("  vg0:r/w:772:-1:0:1:0:-1:0:1:1:1044480:4096:255:0:255:UUID")
		case strings.HasPrefix(line, "vgcreate"):
			vg, pvs[c.Argv[2]] = true, "vg0"
		case strings.HasPrefix(line, "vgextend"):
			pvs[last] = "vg0"
		case strings.HasPrefix(line, "vgremove"):
			vg = false
		case strings.HasPrefix(line, "lvdisplay"):
			if extents == 0 || last != "/dev/vg0/data" {
				return no("Failed to find logical volume")
			}
			return say(fmt.Sprintf("  %s:vg0:3:1:-1:0:%d:%d:-1:0:-1:253:0", last, extents*8192, extents))
		case strings.HasPrefix(line, "lvcreate -n data vg0 -L 10M"):
			extents = 3
		case strings.HasPrefix(line, "lvcreate"):
			return no("insufficient free space")
		case strings.HasPrefix(line, "lvresize"):
			if strings.Contains(line, "20M") {
				extents = 5
			}
			if strings.Contains(line, "-l 2 ") {
				extents = 2
			}
		case strings.HasPrefix(line, "lvremove"):
			extents = 0
		}
		return host.Output{}, nil
	})
	return h
}

func rig(h host.Host) *calltest.Rig {
	return calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "linux_lvm", Virtual: "lvm", Load: linuxlvm.Module}, fun.Entry{Kind: fun.State, Name: "lvm", Load: lvm.States})
}

const (
	group = "'vg0': {'Volume Group Name': 'vg0', 'Volume Group Access': 'r/w', 'Volume Group Status': '772', 'Internal Volume Group Number': '-1', 'Maximum Logical Volumes': '0', 'Current Logical Volumes': '1', 'Open Logical Volumes': '0', 'Maximum Logical Volume Size': '-1', 'Maximum Physical Volumes': '0', 'Current Physical Volumes': '1', 'Actual Physical Volumes': '1', 'Volume Group Size (kB)': '1044480', 'Physical Extent Size (kB)': '4096', 'Total Physical Extents': '255', 'Allocated Physical Extents': '0', 'Free Physical Extents': '255', 'UUID': 'UUID'}"
	data  = "'/dev/vg0/data': {'Logical Volume Name': '/dev/vg0/data', 'Volume Group Name': 'vg0', 'Logical Volume Access': '3', 'Logical Volume Status': '1', 'Internal Logical Volume Number': '-1', 'Open Logical Volumes': '0', 'Logical Volume Size': '24576', 'Current Logical Extents Associated': '3', 'Allocated Logical Extents': '-1', 'Allocation Policy': '0', 'Read Ahead Sectors': '-1', 'Major Device Number': '253', 'Minor Device Number': '0'}"
)

func TestStates(t *testing.T) {
	t.Parallel()
	h := machine()
	rig(h).Steps(t, []calltest.Step{
		{"test lvm.pv_present {name: /dev/sdb}", "None: Physical Volume /dev/sdb is set to be created {}"},
		{"state lvm.pv_present {name: /dev/sdb, metadatasize: 2M, norestorefile: true}", "True: Created Physical Volume /dev/sdb {'created': True}"},
		{"state lvm.pv_present {name: /dev/sdb}", "True: Physical Volume /dev/sdb already present {}"},
		{"state lvm.pv_present {name: /dev/none}", "False: Failed to create Physical Volume /dev/none {}"},
		{"test lvm.vg_present {name: vg0, devices: /dev/sdb}", "None: Volume Group vg0 is set to be created {}"},
		{"state lvm.vg_present {name: vg0, devices: [/dev/sdb]}", "True: Created Volume Group vg0 {'created': {" + group + ", 'Output from vgcreate': 'Volume group \"vg0\" successfully created'}}"},
		{"state lvm.vg_present {name: vg0, devices: [/dev/sdb, /dev/sdc]}", "False: Volume Group vg0 already present\n/dev/sdb is part of Volume Group\npv /dev/sdc is not present {}"},
		{"state lvm.pv_present {name: /dev/sdc}", "True: Created Physical Volume /dev/sdc {'created': True}"},
		{"test lvm.vg_present {name: vg0, devices: '/dev/sdb,/dev/sdc'}", "None: Volume Group vg0 already present\n/dev/sdb is part of Volume Group\n/dev/sdc is set to be added {'/dev/sdc': 'added to vg0'}"},
		{"state lvm.vg_present {name: vg0, devices: '/dev/sdb,/dev/sdc'}", "True: Volume Group vg0 already present\n/dev/sdb is part of Volume Group {'/dev/sdc': 'added to vg0'}"},
		{"test lvm.lv_present {name: data, vgname: vg0, size: 10M}", "None: Logical Volume data is set to be created {}"},
		{"state lvm.lv_present {name: data, vgname: vg0, size: 10M, stripes: 2}", "True: Created Logical Volume data {'created': {" + data + ", 'Output from lvcreate': 'Logical volume \"data\" created.'}}"},
		{"state lvm.lv_present {name: data, vgname: vg0, size: 10M}", "True: Logical Volume data already present {}"},
		{"state lvm.lv_present {name: data, vgname: vg0}", "True: Logical Volume data already present {}"},
		{"state lvm.lv_present {name: data, vgname: vg0, extents: 50%FREE}", "True: Logical Volume data already present, 50%FREE won't be resized. {}"},
		{"state lvm.lv_present {name: data, vgname: vg0, size: 4MB}", "False: To reduce a Logical Volume option 'force' must be True. {}"},
		{"test lvm.lv_present {name: data, vgname: vg0, size: 20M}", "None: Logical Volume data is set to be resized {}"},
		{"state lvm.lv_present {name: data, vgname: vg0, size: 20M}", "True: Resized Logical Volume data {'resized': {'Output from lvresize': 'Logical volume \"/dev/vg0/data\" successfully resized.'}}"},
		{"state lvm.lv_present {name: data, vgname: vg0, extents: 2, force: true}", "True: Resized Logical Volume data {'resized': {'Output from lvresize': 'Logical volume \"/dev/vg0/data\" successfully resized.'}}"},
		{"state lvm.lv_present {name: data, vgname: vg0, size: 1G}", "False: Failed to resize Logical Volume data.\nError: Logical volume \"/dev/vg0/data\" successfully resized. {}"},
		{"state lvm.lv_present {name: big, vgname: vg0, size: 1T}", "False: Failed to create Logical Volume big. Error: insufficient free space {}"},
		{"state lvm.lv_present {name: big, vgname: vg0, size: 1T, extents: 1}", "False: Only one of extents or size can be specified. {}"},
		{"state lvm.lv_present {name: big, vgname: vg0, size: 1x}", "False: Unit x is invalid. {}"},
		{"state lvm.lv_present {name: big, vgname: vg0, size: GG}", "False: Size GG is invalid. {}"},
		{"test lvm.lv_absent {name: data, vgname: vg0}", "None: Logical Volume data is set to be removed {}"},
		{"state lvm.lv_absent {name: data, vgname: vg0}", "True: Removed Logical Volume data {'removed': 'Logical volume \"data\" successfully removed'}"},
		{"state lvm.lv_absent {name: data, vgname: vg0}", "True: Logical Volume data already absent {}"},
		{"state lvm.vg_absent {name: vg0}", "True: Removed Volume Group vg0 {'removed': 'Volume group \"vg0\" successfully removed'}"},
		{"state lvm.vg_absent {name: vg0}", "True: Volume Group vg0 already absent {}"},
		{"state lvm.pv_absent {name: /dev/sdb}", "True: Removed Physical Volume /dev/sdb {'removed': True}"},
		{"state lvm.pv_absent {name: /dev/sdb}", "True: Physical Volume /dev/sdb does not exist {}"},
	})
	got := calltest.Commands(h)
	for _, want := range []string{
		"pvcreate --yes /dev/sdb --metadatasize 2M --norestorefile;", "lvcreate -n data vg0 -L 10M --stripes 2 -qq;",
		"lvresize -qq -L 20M /dev/vg0/data;", "lvresize --force -l 2 /dev/vg0/data;",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q did not run: %s", want, got)
		}
	}
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	h := machine()
	h.PutLink("/dev/link", "/dev/sdb")
	rig(h).Steps(t, []calltest.Step{
		{"call lvm.version []", "'2.03.16(2) (2022-05-18)'"},
		{"call lvm.fullversion []", "{'LVM version': '2.03.16(2) (2022-05-18)', 'Library version': '1.02.185 (2022-05-18)'}"},
		{"call lvm.pvdisplay [/dev/sdb]", "{}"},
		{"call lvm.pvcreate ['']", "'Error: at least one device is required'"},
		{"call lvm.pvcreate [/dev/none]", "'/dev/none does not exist'"},
		{"call lvm.pvcreate [[/dev/sdb]]", "True"},
		{"call lvm.pvcreate [/dev/sdb, false]", `'Device "/dev/sdb" is already an LVM physical volume.'`},
		{"call lvm.pvresize [/dev/sdc, false]", "'/dev/sdc is not a physical volume'"},
		{"call lvm.pvresize [/dev/sdb]", "True"},
		{"call lvm.pvremove [/dev/sdc]", "True"},
		{"call lvm.vgcreate [vg0, '']", "'Error: vgname and device(s) are both required'"},
		{"call lvm.lvcreate [data, vg0]", "'Error: Either size or extents must be specified'"},
		{"call lvm.lvcreate {lvname: data, vgname: vg0, size: 1, extents: 1}", "'Error: Please specify only one of size or extents'"},
		{"call lvm.lvcreate {lvname: data, vgname: vg0/pool, extents: 1, thinvolume: true}", "'Error: Thin volume size cannot be specified as extents'"},
		{"call lvm.lvcreate {lvname: data, vgname: vg0/pool, size: 1G, thinvolume: true, force: true}", "{'Output from lvcreate': 'insufficient free space'}"},
		{"call lvm.lvcreate {lvname: snap, vgname: vg0, size: 1G, snapshot: data, pv: /dev/sdb}", "{'Output from lvcreate': 'insufficient free space'}"},
		{"call lvm.lvextend [1G, /dev/vg0/data]", `{'Output from lvextend': 'Logical volume "/dev/vg0/data" successfully extended.'}`},
		{"call lvm.lvresize {lvpath: /dev/vg0/data}", "{}"},
		{"call lvm.vgremove [--all]", "error: invalid name of a device or volume: '--all'"},
	})
	got := calltest.Commands(h)
	for _, want := range []string{"lvcreate --thin -n data vg0/pool -V 1G --yes;", "lvcreate -n snap -s vg0/data -L 1G /dev/sdb -qq;"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q did not run: %s", want, got)
		}
	}
}
