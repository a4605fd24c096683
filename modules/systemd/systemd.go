// Package systemd is Salt's provider systemd_service of the execution module
// "service": units of systemd, by systemctl.
//
// All that a run asks about its services is asked by few processes: see manager.
package systemd

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/modules/machine"
	"brine/modules/service"
	"brine/modules/tool"
)

// Name is the provider's name, by which the option providers and the states know it.
const Name = "systemd_service"

// Module returns the execution module "service" of machines with systemd.
func Module() fun.Module {
	return fun.Module{Name: "service", Kind: fun.Exec, Doc: "Manage services and other units of systemd.", Avail: available, Specs: specs}
}

func available(env *fun.Env) (bool, string) {
	switch {
	case machine.Grain(env, "kernel") != "Linux":
		return false, "only for Linux"
	case machine.Booted(env.Host) || systemctlAlone(env):
		return true, ""
	}
	return false, "this system was not booted with systemd"
}

// systemctlAlone reports whether the tools of systemd are there, but no systemd
// runs: in a container, or in the tree of an image that is being built.
func systemctlAlone(env *fun.Env) bool {
	if machine.Booted(env.Host) {
		return false
	}
	_, err := env.Host.LookPath("systemctl", "")
	return err == nil
}

func offline(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return fun.Value(systemctlAlone(c.Env))
}

// known returns what systemd knows of the unit of a call. Where none runs, as in a
// chroot, that is what its files say: there they are, and nothing is active.
//
// Salt: salt/modules/systemd_service.py _check_available. Difference: it refuses to
// answer there, unless another provider does.
func known(ctx context.Context, c *fun.Call, a *service.NameArg) (*Unit, error) {
	name := a.Name
	if systemctlAlone(c.Env) {
		all, err := allUnits(c.Env.Host, "")
		if err != nil {
			return nil, err
		}
		u := &Unit{ID: canonical(name), Load: "not-found", Active: "inactive"}
		ext := path.Ext(u.ID)
		base, _, _ := strings.Cut(strings.TrimSuffix(u.ID, ext), "@")
		for _, file := range []string{u.ID, base + "@" + ext} { // its own, and that of its template
			if n, ok := short(file); ok && slices.Contains(all, n) && (file == u.ID || strings.Contains(u.ID, "@")) {
				u.Load = "loaded"
			}
		}
		return u, nil
	}
	m := newManager(c.Env)
	u, err := m.unit(ctx, name)
	if err != nil || u.Load != "not-found" || !m.unread(name) {
		return u, err
	}
	if err := m.reload(ctx); err != nil {
		return nil, err
	}
	return m.unit(ctx, name)
}

func isAvailable(ctx context.Context, c *fun.Call, a *service.NameArg) (fun.Result, error) {
	u, err := known(ctx, c, a)
	return machine.Bool(err == nil && u.Available(), err)
}

func missing(ctx context.Context, c *fun.Call, a *service.NameArg) (fun.Result, error) {
	u, err := known(ctx, c, a)
	return machine.Bool(err == nil && !u.Available(), err)
}

type statusArgs struct {
	service.NameArg
	_ string `arg:"sig" doc:"accepted; systemd knows the processes of a unit"`
}

// status ignores sig, as Salt's does: systemd knows what runs.
func status(ctx context.Context, c *fun.Call, a *statusArgs) (fun.Result, error) {
	name := a.Name
	m := newManager(c.Env)
	if systemctlAlone(c.Env) { // nothing runs
		if !service.HasGlob(name) {
			return fun.Value(false)
		}
		all, err := allUnits(m.h, "")
		out := value.NewMap(0)
		for _, n := range value.FnmatchFilter(all, name) {
			out.Set(n, false)
		}
		return fun.Result{Value: out}, err
	}
	if !service.HasGlob(name) {
		u, err := m.unit(ctx, name)
		return machine.Bool(err == nil && u.Running(), err)
	}
	all, err := allUnits(m.h, "")
	if err != nil {
		return fun.Result{}, err
	}
	names := value.FnmatchFilter(all, name)
	units, err := m.several(ctx, names)
	if err != nil {
		return fun.Result{}, err
	}
	out := value.NewMap(len(names))
	for i, n := range names {
		out.Set(n, units[i].Running())
	}
	return fun.Value(out)
}

// several returns units that need not be part of the run.
func (m *manager) several(ctx context.Context, names []string) ([]*Unit, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.current()
	var ask []string
	for _, n := range names {
		if full := canonical(n); plain(full) && !template(full) && m.units[full] == nil {
			ask = append(ask, full)
		}
	}
	if err := m.load(ctx, ask); err != nil {
		return nil, err
	}
	units := make([]*Unit, len(names))
	for i, n := range names {
		u, err := m.unitLocked(ctx, n)
		if err != nil {
			return nil, err
		}
		units[i] = u
	}
	return units, nil
}

