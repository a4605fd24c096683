// Package pacmanpkg is the provider of Salt's execution module "pkg" for Arch Linux
// and its derivatives: pacman.
package pacmanpkg

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

// Module returns the provider pacmanpkg of the execution module "pkg".
func Module() fun.Module {
	return fun.Module{Name: "pkg", Kind: fun.Exec, Doc: "Query, install and remove packages with pacman.", Avail: avail, Specs: specs}
}

func avail(env *fun.Env) (bool, string) {
	if machine.Grain(env, "os_family") != "Arch" {
		return false, "os_family is not Arch"
	}
	if !tool.Has(env.Host, "pacman") {
		return false, "pacman is missing"
	}
	return true, ""
}

// A pacman is the package manager of a call.
type pacman struct {
	env  *fun.Env
	root string
}

func newPacman(c *fun.Call, root string) *pacman { return &pacman{env: c.Env, root: root} }

// argv returns the command line of pacman.
func (p *pacman) argv(args []string) []string {
	argv := append([]string{"pacman"}, args...)
	if p.root != "" {
		argv = append(argv, "-r", p.root)
	}
	return argv
}

// query runs pacman for a question.
func (p *pacman) query(ctx context.Context, args ...string) (pkg.Output, error) {
	return pkg.Run(ctx, p.env.Host, pkg.Command{Argv: p.argv(args), ReadOnly: true})
}

// change runs pacman for what changes the machine. It waits for another pacman.
func (p *pacman) change(ctx context.Context, args ...string) (pkg.Output, error) {
	run := func() (pkg.Output, error) {
		return pkg.Scoped(ctx, p.env, p.argv(args), func(argv []string) (pkg.Output, error) {
			return pkg.Run(ctx, p.env.Host, pkg.Command{Argv: argv})
		})
	}
	return pkg.Locked(ctx, p.env, run, func(out *pkg.Output) string {
		// A lock that a killed pacman left behind is not waited for.
		if !strings.Contains(out.Stderr, "unable to lock database") {
			return ""
		}
		if pid := pkg.Running(p.env.Host, "pacman"); pid != "" {
			return "the database of pacman is locked by process " + pid + " (pacman)"
		}
		return ""
	})
}

// pairs reads lines of a name and a version.
func pairs(text string) [][2]string {
	var list [][2]string
	for line := range strings.SplitSeq(text, "\n") {
		if f := strings.Fields(line); len(f) == 2 && !strings.HasSuffix(f[0], ":") {
			list = append(list, [2]string{f[0], f[1]})
		}
	}
	return list
}

// installed returns lists of versions by name.
func (p *pacman) installed(ctx context.Context) (*value.Map, error) {
	out, err := p.query(ctx, "-Q")
	if err != nil {
		return nil, err
	}
	if out.Status != 0 && out.Stdout == "" && strings.Contains(out.Stderr, "error:") { // with no package, it warns
		return nil, fun.Errorf("pacman cannot list packages: %s", out.Stderr)
	}
	m := value.NewMap(64)
	for _, kv := range pairs(out.Stdout) {
		if l := m.List(kv[0]); l != nil {
			l.Append(kv[1])
		} else {
			m.Set(kv[0], value.NewList(kv[1]))
		}
	}
	pkg.SortVersions(m)
	return m, nil
}

// texts is installed, with versions as text.
func (p *pacman) texts(ctx context.Context) (*value.Map, error) {
	m, err := p.installed(ctx)
	if err == nil {
		pkg.Stringify(m)
	}
	return m, err
}

type listPkgsArgs struct {
	VersionsAsList bool `arg:"versions_as_list" default:"False" doc:"return lists of versions rather than text"`
	Removed        bool `arg:"removed,kw" default:"False" doc:"list removed packages instead, of which pacman knows none"`
	PurgeDesired   bool `arg:"purge_desired,kw" default:"False" doc:"list packages to be purged instead; there are none"`
	rootArg
	_ fun.Kwargs
}

func listPkgs(ctx context.Context, c *fun.Call, a *listPkgsArgs) (fun.Result, error) {
	if a.Removed || a.PurgeDesired { // pacman knows neither
		return fun.Value(value.NewMap(0))
	}
	m, err := newPacman(c, a.Root).installed(ctx)
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
	m, err := newPacman(c, "").installed(ctx)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(pkg.Versions(m, wanted, a.VersionsAsList))
}

