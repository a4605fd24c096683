// Package mdadmraid is Salt's execution module "mdadm_raid", which serves as "raid":
// arrays of disks, by mdadm.
package mdadmraid

import (
	"context"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/machine"
	"brine/modules/textfile"
	"brine/modules/tool"
)

// Module returns the execution module "raid" of Linux.
func Module() fun.Module {
	return fun.Module{Name: "raid", Kind: fun.Exec, Doc: "Manage RAID arrays.", Avail: available, Specs: specs}
}

func available(env *fun.Env) (bool, string) {
	if machine.Grain(env, "kernel") != "Linux" {
		return false, "The mdadm execution module cannot be loaded: only available on Linux."
	}
	if !tool.Has(env.Host, "mdadm") {
		return false, "The mdadm execution module cannot be loaded: the mdadm binary is not in the path."
	}
	return true, ""
}

type deviceArg struct {
	_      fun.Arguments
	Device string `arg:"device,required,path" doc:"the array"`
}

type nameArg struct {
	_    fun.Arguments
	Name string `arg:"name,required,path" doc:"the array, such as /dev/md0"`
}

type devicesArg struct {
	_       fun.Arguments
	Devices []string `arg:"devices,required,comma[str]" doc:"its devices"`
}

type testModeArg struct {
	_        fun.Arguments
	TestMode bool `arg:"test_mode" default:"False" doc:"return the command instead of running it"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "add", Doc: "Add a device to an array. Return whether that worked.", Src: "modules/mdadm_raid.py add", Do: add,
	},
	{
		Name: "assemble", Hands: true, Src: "modules/mdadm_raid.py assemble", Do: assemble,
		Doc: "Assemble an array, and return what mdadm says.\nFurther arguments are options of mdadm without their dashes; one without a value is True.",
	},
	{
		Name: "create", Hands: true, Src: "modules/mdadm_raid.py create", Do: create,
		Doc: "Create an array, and return what mdadm says.\nWhat is on the devices is lost. Further arguments are options of mdadm without their dashes; one without a value is True.",
	},
	{Name: "destroy", Doc: "Stop an array and clear its devices. Return whether it is gone.", Src: "modules/mdadm_raid.py destroy", Do: destroy},
	{
		Name: "detail", Doc: "Return what mdadm tells about an array.", Src: "modules/mdadm_raid.py detail", Do: detail,
	},
	{
		Name: "examine", Doc: "Return the metadata that a device of an array has.", Src: "modules/mdadm_raid.py examine", Do: examine,
	},
	{Name: "list", Doc: "Return the arrays.", Src: "modules/mdadm_raid.py list_", Do: list},
	{Name: "save_config", Doc: "Write the arrays to the configuration of mdadm, and have the initial RAM disk know them. Return what the tool for that says.", Src: "modules/mdadm_raid.py save_config", Do: saveConfig},
	{Name: "stop", Doc: "Stop all arrays. Return False if that worked, True if mdadm failed, as Salt does.", Src: "modules/mdadm_raid.py stop", Do: stop},
}

// named refuses what mdadm would read as an option.
func named(devices ...string) error {
	for _, d := range devices {
		if d == "" || d[0] == '-' || strings.ContainsAny(d, "\r\n\x00") {
			return fun.Errorf("invalid device: %s", value.Repr(d))
		}
	}
	return nil
}

// scan returns the lines about arrays of mdadm --detail --scan.
func scan(ctx context.Context, h host.Host) ([]string, error) {
	out, err := tool.Run(ctx, h, "mdadm", "--detail", "--scan")
	var lines []string
	for _, l := range value.SplitLines(out.Stdout, false) {
		if len(strings.Fields(l)) > 1 {
			lines = append(lines, l)
		}
	}
	return lines, err
}

// arrays returns the arrays by their devices.
func arrays(ctx context.Context, h host.Host) (*value.Map, error) {
	lines, err := scan(ctx, h)
	ret := value.NewMap(len(lines))
	for _, l := range lines {
		f := strings.Fields(l)
		m := value.MapOf("device", f[1])
		for _, kv := range f[2:] {
			if k, v, ok := strings.Cut(kv, "="); ok {
				m.Set(strings.ToLower(k), v)
			}
		}
		ret.Set(f[1], m)
	}
	return ret, err
}

func list(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	m, err := arrays(ctx, c.Env.Host)
	return fun.Result{Value: m}, err
}

// parseDetail reads what mdadm --detail prints.
func parseDetail(out, device string) *value.Map {
	members := value.NewMap(4)
	ret := value.MapOf("members", members)
	for _, l := range value.SplitLines(out, false) {
		if strings.HasPrefix(l, device) {
			continue
		}
		if k, v, ok := strings.Cut(l, " : "); ok {
			ret.Set(strings.ReplaceAll(strings.TrimSpace(strings.ToLower(k)), " ", "_"), strings.TrimSpace(v))
			continue
		}
		if f := strings.Fields(l); strings.Contains(l, "/dev/") && len(f) >= 5 {
			n := len(f) - 1
			members.Set(f[0], value.MapOf("device", f[n], "major", f[1], "minor", f[2], "number", f[0], "raiddevice", f[3], "state", strings.Join(f[4:n], " ")))
		}
	}
	return ret
}

// detailOf returns what mdadm tells about an array.
func detailOf(ctx context.Context, h host.Host, device string) (m *value.Map, status int, err error) {
	if err := named(device); err != nil {
		return nil, 0, err
	}
	if _, err := h.Stat(device); err != nil {
		return nil, 0, fun.Errorf("Device %s doesn't exist!", device)
	}
	out, err := tool.Run(ctx, h, "mdadm", "--detail", device)
	return parseDetail(out.Stdout, device), out.Status, err
}

type detailArgs struct {
	_      fun.Arguments
	Device string `arg:"device,path" default:"/dev/md0" doc:"the array"`
}

func detail(ctx context.Context, c *fun.Call, a *detailArgs) (fun.Result, error) {
	m, status, err := detailOf(ctx, c.Env.Host, a.Device)
	return fun.Result{Value: m, Retcode: status}, err
}

// configFile returns the configuration of mdadm.
func configFile(env *fun.Env) string {
	if machine.Grain(env, "os_family") == "Debian" {
		return "/etc/mdadm/mdadm.conf"
	}
	return "/etc/mdadm.conf"
}

// destroy stops an array. Salt: salt/modules/mdadm_raid.py destroy. Difference: devices
// are cleared, and the configuration is changed, only when the array is stopped.
func destroy(ctx context.Context, c *fun.Call, a *deviceArg) (fun.Result, error) {
	h, device := c.Env.Host, a.Device
	details, _, err := detailOf(ctx, h, device)
	if err != nil {
		return fun.Value(false)
	}
	out, err := tool.Run(ctx, h, "mdadm", "--stop", device)
	if err != nil {
		return fun.Result{}, err
	}
	if !out.OK() {
		c.Env.Log().Error("cannot stop the array", "device", device, "err", out.Fault())
		return fun.Result{Value: false, Retcode: out.Status}, nil
	}
	argv := []string{"mdadm", "--zero-superblock"}
	for _, m := range details.Map("members").All() {
		argv = append(argv, m.(*value.Map).Str("device"))
	}
	if len(argv) > 2 {
		if err := named(argv[2:]...); err != nil {
			return fun.Result{}, err
		}
		if _, err := tool.Run(ctx, h, argv...); err != nil {
			return fun.Result{}, err
		}
	}
	_, err = textfile.Edit(c.Env, configFile(c.Env), func(text string) (string, error) {
		var kept []string
		for _, l := range textfile.Lines(text) {
			if f := strings.Fields(l); len(f) < 2 || f[0] != "ARRAY" || f[1] != device {
				kept = append(kept, l)
			}
		}
		return textfile.Join(kept), nil
	})
	if err != nil {
		return fun.Result{}, fun.Errorf("%v", err)
	}
	left, err := arrays(ctx, h)
	return fun.Result{Value: !left.Has(device)}, err
}

func stop(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	out, err := tool.Run(ctx, c.Env.Host, "mdadm", "--stop", "--scan")
	return fun.Result{Value: !out.OK(), Retcode: out.Status}, err
}

// optionName matches the name of an option of mdadm.
var optionName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9-]*$`) })

