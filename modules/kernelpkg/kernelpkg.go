// Package kernelpkg is the provider kernelpkg_linux_apt of Salt's execution module
// "kernelpkg": packages of the kernel on Debian and its derivatives.
package kernelpkg

import (
	"context"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/pkgversion"
	"brine/internal/py/value"
	"brine/modules/machine"
)

// Module returns the provider of the execution module "kernelpkg".
func Module() fun.Module {
	return fun.Module{Name: "kernelpkg", Kind: fun.Exec, Doc: "Install and remove packages of the kernel.", Specs: specs, Avail: avail}
}

func avail(env *fun.Env) (bool, string) {
	switch machine.Grain(env, "os_family") {
	case "Debian", "Kali", "Cumulus":
		return true, ""
	}
	return false, "this is not a system of the Debian family"
}

const prefix = "linux-image-"

// typeOf returns the type of kernel of a release: amd64 for 6.1.0-18-amd64. ok is
// false for a release of another form.
func typeOf(release string) (kind string, ok bool) {
	digits := strings.IndexFunc(release, func(r rune) bool { return (r < '0' || r > '9') && r != '.' && r != '-' })
	if digits < 2 || release[digits-1] != '-' {
		return "", false
	}
	return release[digits:], true
}

// activeRelease returns the release of the running kernel.
func activeRelease(ctx context.Context, env *fun.Env) (string, error) {
	release := machine.Grain(env, "kernelrelease")
	if release == "" {
		return "", fun.Errorf("the release of the running kernel is not known")
	}
	if !env.Has("pkg.normalize_name") {
		return release, nil
	}
	v, err := env.Exec(ctx, "pkg.normalize_name", nil, release)
	return value.Str(v), err
}

// kernelType returns the type of the running kernel: amd64, generic.
func kernelType(ctx context.Context, env *fun.Env) (string, error) {
	release, err := activeRelease(ctx, env)
	if err != nil {
		return "", err
	}
	kind, ok := typeOf(release)
	if !ok {
		return "", fun.Errorf("the type of the running kernel cannot be told from its release %s", release)
	}
	return kind, nil
}

// installed returns the releases of the installed kernels of the type of the
// running one, oldest first.
func installed(ctx context.Context, env *fun.Env) ([]string, error) {
	kind, err := kernelType(ctx, env)
	if err != nil {
		return nil, err
	}
	v, err := env.Exec(ctx, "pkg.list_pkgs", value.MapOf("versions_as_list", true))
	if err != nil {
		return nil, err
	}
	var list []string
	pkgs, _ := v.(*value.Map)
	for name := range pkgs.All() {
		release, ok := strings.CutPrefix(value.Str(name), prefix)
		if !ok {
			continue
		}
		if k, ok := typeOf(release); ok && k == kind {
			list = append(list, release)
		}
	}
	slices.SortStableFunc(list, pkgversion.Loose)
	return list, nil
}

// last returns the newest installed kernel, "" where there is none.
func last(ctx context.Context, env *fun.Env) (string, error) {
	list, err := installed(ctx, env)
	if err != nil || len(list) == 0 {
		return "", err
	}
	return list[len(list)-1], nil
}

// available returns the newest kernel of the repositories. It is that of the
// package linux-image-TYPE: on Ubuntu its version has the release, on Debian its
// dependencies do.
func available(ctx context.Context, env *fun.Env) (string, error) {
	kind, err := kernelType(ctx, env)
	if err != nil {
		return "", err
	}
	v, err := env.Exec(ctx, "pkg.latest_version", nil, prefix+kind)
	if err != nil {
		return "", err
	}
	version := value.Str(v)
	if version == "" {
		return last(ctx, env)
	}
	if p := strings.Split(version, "."); len(p) >= 4 {
		n := strings.IndexFunc(p[3], func(r rune) bool { return r < '0' || r > '9' })
		if n < 0 {
			n = len(p[3])
		}
		if n > 0 {
			return strings.Join(p[:3], ".") + "-" + p[3][:n] + "-" + kind, nil
		}
	}
	v, err = env.Exec(ctx, "pkg.show", nil, prefix+kind)
	if err != nil {
		return "", err
	}
	if release := dependency(v, prefix+kind, version); release != "" {
		return release, nil
	}
	return "", fun.Errorf("the release of the kernel of %s%s %s is not known", prefix, kind, version)
}

// dependency returns the release of the kernel that a version of a package depends
// on, "" where it is not known.
func dependency(shown value.Value, name, version string) string {
	m, _ := shown.(*value.Map)
	for k, v := range m.Map(name).Map(version).All() {
		if !strings.EqualFold(value.Str(k), "depends") {
			continue
		}
		for _, d := range strings.FieldsFunc(value.Str(v), func(r rune) bool { return r == ',' || r == '|' }) {
			d, _, _ = strings.Cut(strings.TrimSpace(d), " ")
			if release, ok := strings.CutPrefix(d, prefix); ok {
				if _, ok := typeOf(release); ok {
					return release
				}
			}
		}
	}
	return ""
}

