// Package apkpkg is the provider of Salt's execution module "pkg" for Alpine Linux:
// apk.
package apkpkg

import (
	"context"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/pkgversion"
	"brine/internal/py/value"
	"brine/modules/machine"
	"brine/modules/pkg"
	"brine/modules/tool"
)

// Module returns the provider apkpkg of the execution module "pkg".
func Module() fun.Module {
	return fun.Module{Name: "pkg", Kind: fun.Exec, Doc: "Query, install and remove packages with apk.", Avail: avail, Specs: specs}
}

func avail(env *fun.Env) (bool, string) {
	if machine.Grain(env, "os_family") != "Alpine" {
		return false, "os_family is not Alpine"
	}
	if !tool.Has(env.Host, "apk") {
		return false, "apk is missing"
	}
	return true, ""
}

// An apk is the package manager of a call.
type apk struct{ env *fun.Env }

// query runs apk for a question.
func (a apk) query(ctx context.Context, args ...string) (pkg.Output, error) {
	return pkg.Run(ctx, a.env.Host, pkg.Command{Argv: append([]string{"apk"}, args...), ReadOnly: true})
}

// change runs apk for what changes the machine. It waits for another apk.
func (a apk) change(ctx context.Context, merge bool, args ...string) (pkg.Output, error) {
	run := func() (pkg.Output, error) {
		return pkg.Run(ctx, a.env.Host, pkg.Command{Argv: append([]string{"apk"}, args...), Merge: merge})
	}
	return pkg.Locked(ctx, a.env, run, func(out *pkg.Output) string {
		// "temporary error (try again later)"
		if text := out.Stderr + out.Stdout; !strings.Contains(text, "Unable to lock database") || !strings.Contains(text, "temporar") {
			return ""
		}
		if pid := pkg.Running(a.env.Host, "apk"); pid != "" {
			return "the database of apk is locked by process " + pid + " (apk)"
		}
		return "the database of apk is locked by another process"
	})
}

// split divides NAME-VERSION-rN into the name and the version.
func split(s string) (name, version string, ok bool) {
	i := strings.LastIndexByte(s, '-')
	if i < 1 {
		return "", "", false
	}
	if i = strings.LastIndexByte(s[:i], '-'); i < 1 {
		return "", "", false
	}
	return s[:i], s[i+1:], true
}

// installed returns lists of versions by name.
func (a apk) installed(ctx context.Context) (*value.Map, error) {
	out, err := a.query(ctx, "info", "-v")
	if err != nil {
		return nil, err
	}
	if out.Status != 0 && out.Stdout == "" {
		return nil, fun.Errorf("apk cannot list packages: %s", out.Stderr)
	}
	m := value.NewMap(64)
	for line := range strings.SplitSeq(out.Stdout, "\n") {
		word, _, _ := strings.Cut(line, " ")
		name, version, ok := split(word)
		if !ok || strings.HasPrefix(line, "WARNING:") {
			continue
		}
		if l := m.List(name); l != nil {
			l.Append(version)
		} else {
			m.Set(name, value.NewList(version))
		}
	}
	pkg.SortVersions(m)
	return m, nil
}

// texts is installed, with versions as text.
func (a apk) texts(ctx context.Context) (*value.Map, error) {
	m, err := a.installed(ctx)
	if err == nil {
		pkg.Stringify(m)
	}
	return m, err
}

type listPkgsArgs struct {
	VersionsAsList bool `arg:"versions_as_list" default:"False" doc:"return lists of versions rather than text"`
	Removed        bool `arg:"removed,kw" default:"False" doc:"list removed packages instead, of which apk knows none"`
	PurgeDesired   bool `arg:"purge_desired,kw" default:"False" doc:"list packages to be purged instead; there are none"`
	_              fun.Kwargs
}

func listPkgs(ctx context.Context, c *fun.Call, a *listPkgsArgs) (fun.Result, error) {
	if a.Removed || a.PurgeDesired { // apk knows neither
		return fun.Value(value.NewMap(0))
	}
	m, err := apk{c.Env}.installed(ctx)
	if err == nil && !a.VersionsAsList {
		pkg.Stringify(m)
	}
	return fun.Result{Value: m}, err
}

type versionArgs struct {
	VersionsAsList bool `arg:"versions_as_list,kw" default:"False" doc:"return lists of versions rather than text"`
	_              fun.Varargs
	_              fun.Kwargs
}

