package pkg

import (
	"context"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/pkg"
)

// removedArgs are the arguments of removed and purged.
type removedArgs struct {
	removeArgs
	providerArgs
	_ fun.Kwargs
}

func removed(ctx context.Context, c *fun.Call, a *removedArgs) fun.Ret {
	return uninstall(ctx, c, a, "remove", "removing")
}

func purged(ctx context.Context, c *fun.Call, a *removedArgs) fun.Ret {
	return uninstall(ctx, c, a, "purge", "purging")
}

// uninstall removes or purges packages. Salt: salt/states/pkg.py _uninstall.
func uninstall(ctx context.Context, c *fun.Call, a *removedArgs, action, doing string) fun.Ret {
	j := newJob(ctx, c, &a.providerArgs, asked{packages: a.Pkgs, version: a.Version, ignoreEpoch: a.IgnoreEpoch, unchanged: !a.Normalize})
	if j.noneGiven() { // in Salt, name counts then
		return fun.Ret{Result: fun.OK, Comment: nothingToRemove(action, false)}
	}
	list, err := j.named()
	if err != nil {
		return fun.Raise(err)
	}
	if list == nil {
		return fun.Fail("Invalidly formatted pkgs parameter. See minion log.")
	}
	targets, exact, err := j.toRemove(list)
	if err != nil {
		return j.fail("An error was encountered while "+doing+" package(s)", err)
	}
	if action == "purge" {
		left, err := j.list("removed", true)
		if err != nil {
			return j.fail("An error was encountered while "+doing+" package(s)", err)
		}
		for _, t := range list {
			if left.Has(t.Name) {
				targets = append(targets, t.Name)
			}
		}
	}
	slices.Sort(targets)
	targets = slices.Compact(targets)
	if len(targets) == 0 {
		return fun.Ret{Result: fun.OK, Comment: nothingToRemove(action, exact)}
	}
	if c.Test {
		return j.wouldRemove(list, targets, action, doing)
	}
	changes, err := j.mapping("pkg."+action, j.with("pkgs", j.chosen(list, targets), "split_arch", false))
	if err != nil {
		return j.fail("An error was encountered while "+doing+" package(s)", err)
	}
	failed, err := j.stillThere(list, targets, action)
	if err != nil {
		return j.fail("An error was encountered while "+doing+" package(s)", err)
	}
	if len(failed) > 0 {
		return fun.Ret{Changes: changes, Comment: "The following packages failed to " + action + ": " + strings.Join(failed, ", ") + "."}
	}
	var absent []string
	for _, t := range list {
		if !slices.Contains(targets, t.Name) {
			absent = append(absent, t.Name)
		}
	}
	comment := "All targeted packages were " + action + "d."
	if len(absent) > 0 {
		comment = "The following packages were not installed: " + strings.Join(sorted(absent), ", ") +
			" The following packages were " + action + "d: " + strings.Join(targets, ", ") + "."
	}
	return fun.Ret{Result: fun.OK, Changes: changes, Comment: comment}
}

// wouldRemove is the return in test mode.
func (j *job) wouldRemove(list []pkg.Target, targets []string, action, doing string) fun.Ret {
	changes := value.NewMap(len(targets))
	more, err := j.simulated(action, j.chosen(list, targets))
	if err != nil {
		return j.fail("An error was encountered while "+doing+" package(s)", err)
	}
	for _, n := range more {
		if !slices.Contains(targets, n) {
			targets = append(targets, n)
		}
	}
	for _, n := range targets {
		changes.Set(n, value.MapOf("new", action+"d", "old", ""))
	}
	ret := fun.Ret{Result: fun.WouldChange, Changes: changes, Comment: "The following packages will be " + action + "d: " + strings.Join(targets, ", ") + "."}
	if j.Env.Plan {
		ret = j.forecast(ret, "pkg."+action, j.with("pkgs", j.chosen(list, targets), "split_arch", false), list, false)
	}
	return ret
}

// simulated asks a provider that can tell which packages would be removed: those
// asked for and what depends on them. None is an answer that is not known.
func (j *job) simulated(action string, pkgs *value.List) ([]string, error) {
	_, spec, err := j.Env.Find(fun.Exec, "pkg."+action)
	if err != nil || !slices.ContainsFunc(spec.Args, func(a fun.Arg) bool { return a.Name == "test" }) {
		return nil, nil
	}
	m, err := j.mapping("pkg."+action, j.with("pkgs", pkgs, "test", true))
	if err != nil {
		return nil, err
	}
	var names []string
	normalize := j.normalizer()
	for k := range m.All() {
		name := value.Str(k)
		if normalize != nil {
			name = normalize(name)
		}
		names = append(names, name)
	}
	return sorted(names), nil
}

func nothingToRemove(action string, exact bool) string {
	switch {
	case action == "purge":
		return "None of the targeted packages are installed or partially installed"
	case exact:
		return "All specified packages (matching specified versions) are already absent"
	}
	return "All specified packages are already absent"
}

// named returns the packages that pkgs, or name and version, ask for.
func (j *job) named() ([]pkg.Target, error) { return pkg.Repack(j.pkgs(), j.normalizer()) }

// toRemove returns the packages that are installed, in a version that is asked for.
// exact reports that versions were compared.
func (j *job) toRemove(list []pkg.Target) (targets []string, exact bool, err error) {
	have, err := j.list()
	if err != nil {
		return nil, false, err
	}
	clean := j.has("pkg.version_clean")
	for _, t := range list {
		versions := versionsOf(have, t.Name)
		if len(versions) == 0 {
			continue
		}
		if !t.Any && (!clean || j.cleaned(t.Version) != "") {
			exact = true
			if !j.fulfils(versions, t.Version, false) {
				continue
			}
		}
		targets = append(targets, t.Name)
	}
	return targets, exact, nil
}

// chosen returns the targets as the argument pkgs.
func (j *job) chosen(list []pkg.Target, targets []string) *value.List {
	var chosen []pkg.Target
	for _, t := range list {
		if slices.Contains(targets, t.Name) {
			chosen = append(chosen, t)
		}
	}
	return pkg.Pack(chosen)
}

// stillThere returns the targets that are installed after all.
func (j *job) stillThere(list []pkg.Target, targets []string, action string) ([]string, error) {
	have, err := j.list()
	if err != nil {
		return nil, err
	}
	family := ""
	if v, ok := j.Env.Grains.Get("os_family"); ok {
		family = value.Str(v)
	}
	var failed []string
	for _, t := range list {
		versions := versionsOf(have, t.Name)
		switch {
		case len(versions) == 0 || !slices.Contains(targets, t.Name):
		case family != "Suse" && family != "RedHat" || t.Any:
			failed = append(failed, t.Name)
		case slices.Contains(versions, t.Version): // others of several versions may stay
			failed = append(failed, t.Name+"-"+t.Version)
		}
	}
	if action == "purge" {
		left, err := j.list("removed", true)
		if err != nil {
			return nil, err
		}
		for _, t := range list {
			if left.Has(t.Name) {
				failed = append(failed, t.Name)
			}
		}
	}
	return sorted(failed), nil
}
