// Package hg is Salt's state module "hg": Mercurial repositories.
package hg

import (
	"context"
	"path/filepath"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/redact"
	"brine/internal/py/value"
	"brine/modules/hg"
	"brine/modules/machine"
)

// States returns the rows of the state module "hg".
func States() fun.Module {
	return fun.Module{Name: "hg", Kind: fun.State, Doc: "Manage Mercurial repositories.", Specs: specs, Avail: fun.Needs("hg", "Command hg not found")}
}

type latestArgs struct {
	Name       string `arg:"name,required" doc:"URL or path of the repository"`
	Rev        string `arg:"rev" doc:"revision to check out: a hash, tag, bookmark or branch; default: the newest"`
	Target     string `arg:"target,path" doc:"directory of the clone"`
	Clean      bool   `arg:"clean" default:"False" doc:"discard changes of files"`
	User       string `arg:"user" doc:"account that runs hg"`
	Identity   string `arg:"identity,path" doc:"SSH private key"`
	Force      bool   `arg:"force" default:"False" doc:"delete the content of the target if it is not a repository"`
	Opts       string `arg:"opts" doc:"further options for hg clone and hg pull"`
	UpdateHead bool   `arg:"update_head" default:"True" doc:"check new revisions out; if false, they are only pulled"`
	fun.SystemPath
}

// latest makes sure that a clone is at the newest revision, or at a given one.
// Salt: salt/states/hg.py latest.
func latest(ctx context.Context, c *fun.Call, a *latestArgs) fun.Ret {
	target := a.Target
	if target == "" {
		return fun.Report(fun.Failed, nil, `"target option is required`).ResultFirst()
	}
	if !filepath.IsAbs(target) {
		return fun.Report(fun.Failed, nil, "target '", target, "' is not an absolute path").ResultFirst()
	}
	client := &hg.Client{Env: c.Env, User: a.User, Identity: a.Identity}
	if st, err := c.Env.Host.Stat(filepath.Join(target, ".hg")); err == nil && st.Mode.IsDir() {
		return update(ctx, c, a, client, target)
	}
	return clone(ctx, c, a, client, target)
}

// update brings a repository that exists up to date.
func update(ctx context.Context, c *fun.Call, a *latestArgs, client *hg.Client, target string) fun.Ret {
	name, rev := a.Name, a.Rev
	before, err := client.Revision(ctx, target, ".", false)
	switch {
	case err != nil:
		return fun.FailedBy(err, "").ResultFirst()
	case before == "":
		return fun.Report(fun.Failed, nil, "Seems that ", target, " is not a valid hg repo").ResultFirst()
	case c.Test && !a.UpdateHead:
		return fun.Report(fun.OK, nil, "The head would not be updated because update_head=False.").ResultFirst()
	case c.Test:
		// A changed working directory has a + behind its hash.
		if due, err := client.Remote(ctx, target, name, rev); err != nil {
			return fun.FailedBy(err, "").ResultFirst()
		} else if due == strings.TrimSuffix(before, "+") && (due == before || !a.Clean) {
			return fun.Report(fun.OK, nil, "Repository ", target, " is up to date (current revision is ", before, ")").ResultFirst()
		}
		return fun.Report(fun.WouldChange, nil, "Repository ", target, " update is probably required (current revision is ", before, ")").ResultFirst()
	}
	said, err := client.Pull(ctx, target, a.Opts, name)
	if err != nil {
		return fun.FailedBy(err, "").ResultFirst()
	}
	if !a.UpdateHead {
		if strings.Contains(said, "no changes found") {
			return fun.Report(fun.OK, nil, "No changes found and update_head=False so will skip updating.").ResultFirst()
		}
		return fun.Report(fun.OK, nil, "Update is probably required but update_head=False so we will skip updating.").ResultFirst()
	}
	if rev == "" {
		rev = "tip"
	}
	if _, err := client.Update(ctx, target, rev, a.Clean); err != nil {
		return fun.FailedBy(err, "").ResultFirst()
	}
	after, err := client.Revision(ctx, target, ".", false)
	if err != nil {
		return fun.FailedBy(err, "").ResultFirst()
	}
	if after != before {
		return fun.Report(fun.OK, value.MapOf("revision", before+" => "+after), "Repository ", target, " updated.").ResultFirst()
	}
	if strings.Contains(said, "error:") {
		return fun.Report(fun.Failed, nil, "An error was thrown by hg:\n", said).ResultFirst()
	}
	return fun.Report(fun.OK, nil).ResultFirst()
}

// clone makes the repository.
func clone(ctx context.Context, c *fun.Call, a *latestArgs, client *hg.Client, target string) fun.Ret {
	h, name := c.Env.Host, a.Name
	var names []string
	if machine.Exists(h, target) {
		var err error
		if names, err = h.ReadDir(target); err != nil {
			return fun.Report(fun.Failed, nil, "target '", target, "' is not a directory").ResultFirst()
		}
		if len(names) > 0 && !a.Force {
			return fun.Report(fun.Failed, nil, "Directory exists, and is not empty").ResultFirst()
		}
		if err := h.CheckSystem(target, true); err != nil {
			return fun.Report(fun.Failed, nil, err.Error()).ResultFirst()
		}
	}
	if c.Test {
		return fun.Report(fun.WouldChange, nil, "Repository ", redact.URLs(name), " is about to be cloned to ", target).ResultFirst()
	}
	for _, n := range names {
		if err := h.RemoveAll(filepath.Join(target, n)); err != nil {
			return fun.Raise(err)
		}
	}
	said, err := client.Clone(ctx, target, name, a.Opts)
	if err != nil {
		return fun.FailedBy(err, "").ResultFirst()
	}
	if !machine.Exists(h, target) {
		return fun.Report(fun.Failed, nil, said).ResultFirst()
	}
	at := "tip"
	if rev := a.Rev; rev != "" {
		if _, err := client.Update(ctx, target, rev, false); err != nil {
			return fun.FailedBy(err, "").ResultFirst()
		}
		at = "."
	}
	now, err := client.Revision(ctx, target, at, false)
	if err != nil {
		return fun.FailedBy(err, "").ResultFirst()
	}
	shown := redact.URLs(name)
	return fun.Report(fun.OK, value.MapOf("new", shown, "revision", now), "Repository ", shown, " cloned to ", target).ResultFirst()
}
