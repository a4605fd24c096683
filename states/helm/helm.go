// Package helm is Salt's state module "helm": releases and repositories of Helm.
package helm

import (
	"context"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/helm"
	"brine/modules/tool"
)

// States returns the rows of the state module "helm".
func States() fun.Module {
	return fun.Module{Name: "helm", Kind: fun.State, Doc: "Manage releases and repositories of Helm.", Specs: specs, Avail: tool.Needs("helm", "The helm execution module failed to load: the helm binary is not in the path.")}
}

type repoManagedArgs struct {
	_          string        `arg:"name,required" doc:"any text"`
	Present    []value.Value `arg:"present,list[dict]" doc:"wanted repositories: mappings of name and url"`
	Absent     []string      `arg:"absent" doc:"names of unwanted repositories"`
	Prune      bool          `arg:"prune" default:"False" doc:"remove repositories that are not in present"`
	RepoUpdate bool          `arg:"repo_update" default:"False" doc:"read what the repositories have after a change"`
	helm.NamespaceArgs
}

// repoManaged makes sure that repositories are configured or not. Salt:
// salt/states/helm.py repo_managed. Difference: test mode knows whether anything is due.
func repoManaged(ctx context.Context, c *fun.Call, a *repoManagedArgs) fun.Ret {
	const start = "Failed to add some repositories: "
	w, err := helm.DesiredOf(a.Present, a.Absent)
	if err != nil {
		return fun.FailedBy(err, start)
	}
	h, f := helm.Client{Env: c.Env}, a.Options()
	p, err := h.Plan(ctx, f, w, a.Prune)
	switch {
	case err != nil:
		return fun.FailedBy(err, start)
	case len(p.Add) == 0 && len(p.Remove) == 0:
		return fun.Same("Helm repo is managed.")
	case c.Test:
		return fun.Due("Helm repo would have been managed.")
	}
	changes, said, err := h.Apply(ctx, f, p)
	if err != nil {
		return fun.FailedBy(err, start)
	}
	if len(said) > 0 {
		return fun.Ret{Result: fun.Failed, Comment: "Failed to add or remove some repositories.\n" + strings.Join(said, "\n"), Changes: changes}
	}
	if a.RepoUpdate {
		var updated value.Value = true
		if _, err := h.Run(ctx, f, "repo", "update"); err != nil {
			updated = err.Error()
		}
		changes.Set("repo_update", updated)
	}
	return fun.Ret{Result: fun.OK, Comment: "Repositories were added or removed.", Changes: changes}
}

type repoUpdatedArgs struct {
	_ string `arg:"name,required" doc:"any text"`
	helm.NamespaceArgs
}

// repoUpdated reads what the repositories have. Salt: salt/states/helm.py repo_updated.
func repoUpdated(ctx context.Context, c *fun.Call, a *repoUpdatedArgs) fun.Ret {
	if c.Test {
		return fun.Due("Helm repo would have been updated.")
	}
	if _, err := (helm.Client{Env: c.Env}).Run(ctx, a.Options(), "repo", "update"); err != nil {
		return fun.FailedBy(err, "Failed to sync some repositories.\n")
	}
	return fun.Same("Helm repo is updated.")
}

type releasePresentArgs struct {
	Name  string `arg:"name,required" doc:"name of the release"`
	Chart string `arg:"chart,required" doc:"name or path of the chart"`
	helm.ChartArgs
}

// releasePresent installs a release or upgrades it. Salt: salt/states/helm.py
// release_present.
func releasePresent(ctx context.Context, c *fun.Call, a *releasePresentArgs) fun.Ret {
	if c.Test {
		return fun.Due("Helm release would have been installed or updated.")
	}
	name := a.Name
	h, f := helm.Client{Env: c.Env}, a.Options()
	have, err := h.Release(ctx, f, name)
	if err != nil {
		return fun.FailedBy(err, "")
	}
	verb := "install"
	if have != nil {
		verb = "upgrade"
	}
	if _, err := h.Run(ctx, f, verb, name, a.Chart); err != nil {
		return fun.FailedBy(err, "")
	}
	changes, err := h.Release(ctx, f, name)
	if err != nil {
		return fun.FailedBy(err, "")
	}
	changes.Delete("manifest")
	return fun.Ret{Result: fun.OK, Comment: "Helm release " + name + " is present", Changes: changes}
}

type releaseAbsentArgs struct {
	Name string `arg:"name,required" doc:"name of the release"`
	helm.NamespaceArgs
}

// releaseAbsent makes sure that a release is not installed. Salt: salt/states/helm.py
// release_absent. Differences: test mode knows whether anything is due, and a cluster
// that does not answer is a failure.
func releaseAbsent(ctx context.Context, c *fun.Call, a *releaseAbsentArgs) fun.Ret {
	name := a.Name
	h, f := helm.Client{Env: c.Env}, a.Options()
	have, err := h.Release(ctx, f, name)
	switch {
	case err != nil:
		return fun.FailedBy(err, "")
	case have == nil:
		return fun.Report(fun.OK, nil, "Helm release "+name+" is absent.")
	case c.Test:
		return fun.Due("Helm release would have been uninstalled.")
	}
	if _, err := h.Run(ctx, f, "uninstall", name); err != nil {
		return fun.FailedBy(err, "")
	}
	return fun.Ret{Result: fun.OK, Comment: "Helm release " + name + " is absent.", Changes: value.MapOf("absent", name)}
}
