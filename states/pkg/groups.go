package pkg

import (
	"context"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type groupInstalledArgs struct {
	_       string   `arg:"name,required" doc:"name of the group"`
	Skip    []string `arg:"skip" doc:"default packages not to install"`
	Include []string `arg:"include" doc:"optional packages to install"`
	providerArgs
	_ fun.Kwargs
}

// groupInstalled installs a group of packages. Salt: salt/states/pkg.py
// group_installed.
func groupInstalled(ctx context.Context, c *fun.Call, a *groupInstalledArgs) fun.Ret {
	j := newJob(ctx, c, &a.providerArgs, asked{})
	if !j.has("pkg.group_diff") {
		return fun.Fail("pkg.group_install not available for this platform")
	}
	diff, err := j.mapping("pkg.group_diff", nil, c.Name)
	what := "An error was encountered while installing/updating group '" + c.Name + "'"
	if err != nil {
		return j.fail(what, err)
	}
	part := func(kind, state string) []string { return stringsOf(diff.Map(kind).List(state)) }
	skip := a.Skip
	var invalid []string
	for _, n := range slices.Concat(part("mandatory", "installed"), part("mandatory", "not installed")) {
		if slices.Contains(skip, n) {
			invalid = append(invalid, n)
		}
	}
	if invalid != nil {
		return fun.Fail("The following mandatory packages cannot be skipped: %s", strings.Join(invalid, ", "))
	}
	targets := part("mandatory", "not installed")
	for _, n := range part("default", "not installed") {
		if !slices.Contains(skip, n) {
			targets = append(targets, n)
		}
	}
	have, err := j.list()
	if err != nil {
		return fun.FailedBy(err, "")
	}
	for _, n := range a.Include {
		if !have.Has(n) && !slices.Contains(targets, n) {
			targets = append(targets, n)
		}
	}
	if len(targets) == 0 {
		return fun.Ret{Result: fun.OK, Comment: "Group '" + c.Name + "' is already installed"}
	}
	partial := len(part("mandatory", "installed"))+len(part("default", "installed"))+len(part("optional", "installed")) > 0
	if c.Test {
		comment := "Group '" + c.Name + "' will be installed"
		if partial {
			comment = "Group '" + c.Name + "' is partially installed and will be updated"
		}
		ret := fun.Ret{Result: fun.WouldChange, Comment: comment}
		if c.Env.Plan {
			ret = j.forecast(ret, "pkg.install", j.with("pkgs", value.Strings(targets...)), asTargets(targets, nil), false)
		}
		return ret
	}
	changes, err := j.mapping("pkg.install", j.with("pkgs", value.Strings(targets...)))
	if err != nil {
		return j.fail(what, err)
	}
	if have, err = j.list(); err != nil {
		return fun.FailedBy(err, "")
	}
	if failed := slices.DeleteFunc(targets, func(n string) bool { return have.Has(n) }); len(failed) > 0 {
		return fun.Ret{Changes: changes, Comment: "Failed to install the following packages: " + strings.Join(failed, ", ")}
	}
	word := "installed"
	if partial {
		word = "updated"
	}
	return fun.Ret{Result: fun.OK, Changes: changes, Comment: "Group '" + c.Name + "' was " + word}
}

type patchInstalledArgs struct {
	_            string            `arg:"name,required" doc:"the advisory; ignored where advisory_ids is given"`
	AdvisoryIDs  fun.Opt[[]string] `arg:"advisory_ids" doc:"several advisories"`
	Downloadonly bool              `arg:"downloadonly" doc:"only download the packages"`
	providerArgs
	_ fun.Kwargs
}

func patchInstalled(ctx context.Context, c *fun.Call, a *patchInstalledArgs) fun.Ret {
	return patch(ctx, c, &a.providerArgs, "patch_installed", a.AdvisoryIDs, a.Downloadonly)
}

type patchDownloadedArgs struct {
	_           string            `arg:"name,required" doc:"the advisory; ignored where advisory_ids is given"`
	AdvisoryIDs fun.Opt[[]string] `arg:"advisory_ids" doc:"several advisories"`
	providerArgs
	_ fun.Kwargs
}

func patchDownloaded(ctx context.Context, c *fun.Call, a *patchDownloadedArgs) fun.Ret {
	return patch(ctx, c, &a.providerArgs, "patch_downloaded", a.AdvisoryIDs, true)
}

// patch installs or downloads the packages of advisories.
// Salt: salt/states/pkg.py patch_installed.
func patch(ctx context.Context, c *fun.Call, own *providerArgs, name string, advisories fun.Opt[[]string], downloadOnly bool) fun.Ret {
	j := newJob(ctx, c, own, asked{})
	if !j.has("pkg.list_patches") {
		return fun.Fail("The pkg.%s state is not available on this platform", name)
	}
	ids := advisories.V
	if advisories.Given && len(ids) == 0 {
		return fun.Ret{Result: fun.OK, Comment: "No advisory ids provided"}
	}
	have, err := j.mapping("pkg.list_installed_patches", j.with())
	if err != nil {
		return fun.FailedBy(err, "")
	}
	if len(ids) == 0 {
		ids = []string{c.Name}
		if value.Truth(have.At(c.Name)) {
			return fun.Ret{Result: fun.OK, Comment: "Advisory patch " + c.Name + " is already installed"}
		}
	}
	targets := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return value.Truth(have.At(id)) })
	if len(targets) == 0 {
		return fun.Ret{Result: fun.OK, Comment: "All specified advisory patches are already installed"}
	}
	if c.Test {
		ret := fun.Ret{Result: fun.WouldChange, Comment: "The following advisory patches would be downloaded: " + strings.Join(targets, ", ")}
		if c.Env.Plan && !downloadOnly {
			ret = j.forecast(ret, "pkg.install", j.with("name", c.Name, "advisory_ids", value.Strings(targets...)), nil, false)
		}
		return ret
	}
	changes, err := j.mapping("pkg.install", j.with("name", c.Name, "advisory_ids", value.Strings(targets...), "downloadonly", downloadOnly))
	if err != nil {
		return j.fail("An error was encountered while downloading package(s)", err)
	}
	if changes.Len() > 0 {
		return fun.Ret{Result: fun.OK, Changes: changes, Comment: ""}
	}
	status := "installed"
	if downloadOnly {
		status = "downloaded"
	}
	return fun.Ret{Result: fun.OK, Comment: "Advisory patch is not needed or related packages are already " + status}
}
