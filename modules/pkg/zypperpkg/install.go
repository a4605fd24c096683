package zypperpkg

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/pkg"
	"brine/modules/pkg/rpm"
)

// chunk is how many packages one command line has at most.
const chunk = 500

// lowerVersion is how zypper says that a package would be downgraded, which it does
// with --force only.
var lowerVersion = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^The selected package '([^']+)'.+has lower version`)
})

type installArgs struct {
	Name              string        `arg:"name" doc:"name of the package, or several with commas between them"`
	Refresh           bool          `arg:"refresh" default:"False" doc:"refresh the repositories first"`
	Fromrepo          string        `arg:"fromrepo" doc:"repository to take packages from"`
	Pkgs              []value.Value `arg:"pkgs" doc:"several packages: names, or mappings of a name to a version; name is ignored"`
	Sources           []value.Value `arg:"sources" doc:"package files: mappings of a name to a path or URL; name is ignored"`
	Downloadonly      bool          `arg:"downloadonly" default:"False" doc:"only download the packages"`
	SkipVerify        bool          `arg:"skip_verify" default:"False" doc:"do not check signatures"`
	Version           string        `arg:"version" doc:"version to install: a version, a pattern such as 1.2*, or comparisons such as >=1.2"`
	IgnoreRepoFailure bool          `arg:"ignore_repo_failure" default:"False" doc:"go on where a repository fails"`
	NoRecommends      bool          `arg:"no_recommends" default:"False" doc:"do not install recommended packages"`
	rootArg
	InclusionDetection  bool              `arg:"inclusion_detection" default:"False" doc:"take what is before a colon for a kind: patch, pattern or product"`
	Novendorchange      bool              `arg:"novendorchange" default:"True" doc:"do not let packages change their vendor"`
	Allowvendorchange   bool              `arg:"allowvendorchange" default:"False" doc:"let packages change their vendor, whatever novendorchange is"`
	ResolveCapabilities bool              `arg:"resolve_capabilities,kw" default:"False" doc:"names may be those of capabilities"`
	AdvisoryIds         fun.Opt[[]string] `arg:"advisory_ids,kw" doc:"install these patches; an empty list means name"`
	Saltenv             string            `arg:"saltenv,kw" default:"base" doc:"environment of salt:// URLs"`
	DiffAttr            value.Value       `arg:"diff_attr,kw,comma[str]" doc:"attributes to return of changed packages in place of versions: epoch, version, release, arch, install_date, install_date_time_t, or all"`
	refreshKw
	_ fun.Kwargs
}

// install installs packages. Salt: salt/modules/zypperpkg.py install.
func install(ctx context.Context, c *fun.Call, a *installArgs) (fun.Result, error) {
	z := newZypper(c, a.Root)
	if a.Refresh {
		if _, err := z.refresh(ctx, refreshOf(c)); err != nil {
			return fun.Result{}, err
		}
	}
	targets, kinds, err := z.targets(ctx, c, a)
	if err != nil || len(targets) == 0 {
		return fun.Result{Value: value.NewMap(0)}, err
	}
	downloadOnly := a.Downloadonly
	attr := pkg.Words(a.DiffAttr)
	now := func() (*value.Map, error) {
		if downloadOnly {
			return z.downloaded(ctx)
		}
		return z.installed(ctx, kinds, attr)
	}
	old, err := now()
	if err != nil {
		return fun.Result{}, err
	}
	failed := z.installAll(ctx, a, targets)
	found, err := now()
	if err != nil {
		return fun.Result{}, err
	}
	ret := pkg.CompareDicts(old, found)
	if failed != nil {
		if ctx.Err() != nil {
			return fun.Result{}, ctx.Err()
		}
		what := "installing"
		if downloadOnly {
			what = "downloading"
		}
		return fun.Result{}, problem(what, failed, ret, z.hint(ctx, targets, failed))
	}
	return fun.Value(ret)
}

// problem is the error of a zypper that failed, with what it changed before.
func problem(what string, err error, changes *value.Map, hint string) error {
	if changes.Len() == 0 {
		if hint == "" {
			return err
		}
		return &fun.CommandError{Msg: err.Error(), Hint: hint}
	}
	return &pkg.Error{Msg: "Problem encountered " + what + " package(s)", Errors: []string{err.Error()}, Changes: changes, Hint: hint}
}

