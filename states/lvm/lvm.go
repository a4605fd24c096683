// Package lvm is Salt's state module "lvm": physical volumes, volume groups and
// logical volumes.
package lvm

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/tool"
)

// States returns the rows of the state module "lvm".
func States() fun.Module {
	return fun.Module{Name: "lvm", Kind: fun.State, Doc: "Manage LVM volumes.", Avail: tool.Needs("lvm", "lvm command not found"), Specs: specs}
}

// with returns the arguments of a function: those given, and the further ones of the
// state.
func with(rest fun.Kwargs, kv ...value.Value) *value.Map {
	m := value.MapOf(kv...)
	for k, v := range rest.All() {
		if !m.Has(k) {
			m.Set(k, v)
		}
	}
	return m
}

// display returns what a function such as pvdisplay shows of an object; it is empty
// where the object is not there.
func display(ctx context.Context, c *fun.Call, name, arg, object string) (*value.Map, error) {
	v, err := c.Env.Exec(ctx, "lvm."+name, value.MapOf(arg, object, "quiet", true))
	m, _ := v.(*value.Map)
	if m == nil {
		m = value.NewMap(0)
	}
	return m, err
}

func done(key string, what value.Value, format string, args ...any) fun.Ret {
	return fun.Ret{Result: fun.OK, Comment: fmt.Sprintf(format, args...), Changes: value.MapOf(key, what)}
}

// log logs why a program failed, which Salt's comment does not say.
func log(c *fun.Call, what value.Value) {
	c.Env.Log().Error("lvm failed", "name", c.Name, "err", value.Str(what))
}

type pvPresentArgs struct {
	deviceArg
	Rest fun.Kwargs
}

// pvPresent makes a device a physical volume. Salt: salt/states/lvm.py pv_present.
func pvPresent(ctx context.Context, c *fun.Call, a *pvPresentArgs) fun.Ret {
	there, err := display(ctx, c, "pvdisplay", "pvname", c.Name)
	switch {
	case err != nil:
		return fun.Raise(err)
	case there.Len() > 0:
		return fun.Same("Physical Volume %s already present", c.Name)
	case c.Test:
		return fun.Due("Physical Volume %s is set to be created", c.Name)
	}
	what, err := c.Env.Exec(ctx, "lvm.pvcreate", with(a.Rest, "devices", value.NewList(c.Name)))
	if err != nil {
		return fun.Raise(err)
	}
	if there, err = display(ctx, c, "pvdisplay", "pvname", c.Name); err != nil {
		return fun.Raise(err)
	}
	if there.Len() == 0 {
		log(c, what)
		return fun.Fail("Failed to create Physical Volume %s", c.Name)
	}
	return done("created", what, "Created Physical Volume %s", c.Name)
}

// pvAbsent makes a device no physical volume. Salt: salt/states/lvm.py pv_absent.
func pvAbsent(ctx context.Context, c *fun.Call, _ *deviceArg) fun.Ret {
	there, err := display(ctx, c, "pvdisplay", "pvname", c.Name)
	switch {
	case err != nil:
		return fun.Raise(err)
	case there.Len() == 0:
		return fun.Same("Physical Volume %s does not exist", c.Name)
	case c.Test:
		return fun.Due("Physical Volume %s is set to be removed", c.Name)
	}
	what, err := c.Env.Exec(ctx, "lvm.pvremove", value.MapOf("devices", value.NewList(c.Name)))
	if err != nil {
		return fun.Raise(err)
	}
	if there, err = display(ctx, c, "pvdisplay", "pvname", c.Name); err != nil {
		return fun.Raise(err)
	}
	if there.Len() > 0 {
		log(c, what)
		return fun.Fail("Failed to remove Physical Volume %s", c.Name)
	}
	return done("removed", what, "Removed Physical Volume %s", c.Name)
}

// groupOf returns the volume group of a physical volume, "" for none; ok is false
// where the device is not one.
func groupOf(ctx context.Context, c *fun.Call, device string) (group string, ok bool, err error) {
	pvs, err := display(ctx, c, "pvdisplay", "pvname", device)
	for _, pv := range pvs.All() {
		m, _ := pv.(*value.Map)
		if m == nil {
			continue
		}
		if group = m.Str("Volume Group Name"); group == "#orphans_lvm2" {
			group = ""
		}
		return group, true, err
	}
	return "", false, err
}

