// Package blockdev is Salt's state module "blockdev": properties and file systems
// of block devices.
package blockdev

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/tool"
)

// States returns the rows of the state module "blockdev".
func States() fun.Module {
	return fun.Module{Name: "blockdev", Kind: fun.State, Doc: "Manage block devices.", Avail: fun.Needs("disk", "Cannot load the blockdev state module: disk execution module not found"), Specs: specs}
}

var specs = []fun.Spec{
	{
		Name: "formatted", Do: formatted, Of: "disk.format", Src: "states/blockdev.py formatted",
		Doc: "Make a file system on a device, unless it has one of that type.\nAnother file system is lost.",
	},
	{
		Name: "tuned", Do: tuned, Src: "states/blockdev.py tuned",
		Doc: "Set properties of a block device.",
	},
}

// property is a property of a device: its name as an argument, what blockdev(8) shows it
// under, and what the state says of it.
type property struct {
	arg, shown string
	given      value.Value
}

func (a *tunedArgs) properties() []property {
	return []property{
		{"read-ahead", "getra", a.ReadAhead},
		{"filesystem-read-ahead", "getfra", a.FilesystemReadAhead},
		{"read-only", "getro", a.ReadOnly},
		{"read-write", "getro", a.ReadWrite},
	}
}

// wanted returns what blockdev(8) should show of a property; ok is false where the
// state does not say.
func wanted(p property) (text string, ok bool) {
	if p.given == nil {
		return "", false
	}
	if p.shown != "getro" {
		return fmt.Sprint(fun.IntOf(p.given)), true
	}
	if value.Truth(p.given) == (p.arg == "read-only") {
		return "1", true
	}
	return "0", true
}

// show is a property's value as changes show it.
func show(p property, text string) string {
	switch p.arg {
	case "read-only":
		return value.Repr(text == "1")
	case "read-write":
		return value.Repr(text != "1")
	}
	return text
}

type tunedArgs struct {
	_                   string      `arg:"name,required,path" doc:"the device"`
	ReadAhead           value.Value `arg:"read-ahead,kw,int" unit:"sectors" doc:"read-ahead of the device, in sectors of 512 bytes"`
	FilesystemReadAhead value.Value `arg:"filesystem-read-ahead,kw,int" unit:"sectors" doc:"read-ahead of the file system, in sectors of 512 bytes"`
	ReadOnly            value.Value `arg:"read-only,kw,bool" doc:"make the device read-only"`
	ReadWrite           value.Value `arg:"read-write,kw,bool" doc:"make the device writable"`
	_                   fun.Kwargs
}

// tuned sets properties of a device. Salt: salt/states/blockdev.py tuned. Differences:
// what is not a block device is a failure, and a dry run says what would change.
func tuned(ctx context.Context, c *fun.Call, a *tunedArgs) fun.Ret {
	st, err := c.Env.Host.Stat(c.Name)
	if err != nil && c.Test {
		return fun.Ret{Result: fun.WouldChange, Comment: "Changes to " + c.Name + " will be applied "}
	}
	if err != nil || st.Mode&fs.ModeDevice == 0 || st.Mode&fs.ModeCharDevice != 0 {
		return fun.Fail("Changes to %s cannot be applied. Not a block device. ", c.Name)
	}
	now, err := dump(ctx, c)
	if err != nil {
		return fun.Raise(err)
	}
	kw, due := value.NewMap(4), value.NewMap(4)
	for _, p := range a.properties() {
		want, ok := wanted(p)
		if !ok || now.Str(p.shown) == want {
			continue
		}
		due.Set(p.arg, fmt.Sprintf("Changed from %s to %s", show(p, now.Str(p.shown)), show(p, want)))
		switch {
		case p.shown != "getro":
			kw.Set(p.arg, p.given)
		case want == "1":
			kw.Set("read-only", true)
		default:
			kw.Set("read-write", true)
		}
	}
	switch {
	case due.Len() == 0:
		return fun.Ret{Result: fun.OK, Comment: "Block device " + c.Name + " already in correct state"}
	case c.Test:
		return fun.Ret{Result: fun.WouldChange, Comment: "Changes to " + c.Name + " will be applied "}
	}
	if _, err := c.Env.Exec(ctx, "disk.tune", kw, c.Name); err != nil {
		return fun.Fail("Failed to modify block device %s: %v", c.Name, err)
	}
	if now, err = dump(ctx, c); err != nil {
		return fun.Raise(err)
	}
	for _, p := range a.properties() {
		if want, ok := wanted(p); ok && now.Str(p.shown) != want {
			return fun.Fail("Failed to modify block device %s", c.Name)
		}
	}
	return fun.Ret{Result: fun.OK, Comment: "Block device " + c.Name + " successfully modified ", Changes: due}
}

