// Package sysv has Salt's providers debian_service and rh_service of the
// execution module "service": init scripts.
package sysv

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/machine"
	"brine/modules/service"
	"brine/modules/tool"
)

// initDir is where init scripts are.
const initDir = "/etc/init.d"

// Debian returns the execution module "service" of Debian without systemd.
func Debian() fun.Module {
	return fun.Module{Name: "service", Kind: fun.Exec, Doc: "Manage init scripts of Debian.", Avail: onDebian, Specs: debianSpecs}
}

func onDebian(env *fun.Env) (bool, string) {
	switch machine.Grain(env, "os") {
	case "Debian", "Raspbian", "Devuan", "NILinuxRT":
		if !machine.Booted(env.Host) {
			return true, ""
		}
		return false, "this system was booted with systemd"
	}
	return false, "only for Debian and what is made of it"
}

type runlevelKey struct{}

// runlevel returns the current runlevel; def where it is unknown, as in a container.
func runlevel(ctx context.Context, env *fun.Env, def string) (string, error) {
	return machine.Keep(env, runlevelKey{}, func() (string, error) {
		out, err := tool.Look(ctx, env.Host, "runlevel")
		if err != nil {
			return "", err
		}
		if f := strings.Fields(out.Stdout); len(f) == 2 {
			return f[1], nil
		}
		return def, nil
	})
}

// startLink returns the service that a link in a runlevel's directory starts.
func startLink(file string) (name string, ok bool) {
	rest, ok := strings.CutPrefix(file, "S")
	name = strings.TrimLeft(rest, "0123456789")
	return name, ok && name != "" && len(rest)-len(name) <= 2
}

// starting returns the services that runlevel directories start.
func starting(h host.Host, dirs ...string) map[string]bool {
	names := map[string]bool{}
	for _, dir := range dirs {
		files, _ := h.ReadDir(dir)
		for _, f := range files {
			if n, ok := startLink(f); ok {
				names[n] = true
			}
		}
	}
	return names
}

func debianEnabled(ctx context.Context, c *fun.Call) (map[string]bool, error) {
	level, err := runlevel(ctx, c.Env, "2")
	if err != nil {
		return nil, err
	}
	return starting(c.Env.Host, "/etc/rcS.d", "/etc/rc"+level+".d"), nil
}

func debianAll(ctx context.Context, c *fun.Call) ([]string, error) {
	names, err := debianEnabled(ctx, c)
	if err != nil {
		return nil, err
	}
	files, _ := c.Env.Host.ReadDir(initDir)
	for _, f := range files {
		if f != "README" && !strings.HasPrefix(f, ".") {
			names[f] = true
		}
	}
	return slices.Sorted(maps.Keys(names)), nil
}

func debianGetAll(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return machine.Strings(debianAll(ctx, c))
}

func debianGetEnabled(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	on, err := debianEnabled(ctx, c)
	return machine.Strings(slices.Sorted(maps.Keys(on)), err)
}

func debianOff(ctx context.Context, c *fun.Call) ([]string, error) {
	all, err := debianAll(ctx, c)
	if err != nil {
		return nil, err
	}
	on, err := debianEnabled(ctx, c)
	return slices.DeleteFunc(all, func(n string) bool { return on[n] }), err
}

func debianGetDisabled(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return machine.Strings(debianOff(ctx, c))
}

func debianAvailable(ctx context.Context, c *fun.Call, a *nameArgs) (fun.Result, error) {
	all, err := debianAll(ctx, c)
	return machine.Bool(slices.Contains(all, a.Name), err)
}

func debianMissing(ctx context.Context, c *fun.Call, a *nameArgs) (fun.Result, error) {
	all, err := debianAll(ctx, c)
	return machine.Bool(!slices.Contains(all, a.Name), err)
}

// debianIsEnabledArgs are the arguments of debianIsEnabled, debianEnable, debianDisable, redhatIsEnabled, redhatEnable, redhatDisable and redhatDelete.
type debianIsEnabledArgs struct {
	nameArgs
	_ fun.Kwargs
}

func debianIsEnabled(ctx context.Context, c *fun.Call, a *debianIsEnabledArgs) (fun.Result, error) {
	on, err := debianEnabled(ctx, c)
	return machine.Bool(on[a.Name], err)
}

func debianIsDisabled(ctx context.Context, c *fun.Call, a *nameArgs) (fun.Result, error) {
	off, err := debianOff(ctx, c)
	return machine.Bool(slices.Contains(off, a.Name), err)
}

// script runs a command of an init script.
func script(ctx context.Context, c *fun.Call, a *nameArgs, command string) (fun.Result, error) {
	name := a.Name
	if err := service.Check(name); err != nil {
		return fun.Result{}, err
	}
	return tool.Succeeds(ctx, c.Env.Host, "service", name, command)
}

func scriptStart(ctx context.Context, c *fun.Call, a *nameArgs) (fun.Result, error) {
	return script(ctx, c, a, "start")
}

func scriptStop(ctx context.Context, c *fun.Call, a *nameArgs) (fun.Result, error) {
	return script(ctx, c, a, "stop")
}

func scriptRestart(ctx context.Context, c *fun.Call, a *nameArgs) (fun.Result, error) {
	return script(ctx, c, a, "restart")
}

func scriptReload(ctx context.Context, c *fun.Call, a *nameArgs) (fun.Result, error) {
	return script(ctx, c, a, "reload")
}

func scriptForceReload(ctx context.Context, c *fun.Call, a *nameArgs) (fun.Result, error) {
	return script(ctx, c, a, "force-reload")
}

// scriptRuns asks an init script for its status.
func scriptRuns(ctx context.Context, c *fun.Call, name string) (bool, error) {
	if err := service.Check(name); err != nil {
		return false, err
	}
	out, err := tool.Look(ctx, c.Env.Host, "service", name, "status")
	return out.Status == 0, err
}

// debianStatusArgs are the arguments of debianStatus and redhatStatus.
type debianStatusArgs struct {
	service.NameArg
	service.SigArg
}

func debianStatus(ctx context.Context, c *fun.Call, _ *debianStatusArgs) (fun.Result, error) {
	return service.Status(ctx, c, debianAll, scriptRuns)
}

// debianEnable makes the links of a script. insserv does that where it is there:
// later versions of update-rc.d order the links themselves.
func debianEnable(ctx context.Context, c *fun.Call, a *debianIsEnabledArgs) (fun.Result, error) {
	h, name := c.Env.Host, a.Name
	if err := service.Check(name); err != nil {
		return fun.Result{}, err
	}
	links := []string{"update-rc.d", name, "defaults"}
	if _, err := h.LookPath("insserv", ""); err == nil {
		links = []string{"insserv", name}
	}
	if res, err := tool.Succeeds(ctx, h, links...); err != nil || !value.Truth(res.Value) {
		return res, err
	}
	return tool.Succeeds(ctx, h, "update-rc.d", name, "enable")
}

func debianDisable(ctx context.Context, c *fun.Call, a *debianIsEnabledArgs) (fun.Result, error) {
	name := a.Name
	if err := service.Check(name); err != nil {
		return fun.Result{}, err
	}
	return tool.Succeeds(ctx, c.Env.Host, "update-rc.d", name, "disable")
}

// scriptAt is the path of an init script.
func scriptAt(name string) string { return path.Join(initDir, name) }
