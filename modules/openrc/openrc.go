// Package openrc is Salt's provider gentoo_service of the execution module
// "service": services of OpenRC, by rc-service and rc-update.
package openrc

import (
	"context"
	"maps"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/machine"
	"brine/modules/service"
	"brine/modules/tool"
)

// Module returns the execution module "service" of machines with OpenRC.
func Module() fun.Module {
	return fun.Module{Name: "service", Kind: fun.Exec, Doc: "Manage services of OpenRC.", Avail: available, Specs: specs}
}

func available(env *fun.Env) (bool, string) {
	switch os := machine.Grain(env, "os"); {
	case os == "Alpine", os == "Gentoo" && !machine.Booted(env.Host):
		return true, ""
	}
	return false, "only for OpenRC: Alpine, and Gentoo without systemd"
}

// A table is the runlevels by service; a service that is in none is disabled.
type table map[string][]string

type tableKey struct{}

// services returns the runlevels of all services.
func services(ctx context.Context, c *fun.Call) (table, error) {
	return machine.Keep(c.Env, tableKey{}, func() (table, error) {
		out, err := tool.Look(ctx, c.Env.Host, "rc-update", "-v", "show")
		if err == nil && out.Status != 0 {
			err = fun.Errorf("rc-update -v show failed: %s", strings.TrimSpace(out.Stderr))
		}
		return parseTable(out.Stdout), err
	})
}

// parseTable reads lines such as "  sshd |  default shutdown".
func parseTable(text string) table {
	t := table{}
	for line := range strings.Lines(text) {
		name, levels, ok := strings.Cut(line, "|")
		if name = strings.TrimSpace(name); !ok || name == "" {
			continue
		}
		levels, _, _ = strings.Cut(levels, "|")
		t[name] = strings.Fields(levels)
		slices.Sort(t[name])
	}
	return t
}

// names returns the services that are enabled, or those that are not, sorted.
func (t table) names(on bool) []string {
	var names []string
	for _, n := range slices.Sorted(maps.Keys(t)) {
		if len(t[n]) > 0 == on {
			names = append(names, n)
		}
	}
	return names
}

// dict is the table of some services as a return.
func (t table) dict(names []string) *value.Map {
	m := value.NewMap(len(names))
	for _, n := range names {
		m.Set(n, value.Strings(t[n]...))
	}
	return m
}

func getEnabled(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	t, err := services(ctx, c)
	return fun.Result{Value: t.dict(t.names(true))}, err
}

func getDisabled(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	t, err := services(ctx, c)
	return machine.Strings(t.names(false), err)
}

func getAll(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	t, err := services(ctx, c)
	return fun.Result{Value: t.dict(slices.Sorted(maps.Keys(t)))}, err
}

func listed(ctx context.Context, c *fun.Call) ([]string, error) {
	t, err := services(ctx, c)
	return slices.Sorted(maps.Keys(t)), err
}

func isAvailable(ctx context.Context, c *fun.Call, a *nameArgs) (fun.Result, error) {
	t, err := services(ctx, c)
	_, ok := t[a.Name]
	return machine.Bool(ok, err)
}

func missing(ctx context.Context, c *fun.Call, a *nameArgs) (fun.Result, error) {
	t, err := services(ctx, c)
	_, ok := t[a.Name]
	return machine.Bool(!ok, err)
}

// do runs a command of a service's script.
func do(ctx context.Context, c *fun.Call, a *nameArgs, command string) (fun.Result, error) {
	name := a.Name
	if err := service.Check(name); err != nil {
		return fun.Result{}, err
	}
	return tool.Succeeds(ctx, c.Env.Host, "rc-service", name, command)
}

func start(ctx context.Context, c *fun.Call, a *nameArgs) (fun.Result, error) {
	return do(ctx, c, a, "start")
}

func stop(ctx context.Context, c *fun.Call, a *nameArgs) (fun.Result, error) {
	return do(ctx, c, a, "stop")
}

func restart(ctx context.Context, c *fun.Call, a *nameArgs) (fun.Result, error) {
	return do(ctx, c, a, "restart")
}

func reload(ctx context.Context, c *fun.Call, a *nameArgs) (fun.Result, error) {
	return do(ctx, c, a, "reload")
}

func zap(ctx context.Context, c *fun.Call, a *nameArgs) (fun.Result, error) {
	return do(ctx, c, a, "zap")
}

func status(ctx context.Context, c *fun.Call, a *service.StatusArgs) (fun.Result, error) {
	return a.Status(ctx, c, listed, runs)
}

func runs(ctx context.Context, c *fun.Call, name string) (bool, error) {
	if err := service.Check(name); err != nil {
		return false, err
	}
	out, err := tool.Look(ctx, c.Env.Host, "rc-service", name, "status")
	return out.Status == 0, err
}

// wanted returns the runlevels that a call names, sorted; nil is none.
func wanted(a *enableArgs) []string {
	levels := a.Runlevels
	if len(levels) == 0 {
		return nil
	}
	slices.Sort(levels)
	return slices.Compact(levels)
}

// minus returns what of a is not in b.
func minus(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}

// update adds a service to runlevels or takes it out; no levels are the current.
func update(ctx context.Context, c *fun.Call, a *enableArgs, action string, levels []string) (bool, error) {
	name := a.Name
	if err := service.Check(name); err != nil {
		return false, err
	}
	for _, l := range levels {
		if strings.HasPrefix(l, "-") {
			return false, fun.Errorf("'%s' is not the name of a runlevel", l)
		}
	}
	out, err := tool.Run(ctx, c.Env.Host, append([]string{"rc-update", action, name}, levels...)...)
	return out.Status == 0, err
}

// enableArgs are the arguments of enable, disable and enabled.
type enableArgs struct {
	levelArgs
	_ fun.Kwargs
}

// enable puts a service into runlevels: those of the argument and no others, or
// the current one.
func enable(ctx context.Context, c *fun.Call, a *enableArgs) (fun.Result, error) {
	levels := wanted(a)
	if levels == nil {
		return machine.Bool(update(ctx, c, a, "add", nil))
	}
	t, err := services(ctx, c)
	if err != nil {
		return fun.Result{}, err
	}
	has := t[a.Name]
	for _, step := range []struct {
		action string
		levels []string
	}{{"delete", minus(has, levels)}, {"add", minus(levels, has)}} {
		if len(step.levels) == 0 {
			continue
		}
		if ok, err := update(ctx, c, a, step.action, step.levels); err != nil || !ok {
			return machine.Bool(false, err)
		}
	}
	return fun.Value(true)
}

func disable(ctx context.Context, c *fun.Call, a *enableArgs) (fun.Result, error) {
	levels := wanted(a)
	if levels != nil {
		t, err := services(ctx, c)
		if err != nil {
			return fun.Result{}, err
		}
		if levels = minus(levels, minus(levels, t[a.Name])); len(levels) == 0 {
			return fun.Value(true)
		}
	}
	return machine.Bool(update(ctx, c, a, "delete", levels))
}

func enabled(ctx context.Context, c *fun.Call, a *enableArgs) (fun.Result, error) {
	t, err := services(ctx, c)
	has := t[a.Name]
	return machine.Bool(len(has) > 0 && len(minus(wanted(a), has)) == 0, err)
}

func disabled(ctx context.Context, c *fun.Call, a *nameArgs) (fun.Result, error) {
	t, err := services(ctx, c)
	has, ok := t[a.Name]
	return machine.Bool(ok && len(has) == 0, err)
}