// dump returns what blockdev(8) shows of the device.
func dump(ctx context.Context, c *fun.Call) (*value.Map, error) {
	v, err := c.Env.Exec(ctx, "disk.dump", nil, c.Name)
	if err != nil {
		return nil, err
	}
	m, ok := v.(*value.Map)
	if !ok {
		return nil, fun.Errorf("cannot read the properties of %s", c.Name)
	}
	return m, nil
}

// fsType returns the type of the file system on a device, "" for none.
func fsType(ctx context.Context, c *fun.Call) (string, error) {
	out, err := tool.Look(ctx, c.Env.Host, "blkid", "-o", "value", "-s", "TYPE", c.Name)
	return strings.TrimSpace(out.Stdout), err
}

// Detection of a new file system may lag behind mkfs.
const (
	attempts = 10
	pause    = 3 * time.Second
)

type formattedArgs struct {
	_      string `arg:"name,required,path" doc:"the device"`
	FSType string `arg:"fs_type" default:"ext4" doc:"type of the file system"`
	Force  bool   `arg:"force" default:"False" doc:"of ext and xfs: also where there is one, or the device is a whole disk"`
	Rest   fun.Kwargs
}

// formatted makes a file system. Salt: salt/states/blockdev.py formatted.
// Differences: changes name the file system that was there; a failure of mkfs is
// reported at once.
func formatted(ctx context.Context, c *fun.Call, a *formattedArgs) fun.Ret {
	want := a.FSType
	if c.Name == "" || c.Name[0] == '-' {
		return fun.Fail("%s does not exist", c.Name)
	}
	if _, err := c.Env.Host.Stat(c.Name); err != nil {
		return fun.Fail("%s does not exist", c.Name)
	}
	old, err := fsType(ctx, c)
	switch {
	case err != nil:
		return fun.Raise(err)
	case old == want:
		return fun.Same("%s already formatted with %s", c.Name, want)
	case strings.Contains(want, "/") || !tool.Has(c.Env.Host, "mkfs."+want):
		return fun.Fail("Invalid fs_type: %s", want)
	case c.Test:
		return fun.Ret{Result: fun.WouldChange, Comment: "Changes to " + c.Name + " will be applied "}
	}
	kw := value.MapOf("fs_type", want, "force", a.Force)
	for k, v := range a.Rest.All() {
		kw.Set(k, v)
	}
	made, err := c.Env.Exec(ctx, "disk.format", kw, c.Name)
	if err != nil {
		return fun.Raise(err)
	}
	for i := 0; value.Truth(made) && i < attempts; i++ {
		now, err := fsType(ctx, c)
		if err != nil {
			return fun.Raise(err)
		}
		if now == want {
			return fun.Ret{Result: fun.OK, Comment: fmt.Sprintf("%s has been formatted with %s", c.Name, want), Changes: value.MapOf("new", want, "old", old)}
		}
		if now != "" {
			break
		}
		if err := c.Env.Host.Sleep(ctx, pause); err != nil {
			return fun.Raise(err)
		}
	}
	return fun.Fail("Failed to format %s", c.Name)
}
