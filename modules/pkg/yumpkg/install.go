package yumpkg

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/core/pkgversion"
	"brine/internal/py/value"
	"brine/modules/pkg"
	"brine/modules/pkg/rpm"
)

// A word is a package to act on, and what the program gets for it: its name, a name with a
// version, the path of a file, or an advisory.
type word struct{ name, text string }

// An installation is a call of pkg.install.
type installation struct {
	*yum
	a          *installArgs
	c          *fun.Call
	downloads  bool       // packages are only downloaded
	advisories bool       // the words are advisories
	old        *value.Map // what was there before, as pkg.list_pkgs returns it
	oldLists   *value.Map // versions of what was installed, as lists
	targets    []word
	down       []word // older versions than those that are installed
	again      []word // the installed versions
	prevented  []string
	errors     []string
}

type installArgs struct {
	Name         string            `arg:"name" doc:"name of the package, or several with commas between them"`
	Refresh      bool              `arg:"refresh" default:"False" doc:"refresh the repositories first"`
	SkipVerify   bool              `arg:"skip_verify" default:"False" doc:"do not check signatures"`
	Pkgs         []value.Value     `arg:"pkgs" doc:"several packages: names, or mappings of a name to a version; name is ignored"`
	Sources      []value.Value     `arg:"sources" doc:"package files: mappings of a name to a path or URL; name is ignored"`
	Downloadonly bool              `arg:"downloadonly" default:"False" doc:"only download the packages"`
	Reinstall    bool              `arg:"reinstall" default:"False" doc:"install packages again that have the wanted version already"`
	Normalize    bool              `arg:"normalize" default:"True" doc:"strip the architecture of the machine from names"`
	UpdateHolds  bool              `arg:"update_holds" default:"False" doc:"change packages that are held, and hold them again"`
	Saltenv      string            `arg:"saltenv" default:"base" doc:"environment of salt:// URLs"`
	IgnoreEpoch  bool              `arg:"ignore_epoch" default:"False" doc:"ignore the epoch when versions are compared"`
	Version      string            `arg:"version,kw" doc:"version to install: a version, a pattern such as 1.2*, or comparisons such as >=1.2,<2"`
	SplitArch    bool              `arg:"split_arch,kw" default:"True" doc:"take an architecture at the end of a name for that of the package"`
	AdvisoryIds  fun.Opt[[]string] `arg:"advisory_ids,kw" doc:"install the packages of these advisories; an empty list means name"`
	simulateArg
	attrArg
	repoArgs
	_ fun.Kwargs
}

// install installs packages. Salt: salt/modules/yumpkg.py install.
func install(ctx context.Context, c *fun.Call, a *installArgs) (fun.Result, error) {
	y, err := newYum(c)
	if err != nil {
		return fun.Result{}, err
	}
	i := &installation{yum: y, c: c, a: a, downloads: a.Downloadonly}
	if a.Refresh && !a.Simulate {
		if _, err := y.refresh(ctx, a.options(), true); err != nil {
			return fun.Result{}, err
		}
	}
	due, err := i.find(ctx)
	if err != nil {
		return fun.Result{}, err
	}
	if !due {
		return fun.Value(value.NewMap(0))
	}
	act := i.act
	if a.Simulate {
		act = i.simulate
	}
	ret, err := act(ctx)
	if err != nil {
		return fun.Result{}, err
	}
	if len(i.errors) > 0 {
		also := ""
		if len(i.again) > 0 {
			also = "/reinstalling"
		}
		return fun.Result{}, &pkg.Error{Msg: "Error occurred installing" + also + " package(s)", Errors: i.errors, Changes: ret, Hint: i.hint(ctx)}
	}
	return fun.Value(ret)
}