// options returns the further arguments of a call as options of mdadm.
func options(rest fun.Kwargs) ([]string, error) {
	var out []string
	for k, v := range rest.All() {
		name := value.Str(k)
		if strings.HasPrefix(name, "__") {
			continue
		}
		if !optionName().MatchString(name) {
			return nil, fun.Errorf("invalid option of mdadm: %s", value.Repr(name))
		}
		out = append(out, "--"+name)
		if v != true {
			out = append(out, value.Str(v))
		}
	}
	return out, nil
}

// merged runs mdadm and returns what it prints.
func merged(ctx context.Context, c *fun.Call, argv []string) (fun.Result, error) {
	out, err := tool.Run(ctx, c.Env.Host, argv...)
	return fun.Result{Value: strings.TrimSpace(out.Stdout + out.Stderr), Retcode: out.Status}, err
}

type createArgs struct {
	nameArg
	Level string `arg:"level,required" doc:"RAID level"`
	devicesArg
	Metadata string `arg:"metadata" default:"default" doc:"version of the metadata"`
	testModeArg
	Rest fun.Kwargs
}

func create(ctx context.Context, c *fun.Call, a *createArgs) (fun.Result, error) {
	name, devices := a.Name, a.Devices
	opts, err := options(a.Rest)
	if err != nil {
		return fun.Result{}, err
	}
	level, metadata := a.Level, a.Metadata
	if err := named(append([]string{name, level, metadata}, devices...)...); err != nil {
		return fun.Result{}, err
	}
	n := len(devices)
	if v, ok := a.Rest.Get("spare-devices"); ok {
		spares, err := strconv.Atoi(value.Str(v))
		if err != nil {
			return fun.Result{}, fun.Errorf("invalid spare-devices: %s", value.Repr(v))
		}
		n -= spares
	}
	argv := append([]string{"mdadm", "-C", name, "-R", "-v", "-l", level}, opts...)
	argv = append(append(argv, "-e", metadata, "-n", strconv.Itoa(n)), devices...)
	if a.TestMode {
		return fun.Value(strings.Join(argv, " "))
	}
	return merged(ctx, c, argv)
}

