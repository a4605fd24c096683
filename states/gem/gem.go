// Package gem is Salt's state module "gem": packages of Ruby.
package gem

import (
	"context"
	"slices"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/gem"
)

// States returns the rows of the state module "gem".
func States() fun.Module {
	return fun.Module{Name: "gem", Kind: fun.State, Doc: "Manage packages of Ruby.", Specs: specs, Brings: fun.Always}
}

func changed(name, what, comment string) fun.Ret {
	ret := fun.Report(fun.OK, nil, comment).ResultFirst()
	ret.Changes = value.MapOf(name, what)
	return ret
}

type installedArgs struct {
	_           fun.Arguments
	Name        string `arg:"name,required" doc:"name of the gem"`
	Ruby        string `arg:"ruby" doc:"version of Ruby, where RVM or rbenv is installed"`
	GemBin      string `arg:"gem_bin,path" doc:"path of gem; RVM and rbenv are not used"`
	User        string `arg:"user" doc:"account that runs the program"`
	Version     string `arg:"version" doc:"version, or a condition such as >= 1.0"`
	Rdoc        bool   `arg:"rdoc" default:"False" doc:"generate RDoc documentation"`
	Ri          bool   `arg:"ri" default:"False" doc:"generate RI documentation"`
	PreReleases bool   `arg:"pre_releases" default:"False" doc:"take pre-releases, too"`
	Proxy       string `arg:"proxy,secret" doc:"HTTP proxy"`
	Source      string `arg:"source" doc:"URL of a source of gems to use"`
}

// installed makes sure that a gem is installed.
// Salt: salt/states/gem.py installed.
func installed(ctx context.Context, c *fun.Call, a *installedArgs) fun.Ret {
	name, version := a.Name, a.Version
	g := &gem.Client{Env: c.Env, Ruby: a.Ruby, Bin: a.GemBin, User: a.User}
	all, err := g.List(ctx, name)
	if err != nil {
		return fun.FailedBy(err, "Could not list gems. ").ResultFirst()
	}
	have := gem.Versions(all, name)
	switch {
	case len(have) == 0:
	case version == "":
		return fun.Report(fun.OK, nil, "Gem is already installed.").ResultFirst()
	case slices.ContainsFunc(have, func(v string) bool { return gem.Fulfills(v, version) }):
		if gem.IsCondition(version) {
			return fun.Report(fun.OK, nil, "Installed Gem meets version requirements.").ResultFirst()
		}
		return fun.Report(fun.OK, nil, "Gem is already installed.").ResultFirst()
	}
	if c.Test {
		return fun.Report(fun.WouldChange, nil, "The gem "+name+" would have been installed").ResultFirst()
	}
	if _, err := g.Install(ctx, gem.Install{
		Gems: []string{name}, Version: version, RDoc: a.Rdoc, RI: a.Ri, PreReleases: a.PreReleases,
		Proxy: a.Proxy, Source: a.Source,
	}); err != nil {
		return fun.FailedBy(err, "Could not install gem. ").ResultFirst()
	}
	return changed(name, "Installed", "Gem was successfully installed")
}

type removedArgs struct {
	_      fun.Arguments
	Name   string `arg:"name,required" doc:"name of the gem"`
	Ruby   string `arg:"ruby" doc:"version of Ruby, where RVM or rbenv is installed"`
	User   string `arg:"user" doc:"account that runs the program"`
	GemBin string `arg:"gem_bin,path" doc:"path of gem; RVM and rbenv are not used"`
}

// removed makes sure that a gem is not installed.
// Salt: salt/states/gem.py removed.
func removed(ctx context.Context, c *fun.Call, a *removedArgs) fun.Ret {
	name := a.Name
	g := &gem.Client{Env: c.Env, Ruby: a.Ruby, Bin: a.GemBin, User: a.User}
	all, err := g.List(ctx, name)
	switch {
	case err != nil:
		return fun.FailedBy(err, "Could not list gems. ").ResultFirst()
	case !all.Has(name):
		return fun.Report(fun.OK, nil, "Gem is not installed.").ResultFirst()
	case c.Test:
		return fun.Report(fun.WouldChange, nil, "The gem "+name+" would have been removed").ResultFirst()
	}
	if _, err := g.Uninstall(ctx, name); err != nil {
		return fun.FailedBy(err, "Could not remove gem. ").ResultFirst()
	}
	return changed(name, "Removed", "Gem was successfully removed.")
}

// sourcesAddArgs are the arguments of sourcesAdd and sourcesRemove.
type sourcesAddArgs struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"URL of the source"`
	Ruby string `arg:"ruby" doc:"version of Ruby, where RVM or rbenv is installed"`
	User string `arg:"user" doc:"account that runs the program"`
}

// sourcesAdd makes sure that a source of gems is configured.
// Salt: salt/states/gem.py sources_add.
func sourcesAdd(ctx context.Context, c *fun.Call, a *sourcesAddArgs) fun.Ret {
	name := a.Name
	g := &gem.Client{Env: c.Env, Ruby: a.Ruby, User: a.User}
	have, err := g.Sources(ctx)
	switch {
	case err != nil:
		return fun.FailedBy(err, "Could not list gem sources. ").ResultFirst()
	case slices.Contains(have, name):
		return fun.Report(fun.OK, nil, "Gem source is already added.").ResultFirst()
	case c.Test:
		return fun.Report(fun.WouldChange, nil, "The gem source "+name+" would have been added.").ResultFirst()
	}
	if _, err := g.AddSource(ctx, name); err != nil {
		return fun.FailedBy(err, "Could not add gem source. ").ResultFirst()
	}
	return changed(name, "Installed", "Gem source was successfully added.")
}

// sourcesRemove makes sure that a source of gems is not configured.
// Salt: salt/states/gem.py sources_remove.
func sourcesRemove(ctx context.Context, c *fun.Call, a *sourcesAddArgs) fun.Ret {
	name := a.Name
	g := &gem.Client{Env: c.Env, Ruby: a.Ruby, User: a.User}
	have, err := g.Sources(ctx)
	switch {
	case err != nil:
		return fun.FailedBy(err, "Could not list gem sources. ").ResultFirst()
	case !slices.Contains(have, name):
		return fun.Report(fun.OK, nil, "Gem source is already removed.").ResultFirst()
	case c.Test:
		return fun.Report(fun.WouldChange, nil, "The gem source would have been removed.").ResultFirst()
	}
	if _, err := g.RemoveSource(ctx, name); err != nil {
		return fun.FailedBy(err, "Could not remove gem source. ").ResultFirst()
	}
	return changed(name, "Removed", "Gem source was successfully removed.")
}
