package pkg

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/pkg"
)

// manyNames is how many packages comments of latest name.
const manyNames = 10

type latestArgs struct {
	nameArg
	onceArg
	repoArg
	verifyArg
	Pkgs value.Value `arg:"pkgs,list" doc:"names of several packages"`
	_    bool        `arg:"watch_flags" default:"True" doc:"Gentoo only"`
	providerArgs
	Rest fun.Kwargs
}

// latest sees to it that packages are installed in the newest version there is.
// Salt: salt/states/pkg.py latest.
func latest(ctx context.Context, c *fun.Call, a *latestArgs) fun.Ret {
	if v, ok := a.Rest.Get("sources"); ok && value.Truth(v) {
		return fun.Fail(`The "sources" parameter is not supported.`)
	}
	j := newJob(ctx, c, &a.providerArgs, asked{packages: a.Pkgs, fromRepo: a.FromRepo})
	if j.noneGiven() {
		return fun.Ret{Result: fun.OK, Comment: "No packages to install provided"}
	}
	names := []string{c.Name}
	if pkgs := fun.ItemsOf(a.Pkgs); len(pkgs) > 0 {
		list, err := pkg.Repack(pkgs, j.normalizer())
		if err != nil {
			return fun.Raise(err)
		}
		if list == nil {
			return fun.Fail(`Invalidly formatted "pkgs" parameter. See minion log.`)
		}
		names = namesOf(list)
	}
	refresh := pkg.ShouldRefresh(c.Env, a.Refresh)
	wanted := make([]value.Value, len(names))
	for i, n := range names {
		wanted[i] = n
	}
	wanted, refresh, err := j.resolve(wanted, refresh)
	if err != nil {
		return j.fail("An error was encountered while resolving capabilities", err)
	}
	names = stringsOf(value.NewList(wanted...))
	avail, err := j.byName(names, "pkg.latest_version", j.with("fromrepo", j.fromRepo, "refresh", refresh), wanted)
	if err != nil {
		return j.fail("An error was encountered while checking the newest available version of package(s)", err)
	}
	cur, err := j.byName(names, "pkg.version", j.with(), wanted)
	if err != nil {
		return fun.FailedBy(err, "")
	}
	var targets, current, problems []string
	for _, n := range names {
		switch {
		case avail.Str(n) != "":
			targets = append(targets, n)
		case cur.Str(n) == "":
			problems = append(problems, "No information found for '"+n+"'.")
		default:
			current = append(current, n)
		}
	}
	switch {
	case len(problems) > 0:
		return fun.Fail("%s", strings.Join(problems, " "))
	case len(targets) == 0:
		return upToDate(names)
	case c.Test:
		ret := predictLatest(targets, current, avail, cur)
		if c.Env.Plan {
			ret = j.forecast(ret, "pkg.install", j.latestRequest(a.SkipVerify, targets), asTargets(targets, avail), false)
		}
		return ret
	}
	return j.installLatest(a.SkipVerify, targets, current, avail)
}

// byName calls a function that returns text for one name and a mapping for
// several.
func (j *job) byName(names []string, function string, kw *value.Map, pos []value.Value) (*value.Map, error) {
	v, err := j.call(function, kw, pos...)
	if err != nil {
		return nil, err
	}
	if m, ok := v.(*value.Map); ok {
		return m, nil
	}
	return value.MapOf(names[0], v), nil
}

func upToDate(names []string) fun.Ret {
	comment := "Package " + names[0] + " is already up-to-date"
	if len(names) > manyNames {
		comment = fmt.Sprintf("All %d packages are up-to-date.", len(names))
	} else if len(names) > 1 {
		comment = "All packages are up-to-date (" + strings.Join(sorted(names), ", ") + ")."
	}
	return fun.Ret{Result: fun.OK, Comment: comment}
}

func predictLatest(targets, current []string, avail, cur *value.Map) fun.Ret {
	changes := value.NewMap(len(targets))
	for _, n := range targets {
		changes.Set(n, value.MapOf("old", cur.Str(n), "new", avail.At(n)))
	}
	comment := "The following packages would be installed/upgraded: " + strings.Join(sorted(targets), ", ")
	if len(current) > manyNames {
		comment += fmt.Sprintf("\n%d packages are already up-to-date", len(current))
	} else if len(current) > 0 {
		var shown []string
		for _, n := range sorted(current) {
			shown = append(shown, n+" ("+cur.Str(n)+")")
		}
		comment += "\nThe following packages are already up-to-date: " + strings.Join(shown, ", ")
	}
	return fun.Ret{Result: fun.WouldChange, Changes: changes, Comment: comment}
}

