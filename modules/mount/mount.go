// Package mount is Salt's execution module "mount" for Linux: mounted file systems,
// swap and fstab.
package mount

import (
	"context"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/file"
	"brine/modules/machine"
	"brine/modules/tool"
)

// Module returns the execution module "mount".
func Module() fun.Module {
	return fun.Module{Name: "mount", Kind: fun.Exec, Doc: "Mount file systems and manage fstab.", Specs: specs, Avail: machine.OnLinux("brine manages mounts on Linux only")}
}

type activeArgs struct {
	_        fun.Arguments
	Extended bool `arg:"extended" default:"False" doc:"return what mountinfo says too"`
}

func active(ctx context.Context, c *fun.Call, a *activeArgs) (fun.Result, error) {
	m, err := List(ctx, c.Env, a.Extended)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(m.value(a.Extended))
}

func fstab(_ context.Context, c *fun.Call, a *configArg) (fun.Result, error) {
	t, err := ReadFstab(c.Env, a.Config)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(t.value())
}

type setFstabArgs struct {
	nameArg
	Device string `arg:"device,required" doc:"device, or remote or special file system"`
	Fstype string `arg:"fstype,required" doc:"type of the file system"`
	optsArg
	Dump    string `arg:"dump,int" default:"0" doc:"field for dump(8)"`
	PassNum string `arg:"pass_num,int" default:"0" doc:"order of the checks at boot"`
	configArg
	Test      bool     `arg:"test" default:"False" doc:"change nothing, return what would change"`
	MatchOn   []string `arg:"match_on" default:"'auto'" doc:"fields by which an existing entry is found: device, name, fstype, opts, dump, pass_num; auto chooses by the type"`
	NotChange bool     `arg:"not_change" default:"False" doc:"leave an existing entry as it is"`
	_         fun.Kwargs
}

func setFstab(_ context.Context, c *fun.Call, a *setFstabArgs) (fun.Result, error) {
	e := Entry{a.Device, a.Name, a.Fstype, strings.Join(a.Opts, ","), a.Dump, a.PassNum}
	did, err := SetFstab(c.Env, a.Config, e, a.MatchOn, a.NotChange, a.Test)
	return fun.Result{Value: did}, err
}

type rmFstabArgs struct {
	nameArg
	Device string `arg:"device,required,str|none" doc:"device of the entry; None is any"`
	configArg
}

func rmFstab(_ context.Context, c *fun.Call, a *rmFstabArgs) (fun.Result, error) {
	err := RemoveFstab(c.Env, a.Config, a.Name, a.Device)
	return fun.Result{Value: err == nil}, err
}

// done returns True, or what the tool said where it failed.
func done(fault string, err error) (fun.Result, error) {
	if err != nil || fault == "" {
		return fun.Result{Value: err == nil}, err
	}
	return fun.Result{Value: fault, Retcode: 1}, nil
}

// requestArgs are the arguments that say how to mount.
type requestArgs struct {
	mkmntArg
	fstypeArg
	optsArg
	runAsArg
}

func (a *requestArgs) request(name, device string) Request {
	return Request{Name: name, Device: device, Make: a.Mkmnt, FSType: a.Fstype, Opts: a.Opts, User: a.User}
}

// deviceOf returns the argument device; False is none.
func deviceOf(device value.Value) string {
	if v := device; value.Truth(v) {
		return value.Str(v)
	}
	return ""
}

// checkUtil refuses the images of disks that Salt mounts by other tools.
func checkUtil(a *utilArg) error {
	if u := a.Util; u != "mount" {
		return fun.Errorf("util must be mount: brine does not mount images by %s", u)
	}
	return nil
}

type mountArgs struct {
	nameArg
	Device value.Value `arg:"device,str|bool" default:"False" doc:"device, or remote or special file system; without it, that of the fstab"`
	requestArgs
	utilArg
}

func mount(ctx context.Context, c *fun.Call, a *mountArgs) (fun.Result, error) {
	if err := checkUtil(&a.utilArg); err != nil {
		return fun.Result{}, err
	}
	return done(Mount(ctx, c.Env, a.request(a.Name, deviceOf(a.Device))))
}

type remountArgs struct {
	nameArg
	Device string `arg:"device,required" doc:"device, or remote or special file system"`
	requestArgs
}

func remount(ctx context.Context, c *fun.Call, a *remountArgs) (fun.Result, error) {
	return done(Remount(ctx, c.Env, a.request(a.Name, a.Device)))
}

