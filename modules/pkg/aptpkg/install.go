package aptpkg

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/pkgversion"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/modules/pkg"
	"brine/modules/pkg/dpkg"
)

// An installation is a call of pkg.install.
type installation struct {
	*apt
	a          *installArgs
	c          *fun.Call
	old        *value.Map // versions of what was installed
	files      bool       // package files are installed, not packages of repositories
	targets    []string   // words for apt: name, name=version or path
	down       []string   // the same, where that is an older version
	again      []string   // the same, to be installed again
	named      []string   // names of the packages of all of them
	againBy    []string   // names of again
	errors     []string
	dpkgErrors []string // what dpkg said of errors
}

type installArgs struct {
	Name              string        `arg:"name" doc:"name of the package, or several with commas between them"`
	Refresh           bool          `arg:"refresh" default:"False" doc:"refresh the lists of apt first, unless they have all versions that are asked for"`
	Fromrepo          string        `arg:"fromrepo" doc:"release to take packages from, such as stable or bookworm-backports"`
	SkipVerify        bool          `arg:"skip_verify" default:"False" doc:"install packages of repositories that are not signed"`
	Debconf           string        `arg:"debconf" doc:"path or URL of a file with answers for debconf, which are set first"`
	Pkgs              []value.Value `arg:"pkgs" doc:"several packages: names, or mappings of a name to a version; name is ignored"`
	Sources           []value.Value `arg:"sources" doc:"package files: mappings of a name to a path or URL; name is ignored"`
	Reinstall         bool          `arg:"reinstall" default:"False" doc:"install packages again that have the wanted version already"`
	Downloadonly      bool          `arg:"downloadonly" default:"False" doc:"only download the packages"`
	IgnoreEpoch       bool          `arg:"ignore_epoch" default:"False" doc:"ignore the epoch when versions are compared"`
	Version           string        `arg:"version,kw" doc:"version to install: a version, a pattern such as 1.2*, or comparisons such as >=1.2,<2"`
	InstallRecommends fun.Opt[bool] `arg:"install_recommends,kw" doc:"whether to install recommended packages; default: what apt is configured to do"`
	OnlyUpgrade       bool          `arg:"only_upgrade,kw" default:"False" doc:"only upgrade packages that are installed"`
	UpdateHolds       bool          `arg:"update_holds,kw" default:"False" doc:"do not log that held packages are changed; they are held again afterwards in any case"`
	Normalize         bool          `arg:"normalize,kw" default:"True" doc:"strip the architecture of the machine from names"`
	Saltenv           string        `arg:"saltenv,kw" doc:"environment of salt:// URLs"`
	Repo              string        `arg:"repo,kw" doc:"old name of fromrepo"`
	simulateArg
	changeArgs
	envArgs
	_ fun.Kwargs
}

// install installs packages. Salt: salt/modules/aptpkg.py install.
func install(ctx context.Context, c *fun.Call, a *installArgs) (fun.Result, error) {
	i := &installation{apt: newApt(c), c: c, a: a}
	i.more = environment(a.Env)
	if file := a.Debconf; file != "" && !a.Simulate {
		if _, err := c.Env.Exec(ctx, "debconf.set_file", nil, file); err != nil {
			return fun.Result{}, err
		}
	}
	if err := i.find(ctx); err != nil {
		return fun.Result{}, err
	}
	ret := value.NewMap(0)
	if len(i.named) > 0 {
		act := i.act
		if a.Simulate {
			act = i.simulate
		}
		var err error
		if ret, err = act(ctx); err != nil {
			return fun.Result{}, err
		}
	}
	if len(i.errors) > 0 {
		return fun.Result{}, &pkg.Error{Msg: "Problem encountered installing package(s)", Errors: i.errors, Changes: ret, Hint: i.hint(ctx)}
	}
	return i.result(ret)
}

// environment reads the argument env: a mapping, or a list of mappings.
func environment(v value.Value) *value.Map {
	m := value.NewMap(0)
	switch v := v.(type) {
	case *value.Map:
		m.Update(v)
	case *value.List:
		for _, x := range v.Items {
			if x, ok := x.(*value.Map); ok {
				m.Update(x)
			}
		}
	}
	return m
}

