package pkg

import (
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/cp"
	"brine/modules/pkg"
)

// A plan is what installed is to do.
type plan struct {
	desired   []pkg.Target
	targets   []pkg.Target // to be installed or updated
	reinstall []pkg.Target
	unpurge   []string               // to be kept, though they are selected to be purged
	altered   map[string]value.Value // changed files by package, as pkg.verify tells them
	warnings  []string
	refreshed bool
	exact     bool // versions were compared
}

// verification is the argument pkg_verify.
type verification struct {
	on                   bool
	ignoreTypes, options value.Value
}

func (j *job) verification() verification {
	v := verification{ignoreTypes: value.NewList(), options: value.NewList()}
	l, ok := j.a.PkgVerify.(*value.List)
	if !ok {
		v.on = j.a.PkgVerify == true
		return v
	}
	v.on = true
	for _, x := range l.Items {
		m, _ := x.(*value.Map)
		if t := m.At("ignore_types"); t != nil {
			v.ignoreTypes = t
		}
		if o := m.At("verify_options"); o != nil {
			v.options = o
		}
	}
	return v
}

// verify returns the changed files of a package, None or an empty mapping where
// there are none.
func (j *job) verify(v verification, name string) (value.Value, error) {
	return j.call("pkg.verify", j.with("ignore_types", v.ignoreTypes, "verify_options", v.options), name)
}

// plan works out what installed is to do. ret is not nil where there is nothing to
// do, or that cannot be done. Salt: salt/states/pkg.py _find_install_targets.
func (j *job) plan(pkgs, sources []value.Value, refresh bool) (p *plan, ret *fun.Ret) {
	stop := func(r fun.Ret) (*plan, *fun.Ret) { return p, &r }
	p = &plan{altered: map[string]value.Value{}}
	if len(fun.ItemsOf(j.packages)) > 0 && len(sources) > 0 {
		return stop(fun.Fail(`Only one of "pkgs" and "sources" is permitted.`))
	}
	have, err := j.list()
	if err != nil {
		return stop(fun.FailedBy(err, ""))
	}
	provides := value.NewMap(0)
	if value.Truth(j.kw.At("resolve_capabilities")) && j.has("pkg.list_provides") {
		if provides, err = j.mapping("pkg.list_provides", j.with()); err != nil {
			return stop(fun.FailedBy(err, ""))
		}
	}
	if p.desired, err = j.desired(pkgs, sources); err != nil {
		return stop(fun.Raise(err))
	}
	if len(p.desired) == 0 {
		what := "pkgs"
		if len(sources) > 0 {
			what = "sources"
		}
		return stop(fun.Fail("Invalidly formatted '%s' parameter. See minion log.", what))
	}
	if p.unpurge, err = j.unpurge(p.desired); err != nil {
		return stop(fun.Raise(err))
	}
	if len(sources) == 0 {
		if r := j.suggestions(p, have); r != nil {
			return stop(*r)
		}
		if err := j.latestWanted(p, have, refresh); err != nil {
			return stop(j.fail("An error was encountered while checking the newest available version of package(s)", err))
		}
	}
	if problems := j.compare(p, have, provides, len(sources) > 0); len(problems) > 0 {
		return stop(fun.Ret{Comment: strings.Join(problems, " "), Extra: p.extra()})
	}
	if len(p.targets) == 0 && len(p.unpurge) == 0 && len(p.reinstall) == 0 {
		comment := "All specified packages are already installed"
		if p.exact && len(sources) == 0 {
			comment += " and are at the desired version"
		}
		return stop(fun.Ret{Result: fun.OK, Comment: comment, Extra: p.extra()})
	}
	return p, nil
}

// suggestions looks whether the packages that are missing can be had; the return is
// nil where they can, and where nobody wants to know.
func (j *job) suggestions(p *plan, have *value.Map) *fun.Ret {
	if j.a.SkipSuggestions {
		return nil
	}
	var missing []pkg.Target
	for _, t := range p.desired {
		if v := versionsOf(have, t.Name); v == nil || !t.Any && !j.fulfils(v, t.Version, false) {
			missing = append(missing, t)
		}
	}
	return j.preflight(missing)
}

