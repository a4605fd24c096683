// Package quota is Salt's execution module "quota": disk quotas of users and groups.
package quota

import (
	"context"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/tool"
)

// Module returns the execution module "quota".
func Module() fun.Module {
	return fun.Module{Name: "quota", Kind: fun.Exec, Doc: "Manage disk quotas.", Avail: tool.Needs("setquota", "The quota execution module cannot be loaded: the module is only available on POSIX-like systems with the setquota binary available."), Specs: specs}
}

type deviceArg struct {
	_      fun.Arguments
	Device string `arg:"device,required,path" doc:"device or mount point of the file system"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "get_mode", Doc: "Return whether quotas of users and groups are on.", Src: "modules/quota.py get_mode", Do: getMode},
	{Name: "off", Doc: "Turn quotas off. Return whether that worked.", Src: "modules/quota.py off", Do: off},
	{Name: "on", Doc: "Turn quotas on. Return whether that worked.", Src: "modules/quota.py on", Do: on},
	{
		Name: "report", Doc: "Return the quotas of a file system and how much is used.", Src: "modules/quota.py report", Do: report,
	},
	{
		Name: "set", Doc: "Set the quota of a user or group. Limits that are not given stay.", Src: "modules/quota.py set_", Do: set,
	},
	{Name: "stats", Doc: "Return the statistics of the kernel about quotas.", Src: "modules/quota.py stats", Do: stats},
	{Name: "warn", Doc: "Send mail to users who are over their quota.", Src: "modules/quota.py warn", Do: warn},
}

// run runs a tool for a file system.
func run(ctx context.Context, c *fun.Call, device string, argv ...string) (tool.Out, error) {
	if device == "" || device[0] == '-' {
		return tool.Out{}, fun.Errorf("invalid device: %s", value.Repr(device))
	}
	return tool.Run(ctx, c.Env.Host, append(argv, device)...)
}

// A kind is quotas of users or of groups.
type kind struct{ option, title, word string }

var (
	users  = kind{"-u", "Users", "User"}
	groups = kind{"-g", "Groups", "Group"}
)

// columns are those of a line of repquota -p, after the name and the state.
var columns = [...]string{"block-used", "block-soft-limit", "block-hard-limit", "block-grace", "file-used", "file-soft-limit", "file-hard-limit", "file-grace"}

// parse reads what repquota -vp prints.
func parse(out, title string) *value.Map {
	names := value.NewMap(8)
	ret := value.MapOf(title, names)
	header := true
	for _, l := range value.SplitLines(out, false) {
		switch f := strings.Fields(l); {
		case header && strings.Contains(l, "Block grace time"):
			block, inode, _ := strings.Cut(l, ";")
			ret.Set("Block Grace Time", value.NewList(last(block)))
			ret.Set("Inode Grace Time", value.NewList(last(inode)))
		case header:
			header = !strings.HasPrefix(l, "-")
		case len(f) >= len(columns)+2:
			m := value.NewMap(len(columns))
			for i, name := range columns {
				m.Set(name, f[i+2])
			}
			names.Set(f[0], m)
		}
	}
	return ret
}

// last returns what follows the last ": " of a text.
func last(s string) string {
	if i := strings.LastIndex(s, ": "); i >= 0 {
		return s[i+2:]
	}
	return s
}

// quotas returns the quotas of users or groups.
func quotas(ctx context.Context, c *fun.Call, device string, k kind) (*value.Map, int, error) {
	out, err := run(ctx, c, device, "repquota", "-vp", k.option)
	return parse(out.Stdout, k.title), out.Status, err
}

type reportArgs struct {
	_     fun.Arguments
	Mount string `arg:"mount,required,path" doc:"device or mount point of the file system"`
}

func report(ctx context.Context, c *fun.Call, a *reportArgs) (fun.Result, error) {
	mount := a.Mount
	u, _, err := quotas(ctx, c, mount, users)
	if err != nil {
		return fun.Result{}, err
	}
	g, status, err := quotas(ctx, c, mount, groups)
	return fun.Result{Value: value.MapOf(mount, value.MapOf("User Quotas", u, "Group Quotas", g)), Retcode: status}, err
}

type setArgs struct {
	deviceArg
	User           string      `arg:"user,kw" doc:"the user"`
	Group          string      `arg:"group,kw" doc:"the group, instead of a user"`
	BlockSoftLimit value.Value `arg:"block-soft-limit,kw,int" unit:"KiB" doc:"limit; 0 is none"`
	BlockHardLimit value.Value `arg:"block-hard-limit,kw,int" unit:"KiB" doc:"limit; 0 is none"`
	FileSoftLimit  value.Value `arg:"file-soft-limit,kw,int" unit:"inodes" doc:"limit; 0 is none"`
	FileHardLimit  value.Value `arg:"file-hard-limit,kw,int" unit:"inodes" doc:"limit; 0 is none"`
	_              fun.Kwargs
}

// set sets a quota. Difference to Salt: limits that are not given stay.
func set(ctx context.Context, c *fun.Call, a *setArgs) (fun.Result, error) {
	device, user, group := a.Device, a.User, a.Group
	k, name := users, user
	switch {
	case user != "" && group != "":
		return fun.Result{}, fun.Errorf("Please specify a user or group, not both.")
	case group != "":
		k, name = groups, group
	case user == "":
		return fun.Result{}, fun.Errorf("A valid user or group was not found")
	}
	if name[0] == '-' {
		return fun.Result{}, fun.Errorf("invalid name: %s", value.Repr(name))
	}
	have, _, err := quotas(ctx, c, device, k)
	if err != nil {
		return fun.Result{}, err
	}
	now := have.Map(k.title).Map(name)
	ret, argv := value.NewMap(4), []string{"setquota", k.option, name}
	for _, l := range [...]struct {
		column string
		given  value.Value
	}{
		{"block-soft-limit", a.BlockSoftLimit},
		{"block-hard-limit", a.BlockHardLimit},
		{"file-soft-limit", a.FileSoftLimit},
		{"file-hard-limit", a.FileHardLimit},
	} {
		v := l.given
		switch {
		case v != nil:
		case now != nil:
			v = now.At(l.column)
		default:
			v = int64(0)
		}
		ret.Set(l.column, v)
		argv = append(argv, value.Str(v))
	}
	out, err := run(ctx, c, device, argv...)
	if err != nil {
		return fun.Result{}, err
	}
	if !out.OK() {
		return fun.Result{}, fun.Errorf("Unable to set desired quota. Error follows: \n%s", out.Fault())
	}
	return fun.Value(value.MapOf(k.word+": "+name, ret))
}

func warn(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	out, err := tool.Run(ctx, c.Env.Host, "warnquota")
	return fun.Result{Retcode: out.Status}, err
}

func stats(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	out, err := tool.Run(ctx, c.Env.Host, "quotastats")
	ret := value.NewMap(8)
	for _, l := range value.SplitLines(out.Stdout, false) {
		if k, v, ok := strings.Cut(l, ": "); ok {
			ret.Set(k, v)
		}
	}
	return fun.Result{Value: ret, Retcode: out.Status}, err
}

func on(ctx context.Context, c *fun.Call, a *deviceArg) (fun.Result, error) {
	out, err := run(ctx, c, a.Device, "quotaon")
	return fun.Result{Value: out.OK(), Retcode: out.Status}, err
}

func off(ctx context.Context, c *fun.Call, a *deviceArg) (fun.Result, error) {
	out, err := run(ctx, c, a.Device, "quotaoff")
	return fun.Result{Value: out.OK(), Retcode: out.Status}, err
}

// getMode reads lines such as "group quota on / (/dev/sda1) is off"; new versions add
// "(enforced)" and the like.
func getMode(ctx context.Context, c *fun.Call, a *deviceArg) (fun.Result, error) {
	device := a.Device
	out, err := run(ctx, c, device, "quotaon", "-p")
	if err != nil {
		return fun.Result{}, err
	}
	ret := value.NewMap(1)
	for l := range strings.Lines(out.Stdout + out.Stderr) {
		f := strings.Fields(l)
		switch {
		case len(f) > 4 && strings.HasPrefix(f[0], "quotaon") && strings.HasPrefix(f[1], "Mountpoint"):
			ret.Set(f[4], "disabled")
		case len(f) > 1 && strings.HasPrefix(f[0], "quotaon") && strings.HasPrefix(f[1], "Cannot"):
			return fun.Result{Value: value.MapOf(device, "Not found"), Retcode: out.Status}, nil
		case len(f) > 6 && f[1] == "quota" && f[2] == "on":
			m := ret.Map(f[3])
			if m == nil {
				m = value.MapOf("device", strings.Trim(f[4], "()"))
				ret.Set(f[3], m)
			}
			m.Set(f[0], f[6])
		}
	}
	return fun.Result{Value: ret, Retcode: out.Status}, nil
}