type versionCmpArgs struct {
	Pkg1        string `arg:"pkg1,required,str|none" doc:"a version"`
	Pkg2        string `arg:"pkg2,required,str|none" doc:"another version"`
	IgnoreEpoch bool   `arg:"ignore_epoch" default:"False" doc:"ignore the epochs"`
	_           fun.Kwargs
}

func versionCmp(_ context.Context, c *fun.Call, args *versionCmpArgs) (fun.Result, error) {
	a, b := args.Pkg1, args.Pkg2
	if args.IgnoreEpoch {
		a, b = pkgversion.IgnoreEpoch(a), pkgversion.IgnoreEpoch(b)
	}
	return fun.Value(int64(pkgversion.Pacman(a, b)))
}

type latestVersionArgs struct {
	onceKw
	rootArg
	_ fun.Varargs
	_ fun.Kwargs
}

func latestVersion(ctx context.Context, c *fun.Call, a *latestVersionArgs) (fun.Result, error) {
	wanted := pkg.Names(c)
	if len(wanted) == 0 {
		return fun.Value("")
	}
	m, err := newPacman(c, a.Root).latest(ctx, wanted, a.Refresh)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(pkg.One(wanted, m))
}

// latest returns the versions of repositories that packages can be installed in or
// upgraded to, "" for one that is up to date.
func (p *pacman) latest(ctx context.Context, wanted []string, refresh bool) (*value.Map, error) {
	if err := pkg.CheckNames(wanted); err != nil {
		return nil, err
	}
	if refresh {
		if _, err := p.refresh(ctx); err != nil {
			return nil, err
		}
	}
	ret := value.NewMap(len(wanted))
	for _, n := range wanted {
		ret.Set(n, "")
	}
	ask := func(names []string) (bool, error) {
		out, err := p.query(ctx, slices.Concat([]string{"-Sp", "--needed", "--print-format", "%n %v"}, names)...)
		if err != nil {
			return false, err
		}
		for _, kv := range pairs(out.Stdout) {
			if ret.Has(kv[0]) {
				ret.Set(kv[0], kv[1])
			}
		}
		return out.Status == 0, nil
	}
	ok, err := ask(wanted)
	if err != nil || ok || len(wanted) == 1 {
		return ret, err
	}
	// One name that is not known fails the question for all.
	for _, n := range wanted {
		if _, err := ask([]string{n}); err != nil {
			return nil, err
		}
	}
	return ret, nil
}

type upgradeAvailableArgs struct {
	Name string `arg:"name,required" doc:"name of the package"`
	onceKw
	_ fun.Kwargs
}

func upgradeAvailable(ctx context.Context, c *fun.Call, a *upgradeAvailableArgs) (fun.Result, error) {
	m, err := newPacman(c, "").latest(ctx, []string{a.Name}, a.Refresh)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(m.Str(a.Name) != "")
}

func listUpgrades(ctx context.Context, c *fun.Call, a *upgradeArgs) (fun.Result, error) {
	p := newPacman(c, a.Root)
	if a.Refresh {
		if _, err := p.refresh(ctx); err != nil {
			return fun.Result{}, err
		}
	}
	out, err := p.query(ctx, "-S", "-p", "-u", "--print-format", "%n %v")
	if err != nil {
		return fun.Result{}, err
	}
	if out.Status != 0 {
		msg := "Error listing upgrades"
		if more := out.Stderr + out.Stdout; more != "" {
			msg += ": " + more
		}
		return fun.Result{}, &fun.CommandError{Msg: msg}
	}
	m := value.NewMap(0)
	for _, kv := range pairs(out.Stdout) {
		m.Set(kv[0], kv[1])
	}
	return fun.Value(m)
}

type refreshDBArgs struct {
	dirArg
	_ fun.Kwargs
}

func refreshDB(ctx context.Context, c *fun.Call, a *refreshDBArgs) (fun.Result, error) {
	m, err := newPacman(c, a.Root).refresh(ctx)
	return fun.Result{Value: m}, err
}

