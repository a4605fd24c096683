package pkg

import (
	"context"
	"errors"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/pkg"
)

type installedArgs struct {
	nameArg
	Version string `arg:"version" doc:"version to install: a version, a pattern such as 1.2*, comparisons such as >=1.2,<2, or latest"`
	onceArg
	repoArg
	verifyArg
	SkipSuggestions bool          `arg:"skip_suggestions" default:"False" doc:"do not look for similar names where a package is not known"`
	Pkgs            value.Value   `arg:"pkgs,list" doc:"several packages: names, or mappings of a name to a version"`
	Sources         []value.Value `arg:"sources" doc:"package files: mappings of a name to a path or URL"`
	AllowUpdates    bool          `arg:"allow_updates" default:"False" doc:"accept a later version than the one given"`
	PkgVerify       value.Value   `arg:"pkg_verify,bool|list" default:"False" doc:"install packages again whose files were changed; a list may have ignore_types and verify_options (rpm)"`
	normArg
	epochArg
	Reinstall   bool          `arg:"reinstall" default:"False" doc:"install packages again that have the wanted version already"`
	UpdateHolds bool          `arg:"update_holds" default:"False" doc:"change packages that are held, and hold them again"`
	Hold        fun.Opt[bool] `arg:"hold" doc:"hold the packages (True) or release them (False)"`
	providerArgs
	_ fun.Kwargs
}

// installed sees to it that packages are installed, in the versions wanted.
// Salt: salt/states/pkg.py installed.
func installed(ctx context.Context, c *fun.Call, a *installedArgs) fun.Ret {
	if _, ok := a.Pkgs.(*value.List); ok && len(fun.ItemsOf(a.Pkgs)) == 0 {
		return fun.Ret{Result: fun.OK, Comment: "No packages to install provided"}
	}
	j := newJob(ctx, c, &a.providerArgs, asked{packages: a.Pkgs, version: a.Version, fromRepo: a.FromRepo, ignoreEpoch: a.IgnoreEpoch, unchanged: !a.Normalize})
	j.a = a
	sources := a.Sources
	refresh := pkg.ShouldRefresh(c.Env, a.Refresh)
	var pkgs []value.Value
	if len(sources) == 0 || len(fun.ItemsOf(a.Pkgs)) > 0 {
		var err error
		if pkgs, refresh, err = j.resolve(j.pkgs(), refresh); err != nil {
			return j.fail("An error was encountered while resolving capabilities", err)
		}
	}
	if j.verification().on && !j.has("pkg.verify") {
		return fun.Fail("pkg.verify not implemented")
	}
	p, ret := j.plan(pkgs, sources, refresh)
	if ret != nil {
		return j.holdOnly(p, *ret)
	}
	if len(p.unpurge) > 0 && !j.has("lowpkg.unpurge") {
		return fun.Ret{Comment: "lowpkg.unpurge not implemented", Extra: p.extra()}
	}
	if c.Test {
		ret := j.predict(p, len(sources) > 0)
		if c.Env.Plan && len(p.targets)+len(p.reinstall) > 0 {
			ret = j.forecast(ret, "pkg.install", j.request(p, sources, false), slices.Concat(p.targets, p.reinstall), refresh && !p.refreshed)
		}
		return ret
	}
	return j.install(p, sources, refresh && !p.refreshed)
}

