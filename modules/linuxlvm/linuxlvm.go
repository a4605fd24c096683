// Package linuxlvm is Salt's execution module "linux_lvm", which serves as "lvm":
// physical volumes, volume groups and logical volumes.
package linuxlvm

import (
	"context"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/tool"
)

// Module returns the execution module "lvm" of Linux.
func Module() fun.Module {
	return fun.Module{Name: "lvm", Kind: fun.Exec, Doc: "Manage LVM volumes.", Avail: tool.Needs("lvm", "The linux_lvm execution module cannot be loaded: the lvm binary is not in the path."), Specs: specs}
}

// named refuses the name of a device or volume that a tool would read as an option.
func named(names ...string) error {
	for _, n := range names {
		if n == "" || n[0] == '-' || strings.ContainsAny(n, "\r\n\x00") {
			return fun.Errorf("invalid name of a device or volume: %s", value.Repr(n))
		}
	}
	return nil
}

func version(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	m, err := versions(ctx, c)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(m.At("LVM version"))
}

func fullversion(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	m, err := versions(ctx, c)
	return fun.Result{Value: m}, err
}

// versions returns what lvm says about its version.
func versions(ctx context.Context, c *fun.Call) (*value.Map, error) {
	out, err := tool.Run(ctx, c.Env.Host, "lvm", "version")
	if err != nil {
		return nil, err
	}
	m := value.NewMap(4)
	for l := range strings.Lines(out.Stdout) {
		if k, v, ok := strings.Cut(l, ":"); ok {
			m.Set(strings.TrimSpace(k), strings.TrimSpace(v))
		}
	}
	if m.Len() == 0 {
		return nil, fun.Errorf("cannot read the version: %s", out.Fault())
	}
	return m, nil
}

// Names of the columns that pvdisplay -c, vgdisplay -c and lvdisplay -c print.
var (
	pvColumns = []string{
		"Physical Volume Device", "Volume Group Name", "Physical Volume Size (kB)", "Internal Physical Volume Number",
		"Physical Volume Status", "Physical Volume (not) Allocatable", "Current Logical Volumes Here", "Physical Extent Size (kB)",
		"Total Physical Extents", "Free Physical Extents", "Allocated Physical Extents",
	}
	vgColumns = []string{
		"Volume Group Name", "Volume Group Access", "Volume Group Status", "Internal Volume Group Number", "Maximum Logical Volumes",
		"Current Logical Volumes", "Open Logical Volumes", "Maximum Logical Volume Size", "Maximum Physical Volumes", "Current Physical Volumes",
		"Actual Physical Volumes", "Volume Group Size (kB)", "Physical Extent Size (kB)", "Total Physical Extents", "Allocated Physical Extents",
		"Free Physical Extents", "UUID",
	}
	lvColumns = []string{
		"Logical Volume Name", "Volume Group Name", "Logical Volume Access", "Logical Volume Status", "Internal Logical Volume Number",
		"Open Logical Volumes", "Logical Volume Size", "Current Logical Extents Associated", "Allocated Logical Extents", "Allocation Policy",
		"Read Ahead Sectors", "Major Device Number", "Minor Device Number",
	}
)

// parse reads what a program prints with -c: a line of columns an object. Lines with
// fewer columns are messages.
func parse(out string, columns []string) []*value.Map {
	var all []*value.Map
	for l := range strings.Lines(out) {
		f := strings.Split(strings.TrimSpace(l), ":")
		if len(f) < len(columns) || strings.Contains(l, "is a new physical volume") {
			continue
		}
		m := value.NewMap(len(columns) + 1)
		for i, name := range columns {
			m.Set(name, f[i])
		}
		all = append(all, m)
	}
	return all
}

// show runs pvdisplay, vgdisplay or lvdisplay for one object, or for all where name
// is "". After a failure there are no objects.
func show(ctx context.Context, h host.Host, program, name string, columns []string) (all []*value.Map, status int, err error) {
	argv := []string{program, "-c"}
	if name != "" {
		if err := named(name); err != nil {
			return nil, 0, err
		}
		argv = append(argv, name)
	}
	out, err := tool.Run(ctx, h, argv...)
	if err != nil || !out.OK() {
		return nil, out.Status, err
	}
	return parse(out.Stdout, columns), 0, nil
}