// extend adds devices to the volume group of the state. Difference to Salt: a dry run
// adds none.
func extend(ctx context.Context, c *fun.Call, devices []string) fun.Ret {
	comment, result, changes := fmt.Sprintf("Volume Group %s already present", c.Name), fun.OK, value.NewMap(0)
	say := func(format string, args ...any) { comment += "\n" + fmt.Sprintf(format, args...) }
	would := false
	for _, d := range devices {
		real := d
		if p, err := c.Env.Host.EvalSymlinks(d); err == nil {
			real = p
		}
		group, ok, err := groupOf(ctx, c, real)
		switch {
		case err != nil:
			return fun.Raise(err)
		case !ok:
			say("pv %s is not present", d)
			result = fun.Failed
			continue
		case group == c.Name:
			say("%s is part of Volume Group", d)
			continue
		case group != "":
			say("%s is part of %s", d, group)
			result = fun.Failed
			continue
		case c.Test:
			say("%s is set to be added", d)
			changes.Set(d, "added to "+c.Name)
			would = true
			continue
		}
		what, err := c.Env.Exec(ctx, "lvm.vgextend", value.MapOf("vgname", c.Name, "devices", value.NewList(d)))
		if err != nil {
			return fun.Raise(err)
		}
		if group, _, err = groupOf(ctx, c, real); err != nil {
			return fun.Raise(err)
		}
		if group != c.Name {
			log(c, what)
			say("%s could not be added", d)
			result = fun.Failed
			continue
		}
		changes.Set(d, "added to "+c.Name)
	}
	if would && result == fun.OK {
		result = fun.WouldChange
	}
	return fun.Ret{Result: result, Comment: comment, Changes: changes}
}

type vgPresentArgs struct {
	groupArg
	Devices []string `arg:"devices,comma[str]" doc:"physical volumes, as a list or separated by commas"`
	Rest    fun.Kwargs
}

// vgPresent creates a volume group. Salt: salt/states/lvm.py vg_present.
func vgPresent(ctx context.Context, c *fun.Call, a *vgPresentArgs) fun.Ret {
	devices := a.Devices
	there, err := display(ctx, c, "vgdisplay", "vgname", c.Name)
	switch {
	case err != nil:
		return fun.Raise(err)
	case there.Len() > 0:
		return extend(ctx, c, devices)
	case len(devices) == 0:
		return fun.Fail("Failed to create Volume Group %s: devices are needed", c.Name)
	case c.Test:
		return fun.Due("Volume Group %s is set to be created", c.Name)
	}
	what, err := c.Env.Exec(ctx, "lvm.vgcreate", with(a.Rest, "vgname", c.Name, "devices", value.Strings(devices...)))
	if err != nil {
		return fun.Raise(err)
	}
	if there, err = display(ctx, c, "vgdisplay", "vgname", c.Name); err != nil {
		return fun.Raise(err)
	}
	if there.Len() == 0 {
		log(c, what)
		return fun.Fail("Failed to create Volume Group %s", c.Name)
	}
	return done("created", what, "Created Volume Group %s", c.Name)
}

// vgAbsent removes a volume group. Salt: salt/states/lvm.py vg_absent.
func vgAbsent(ctx context.Context, c *fun.Call, _ *groupArg) fun.Ret {
	there, err := display(ctx, c, "vgdisplay", "vgname", c.Name)
	switch {
	case err != nil:
		return fun.Raise(err)
	case there.Len() == 0:
		return fun.Same("Volume Group %s already absent", c.Name)
	case c.Test:
		return fun.Due("Volume Group %s is set to be removed", c.Name)
	}
	what, err := c.Env.Exec(ctx, "lvm.vgremove", value.MapOf("vgname", c.Name))
	if err != nil {
		return fun.Raise(err)
	}
	if there, err = display(ctx, c, "vgdisplay", "vgname", c.Name); err != nil {
		return fun.Raise(err)
	}
	if there.Len() > 0 {
		log(c, what)
		return fun.Fail("Failed to remove Volume Group %s", c.Name)
	}
	return done("removed", what, "Removed Volume Group %s", c.Name)
}

