// Package hg is Salt's state module "hg": Mercurial repositories.
package hg

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"brine/internal/fun"
	"brine/internal/redact"
	"brine/internal/value"
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

// latest makes sure that a clone is at the newest revision, or at a given one.
// Salt: salt/states/hg.py latest.
func latest(ctx context.Context, c *fun.Call) fun.Ret {
	target := c.Str("target")
	if target == "" {
		return done(fun.Failed, nil, `"target option is required`)
	}
	if !filepath.IsAbs(target) {
		return done(fun.Failed, nil, "target '", target, "' is not an absolute path")
	}
	client := &hg.Client{Env: c.Env, User: c.Str("user"), Identity: c.Str("identity")}
	if st, err := c.Env.Host.Stat(filepath.Join(target, ".hg")); err == nil && st.Mode.IsDir() {
		return update(ctx, c, client, target)
	}
	return clone(ctx, c, client, target)
}

// update brings a repository that is there up to date.
func update(ctx context.Context, c *fun.Call, client *hg.Client, target string) fun.Ret {
	name, rev := c.Str("name"), c.Str("rev")
	before, err := client.Revision(ctx, target, ".", false)
	switch {
	case err != nil:
		return failed(err)
	case before == "":
		return done(fun.Failed, nil, "Seems that ", target, " is not a valid hg repo")
	case c.Test && !c.Bool("update_head"):
		return done(fun.OK, nil, "The head would not be updated because update_head=False.")
	case c.Test:
		// A changed working directory has a + behind its hash.
		if due, err := client.Remote(ctx, target, name, rev); err != nil {
			return failed(err)
		} else if due == strings.TrimSuffix(before, "+") && (due == before || !c.Bool("clean")) {
			return done(fun.OK, nil, "Repository ", target, " is up to date (current revision is ", before, ")")
		}
		return done(fun.WouldChange, nil, "Repository ", target, " update is probably required (current revision is ", before, ")")
	}
	said, err := client.Pull(ctx, target, c.Str("opts"), name)
	if err != nil {
		return failed(err)
	}
	if !c.Bool("update_head") {
		if strings.Contains(said, "no changes found") {
			return done(fun.OK, nil, "No changes found and update_head=False so will skip updating.")
		}
		return done(fun.OK, nil, "Update is probably required but update_head=False so we will skip updating.")
	}
	if rev == "" {
		rev = "tip"
	}
	if _, err := client.Update(ctx, target, rev, c.Bool("clean")); err != nil {
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
func clone(ctx context.Context, c *fun.Call, client *hg.Client, target string) fun.Ret {
	h, name := c.Env.Host, c.Str("name")
	var names []string
	if machine.Exists(h, target) {
		var err error
		if names, err = h.ReadDir(target); err != nil {
			return done(fun.Failed, nil, "target '", target, "' is not a directory")
		}
		if len(names) > 0 && !c.Bool("force") {
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
	said, err := client.Clone(ctx, target, name, c.Str("opts"))
	if err != nil {
		return failed(err)
	}
	if !machine.Exists(h, target) {
		return done(fun.Failed, nil, said)
	}
	at := "tip"
	if rev := c.Str("rev"); rev != "" {
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
