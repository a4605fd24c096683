// Package service is what the providers of the execution module "service" share:
// running their tools, and the forms that Salt's functions have in all of them.
//
// The providers are the packages modules/systemd, modules/openrc, modules/sysv
// and modules/runit; the states are in states/service.
package service

import (
	"context"
	"strings"

	"brine/internal/fun"
	"brine/internal/host"
	"brine/internal/value"
)

// Arguments that the functions of all providers have.
var (
	NameArg = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the service"}
	SigArg  = fun.Arg{Name: "sig", Type: fun.Str, Doc: "regular expression that finds the service's process in ps"}
)

// Run runs a tool in the C locale and waits for it. A tool that is not there is
// an error, one that fails is not.
func Run(ctx context.Context, h host.Host, argv ...string) (host.Output, error) {
	return run(ctx, h, host.Cmd{Argv: argv})
}

// Look is Run for a tool that changes nothing.
func Look(ctx context.Context, h host.Host, argv ...string) (host.Output, error) {
	return run(ctx, h, host.Cmd{Argv: argv, ReadOnly: true})
}

func run(ctx context.Context, h host.Host, cmd host.Cmd) (host.Output, error) {
	cmd.Env = append(h.Environ(), "LC_ALL=C", "LANGUAGE=C")
	out, err := h.Run(ctx, cmd)
	if err == nil {
		return out, ctx.Err()
	}
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	return out, fun.Errorf("Unable to run command '%s': %v", strings.Join(cmd.Argv, " "), err)
}

// Succeeds runs a tool and returns whether it ended well. The return's status is
// the tool's, so that a failure shows in the exit status of the command line.
func Succeeds(ctx context.Context, h host.Host, argv ...string) (fun.Result, error) {
	out, err := Run(ctx, h, argv...)
	return fun.Result{Value: out.Status == 0, Retcode: out.Status}, err
}

// Check refuses a name that a tool without "--" would take for an option or that
// names a file elsewhere.
func Check(name string) error {
	if name == "" || strings.HasPrefix(name, "-") || strings.ContainsAny(name, "/\x00") {
		return fun.Errorf("'%s' is not the name of a service", name)
	}
	return nil
}

// HasGlob reports whether Salt's status takes name for a pattern.
func HasGlob(name string) bool {
	if strings.ContainsAny(name, "*?") {
		return true
	}
	open := strings.IndexByte(name, '[')
	return open >= 0 && strings.LastIndexByte(name, ']') > open+1
}

// A Lister returns the names of all services, sorted.
type Lister func(ctx context.Context, c *fun.Call) ([]string, error)

// A Prober tells whether one service runs.
type Prober func(ctx context.Context, c *fun.Call, name string) (bool, error)

// Status is the function "status": whether a service runs, or a dict of those
// whose names a pattern matches. An argument sig asks for a process instead.
func Status(ctx context.Context, c *fun.Call, all Lister, probe Prober) (fun.Result, error) {
	if sig := c.Str("sig"); sig != "" {
		res, err := c.Env.Invoker.Invoke(ctx, fun.Exec, "status.pid", fun.Args{Pos: []value.Value{sig}})
		return fun.Result{Value: value.Truth(res.Value)}, err
	}
	name := c.Str("name")
	if !HasGlob(name) {
		ok, err := probe(ctx, c, name)
		return fun.Result{Value: ok}, err
	}
	names, err := all(ctx, c)
	if err != nil {
		return fun.Result{}, err
	}
	out := value.NewMap(8)
	for _, n := range value.FnmatchFilter(names, name) {
		ok, err := probe(ctx, c, n)
		if err != nil {
			return fun.Result{}, err
		}
		out.Set(n, ok)
	}
	return fun.Value(out)
}

// Strings is a list of names as a return.
func Strings(names []string, err error) (fun.Result, error) {
	return fun.Result{Value: value.Strings(names...)}, err
}

// Bool is a truth as a return.
func Bool(ok bool, err error) (fun.Result, error) { return fun.Result{Value: ok}, err }

// Executable reports whether path is a file that its owner may run.
func Executable(h host.Host, path string) bool {
	st, err := h.Stat(path)
	return err == nil && st.Mode.IsRegular() && st.Mode&0o100 != 0
}

// Exists reports whether there is something at path, links followed.
func Exists(h host.Host, path string) bool {
	_, err := h.Stat(path)
	return err == nil
}

// Booted reports whether systemd is the init of the running system.
func Booted(h host.Host) bool { return Exists(h, "/run/systemd/system") }

// Grain returns a grain as text; "" where it is not there.
func Grain(env *fun.Env, name string) string {
	if env.Grains == nil {
		return ""
	}
	v, ok := env.Grains.Get(name)
	if !ok || v == nil {
		return ""
	}
	return value.Str(v)
}