func version(ctx context.Context, c *fun.Call, a *versionArgs) (fun.Result, error) {
	wanted := pkg.Names(c)
	if len(wanted) == 0 {
		return fun.Value(value.NewMap(0))
	}
	m, err := apk{c.Env}.installed(ctx)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(pkg.Versions(m, wanted, a.VersionsAsList))
}

type versionCmpArgs struct {
	Pkg1 string `arg:"pkg1,required,str|none" doc:"a version"`
	Pkg2 string `arg:"pkg2,required,str|none" doc:"another version"`
	_    bool   `arg:"ignore_epoch" default:"False" doc:"has no effect: versions of apk have no epoch"`
	_    fun.Kwargs
}

func versionCmp(_ context.Context, c *fun.Call, a *versionCmpArgs) (fun.Result, error) {
	return fun.Value(int64(pkgversion.APK(a.Pkg1, a.Pkg2)))
}

type refreshDBArgs struct {
	_ fun.Kwargs
}

func refreshDB(ctx context.Context, c *fun.Call, _ *refreshDBArgs) (fun.Result, error) {
	return fun.Result{Value: true}, apk{c.Env}.refresh(ctx)
}

func (a apk) refresh(ctx context.Context) error {
	pkg.Refreshed(a.env)
	out, err := a.change(ctx, false, "update")
	if err == nil && out.Status != 0 {
		text := out.Stdout
		if out.Stderr != "" {
			text = out.Stderr
		}
		return &pkg.Error{Msg: "Problem encountered refreshing the package index", Errors: []string{text}}
	}
	return err
}

// upgrades returns the versions that apk would upgrade packages to.
func (a apk) upgrades(ctx context.Context) (*value.Map, error) {
	out, err := a.query(ctx, "upgrade", "-s")
	if err != nil {
		return nil, err
	}
	if out.Status != 0 {
		return nil, &fun.CommandError{Msg: out.Stderr + out.Stdout}
	}
	return upgrading(out.Stdout), nil
}

// upgrading reads lines such as "(1/2) Upgrading busybox (1.36.1-r0 -> 1.36.1-r2)".
func upgrading(text string) *value.Map {
	m := value.NewMap(0)
	for line := range strings.SplitSeq(text, "\n") {
		if f := strings.Fields(line); len(f) == 6 && f[1] == "Upgrading" && f[4] == "->" {
			m.Set(f[2], strings.TrimSuffix(f[5], ")"))
		}
	}
	return m
}

type latestVersionArgs struct {
	Refresh bool `arg:"refresh,kw" default:"True" doc:"refresh the repositories first"`
	_       fun.Varargs
	_       fun.Kwargs
}

func latestVersion(ctx context.Context, c *fun.Call, args *latestVersionArgs) (fun.Result, error) {
	wanted := pkg.Names(c)
	if len(wanted) == 0 {
		return fun.Value("")
	}
	if err := pkg.CheckNames(wanted); err != nil {
		return fun.Result{}, err
	}
	a := apk{c.Env}
	have, err := a.installed(ctx)
	if err != nil {
		return fun.Result{}, err
	}
	if args.Refresh {
		if err := a.refresh(ctx); err != nil {
			return fun.Result{}, err
		}
	}
	upgrades, err := a.upgrades(ctx)
	if err != nil {
		return fun.Result{}, err
	}
	ret := value.NewMap(len(wanted))
	for _, n := range wanted {
		found := upgrades.Str(n)
		if found == "" {
			if found, err = a.candidate(ctx, n, have.List(n)); err != nil {
				return fun.Result{}, err
			}
		}
		ret.Set(n, found)
	}
	return fun.Value(pkg.One(wanted, ret))
}

// candidate returns the newest version of a package in repositories; "" where one
// that is installed is as new.
func (a apk) candidate(ctx context.Context, name string, have *value.List) (string, error) {
	out, err := a.query(ctx, "search", name)
	if err != nil {
		return "", err
	}
	best := ""
	for line := range strings.SplitSeq(out.Stdout, "\n") {
		n, v, ok := split(strings.TrimSpace(line))
		if ok && n == name && (best == "" || pkgversion.APK(v, best) > 0) {
			best = v
		}
	}
	if best != "" && have != nil && slices.ContainsFunc(have.Items, func(v value.Value) bool { return pkgversion.APK(value.Str(v), best) >= 0 }) {
		return "", nil
	}
	return best, nil
}

type listUpgradesArgs struct {
	refreshArg
	_ fun.Kwargs
}