// extra has the warnings of a plan for the return.
func (p *plan) extra() *value.Map {
	if len(p.warnings) == 0 {
		return nil
	}
	return value.MapOf("warnings", value.Strings(p.warnings...))
}

// desired returns the packages that are asked for; the version of a source is its
// path.
func (j *job) desired(pkgs, sources []value.Value) ([]pkg.Target, error) {
	if len(sources) == 0 {
		return pkg.Repack(pkgs, j.normalizer())
	}
	var list []pkg.Target
	for _, s := range pkg.PackSources(sources, j.normalizer()) {
		list = append(list, pkg.Target{Name: s.Name, Version: s.Path})
	}
	return list, nil
}

// unpurge returns the packages that are selected to be purged.
func (j *job) unpurge(desired []pkg.Target) ([]string, error) {
	if !j.has("lowpkg.unpurge") {
		return nil, nil
	}
	marked, err := j.mapping("pkg.list_pkgs", j.with("purge_desired", true))
	if err != nil {
		return nil, err
	}
	var list []string
	for _, t := range desired {
		if marked.Has(t.Name) {
			list = append(list, t.Name)
		}
	}
	return list, nil
}

// preflight asks a provider that can tell whether it knows the packages, and fails
// where it does not.
func (j *job) preflight(list []pkg.Target) *fun.Ret {
	if len(list) == 0 || !j.has("pkg.check_db") {
		return nil
	}
	names := make([]value.Value, len(list))
	for i, t := range list {
		names[i] = t.Name
	}
	known, err := j.mapping("pkg.check_db", j.with("fromrepo", j.fromRepo), names...)
	if err != nil {
		return nil
	}
	var comments, lost []string
	var near []string
	for name, v := range known.All() {
		m, _ := v.(*value.Map)
		if m.At("found") != false {
			continue
		}
		if l := m.List("suggestions"); l.Len() > 0 {
			near = append(near, "Package '"+value.Str(name)+"' not found (possible matches: "+strings.Join(stringsOf(l), ", ")+")")
		} else {
			lost = append(lost, value.Str(name))
		}
	}
	if lost != nil {
		comments = append(comments, "The following package(s) were not found, and no possible matches were found in the package db: "+strings.Join(sorted(lost), ", "))
	}
	comments = append(comments, near...)
	if len(comments) == 0 {
		return nil
	}
	ret := fun.Fail("%s", strings.Join(comments, ". "))
	if len(comments) > 1 {
		ret.Comment = value.Str(ret.Comment) + "."
	}
	return &ret
}

func stringsOf(l *value.List) []string {
	var ss []string
	if l != nil {
		for _, x := range l.Items {
			ss = append(ss, value.Str(x))
		}
	}
	return ss
}

// latestWanted gives packages whose version is "latest" the newest version that
// there is.
func (j *job) latestWanted(p *plan, have *value.Map, refresh bool) error {
	var names []value.Value
	for _, t := range p.desired {
		if t.Version == "latest" {
			names = append(names, t.Name)
		}
	}
	if names == nil {
		return nil
	}
	v, err := j.call("pkg.latest_version", j.with("refresh", refresh, "fromrepo", j.fromRepo), names...)
	if err != nil {
		return err
	}
	p.refreshed = refresh
	found, ok := v.(*value.Map)
	if !ok {
		found = value.MapOf(names[0], v)
	}
	for i := range p.desired {
		t := &p.desired[i]
		if t.Version != "latest" {
			continue
		}
		t.Version = found.Str(t.Name)
		if all := versionsOf(have, t.Name); t.Version == "" && len(all) > 0 {
			t.Version = all[len(all)-1]
		}
		t.Any = t.Version == ""
	}
	return nil
}