// display is show as a return by the first column.
func display(ctx context.Context, c *fun.Call, a *quietArg, program, name string, columns []string) (fun.Result, error) {
	all, status, err := show(ctx, c.Env.Host, program, name, columns)
	if a.Quiet {
		status = 0
	}
	return fun.Result{Value: byName(all, columns[0]), Retcode: status}, err
}

func byName(all []*value.Map, column string) *value.Map {
	ret := value.NewMap(len(all))
	for _, m := range all {
		ret.Set(m.Str(column), m)
	}
	return ret
}

type pvdisplayArgs struct {
	Pvname string `arg:"pvname" default:"" doc:"device of the physical volume; empty is all"`
	Real   bool   `arg:"real" default:"False" doc:"name devices by their path without links"`
	quietArg
}

func pvdisplay(ctx context.Context, c *fun.Call, a *pvdisplayArgs) (fun.Result, error) {
	if !a.Real {
		return display(ctx, c, &a.quietArg, "pvdisplay", a.Pvname, pvColumns)
	}
	all, status, err := show(ctx, c.Env.Host, "pvdisplay", a.Pvname, pvColumns)
	if a.Quiet {
		status = 0
	}
	ret := value.NewMap(len(all))
	for _, m := range all {
		dev := m.Str(pvColumns[0])
		if p, err := c.Env.Host.EvalSymlinks(dev); err == nil {
			dev = p
		}
		m.Set("Real Physical Volume Device", dev)
		ret.Set(dev, m)
	}
	return fun.Result{Value: ret, Retcode: status}, err
}

type vgdisplayArgs struct {
	Vgname string `arg:"vgname" default:"" doc:"the volume group; empty is all"`
	quietArg
}

func vgdisplay(ctx context.Context, c *fun.Call, a *vgdisplayArgs) (fun.Result, error) {
	return display(ctx, c, &a.quietArg, "vgdisplay", a.Vgname, vgColumns)
}

type lvdisplayArgs struct {
	Lvname string `arg:"lvname" default:"" doc:"path of the logical volume; empty is all"`
	quietArg
}

func lvdisplay(ctx context.Context, c *fun.Call, a *lvdisplayArgs) (fun.Result, error) {
	return display(ctx, c, &a.quietArg, "lvdisplay", a.Lvname, lvColumns)
}

// isPV reports whether a device is a physical volume.
func isPV(ctx context.Context, h host.Host, device string) (bool, error) {
	all, _, err := show(ctx, h, "pvdisplay", device, pvColumns)
	return len(all) > 0, err
}

// consent is the option of a program that answers its questions, or has it print
// nothing.
func consent(force bool) string {
	if force {
		return "--yes"
	}
	return "-qq"
}

// options returns the arguments that a declares as options of a program; those in
// flags take no value. Empty values are left out.
func options(c *fun.Call, a any, flags ...string) ([]string, error) {
	var out []string
	for k, v := range c.Given(a).All() {
		name := value.Str(k)
		switch {
		case slices.Contains(flags, name):
			if v != false {
				out = append(out, "--"+name)
			}
		case value.Truth(v):
			s := value.Str(v)
			if strings.HasPrefix(s, "-") || strings.ContainsAny(s, "\r\n\x00") {
				return nil, fun.Errorf("invalid value of %s: %s", name, value.Repr(s))
			}
			out = append(out, "--"+name, s)
		}
	}
	return out, nil
}