func listUpgrades(ctx context.Context, c *fun.Call, args *listUpgradesArgs) (fun.Result, error) {
	a := apk{c.Env}
	if args.Refresh {
		if err := a.refresh(ctx); err != nil {
			return fun.Result{}, err
		}
	}
	m, err := a.upgrades(ctx)
	return fun.Result{Value: m}, err
}

type installArgs struct {
	nameArg
	Refresh bool `arg:"refresh" default:"False" doc:"refresh the repositories first"`
	pkgsArg
	Sources    []value.Value `arg:"sources" doc:"package files: mappings of a name to a path or URL; name is ignored"`
	Version    string        `arg:"version,kw" doc:"version to install, or comparisons such as >=1.2; apk keeps to it in upgrades"`
	SkipVerify bool          `arg:"skip_verify,kw" default:"False" doc:"do not check signatures"`
	Saltenv    string        `arg:"saltenv,kw" default:"base" doc:"environment of salt:// URLs"`
	_          fun.Kwargs
}

// install installs packages. Salt: salt/modules/apkpkg.py install, which knows no
// versions and no files.
func install(ctx context.Context, c *fun.Call, given *installArgs) (fun.Result, error) {
	a := apk{c.Env}
	req := pkg.Request{Name: given.Name, Version: given.Version, Pkgs: given.Pkgs, Sources: given.Sources, SaltEnv: given.Saltenv}
	if len(req.Pkgs) > 0 && len(req.Sources) > 0 {
		return fun.Result{}, fun.Errorf("Only one of \"pkgs\" and \"sources\" can be used.")
	}
	old, err := a.texts(ctx)
	if err != nil {
		return fun.Result{}, err
	}
	args := []string{"add"}
	if given.SkipVerify {
		args = append(args, "--allow-untrusted")
	}
	targets, update, err := words(ctx, c, &req, old)
	if err != nil || len(targets) == 0 {
		return fun.Result{Value: value.NewMap(0)}, err
	}
	if update {
		args = append(args, "-u")
	}
	if given.Refresh {
		if err := a.refresh(ctx); err != nil {
			return fun.Result{}, err
		}
	}
	return a.act(ctx, old, "Problem encountered installing package(s)", append(args, targets...))
}

// words returns what apk is to add, and whether something of it is installed.
func words(ctx context.Context, c *fun.Call, req *pkg.Request, old *value.Map) (targets []string, update bool, err error) {
	if len(req.Sources) > 0 {
		files, err := req.Files(ctx, c.Env)
		for _, f := range files {
			targets = append(targets, f.Path)
		}
		return targets, false, pkg.AsCommandError(err)
	}
	list, err := req.Named(c.Env)
	if err != nil {
		return nil, false, pkg.AsCommandError(err)
	}
	for _, t := range list {
		if err := pkg.CheckName(t.Name); err != nil {
			return nil, false, err
		}
		update = update || old.Has(t.Name)
		conditions := pkg.Conditions(t.Version)
		if len(conditions) == 0 {
			targets = append(targets, t.Name)
		}
		for _, cond := range conditions {
			switch cond.Oper {
			case "==":
				cond.Oper = "="
			case "<", ">", "<=", ">=":
			default:
				return nil, false, fun.Errorf("apk does not support the operator \"%s\"", cond.Oper)
			}
			targets = append(targets, t.Name+cond.Oper+cond.Version)
		}
	}
	return targets, update, nil
}

// act runs apk for a change and returns what changed.
func (a apk) act(ctx context.Context, old *value.Map, failed string, args []string) (fun.Result, error) {
	out, err := a.change(ctx, false, args...)
	if err != nil {
		return fun.Result{}, err
	}
	now, err := a.texts(ctx)
	if err != nil {
		return fun.Result{}, err
	}
	ret := pkg.CompareDicts(old, now)
	if out.Status != 0 {
		return fun.Result{}, &pkg.Error{Msg: failed, Errors: []string{out.Fault()}, Changes: ret}
	}
	return fun.Value(ret)
}

type removeArgs struct {
	nameArg
	pkgsArg
	Purge bool `arg:"purge" default:"False" doc:"remove their configuration files, too"`
	_     fun.Kwargs
}

func remove(ctx context.Context, c *fun.Call, a *removeArgs) (fun.Result, error) {
	return uninstall(ctx, c, a.Name, a.Pkgs, a.Purge)
}

type purgeArgs struct {
	nameArg
	pkgsArg
	_ fun.Kwargs
}

func purge(ctx context.Context, c *fun.Call, a *purgeArgs) (fun.Result, error) {
	return uninstall(ctx, c, a.Name, a.Pkgs, true)
}

