// Package disk is Salt's execution module "disk": how full file systems are, and the
// tools of block devices.
package disk

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/machine"
	"brine/modules/tool"
)

// Module returns the execution module "disk".
func Module() fun.Module {
	return fun.Module{Name: "disk", Kind: fun.Exec, Doc: "File systems and block devices.", Specs: specs}
}

// dfLine is a line of df(1): file system, size, used, available, share used, mount
// point. What comes before the size belongs to the file system's name; -T puts its
// type there.
var dfLine = sync.OnceValue(func() *regexp.Regexp {
	const n = `(-|-?[0-9][0-9.]*[KMGTPEZY]?)`
	return regexp.MustCompile(`^(\S.*?)\s+` + n + `\s+` + n + `\s+` + n + `\s+(-|[0-9]+%)\s+(\S.*?)\s*$`)
})

// flags returns the argument args as one option of df(1).
func flags(c *fun.Call, a *flagsArg) ([]string, error) {
	var b strings.Builder
	for _, s := range a.Args {
		b.WriteString(s)
	}
	if b.Len() == 0 {
		return nil, nil
	}
	if strings.Trim(b.String(), "aBhHiklPtTxv") != "" {
		return nil, fun.Errorf("Invalid flag passed to disk.%s", c.Spec.Name)
	}
	return []string{"-" + b.String()}, nil
}

// A mounted file system, as df(1) prints it.
type mounted struct{ fs, size, used, free, share, at string }

// df runs df(1).
func df(ctx context.Context, c *fun.Call, argv ...string) ([]mounted, int, error) {
	out, err := tool.LookMerged(ctx, c.Env.Host, append([]string{"df"}, argv...)...)
	if err != nil {
		return nil, 0, err
	}
	var all []mounted
	for _, line := range out.Lines() {
		if m := dfLine().FindStringSubmatch(line); m != nil {
			all = append(all, mounted{m[1], m[2], m[3], m[4], m[5], m[6]})
		}
	}
	return all, out.Status, nil
}

// usage returns how full the file systems are. Salt: salt/modules/disk.py usage.
// Difference: a mount point with blanks is whole, and the flags h and H work.
func usage(ctx context.Context, c *fun.Call, a *flagsArg) (fun.Result, error) {
	more, err := flags(c, a)
	if err != nil {
		return fun.Result{}, err
	}
	if !machine.Exists(c.Env.Host, "/etc/mtab") && machine.Grain(c.Env, "kernel") == "Linux" {
		c.Env.Log().Error("df cannot run without /etc/mtab")
		return fun.Value(value.NewMap(0))
	}
	all, status, err := df(ctx, c, append([]string{"-P"}, more...)...)
	m := value.NewMap(len(all))
	for _, x := range all {
		m.Set(x.at, value.MapOf("filesystem", x.fs, "1K-blocks", x.size, "used", x.used, "available", x.free, "capacity", x.share))
	}
	return fun.Result{Value: m, Retcode: status}, err
}

func inodeusage(ctx context.Context, c *fun.Call, a *flagsArg) (fun.Result, error) {
	more, err := flags(c, a)
	if err != nil {
		return fun.Result{}, err
	}
	all, status, err := df(ctx, c, append([]string{"-iP"}, more...)...)
	m := value.NewMap(len(all))
	for _, x := range all {
		m.Set(x.at, value.MapOf("inodes", x.size, "used", x.used, "free", x.free, "use", x.share, "filesystem", x.fs))
	}
	return fun.Result{Value: m, Retcode: status}, err
}

type percentArgs struct {
	_    fun.Arguments
	Args string `arg:"args" doc:"mount point of the one to return"`
}

func percent(ctx context.Context, c *fun.Call, a *percentArgs) (fun.Result, error) {
	all, status, err := df(ctx, c, "-P")
	m := value.NewMap(len(all))
	for _, x := range all {
		m.Set(x.at, x.share)
	}
	res := fun.Result{Value: m, Retcode: status}
	if at := a.Args; at != "" && err == nil {
		res.Value = value.NewMap(0)
		if v, ok := m.Get(at); ok {
			res.Value = v
		}
	}
	return res, err
}

// device returns the argument device where tools take it for one.
func device(argDevice string) (string, error) {
	d := argDevice
	if d == "" || strings.HasPrefix(d, "-") {
		return "", fun.Errorf("invalid device %q", d)
	}
	return d, nil
}

type blkidArgs struct {
	_      fun.Arguments
	Device string `arg:"device,path" doc:"path of the one to look at; None is all"`
	Token  string `arg:"token" doc:"only those that have it: UUID=..., TYPE=ext4"`
}

// blkid returns what is on block devices. Salt: salt/modules/disk.py blkid.
func blkid(ctx context.Context, c *fun.Call, a *blkidArgs) (fun.Result, error) {
	if err := tool.Need(c.Env.Host, "blkid"); err != nil {
		return fun.Result{}, err
	}
	argv := []string{"blkid"}
	if a.Device != "" {
		d, err := device(a.Device)
		if err != nil {
			return fun.Result{}, err
		}
		argv = append(argv, d)
	} else if token := a.Token; token != "" {
		argv = append(argv, "-t", token)
	}
	out, err := tool.Run(ctx, c.Env.Host, argv...)
	m := value.NewMap(4)
	if err != nil || !out.OK() {
		return fun.Result{Value: m, Retcode: out.Status}, err
	}
	for line := range strings.Lines(out.Stdout) {
		if dev, rest, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			m.Set(dev, tags(rest))
		}
	}
	return fun.Value(m)
}

