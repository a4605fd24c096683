// Package shims is Salt's state modules "rbenv" and "pyenv": versions of Ruby and
// Python that are chosen by shims.
package shims

import (
	"context"
	"slices"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/shims"
)

// RbenvStates returns the rows of the state module "rbenv".
func RbenvStates() fun.Module {
	return fun.Module{Name: "rbenv", Kind: fun.State, Doc: "Manage versions of Ruby with rbenv.", Specs: rbenvSpecs, Brings: fun.Always}
}

// PyenvStates returns the rows of the state module "pyenv".
func PyenvStates() fun.Module {
	return fun.Module{Name: "pyenv", Kind: fun.State, Doc: "Manage versions of Python with pyenv.", Specs: pyenvSpecs, Brings: fun.Always}
}

// words are what Salt's two modules say differently.
type words struct {
	title   string // the tool where a sentence begins
	subject string // the language where a sentence begins
	exists  string
	failed  string
}

var sayings = map[string]words{
	"rbenv": {"Rbenv", "Ruby", "Requested ruby exists", "Failed to install ruby"},
	"pyenv": {"pyenv", "python", "Requested python exists.", "Could not install python."},
}

// A run is a call of a state.
type run struct {
	*shims.Client
	words
	version string
	// The state of the version on the machine.
	have, isDefault bool
}

func newRun(c *fun.Call, t *shims.Tool, name, user string) *run {
	return &run{Client: &shims.Client{Tool: t, Env: c.Env, User: user}, words: sayings[t.Name], version: t.Plain(name)}
}

// look learns whether the version is installed, and the default one.
func (r *run) look(ctx context.Context) error {
	all, err := r.Versions(ctx)
	if err != nil {
		return err
	}
	if r.have = slices.Contains(all, r.version); !r.have {
		return nil
	}
	now, err := r.Default(ctx)
	r.isDefault = now == r.version
	return err
}

func (r *run) done(result fun.Outcome, changes *value.Map, comment ...string) fun.Ret {
	ret := fun.Report(result, changes, comment...).ResultFirst()
	if r.have {
		ret.Extra = value.MapOf("default", r.isDefault)
	}
	return ret
}

// installed makes sure that a version is installed, and the tool with it.
// Salt: salt/states/rbenv.py installed, salt/states/pyenv.py installed.
func installed(ctx context.Context, c *fun.Call, r *run, isDefault bool) fun.Ret {
	if err := r.look(ctx); err != nil {
		return fun.Raise(err)
	}
	due := isDefault && !r.isDefault
	changes := value.NewMap(1)
	switch {
	case c.Test && !r.have:
		return r.done(fun.WouldChange, nil, r.subject, " ", r.version, " is set to be installed")
	case c.Test && due:
		return r.done(fun.WouldChange, nil, r.subject, " ", r.version, " is set to become the default")
	case c.Test:
		return r.done(fun.OK, nil, r.subject, " ", r.version, " is already installed")
	}
	comment := r.exists
	if !r.have {
		if !r.Installed(ctx) {
			if ok, err := r.Install(ctx, ""); err != nil {
				return fun.Raise(err)
			} else if !ok {
				return r.done(fun.Failed, nil, r.title, " failed to install")
			}
		}
		if _, ok, err := r.InstallVersion(ctx, r.version); err != nil {
			return fun.Raise(err)
		} else if !ok {
			return r.done(fun.Failed, nil, r.failed)
		}
		r.have, r.isDefault = true, isDefault
		changes.Set(r.version, "Installed")
		comment = "Successfully installed " + r.Language
	}
	if due {
		if ok, err := r.SetDefault(ctx, r.version); err != nil {
			return fun.Raise(err)
		} else if !ok {
			return r.done(fun.Failed, changes, "Failed to make ", r.version, " the default")
		}
		if r.isDefault = true; changes.Len() == 0 {
			changes.Set("default", r.version)
		}
	}
	return r.done(fun.OK, changes, comment)
}

// absent makes sure that a version is not installed.
// Salt: salt/states/rbenv.py absent, salt/states/pyenv.py absent.
func absent(ctx context.Context, c *fun.Call, r *run) fun.Ret {
	if !r.Installed(ctx) {
		return r.done(fun.OK, nil, r.title, " not installed, ", r.version, " not either")
	}
	if err := r.look(ctx); err != nil {
		return fun.Raise(err)
	}
	switch {
	case !r.have && c.Test:
		return r.done(fun.OK, nil, r.subject, " ", r.version, " is already uninstalled")
	case !r.have:
		return r.done(fun.OK, nil, r.subject, " ", r.version, " is already absent")
	case c.Test:
		return r.done(fun.WouldChange, nil, r.subject, " ", r.version, " is set to be uninstalled")
	}
	if r.isDefault {
		if _, err := r.SetDefault(ctx, "system"); err != nil {
			return fun.Raise(err)
		}
	}
	if ok, err := r.UninstallVersion(ctx, r.version); err != nil {
		return fun.Raise(err)
	} else if !ok {
		return r.done(fun.Failed, nil, "Failed to uninstall ", r.Language)
	}
	return r.done(fun.OK, value.MapOf(r.version, "Uninstalled"), "Successfully removed ", r.Language)
}

// installTool makes sure that the tool is installed.
// Salt: salt/states/rbenv.py install_rbenv.
func installTool(ctx context.Context, c *fun.Call, r *run) fun.Ret {
	switch {
	case r.Installed(ctx):
		return r.done(fun.OK, nil, r.title, " is already installed")
	case c.Test:
		return r.done(fun.WouldChange, nil, r.title, " is set to be installed")
	}
	if ok, err := r.Install(ctx, ""); err != nil {
		return fun.Raise(err)
	} else if !ok {
		return r.done(fun.Failed, nil, r.title, " failed to install")
	}
	return r.done(fun.OK, value.MapOf(r.Name, "Installed"), r.title, " installed")
}