// hint lists the versions of a package that has others than the one that zypper did
// not find.
func (z *zypper) hint(ctx context.Context, targets []string, failed error) string {
	for _, t := range targets {
		name, version := pkg.CutVersion(t)
		if version == "" || !strings.Contains(failed.Error(), "'"+t+"'") {
			continue
		}
		if found, err := z.repoPackages(ctx, name); err == nil {
			return pkg.Nearest(name, version, repoVersions(found, []string{name}, nil, false).List(name), compare)
		}
	}
	return ""
}

// installAll runs zypper for packages, and again for those that are downgraded.
func (z *zypper) installAll(ctx context.Context, a *installArgs, targets []string) error {
	args := installArguments(a)
	h := how{vendor: a.Allowvendorchange || !a.Novendorchange, faults: a.IgnoreRepoFailure}
	var down []string
	for part := range slices.Chunk(targets, chunk) {
		out, err := z.run(ctx, h, slices.Concat(args, part)...)
		if err != nil {
			return err
		}
		for _, m := range lowerVersion().FindAllStringSubmatch(out.Stdout, -1) {
			down = append(down, m[1])
		}
	}
	for part := range slices.Chunk(down, chunk) {
		if _, err := z.run(ctx, h, slices.Concat(args, []string{"--force"}, part)...); err != nil {
			return err
		}
	}
	return nil
}

// installArguments are those of zypper before the names of packages.
func installArguments(a *installArgs) []string {
	var args []string
	if a.SkipVerify {
		args = append(args, "--no-gpg-checks")
	}
	if !a.Refresh {
		args = append(args, "--no-refresh")
	}
	args = append(args, "install", "--auto-agree-with-licenses")
	if a.ResolveCapabilities {
		args = append(args, "--capability")
	} else {
		args = append(args, "--name")
	}
	if a.Downloadonly {
		args = append(args, "--download-only")
	}
	if from := a.Fromrepo; from != "" {
		args = append(args, "--force", "--force-resolution", "--from", from)
	}
	if a.NoRecommends {
		args = append(args, "--no-recommends")
	}
	return args
}

// targets returns the words for zypper, and the kinds of what is installed beside
// packages.
func (z *zypper) targets(ctx context.Context, c *fun.Call, a *installArgs) (targets, kinds []string, err error) {
	req := pkg.Request{Name: a.Name, Pkgs: a.Pkgs, Sources: a.Sources, SaltEnv: a.Saltenv}
	req.Normalize = func(n string) string { return rpm.NormalizeName(c.Env, n) }
	switch {
	case len(req.Pkgs) > 0 && len(req.Sources) > 0:
		return nil, nil, fun.Errorf("Only one of \"pkgs\" and \"sources\" can be used.")
	case a.AdvisoryIds.Given:
		targets, err = z.advisories(ctx, a)
		return targets, nil, err
	case len(req.Sources) > 0:
		files, err := req.Files(ctx, c.Env)
		for _, f := range files {
			targets = append(targets, f.Path)
		}
		return targets, nil, pkg.AsCommandError(err)
	}
	list, err := req.Named(c.Env)
	if err != nil {
		return nil, nil, pkg.AsCommandError(err)
	}
	if version := a.Version; version != "" && len(req.Pkgs) == 0 && len(list) == 1 {
		list[0].Version = version
		if strings.ContainsAny(version, "*?[") { // which zypper does not have
			if list[0].Version, err = z.wildcard(ctx, list[0].Name, version); err != nil {
				return nil, nil, err
			}
		}
	}
	for _, t := range list {
		if err := pkg.CheckName(t.Name); err != nil {
			return nil, nil, err
		}
		if kind, _, ok := strings.Cut(t.Name, ":"); ok && a.InclusionDetection && !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
		conditions := pkg.Conditions(t.Version)
		if len(conditions) == 0 {
			targets = append(targets, t.Name)
		}
		for _, cond := range conditions {
			if cond.Oper == "==" {
				cond.Oper = "="
			}
			if !slices.Contains(operators, cond.Oper) {
				return nil, nil, fun.Errorf("Zypper do not supports operator \"%s\".", cond.Oper)
			}
			targets = append(targets, t.Name+cond.Oper+cond.Version)
		}
	}
	return targets, kinds, nil
}

