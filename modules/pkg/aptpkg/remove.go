package aptpkg

import (
	"context"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/pkg"
	"brine/modules/pkg/dpkg"
)

// removeGiven are the arguments of remove and purge.
type removeGiven struct {
	removeArgs
	simulateArg
	envArgs
	_ fun.Kwargs
}

func remove(ctx context.Context, c *fun.Call, a *removeGiven) (fun.Result, error) {
	return uninstall(ctx, c, a, "remove")
}

func purge(ctx context.Context, c *fun.Call, a *removeGiven) (fun.Result, error) {
	return uninstall(ctx, c, a, "purge")
}

// uninstall removes or purges packages. Salt: salt/modules/aptpkg.py _uninstall.
func uninstall(ctx context.Context, c *fun.Call, args *removeGiven, action string) (fun.Result, error) {
	a := newApt(c)
	a.more = environment(args.Env)
	req := pkg.Request{Name: args.Name, Pkgs: args.Pkgs, Normalize: func(n string) string { return normalize(c.Env, n) }}
	list, err := req.ToRemove(c.Env)
	if err != nil {
		return fun.Result{}, err
	}
	old, err := a.installed()
	if err != nil {
		return fun.Result{}, err
	}
	oldRemoved, err := a.list(dpkg.Removed)
	if err != nil {
		return fun.Result{}, err
	}
	var targets []string
	for _, t := range list {
		if old.Has(t.Name) || action == "purge" && oldRemoved.Has(t.Name) {
			targets = append(targets, t.Name)
		}
	}
	if len(targets) == 0 {
		return fun.Value(value.NewMap(0))
	}
	if args.Test || args.Simulate {
		return a.simulate(ctx, action, targets)
	}
	out, err := a.run(ctx, slices.Concat([]string{"apt-get", "-q", "-y", action, "--"}, targets)...)
	if err != nil {
		return fun.Result{}, err
	}
	now, err := a.installed()
	if err != nil {
		return fun.Result{}, err
	}
	ret := pkg.CompareDicts(old, now)
	if action == "purge" {
		nowRemoved, err := a.list(dpkg.Removed)
		if err != nil {
			return fun.Result{}, err
		}
		ret = value.MapOf("removed", pkg.CompareDicts(oldRemoved, nowRemoved), "installed", ret)
	}
	if out.Status != 0 {
		return fun.Result{}, &pkg.Error{Msg: "Problem encountered removing package(s)", Errors: []string{failure(out)}, Changes: ret, Hint: dpkgErrorsOf(out.Stdout)}
	}
	return a.result(ret)
}

// simulate returns what apt would remove, as CompareDicts of the versions before
// and after would.
func (a *apt) simulate(ctx context.Context, action string, targets []string) (fun.Result, error) {
	out, err := a.query(ctx, slices.Concat([]string{"apt-get", "-q", "-y", "--simulate", action, "--"}, targets)...)
	if err != nil {
		return fun.Result{}, err
	}
	if out.Status != 0 {
		return fun.Result{}, &pkg.Error{Msg: "Problem encountered removing package(s)", Errors: []string{failure(out)}}
	}
	return fun.Value(simulated(out.Stdout))
}

type autoremoveArgs struct {
	_        fun.Arguments
	ListOnly bool `arg:"list_only" default:"False" doc:"only list the packages"`
	Purge    bool `arg:"purge" default:"False" doc:"remove their configuration files, too"`
}

func autoremove(ctx context.Context, c *fun.Call, args *autoremoveArgs) (fun.Result, error) {
	a := newApt(c)
	argv := []string{"apt-get", "--assume-yes"}
	if args.ListOnly {
		argv[1] = "--assume-no"
	}
	if args.Purge {
		argv = append(argv, "--purge")
	}
	argv = append(argv, "autoremove")
	if args.ListOnly {
		out, err := dpkg.Look(ctx, c.Env.Host, nil, argv...)
		if err != nil {
			return fun.Result{}, err
		}
		return fun.Value(value.Strings(removable(out.Stdout)...))
	}
	old, err := a.installed()
	if err != nil {
		return fun.Result{}, err
	}
	out, err := a.run(ctx, argv...)
	if err != nil {
		return fun.Result{}, err
	}
	now, err := a.installed()
	if err != nil {
		return fun.Result{}, err
	}
	ret := pkg.CompareDicts(old, now)
	if out.Status != 0 {
		return fun.Result{}, &pkg.Error{Msg: "Problem encountered removing package(s)", Errors: []string{failure(out)}, Changes: ret, Hint: dpkgErrorsOf(out.Stdout)}
	}
	return fun.Value(ret)
}