// pvcreateOptions are the options of pvcreate(8).
type pvcreateOptions struct {
	_ fun.Arguments
	_ value.Value `arg:"metadatasize,kw,str|int" doc:"size of the area for metadata"`
	_ value.Value `arg:"dataalignment,kw,str|int" doc:"align the data to a multiple of this size"`
	_ value.Value `arg:"dataalignmentoffset,kw,str|int" doc:"shift the start of the data by this size"`
	_ value.Value `arg:"pvmetadatacopies,kw,int|str" doc:"number of areas for metadata: 0, 1 or 2"`
	_ value.Value `arg:"metadatacopies,kw,int|str" doc:"the same as pvmetadatacopies"`
	_ value.Value `arg:"metadataignore,kw,str|bool" doc:"y: do not use the areas for metadata"`
	_ value.Value `arg:"restorefile,kw,str" doc:"file of vgcfgbackup, to place the data as it was"`
	_ value.Value `arg:"norestorefile,kw,bool|str" doc:"with a UUID, go without restorefile"`
	_ value.Value `arg:"labelsector,kw,int|str" doc:"sector of the label"`
	_ value.Value `arg:"setphysicalvolumesize,kw,str|int" doc:"size of the volume instead of that of the device"`
}

// vgcreateOptions are the options of vgcreate(8).
type vgcreateOptions struct {
	_ fun.Arguments
	_ value.Value `arg:"addtag,kw,str" doc:"tag of the group"`
	_ value.Value `arg:"alloc,kw,str" doc:"how extents are chosen: contiguous, cling, normal, anywhere"`
	_ value.Value `arg:"autobackup,kw,str|bool" doc:"y: back up the metadata"`
	_ value.Value `arg:"clustered,kw,str|bool" doc:"y: the group is shared by a cluster"`
	_ value.Value `arg:"maxlogicalvolumes,kw,int|str" doc:"limit of logical volumes"`
	_ value.Value `arg:"maxphysicalvolumes,kw,int|str" doc:"limit of physical volumes"`
	_ value.Value `arg:"metadatatype,kw,str" doc:"format of the metadata"`
	_ value.Value `arg:"vgmetadatacopies,kw,int|str" doc:"number of copies of the metadata"`
	_ value.Value `arg:"metadatacopies,kw,int|str" doc:"the same as vgmetadatacopies"`
	_ value.Value `arg:"physicalextentsize,kw,str|int" doc:"size of extents"`
	_ value.Value `arg:"zero,kw,str|bool" doc:"y: clear the first sectors of new physical volumes"`
}

// lvcreateOptions are the options of lvcreate(8).
type lvcreateOptions struct {
	_ fun.Arguments
	_ value.Value `arg:"activate,kw,str|bool" doc:"y: activate the volume"`
	_ value.Value `arg:"chunksize,kw,str|int" doc:"size of the chunks of a snapshot or thin pool"`
	_ value.Value `arg:"contiguous,kw,str|bool" doc:"y: the extents are next to each other"`
	_ value.Value `arg:"discards,kw,str" doc:"how a thin pool handles discards: ignore, nopassdown, passdown"`
	_ value.Value `arg:"stripes,kw,int|str" doc:"number of stripes"`
	_ value.Value `arg:"stripesize,kw,str|int" doc:"size of stripes"`
	_ value.Value `arg:"minor,kw,int|str" doc:"minor number of the device"`
	_ value.Value `arg:"persistent,kw,str|bool" doc:"y: keep the minor number"`
	_ value.Value `arg:"mirrors,kw,int|str" doc:"number of mirrors"`
	_ value.Value `arg:"nosync,kw,bool|str" doc:"do not synchronize mirrors at first"`
	_ value.Value `arg:"noudevsync,kw,bool|str" doc:"do not wait for udev"`
	_ value.Value `arg:"monitor,kw,str|bool" doc:"y: monitor the volume"`
	_ value.Value `arg:"ignoremonitoring,kw,bool|str" doc:"leave monitoring as it is"`
	_ value.Value `arg:"permission,kw,str" doc:"r or rw"`
	_ value.Value `arg:"poolmetadatasize,kw,str|int" doc:"size of the metadata of a thin pool"`
	_ value.Value `arg:"readahead,kw,str|int" doc:"sectors to read ahead"`
	_ value.Value `arg:"regionsize,kw,str|int" doc:"size of the regions of mirrors"`
	_ value.Value `arg:"thin,kw,bool|str" doc:"make a thin volume"`
	_ value.Value `arg:"type,kw,str" doc:"type of the volume"`
	_ value.Value `arg:"virtualsize,kw,str|int" doc:"size of a thin or sparse volume"`
	_ value.Value `arg:"zero,kw,str|bool" doc:"y: clear the first sectors"`
}