type assembleArgs struct {
	nameArg
	devicesArg
	testModeArg
	Rest fun.Kwargs
}

func assemble(ctx context.Context, c *fun.Call, a *assembleArgs) (fun.Result, error) {
	name, devices := a.Name, a.Devices
	opts, err := options(a.Rest)
	if err != nil {
		return fun.Result{}, err
	}
	if err := named(append([]string{name}, devices...)...); err != nil {
		return fun.Result{}, err
	}
	argv := append(append([]string{"mdadm", "-A", name, "-v"}, opts...), devices...)
	if a.TestMode {
		return fun.Value(value.Strings(argv...))
	}
	return merged(ctx, c, argv)
}

// ubuntuTags match what Ubuntu's mdadm does not read in its configuration.
var ubuntuTags = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\s(?:name|metadata)=\S+`) })

// saveConfig writes the arrays to the configuration of mdadm. Salt:
// salt/modules/mdadm_raid.py save_config.
func saveConfig(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	h := c.Env.Host
	lines, err := scan(ctx, h)
	if err != nil {
		return fun.Result{}, err
	}
	file := configFile(c.Env)
	if err := h.MkdirAll(path.Dir(file), 0o755); err != nil {
		return fun.Result{}, fun.Errorf("%v", err)
	}
	_, err = textfile.Edit(c.Env, file, func(text string) (string, error) {
		kept := textfile.Lines(text)
		for _, l := range lines {
			if machine.Grain(c.Env, "os") == "Ubuntu" {
				l = ubuntuTags().ReplaceAllString(l, "")
			}
			kept = put(kept, l)
		}
		return textfile.Join(kept), nil
	})
	if err != nil {
		return fun.Result{}, fun.Errorf("%v", err)
	}
	switch machine.Grain(c.Env, "os_family") {
	case "Debian":
		return merged(ctx, c, []string{"update-initramfs", "-u"})
	case "RedHat":
		return merged(ctx, c, []string{"dracut", "--force"})
	}
	return fun.Value(nil)
}

// put replaces the lines of an array by one, or adds it.
func put(lines []string, line string) []string {
	device, found := strings.Fields(line)[1], false
	for i, l := range lines {
		if f := strings.Fields(l); len(f) > 1 && f[0] == "ARRAY" && f[1] == device {
			lines[i], found = line, true
		}
	}
	if !found {
		lines = append(lines, line)
	}
	return lines
}

type examineArgs struct {
	_      fun.Arguments
	Device string `arg:"device,required,path" doc:"the device"`
	Quiet  bool   `arg:"quiet" default:"False" doc:"a failure of mdadm does not show in the exit status"`
}

func examine(ctx context.Context, c *fun.Call, a *examineArgs) (fun.Result, error) {
	device := a.Device
	if err := named(device); err != nil {
		return fun.Result{}, err
	}
	out, err := tool.Run(ctx, c.Env.Host, "mdadm", "-Y", "-E", device)
	ret := value.NewMap(8)
	for _, l := range value.SplitLines(out.Stdout, false) {
		k, v, _ := strings.Cut(l, "=")
		ret.Set(k, v)
	}
	if a.Quiet {
		out.Status = 0
	}
	return fun.Result{Value: ret, Retcode: out.Status}, err
}

type addArgs struct {
	nameArg
	Device string `arg:"device,required,path" doc:"the device"`
}

func add(ctx context.Context, c *fun.Call, a *addArgs) (fun.Result, error) {
	if err := named(a.Name, a.Device); err != nil {
		return fun.Result{}, err
	}
	out, err := tool.Run(ctx, c.Env.Host, "mdadm", "--manage", a.Name, "--add", a.Device)
	return fun.Result{Value: out.OK(), Retcode: out.Status}, err
}
