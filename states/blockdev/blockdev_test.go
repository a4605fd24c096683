package blockdev_test

import (
	"context"
	"io/fs"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/states/blockdev"
)

// shown is what disk.dump returns.
type shown struct{ ra, ro string }

func (s *shown) dump(context.Context, *fun.Call) (fun.Result, error) {
	return fun.Value(value.MapOf("getra", s.ra, "getfra", "256", "getro", s.ro))
}

func (s *shown) tune(_ context.Context, c *fun.Call) (fun.Result, error) {
	for k, v := range c.Kw.All() {
		switch k {
		case "read-ahead":
			if v != int64(13) {
				s.ra = value.Str(v)
			}
		case "read-only":
			s.ro = "1"
		case "read-write":
			s.ro = "0"
		}
	}
	return fun.Value(nil)
}

// disk returns a module disk for tests; format is done by the command mkfs.
func (s *shown) disk() fun.Module {
	device := []fun.Arg{{Name: "device", Type: fun.Path, Required: true}}
	return fun.Module{Name: "disk", Kind: fun.Exec, Specs: []fun.Spec{
		{Name: "dump", Args: device, Fn: s.dump},
		{Name: "format", VarKw: true, Args: device, Fn: func(ctx context.Context, c *fun.Call) (fun.Result, error) {
			out, err := c.Env.Host.Run(ctx, host.Cmd{Argv: []string{"mkfs", c.Args.Str("device"), value.Repr(c.Kw)}})
			return fun.Result{Value: out.Status == 0}, err
		}},
		{Name: "tune", VarKw: true, Args: device, Fn: s.tune},
	}}
}

func rig(h host.Host) *calltest.Rig {
	s := &shown{ra: "256", ro: "0"}
	return calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "disk", Load: s.disk}, fun.Entry{Kind: fun.State, Name: "blockdev", Load: blockdev.States})
}

func TestTuned(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.PutSpecial("/dev/sdb", fs.ModeDevice|0o660)
	h.PutFile("/tmp/file", "", 0o644)
	rig(h).Steps(t, []calltest.Step{
		{"test blockdev.tuned {name: /dev/sdb, read-ahead: 1024}", "None: Changes to /dev/sdb will be applied  {}"},
		{"state blockdev.tuned {name: /dev/sdb, read-ahead: 1024, read-only: true}", "True: Block device /dev/sdb successfully modified  {'read-ahead': 'Changed from 256 to 1024', 'read-only': 'Changed from False to True'}"},
		{"state blockdev.tuned {name: /dev/sdb, read-ahead: 1024, read-only: true}", "True: Block device /dev/sdb already in correct state {}"},
		{"test blockdev.tuned {name: /dev/sdb, read-ahead: 1024}", "True: Block device /dev/sdb already in correct state {}"},
		{"state blockdev.tuned {name: /dev/sdb, read-write: true}", "True: Block device /dev/sdb successfully modified  {'read-write': 'Changed from False to True'}"},
		{"state blockdev.tuned {name: /dev/sdb, read-ahead: 13}", "False: Failed to modify block device /dev/sdb {}"},
		{"state blockdev.tuned {name: /tmp/file, read-ahead: 1}", "False: Changes to /tmp/file cannot be applied. Not a block device.  {}"},
		{"test blockdev.tuned {name: /dev/later, read-ahead: 1}", "None: Changes to /dev/later will be applied  {}"},
	})
}

func TestFormatted(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.PutSpecial("/dev/sdb", fs.ModeDevice|0o660)
	h.PutExe("/usr/sbin/mkfs.ext4")
	h.PutExe("/usr/sbin/mkfs.xfs")
	has, late := "vfat", 2
	h.HandleCommand("blkid *", func(context.Context, host.Cmd) (host.Output, error) {
		if has == "ext4" && late > 0 {
			late--
			return host.Output{Status: 2}, nil
		}
		return host.Output{Stdout: []byte(has + "\n")}, nil
	})
	h.HandleCommand("mkfs /dev/sdb *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		if c.Argv[2] != "{'fs_type': 'ext4', 'force': False, 'inode_size': 256}" {
			return host.Output{Status: 1}, nil
		}
		has = "ext4"
		return host.Output{}, nil
	})
	rig(h).Steps(t, []calltest.Step{
		{"test blockdev.formatted {name: /dev/sdb}", "None: Changes to /dev/sdb will be applied  {}"},
		{"state blockdev.formatted {name: /dev/sdb, inode_size: 256}", "True: /dev/sdb has been formatted with ext4 {'new': 'ext4', 'old': 'vfat'}"},
		{"state blockdev.formatted {name: /dev/sdb}", "True: /dev/sdb already formatted with ext4 {}"},
		{"state blockdev.formatted {name: /dev/sdb, fs_type: xfs}", "False: Failed to format /dev/sdb {}"},
		{"state blockdev.formatted {name: /dev/sdb, fs_type: odd}", "False: Invalid fs_type: odd {}"},
		{"state blockdev.formatted {name: /dev/none}", "False: /dev/none does not exist {}"},
	})
}