// sectors returns a size such as 10G in sectors of 512 bytes.
func sectors(size string) (float64, error) {
	s := strings.ToLower(strings.TrimSpace(size))
	unit := byte('m')
	if n := len(s); n > 1 && s[n-1] == 'b' && (s[n-2] < '0' || s[n-2] > '9') {
		s = s[:n-1]
	}
	if n := len(s); n > 0 && (s[n-1] < '0' || s[n-1] > '9') {
		unit, s = s[n-1], strings.TrimSpace(s[:n-1])
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || n < 0 || math.IsInf(n, 0) || math.IsNaN(n) {
		return 0, fun.Errorf("Size %s is invalid.", size)
	}
	switch unit {
	case 's':
		return n, nil
	case 'm', 'g', 't', 'p':
		return n * 2048 * math.Pow(1024, float64(strings.IndexByte("mgtp", unit))), nil
	}
	return 0, fun.Errorf("Unit %s is invalid.", string(rune(unit)))
}

// A volume is the logical volume that a state is about.
type volume struct {
	name, path         string
	group              string // as given: GROUP or GROUP/POOL
	origin             string // of a snapshot
	size, extents      string
	sectors            float64 // of size
	haveSize, haveExts float64 // sectors and extents of the volume that exists
}

// info reads a volume that exists; ok is false where there is none.
func (v *volume) info(ctx context.Context, c *fun.Call) (ok bool, err error) {
	all, err := display(ctx, c, "lvdisplay", "lvname", v.path)
	m := all.Map(v.path)
	if m == nil || err != nil {
		return false, err
	}
	if v.haveSize, err = strconv.ParseFloat(m.Str("Logical Volume Size"), 64); err == nil {
		v.haveExts, err = strconv.ParseFloat(m.Str("Current Logical Extents Associated"), 64)
	}
	if err != nil {
		return false, fun.Errorf("cannot read the size of %s", v.path)
	}
	return true, nil
}

// wants returns how many extents the volume should have, rounded up as LVM does.
func (v *volume) wants() (float64, error) {
	if v.size != "" {
		if v.haveExts == 0 {
			return 0, nil
		}
		return math.Ceil(v.sectors / (v.haveSize / v.haveExts)), nil
	}
	n, err := strconv.ParseFloat(v.extents, 64)
	if err != nil {
		return 0, fun.Errorf("invalid number of extents: %s", v.extents)
	}
	return n, nil
}

// volumeOf reads the arguments of lv_present.
func volumeOf(c *fun.Call, a *lvPresentArgs) (*volume, error) {
	v := &volume{name: c.Name, group: a.Vgname, size: a.Size, extents: a.Extents}
	if v.group == "" {
		return nil, fun.Errorf("vgname is needed")
	}
	if v.extents != "" && v.size != "" {
		return nil, fun.Errorf("Only one of extents or size can be specified.")
	}
	if v.size != "" {
		n, err := sectors(v.size)
		if err != nil {
			return nil, err
		}
		v.sectors = n
	}
	if s := a.Snapshot; s != "" {
		v.origin, v.name = c.Name, s
	}
	group := v.group
	if a.Thinvolume {
		group, _, _ = strings.Cut(group, "/")
	}
	v.path = "/dev/" + group + "/" + v.name
	return v, nil
}

// output returns what a program said, of the return of a function.
func output(what value.Value, program string) string {
	if m, ok := what.(*value.Map); ok {
		return m.Str("Output from " + program)
	}
	return value.Str(what)
}

type lvPresentArgs struct {
	volumeArg
	vgnameArg
	Size       string `arg:"size" doc:"size with a unit S (sectors), M, G, T or P; without one megabytes"`
	Extents    string `arg:"extents" doc:"number of extents instead of size, or a percentage such as 100%FREE for a new volume"`
	Snapshot   string `arg:"snapshot" doc:"name of a snapshot to create of the volume"`
	Pv         string `arg:"pv" default:"" doc:"physical volume on which it is placed"`
	Thinvolume bool   `arg:"thinvolume" default:"False" doc:"a thin volume; vgname is GROUP/POOL"`
	Thinpool   bool   `arg:"thinpool" default:"False" doc:"a thin pool"`
	Force      bool   `arg:"force" default:"False" doc:"answer all questions with yes; needed to make a volume smaller"`
	Resizefs   bool   `arg:"resizefs" default:"False" doc:"resize the file system, too"`
	Rest       fun.Kwargs
}

// lvPresent creates or resizes a logical volume. Salt: salt/states/lvm.py lv_present.
// Differences: a size is rounded up to whole extents before it is compared, and may
// have decimals.
func lvPresent(ctx context.Context, c *fun.Call, args *lvPresentArgs) fun.Ret {
	v, err := volumeOf(c, args)
	if err != nil {
		return fun.Fail("%v", err)
	}
	there, err := v.info(ctx, c)
	switch {
	case err != nil:
		return fun.Raise(err)
	case there:
		return v.resize(ctx, c, args)
	case c.Test:
		return fun.Due("Logical Volume %s is set to be created", v.name)
	}
	kw := with(args.Rest, "lvname", v.name, "vgname", v.group, "thinvolume", args.Thinvolume, "thinpool", args.Thinpool, "force", args.Force)
	for _, a := range [...][2]string{{"size", v.size}, {"extents", v.extents}, {"snapshot", v.origin}, {"pv", args.Pv}} {
		if a[1] != "" {
			kw.Set(a[0], a[1])
		}
	}
	what, err := c.Env.Exec(ctx, "lvm.lvcreate", kw)
	if err != nil {
		return fun.Raise(err)
	}
	if there, err = v.info(ctx, c); err != nil {
		return fun.Raise(err)
	}
	if !there {
		return fun.Fail("Failed to create Logical Volume %s. Error: %s", v.name, output(what, "lvcreate"))
	}
	return done("created", what, "Created Logical Volume %s", v.name)
}

// resize gives a volume that exists its size.
func (v *volume) resize(ctx context.Context, c *fun.Call, a *lvPresentArgs) fun.Ret {
	if v.size == "" && v.extents == "" {
		return fun.Same("Logical Volume %s already present", v.name)
	}
	if strings.Contains(v.extents, "%") {
		return fun.Same("Logical Volume %s already present, %s won't be resized.", v.name, v.extents)
	}
	want, err := v.wants()
	switch {
	case err != nil:
		return fun.Fail("%v", err)
	case want == v.haveExts:
		return fun.Same("Logical Volume %s already present", v.name)
	case want < v.haveExts && !a.Force:
		return fun.Fail("To reduce a Logical Volume option 'force' must be True.")
	case c.Test:
		return fun.Due("Logical Volume %s is set to be resized", v.name)
	}
	kw := value.MapOf("lvpath", v.path, "resizefs", a.Resizefs, "force", a.Force)
	if v.size != "" {
		kw.Set("size", v.size)
	} else {
		kw.Set("extents", v.extents)
	}
	had := v.haveSize
	what, err := c.Env.Exec(ctx, "lvm.lvresize", kw)
	if err != nil {
		return fun.Raise(err)
	}
	there, err := v.info(ctx, c)
	if err != nil {
		return fun.Raise(err)
	}
	if !there || v.haveSize == had {
		return fun.Fail("Failed to resize Logical Volume %s.\nError: %s", v.name, output(what, "lvresize"))
	}
	return done("resized", what, "Resized Logical Volume %s", v.name)
}

type lvAbsentArgs struct {
	volumeArg
	vgnameArg
}

// lvAbsent removes a logical volume. Salt: salt/states/lvm.py lv_absent.
func lvAbsent(ctx context.Context, c *fun.Call, a *lvAbsentArgs) fun.Ret {
	group := a.Vgname
	if group == "" {
		return fun.Fail("vgname is needed")
	}
	path := "/dev/" + group + "/" + c.Name
	there, err := display(ctx, c, "lvdisplay", "lvname", path)
	switch {
	case err != nil:
		return fun.Raise(err)
	case there.Len() == 0:
		return fun.Same("Logical Volume %s already absent", c.Name)
	case c.Test:
		return fun.Due("Logical Volume %s is set to be removed", c.Name)
	}
	what, err := c.Env.Exec(ctx, "lvm.lvremove", value.MapOf("lvname", c.Name, "vgname", group))
	if err != nil {
		return fun.Raise(err)
	}
	if there, err = display(ctx, c, "lvdisplay", "lvname", path); err != nil {
		return fun.Raise(err)
	}
	if there.Len() > 0 {
		log(c, what)
		return fun.Fail("Failed to remove Logical Volume %s", c.Name)
	}
	return done("removed", what, "Removed Logical Volume %s", c.Name)
}
