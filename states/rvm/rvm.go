// Package rvm is Salt's state module "rvm": versions of Ruby and sets of gems.
package rvm

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/cmd"
	"brine/modules/rvm"
)

// States returns the rows of the state module "rvm".
func States() fun.Module {
	return fun.Module{Name: "rvm", Kind: fun.State, Doc: "Manage versions of Ruby and sets of gems with RVM.", Specs: specs, Brings: fun.Always}
}

var (
	microRE   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`-([0-9]{4}\.[0-9]{2}|p[0-9]+)$`) })
	lettersRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z]+$`) })
)

// find returns the installed version that is asked for, nil where there is none.
// A version without its patch level, or the kind alone, is found, too.
// Salt: salt/states/rvm.py _check_ruby.
func find(ctx context.Context, r *rvm.Client, ruby string) (*rvm.Ruby, error) {
	have, err := r.List(ctx)
	micro, kind := microRE().MatchString(ruby), lettersRE().MatchString(ruby)
	ruby = strings.TrimPrefix(ruby, "ruby-")
	for i := range have {
		version := have[i].Version
		if have[i].Kind != "ruby" {
			version = have[i].Kind + "-" + version
		}
		if !micro {
			version = microRE().ReplaceAllString(version, "")
		}
		if kind {
			version, _, _ = strings.Cut(version, "-")
		}
		if version == ruby {
			return &have[i], err
		}
	}
	return nil, err
}

func withDefault(ret fun.Ret, is bool) fun.Ret {
	ret.Extra = value.MapOf("default", is)
	return ret
}

type installedArgs struct {
	_       fun.Arguments
	Name    string      `arg:"name,required" doc:"version of Ruby, such as 3.2.2 or jruby-9.4"`
	Default bool        `arg:"default" default:"False" doc:"make it the default version"`
	User    string      `arg:"user" doc:"account that runs rvm"`
	Opts    []string    `arg:"opts" doc:"options for rvm install"`
	Env     value.Value `arg:"env,list|dict" doc:"environment variables for rvm install"`
}

// installed makes sure that a version of Ruby is installed, and RVM with it.
// Salt: salt/states/rvm.py installed.
func installed(ctx context.Context, c *fun.Call, a *installedArgs) fun.Ret {
	name := a.Name
	r := rvm.New(ctx, c.Env, a.User)
	env, slip := cmd.ParseEnv(a.Env)
	if slip != "" {
		return fun.Report(fun.Failed, nil, slip).ResultFirst()
	}
	have, err := find(ctx, r, name)
	if err != nil {
		return fun.Raise(err)
	}
	due := a.Default && (have == nil || !have.Default)
	if c.Test {
		switch {
		case have == nil:
			return fun.Report(fun.WouldChange, nil, "Ruby ", name, " is set to be installed").ResultFirst()
		case due:
			return fun.Report(fun.WouldChange, nil, "Ruby ", name, " is set to become the default").ResultFirst()
		}
		return withDefault(fun.Report(fun.OK, nil, "Requested ruby exists.").ResultFirst(), have.Default)
	}
	changes, comment, isDefault := value.NewMap(1), "Requested ruby exists.", false
	if have != nil {
		isDefault = have.Default
	} else {
		if !r.Installed() {
			if err := r.Install(ctx); err != nil {
				return fun.FailedBy(err, "RVM failed to install. ").ResultFirst()
			}
		}
		if _, ok, err := r.InstallRuby(ctx, name, a.Opts, env); err != nil {
			return fun.Raise(err)
		} else if !ok {
			return fun.Report(fun.Failed, nil, "Could not install ruby.").ResultFirst()
		}
		changes.Set(name, "Installed")
		comment = "Successfully installed ruby."
	}
	if due {
		if _, ok, err := r.SetDefault(ctx, name); err != nil {
			return fun.Raise(err)
		} else if !ok {
			return fun.Report(fun.Failed, changes, "Could not make ", name, " the default.").ResultFirst()
		}
		if isDefault = true; changes.Len() == 0 {
			changes.Set("default", name)
		}
	}
	return withDefault(fun.Report(fun.OK, changes, comment).ResultFirst(), isDefault)
}

type gemsetPresentArgs struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"name of the set, with RUBY@ before it for a version of Ruby"`
	Ruby string `arg:"ruby" default:"default" doc:"version of Ruby"`
	User string `arg:"user" doc:"account that runs rvm"`
}

// gemsetPresent makes sure that a set of gems exists.
// Salt: salt/states/rvm.py gemset_present.
func gemsetPresent(ctx context.Context, c *fun.Call, a *gemsetPresentArgs) fun.Ret {
	name, ruby := a.Name, a.Ruby
	r := rvm.New(ctx, c.Env, a.User)
	if !r.Installed() {
		return fun.Report(fun.Failed, nil, "RVM is not installed.").ResultFirst()
	}
	if of, set, ok := strings.Cut(name, "@"); ok {
		ruby, name = of, set
		if have, err := find(ctx, r, ruby); err != nil {
			return fun.Raise(err)
		} else if have == nil {
			return fun.Report(fun.Failed, nil, "Requested ruby implementation was not found.").ResultFirst()
		}
	}
	sets, err := r.Gemsets(ctx, ruby)
	switch {
	case err != nil:
		return fun.Raise(err)
	case slices.Contains(sets, name):
		return fun.Report(fun.OK, nil, "Gemset already exists.").ResultFirst()
	case c.Test:
		return fun.Report(fun.WouldChange, nil, "Set to install gemset ", name).ResultFirst()
	}
	if _, ok, err := r.CreateGemset(ctx, ruby, name); err != nil {
		return fun.Raise(err)
	} else if !ok {
		return fun.Report(fun.Failed, nil, "Gemset could not be created.").ResultFirst()
	}
	return fun.Report(fun.OK, value.MapOf(name, "created"), "Gemset successfully created.").ResultFirst()
}