// find works out what is to be installed; due is false where that is nothing.
func (i *installation) find(ctx context.Context) (due bool, err error) {
	a, c := i.a, i.c
	req := pkg.Request{Name: a.Name, Version: a.Version, Pkgs: a.Pkgs, Sources: a.Sources, SaltEnv: a.Saltenv}
	if a.Normalize && a.SplitArch {
		req.Normalize = func(n string) string { return rpm.NormalizeName(c.Env, n) }
	}
	switch {
	case len(req.Pkgs) > 0 && len(req.Sources) > 0:
		return false, fun.Errorf("Only one of \"pkgs\" and \"sources\" can be used.")
	case a.AdvisoryIds.Given:
		return i.findAdvisories(ctx)
	case len(req.Sources) > 0:
		return i.findFiles(ctx, &req)
	}
	list, err := req.Named(c.Env)
	if err != nil || len(list) == 0 {
		return false, pkg.AsCommandError(err)
	}
	for _, t := range list {
		if err := pkg.CheckName(t.Name); err != nil {
			return false, err
		}
	}
	if err := i.before(ctx); err != nil {
		return false, err
	}
	return true, i.findNamed(ctx, list)
}

// before notes what exists.
func (i *installation) before(ctx context.Context) (err error) {
	if i.old, err = i.installedOr(ctx, i.downloads, pkg.Words(i.a.DiffAttr)); err != nil {
		return err
	}
	if i.downloads {
		i.oldLists = value.NewMap(i.old.Len())
		for name, v := range i.old.All() {
			i.oldLists.Set(name, value.NewList(v.(*value.Map).Keys()...))
		}
		return nil
	}
	i.oldLists, err = i.versions(ctx)
	return err
}

func (i *installation) findAdvisories(ctx context.Context) (bool, error) {
	ids := i.a.AdvisoryIds.V
	if len(ids) == 0 {
		ids = []string{i.a.Name}
	}
	known, err := i.patches(ctx, false)
	if err != nil {
		return false, err
	}
	for _, id := range ids {
		if !known.Value.(*value.Map).Has(id) {
			return false, fun.Errorf("Advisory id \"%s\" not found", id)
		}
		i.targets = append(i.targets, word{id, "--advisory=" + id})
	}
	i.advisories = true
	return true, i.before(ctx)
}

func (i *installation) findFiles(ctx context.Context, req *pkg.Request) (bool, error) {
	sources, err := req.Files(ctx, i.env)
	if err != nil || len(sources) == 0 {
		return false, pkg.AsCommandError(err)
	}
	if err := i.before(ctx); err != nil {
		return false, err
	}
	for _, s := range sources {
		p, ok, why, err := rpm.ReadFile(ctx, i.env, s.Path)
		if err != nil {
			return false, err
		}
		if !ok {
			i.env.Log().Error("rpm cannot read a package file, so that its version is not compared", "path", s.Path, "why", why)
			i.targets = append(i.targets, word{"", s.Path})
			continue
		}
		i.add(word{p.Name, s.Path}, p.EVR())
	}
	return true, nil
}

func compares(version string) bool {
	return strings.HasPrefix(version, "<") || strings.HasPrefix(version, ">")
}

func (i *installation) findNamed(ctx context.Context, list []pkg.Target) error {
	var open []string // names of which the repositories' versions are needed
	for _, t := range list {
		if !t.Any && (compares(t.Version) || strings.Contains(t.Version, "*")) {
			base, _ := rpm.SplitArch(t.Name)
			open = append(open, t.Name)
			if base != t.Name {
				open = append(open, base)
			}
		}
	}
	available := value.NewMap(0)
	if len(open) > 0 {
		var err error
		if available, err = i.available(ctx, &i.a.repoArgs, repoQuery{patterns: open, strict: true}); err != nil {
			return err
		}
	}
	for _, t := range list {
		switch {
		case t.Any && i.a.Reinstall && i.old.Has(t.Name):
			i.again = append(i.again, word{t.Name, t.Name})
		case t.Any:
			i.targets = append(i.targets, word{t.Name, t.Name})
		default:
			i.addVersion(t, available)
		}
	}
	return nil
}

