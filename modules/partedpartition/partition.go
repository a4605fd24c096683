// Package partedpartition is Salt's execution module "parted_partition", which
// serves as "partition": partition tables and partitions.
package partedpartition

import (
	"context"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/machine"
	"brine/modules/tool"
)

// Module returns the execution module "partition".
func Module() fun.Module {
	return fun.Module{Name: "partition", Kind: fun.Exec, Doc: "Manage partitions with parted.", Avail: available, Specs: specs}
}

func available(e *fun.Env) (bool, string) {
	for _, name := range []string{"parted", "lsblk", "partprobe"} {
		if !tool.Has(e.Host, name) {
			return false, "The parted execution module failed to load " + name + " binary is not in the path."
		}
	}
	return true, ""
}

var (
	units       = []string{"s", "B", "kB", "MB", "MiB", "GB", "GiB", "TB", "TiB", "%", "cyl", "chs", "compact"}
	diskFlags   = []string{"cylinder_alignment", "implicit_partition_table", "pmbr_boot"}
	flags       = []string{"atvrecv", "bios_grub", "boot", "diag", "esp", "hidden", "hp-service", "irst", "lba", "legacy_boot", "lvm", "msftdata", "msftres", "palo", "prep", "raid", "root", "swap", "type"}
	labels      = []string{"aix", "amiga", "bsd", "dvh", "gpt", "loop", "mac", "msdos", "pc98", "sun"}
	fileSystems = []string{"NTFS", "btrfs", "ext2", "ext3", "ext4", "fat", "fat16", "fat32", "hfs", "hfs+", "hfsx", "linux-swap", "ntfs", "reiserfs", "ufs", "xfs"}
)

// isDevice reports whether a path is a block device.
func isDevice(c *fun.Call, path string) bool {
	st, err := c.Env.Host.Stat(path)
	return err == nil && st.Mode&fs.ModeDevice != 0 && st.Mode&fs.ModeCharDevice == 0
}

// device returns the argument device, which has to be a block device.
func device(c *fun.Call, argDevice string) (string, error) {
	dev := argDevice
	if !strings.HasPrefix(dev, "/") || !isDevice(c, dev) {
		return "", fun.Errorf("Invalid device passed to partition module.")
	}
	return dev, nil
}

// number returns the argument arg, which is the number of a partition, as text.
func number(c *fun.Call, arg string, n int64) (string, error) {
	if n < 1 {
		return "", fun.Errorf("Invalid %s passed to partition.%s: partitions have numbers from 1", arg, c.Spec.Name)
	}
	return strconv.FormatInt(n, 10), nil
}

// among returns the argument arg, which has to be one of some words.
func among(c *fun.Call, arg, v string, words []string) (string, error) {
	if !slices.Contains(words, v) {
		return "", fun.Errorf("Invalid %s passed to partition.%s: '%s' is none of %s", arg, c.Spec.Name, v, strings.Join(words, ", "))
	}
	return v, nil
}

// onOff returns the argument state; YAML reads on and off as booleans.
func onOff(c *fun.Call, argState string) (string, error) {
	switch argState {
	case "on", "True":
		return "on", nil
	case "off", "False":
		return "off", nil
	}
	return "", fun.Errorf("Invalid state passed to partition.%s", c.Spec.Name)
}

var boundaryRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([\d.]+)(\D*)$`) })

// boundary returns an argument that is a place on a disk.
func boundary(s string) (string, error) {
	if m := boundaryRE().FindStringSubmatch(s); m != nil && (m[2] == "" || slices.Contains(units, m[2])) {
		return s, nil
	}
	return "", fun.Errorf(`Invalid partition boundary passed: "%s"`, s)
}

// lines returns what a program says, stdout and stderr, by lines.
func lines(ctx context.Context, c *fun.Call, argv ...string) (fun.Result, error) {
	said, err := tool.Merged(ctx, c.Env.Host, argv...)
	return fun.Result{Value: value.Strings(said.Lines()...), Retcode: said.Status}, err
}

// parted runs parted on a device, and returns what it says by lines.
func parted(ctx context.Context, c *fun.Call, dev string, args ...string) (fun.Result, error) {
	return lines(ctx, c, append([]string{"parted", "-m", "-s", "--", dev}, args...)...)
}

// onPartition runs a command of parted whose first word is a partition that the
// argument arg numbers.
func onPartition(ctx context.Context, c *fun.Call, a *dev, command, arg string, partition int64, args ...string) (fun.Result, error) {
	dev, err := device(c, a.Device)
	if err != nil {
		return fun.Result{}, err
	}
	n, err := number(c, arg, partition)
	if err != nil {
		return fun.Result{}, err
	}
	return parted(ctx, c, dev, append([]string{command, n}, args...)...)
}

type alignCheckArgs struct {
	dev
	PartType string `arg:"part_type,required" oneof:"minimal|optimal" doc:"alignment"`
	part
}

func alignCheck(ctx context.Context, c *fun.Call, a *alignCheckArgs) (fun.Result, error) {
	dev, err := device(c, a.Device)
	if err != nil {
		return fun.Result{}, err
	}
	n, err := number(c, "partition", a.Partition)
	if err != nil {
		return fun.Result{}, err
	}
	return parted(ctx, c, dev, "align-check", a.PartType, n)
}

// checkArgs are the arguments of check, getID and rm.
type checkArgs struct {
	dev
	minor
}

func check(ctx context.Context, c *fun.Call, a *checkArgs) (fun.Result, error) {
	return onPartition(ctx, c, &a.dev, "check", "minor", a.Minor)
}

type cpArgs struct {
	dev
	FromMinor int64 `arg:"from_minor,required" doc:"number of the partition"`
	ToMinor   int64 `arg:"to_minor,required" doc:"number of the partition that is overwritten"`
}

func cp(ctx context.Context, c *fun.Call, a *cpArgs) (fun.Result, error) {
	to, err := number(c, "to_minor", a.ToMinor)
	if err != nil {
		return fun.Result{}, err
	}
	return onPartition(ctx, c, &a.dev, "cp", "from_minor", a.FromMinor, to)
}

type diskSetArgs struct {
	dev
	disk
	state
}

func diskSet(ctx context.Context, c *fun.Call, a *diskSetArgs) (fun.Result, error) {
	dev, flag, err := diskFlag(c, &a.dev, &a.disk)
	if err != nil {
		return fun.Result{}, err
	}
	state, err := onOff(c, a.State)
	if err != nil {
		return fun.Result{}, err
	}
	return parted(ctx, c, dev, "disk_set", flag, state)
}

type diskToggleArgs struct {
	dev
	disk
}

func diskToggle(ctx context.Context, c *fun.Call, a *diskToggleArgs) (fun.Result, error) {
	dev, flag, err := diskFlag(c, &a.dev, &a.disk)
	if err != nil {
		return fun.Result{}, err
	}
	return parted(ctx, c, dev, "disk_toggle", flag)
}

// diskFlag returns the device and the flag of a disk.
func diskFlag(c *fun.Call, a *dev, d *disk) (dev, flag string, err error) {
	if dev, err = device(c, a.Device); err != nil {
		return "", "", err
	}
	flag, err = among(c, "flag", d.Flag, diskFlags)
	return dev, flag, err
}

type existsArgs struct {
	_      fun.Arguments
	Device string `arg:"device,path" default:"" doc:"path of the device"`
}

func exists(_ context.Context, c *fun.Call, a *existsArgs) (fun.Result, error) {
	return machine.Bool(isDevice(c, a.Device), nil)
}

func getBlockDevice(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	said, err := tool.LookMerged(ctx, c.Env.Host, "lsblk", "-n", "-io", "KNAME", "-d", "-e", "1,7,11", "-l")
	return fun.Result{Value: value.Strings(said.Lines()...), Retcode: said.Status}, err
}

func getID(ctx context.Context, c *fun.Call, a *checkArgs) (fun.Result, error) {
	dev, err := device(c, a.Device)
	if err != nil {
		return fun.Result{}, err
	}
	n, err := number(c, "minor", a.Minor)
	if err != nil {
		return fun.Result{}, err
	}
	said, err := tool.LookMerged(ctx, c.Env.Host, "sfdisk", "--part-type", dev, n)
	return fun.Result{Value: value.Strings(said.Lines()...), Retcode: said.Status}, err
}

type listArgs struct {
	dev
	Unit string `arg:"unit" doc:"unit of sizes, such as s, MiB or %"`
}

// list returns what parted prints of a device.
func list(ctx context.Context, c *fun.Call, a *listArgs) (fun.Result, error) {
	dev, err := device(c, a.Device)
	if err != nil {
		return fun.Result{}, err
	}
	argv := []string{"parted", "-m", "-s", "--", dev}
	unit := a.Unit
	if unit != "" {
		if _, err := among(c, "unit", unit, units); err != nil {
			return fun.Result{}, err
		}
		argv = append(argv, "unit", unit)
	}
	out, err := tool.Run(ctx, c.Env.Host, append(argv, "print")...)
	if err != nil {
		return fun.Result{}, err
	}
	m, err := parse(out.Text(), unit)
	if !out.OK() && (err != nil || m.Map("info").Len() == 0) {
		return fun.Result{}, fun.Errorf("%s", out.Fault())
	}
	return fun.Result{Value: m, Retcode: out.Status}, err
}

var infoFields = []string{"disk", "size", "interface", "logical sector", "physical sector", "partition table", "model", "disk flags"}

// parse reads what parted -m print prints.
func parse(text, unit string) (*value.Map, error) {
	var info *value.Map
	partitions := value.NewMap(4)
	for _, l := range value.SplitLines(text, false) {
		if l == "BYT;" || l == "CHS;" || l == "CYL;" {
			continue
		}
		cols := strings.Split(strings.TrimRight(l, ";"), ":")
		if info == nil {
			if len(cols) != 7 && len(cols) != 8 {
				return nil, fun.Errorf("Problem encountered while parsing output from parted")
			}
			info = zip(infoFields, cols)
			continue
		}
		// Without a size in units of cylinders, heads and sectors; free space
		// has neither a file system nor a name and flags.
		fields := []string{"number", "start", "end"}
		if (unit == "chs" || unit == "cyl") && len(cols) == 4 && partitions.Len() == 0 {
			continue // how many cylinders, heads and sectors the disk has
		}
		if unit != "chs" {
			fields = append(fields, "size")
		}
		if cols[len(cols)-1] == "free" {
			cols = cols[:len(cols)-1]
		} else {
			fields = append(fields, "file system", "name", "flags")
		}
		if len(fields) != len(cols) {
			return nil, fun.Errorf("Problem encountered while parsing output from parted")
		}
		partitions.Set(cols[0], zip(fields, cols))
	}
	if info == nil {
		info = value.NewMap(0)
	}
	return value.MapOf("info", info, "partitions", partitions), nil
}

func zip(keys, vals []string) *value.Map {
	m := value.NewMap(len(vals))
	for i := range min(len(keys), len(vals)) {
		m.Set(keys[i], vals[i])
	}
	return m
}

type mkfsArgs struct {
	dev
	FSType string `arg:"fs_type,required" doc:"file system, such as ext4"`
}

func mkfs(ctx context.Context, c *fun.Call, a *mkfsArgs) (fun.Result, error) {
	dev, err := device(c, a.Device)
	if err != nil {
		return fun.Result{}, err
	}
	kind, err := among(c, "fs_type", a.FSType, fileSystems)
	if err != nil {
		return fun.Result{}, err
	}
	program := "mkfs." + strings.ToLower(kind)
	if kind == "linux-swap" {
		program = "mkswap"
	}
	if !tool.Has(c.Env.Host, program) {
		return fun.Result{Value: "Error: " + program + " is unavailable.", Retcode: 1}, nil
	}
	return lines(ctx, c, program, dev)
}

type mklabelArgs struct {
	dev
	LabelType string `arg:"label_type,required" doc:"kind of the table, such as gpt or msdos"`
}

func mklabel(ctx context.Context, c *fun.Call, a *mklabelArgs) (fun.Result, error) {
	label, err := among(c, "label_type", a.LabelType, labels)
	if err != nil {
		return fun.Result{}, err
	}
	dev, err := device(c, a.Device)
	if err != nil {
		return fun.Result{}, err
	}
	return parted(ctx, c, dev, "mklabel", label)
}

func mkpart(ctx context.Context, c *fun.Call, a *newPartition) (fun.Result, error) {
	dev, err := device(c, a.Device)
	if err != nil {
		return fun.Result{}, err
	}
	args := []string{"mkpart", a.PartType}
	if a.FSType != nil {
		kind, err := among(c, "fs_type", fun.TextOf(a.FSType), fileSystems)
		if err != nil {
			return fun.Result{}, err
		}
		args = append(args, kind)
	}
	if (a.Start == nil) != (a.End == nil) {
		return fun.Result{}, fun.Errorf("partition.%s needs both start and end", c.Spec.Name)
	}
	for _, place := range []value.Value{a.Start, a.End} {
		if place == nil {
			break
		}
		at, err := boundary(value.Str(place))
		if err != nil {
			return fun.Result{}, err
		}
		args = append(args, at)
	}
	return parted(ctx, c, dev, args...)
}

var nameRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9 _-]+$`) })