// verb has systemctl do something with a unit. It returns an error with
// systemctl's own message where that fails, and shows what the unit wrote to the
// journal meanwhile.
func verb(ctx context.Context, c *fun.Call, a *startArgs, action string) (fun.Result, error) {
	m := newManager(c.Env)
	name := a.Name
	if err := m.fresh(ctx, name); err != nil {
		return fun.Result{}, err
	}
	if err := m.unmaskAsked(ctx, name, &a.unmaskArgs, ""); err != nil {
		return fun.Result{}, err
	}
	since := c.Env.Host.Now()
	out, err := m.act(ctx, blocking(a.NoBlock, action, "--", canonical(name))...)
	if err != nil || out.Status == 0 {
		return fun.Result{Value: true}, err
	}
	showJournal(ctx, c.Env, source.Pos{}, name, since)
	text := strings.TrimSpace(out.Stderr)
	if text == "" {
		text = fmt.Sprintf("systemctl %s %s ended with status %d", action, canonical(name), out.Status)
	}
	return fun.Result{}, fun.Errorf("%s", text)
}

// blocking returns the arguments of systemctl, with --no-block where noBlock says so.
func blocking(noBlock bool, argv ...string) []string {
	if noBlock {
		return append([]string{"--no-block"}, argv...)
	}
	return argv
}

// startArgs are the arguments of start, restart and reload.
type startArgs struct {
	service.NameArg
	noBlockArg
	unmaskArgs
}

func start(ctx context.Context, c *fun.Call, a *startArgs) (fun.Result, error) {
	return verb(ctx, c, a, "start")
}

func restart(ctx context.Context, c *fun.Call, a *startArgs) (fun.Result, error) {
	return verb(ctx, c, a, "restart")
}

func reload(ctx context.Context, c *fun.Call, a *startArgs) (fun.Result, error) {
	return verb(ctx, c, a, "reload")
}

type forceReloadArgs struct {
	service.NameArg
	NoBlock bool `arg:"no_block" default:"True" doc:"do not wait until it is done"`
	unmaskArgs
}

func forceReload(ctx context.Context, c *fun.Call, a *forceReloadArgs) (fun.Result, error) {
	return verb(ctx, c, &startArgs{NameArg: a.NameArg, noBlockArg: noBlockArg{NoBlock: a.NoBlock}, unmaskArgs: a.unmaskArgs}, "force-reload")
}

type stopArgs struct {
	service.NameArg
	noBlockArg
}

func stop(ctx context.Context, c *fun.Call, a *stopArgs) (fun.Result, error) {
	m := newManager(c.Env)
	name := a.Name
	if err := m.fresh(ctx, name); err != nil {
		return fun.Result{}, err
	}
	out, err := m.act(ctx, blocking(a.NoBlock, "stop", "--", canonical(name))...)
	if err == nil && out.Status != 0 {
		c.Env.Log().Error("systemctl stop failed", "unit", canonical(name), "stderr", strings.TrimSpace(out.Stderr))
	}
	return fun.Result{Value: out.Status == 0, Retcode: out.Status}, err
}

func systemctlReload(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return machine.Bool(true, newManager(c.Env).reload(ctx))
}

type firstbootArgs struct {
	Locale        string `arg:"locale" doc:"locale (LANG)"`
	LocaleMessage string `arg:"locale_message" doc:"locale of messages (LC_MESSAGES)"`
	Keymap        string `arg:"keymap" doc:"key map of the console"`
	Timezone      string `arg:"timezone" doc:"time zone"`
	Hostname      string `arg:"hostname" doc:"host name"`
	MachineID     string `arg:"machine_id" doc:"machine ID, 32 hexadecimal digits"`
	rootArg
}

func firstboot(ctx context.Context, c *fun.Call, a *firstbootArgs) (fun.Result, error) {
	argv := []string{"systemd-firstboot"}
	for _, o := range []struct{ option, v string }{
		{"--locale", a.Locale},
		{"--locale-messages", a.LocaleMessage},
		{"--keymap", a.Keymap},
		{"--timezone", a.Timezone},
		{"--hostname", a.Hostname},
		{"--machine-ID", a.MachineID},
		{"--root", a.Root},
	} {
		if o.v != "" {
			argv = append(argv, o.option+"="+o.v)
		}
	}
	out, err := tool.Run(ctx, c.Env.Host, argv...)
	if err == nil && out.Status != 0 {
		err = fun.Errorf("systemd-firstboot error: %s", strings.TrimSpace(out.Stderr))
	}
	return machine.Bool(true, err)
}