func uninstall(ctx context.Context, c *fun.Call, name string, pkgs []value.Value, purge bool) (fun.Result, error) {
	a := apk{c.Env}
	req := pkg.Request{Name: name, Pkgs: pkgs}
	list, err := req.ToRemove(c.Env)
	if err != nil {
		return fun.Result{}, err
	}
	old, err := a.texts(ctx)
	if err != nil {
		return fun.Result{}, err
	}
	args := []string{"del"}
	if purge {
		args = append(args, "--purge")
	}
	due := false
	for _, t := range list {
		if err := pkg.CheckName(t.Name); err != nil {
			return fun.Result{}, err
		}
		if old.Has(t.Name) {
			args, due = append(args, t.Name), true
		}
	}
	if !due {
		return fun.Value(value.NewMap(0))
	}
	return a.act(ctx, old, "Problem encountered removing package(s)", args)
}

type upgradeArgs struct {
	nameArg
	pkgsArg
	refreshArg
	_ fun.Kwargs
}

// upgrade upgrades all packages, or some. It returns changes, result and comment.
func upgrade(ctx context.Context, c *fun.Call, given *upgradeArgs) (fun.Result, error) {
	a := apk{c.Env}
	if given.Refresh {
		if err := a.refresh(ctx); err != nil {
			return fun.Result{}, err
		}
	}
	old, err := a.texts(ctx)
	if err != nil {
		return fun.Result{}, err
	}
	args := []string{"upgrade"}
	if given.Name != "" || len(given.Pkgs) > 0 {
		req := pkg.Request{Name: given.Name, Pkgs: given.Pkgs}
		targets, _, err := words(ctx, c, &req, old)
		if err != nil {
			return fun.Result{}, err
		}
		args = append([]string{"add", "-u"}, targets...)
	}
	out, err := a.change(ctx, true, args...)
	if err != nil {
		return fun.Result{}, err
	}
	now, err := a.texts(ctx)
	if err != nil {
		return fun.Result{}, err
	}
	comment := ""
	if out.Status != 0 {
		comment = out.Stdout
	}
	return fun.Value(value.MapOf("changes", pkg.CompareDicts(old, now), "result", out.Status == 0, "comment", comment))
}

// fileDictArgs are the arguments of fileDict and owner.
type fileDictArgs struct {
	_ fun.Varargs
	_ fun.Kwargs
}

func fileDict(ctx context.Context, c *fun.Call, _ *fileDictArgs) (fun.Result, error) {
	wanted := pkg.Names(c)
	if len(wanted) == 0 {
		return fun.Value("Package name should be provided")
	}
	if err := pkg.CheckNames(wanted); err != nil {
		return fun.Result{}, err
	}
	pkgs, faults, status := value.NewMap(len(wanted)), value.NewList(), 0
	for _, n := range wanted {
		out, err := apk{c.Env}.query(ctx, "info", "-L", n)
		if err != nil {
			return fun.Result{}, err
		}
		files := value.NewList()
		for line := range strings.SplitSeq(out.Stdout, "\n") {
			if line != "" && !strings.HasSuffix(line, "contains:") {
				files.Append(line)
			}
		}
		if out.Status != 0 {
			status = out.Status
			faults.Append(out.Fault())
		}
		if files.Len() > 0 {
			pkgs.Set(n, files)
		}
	}
	return fun.Result{Value: value.MapOf("errors", faults, "packages", pkgs), Retcode: status}, nil
}

func owner(ctx context.Context, c *fun.Call, _ *fileDictArgs) (fun.Result, error) {
	paths := pkg.Names(c)
	if len(paths) == 0 {
		return fun.Value("You must provide a path")
	}
	ret, status := value.NewMap(len(paths)), 0
	for _, p := range paths {
		if p == "" || strings.HasPrefix(p, "-") || strings.ContainsAny(p, "\x00\n") {
			return fun.Result{}, fun.Errorf("invalid path %s", value.Repr(p))
		}
		out, err := apk{c.Env}.query(ctx, "info", "-W", p)
		if err != nil {
			return fun.Result{}, err
		}
		if out.Status != 0 {
			status = out.Status
		}
		if _, by, ok := strings.Cut(out.Stdout, "owned by "); ok {
			ret.Set(p, strings.TrimSpace(by))
		} else {
			ret.Set(p, "Could not find owner package")
		}
	}
	return fun.Result{Value: ret, Retcode: status}, nil
}
