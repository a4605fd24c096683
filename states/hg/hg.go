// Package hg is Salt's state module "hg": Mercurial repositories.
package hg

import (
	"context"
	"errors"
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
	return fun.Module{Name: "hg", Kind: fun.State, Doc: "Manage Mercurial repositories.", Specs: specs, Avail: available}
}

func available(e *fun.Env) (bool, string) {
	if m, _ := e.Provider(fun.Exec, "hg"); m == nil {
		return false, "Command hg not found"
	}
	return true, ""
}

var order = []string{"name", "result", "comment", "changes"}

func done(result fun.Outcome, changes *value.Map, comment ...string) fun.Ret {
	ret := fun.Ret{Result: result, Comment: strings.Join(comment, ""), Order: order}
	if changes != nil {
		ret.Changes = changes
	}
	return ret
}

// failed reports what hg said.
func failed(err error) fun.Ret {
	if ce, ok := errors.AsType[*fun.CommandError](err); ok {
		return done(fun.Failed, nil, ce.Msg)
	}
	return fun.Raise(err)
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
		return done(fun.Failed, nil, `"target option is required`)
	}
	if !filepath.IsAbs(target) {
		return done(fun.Failed, nil, "target '", target, "' is not an absolute path")
	}
	client := &hg.Client{Env: c.Env, User: a.User, Identity: a.Identity}
	if st, err := c.Env.Host.Stat(filepath.Join(target, ".hg")); err == nil && st.Mode.IsDir() {
		return update(ctx, c, a, client, target)
	}
	return clone(ctx, c, a, client, target)
}

// update brings a repository that is there up to date.
func update(ctx context.Context, c *fun.Call, a *latestArgs, client *hg.Client, target string) fun.Ret {
	name, rev := a.Name, a.Rev
	before, err := client.Revision(ctx, target, ".", false)
	switch {
	case err != nil:
		return failed(err)
	case before == "":
		return done(fun.Failed, nil, "Seems that ", target, " is not a valid hg repo")
	case c.Test && !a.UpdateHead:
		return done(fun.OK, nil, "The head would not be updated because update_head=False.")
	case c.Test:
		// A changed working directory has a + behind its hash.
		if due, err := client.Remote(ctx, target, name, rev); err != nil {
			return failed(err)
		} else if due == strings.TrimSuffix(before, "+") && (due == before || !a.Clean) {
			return done(fun.OK, nil, "Repository ", target, " is up to date (current revision is ", before, ")")
		}
		return done(fun.WouldChange, nil, "Repository ", target, " update is probably required (current revision is ", before, ")")
	}
	said, err := client.Pull(ctx, target, a.Opts, name)
	if err != nil {
		return failed(err)
	}
	if !a.UpdateHead {
		if strings.Contains(said, "no changes found") {
			return done(fun.OK, nil, "No changes found and update_head=False so will skip updating.")
		}
		return done(fun.OK, nil, "Update is probably required but update_head=False so we will skip updating.")
	}
	if rev == "" {
		rev = "tip"
	}
	if _, err := client.Update(ctx, target, rev, a.Clean); err != nil {
		return failed(err)
	}
	after, err := client.Revision(ctx, target, ".", false)
	if err != nil {
		return failed(err)
	}
	if after != before {
		return done(fun.OK, value.MapOf("revision", before+" => "+after), "Repository ", target, " updated.")
	}
	if strings.Contains(said, "error:") {
		return done(fun.Failed, nil, "An error was thrown by hg:\n", said)
	}
	return done(fun.OK, nil)
}

// clone makes the repository.
func clone(ctx context.Context, c *fun.Call, a *latestArgs, client *hg.Client, target string) fun.Ret {
	h, name := c.Env.Host, a.Name
	var names []string
	if machine.Exists(h, target) {
		var err error
		if names, err = h.ReadDir(target); err != nil {
			return done(fun.Failed, nil, "target '", target, "' is not a directory")
		}
		if len(names) > 0 && !a.Force {
			return done(fun.Failed, nil, "Directory exists, and is not empty")
		}
		if err := h.CheckSystem(target, true); err != nil {
			return done(fun.Failed, nil, err.Error())
		}
	}
	if c.Test {
		return done(fun.WouldChange, nil, "Repository ", redact.URLs(name), " is about to be cloned to ", target)
	}
	for _, n := range names {
		if err := h.RemoveAll(filepath.Join(target, n)); err != nil {
			return fun.Raise(err)
		}
	}
	said, err := client.Clone(ctx, target, name, a.Opts)
	if err != nil {
		return failed(err)
	}
	if !machine.Exists(h, target) {
		return done(fun.Failed, nil, said)
	}
	at := "tip"
	if rev := a.Rev; rev != "" {
		if _, err := client.Update(ctx, target, rev, false); err != nil {
			return failed(err)
		}
		at = "."
	}
	now, err := client.Revision(ctx, target, at, false)
	if err != nil {
		return failed(err)
	}
	shown := redact.URLs(name)
	return done(fun.OK, value.MapOf("new", shown, "revision", now), "Repository ", shown, " cloned to ", target)
}