type nameArgs struct {
	dev
	part
	Name string `arg:"name,required" doc:"letters, digits, blanks, _ and -"`
}

func name(ctx context.Context, c *fun.Call, a *nameArgs) (fun.Result, error) {
	if !nameRE().MatchString(a.Name) {
		return fun.Result{}, fun.Errorf("Invalid characters passed to partition.name")
	}
	// parted splits its arguments at blanks once more.
	return onPartition(ctx, c, &a.dev, "name", "partition", a.Partition, `"`+a.Name+`"`)
}

type probeArgs struct {
	More fun.Varargs
}

func probe(ctx context.Context, c *fun.Call, a *probeArgs) (fun.Result, error) {
	argv := []string{"partprobe", "--"}
	for _, v := range a.More {
		dev := value.Str(v)
		if !strings.HasPrefix(dev, "/") || !isDevice(c, dev) {
			return fun.Result{}, fun.Errorf("Invalid device passed to partition module.")
		}
		argv = append(argv, dev)
	}
	return lines(ctx, c, argv...)
}

type rescueArgs struct {
	dev
	start
	end
}

func rescue(ctx context.Context, c *fun.Call, a *rescueArgs) (fun.Result, error) {
	dev, err := device(c, a.Device)
	if err != nil {
		return fun.Result{}, err
	}
	start, err := boundary(a.Start)
	if err != nil {
		return fun.Result{}, err
	}
	end, err := boundary(a.End)
	if err != nil {
		return fun.Result{}, err
	}
	return parted(ctx, c, dev, "rescue", start, end)
}