// predict says what installed would do.
func (j *job) predict(p *plan, sources bool) fun.Ret {
	changes := value.NewMap(len(p.targets))
	would := func(name string) { changes.Set(name, value.MapOf("new", "installed", "old", "")) }
	var comment []string
	if len(p.targets) > 0 {
		for _, t := range p.targets {
			would(t.Name)
		}
		comment = append(comment, "The following packages would be installed/updated: "+strings.Join(namesOf(p.targets), ", "))
	}
	if len(p.unpurge) > 0 {
		for _, name := range p.unpurge {
			would(name)
		}
		comment = append(comment, "The following packages would have their selection status changed from 'purge' to 'install': "+strings.Join(p.unpurge, ", "))
	}
	if len(p.reinstall) > 0 && j.a.Reinstall {
		names := p.shown(p.reinstall, sources)
		for _, name := range names {
			would(name)
		}
		comment = append(comment, "The following packages would be reinstalled: "+strings.Join(names, ", "))
	} else {
		for i, t := range p.reinstall {
			comment = append(comment,
				"Package '"+p.shown(p.reinstall, sources)[i]+"' would be reinstalled because the following files have been altered:", pkg.Nested(p.altered[t.Name]))
			changes.Set(t.Name, value.NewMap(0))
		}
	}
	return fun.Ret{Result: fun.WouldChange, Changes: changes, Comment: strings.Join(comment, "\n"), Extra: p.extra()}
}

// shown returns packages as comments name them: those of files without a version.
func (p *plan) shown(list []pkg.Target, sources bool) []string {
	if sources {
		return namesOf(list)
	}
	names := make([]string, len(list))
	for i, t := range list {
		names[i] = shown(t)
	}
	return names
}

// holds are the answers of pkg.hold or pkg.unhold.
type holds struct{ modified, same, failed []*value.Map }

// holding reports whether the state is to hold or unhold its packages.
func (j *job) holding() bool {
	return j.a.Hold.Given && j.has("pkg.hold")
}

// hold holds or unholds packages, by the argument hold: whichever version they have,
// so that pkg.unheld of a name finds the lock again.
func (j *job) hold(list []pkg.Target) (holds, error) {
	name := "pkg.unhold"
	if j.a.Hold.V {
		name = "pkg.hold"
	}
	names := value.NewList()
	for _, t := range list {
		names.Append(t.Name)
	}
	m, err := j.mapping(name, value.MapOf("pkgs", names, "name", j.Name, "test", j.Test))
	if err != nil {
		return holds{}, err
	}
	var h holds
	for _, v := range m.All() {
		switch one, ok := v.(*value.Map); {
		case !ok:
		case one.Map("changes").Len() > 0:
			h.modified = append(h.modified, one)
		case value.Truth(one.At("result")):
			h.same = append(h.same, one)
		default:
			h.failed = append(h.failed, one)
		}
	}
	return h, nil
}

// holdOnly holds or unholds packages of which nothing else is to be done.
func (j *job) holdOnly(p *plan, ret fun.Ret) fun.Ret {
	if !j.holding() || ret.Err != nil || ret.Result == fun.Failed {
		return ret
	}
	h, err := j.hold(p.desired)
	if err != nil {
		return fun.FailedBy(err, "")
	}
	changes := value.NewMap(0)
	comments := []string{value.Str(ret.Comment)}
	for _, m := range slices.Concat(h.modified, h.same, h.failed) {
		comments = append(comments, m.Str("comment"))
		switch m.At("result") {
		case nil:
			if ret.Result == fun.OK {
				ret.Result = fun.WouldChange
			}
		case false:
			ret.Result = fun.Failed
		}
	}
	for _, m := range h.modified {
		changes.Set(m.Str("name"), m.At("changes"))
	}
	ret.Changes, ret.Comment = changes, sentences(comments)
	return ret
}

// sentences puts each comment on a line of its own; the first has a full stop.
func sentences(comments []string) string {
	if len(comments) > 1 && !strings.HasSuffix(comments[0], ".") {
		comments[0] += "."
	}
	return strings.Join(comments, "\n")
}

