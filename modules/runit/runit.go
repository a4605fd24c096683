// Package runit is Salt's module "runit": services of runit, by sv. It is the
// provider of the execution module "service" where runit is the init.
//
// A service is a directory with an executable run in it. It is available where
// one of the directories of available services has it, and enabled where the
// service directory has it, as a rule by a link. A file "down" in it keeps it from
// starting at boot.
package runit

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/machine"
	"brine/modules/service"
	"brine/modules/tool"
)

// Module returns the execution module "runit".
func Module() fun.Module {
	return fun.Module{Name: "runit", Kind: fun.Exec, Doc: "Manage services of runit.", Avail: installed, Specs: specs}
}

// Service returns the execution module "service" of machines whose init is runit.
func Service() fun.Module {
	return fun.Module{Name: "service", Kind: fun.Exec, Doc: "Manage services of runit.", Avail: isInit, Specs: specs}
}

func isInit(env *fun.Env) (bool, string) {
	if machine.Grain(env, "init") == "runit" {
		return true, ""
	}
	return false, "the init of this system is not runit"
}

func installed(env *fun.Env) (bool, string) {
	if ok, _ := isInit(env); ok {
		return true, ""
	}
	if _, err := env.Host.LookPath("sv", ""); err == nil {
		return true, ""
	}
	return false, "sv is missing"
}

// A place is where the services of a machine are.
type place struct {
	h     host.Host
	dir   string   // of the enabled ones
	avail []string // of the available ones
}

type availKey struct{}

// availDirs returns the directories of available services.
func availDirs(env *fun.Env) []string {
	var dirs []string
	if machine.Grain(env, "init") == "runit" && machine.Grain(env, "os") == "Void" && machine.Exists(env.Host, "/etc/sv") {
		dirs = append(dirs, "/etc/sv")
	}
	if env.Memo != nil {
		if more, ok := env.Memo.Load(availKey{}); ok {
			dirs = append(dirs, more.([]string)...)
		}
	}
	return dirs
}

func of(c *fun.Call) (*place, error) {
	for _, dir := range []string{"/service", "/var/service", "/etc/service"} {
		if machine.Exists(c.Env.Host, dir) {
			return &place{c.Env.Host, dir, availDirs(c.Env)}, nil
		}
	}
	return nil, fun.Errorf("Could not find service directory.")
}

// named returns the place, and the name of the service that a call is about.
func named(c *fun.Call, argName string) (*place, string, error) {
	name := argName
	if err := service.Check(name); err != nil {
		return nil, "", err
	}
	p, err := of(c)
	return p, name, err
}

func (p *place) at(name string) string { return path.Join(p.dir, name) }

// isService reports whether a directory is a service.
func (p *place) isService(dir string) bool { return machine.Executable(p.h, dir+"/run") }

// in returns the paths of what a directory has.
func (p *place) in(dir string) []string {
	files, _ := p.h.ReadDir(dir)
	var paths []string
	for _, f := range files {
		if !strings.HasPrefix(f, ".") {
			paths = append(paths, path.Join(dir, f))
		}
	}
	return paths
}