type pvcreateArgs struct {
	devicesArg
	overrideArg
	forceArg
	pvcreateOptions
	_ fun.Kwargs
}

func pvcreate(ctx context.Context, c *fun.Call, a *pvcreateArgs) (fun.Result, error) {
	devices, h := a.Devices, c.Env.Host
	if len(devices) == 0 {
		return fun.Value("Error: at least one device is required")
	}
	if err := named(devices...); err != nil {
		return fun.Result{}, err
	}
	var fresh []string
	for _, d := range devices {
		if _, err := h.Stat(d); err != nil {
			return fun.Value(d + " does not exist")
		}
		there, err := isPV(ctx, h, d)
		switch {
		case err != nil:
			return fun.Result{}, err
		case !there:
			fresh = append(fresh, d)
		case !a.Override:
			return fun.Value(`Device "` + d + `" is already an LVM physical volume.`)
		}
	}
	if len(fresh) == 0 {
		return fun.Value(true)
	}
	more, err := options(c, &a.pvcreateOptions, "norestorefile")
	if err != nil {
		return fun.Result{}, err
	}
	argv := append([]string{"pvcreate", consent(a.Force)}, fresh...)
	return changeDevices(ctx, c, append(argv, more...), devices, true)
}

// changeDevices runs a program, and looks whether the devices are physical volumes
// then, as they should. It returns true, or what went wrong.
func changeDevices(ctx context.Context, c *fun.Call, argv, devices []string, should bool) (fun.Result, error) {
	out, err := tool.Run(ctx, c.Env.Host, argv...)
	if err != nil {
		return fun.Result{}, err
	}
	if !out.OK() {
		return fun.Result{Value: out.Fault(), Retcode: out.Status}, nil
	}
	for _, d := range devices {
		is, err := isPV(ctx, c.Env.Host, d)
		if err != nil {
			return fun.Result{}, err
		}
		if is != should {
			return fun.Result{Value: `Device "` + d + `" was not affected.`, Retcode: 1}, nil
		}
	}
	return fun.Value(true)
}

// volumes returns the devices of a call that are physical volumes. text is Salt's
// where one is not, and all have to be.
func volumes(ctx context.Context, c *fun.Call, a *pvremoveArgs) (devices []string, text string, err error) {
	if err := named(a.Devices...); err != nil {
		return nil, "", err
	}
	for _, d := range a.Devices {
		is, err := isPV(ctx, c.Env.Host, d)
		switch {
		case err != nil:
			return nil, "", err
		case is:
			devices = append(devices, d)
		case !a.Override:
			return nil, d + " is not a physical volume", nil
		}
	}
	return devices, "", nil
}

// pvremoveArgs are the arguments of pvremove and pvresize.
type pvremoveArgs struct {
	devicesArg
	overrideArg
	forceArg
}

func pvremove(ctx context.Context, c *fun.Call, a *pvremoveArgs) (fun.Result, error) {
	devices, text, err := volumes(ctx, c, a)
	switch {
	case err != nil:
		return fun.Result{}, err
	case text != "":
		return fun.Result{Value: text, Retcode: 1}, nil
	case len(devices) == 0:
		return fun.Value(true)
	}
	return changeDevices(ctx, c, append([]string{"pvremove", consent(a.Force)}, devices...), devices, false)
}

func pvresize(ctx context.Context, c *fun.Call, a *pvremoveArgs) (fun.Result, error) {
	devices, text, err := volumes(ctx, c, a)
	switch {
	case err != nil:
		return fun.Result{}, err
	case text != "":
		return fun.Result{Value: text, Retcode: 1}, nil
	case len(devices) == 0:
		return fun.Value(true)
	}
	return changeDevices(ctx, c, append([]string{"pvresize", consent(a.Force)}, devices...), devices, true)
}