// addVersion adds a package of a repository in the version that is asked for: one
// version, a pattern, or comparisons.
func (i *installation) addVersion(t pkg.Target, available *value.Map) {
	version := strings.TrimLeft(t.Version, "=")
	if i.name == yum3 && i.a.IgnoreEpoch {
		version = pkgversion.IgnoreEpoch(version)
	}
	name, arch := t.Name, ""
	if base, a := rpm.SplitArch(t.Name); rpm.IsArch(a) && (a != i.osarch || i.a.SplitArch) {
		name, arch = base, "."+a
	}
	candidates := available.List(t.Name).Strs()
	switch {
	case compares(version):
		found, ok := match(candidates, version, i.a.IgnoreEpoch)
		if !ok {
			i.errors = append(i.errors, fmt.Sprintf("No version matching '%s%s' could be found (available: %s)", t.Name, version, listOr(candidates, "None")))
			return
		}
		version = found
	case strings.Contains(version, "*"):
		if candidates == nil {
			candidates = available.List(name).Strs()
		}
		n := slices.IndexFunc(candidates, func(v string) bool {
			return value.Fnmatch(version, v) || !strings.Contains(version, ":") && value.Fnmatch(version, pkgversion.IgnoreEpoch(v))
		})
		if n < 0 {
			i.errors = append(i.errors, fmt.Sprintf("No version matching '%s' found for package '%s' (available: %s)", version, name, listOr(candidates, "none")))
			return
		}
		version = candidates[n]
	}
	// The program takes a version without its epoch, too.
	plain := version
	if !i.a.IgnoreEpoch {
		plain = pkgversion.IgnoreEpoch(version)
	}
	i.add(word{name, name + "-" + plain + arch}, version)
}

func listOr(list []string, none string) string {
	if len(list) == 0 {
		return none
	}
	return strings.Join(list, ", ")
}

// match returns the first version that meets the comparisons of spec.
func match(versions []string, spec string, ignoreEpoch bool) (string, bool) {
	conditions := pkg.Conditions(spec)
	for _, v := range versions {
		if compare.Fulfils(v, conditions, &ignoreEpoch) {
			return v, true
		}
	}
	return "", false
}

// compare is the comparison of versions.
var compare = pkg.Comparer(pkgversion.RPM)

// kernels are packages of which several versions are installed side by side.
var kernels = []string{"kernel", "kernel-devel"}

// add puts a package of a version where it belongs.
func (i *installation) add(w word, version string) {
	have := i.oldLists.List(w.name).Strs()
	ignore := i.a.IgnoreEpoch
	// Without an epoch, that of what is installed is meant.
	differ := func(v string) int {
		return rpm.Compare(version, v, ignore || !strings.Contains(version, ":"))
	}
	switch {
	case i.a.Reinstall && len(have) > 0 && slices.ContainsFunc(have, func(v string) bool { return differ(v) == 0 }):
		i.again = append(i.again, w)
	case len(have) == 0 || slices.ContainsFunc(have, func(v string) bool { return differ(v) >= 0 }) || slices.Contains(kernels, w.name):
		i.targets = append(i.targets, w)
	default:
		i.down = append(i.down, w)
	}
}

// act runs the program and returns what changed.
func (i *installation) act(ctx context.Context) (*value.Map, error) {
	holds, err := i.holdsOrNone(ctx)
	if err != nil {
		return nil, err
	}
	for _, step := range i.steps("-y") {
		words, restore, err := i.release(ctx, step.words, holds)
		if err != nil {
			return nil, err
		}
		if len(words) > 0 {
			out, err := i.change(ctx, true, append(step.args, words...)...)
			if err != nil {
				restore()
				return nil, err
			}
			if out.Status != 0 {
				i.errors = append(i.errors, out.Stdout)
			}
		}
		restore()
	}
	now, err := i.installedOr(ctx, i.downloads, pkg.Words(i.a.DiffAttr))
	if err != nil {
		return nil, err
	}
	ret := pkg.CompareDicts(i.old, now)
	for _, w := range i.again {
		if !ret.Has(w.name) || i.old.Has(w.name) {
			ret.Set(w.name, value.MapOf("old", value.OrEmpty(i.old.At(w.name)), "new", value.OrEmpty(now.At(w.name))))
		}
	}
	i.errors = append(i.errors, i.heldError()...)
	return ret, nil
}