// latestRequest are the arguments of pkg.install that install the newest versions.
func (j *job) latestRequest(skipVerify bool, targets []string) *value.Map {
	return j.with("refresh", false, "fromrepo", j.fromRepo, "skip_verify", skipVerify, "pkgs", value.Strings(targets...))
}

func (j *job) installLatest(skipVerify bool, targets, current []string, avail *value.Map) fun.Ret {
	v, err := j.call("pkg.install", j.latestRequest(skipVerify, targets))
	if _, ok := errors.AsType[*pkg.Error](err); ok {
		ret := j.fail("", err)
		ret.Comment = "An error was encountered while installing package(s): " + err.Error()
		return ret
	}
	if err != nil {
		return j.fail("An error was encountered while installing package(s)", err)
	}
	changes, _ := v.(*value.Map)
	if changes.Len() == 0 {
		return notUpdated(targets, current)
	}
	var failed, fine []string
	for _, n := range targets {
		change := changes.Map(n)
		if change != nil && (value.Equal(change.At("new"), avail.At(n)) || avail.At(n) == "latest") {
			fine = append(fine, n)
		} else {
			failed = append(failed, n)
		}
	}
	ret := fun.Ret{Result: fun.OK, Changes: changes}
	var comments []string
	if len(failed) > 0 {
		ret.Result = fun.Failed
		comments = append(comments, "The following packages failed to update: "+strings.Join(sorted(failed), ", "))
	}
	if len(fine) > 0 {
		comments = append(comments, "The following packages were successfully installed/upgraded: "+strings.Join(sorted(fine), ", "))
	}
	if len(current) > 0 {
		comments = append(comments, wereCurrent(current))
	}
	ret.Comment = strings.Join(comments, " ")
	return ret
}

func wereCurrent(current []string) string {
	if len(current) > manyNames {
		return fmt.Sprintf("%d packages were already up-to-date", len(current))
	}
	return "The following packages were already up-to-date: " + strings.Join(sorted(current), ", ")
}

func notUpdated(targets, current []string) fun.Ret {
	comment := "Package " + targets[0] + " failed to update."
	if len(targets) > manyNames {
		comment = fmt.Sprintf("%d targeted packages failed to update. See debug log for details.", len(targets))
	} else if len(targets) > 1 {
		comment = "The following targeted packages failed to update. See debug log for details: (" + strings.Join(sorted(targets), ", ") + ")."
	}
	if len(current) > 0 {
		comment += " " + wereCurrent(current)
	}
	return fun.Ret{Comment: comment}
}

type uptodateArgs struct {
	_           string      `arg:"name,required" doc:"a name for the state"`
	Refresh     bool        `arg:"refresh" default:"False" doc:"refresh the package database first"`
	Pkgs        value.Value `arg:"pkgs,list" doc:"upgrade only these packages"`
	DistUpgrade value.Value `arg:"dist_upgrade,bool" doc:"also install and remove packages where that is needed (apt)"`
	FromRepo    value.Value `arg:"fromrepo,str" doc:"release to take packages from (apt)"`
	verifyArg
	providerArgs
	_ fun.Kwargs
}

// uptodate upgrades all packages, or those of pkgs.
// Salt: salt/states/pkg.py uptodate.
func uptodate(ctx context.Context, c *fun.Call, a *uptodateArgs) fun.Ret {
	j := newJob(ctx, c, &a.providerArgs, asked{packages: a.Pkgs, fromRepo: a.FromRepo})
	if !j.has("pkg.list_upgrades") {
		return fun.Fail("State pkg.uptodate is not available")
	}
	refresh := a.Refresh
	if a.DistUpgrade != nil {
		j.kw.Set("dist_upgrade", a.DistUpgrade)
	}
	if a.FromRepo != nil {
		j.kw.Set("fromrepo", a.FromRepo)
	}
	pkgs, refresh, err := j.resolve(fun.ItemsOf(a.Pkgs), refresh)
	if err != nil {
		return fun.FailedBy(err, "")
	}
	upgrades, err := j.mapping("pkg.list_upgrades", j.with("refresh", refresh))
	if err != nil {
		return fun.FailedBy(err, "")
	}
	only := a.Pkgs != nil
	list, err := pkg.Repack(pkgs, j.normalizer())
	if err != nil {
		return fun.Raise(err)
	}
	have, err := j.list()
	if err != nil {
		return fun.FailedBy(err, "")
	}
	expected := value.NewMap(upgrades.Len())
	for k, v := range upgrades.All() {
		if name := value.Str(k); !only || has(list, name) {
			expected.Set(name, value.MapOf("new", v, "old", strings.Join(versionsOf(have, name), ",")))
		}
	}
	switch {
	case expected.Len() == 0:
		return fun.Ret{Result: fun.OK, Comment: "System is already up-to-date"}
	}
	// The lists were refreshed above.
	kw := j.with("refresh", false, "skip_verify", a.SkipVerify)
	if only {
		kw.Set("pkgs", value.NewList(pkgs...))
	}
	if c.Test {
		ret := fun.Ret{Result: fun.WouldChange, Changes: expected, Comment: "System update will be performed"}
		if c.Env.Plan {
			ret = j.forecast(ret, "pkg.upgrade", kw, expectedTargets(expected), false)
		}
		return ret
	}
	changes, err := j.mapping("pkg.upgrade", kw)
	if err != nil {
		return j.fail("An error was encountered while updating packages", err)
	}
	ret := fun.Ret{Result: fun.OK, Changes: changes, Comment: "Upgrade ran successfully"}
	if inner := changes.Map("changes"); inner != nil && changes.Has("result") && changes.Has("comment") { // of apkpkg
		ret.Changes = inner
		if !value.Truth(changes.At("result")) {
			return fun.Ret{Changes: inner, Comment: "An error was encountered while updating packages: " + changes.Str("comment")}
		}
		changes = inner
	}
	if only {
		var missing []string
		for k := range expected.All() {
			if !changes.Has(k) {
				missing = append(missing, value.Str(k))
			}
		}
		if missing != nil {
			ret.Result, ret.Comment = fun.Failed, "The following package(s) failed to update: "+strings.Join(missing, ", ")
		}
	}
	return ret
}