// change runs a program and returns its message, or success where it ended well.
func change(ctx context.Context, c *fun.Call, success string, argv ...string) (text string, status int, err error) {
	out, err := tool.Run(ctx, c.Env.Host, argv...)
	if err != nil {
		return "", 0, err
	}
	if !out.OK() {
		return strings.TrimSpace(out.Fault()), out.Status, nil
	}
	return success, 0, nil
}

type vgcreateArgs struct {
	vgArg
	devicesArg
	noForceArg
	vgcreateOptions
	_ fun.Kwargs
}

func vgcreate(ctx context.Context, c *fun.Call, a *vgcreateArgs) (fun.Result, error) {
	vg, devices := a.Vgname, a.Devices
	if vg == "" || len(devices) == 0 {
		return fun.Value("Error: vgname and device(s) are both required")
	}
	if err := named(append([]string{vg}, devices...)...); err != nil {
		return fun.Result{}, err
	}
	more, err := options(c, &a.vgcreateOptions)
	if err != nil {
		return fun.Result{}, err
	}
	argv := append(append([]string{"vgcreate", vg}, devices...), consent(a.Force))
	text, status, err := change(ctx, c, `Volume group "`+vg+`" successfully created`, append(argv, more...)...)
	if err != nil {
		return fun.Result{}, err
	}
	all, _, err := show(ctx, c.Env.Host, "vgdisplay", vg, vgColumns)
	ret := byName(all, vgColumns[0])
	ret.Set("Output from vgcreate", text)
	return fun.Result{Value: ret, Retcode: status}, err
}

type vgextendArgs struct {
	vgArg
	devicesArg
	noForceArg
}

func vgextend(ctx context.Context, c *fun.Call, a *vgextendArgs) (fun.Result, error) {
	vg, devices := a.Vgname, a.Devices
	if vg == "" || len(devices) == 0 {
		return fun.Value("Error: vgname and device(s) are both required")
	}
	if err := named(append([]string{vg}, devices...)...); err != nil {
		return fun.Result{}, err
	}
	argv := append([]string{"vgextend", vg, consent(a.Force)}, devices...)
	text, status, err := change(ctx, c, `Volume group "`+vg+`" successfully extended`, argv...)
	return fun.Result{Value: value.MapOf("Output from vgextend", text), Retcode: status}, err
}

// lvSize returns the options of lvcreate that say how large a volume is; text is
// Salt's for what cannot be.
func lvSize(a *lvcreateArgs) (argv []string, text string) {
	size, extents, thin := a.Size, a.Extents, a.Thinvolume
	switch {
	case size != "" && extents != "":
		return nil, "Error: Please specify only one of size or extents"
	case thin && a.Thinpool:
		return nil, "Error: Please set only one of thinvolume or thinpool to True"
	case size != "" && thin:
		return []string{"-V", size}, ""
	case extents != "" && thin:
		return nil, "Error: Thin volume size cannot be specified as extents"
	case size != "":
		return []string{"-L", size}, ""
	case extents != "":
		return []string{"-l", extents}, ""
	}
	return nil, "Error: Either size or extents must be specified"
}

type lvcreateArgs struct {
	lvArg
	vgArg
	sizeArg
	extentsArg
	Snapshot   string `arg:"snapshot" doc:"logical volume that this one is a snapshot of"`
	Pv         string `arg:"pv" doc:"physical volume on which it is placed"`
	Thinvolume bool   `arg:"thinvolume" default:"False" doc:"a thin volume; vgname is GROUP/POOL"`
	Thinpool   bool   `arg:"thinpool" default:"False" doc:"a thin pool"`
	noForceArg
	lvcreateOptions
	_ fun.Kwargs
}

