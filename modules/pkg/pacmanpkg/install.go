package pacmanpkg

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/pkgversion"
	"brine/internal/py/value"
	"brine/modules/pkg"
)

type installArgs struct {
	Name string `arg:"name" doc:"name of the package, or several with commas between them"`
	onceArg
	Sysupgrade   fun.Opt[bool] `arg:"sysupgrade" doc:"upgrade all packages, too; default: only with refresh"`
	Pkgs         []value.Value `arg:"pkgs" doc:"several packages: names, or mappings of a name to a version; name is ignored"`
	Sources      []value.Value `arg:"sources" doc:"package files: mappings of a name to a path or URL; name is ignored"`
	Version      string        `arg:"version,kw" doc:"version to install: a version, a pattern such as 1.2*, or comparisons such as >=1.2"`
	Downloadonly bool          `arg:"downloadonly,kw" default:"False" doc:"only download the packages"`
	Saltenv      string        `arg:"saltenv,kw" default:"base" doc:"environment of salt:// URLs"`
	rootArg
	_ fun.Kwargs
}

// install installs packages. Salt: salt/modules/pacmanpkg.py install.
func install(ctx context.Context, c *fun.Call, a *installArgs) (fun.Result, error) {
	p := newPacman(c, a.Root)
	req := pkg.Request{Name: a.Name, Version: a.Version, Pkgs: a.Pkgs, Sources: a.Sources, SaltEnv: a.Saltenv}
	if len(req.Pkgs) > 0 && len(req.Sources) > 0 {
		return fun.Result{}, fun.Errorf("Only one of \"pkgs\" and \"sources\" can be used.")
	}
	args, targets, errs, err := p.plan(ctx, c, a, &req)
	if err != nil || len(targets)+len(errs) == 0 {
		return fun.Result{Value: value.NewMap(0)}, err
	}
	const failed = "Problem encountered installing package(s)"
	if len(errs) > 0 {
		return fun.Result{}, &pkg.Error{Msg: failed, Errors: errs, Changes: value.NewMap(0)}
	}
	ret, err := p.act(ctx, failed, func() (pkg.Output, error) { return p.change(ctx, append(args, targets...)...) })
	if info, ok := errors.AsType[*pkg.Error](err); ok {
		info.Hint = p.hint(ctx, targets, info.Errors[0])
	}
	return ret, err
}

// hint lists the versions of a package that has others than the one that pacman did
// not find.
func (p *pacman) hint(ctx context.Context, targets []string, said string) string {
	for _, t := range targets {
		name, version := pkg.CutVersion(t)
		if version == "" || !strings.Contains(said, "target not found: "+t) {
			continue
		}
		if all, err := p.available(ctx, []string{name}, nil, false); err == nil {
			return pkg.Nearest(name, version, all.List(name), pkgversion.Pacman)
		}
	}
	return ""
}

// act runs a change and returns what it changed.
func (p *pacman) act(ctx context.Context, failed string, run func() (pkg.Output, error)) (fun.Result, error) {
	old, err := p.texts(ctx)
	if err != nil {
		return fun.Result{}, err
	}
	out, err := run()
	if err != nil {
		return fun.Result{}, err
	}
	now, err := p.texts(ctx)
	if err != nil {
		return fun.Result{}, err
	}
	ret := pkg.CompareDicts(old, now)
	if out.Status != 0 {
		return fun.Result{}, &pkg.Error{Msg: failed, Errors: []string{fault(&out)}, Changes: ret}
	}
	return fun.Value(ret)
}

// fault is what pacman says of a failure: on stderr, and why on stdout.
func fault(out *pkg.Output) string {
	text := out.Fault()
	for line := range strings.SplitSeq(out.Stdout, "\n") {
		if strings.HasPrefix(line, ":: ") && !strings.HasSuffix(line, "...") && !strings.Contains(line, "[Y/n]") && !strings.Contains(line, "[y/N]") && line != text {
			text += "\n" + line
		}
	}
	return text
}

// plan returns the arguments of pacman and what to install, or why that cannot be
// done.
func (p *pacman) plan(ctx context.Context, c *fun.Call, given *installArgs, req *pkg.Request) (args, targets, errs []string, err error) {
	if len(req.Sources) > 0 {
		files, err := req.Files(ctx, c.Env)
		if err != nil {
			return nil, nil, nil, pkg.AsCommandError(err)
		}
		for _, f := range files {
			targets = append(targets, f.Path)
		}
		return []string{"-U", "--noprogressbar", "--noconfirm"}, targets, nil, nil
	}
	list, err := req.Named(c.Env)
	if err != nil {
		return nil, nil, nil, pkg.AsCommandError(err)
	}
	refresh := given.Refresh
	args = []string{"-S"}
	if refresh {
		pkg.Refreshed(c.Env)
		args = append(args, "-y")
	}
	if given.Sysupgrade.V || !given.Sysupgrade.Given && refresh {
		args = append(args, "-u")
	}
	if given.Downloadonly {
		args = append(args, "-w")
	}
	args = append(args, "--noprogressbar", "--noconfirm", "--needed")
	w := wildcards{pacman: p, refresh: refresh}
	for _, t := range list {
		if err := pkg.CheckName(t.Name); err != nil {
			return nil, nil, nil, err
		}
		conditions := pkg.Conditions(t.Version)
		if len(conditions) == 0 {
			targets = append(targets, t.Name)
		}
		for _, cond := range conditions {
			word, problem, err := w.word(ctx, t.Name, cond)
			switch {
			case err != nil:
				return nil, nil, nil, err
			case problem != "":
				errs = append(errs, problem)
			default:
				targets = append(targets, word)
			}
		}
	}
	if w.refreshed {
		args = slices.DeleteFunc(args, func(a string) bool { return a == "-y" })
	}
	return args, targets, errs, nil
}