// removable reads the list of what apt would remove.
func removable(text string) []string {
	var names []string
	in := false
	for l := range strings.SplitSeq(text, "\n") {
		switch {
		case in && strings.HasPrefix(l, " "):
			names = append(names, strings.Fields(l)...)
		case strings.Contains(l, "The following packages will be REMOVED:"):
			in = true
		default:
			in = false
		}
	}
	slices.Sort(names)
	return names
}

type upgradeArgs struct {
	Refresh     bool                   `arg:"refresh" default:"True" doc:"refresh the repositories first"`
	DistUpgrade bool                   `arg:"dist_upgrade" default:"False" doc:"also install and remove packages where that is needed"`
	Pkgs        fun.Opt[[]value.Value] `arg:"pkgs,kw" doc:"upgrade only these packages"`
	repoArg
	SkipVerify      bool `arg:"skip_verify,kw" default:"False" doc:"install packages of repositories that are not signed"`
	DownloadOnly    bool `arg:"download_only,kw" default:"False" doc:"only download the packages"`
	Downloadonly    bool `arg:"downloadonly,kw" default:"False" doc:"the same as download_only"`
	AllowDowngrades bool `arg:"allow_downgrades,kw" default:"False" doc:"allow older versions to be installed"`
	simulateArg
	changeArgs
	_ fun.Kwargs
}

// installedOf returns the names of the packages of pkgs that are installed.
func installedOf(env *fun.Env, pkgs []value.Value, installed *value.Map) ([]string, error) {
	list, err := pkg.Repack(pkgs, func(n string) string { return normalize(env, n) })
	if err != nil {
		return nil, err
	}
	var names []string
	for _, t := range list {
		if err := checkName(t.Name); err != nil {
			return nil, err
		}
		if installed.Has(t.Name) {
			names = append(names, t.Name)
		}
	}
	return names, nil
}

// upgrade upgrades all packages, or those of pkgs.
// Salt: salt/modules/aptpkg.py upgrade.
func upgrade(ctx context.Context, c *fun.Call, args *upgradeArgs) (fun.Result, error) {
	a := newApt(c)
	if args.Refresh && !args.Simulate {
		if err := a.refreshFor(ctx, &args.changeArgs); err != nil {
			return fun.Result{}, err
		}
	}
	old, err := a.installed()
	if err != nil {
		return fun.Result{}, err
	}
	broken, err := a.broken()
	if err != nil {
		return fun.Result{}, err
	}
	argv := append([]string{"apt-get", "-q", "-y"}, args.confOptions()...)
	if args.ForceYes {
		argv = append(argv, forceYes...)
	}
	if args.SkipVerify {
		argv = append(argv, "--allow-unauthenticated")
	}
	if args.DownloadOnly || args.Downloadonly {
		argv = append(argv, "--download-only")
	}
	if args.AllowDowngrades {
		argv = append(argv, "--allow-downgrades")
	}
	if repo := args.Fromrepo.V; repo != "" {
		argv = append(argv, "-t", repo)
	}
	if args.Simulate {
		argv = append(argv, "--simulate")
	}
	if !args.Pkgs.Given {
		argv = append(argv, upgradeCommand(args.DistUpgrade))
	} else {
		names, err := installedOf(c.Env, args.Pkgs.V, old)
		if err != nil {
			return fun.Result{}, err
		}
		if len(names) == 0 {
			return fun.Value(value.NewMap(0))
		}
		argv = append(append(argv, "--only-upgrade", "install", "--"), names...)
	}
	if args.Simulate {
		out, err := a.query(ctx, argv...)
		if err == nil && out.Status != 0 {
			err = &pkg.Error{Msg: "Problem encountered upgrading packages", Result: out.Map()}
		}
		return fun.Result{Value: simulated(out.Stdout)}, err
	}
	out, err := a.run(ctx, argv...)
	if err != nil {
		return fun.Result{}, err
	}
	ret, _, err := a.changes(old, broken)
	if err != nil {
		return fun.Result{}, err
	}
	if out.Status != 0 {
		return fun.Result{}, &pkg.Error{Msg: "Problem encountered upgrading packages", Changes: ret, Result: out.Map()}
	}
	return a.result(ret)
}