// find works out what is to be installed, and refreshes apt's lists where that is
// wished.
func (i *installation) find(ctx context.Context) error {
	a, c := i.a, i.c
	req := pkg.Request{Name: a.Name, Version: a.Version, Pkgs: a.Pkgs, Sources: a.Sources, SaltEnv: a.Saltenv}
	if a.Normalize {
		req.Normalize = func(n string) string { return normalize(c.Env, n) }
	}
	if len(req.Pkgs) > 0 && len(req.Sources) > 0 {
		return fun.Errorf("Only one of \"pkgs\" and \"sources\" can be used.")
	}
	if len(req.Sources) > 0 {
		i.files = true
		sources, err := req.Files(ctx, c.Env)
		if err != nil {
			return pkg.AsCommandError(err)
		}
		if err := i.before(ctx, a.Refresh && !a.Simulate && len(sources) > 0); err != nil {
			return err
		}
		return i.findFiles(ctx, sources)
	}
	list, err := req.Named(c.Env)
	if err != nil {
		return pkg.AsCommandError(err)
	}
	for _, t := range list {
		if err := checkName(t.Name); err != nil {
			return err
		}
	}
	due := a.Refresh && !a.Simulate && len(list) > 0
	if due {
		if due, err = i.outdated(ctx, list); err != nil {
			return err
		}
	}
	if err := i.before(ctx, due); err != nil {
		return err
	}
	return i.findNamed(ctx, list)
}

// before notes what is installed.
func (i *installation) before(ctx context.Context, refresh bool) (err error) {
	if refresh {
		if err := i.refreshFor(ctx, &i.a.changeArgs); err != nil {
			return err
		}
	}
	i.old, err = i.installed()
	return err
}

// outdated reports whether a refresh may bring something: not where all packages
// are asked for in the versions that apt has as candidates.
func (i *installation) outdated(ctx context.Context, list []pkg.Target) (bool, error) {
	names := make([]string, 0, len(list))
	for _, t := range list {
		if t.Any {
			return true, nil
		}
		names = append(names, t.Name)
	}
	candidates, err := i.latest(ctx, names, "", true)
	if err != nil {
		return false, err
	}
	i.retcode = 0
	return slices.ContainsFunc(list, func(t pkg.Target) bool { return candidates.Str(t.Name) != t.Version }), nil
}

func (i *installation) findFiles(ctx context.Context, sources []pkg.Source) error {
	for _, s := range sources {
		p, err := dpkg.ReadFile(ctx, i.env, s.Path)
		if err != nil {
			return err
		}
		i.add(p.Name, p.Version, s.Path)
	}
	return nil
}

func (i *installation) findNamed(ctx context.Context, list []pkg.Target) error {
	var open []string // names of which apt's list of versions is needed
	for _, t := range list {
		if !t.Any && choice(t.Version) {
			open = append(open, t.Name)
		}
	}
	versions := value.NewMap(0)
	if len(open) > 0 {
		var err error
		if versions, err = i.available(ctx, open); err != nil {
			return err
		}
	}
	for _, t := range list {
		if t.Any {
			i.named = append(i.named, t.Name)
			if i.a.Reinstall && i.old.Has(t.Name) {
				i.again, i.againBy = append(i.again, t.Name), append(i.againBy, t.Name)
			} else {
				i.targets = append(i.targets, t.Name)
			}
			continue
		}
		version := t.Version
		if choice(version) {
			found, ok := i.pick(t, versions.List(t.Name))
			if !ok {
				continue
			}
			version = found
		} else {
			version = value.TrimSpace(strings.TrimLeft(version, "="))
		}
		i.add(t.Name, version, t.Name+"="+version)
	}
	return nil
}

// choice reports whether a version leaves a choice: a comparison or a pattern.
func choice(version string) bool { return strings.ContainsAny(version, "<>*?[,!") }