// tags reads KEY="value" KEY="value".
func tags(s string) *value.Map {
	m := value.NewMap(4)
	for {
		key, rest, ok := strings.Cut(s, `="`)
		if !ok {
			return m
		}
		v, after, ok := strings.Cut(rest, `"`)
		if !ok {
			return m
		}
		m.Set(strings.TrimSpace(key), v)
		s = after
	}
}

// dumped are the questions of blockdev(8) that dump asks.
var dumped = [...]string{"getro", "getsz", "getss", "getpbsz", "getiomin", "getioopt", "getalignoff", "getmaxsect", "getsize", "getsize64", "getra", "getfra"}

// ask returns what blockdev(8) answers, False where it fails; of keys only, where
// there are any.
func ask(ctx context.Context, c *fun.Call, dev string, keys []string) (fun.Result, error) {
	argv := []string{"blockdev"}
	for _, q := range dumped {
		argv = append(argv, "--"+q)
	}
	out, err := tool.Run(ctx, c.Env.Host, append(argv, dev)...)
	if err != nil {
		return fun.Result{}, err
	}
	if !out.OK() {
		return fun.Result{Value: false, Retcode: out.Status}, nil
	}
	all, i := value.NewMap(len(dumped)), 0
	for line := range strings.Lines(out.Stdout) {
		if s := strings.TrimSpace(line); s != "" && i < len(dumped) {
			all.Set(dumped[i], s)
			i++
		}
	}
	if len(keys) == 0 {
		return fun.Value(all)
	}
	m := value.NewMap(len(keys))
	for _, k := range keys {
		v, ok := all.Get(k)
		if !ok {
			return fun.Result{}, value.Raise("KeyError", "%s", value.Repr(k))
		}
		m.Set(k, v)
	}
	return fun.Value(m)
}

type dumpArgs struct {
	deviceArg
	Args []string `arg:"args" doc:"only these: getro, getsz, getss, getra ..."`
}

func dump(ctx context.Context, c *fun.Call, a *dumpArgs) (fun.Result, error) {
	dev, err := device(a.Device)
	if err != nil {
		return fun.Result{}, err
	}
	return ask(ctx, c, dev, a.Args)
}

type tuneArgs struct {
	deviceArg
	tuneSettings
	_ fun.Kwargs
}

type tuneSettings struct {
	_ fun.Arguments
	_ value.Value `arg:"read-ahead,kw,int|str" unit:"sectors" doc:"what the device reads ahead"`
	_ value.Value `arg:"filesystem-read-ahead,kw,int|str" unit:"sectors" doc:"what the file system reads ahead"`
	_ value.Value `arg:"read-only,kw,bool|str|int" doc:"set the device read-only"`
	_ value.Value `arg:"read-write,kw,bool|str|int" doc:"set the device writable"`
}

// tune sets properties of a block device and returns what they are then.
// Salt: salt/modules/disk.py tune. Difference: read-only and read-write work; Salt
// passes options on that blockdev(8) does not have.
func tune(ctx context.Context, c *fun.Call, a *tuneArgs) (fun.Result, error) {
	dev, err := device(a.Device)
	if err != nil {
		return fun.Result{}, err
	}
	argv, keys := []string{"blockdev"}, []string(nil)
	for k, v := range c.Given(&a.tuneSettings).All() {
		switch k {
		case "read-ahead", "filesystem-read-ahead":
			n, err := strconv.ParseUint(value.Str(v), 10, 31)
			if err != nil {
				return fun.Result{}, fun.Errorf("%s: a number of sectors is needed, not %s", k, value.Repr(v))
			}
			opt := map[value.Value]string{"read-ahead": "ra", "filesystem-read-ahead": "fra"}[k]
			argv, keys = append(argv, "--set"+opt, strconv.FormatUint(n, 10)), append(keys, "get"+opt)
		case "read-only", "read-write":
			if value.Truth(v) && value.Str(v) != "False" {
				argv = append(argv, map[value.Value]string{"read-only": "--setro", "read-write": "--setrw"}[k])
			}
			keys = append(keys, "getro")
		}
	}
	if len(argv) > 1 {
		out, err := tool.Merged(ctx, c.Env.Host, append(argv, dev)...)
		if err != nil {
			return fun.Result{}, err
		}
		if out.Status != 0 {
			return fun.Result{}, fun.Errorf("%s", out.Text)
		}
	}
	return ask(ctx, c, dev, keys)
}

