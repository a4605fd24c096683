// Package helm is Salt's state module "helm": releases and repositories of Helm.
package helm

import (
	"context"
	"errors"
	"strings"

	"brine/internal/fun"
	"brine/internal/value"
	"brine/modules/helm"
)

// States returns the rows of the state module "helm".
func States() fun.Module {
	return fun.Module{Name: "helm", Kind: fun.State, Doc: "Manage releases and repositories of Helm.", Specs: specs, Avail: helm.Available}
}

func done(result fun.Outcome, comment string) fun.Ret {
	return fun.Ret{Result: result, Comment: comment}
}

// failed reports what helm said.
func failed(err error, prefix string) fun.Ret {
	if ce, ok := errors.AsType[*fun.CommandError](err); ok {
		return done(fun.Failed, prefix+ce.Msg)
	}
	return fun.Raise(err)
}

// repoManaged makes sure that repositories are configured or not. Salt:
// salt/states/helm.py repo_managed. Difference: test mode knows whether anything is due.
func repoManaged(ctx context.Context, c *fun.Call) fun.Ret {
	const start = "Failed to add some repositories: "
	w, err := helm.WishOf(c)
	if err != nil {
		return failed(err, start)
	}
	h, f := helm.Client{Env: c.Env}, helm.FlagsOf(c)
	p, err := h.Plan(ctx, f, w, c.Bool("prune"))
	switch {
	case err != nil:
		return failed(err, start)
	case len(p.Add) == 0 && len(p.Remove) == 0:
		return done(fun.OK, "Helm repo is managed.")
	case c.Test:
		return done(fun.WouldChange, "Helm repo would have been managed.")
	}
	changes, said, err := h.Apply(ctx, f, p)
	if err != nil {
		return failed(err, start)
	}
	if len(said) > 0 {
		return fun.Ret{Result: fun.Failed, Comment: "Failed to add or remove some repositories.\n" + strings.Join(said, "\n"), Changes: changes}
	}
	if c.Bool("repo_update") {
		var updated value.Value = true
		if _, err := h.Run(ctx, f, "repo", "update"); err != nil {
			updated = err.Error()
		}
		changes.Set("repo_update", updated)
	}
	return fun.Ret{Result: fun.OK, Comment: "Repositories were added or removed.", Changes: changes}
}

// repoUpdated reads what the repositories have. Salt: salt/states/helm.py repo_updated.
func repoUpdated(ctx context.Context, c *fun.Call) fun.Ret {
	if c.Test {
		return done(fun.WouldChange, "Helm repo would have been updated.")
	}
	if _, err := (helm.Client{Env: c.Env}).Run(ctx, helm.FlagsOf(c), "repo", "update"); err != nil {
		return failed(err, "Failed to sync some repositories.\n")
	}
	return done(fun.OK, "Helm repo is updated.")
}

// releasePresent installs a release or upgrades it. Salt: salt/states/helm.py
// release_present.
func releasePresent(ctx context.Context, c *fun.Call) fun.Ret {
	if c.Test {
		return done(fun.WouldChange, "Helm release would have been installed or updated.")
	}
	name := c.Str("name")
	h, f := helm.Client{Env: c.Env}, helm.FlagsOf(c)
	have, err := h.Release(ctx, f, name)
	if err != nil {
		return failed(err, "")
	}
	verb := "install"
	if have != nil {
		verb = "upgrade"
	}
	if _, err := h.Run(ctx, f, verb, name, c.Str("chart")); err != nil {
		return failed(err, "")
	}
	changes, err := h.Release(ctx, f, name)
	if err != nil {
		return failed(err, "")
	}
	changes.Delete("manifest")
	return fun.Ret{Result: fun.OK, Comment: "Helm release " + name + " is present", Changes: changes}
}

// releaseAbsent makes sure that a release is not installed. Salt: salt/states/helm.py
// release_absent. Differences: test mode knows whether anything is due, and a cluster
// that does not answer is a failure.
func releaseAbsent(ctx context.Context, c *fun.Call) fun.Ret {
	name := c.Str("name")
	h, f := helm.Client{Env: c.Env}, helm.FlagsOf(c)
	have, err := h.Release(ctx, f, name)
	switch {
	case err != nil:
		return failed(err, "")
	case have == nil:
		return done(fun.OK, "Helm release "+name+" is absent.")
	case c.Test:
		return done(fun.WouldChange, "Helm release would have been uninstalled.")
	}
	if _, err := h.Run(ctx, f, "uninstall", name); err != nil {
		return failed(err, "")
	}
	return fun.Ret{Result: fun.OK, Comment: "Helm release " + name + " is absent.", Changes: value.MapOf("absent", name)}
}
