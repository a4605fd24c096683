package zypperpkg

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"

	"brine/internal/fun"
	"brine/internal/value"
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

// install installs packages. Salt: salt/modules/zypperpkg.py install.
func install(ctx context.Context, c *fun.Call) (fun.Result, error) {
	z := newZypper(c)
	if c.Bool("refresh") {
		if _, err := z.refresh(ctx, refreshOf(c)); err != nil {
			return fun.Result{}, err
		}
	}
	targets, kinds, err := z.targets(ctx, c)
	if err != nil || len(targets) == 0 {
		return fun.Result{Value: value.NewMap(0)}, err
	}
	downloadOnly := c.Bool("downloadonly")
	attr := pkg.Words(c.Value("diff_attr"))
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
	failed := z.installAll(ctx, c, targets)
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
func (z *zypper) installAll(ctx context.Context, c *fun.Call, targets []string) error {
	args := installArguments(c)
	h := how{vendor: c.Bool("allowvendorchange") || !c.Bool("novendorchange"), faults: c.Bool("ignore_repo_failure")}
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
func installArguments(c *fun.Call) []string {
	var args []string
	if c.Bool("skip_verify") {
		args = append(args, "--no-gpg-checks")
	}
	if !c.Bool("refresh") {
		args = append(args, "--no-refresh")
	}
	args = append(args, "install", "--auto-agree-with-licenses")
	if c.Bool("resolve_capabilities") {
		args = append(args, "--capability")
	} else {
		args = append(args, "--name")
	}
	if c.Bool("downloadonly") {
		args = append(args, "--download-only")
	}
	if from := c.Str("fromrepo"); from != "" {
		args = append(args, "--force", "--force-resolution", "--from", from)
	}
	if c.Bool("no_recommends") {
		args = append(args, "--no-recommends")
	}
	return args
}

// targets returns the words for zypper, and the kinds of what is installed beside
// packages.
func (z *zypper) targets(ctx context.Context, c *fun.Call) (targets, kinds []string, err error) {
	req := pkg.Request{Name: c.Str("name"), Pkgs: c.List("pkgs"), Sources: c.List("sources"), SaltEnv: c.Str("saltenv")}
	req.Normalize = func(n string) string { return rpm.NormalizeName(c.Env, n) }
	switch {
	case len(req.Pkgs) > 0 && len(req.Sources) > 0:
		return nil, nil, fun.Errorf("Only one of \"pkgs\" and \"sources\" can be used.")
	case !c.IsNone("advisory_ids"):
		targets, err = z.advisories(ctx, c)
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
	if version := c.Str("version"); version != "" && len(req.Pkgs) == 0 && len(list) == 1 {
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
		if kind, _, ok := strings.Cut(t.Name, ":"); ok && c.Bool("inclusion_detection") && !slices.Contains(kinds, kind) {
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

func (z *zypper) advisories(ctx context.Context, c *fun.Call) ([]string, error) {
	ids := c.Strings("advisory_ids")
	if len(ids) == 0 {
		ids = []string{c.Str("name")}
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

func upgrade(ctx context.Context, c *fun.Call) (fun.Result, error) {
	z := newZypper(c)
	var args []string
	if c.Bool("skip_verify") {
		args = append(args, "--no-gpg-checks")
	}
	if c.Bool("refresh") {
		if _, err := z.refresh(ctx, refreshOf(c)); err != nil {
			return fun.Result{}, err
		}
	}
	dist, dryrun := c.Bool("dist_upgrade"), c.Bool("dryrun")
	command, from := "update", "--repo"
	if dist {
		command, from = "dist-upgrade", "--from"
	}
	args = append(args, command, "--auto-agree-with-licenses")
	if dryrun {
		args = append(args, "--dry-run")
	}
	for _, r := range c.Strings("fromrepo") {
		args = append(args, from, r)
	}
	if c.Bool("no_recommends") {
		args = append(args, "--no-recommends")
	}
	h := how{faults: true, vendor: c.Bool("allowvendorchange") || !c.Bool("novendorchange")}
	if dryrun { // this also writes a case for the solver's makers
		if _, err := z.run(ctx, h, append(slices.Clone(args), "--debug-solver")...); err != nil {
			return fun.Result{}, err
		}
	}
	if !dist && (c.Str("name") != "" || len(c.List("pkgs")) > 0) {
		req := pkg.Request{Name: c.Str("name"), Pkgs: c.List("pkgs"), Normalize: func(n string) string { return rpm.NormalizeName(c.Env, n) }}
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
	attr := pkg.Words(c.Value("diff_attr"))
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

func remove(ctx context.Context, c *fun.Call) (fun.Result, error) {
	z := newZypper(c)
	req := pkg.Request{Name: c.Str("name"), Pkgs: c.List("pkgs"), Normalize: func(n string) string { return rpm.NormalizeName(c.Env, n) }}
	list, err := req.ToRemove(c.Env)
	if err != nil {
		return fun.Result{}, err
	}
	var kinds []string
	for _, t := range list {
		if kind, _, ok := strings.Cut(t.Name, ":"); ok && c.Bool("inclusion_detection") && !slices.Contains(kinds, kind) {
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