type umountArgs struct {
	nameArg
	Device value.Value `arg:"device,str" doc:"device to unmount instead of the mount point"`
	runAsArg
	utilArg
}

func umount(ctx context.Context, c *fun.Call, a *umountArgs) (fun.Result, error) {
	if err := checkUtil(&a.utilArg); err != nil {
		return fun.Result{}, err
	}
	what := deviceOf(a.Device)
	if what == "" {
		what = a.Name
	}
	fault, err := Unmount(ctx, c.Env, a.Name, what, a.User)
	res, err := done(fault, err)
	if strings.HasSuffix(fault, " does not have anything mounted") {
		res.Retcode = 0
	}
	return res, err
}

func isMounted(ctx context.Context, c *fun.Call, a *nameArg) (fun.Result, error) {
	m, err := List(ctx, c.Env, false)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(m.Get(a.Name) != nil)
}

type isFuseExecArgs struct {
	_   fun.Arguments
	Cmd string `arg:"cmd,required" doc:"name of the program"`
}

func isFuseExec(ctx context.Context, c *fun.Call, a *isFuseExecArgs) (fun.Result, error) {
	path, err := c.Env.Host.LookPath(a.Cmd, "")
	if err != nil {
		return fun.Value(false)
	}
	if _, err := c.Env.Host.LookPath("ldd", ""); err != nil {
		return fun.Result{}, fun.Errorf("ldd")
	}
	out, err := tool.Run(ctx, c.Env.Host, "ldd", path)
	return fun.Result{Value: strings.Contains(out.Stdout, "libfuse")}, err
}

func swaps(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	m, err := Swaps(c.Env.Host)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(m)
}

type swapOnArgs struct {
	swapArg
	Priority value.Value `arg:"priority,int" doc:"priority of the swap area"`
}

func swapOn(ctx context.Context, c *fun.Call, a *swapOnArgs) (fun.Result, error) {
	stats, fresh, err := SwapOn(ctx, c.Env, a.Name, a.Priority)
	if err != nil {
		return fun.Result{}, err
	}
	if stats == nil {
		return fun.Value(value.NewMap(0))
	}
	return fun.Value(value.MapOf("stats", stats, "new", fresh))
}

func swapOff(ctx context.Context, c *fun.Call, a *swapArg) (fun.Result, error) {
	name := a.Name
	on, err := Swaps(c.Env.Host)
	if err != nil {
		return fun.Result{}, err
	}
	if !on.Has(name) {
		return fun.Value(nil)
	}
	if _, err := run(ctx, c.Env, "", "swapoff", "--", name); err != nil {
		return fun.Result{}, err
	}
	if on, err = Swaps(c.Env.Host); err != nil {
		return fun.Result{}, err
	}
	return fun.Value(!on.Has(name))
}

func readMountCache(_ context.Context, c *fun.Call, a *nameArg) (fun.Result, error) {
	return fun.Value(Cached(c.Env, a.Name))
}

type writeMountCacheArgs struct {
	cacheArg
	Device    value.Value `arg:"device,required,str|none" doc:"device"`
	Mkmnt     value.Value `arg:"mkmnt,required,bool|none" doc:"whether the mount point was created"`
	Fstype    value.Value `arg:"fstype,required,str|none" doc:"type of the file system"`
	MountOpts value.Value `arg:"mount_opts,required,str|list|none" doc:"mount options"`
}

func writeMountCache(_ context.Context, c *fun.Call, a *writeMountCacheArgs) (fun.Result, error) {
	entry := value.MapOf("device", a.Device, "fstype", a.Fstype, "mkmnt", a.Mkmnt, "opts", a.MountOpts)
	err := Cache(c.Env, a.RealName, entry)
	return fun.Result{Value: err == nil}, err
}

func deleteMountCache(_ context.Context, c *fun.Call, a *cacheArg) (fun.Result, error) {
	err := Cache(c.Env, a.RealName, nil)
	return fun.Result{Value: err == nil}, err
}

func mountFromPath(_ context.Context, c *fun.Call, a *pathArg) (fun.Result, error) {
	return fun.Value(PointOf(c.Env.Host, file.New(c.Env, "", false).RealPath(a.Path)))
}

func deviceFromPath(ctx context.Context, c *fun.Call, args *pathArg) (fun.Result, error) {
	m, err := List(ctx, c.Env, false)
	if err != nil {
		return fun.Result{}, err
	}
	if a := m.Get(PointOf(c.Env.Host, file.New(c.Env, "", false).RealPath(args.Path))); a != nil {
		return fun.Value(a.Device)
	}
	return fun.Value(nil)
}
