package partedpartition

import (
	"context"
	"io/fs"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
)

func TestFunctions(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	for _, p := range []string{"parted", "lsblk", "partprobe", "sfdisk", "mkfs.ext4", "mkswap"} {
		h.PutExe("/usr/sbin/" + p)
		h.HandleCommand(p+" *", func(_ context.Context, c host.Cmd) (host.Output, error) {
			switch line := strings.Join(c.Argv[1:], " "); line {
			case "-m -s -- /dev/sdb print":
				return host.Output{Stdout: []byte("BYT;\n/dev/sdb:67.1MB:scsi:512:512:gpt:A Disk:;\n1:1049kB:19.9MB:18.9MB::My Documents:boot;\n")}, nil
			case "-m -s -- /dev/sdb unit s print":
				return host.Output{Status: 1, Stderr: []byte("Error: /dev/sdb: unrecognised disk label\n")}, nil
			case "-T":
				return host.Output{Stdout: []byte("Id  Name\n\n 0  Empty\n83  Linux\n")}, nil
			case "-n -io KNAME -d -e 1,7,11 -l":
				return host.Output{Stdout: []byte("sda\nsdb\n")}, nil
			default:
				return host.Output{Stdout: []byte(line + "\n")}, nil
			}
		})
	}
	h.PutSpecial("/dev/sdb", fs.ModeDevice|0o660)
	h.PutSpecial("/dev/null", fs.ModeDevice|fs.ModeCharDevice|0o666)
	env := calltest.Env(h, nil, fun.Entry{Kind: fun.Exec, Name: "parted_partition", Virtual: "partition", Load: Module})
	for _, tt := range []struct{ call, args, want string }{
		{"list", "device: /dev/sdb", "{'info': {'disk': '/dev/sdb', 'size': '67.1MB', 'interface': 'scsi', 'logical sector': '512', 'physical sector': '512', 'partition table': 'gpt', 'model': 'A Disk', 'disk flags': ''}, " +
			"'partitions': {'1': {'number': '1', 'start': '1049kB', 'end': '19.9MB', 'size': '18.9MB', 'file system': '', 'name': 'My Documents', 'flags': 'boot'}}}"},
		{"list", "{device: /dev/sdb, unit: furlong}", "error: Invalid unit passed to partition.list: 'furlong' is none of " + strings.Join(units, ", ")},
		{"list", "device: /dev/null", "error: Invalid device passed to partition module."},
		{"rm", "{device: /etc, minor: 1}", "error: Invalid device passed to partition module."},
		{"rm", "{device: /dev/sdb, minor: 0}", "error: Invalid minor passed to partition.rm: partitions have numbers from 1"},
		{"rm", "{device: /dev/sdb, minor: 2}", "['-m -s -- /dev/sdb rm 2']"},
		{"mklabel", "{device: /dev/sdb, label_type: gpt}", "['-m -s -- /dev/sdb mklabel gpt']"},
		{"mkpart", "{device: /dev/sdb, part_type: primary, fs_type: ext4, start: 0, end: 50%}", "['-m -s -- /dev/sdb mkpart primary ext4 0 50%']"},
		{"mkpart", "{device: /dev/sdb, part_type: primary, start: 1, end: 2 parsecs}", `error: Invalid partition boundary passed: "2 parsecs"`},
		{"mkpart", "{device: /dev/sdb, part_type: primary, start: 1}", "error: partition.mkpart needs both start and end"},
		{"mkpartfs", "{device: /dev/sdb, part_type: extended, start: 1, end: 2}", "['-m -s -- /dev/sdb mkpart extended 1 2']"},
		{"align_check", "{device: /dev/sdb, part_type: optimal, partition: 1}", "['-m -s -- /dev/sdb align-check optimal 1']"},
		{"check", "{device: /dev/sdb, minor: 1}", "['-m -s -- /dev/sdb check 1']"},
		{"cp", "{device: /dev/sdb, from_minor: 1, to_minor: 2}", "['-m -s -- /dev/sdb cp 1 2']"},
		{"name", "{device: /dev/sdb, partition: 1, name: My Documents}", `['-m -s -- /dev/sdb name 1 "My Documents"']`},
		{"name", "{device: /dev/sdb, partition: 1, name: '$(x)'}", "error: Invalid characters passed to partition.name"},
		{"set", "{device: /dev/sdb, minor: 1, flag: boot, state: on}", "['-m -s -- /dev/sdb set 1 boot on']"},
		{"set", "{device: /dev/sdb, minor: 1, flag: boot, state: maybe}", "error: Invalid state passed to partition.set"},
		{"toggle", "{device: /dev/sdb, partition: 1, flag: esp}", "['-m -s -- /dev/sdb toggle 1 esp']"},
		{"disk_set", "{device: /dev/sdb, flag: pmbr_boot, state: 'off'}", "['-m -s -- /dev/sdb disk_set pmbr_boot off']"},
		{"disk_toggle", "{device: /dev/sdb, flag: boot}", "error: Invalid flag passed to partition.disk_toggle: 'boot' is none of cylinder_alignment, implicit_partition_table, pmbr_boot"},
		{"resize", "{device: /dev/sdb, minor: 3, start: 200, end: 850}", "['-m -s -- /dev/sdb resize 3 200 850']"},
		{"rescue", "{device: /dev/sdb, start: 0, end: 8056}", "['-m -s -- /dev/sdb rescue 0 8056']"},
		{"get_id", "{device: /dev/sdb, minor: 1}", "['--part-type /dev/sdb 1']"},
		{"set_id", "{device: /dev/sdb, minor: 1, system_id: 83}", "['--part-type /dev/sdb 1 83']"},
		{"set_id", "{device: /dev/sdb, minor: 1, system_id: zz}", "error: Invalid system_id passed to partition.set_id"},
		{"system_types", "{}", "{'0': 'Empty', '83': 'Linux'}"},
		{"mkfs", "{device: /dev/sdb, fs_type: ext4}", "['/dev/sdb']"},
		{"mkfs", "{device: /dev/sdb, fs_type: linux-swap}", "['/dev/sdb']"},
		{"mkfs", "{device: /dev/sdb, fs_type: xfs}", "'Error: mkfs.xfs is unavailable.'"},
		{"exists", "device: /dev/sdb", "True"},
		{"exists", "{}", "False"},
		{"get_block_device", "{}", "['sda', 'sdb']"},
	} {
		if got := calltest.Call(t, env, "partition."+tt.call, tt.args); got != tt.want {
			t.Errorf("%s %s:\n got %s\nwant %s", tt.call, tt.args, got, tt.want)
		}
	}
	if got := calltest.Call(t, env, "partition.list", "{device: /dev/sdb, unit: s}"); got != "error: Error: /dev/sdb: unrecognised disk label" {
		t.Error(got)
	}
}

// FuzzParse: what parted prints is read without a panic.
func FuzzParse(f *testing.F) {
	f.Add("CHS;\n/d:1023,3,31:file:512:512:gpt::;\n1024:4:32:65.5kB;\n1:16,0,0:303,3,31::My Documents:;\n", "chs")
	f.Add("BYT;\n/d:1s:file:512:512:gpt::;\n1:34s:2047s:2014s:free;\n", "s")
	f.Fuzz(func(t *testing.T, text, unit string) {
		m, err := parse(text, unit)
		if (m == nil) == (err == nil) {
			t.Error("neither a value nor an error")
		}
	})
}

func TestParseCHS(t *testing.T) {
	t.Parallel()
	m, err := parse("CHS;\n/d:1023,3,31:file:512:512:gpt::;\n1024:4:32:65.5kB;\n1:16,0,0:303,3,31::My Documents:;\n", "chs")
	if err != nil || value.Repr(m.At("partitions")) != "{'1': {'number': '1', 'start': '16,0,0', 'end': '303,3,31', 'file system': '', 'name': 'My Documents', 'flags': ''}}" {
		t.Error(value.Repr(m), err)
	}
}