// compare sorts the desired packages into what is to be done with them. It returns
// what keeps that from being found out.
func (j *job) compare(p *plan, have, provides *value.Map, sources bool) (problems []string) {
	c := &comparison{job: j, plan: p, verify: j.verification()}
	c.extra, c.clean = j.has("pkg.check_extra_requirements"), j.has("pkg.version_clean")
	for _, t := range p.desired {
		versions := provided(have, provides, t.Name)
		switch {
		case len(versions) == 0:
			p.targets = append(p.targets, t)
		case j.a.Reinstall:
			p.reinstall = append(p.reinstall, t)
		case sources:
			problems = append(problems, c.source(t, versions)...)
		default:
			problems = append(problems, c.version(t, versions)...)
		}
	}
	return problems
}

// A comparison sorts installed packages.
type comparison struct {
	*job
	plan         *plan
	verify       verification
	extra, clean bool // what the provider can do
}

// source sorts a package that comes from a file.
func (c *comparison) source(t pkg.Target, versions []string) (problems []string) {
	version, problem := c.sourceVersion(t.Version)
	if problem != "" {
		problems = append(problems, problem)
	}
	if version == "" {
		return problems
	}
	c.plan.exact = true
	if !c.fulfils(versions, version, false) {
		c.plan.targets = append(c.plan.targets, t)
	}
	return problems
}

// version sorts a package that comes from a repository.
func (c *comparison) version(t pkg.Target, versions []string) (problems []string) {
	switch {
	case c.extra && !t.Any && !c.meetsExtra(t):
		c.plan.targets = append(c.plan.targets, t)
		return nil
	case t.Any, c.clean && c.cleaned(t.Version) == "":
		return c.compareFiles(c.plan, c.verify, t)
	}
	c.plan.exact = true
	switch {
	case c.fulfils(versions, t.Version, c.a.AllowUpdates):
	case c.verify.on && exactly(t.Version):
		return c.compareFiles(c.plan, c.verify, t)
	default:
		c.plan.targets = append(c.plan.targets, t)
	}
	return nil
}

// provided returns the installed versions of a package, or of the first one that
// provides what is called so.
func provided(have, provides *value.Map, name string) []string {
	versions := versionsOf(have, name)
	if by := stringsOf(provides.List(name)); len(versions) == 0 && len(by) > 0 {
		versions = versionsOf(have, by[0])
	}
	return versions
}

// exactly reports whether a specification asks for one version with ==.
func exactly(spec string) bool {
	for _, c := range pkg.Conditions(spec) {
		if c.Oper == "==" {
			return true
		}
	}
	return false
}

func (j *job) meetsExtra(t pkg.Target) bool {
	v, err := j.call("pkg.check_extra_requirements", nil, t.Name, t.Version)
	return err != nil || value.Truth(v)
}

func (j *job) cleaned(version string) string {
	v, err := j.call("pkg.version_clean", nil, version)
	if err != nil {
		return version
	}
	if v == nil {
		return ""
	}
	return value.Str(v)
}

// compareFiles has a package installed again whose files were changed, where
// pkg_verify is on.
func (j *job) compareFiles(p *plan, v verification, t pkg.Target) (problems []string) {
	if !v.on {
		return nil
	}
	changed, err := j.verify(v, t.Name)
	if err != nil {
		return []string{err.Error()}
	}
	if value.Truth(changed) {
		p.reinstall = append(p.reinstall, t)
		p.altered[t.Name] = changed
	}
	return nil
}

// sourceVersion returns the version of a package file, "" where the provider
// cannot read it.
func (j *job) sourceVersion(file string) (version, problem string) {
	if !j.has("lowpkg.bin_pkg_info") {
		return "", ""
	}
	local, err := pkg.Fetch(j.ctx, j.Env, file, j.kw.Str("saltenv"))
	if err != nil {
		return "", "Unable to cache " + cp.Redact(file) + ": " + err.Error()
	}
	if local != "" {
		if _, err := j.Env.Host.Stat(local); err != nil {
			local = ""
		}
	}
	if local == "" {
		return "", "Unable to cache " + cp.Redact(file) + ": file not found"
	}
	info, err := j.mapping("lowpkg.bin_pkg_info", nil, local)
	if err != nil {
		return "", err.Error()
	}
	return info.Str("version"), ""
}
