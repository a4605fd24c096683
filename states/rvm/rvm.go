// Package rvm is Salt's state module "rvm": versions of Ruby and sets of gems.
package rvm

import (
	"context"
	"errors"
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

func done(result fun.Outcome, changes *value.Map, comment ...string) fun.Ret {
	ret := fun.Ret{Result: result, Comment: strings.Join(comment, ""), Order: []string{"name", "result", "comment", "changes"}}
	if changes != nil {
		ret.Changes = changes
	}
	return ret
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
		return done(fun.Failed, nil, slip)
	}
	have, err := find(ctx, r, name)
	if err != nil {
		return fun.Raise(err)
	}
	due := a.Default && (have == nil || !have.Default)
	if c.Test {
		switch {
		case have == nil:
			return done(fun.WouldChange, nil, "Ruby ", name, " is set to be installed")
		case due:
			return done(fun.WouldChange, nil, "Ruby ", name, " is set to become the default")
		}
		return withDefault(done(fun.OK, nil, "Requested ruby exists."), have.Default)
	}
	changes, comment, isDefault := value.NewMap(1), "Requested ruby exists.", false
	if have != nil {
		isDefault = have.Default
	} else {
		if !r.Installed() {
			if err := r.Install(ctx); err != nil {
				if ce, ok := errors.AsType[*fun.CommandError](err); ok {
					return done(fun.Failed, nil, "RVM failed to install. ", ce.Msg)
				}
				return fun.Raise(err)
			}
		}
		if _, ok, err := r.InstallRuby(ctx, name, a.Opts, env); err != nil {
			return fun.Raise(err)
		} else if !ok {
			return done(fun.Failed, nil, "Could not install ruby.")
		}
		changes.Set(name, "Installed")
		comment = "Successfully installed ruby."
	}
	if due {
		if _, ok, err := r.SetDefault(ctx, name); err != nil {
			return fun.Raise(err)
		} else if !ok {
			return done(fun.Failed, changes, "Could not make ", name, " the default.")
		}
		if isDefault = true; changes.Len() == 0 {
			changes.Set("default", name)
		}
	}
	return withDefault(done(fun.OK, changes, comment), isDefault)
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
		return done(fun.Failed, nil, "RVM is not installed.")
	}
	if of, set, ok := strings.Cut(name, "@"); ok {
		ruby, name = of, set
		if have, err := find(ctx, r, ruby); err != nil {
			return fun.Raise(err)
		} else if have == nil {
			return done(fun.Failed, nil, "Requested ruby implementation was not found.")
		}
	}
	sets, err := r.Gemsets(ctx, ruby)
	switch {
	case err != nil:
		return fun.Raise(err)
	case slices.Contains(sets, name):
		return done(fun.OK, nil, "Gemset already exists.")
	case c.Test:
		return done(fun.WouldChange, nil, "Set to install gemset ", name)
	}
	if _, ok, err := r.CreateGemset(ctx, ruby, name); err != nil {
		return fun.Raise(err)
	} else if !ok {
		return done(fun.Failed, nil, "Gemset could not be created.")
	}
	return done(fun.OK, value.MapOf(name, "created"), "Gemset successfully created.")
}