// wildcards finds the versions that patterns mean, which pacman does not have.
type wildcards struct {
	*pacman
	refresh, refreshed bool
	available          *value.Map // nil until it is needed
}

// word returns what pacman is given for a package of a version, or why it cannot be.
func (w *wildcards) word(ctx context.Context, name string, cond pkg.Condition) (word, problem string, err error) {
	if cond.Oper == "==" {
		cond.Oper = "="
	}
	switch {
	case !strings.Contains(cond.Version, "*"):
		return name + cond.Oper + cond.Version, "", nil
	case cond.Oper != "=":
		return "", "Invalid wildcard for " + name + cond.Oper + cond.Version, nil
	}
	if w.available == nil {
		if w.refresh {
			if _, err := w.pacman.refresh(ctx); err != nil {
				return "", "", err
			}
			w.refreshed = true
		}
		if w.available, err = w.pacman.available(ctx, nil, nil, false); err != nil {
			return "", "", err
		}
	}
	versions := w.available.List(name)
	if found := newest(versions, cond.Version); found != "" {
		return name + "=" + found, "", nil
	}
	return "", fmt.Sprintf("No version matching '%s' found for package '%s' (available: %s)", cond.Version, name, known(versions)), nil
}

func newest(versions *value.List, pattern string) string {
	if versions != nil {
		for _, v := range versions.Items {
			if value.Fnmatch(pattern, value.Str(v)) {
				return value.Str(v)
			}
		}
	}
	return ""
}

func known(versions *value.List) string {
	if versions.Len() == 0 {
		return "none"
	}
	var list []string
	for _, v := range versions.Items {
		list = append(list, value.Str(v))
	}
	return strings.Join(list, ", ")
}

// upgradeArgs are the arguments of upgrade and listUpgrades.
type upgradeArgs struct {
	onceArg
	dirArg
	_ fun.Kwargs
}

func upgrade(ctx context.Context, c *fun.Call, a *upgradeArgs) (fun.Result, error) {
	p := newPacman(c, a.Root)
	args := []string{"-Su", "--noprogressbar", "--noconfirm"}
	if a.Refresh {
		pkg.Refreshed(c.Env)
		args = append(args, "-y")
	}
	old, err := p.texts(ctx)
	if err != nil {
		return fun.Result{}, err
	}
	out, err := p.change(ctx, args...)
	if err != nil {
		return fun.Result{}, err
	}
	now, err := p.texts(ctx)
	if err != nil {
		return fun.Result{}, err
	}
	ret := pkg.CompareDicts(old, now)
	if out.Status != 0 {
		return fun.Result{}, &pkg.Error{Msg: "Problem encountered upgrading packages", Changes: ret, Result: out.Map()}
	}
	return fun.Value(ret)
}

// removeGiven are the arguments of remove and purge.
type removeGiven struct {
	removeArgs
	_ fun.Kwargs
}

func remove(ctx context.Context, c *fun.Call, a *removeGiven) (fun.Result, error) {
	return uninstall(ctx, c, a, "-R")
}

func purge(ctx context.Context, c *fun.Call, a *removeGiven) (fun.Result, error) {
	return uninstall(ctx, c, a, "-Rsc")
}

func uninstall(ctx context.Context, c *fun.Call, a *removeGiven, how string) (fun.Result, error) {
	p := newPacman(c, a.Root)
	req := pkg.Request{Name: a.Name, Pkgs: a.Pkgs}
	list, err := req.ToRemove(c.Env)
	if err != nil {
		return fun.Result{}, err
	}
	have, err := p.installed(ctx)
	if err != nil {
		return fun.Result{}, err
	}
	args := []string{how, "--noprogressbar", "--noconfirm"}
	due := false
	for _, t := range list {
		if have.Has(t.Name) {
			if err := pkg.CheckName(t.Name); err != nil {
				return fun.Result{}, err
			}
			args, due = append(args, t.Name), true
		}
	}
	if !due {
		return fun.Value(value.NewMap(0))
	}
	return p.act(ctx, "Problem encountered removing package(s)", func() (pkg.Output, error) { return p.change(ctx, args...) })
}