// refresh updates pacman's databases. It returns by database whether there was
// something new.
func (p *pacman) refresh(ctx context.Context) (*value.Map, error) {
	pkg.Refreshed(p.env)
	out, err := p.change(ctx, "-Sy")
	if err != nil {
		return nil, err
	}
	if out.Status != 0 {
		return nil, fun.Errorf("Error refreshing package database: %s", out.Stderr)
	}
	m := value.NewMap(4)
	for line := range strings.SplitSeq(out.Stdout, "\n") {
		f := strings.Fields(line)
		switch {
		case len(f) < 2 || f[0] == "::":
		case strings.Contains(line, "is up to date"):
			m.Set(f[0], false)
		case f[0] == "downloading":
			name, _, _ := strings.Cut(f[1], ".")
			m.Set(name, true)
		case f[1] == "downloading...": // of newer versions
			m.Set(strings.TrimSuffix(f[0], ".db"), true)
		}
	}
	return m, nil
}

type listRepoPkgsArgs struct {
	Fromrepo []string `arg:"fromrepo,kw,comma[str]" doc:"use only these repositories"`
	Byrepo   bool     `arg:"byrepo,kw" default:"False" doc:"return a mapping for each repository"`
	onceKw
	_ fun.Varargs
	_ fun.Kwargs
}

func listRepoPkgs(ctx context.Context, c *fun.Call, a *listRepoPkgsArgs) (fun.Result, error) {
	p := newPacman(c, "")
	if a.Refresh {
		if _, err := p.refresh(ctx); err != nil {
			return fun.Result{}, err
		}
	}
	m, err := p.available(ctx, pkg.Names(c), a.Fromrepo, a.Byrepo)
	return fun.Result{Value: m}, err
}

// available returns the versions that repositories have of packages, newest first.
func (p *pacman) available(ctx context.Context, patterns, repos []string, byRepo bool) (*value.Map, error) {
	out, err := p.query(ctx, "-Sl")
	if err != nil {
		return nil, err
	}
	ret := value.NewMap(0)
	for line := range strings.SplitSeq(out.Stdout, "\n") {
		f := strings.Fields(line)
		if len(f) < 3 || len(repos) > 0 && !slices.Contains(repos, f[0]) ||
			len(patterns) > 0 && !slices.ContainsFunc(patterns, func(pat string) bool { return value.Fnmatch(pat, f[1]) }) {
			continue
		}
		into := ret
		if byRepo {
			if into = ret.Map(f[0]); into == nil {
				into = value.NewMap(0)
				ret.Set(f[0], into)
			}
		}
		l := into.List(f[1])
		if l == nil {
			l = value.NewList()
			into.Set(f[1], l)
		}
		l.Append(f[2])
		slices.SortStableFunc(l.Items, func(a, b value.Value) int { return pkgversion.Pacman(value.Str(b), value.Str(a)) })
	}
	return ret, nil
}

// groups reads lines of a group and a package.
func groups(text string) *value.Map {
	m := value.NewMap(0)
	for _, kv := range pairs(text) {
		if l := m.List(kv[0]); l != nil {
			l.Append(kv[1])
		} else {
			m.Set(kv[0], value.NewList(kv[1]))
		}
	}
	return m
}

func groupList(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	p := newPacman(c, "")
	all, err := p.query(ctx, "-Sgg")
	if err != nil {
		return fun.Result{}, err
	}
	here, err := p.query(ctx, "-Qg")
	if err != nil {
		return fun.Result{}, err
	}
	available, installed := groups(all.Stdout), groups(here.Stdout)
	var whole, part, absent []string
	for k := range available.All() {
		name := value.Str(k)
		switch {
		case !installed.Has(name):
			absent = append(absent, name)
		case installed.List(name).Len() == available.List(name).Len():
			whole = append(whole, name)
		default:
			part = append(part, name)
		}
	}
	slices.Sort(whole)
	slices.Sort(part)
	slices.Sort(absent)
	return fun.Value(value.MapOf("installed", value.Strings(whole...), "partially_installed", value.Strings(part...), "available", value.Strings(absent...)))
}

// packageKinds are the parts that groups have with other package managers; those
// of pacman have default packages only.
var packageKinds = [...]string{"mandatory", "optional", "default", "conditional"}