// pick chooses the newest of the available versions that a target allows. It
// returns false, and notes an error, where there is none.
func (i *installation) pick(t pkg.Target, versions *value.List) (string, bool) {
	conditions := pkg.Conditions(t.Version)
	ignore := i.a.IgnoreEpoch
	var all []string
	if versions != nil {
		for _, v := range versions.Items {
			version := value.Str(v)
			if compare.Fulfils(version, conditions, &ignore) {
				return version, true
			}
			all = append(all, version)
		}
	}
	if !strings.ContainsAny(t.Version, "<>,!") {
		return t.Version, true // a pattern, which apt says is not found
	}
	known := "None"
	if len(all) > 0 {
		known = strings.Join(all, ", ")
	}
	i.errors = append(i.errors, fmt.Sprintf("No version matching '%s%s' could be found (available: %s)", t.Name, t.Version, known))
	return "", false
}

// add puts a package of a version where it belongs.
func (i *installation) add(name, version, word string) {
	i.named = append(i.named, name)
	have := i.old.Str(name)
	switch {
	case i.a.Reinstall && have != "" && pkgversion.Deb(version, have) == 0:
		i.again, i.againBy = append(i.again, word), append(i.againBy, name)
	case have == "" || pkgversion.Deb(version, have) >= 0:
		i.targets = append(i.targets, word)
	default:
		i.down = append(i.down, word)
	}
}

// options are apt-get's, before the command.
func (i *installation) options() []string {
	a := i.a
	argv := append([]string{"apt-get", "-q", "-y"}, a.confOptions()...)
	if a.ForceYes {
		argv = append(argv, forceYes...)
	}
	if a.InstallRecommends.Given {
		if a.InstallRecommends.V {
			argv = append(argv, "--install-recommends")
		} else {
			argv = append(argv, "--no-install-recommends")
		}
	}
	if a.OnlyUpgrade {
		argv = append(argv, "--only-upgrade")
	}
	if a.SkipVerify {
		argv = append(argv, "--allow-unauthenticated")
	}
	if a.Downloadonly {
		argv = append(argv, "--download-only")
	}
	repo := cmp.Or(a.Fromrepo, a.Repo)
	if repo != "" && !i.files {
		argv = append(argv, "-t", repo)
	}
	return argv
}

// forceYes is what --force-yes stood for, which newer versions of apt lack.
var forceYes = []string{"--allow-downgrades", "--allow-remove-essential", "--allow-change-held-packages", "--allow-unauthenticated"}

// confOptions say which configuration files stay.
func (a *changeArgs) confOptions() []string {
	if a.ForceConfNew {
		return []string{"-o", "DPkg::Options::=--force-confnew"}
	}
	return []string{"-o", "DPkg::Options::=--force-confold", "-o", "DPkg::Options::=--force-confdef"}
}

// act runs apt and returns what changed.
func (i *installation) act(ctx context.Context) (*value.Map, error) {
	broken, err := i.broken()
	if err != nil {
		return nil, err
	}
	free, err := i.release(ctx)
	if err != nil {
		return nil, err
	}
	defer free()
	for _, argv := range i.commands() {
		out, err := i.run(ctx, argv...)
		if err != nil {
			return nil, err
		}
		if out.Status != 0 {
			i.errors = append(i.errors, failure(out))
			i.dpkgErrors = append(i.dpkgErrors, dpkgErrorsOf(out.Stdout))
		}
	}
	ret, now, err := i.changes(i.old, broken)
	if err != nil {
		return nil, err
	}
	for _, n := range i.againBy {
		ret.Set(n, value.MapOf("old", i.old.Str(n), "new", now.Str(n)))
	}
	return ret, nil
}

// commands are the command lines of apt-get that install what was found; more are
// further options.
func (i *installation) commands(more ...string) [][]string {
	var all [][]string
	add := func(words []string, own ...string) {
		if len(words) > 0 {
			all = append(all, slices.Concat(i.options(), more, own, []string{"install", "--"}, words))
		}
	}
	add(i.targets)
	add(i.down, "--allow-downgrades")
	if i.files {
		add(i.again)
	} else {
		add(i.again, "--reinstall")
	}
	return all
}