// request are the arguments of pkg.install that carry out a plan.
func (j *job) request(p *plan, sources []value.Value, refresh bool) *value.Map {
	kw := j.with(
		"refresh", refresh, "fromrepo", j.fromRepo, "skip_verify", j.a.SkipVerify, "reinstall", len(p.reinstall) > 0,
		"normalize", j.a.Normalize, "update_holds", j.a.UpdateHolds, "ignore_epoch", j.ignoreEpoch, "split_arch", false,
		"allow_updates", j.a.AllowUpdates,
	)
	if len(sources) == 0 {
		kw.Set("pkgs", pkg.Pack(slices.Concat(p.targets, p.reinstall)))
		return kw
	}
	var rest []value.Value
	for _, s := range pkg.PackSources(sources, j.normalizer()) {
		if has(p.targets, s.Name) || has(p.reinstall, s.Name) {
			rest = append(rest, value.MapOf(s.Name, s.Path))
		}
	}
	kw.Set("sources", value.NewList(rest...))
	return kw
}

// install carries out a plan.
func (j *job) install(p *plan, sources []value.Value, refresh bool) fun.Ret {
	r := &report{job: j, p: p, changes: value.NewMap(0), sources: len(sources) > 0, done: value.NewMap(0)}
	if len(p.targets) > 0 || len(p.reinstall) > 0 {
		v, err := j.call("pkg.install", j.request(p, sources, refresh))
		if err != nil {
			ret := j.fail("An error was encountered while installing package(s)", err)
			ret.Extra = joined(p.extra(), ret.Extra)
			return ret
		}
		switch v := v.(type) {
		case *value.Map:
			r.done = v
			r.changes.Update(v)
		case string:
			r.comment = append(r.comment, v)
		}
	}
	if j.holding() {
		h, err := j.hold(p.desired)
		if err != nil {
			if _, ok := errors.AsType[*fun.CommandError](err); !ok {
				return fun.Raise(err)
			}
			return fun.Ret{Changes: r.changes, Comment: strings.Join(append(r.comment, err.Error()), "\n"), Extra: p.extra()}
		}
		r.holds = h
	}
	if len(p.unpurge) > 0 {
		names := make([]value.Value, len(p.unpurge))
		for i, n := range p.unpurge {
			names[i] = n
		}
		m, err := j.mapping("lowpkg.unpurge", nil, names...)
		if err != nil {
			return j.fail("An error was encountered while installing package(s)", err)
		}
		r.changes.Set("purge_desired", m)
	}
	return r.ret()
}

// A report is what install says of what was done.
type report struct {
	*job
	p       *plan
	sources bool
	done    *value.Map // what pkg.install returned
	changes *value.Map
	comment []string
	holds   holds
}

func (r *report) ret() fun.Ret {
	modified, same, failed, err := r.outcome()
	if err != nil {
		return fun.Raise(err)
	}
	result := fun.OK
	if len(modified) > 0 {
		summary := strings.Join(r.p.shown(modified, r.sources), ", ")
		if len(summary) < 20 {
			r.comment = append(r.comment, "The following packages were installed/updated: "+summary)
		} else {
			r.comment = append(r.comment, counted(len(modified))+" installed/updated.")
		}
	}
	r.tellHolds()
	if len(same) > 20 {
		r.comment = append(r.comment, counted(len(same))+" already installed")
	} else if len(same) > 0 {
		r.comment = append(r.comment, "The following packages were already installed: "+strings.Join(r.p.shown(same, r.sources), ", "))
	}
	for _, m := range r.holds.same {
		r.comment = append(r.comment, m.Str("comment"))
	}
	if len(failed) > 0 {
		r.comment = append([]string{"The following packages failed to install/update: " + strings.Join(r.p.shown(failed, r.sources), ", ")}, r.comment...)
		result = fun.Failed
	}
	for _, m := range r.holds.failed {
		r.comment = append(r.comment, m.Str("comment"))
		result = fun.Failed
	}
	ok, err := r.tellReinstalled()
	if err != nil {
		return fun.Raise(err)
	}
	if !ok {
		result = fun.Failed
	}
	return fun.Ret{Result: result, Changes: r.changes, Comment: strings.Join(r.comment, "\n"), Extra: r.p.extra()}
}