func (p *pacman) group(ctx context.Context, name string) ([]string, error) {
	if err := pkg.CheckName(name); err != nil {
		return nil, err
	}
	out, err := p.query(ctx, "-Sgg", name)
	if err != nil {
		return nil, err
	}
	var members []string
	for _, kv := range pairs(out.Stdout) {
		members = append(members, kv[1])
	}
	if members == nil {
		return nil, fun.Errorf("Group '%s' not found", name)
	}
	slices.Sort(members)
	return slices.Compact(members), nil
}

func groupInfo(ctx context.Context, c *fun.Call, a *groupArg) (fun.Result, error) {
	members, err := newPacman(c, "").group(ctx, a.Name)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(value.MapOf("mandatory", value.NewList(), "optional", value.NewList(), "default", value.Strings(members...), "conditional", value.NewList()))
}

func groupDiff(ctx context.Context, c *fun.Call, a *groupArg) (fun.Result, error) {
	p := newPacman(c, "")
	members, err := p.group(ctx, a.Name)
	if err != nil {
		return fun.Result{}, err
	}
	have, err := p.installed(ctx)
	if err != nil {
		return fun.Result{}, err
	}
	ret := value.NewMap(4)
	for _, kind := range packageKinds {
		here, absent := value.NewList(), value.NewList()
		for _, n := range members {
			switch {
			case kind != "default":
			case have.Has(n):
				here.Append(n)
			default:
				absent.Append(n)
			}
		}
		ret.Set(kind, value.MapOf("installed", here, "not installed", absent))
	}
	return fun.Value(ret)
}

// fileListArgs are the arguments of fileList, fileDict and owner.
type fileListArgs struct {
	_ fun.Varargs
	_ fun.Kwargs
}

func fileList(ctx context.Context, c *fun.Call, _ *fileListArgs) (fun.Result, error) {
	pkgs, faults, err := newPacman(c, "").files(ctx, pkg.Names(c))
	if err != nil {
		return fun.Result{}, err
	}
	all := value.NewList()
	for _, v := range pkgs.All() {
		all.Append(v.(*value.List).Items...)
	}
	return fun.Value(value.MapOf("errors", faults, "files", all))
}

func fileDict(ctx context.Context, c *fun.Call, _ *fileListArgs) (fun.Result, error) {
	pkgs, faults, err := newPacman(c, "").files(ctx, pkg.Names(c))
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(value.MapOf("errors", faults, "packages", pkgs))
}

// files returns the files of packages, and what pacman says of those that it does not
// know. A first name that is a path is the root of another system.
func (p *pacman) files(ctx context.Context, names []string) (pkgs *value.Map, faults *value.List, err error) {
	if len(names) > 0 && strings.HasPrefix(names[0], "/") {
		p.root, names = names[0], names[1:]
	}
	if err := pkg.CheckNames(names); err != nil {
		return nil, nil, err
	}
	out, err := p.query(ctx, slices.Concat([]string{"-Ql"}, names)...)
	if err != nil {
		return nil, nil, err
	}
	pkgs, faults = value.NewMap(0), value.NewList()
	for line := range strings.SplitSeq(out.Stdout, "\n") {
		name, file, ok := strings.Cut(line, " ")
		if !ok {
			continue
		}
		if l := pkgs.List(name); l != nil {
			l.Append(file)
		} else {
			pkgs.Set(name, value.NewList(file))
		}
	}
	for line := range strings.SplitSeq(out.Stderr, "\n") {
		if strings.HasPrefix(line, "error") {
			faults.Append(line)
		}
	}
	return pkgs, faults, nil
}

func owner(ctx context.Context, c *fun.Call, _ *fileListArgs) (fun.Result, error) {
	paths := pkg.Names(c)
	if len(paths) == 0 {
		return fun.Value("")
	}
	p := newPacman(c, "")
	ret := value.NewMap(len(paths))
	status := 0
	for _, f := range paths {
		if f == "" || strings.HasPrefix(f, "-") || strings.ContainsAny(f, "\x00\n") {
			return fun.Result{}, fun.Errorf("invalid path %s", value.Repr(f))
		}
		out, err := p.query(ctx, "-Qqo", f)
		if err != nil {
			return fun.Result{}, err
		}
		if out.Status != 0 {
			status = out.Status
		}
		ret.Set(f, out.Stdout)
	}
	return fun.Result{Value: pkg.One(paths, ret), Retcode: status}, nil
}