// operators are those that zypper knows.
var operators = []string{"<", "<=", "=", ">=", ">"}

func (z *zypper) advisories(ctx context.Context, a *installArgs) ([]string, error) {
	ids := a.AdvisoryIds.V
	if len(ids) == 0 {
		ids = []string{a.Name}
	}
	known, err := z.patches(ctx, false)
	if err != nil {
		return nil, err
	}
	targets := make([]string, len(ids))
	for i, id := range ids {
		if !known.Has(id) {
			return nil, fun.Errorf("Advisory id \"%s\" not found", id)
		}
		targets[i] = "patch:" + id
	}
	return targets, nil
}

// wildcard returns the newest version that a pattern means, with the operator before
// it.
// Salt: salt/modules/zypperpkg.py Wildcard.
func (z *zypper) wildcard(ctx context.Context, name, version string) (string, error) {
	exact := strings.TrimLeft(version, "<>=+")
	oper := strings.TrimSuffix(version, exact)
	if err := pkg.CheckName(name); err != nil {
		return "", err
	}
	found, err := z.solvables(ctx, "se", "-v", name)
	if err != nil {
		return "", err
	}
	newest := ""
	known := false
	for _, s := range found {
		edition := s.attr("edition")
		if s.attr("name") != name || edition == "" {
			continue
		}
		known = true
		if value.Fnmatch(exact, edition) && (newest == "" || compare(edition, newest) > 0) {
			newest = edition
		}
	}
	switch {
	case !known:
		return "", fun.Errorf("No packages found matching '%s'", name)
	case newest == "":
		return "", fun.Errorf("No version of %s matches '%s'", name, version)
	}
	return oper + newest, nil
}

type upgradeArgs struct {
	Name              string        `arg:"name" doc:"upgrade only this package, or several with commas between them"`
	Pkgs              []value.Value `arg:"pkgs" doc:"upgrade only these packages; name is ignored"`
	Refresh           bool          `arg:"refresh" default:"True" doc:"refresh the repositories first"`
	Dryrun            bool          `arg:"dryrun" default:"False" doc:"only return what zypper says that it would do"`
	DistUpgrade       bool          `arg:"dist_upgrade" default:"False" doc:"upgrade the distribution: also install and remove packages where that is needed"`
	Fromrepo          []string      `arg:"fromrepo,comma[str]" doc:"use only these repositories"`
	Novendorchange    bool          `arg:"novendorchange" default:"True" doc:"do not let packages change their vendor"`
	Allowvendorchange bool          `arg:"allowvendorchange" default:"False" doc:"let packages change their vendor, whatever novendorchange is"`
	SkipVerify        bool          `arg:"skip_verify" default:"False" doc:"do not check signatures"`
	NoRecommends      bool          `arg:"no_recommends" default:"False" doc:"do not install recommended packages"`
	rootArg
	DiffAttr value.Value `arg:"diff_attr,comma[str]" doc:"attributes to return of changed packages in place of versions"`
	refreshKw
	_ fun.Kwargs
}