type downloadedArgs struct {
	nameArg
	Version string      `arg:"version" doc:"version to download"`
	Pkgs    value.Value `arg:"pkgs,list" doc:"several packages: names, or mappings of a name to a version"`
	repoArg
	epochArg
	providerArgs
	_ fun.Kwargs
}

// downloaded sees to it that package files are in the cache of the package
// manager. Salt: salt/states/pkg.py downloaded.
func downloaded(ctx context.Context, c *fun.Call, a *downloadedArgs) fun.Ret {
	j := newJob(ctx, c, &a.providerArgs, asked{packages: a.Pkgs, version: a.Version, fromRepo: a.FromRepo, ignoreEpoch: a.IgnoreEpoch})
	if !j.has("pkg.list_downloaded") {
		return fun.Fail("The pkg.downloaded state is not available on this platform")
	}
	if j.noneGiven() {
		return fun.Ret{Result: fun.OK, Comment: "No packages to download provided"}
	}
	j.kw.Delete("downloadonly")
	pkgs, _, err := j.resolve(j.pkgs(), false)
	if err != nil {
		return j.fail("An error was encountered while resolving capabilities", err)
	}
	have, err := j.mapping("pkg.list_downloaded", j.with())
	if err != nil {
		return fun.FailedBy(err, "")
	}
	list, err := pkg.Repack(pkgs, j.normalizer())
	if err != nil {
		return fun.Raise(err)
	}
	if list == nil {
		return fun.Fail("Invalidly formatted pkgs parameter. See minion log.")
	}
	if r := j.preflight(list); r != nil && !value.Truth(j.kw.At("skip_suggestions")) {
		return *r
	}
	targets := slices.DeleteFunc(slices.Clone(list), func(t pkg.Target) bool {
		fine, _ := j.check([]pkg.Target{t}, have, nil)
		return len(fine) > 0
	})
	exact := slices.ContainsFunc(list, func(t pkg.Target) bool { return !t.Any && have.Has(t.Name) })
	if len(targets) == 0 {
		comment := "All specified packages are already downloaded"
		if exact {
			comment = "All specified packages (matching specified versions) are already downloaded"
		}
		return fun.Ret{Result: fun.OK, Comment: comment}
	}
	if c.Test {
		return fun.Ret{Result: fun.WouldChange, Comment: "The following packages would be downloaded: " + strings.Join(namesOf(targets), ", ")}
	}
	v, err := j.call("pkg.install", j.with(
		"pkgs", pkg.Pack(targets), "downloadonly", true, "fromrepo", j.fromRepo, "ignore_epoch", j.ignoreEpoch))
	if err != nil {
		return j.fail("An error was encountered while downloading package(s)", err)
	}
	changes, _ := v.(*value.Map)
	if have, err = j.mapping("pkg.list_downloaded", j.with()); err != nil {
		return fun.FailedBy(err, "")
	}
	if _, failed := j.check(targets, have, nil); len(failed) > 0 {
		names := make([]string, len(failed))
		for i, t := range failed {
			names[i] = shown(t)
		}
		return fun.Ret{Changes: changes, Comment: "The following packages failed to download: " + strings.Join(names, ", ")}
	}
	comment := ""
	if changes.Len() == 0 {
		comment = "Packages downloaded: " + strings.Join(namesOf(targets), ", ")
	}
	return fun.Ret{Result: fun.OK, Changes: changes, Comment: comment}
}