// enabled returns the enabled services: what their links lead to.
func (p *place) enabled() []string {
	var paths []string
	for _, at := range p.in(p.dir) {
		if !p.isService(at) {
			continue
		}
		if to, err := p.h.Readlink(at); err == nil {
			if !path.IsAbs(to) {
				to = path.Join(p.dir, to)
			}
			at = to
		}
		paths = append(paths, at)
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// available returns the services that there are, enabled or not.
func (p *place) available() []string {
	paths := append(p.enabled(), p.disabled()...)
	slices.Sort(paths)
	return paths
}

// disabled returns the services that are available and not enabled.
func (p *place) disabled() []string {
	on := p.enabled()
	var paths []string
	for _, dir := range p.avail {
		for _, at := range p.in(dir) {
			if p.isService(at) && !slices.Contains(on, at) {
				paths = append(paths, at)
			}
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// names returns the last parts of paths, sorted.
func names(paths []string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = path.Base(p)
	}
	slices.Sort(out)
	return out
}

// find returns the path of a service by its name.
func find(paths []string, name string) (string, bool) {
	i := slices.IndexFunc(paths, func(p string) bool { return path.Base(p) == name })
	if i < 0 {
		return "", false
	}
	return paths[i], true
}

// sv runs sv for a service.
func sv(ctx context.Context, c *fun.Call, service, command string) (fun.Result, error) {
	p, name, err := named(c, service)
	if err != nil {
		return fun.Result{}, err
	}
	return tool.Succeeds(ctx, c.Env.Host, "sv", command, p.at(name))
}

func start(ctx context.Context, c *fun.Call, a *nameArgs) (fun.Result, error) {
	return sv(ctx, c, a.Name, "start")
}

func stop(ctx context.Context, c *fun.Call, a *nameArgs) (fun.Result, error) {
	return sv(ctx, c, a.Name, "stop")
}

func reload(ctx context.Context, c *fun.Call, a *nameArgs) (fun.Result, error) {
	return sv(ctx, c, a.Name, "reload")
}

func restart(ctx context.Context, c *fun.Call, a *nameArgs) (fun.Result, error) {
	return sv(ctx, c, a.Name, "restart")
}

func status(ctx context.Context, c *fun.Call, a *service.StatusArgs) (fun.Result, error) {
	return a.Status(ctx, c, listed, runs)
}

func listed(_ context.Context, c *fun.Call) ([]string, error) {
	p, err := of(c)
	if err != nil {
		return nil, err
	}
	return names(p.available()), nil
}

// runs asks sv, whose exit status does not tell.
func runs(ctx context.Context, c *fun.Call, name string) (bool, error) {
	p, err := of(c)
	if err == nil {
		err = service.Check(name)
	}
	if err != nil || !machine.Exists(p.h, p.at(name)) {
		return false, err
	}
	out, err := tool.Look(ctx, p.h, "sv", "status", p.at(name))
	return strings.HasPrefix(out.Stdout, "run: "), err
}

func statusAutostart(_ context.Context, c *fun.Call, a *nameArgs) (fun.Result, error) {
	p, name, err := named(c, a.Name)
	return machine.Bool(err == nil && !machine.Exists(p.h, p.at(name)+"/down"), err)
}

type brokenPathArgs struct {
	_    fun.Arguments
	Name string `arg:"name" default:"*" doc:"pattern of names"`
}

func brokenPath(_ context.Context, c *fun.Call, a *brokenPathArgs) (fun.Result, error) {
	p, err := of(c)
	if err != nil {
		return fun.Result{}, err
	}
	var broken []string
	for _, at := range p.in(p.dir) {
		if !p.isService(at) && value.Fnmatch(a.Name, path.Base(at)) {
			broken = append(broken, at)
		}
	}
	return machine.Strings(broken, nil)
}

func availPath(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return machine.Strings(availDirs(c.Env), nil)
}

type addAvailPathArgs struct {
	_    fun.Arguments
	Path string `arg:"path,required,path" doc:"directory of services"`
}

func addAvailPath(_ context.Context, c *fun.Call, a *addAvailPathArgs) (fun.Result, error) {
	dir := a.Path
	if !machine.Exists(c.Env.Host, dir) {
		return fun.Value(false)
	}
	if has := availDirs(c.Env); c.Env.Memo != nil && !slices.Contains(has, dir) {
		more, _ := c.Env.Memo.Load(availKey{})
		dirs, _ := more.([]string)
		c.Env.Memo.Store(availKey{}, append(slices.Clone(dirs), dir))
	}
	return fun.Value(true)
}

// aliases returns the links among the available services, by the service that
// they lead to.
func (p *place) aliases() *value.Map {
	out := value.NewMap(2)
	for _, dir := range p.avail {
		for _, at := range p.in(dir) {
			to, err := p.h.Readlink(at)
			if err != nil {
				continue
			}
			name := path.Base(to)
			l, _ := out.At(name).(*value.List)
			if l == nil {
				l = value.NewList()
				out.Set(name, l)
			}
			l.Append(at)
		}
	}
	return out
}

func alias(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	p, err := of(c)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(p.aliases())
}

func available(_ context.Context, c *fun.Call, a *nameArgs) (fun.Result, error) {
	p, err := of(c)
	if err != nil {
		return fun.Result{}, err
	}
	_, ok := find(p.available(), a.Name)
	return fun.Value(ok)
}

func missing(ctx context.Context, c *fun.Call, a *nameArgs) (fun.Result, error) {
	res, err := available(ctx, c, a)
	return machine.Bool(!value.Truth(res.Value), err)
}

func getAll(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return machine.Strings(listed(ctx, c))
}

func getEnabled(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	p, err := of(c)
	if err != nil {
		return fun.Result{}, err
	}
	return machine.Strings(names(p.enabled()), nil)
}

func getDisabled(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	p, err := of(c)
	if err != nil {
		return fun.Result{}, err
	}
	return machine.Strings(names(p.disabled()), nil)
}

func isEnabled(_ context.Context, c *fun.Call, a *nameArgs) (fun.Result, error) {
	p, err := of(c)
	if err != nil {
		return fun.Result{}, err
	}
	_, ok := find(p.enabled(), a.Name)
	return fun.Value(ok)
}

func isDisabled(ctx context.Context, c *fun.Call, a *nameArgs) (fun.Result, error) {
	res, err := isEnabled(ctx, c, a)
	return machine.Bool(!value.Truth(res.Value), err)
}

func show(ctx context.Context, c *fun.Call, a *nameArgs) (fun.Result, error) {
	p, name, err := named(c, a.Name)
	if err != nil {
		return fun.Result{}, err
	}
	ret := value.MapOf("enabled", false, "disabled", true, "running", false, "service_path", nil, "autostart", false, "command_path", nil, "available", false)
	at, ok := find(p.available(), name)
	if !ok {
		return fun.Value(ret)
	}
	_, on := find(p.enabled(), name)
	is, err := runs(ctx, c, name)
	ret.Set("available", true)
	ret.Set("enabled", on)
	ret.Set("disabled", !on)
	ret.Set("running", is)
	ret.Set("autostart", !machine.Exists(p.h, p.at(name)+"/down"))
	ret.Set("service_path", at)
	ret.Set("command_path", at+"/run")
	return fun.Result{Value: ret}, err
}

// noticed is how often, and in what steps, sv is asked until runsvdir has seen a
// new service: it looks every five seconds.
const (
	noticed     = 12
	noticedStep = 500 * time.Millisecond
)

type enableArgs struct {
	service.NameArg
	Start bool `arg:"start" default:"False" doc:"start the service, too"`
	_     fun.Kwargs
}

// enable links a service. A file "down" keeps it from starting at once, unless
// the call says so; it is taken away when runsvdir has seen the service.
func enable(ctx context.Context, c *fun.Call, a *enableArgs) (fun.Result, error) {
	p, name, err := named(c, a.Name)
	if err != nil {
		return fun.Result{}, err
	}
	at, ok := find(p.available(), name)
	if !ok {
		return fun.Value(false)
	}
	if p.aliases().Has(name) {
		return fun.Result{}, fun.Errorf("This service is aliased, enable its alias instead")
	}
	down := at + "/down"
	if _, on := find(p.enabled(), name); on {
		if machine.Exists(p.h, down) {
			err = p.h.Remove(down)
		}
		return machine.Bool(err == nil, err)
	}
	if err := p.link(ctx, at, name, !a.Start); err != nil {
		return fun.Result{}, fun.Errorf("%v", err)
	}
	return fun.Value(true)
}

// link makes the link of a service and waits until runsvdir has seen it. What was
// made is taken away again where that fails.
func (p *place) link(ctx context.Context, to, name string, held bool) (err error) {
	down := to + "/down"
	if held && !machine.Exists(p.h, down) {
		if err := p.h.AppendFile(down, nil, 0o644); err != nil {
			return err
		}
		defer func() {
			if gone := p.h.Remove(down); err == nil {
				err = gone
			}
		}()
	}
	if err := p.h.Symlink(to, p.at(name)); err != nil {
		return err
	}
	for range noticed {
		if err = p.h.Sleep(ctx, noticedStep); err != nil {
			break
		}
		out, failed := tool.Look(ctx, p.h, "sv", "status", p.at(name))
		if failed == nil && out.Status == 0 {
			return nil
		}
		err = fun.Errorf("runsvdir has not seen %s", p.at(name))
	}
	_ = p.h.Remove(p.at(name))
	return err
}

type disableArgs struct {
	service.NameArg
	Stop bool `arg:"stop" default:"False" doc:"stop the service, too"`
	_    fun.Kwargs
}

// disable keeps a service from starting at boot.
func disable(ctx context.Context, c *fun.Call, a *disableArgs) (fun.Result, error) {
	p, name, err := named(c, a.Name)
	if err != nil {
		return fun.Result{}, err
	}
	at, on := find(p.enabled(), name)
	if !on {
		return fun.Value(false)
	}
	if a.Stop {
		if res, err := sv(ctx, c, a.Name, "stop"); err != nil || !value.Truth(res.Value) {
			return res, err
		}
	}
	if !machine.Exists(p.h, at+"/down") {
		err = p.h.AppendFile(at+"/down", nil, 0o644)
	}
	return machine.Bool(err == nil, err)
}

// remove stops a service and takes its link away.
func remove(ctx context.Context, c *fun.Call, a *nameArgs) (fun.Result, error) {
	p, name, err := named(c, a.Name)
	if err != nil {
		return fun.Result{}, err
	}
	if _, err := p.h.Readlink(p.at(name)); err != nil || !p.isService(p.at(name)) {
		return fun.Value(false)
	}
	if res, err := sv(ctx, c, a.Name, "stop"); err != nil || !value.Truth(res.Value) {
		return res, err
	}
	err = p.h.Remove(p.at(name))
	return machine.Bool(err == nil, err)
}