type resizeArgs struct {
	dev
	minor
	start
	end
}

func resize(ctx context.Context, c *fun.Call, a *resizeArgs) (fun.Result, error) {
	start, err := boundary(a.Start)
	if err != nil {
		return fun.Result{}, err
	}
	end, err := boundary(a.End)
	if err != nil {
		return fun.Result{}, err
	}
	return onPartition(ctx, c, &a.dev, "resize", "minor", a.Minor, start, end)
}

func rm(ctx context.Context, c *fun.Call, a *checkArgs) (fun.Result, error) {
	return onPartition(ctx, c, &a.dev, "rm", "minor", a.Minor)
}

type setArgs struct {
	dev
	minor
	flag
	state
}

func set(ctx context.Context, c *fun.Call, a *setArgs) (fun.Result, error) {
	flag, err := among(c, "flag", a.Flag, flags)
	if err != nil {
		return fun.Result{}, err
	}
	state, err := onOff(c, a.State)
	if err != nil {
		return fun.Result{}, err
	}
	return onPartition(ctx, c, &a.dev, "set", "minor", a.Minor, flag, state)
}

type setIDArgs struct {
	dev
	minor
	SystemID string `arg:"system_id,required" doc:"type as system_types lists it, such as 83"`
}

func setID(ctx context.Context, c *fun.Call, a *setIDArgs) (fun.Result, error) {
	dev, err := device(c, a.Device)
	if err != nil {
		return fun.Result{}, err
	}
	n, err := number(c, "minor", a.Minor)
	if err != nil {
		return fun.Result{}, err
	}
	types, err := types(ctx, c)
	if err != nil {
		return fun.Result{}, err
	}
	id := a.SystemID
	if !types.Has(id) {
		return fun.Result{}, fun.Errorf("Invalid system_id passed to partition.set_id")
	}
	return lines(ctx, c, "sfdisk", "--part-type", dev, n, id)
}

func systemTypes(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	m, err := types(ctx, c)
	return fun.Result{Value: m}, err
}

// types returns the types of partitions that sfdisk knows, by their numbers.
func types(ctx context.Context, c *fun.Call) (*value.Map, error) {
	said, err := tool.LookMerged(ctx, c.Env.Host, "sfdisk", "-T")
	m := value.NewMap(64)
	for _, l := range said.Lines() {
		if f := strings.Fields(l); len(f) > 1 && f[0] != "Id" {
			m.Set(f[0], f[1])
		}
	}
	return m, err
}

type toggleArgs struct {
	dev
	part
	flag
}

func toggle(ctx context.Context, c *fun.Call, a *toggleArgs) (fun.Result, error) {
	flag, err := among(c, "flag", a.Flag, flags)
	if err != nil {
		return fun.Result{}, err
	}
	return onPartition(ctx, c, &a.dev, "toggle", "partition", a.Partition, flag)
}