// heldError says which packages were not changed because they are held.
func (i *installation) heldError() []string {
	if len(i.prevented) == 0 {
		return nil
	}
	return []string{"The following package(s) could not be updated because they are being held: " + strings.Join(i.prevented, ", ") +
		". Set 'update_holds' to True to temporarily unhold these packages so that they can be updated."}
}

// A step is one command line of an installation.
type step struct {
	words []word
	args  []string // before the words
}

// steps are the command lines that install what was found, as far as there are words
// for them. answer is the option that answers the question of the program.
func (i *installation) steps(answer string) []step {
	common := slices.Clone(i.a.options())
	if i.a.SkipVerify {
		common = append(common, "--nogpgcheck")
	}
	if i.downloads {
		common = append(common, "--downloadonly")
	}
	first := []string{answer}
	if i.name == dnf {
		first = append(first, "--best", "--allowerasing")
	}
	command := []string{"install"}
	switch {
	case i.advisories:
		command = []string{"update"}
	case i.name == dnf5:
		command = append(command, "--best", "--allowerasing") // dnf5 has them of the command
	}
	return []step{
		{i.targets, slices.Concat(first, common, command)},
		{i.down, slices.Concat([]string{answer}, common, []string{"downgrade"})},
		{i.again, slices.Concat([]string{answer}, common, []string{"reinstall"})},
	}
}

// release returns the words of packages that may be changed: those that are not held
// and, if update_holds, those of which the hold could be taken away. restore puts the
// holds back.
func (i *installation) release(ctx context.Context, words []word, holds []string) (free []string, restore func(), err error) {
	restore = func() {}
	var held []string
	byName := map[string]string{}
	for _, w := range words {
		switch {
		case !slices.Contains(holds, w.name):
			free = append(free, w.text)
		case i.a.UpdateHolds:
			held = append(held, w.name)
			byName[w.name] = w.text
		default:
			i.prevented = append(i.prevented, w.name)
		}
	}
	if len(held) == 0 {
		return free, restore, nil
	}
	outcome, err := i.setHolds(ctx, held, false, false)
	if err != nil {
		return nil, restore, err
	}
	for _, n := range held {
		if value.Truth(outcome.Map(n).At("result")) {
			free = append(free, byName[n])
		} else {
			i.errors = append(i.errors, n)
		}
	}
	return free, func() {
		// A run that is cancelled holds the packages again, too.
		if _, err := i.setHolds(context.WithoutCancel(ctx), held, true, false); err != nil {
			i.env.Log().Error("packages cannot be held again", "packages", held, "err", err)
		}
	}, nil
}