// outcome compares what is installed now with what was desired.
func (r *report) outcome() (modified, same, failed []pkg.Target, err error) {
	var fine, bad []pkg.Target
	if r.sources {
		for _, t := range r.p.desired {
			if r.changes.Has(t.Name) || !has(r.p.targets, t.Name) {
				fine = append(fine, t)
			} else {
				bad = append(bad, t)
			}
		}
	} else {
		have, err := r.list()
		if err != nil {
			return nil, nil, nil, err
		}
		provides := value.NewMap(0)
		if value.Truth(r.kw.At("resolve_capabilities")) && r.has("pkg.list_provides") {
			if provides, err = r.mapping("pkg.list_provides", r.with()); err != nil {
				return nil, nil, nil, err
			}
		}
		fine, bad = r.check(r.p.desired, have, provides)
	}
	for _, t := range fine {
		switch {
		case has(r.p.targets, t.Name):
			modified = append(modified, t)
		case !has(r.p.reinstall, t.Name):
			same = append(same, t)
		}
	}
	for _, t := range bad {
		if has(r.p.targets, t.Name) {
			failed = append(failed, t)
		}
	}
	return modified, same, failed, nil
}

// check divides packages into those that exist as desired and the others.
// Salt: salt/states/pkg.py _verify_install.
func (j *job) check(desired []pkg.Target, have, provides *value.Map) (fine, bad []pkg.Target) {
	clean := j.has("pkg.version_clean")
	for _, t := range desired {
		name, _, _ := strings.Cut(t.Name, "=")
		var versions []string
		switch v := have.At(name).(type) {
		case *value.List:
			versions = stringsOf(v)
		case *value.Map: // versions with details, as pkg.list_downloaded returns them
			for k := range v.All() {
				versions = append(versions, value.Str(k))
			}
		}
		if by := stringsOf(provides.List(name)); len(versions) == 0 && len(by) > 0 {
			versions = versionsOf(have, by[0])
		}
		switch {
		case len(versions) == 0:
			bad = append(bad, t)
		case t.Any || t.Version == "latest" || clean && j.cleaned(t.Version) == "" || j.fulfils(versions, t.Version, false):
			fine = append(fine, t)
		default:
			bad = append(bad, t)
		}
	}
	return fine, bad
}

// tellHolds adds the packages whose hold changed.
func (r *report) tellHolds() {
	for _, m := range r.holds.modified {
		name, change := m.Str("name"), m.Map("changes")
		r.comment = append(r.comment, m.Str("comment"))
		had := r.changes.Map(name)
		if had == nil {
			r.changes.Set(name, value.MapOf("new", value.Str(change.At("new"))))
			continue
		}
		had = had.Copy()
		for _, k := range []string{"new", "old"} {
			text := had.Str(k)
			if text != "" {
				text += "\n"
			}
			had.Set(k, text+value.Str(change.At(k)))
		}
		r.changes.Set(name, had)
	}
}

// tellReinstalled adds the packages that were installed again, and reports whether
// all were.
func (r *report) tellReinstalled() (ok bool, err error) {
	v := r.verification()
	var fine, bad []pkg.Target
	for _, t := range r.p.reinstall {
		if r.a.Reinstall {
			if r.done.Has(t.Name) {
				fine = append(fine, t)
			} else {
				bad = append(bad, t)
			}
			continue
		}
		changed, err := r.verify(v, t.Name)
		if err != nil {
			return false, err
		}
		if value.Truth(changed) {
			r.p.altered[t.Name] = changed
			bad = append(bad, t)
		} else {
			fine = append(fine, t)
		}
	}
	tell := func(list []pkg.Target, before, after, files string) {
		for i, t := range list {
			line := before + r.p.shown(list, r.sources)[i] + after
			if changed, ok := r.p.altered[t.Name]; ok {
				r.comment = append(r.comment, line+files, pkg.Nested(changed))
			} else {
				r.comment = append(r.comment, line)
			}
		}
	}
	tell(fine, "Package ", " was reinstalled.", " The following files were remediated:")
	tell(bad, "Reinstall was not successful for package ", ".", " The following files could not be remediated:")
	return len(bad) == 0, nil
}