// succeeds runs a tool on the device, and returns no where it fails.
func succeeds(ctx context.Context, c *fun.Call, a *deviceArg, no value.Value, argv ...string) (fun.Result, error) {
	dev, err := device(a.Device)
	if err != nil {
		return fun.Result{}, err
	}
	out, err := tool.Run(ctx, c.Env.Host, append(argv, dev)...)
	if err != nil {
		return fun.Result{}, err
	}
	if !out.OK() {
		c.Env.Log().Error("the tool failed", "tool", argv[0], "device", dev, "error", out.Fault())
		return fun.Result{Value: no, Retcode: out.Status}, nil
	}
	return fun.Value(true)
}

func wipe(ctx context.Context, c *fun.Call, a *deviceArg) (fun.Result, error) {
	return succeeds(ctx, c, a, false, "wipefs", "-a")
}

func resize2fs(ctx context.Context, c *fun.Call, a *deviceArg) (fun.Result, error) {
	return succeeds(ctx, c, a, nil, "resize2fs")
}

type formatArgs struct {
	deviceArg
	FSType         string          `arg:"fs_type" default:"ext4" doc:"type of the file system"`
	InodeSize      fun.Opt[string] `arg:"inode_size,int" unit:"bytes" doc:"of ext: bytes of the file system for each inode; of xfs: size of an inode"`
	LazyItableInit fun.Opt[string] `arg:"lazy_itable_init,int" doc:"of ext: 0 writes all tables of inodes now, 1 later"`
	Fat            int64           `arg:"fat" doc:"of fat: 12, 16 or 32 bits"`
	Force          bool            `arg:"force" default:"False" doc:"of ext and xfs: also where there is one, or the device is a whole disk"`
}

// format makes a file system. Salt: salt/modules/disk.py format_. Difference: the
// argument fat works.
func format(ctx context.Context, c *fun.Call, a *formatArgs) (fun.Result, error) {
	dev, err := device(a.Device)
	for _, name := range []string{"sync", "mkfs"} {
		if err == nil {
			err = tool.Need(c.Env.Host, name)
		}
	}
	if err != nil {
		return fun.Result{}, err
	}
	fs := a.FSType
	ext := strings.HasPrefix(fs, "ext")
	argv := []string{"mkfs", "-t", fs}
	if a.InodeSize.Given {
		if ext {
			argv = append(argv, "-i", a.InodeSize.V)
		} else if fs == "xfs" {
			argv = append(argv, "-i", "size="+a.InodeSize.V)
		}
	}
	if a.LazyItableInit.Given && ext {
		argv = append(argv, "-E", "lazy_itable_init="+a.LazyItableInit.V)
	}
	if n := a.Fat; (n == 12 || n == 16 || n == 32) && strings.HasSuffix(fs, "fat") {
		argv = append(argv, "-F", strconv.FormatInt(n, 10))
	}
	if a.Force {
		if ext {
			argv = append(argv, "-F")
		} else if fs == "xfs" {
			argv = append(argv, "-f")
		}
	}
	made, err := tool.Run(ctx, c.Env.Host, append(argv, dev)...)
	if err != nil {
		return fun.Result{}, err
	}
	synced, err := tool.Run(ctx, c.Env.Host, "sync")
	if err != nil {
		return fun.Result{}, err
	}
	if !made.OK() {
		c.Env.Log().Error("mkfs failed", "device", dev, "error", made.Fault())
	}
	return fun.Value(made.OK() && synced.OK())
}

// typeOf asks lsblk(8), then df(1), for the type of the file system of a device.
// Salt: salt/modules/disk.py fstype. Difference: of the answer of df it is the type
// alone, not the line.
func typeOf(ctx context.Context, c *fun.Call, dev string) (fun.Result, error) {
	h := c.Env.Host
	if tool.Has(h, "lsblk") {
		out, err := tool.LookMerged(ctx, h, "lsblk", "-o", "fstype", dev)
		if err != nil {
			return fun.Result{}, err
		}
		if l := out.Lines(); out.Status == 0 && len(l) > 1 {
			if s := strings.TrimSpace(l[1]); s != "" {
				return fun.Value(s)
			}
		}
	}
	if tool.Has(h, "df") {
		out, err := tool.LookMerged(ctx, h, "df", "-T", dev)
		if err != nil {
			return fun.Result{}, err
		}
		if l := out.Lines(); out.Status == 0 && len(l) > 1 {
			if f := strings.Fields(l[1]); len(f) > 1 {
				return fun.Value(f[1])
			}
		}
	}
	return fun.Value("")
}

func fstype(ctx context.Context, c *fun.Call, a *deviceArg) (fun.Result, error) {
	dev, err := device(a.Device)
	if err != nil {
		return fun.Result{}, err
	}
	return typeOf(ctx, c, dev)
}

type fstypeFromPathArgs struct {
	_    fun.Arguments
	Path value.Value `arg:"path,required,path" doc:"the path"`
}

func fstypeFromPath(ctx context.Context, c *fun.Call, a *fstypeFromPathArgs) (fun.Result, error) {
	res, err := c.Env.Exec(ctx, "mount.get_device_from_path", nil, a.Path)
	if err != nil {
		return fun.Result{}, err
	}
	dev := value.Str(res)
	if res == nil || strings.HasPrefix(dev, "-") {
		return fun.Value("")
	}
	return typeOf(ctx, c, dev)
}