func upgrade(ctx context.Context, c *fun.Call, a *upgradeArgs) (fun.Result, error) {
	z := newZypper(c, a.Root)
	var args []string
	if a.SkipVerify {
		args = append(args, "--no-gpg-checks")
	}
	if a.Refresh {
		if _, err := z.refresh(ctx, refreshOf(c)); err != nil {
			return fun.Result{}, err
		}
	}
	dist, dryrun := a.DistUpgrade, a.Dryrun
	command, from := "update", "--repo"
	if dist {
		command, from = "dist-upgrade", "--from"
	}
	args = append(args, command, "--auto-agree-with-licenses")
	if dryrun {
		args = append(args, "--dry-run")
	}
	for _, r := range a.Fromrepo {
		args = append(args, from, r)
	}
	if a.NoRecommends {
		args = append(args, "--no-recommends")
	}
	h := how{faults: true, vendor: a.Allowvendorchange || !a.Novendorchange}
	if dryrun { // this also writes a case for the solver's makers
		if _, err := z.run(ctx, h, append(slices.Clone(args), "--debug-solver")...); err != nil {
			return fun.Result{}, err
		}
	}
	if !dist && (a.Name != "" || len(a.Pkgs) > 0) {
		req := pkg.Request{Name: a.Name, Pkgs: a.Pkgs, Normalize: func(n string) string { return rpm.NormalizeName(c.Env, n) }}
		list, err := req.Named(c.Env)
		if err != nil {
			return fun.Result{}, pkg.AsCommandError(err)
		}
		for _, t := range list {
			if err := pkg.CheckName(t.Name); err != nil {
				return fun.Result{}, err
			}
			args = append(args, t.Name)
		}
	}
	attr := pkg.Words(a.DiffAttr)
	old, err := z.installed(ctx, nil, attr)
	if err != nil {
		return fun.Result{}, err
	}
	out, err := z.run(ctx, h, args...)
	if err != nil {
		return fun.Result{}, err
	}
	now, err := z.installed(ctx, nil, attr)
	if err != nil {
		return fun.Result{}, err
	}
	ret := pkg.CompareDicts(old, now)
	switch {
	case !slices.Contains(successes, out.Status):
		return fun.Result{}, &pkg.Error{Msg: "Problem encountered upgrading packages", Changes: ret, Result: out.Map()}
	case dryrun:
		return fun.Value(strings.TrimSpace(out.Stdout + "\n" + out.Stderr))
	}
	return fun.Value(ret)
}

type removeGiven struct {
	removeArgs
	_ fun.Kwargs
}

func remove(ctx context.Context, c *fun.Call, a *removeGiven) (fun.Result, error) {
	z := newZypper(c, a.Root)
	req := pkg.Request{Name: a.Name, Pkgs: a.Pkgs, Normalize: func(n string) string { return rpm.NormalizeName(c.Env, n) }}
	list, err := req.ToRemove(c.Env)
	if err != nil {
		return fun.Result{}, err
	}
	var kinds []string
	for _, t := range list {
		if kind, _, ok := strings.Cut(t.Name, ":"); ok && a.InclusionDetection && !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	old, err := z.installed(ctx, kinds, nil)
	if err != nil {
		return fun.Result{}, err
	}
	fixes, err := z.temporaryFixes(ctx)
	if err != nil {
		return fun.Result{}, err
	}
	var targets, fixTargets []string
	for _, t := range list {
		versions := strings.Split(old.Str(t.Name), ",")
		switch {
		case !old.Has(t.Name):
		case slices.Contains(fixes, t.Name):
			fixTargets = append(fixTargets, t.Name)
		case t.Version == "":
			targets = append(targets, t.Name)
		case slices.Contains(versions, t.Version):
			targets = append(targets, t.Name+"-"+t.Version)
		}
	}
	if len(targets)+len(fixTargets) == 0 {
		return fun.Value(value.NewMap(0))
	}
	if err := pkg.CheckNames(slices.Concat(targets, fixTargets)); err != nil {
		return fun.Result{}, err
	}
	failed := z.removeAll(ctx, []string{"remove"}, targets)
	if failed == nil {
		failed = z.removeAll(ctx, []string{"removeptf", "--allow-downgrade"}, fixTargets)
	}
	now, err := z.installed(ctx, kinds, nil)
	if err != nil {
		return fun.Result{}, err
	}
	ret := pkg.CompareDicts(old, now)
	if failed != nil {
		return fun.Result{}, problem("removing", failed, ret, "")
	}
	return fun.Value(ret)
}

func (z *zypper) removeAll(ctx context.Context, command, targets []string) error {
	for part := range slices.Chunk(targets, chunk) {
		if _, err := z.run(ctx, how{}, slices.Concat(command, part)...); err != nil {
			return err
		}
	}
	return nil
}

// temporaryFixes returns the installed program temporary fixes of SUSE, which are
// removed in another way: what provides ptf().
func (z *zypper) temporaryFixes(ctx context.Context) ([]string, error) {
	out, err := rpm.Query(ctx, z.env.Host, z.root, "-q", "--queryformat", `%{NAME}\n`, "--whatprovides", "ptf()")
	if err != nil || out.Status != 0 {
		return nil, err
	}
	return strings.Fields(out.Stdout), nil
}