func lvcreate(ctx context.Context, c *fun.Call, a *lvcreateArgs) (fun.Result, error) {
	lv, vg, snapshot, pv := a.Lvname, a.Vgname, a.Snapshot, a.Pv
	size, text := lvSize(a)
	if text != "" {
		return fun.Value(text)
	}
	if err := named(lv, vg); err != nil {
		return fun.Result{}, err
	}
	more, err := options(c, &a.lvcreateOptions, "nosync", "noudevsync", "ignoremonitoring", "thin")
	if err != nil {
		return fun.Result{}, err
	}
	argv := []string{"lvcreate"}
	switch {
	case a.Thinvolume:
		argv = append(argv, "--thin", "-n", lv)
	case a.Thinpool:
		argv = append(argv, "--thinpool", lv)
	default:
		argv = append(argv, "-n", lv)
	}
	if snapshot != "" {
		argv = append(argv, "-s", vg+"/"+snapshot)
	} else {
		argv = append(argv, vg)
	}
	argv = append(argv, size...)
	if pv != "" {
		if err := named(pv); err != nil {
			return fun.Result{}, err
		}
		argv = append(argv, pv)
	}
	argv = append(append(argv, more...), consent(a.Force))
	text, status, err := change(ctx, c, `Logical volume "`+lv+`" created.`, argv...)
	if err != nil {
		return fun.Result{}, err
	}
	group, _, _ := strings.Cut(vg, "/") // of a thin volume vg is GROUP/POOL
	all, _, err := show(ctx, c.Env.Host, "lvdisplay", "/dev/"+group+"/"+lv, lvColumns)
	ret := byName(all, lvColumns[0])
	ret.Set("Output from lvcreate", text)
	return fun.Result{Value: ret, Retcode: status}, err
}

type vgremoveArgs struct {
	vgArg
	forceArg
}

func vgremove(ctx context.Context, c *fun.Call, a *vgremoveArgs) (fun.Result, error) {
	vg := a.Vgname
	if err := named(vg); err != nil {
		return fun.Result{}, err
	}
	text, status, err := change(ctx, c, `Volume group "`+vg+`" successfully removed`, "vgremove", vg, consent(a.Force))
	return fun.Result{Value: text, Retcode: status}, err
}

type lvremoveArgs struct {
	lvArg
	vgArg
	forceArg
}

func lvremove(ctx context.Context, c *fun.Call, a *lvremoveArgs) (fun.Result, error) {
	lv, vg := a.Lvname, a.Vgname
	if err := named(lv, vg); err != nil {
		return fun.Result{}, err
	}
	text, status, err := change(ctx, c, `Logical volume "`+lv+`" successfully removed`, "lvremove", vg+"/"+lv, consent(a.Force))
	return fun.Result{Value: text, Retcode: status}, err
}

// resize changes the size of a logical volume.
func resize(ctx context.Context, c *fun.Call, a *resizeArgs, program, force, success string) (fun.Result, error) {
	lv, size, extents := a.Lvpath, a.Size, a.Extents
	if size != "" && extents != "" {
		c.Env.Log().Error("Error: Please specify only one of size or extents")
		return fun.Value(value.NewMap(0))
	}
	if size == "" && extents == "" {
		c.Env.Log().Error("Error: Either size or extents must be specified")
		return fun.Value(value.NewMap(0))
	}
	if err := named(lv); err != nil {
		return fun.Result{}, err
	}
	argv := []string{program, "-qq"}
	if a.Force {
		argv[1] = force
	}
	if a.Resizefs {
		argv = append(argv, "--resizefs")
	}
	if size != "" {
		argv = append(argv, "-L", size)
	} else {
		argv = append(argv, "-l", extents)
	}
	text, status, err := change(ctx, c, `Logical volume "`+lv+`" successfully `+success+".", append(argv, lv)...)
	return fun.Result{Value: value.MapOf("Output from "+program, text), Retcode: status}, err
}

func lvresize(ctx context.Context, c *fun.Call, a *resizeArgs) (fun.Result, error) {
	return resize(ctx, c, a, "lvresize", "--force", "resized")
}

func lvextend(ctx context.Context, c *fun.Call, a *resizeArgs) (fun.Result, error) {
	return resize(ctx, c, a, "lvextend", "--yes", "extended")
}