// failure is what a program that failed said.
func failure(out dpkg.Output) string {
	if out.Stderr != "" {
		return out.Stderr
	}
	last := out.Stdout[strings.LastIndexByte(out.Stdout, '\n')+1:]
	return strings.TrimSpace(fmt.Sprintf("apt-get ended with status %d. %s", out.Status, last))
}

func (a *apt) broken() (*value.Map, error) {
	db, err := dpkg.Read(a.env)
	if err != nil {
		return nil, err
	}
	return db.Broken(), nil
}

// changes returns what differs from old, and the versions now. What dpkg has begun
// and not ended, and had not before, is among the changes.
func (a *apt) changes(old, broken *value.Map) (ret, now *value.Map, err error) {
	if now, err = a.installed(); err != nil {
		return nil, nil, err
	}
	left, err := a.broken()
	if err != nil {
		return nil, nil, err
	}
	ret = pkg.CompareDicts(old, now)
	for name, v := range left.All() {
		version, _, _ := strings.Cut(value.Str(v), " ")
		if had, _, _ := strings.Cut(broken.Str(name), " "); had != version {
			ret.Set(name, value.MapOf("old", old.Str(value.Str(name)), "new", v))
		}
	}
	return ret, now, nil
}

// release takes the packages that are to change from hold; what it returns puts
// them back, whatever happens in between.
func (i *installation) release(ctx context.Context) (free func(), err error) {
	all, err := held(i.env)
	if err != nil {
		return nil, err
	}
	var on []string
	for _, n := range all {
		if slices.Contains(i.named, n) {
			on = append(on, n)
		}
	}
	if len(on) == 0 || i.a.Downloadonly {
		return func() {}, nil
	}
	if !i.a.UpdateHolds {
		i.env.Log().Warn("held packages are changed, and held again", "packages", strings.Join(on, ", "))
	}
	set := func(ctx context.Context, want string) error {
		asked := make([]selected, len(on))
		for n := range on {
			asked[n] = selected{on[n], want}
		}
		_, err := i.choose(ctx, asked)
		return err
	}
	if err := set(ctx, "install"); err != nil {
		return nil, err
	}
	return func() {
		if err := set(context.WithoutCancel(ctx), "hold"); err != nil {
			i.env.Warn(fun.Warning{Text: fmt.Sprintf("packages are no longer held: %s: %v", strings.Join(on, ", "), err)})
		}
	}, nil
}

// hint says what may have been meant where apt did not find a package or a
// version.
func (i *installation) hint(ctx context.Context) string {
	var hints []string
	for l := range strings.SplitSeq(strings.Join(i.errors, "\n"), "\n") {
		if name, ok := strings.CutPrefix(l, "E: Unable to locate package "); ok {
			out, err := dpkg.Look(ctx, i.env.Host, nil, "apt-cache", "pkgnames")
			if err != nil || out.Status != 0 {
				continue
			}
			if near, ok := source.Nearest(name, strings.Split(out.Stdout, "\n")); ok {
				hints = append(hints, fmt.Sprintf("did you mean the package %q?", near))
			}
			continue
		}
		rest, ok := strings.CutPrefix(l, "E: Version '")
		if !ok {
			continue
		}
		version, rest, ok1 := strings.Cut(rest, "' for '")
		name, _, ok2 := strings.Cut(rest, "' was not found")
		if !ok1 || !ok2 || !plainName(name) {
			continue
		}
		if near := i.nearest(ctx, name, version); near != "" {
			hints = append(hints, near)
		}
	}
	for _, text := range i.dpkgErrors {
		if text != "" {
			hints = append(hints, text)
		}
	}
	return strings.Join(hints, "; ")
}

// nearest lists the versions of a package that exist.
func (i *installation) nearest(ctx context.Context, name, version string) string {
	all, err := i.available(ctx, []string{name})
	if err != nil {
		return ""
	}
	return pkg.Nearest(name, version, all.List(name), pkgversion.Deb)
}