// missing are the lines by which dnf and yum say that there is no such package.
var missingLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(?:No match for argument:|No package) (\S+?)(?: available\.?)?$`)
})

// hint says what the user may have meant: the nearest version of a package that has
// others.
func (i *installation) hint(ctx context.Context) string {
	for _, e := range i.errors {
		m := missingLine().FindStringSubmatch(e)
		if m == nil {
			continue
		}
		n := slices.IndexFunc(slices.Concat(i.targets, i.down), func(w word) bool { return w.text == m[1] })
		if n < 0 {
			continue
		}
		w := slices.Concat(i.targets, i.down)[n]
		all, err := i.available(ctx, &i.a.repoArgs, repoQuery{patterns: []string{w.name}, strict: true})
		if err != nil || w.name == w.text {
			return ""
		}
		compare := func(a, b string) int { return rpm.Compare(a, b, true) }
		return pkg.Nearest(w.name, strings.TrimPrefix(w.text, w.name+"-"), all.List(w.name), compare)
	}
	return ""
}

type removeGiven struct {
	Name      string        `arg:"name" doc:"name of the package, or several with commas between them; * stands for any text"`
	Pkgs      []value.Value `arg:"pkgs" doc:"several packages: names, or mappings of a name to a version; name is ignored"`
	SplitArch bool          `arg:"split_arch,kw" default:"True" doc:"strip the architecture of the machine from names"`
	simulateArg
	_ fun.Kwargs
}

func remove(ctx context.Context, c *fun.Call, a *removeGiven) (fun.Result, error) {
	y, err := newYum(c)
	if err != nil {
		return fun.Result{}, err
	}
	req := pkg.Request{Name: a.Name, Pkgs: a.Pkgs, Normalize: func(n string) string { return rpm.NormalizeName(c.Env, n) }}
	if !a.SplitArch {
		req.Normalize = nil
	}
	list, err := req.ToRemove(c.Env)
	if err != nil {
		return fun.Result{}, err
	}
	old, err := y.installed(ctx, nil)
	if err != nil {
		return fun.Result{}, err
	}
	var targets []string
	for _, t := range list {
		names := []string{t.Name}
		if strings.Contains(t.Name, "*") {
			names = nil
			for k := range old.All() {
				if value.Fnmatch(t.Name, value.Str(k)) {
					names = append(names, value.Str(k))
				}
			}
		}
		for _, n := range names {
			if w := y.removable(a, old, n, t.Version); w != "" {
				targets = append(targets, w)
			}
		}
	}
	if len(targets) == 0 {
		return fun.Value(value.NewMap(0))
	}
	if err := pkg.CheckNames(targets); err != nil {
		return fun.Result{}, err
	}
	if a.Simulate {
		return y.simulatedBy(ctx, "Error occurred removing package(s)", append([]string{"--assumeno", "remove"}, targets...))
	}
	out, err := y.change(ctx, false, append([]string{"-y", "remove"}, targets...)...)
	if err != nil {
		return fun.Result{}, err
	}
	now, err := y.installed(ctx, nil)
	if err != nil {
		return fun.Result{}, err
	}
	ret := pkg.CompareDicts(old, now)
	if out.Status != 0 {
		return fun.Result{}, &pkg.Error{Msg: "Error occurred removing package(s)", Errors: []string{out.Fault()}, Changes: ret}
	}
	return fun.Value(ret)
}

// removable returns the word by which an installed package is removed; "" where it is
// not installed, or not in the version that is asked for.
func (y *yum) removable(args *removeGiven, old *value.Map, name, version string) string {
	switch {
	case !old.Has(name):
		return ""
	case version == "":
		return name
	case !slices.Contains(strings.Split(old.Str(name), ","), version):
		return ""
	}
	base, arch := name, ""
	if b, a := rpm.SplitArch(name); rpm.IsArch(a) && (a != y.osarch || args.SplitArch) {
		base, arch = b, "."+a
	}
	return base + "-" + pkgversion.IgnoreEpoch(version) + arch
}

// upgradeList are the arguments of upgrade and update about what is upgraded.
type upgradeList struct {
	_            fun.Arguments
	Name         string        `arg:"name" doc:"upgrade only this package, or several with commas between them"`
	Pkgs         []value.Value `arg:"pkgs" doc:"upgrade only these packages; name is ignored"`
	Refresh      bool          `arg:"refresh" default:"True" doc:"refresh the repositories first"`
	SkipVerify   bool          `arg:"skip_verify" default:"False" doc:"do not check signatures"`
	Normalize    bool          `arg:"normalize" default:"True" doc:"strip the architecture of the machine from names"`
	Minimal      bool          `arg:"minimal" default:"False" doc:"upgrade only to the next version that fixes a fault"`
	Downloadonly bool          `arg:"downloadonly,kw" default:"False" doc:"only download the packages"`
	simulateArg
}

type updateArgs struct {
	upgradeList
	Obsoletes bool `arg:"obsoletes" default:"False" doc:"replace packages by those that make them obsolete"`
	attrArg
	repoArgs
	_ fun.Kwargs
}

func update(ctx context.Context, c *fun.Call, a *updateArgs) (fun.Result, error) {
	return upgradeAll(ctx, c, &a.upgradeList, a.options(), a.Obsoletes, pkg.Words(a.DiffAttr))
}

type upgradeArgs struct {
	upgradeList
	Obsoletes bool        `arg:"obsoletes" default:"True" doc:"replace packages by those that make them obsolete"`
	DiffAttr  value.Value `arg:"diff_attr,comma[str]" doc:"attributes to return of changed packages in place of versions"`
	repoArgs
	_ fun.Kwargs
}

func upgrade(ctx context.Context, c *fun.Call, a *upgradeArgs) (fun.Result, error) {
	return upgradeAll(ctx, c, &a.upgradeList, a.options(), a.Obsoletes, pkg.Words(a.DiffAttr))
}

// names returns the packages to upgrade as dnf takes them, with the versions that are
// asked for.
func (a *upgradeList) names(env *fun.Env) ([]string, error) {
	req := pkg.Request{Name: a.Name, Pkgs: a.Pkgs}
	if a.Normalize {
		req.Normalize = func(n string) string { return rpm.NormalizeName(env, n) }
	}
	list, err := req.Named(env)
	if err != nil {
		return nil, pkg.AsCommandError(err)
	}
	var names []string
	for _, t := range list {
		if err := pkg.CheckName(t.Name); err != nil {
			return nil, err
		}
		name := t.Name
		if t.Version != "" {
			name += "-" + pkgversion.IgnoreEpoch(strings.TrimLeft(t.Version, "="))
		}
		names = append(names, name)
	}
	return names, nil
}

// upgradeAll upgrades packages. attr are the attributes of them that are returned.
func upgradeAll(ctx context.Context, c *fun.Call, a *upgradeList, opts []string, obsoletes bool, attr []string) (fun.Result, error) {
	y, err := newYum(c)
	if err != nil {
		return fun.Result{}, err
	}
	if y.isDNF() && !obsoletes {
		opts = append(opts, "--setopt", "obsoletes=False")
	}
	if a.Refresh && !a.Simulate {
		if _, err := y.refresh(ctx, opts, true); err != nil {
			return fun.Result{}, err
		}
	}
	more, err := extraOptions(c)
	if err != nil {
		return fun.Result{}, err
	}
	old, err := y.installed(ctx, attr)
	if err != nil {
		return fun.Result{}, err
	}
	answer := []string{"--quiet", "-y"}
	if a.Simulate {
		answer = []string{"--assumeno"}
	}
	args := slices.Concat(answer, opts, more)
	if a.SkipVerify {
		args = append(args, "--nogpgcheck")
	}
	if a.Downloadonly {
		args = append(args, "--downloadonly")
	}
	command := "upgrade"
	if !obsoletes && !y.isDNF() {
		command = "update"
	}
	if a.Minimal {
		command += "-minimal"
	}
	args = append(args, command)
	if a.Name != "" || len(a.Pkgs) > 0 {
		names, err := a.names(c.Env)
		if err != nil {
			return fun.Result{}, err
		}
		args = append(args, names...)
	}
	if a.Simulate {
		return y.simulatedBy(ctx, "Problem encountered upgrading packages", args)
	}
	out, err := y.change(ctx, false, args...)
	if err != nil {
		return fun.Result{}, err
	}
	now, err := y.installed(ctx, attr)
	if err != nil {
		return fun.Result{}, err
	}
	ret := pkg.CompareDicts(old, now)
	if out.Status != 0 {
		return fun.Result{}, &pkg.Error{Msg: "Problem encountered upgrading packages", Changes: ret, Result: out.Map()}
	}
	return fun.Value(ret)
}

// notOptions are arguments that states pass on for other package managers.
var notOptions = []string{
	"saltenv", "dist_upgrade", "cache_valid_time", "install_recommends", "only_upgrade", "force_conf_new", "force_yes", "debconf", "env",
	"resolve_capabilities", "report_reboot_exit_codes", "test",
}

// extraOptions returns further arguments of a call as options of the program, sorted
// by name: --name=text, or --name for True.
func extraOptions(c *fun.Call) ([]string, error) {
	var args []string
	for k, v := range c.Kw.All() {
		name, _ := k.(string)
		if name == "" || strings.HasPrefix(name, "_") || slices.Contains(notOptions, name) {
			continue
		}
		if strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return nil, &fun.InvocationError{Msg: "invalid option " + value.Repr(name)}
		}
		switch v := v.(type) {
		case string:
			args = append(args, "--"+name+"="+v)
		case bool:
			if v {
				args = append(args, "--"+name)
			}
		}
	}
	slices.Sort(args)
	return args, nil
}
