// Package mount is Salt's execution module "mount" for Linux: mounted file systems,
// swap and fstab.
package mount

import (
	"context"
	"strings"

	"brine/internal/fun"
	"brine/internal/value"
	"brine/modules/file"
	"brine/modules/tool"
)

// Module returns the execution module "mount".
func Module() fun.Module {
	return fun.Module{Name: "mount", Kind: fun.Exec, Doc: "Mount file systems and manage fstab.", Specs: specs, Avail: available}
}

func available(e *fun.Env) (bool, string) {
	if e.Grains != nil {
		if k, _ := e.Grains.Get("kernel"); k == "Linux" {
			return true, ""
		}
	}
	return false, "brine manages mounts on Linux only"
}

func active(ctx context.Context, c *fun.Call) (fun.Result, error) {
	m, err := List(ctx, c.Env, c.Bool("extended"))
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(m.value(c.Bool("extended")))
}

func fstab(_ context.Context, c *fun.Call) (fun.Result, error) {
	t, err := ReadFstab(c.Env, c.Str("config"))
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(t.value())
}

func setFstab(_ context.Context, c *fun.Call) (fun.Result, error) {
	e := Entry{c.Str("device"), c.Str("name"), c.Str("fstype"), strings.Join(c.Strings("opts"), ","), c.Str("dump"), c.Str("pass_num")}
	did, err := SetFstab(c.Env, c.Str("config"), e, c.Strings("match_on"), c.Bool("not_change"), c.Bool("test"))
	return fun.Result{Value: did}, err
}

func rmFstab(_ context.Context, c *fun.Call) (fun.Result, error) {
	err := RemoveFstab(c.Env, c.Str("config"), c.Str("name"), c.Str("device"))
	return fun.Result{Value: err == nil}, err
}

// done returns True, or what the tool said where it failed.
func done(fault string, err error) (fun.Result, error) {
	if err != nil || fault == "" {
		return fun.Result{Value: err == nil}, err
	}
	return fun.Result{Value: fault, Retcode: 1}, nil
}

func request(c *fun.Call) Request {
	return Request{
		Name: c.Str("name"), Device: deviceOf(c), Make: c.Bool("mkmnt"), FSType: c.Str("fstype"),
		Opts: c.Strings("opts"), User: c.Str("user"),
	}
}

// deviceOf returns the argument device; False is none.
func deviceOf(c *fun.Call) string {
	if v := c.Value("device"); value.Truth(v) {
		return value.Str(v)
	}
	return ""
}

// checkUtil refuses the images of disks that Salt mounts by other tools.
func checkUtil(c *fun.Call) error {
	if u := c.Str("util"); u != "mount" {
		return fun.Errorf("util must be mount: brine does not mount images by %s", u)
	}
	return nil
}

func mount(ctx context.Context, c *fun.Call) (fun.Result, error) {
	if err := checkUtil(c); err != nil {
		return fun.Result{}, err
	}
	return done(Mount(ctx, c.Env, request(c)))
}

func remount(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return done(Remount(ctx, c.Env, request(c)))
}

func umount(ctx context.Context, c *fun.Call) (fun.Result, error) {
	if err := checkUtil(c); err != nil {
		return fun.Result{}, err
	}
	what := deviceOf(c)
	if what == "" {
		what = c.Str("name")
	}
	fault, err := Unmount(ctx, c.Env, c.Str("name"), what, c.Str("user"))
	res, err := done(fault, err)
	if strings.HasSuffix(fault, " does not have anything mounted") {
		res.Retcode = 0
	}
	return res, err
}

func isMounted(ctx context.Context, c *fun.Call) (fun.Result, error) {
	m, err := List(ctx, c.Env, false)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(m.Get(c.Str("name")) != nil)
}

func isFuseExec(ctx context.Context, c *fun.Call) (fun.Result, error) {
	path, err := c.Env.Host.LookPath(c.Str("cmd"), "")
	if err != nil {
		return fun.Value(false)
	}
	if _, err := c.Env.Host.LookPath("ldd", ""); err != nil {
		return fun.Result{}, fun.Errorf("ldd")
	}
	out, err := tool.Run(ctx, c.Env.Host, "ldd", path)
	return fun.Result{Value: strings.Contains(out.Stdout, "libfuse")}, err
}

func swaps(_ context.Context, c *fun.Call) (fun.Result, error) {
	m, err := Swaps(c.Env.Host)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(m)
}

func swapOn(ctx context.Context, c *fun.Call) (fun.Result, error) {
	stats, fresh, err := SwapOn(ctx, c.Env, c.Str("name"), c.Value("priority"))
	if err != nil {
		return fun.Result{}, err
	}
	if stats == nil {
		return fun.Value(value.NewMap(0))
	}
	return fun.Value(value.MapOf("stats", stats, "new", fresh))
}

func swapOff(ctx context.Context, c *fun.Call) (fun.Result, error) {
	name := c.Str("name")
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

func readMountCache(_ context.Context, c *fun.Call) (fun.Result, error) {
	return fun.Value(Cached(c.Env, c.Str("name")))
}

func writeMountCache(_ context.Context, c *fun.Call) (fun.Result, error) {
	entry := value.MapOf("device", c.Value("device"), "fstype", c.Value("fstype"), "mkmnt", c.Value("mkmnt"), "opts", c.Value("mount_opts"))
	err := Cache(c.Env, c.Str("real_name"), entry)
	return fun.Result{Value: err == nil}, err
}

func deleteMountCache(_ context.Context, c *fun.Call) (fun.Result, error) {
	err := Cache(c.Env, c.Str("real_name"), nil)
	return fun.Result{Value: err == nil}, err
}

func mountFromPath(_ context.Context, c *fun.Call) (fun.Result, error) {
	return fun.Value(PointOf(c.Env.Host, file.New(c.Env, "", false).RealPath(c.Str("path"))))
}

func deviceFromPath(ctx context.Context, c *fun.Call) (fun.Result, error) {
	m, err := List(ctx, c.Env, false)
	if err != nil {
		return fun.Result{}, err
	}
	if a := m.Get(PointOf(c.Env.Host, file.New(c.Env, "", false).RealPath(c.Str("path")))); a != nil {
		return fun.Value(a.Device)
	}
	return fun.Value(nil)
}