// text is a release as a return: None where there is none.
func text(s string, err error) (fun.Result, error) {
	if s == "" || err != nil {
		return fun.Result{}, err
	}
	return fun.Value(s)
}

func active(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return text(activeRelease(ctx, c.Env))
}

func listInstalled(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return machine.Strings(installed(ctx, c.Env))
}

func latestAvailable(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return text(available(ctx, c.Env))
}

func latestInstalled(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return text(last(ctx, c.Env))
}

func reboots(ctx context.Context, env *fun.Env) (bool, error) {
	now, err := activeRelease(ctx, env)
	if err != nil {
		return false, err
	}
	newest, err := last(ctx, env)
	return newest != "" && pkgversion.Loose(now, newest) < 0, err
}

func needsReboot(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return machine.Bool(reboots(ctx, c.Env))
}

func upgradeAvailable(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	can, err := available(ctx, c.Env)
	if err != nil {
		return fun.Result{}, err
	}
	have, err := last(ctx, c.Env)
	return machine.Bool(can != "" && (have == "" || pkgversion.Loose(can, have) > 0), err)
}

type upgradeArgs struct {
	_      fun.Arguments
	Reboot bool        `arg:"reboot" default:"False" doc:"reboot if a newer kernel than the running one is installed"`
	AtTime value.Value `arg:"at_time" doc:"when to reboot, as for system.reboot; default: now"`
}

// upgrade installs the newest kernel. Salt: salt/modules/kernelpkg_linux_apt.py
// upgrade.
func upgrade(ctx context.Context, c *fun.Call, a *upgradeArgs) (fun.Result, error) {
	release, err := available(ctx, c.Env)
	if err != nil {
		return fun.Result{}, err
	}
	if release == "" {
		return fun.Result{}, fun.Errorf("there is no package of a kernel of this type")
	}
	did, err := c.Env.Exec(ctx, "pkg.install", value.MapOf("name", prefix+release))
	if err != nil {
		return fun.Result{}, err
	}
	due, err := reboots(ctx, c.Env)
	if err != nil {
		return fun.Result{}, err
	}
	now, err := activeRelease(ctx, c.Env)
	if err != nil {
		return fun.Result{}, err
	}
	newest, err := last(ctx, c.Env)
	if err != nil {
		return fun.Result{}, err
	}
	ret := value.MapOf("upgrades", did, "active", now, "latest_installed", newest, "reboot_requested", a.Reboot, "reboot_required", due)
	if a.Reboot && due {
		c.Env.Log().Warn("Rebooting system due to kernel upgrade")
		if _, err := c.Env.Exec(ctx, "system.reboot", value.MapOf("at_time", a.AtTime)); err != nil {
			return fun.Result{}, err
		}
	}
	return fun.Value(ret)
}

type removeArgs struct {
	_       fun.Arguments
	Release string `arg:"release,required" doc:"release of the kernel, as list_installed returns it"`
}

func remove(ctx context.Context, c *fun.Call, a *removeArgs) (fun.Result, error) {
	release := a.Release
	list, err := installed(ctx, c.Env)
	if err != nil {
		return fun.Result{}, err
	}
	if !slices.Contains(list, release) {
		return fun.Result{}, fun.Errorf("Kernel release '%s' is not installed", release)
	}
	now, err := activeRelease(ctx, c.Env)
	if err != nil {
		return fun.Result{}, err
	}
	if release == now {
		return fun.Result{}, fun.Errorf("Active kernel cannot be removed")
	}
	if _, err := c.Env.Exec(ctx, "pkg.purge", nil, prefix+release); err != nil {
		return fun.Result{}, err
	}
	return fun.Value(value.MapOf("removed", value.Strings(prefix+release)))
}

type cleanupArgs struct {
	_          fun.Arguments
	KeepLatest bool `arg:"keep_latest" default:"True" doc:"keep the newest kernel, too"`
}

func cleanup(ctx context.Context, c *fun.Call, a *cleanupArgs) (fun.Result, error) {
	list, err := installed(ctx, c.Env)
	if err != nil {
		return fun.Result{}, err
	}
	now, err := activeRelease(ctx, c.Env)
	if err != nil {
		return fun.Result{}, err
	}
	removed := value.NewList()
	for i, release := range list {
		if release == now || a.KeepLatest && i == len(list)-1 {
			continue
		}
		if _, err := c.Env.Exec(ctx, "pkg.purge", nil, prefix+release); err != nil {
			return fun.Result{}, err
		}
		removed.Append(prefix + release)
	}
	return fun.Value(value.MapOf("removed", removed))
}
