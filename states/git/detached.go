package git

import (
	"context"
	"path/filepath"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/git"
)

// A detachedRun is one run of git.detached.
type detachedRun struct {
	*report
	a              *detachedArgs
	auth           *git.Client
	source         string // URL without credentials
	shown          string // name without credentials
	target, remote string
	rev            string
	hash           bool // rev looks like a commit
	have           bool // the commit is there already
	local          string
}

type detachedArgs struct {
	Name          string      `arg:"name,required" doc:"URL of the repository"`
	Rev           value.Value `arg:"rev,required,str" doc:"branch, tag or commit"`
	Target        value.Value `arg:"target,required,path" doc:"directory of the clone, an absolute path"`
	Remote        string      `arg:"remote" default:"origin" doc:"name of the remote"`
	User          string      `arg:"user" doc:"account that runs git"`
	_             string      `arg:"password,secret" doc:"accepted for compatibility; it is used on Windows only"`
	ForceClone    bool        `arg:"force_clone" default:"False" doc:"delete the content of the target if it is not a repository"`
	ForceCheckout bool        `arg:"force_checkout" default:"False" doc:"discard uncommitted changes when another branch or commit is checked out"`
	FetchRemote   bool        `arg:"fetch_remote" default:"True" doc:"fetch from the remote"`
	HardReset     bool        `arg:"hard_reset" default:"False" doc:"discard uncommitted changes first"`
	Submodules    bool        `arg:"submodules" default:"False" doc:"update submodules"`
	Identity      []string    `arg:"identity" doc:"SSH private keys to try: paths or salt:// URLs"`
	HTTPSUser     value.Value `arg:"https_user,str" doc:"user for HTTPS"`
	HTTPSPass     value.Value `arg:"https_pass,secret,str" doc:"password for HTTPS"`
	_             string      `arg:"output_encoding" doc:"accepted; output is UTF-8"`
	fun.SystemPath
	Rest fun.Kwargs
}

// detached makes sure that a commit, branch or tag is checked out without a
// branch.
// Salt: salt/states/git.py detached.
func detached(ctx context.Context, c *fun.Call, a *detachedArgs) fun.Ret {
	d := &detachedRun{report: newReport(c, a.Name, a.User), a: a, target: fun.TextOf(a.Target), remote: a.Remote, rev: fun.TextOf(a.Rev), shown: git.Redact(a.Name)}
	for _, step := range []func(context.Context) *fun.Ret{d.check, d.prepare, d.fetch, d.checkout} {
		if stop := step(ctx); stop != nil {
			return *stop
		}
	}
	return *d.ret(fun.OK, sentences(d.comments))
}

func (d *detachedRun) check(ctx context.Context) *fun.Ret {
	if stop := d.unknown(d.a.Rest); stop != nil {
		return stop
	}
	switch {
	case d.rev == "":
		return d.fail("'", value.Str(d.a.Rev), "' is not a valid value for the 'rev' argument")
	case d.target == "":
		return d.fail("'", value.Str(d.a.Target), "' is not a valid value for the 'target' argument")
	case !filepath.IsAbs(d.target):
		return d.fail("Target '", d.target, "' is not an absolute path")
	}
	if stop := d.option(word{"name", d.name}, word{"rev", d.rev}, word{"remote", d.remote}); stop != nil {
		return stop
	}
	if stop := d.identities(ctx, d.a.Identity); stop != nil {
		return stop
	}
	if isFile(d.c.Env.Host, d.target) {
		return d.fail("Target '", d.target, "' exists and is a regular file, cannot proceed")
	}
	var err error
	if d.auth, d.source, err = d.g.WithAuth(d.name, d.a.HTTPSUser, d.a.HTTPSPass); err != nil {
		return d.failed("", err)
	}
	if isHash(d.rev) {
		d.rev, d.hash = strings.ToLower(d.rev), true
	}
	return nil
}

// prepare clones the repository, or sets the URL of the remote of a clone.
func (d *detachedRun) prepare(ctx context.Context) *fun.Ret {
	is, err := d.isRepo(ctx, d.target, false)
	if err != nil {
		return d.failed("", err)
	}
	if !is {
		return d.clone(ctx)
	}
	if d.local, _, err = d.head(ctx, d.target); err != nil {
		return d.failed("", err)
	}
	if d.hash {
		_, err := d.plain().RevParse(ctx, d.target, "--verify", "--quiet", d.rev+"^{commit}")
		if err != nil && !git.IsFailure(err) {
			return d.failed("", err)
		}
		d.have = err == nil
		return nil
	}
	remotes, err := d.plain().Remotes(ctx, d.target, false)
	if err != nil {
		return d.failed("", err)
	}
	url := ""
	if m := remotes.Map(d.remote); m != nil {
		url = m.Str("fetch")
	}
	if url != "" && git.Plain(url) == d.source {
		return nil
	}
	if d.c.Test {
		return d.would("Remote ", d.remote, " would be set to ", d.shown)
	}
	local := *d.auth
	local.Identity = nil
	if err := local.SetRemote(ctx, d.target, d.remote, d.source); err != nil {
		return d.failed("", err)
	}
	d.say("Remote ", d.remote, " updated from '", git.Redact(value.Str(value.OrNone(url))), "' to '", d.shown, "'")
	return nil
}

func (d *detachedRun) clone(ctx context.Context) *fun.Ret {
	if stop := d.makeRoom(d.target, d.a.ForceClone); stop != nil {
		return stop
	}
	if d.c.Test {
		return d.would("Repository ", d.shown, " would be cloned to ", d.target)
	}
	opts := []string{"--no-checkout"}
	if d.remote != "origin" {
		opts = append(opts, "--origin", d.remote)
	}
	if err := d.auth.Clone(ctx, d.source, d.target, opts...); err != nil {
		return d.failed("", err)
	}
	d.say(d.shown, " cloned to ", d.target)
	return nil
}

func (d *detachedRun) fetch(ctx context.Context) *fun.Ret {
	if d.have || !d.a.FetchRemote {
		return nil
	}
	if d.c.Test {
		return d.would("Repository remote ", d.remote, " would be fetched")
	}
	got, err := d.auth.Fetch(ctx, d.target, "--force", d.remote, "refs/heads/*:refs/remotes/"+d.remote+"/*", "+refs/tags/*:refs/tags/*")
	if err != nil {
		if !git.IsFailure(err) {
			return d.failed("", err)
		}
		return d.fail("Fetch failed:\n\n", err.Error())
	}
	if got.Len() > 0 {
		d.say("Remote ", d.remote, " was fetched, resulting in updated refs")
	}
	return nil
}

// commit returns what to check out, and whether it is checked out already.
func (d *detachedRun) commit(ctx context.Context) (commit string, is bool, stop *fun.Ret) {
	g := d.plain()
	if d.hash {
		if _, err := g.RevParse(ctx, d.target, "--verify", "--quiet", d.rev+"^{commit}"); err == nil {
			return d.rev, d.local != "" && strings.HasPrefix(d.local, d.rev), nil
		} else if !git.IsFailure(err) {
			return "", false, d.failed("", err)
		}
	}
	refs, err := g.LsRemote(ctx, "", "--", d.target)
	if err != nil {
		return "", false, d.failed("Failed to list refs for "+d.remote+": ", err)
	}
	for _, name := range []string{"refs/remotes/" + d.remote + "/" + d.rev, "refs/tags/" + d.rev} {
		if sha := refs.Get(name); sha != "" {
			// An annotated tag is an object of its own.
			return sha, d.local != "" && (sha == d.local || refs.Get(name+"^{}") == d.local), nil
		}
	}
	return "", false, d.fail("Revision '", d.rev, "' does not exist")
}

func (d *detachedRun) checkout(ctx context.Context) *fun.Ret {
	commit, is, stop := d.commit(ctx)
	if stop != nil {
		return stop
	}
	g := d.plain()
	if d.a.HardReset {
		if d.c.Test {
			return d.would("Hard reset to HEAD would be performed on ", d.target)
		}
		if _, err := g.Run(ctx, d.target, "reset", "--hard", "HEAD"); err != nil {
			return d.failed("", err)
		}
		d.say("Repository was reset to HEAD before checking out revision")
	}
	rev := ""
	if !is {
		if d.c.Test {
			d.changes.Set("HEAD", value.MapOf("old", value.OrNone(d.local), "new", commit))
			return d.would("Commit ID ", commit, " would be checked out at ", d.target)
		}
		args := []string{"checkout"}
		if d.a.ForceCheckout {
			args = append(args, "--force")
		}
		if _, err := g.Run(ctx, d.target, append(args, commit)...); err != nil {
			return d.failed("", err)
		}
		d.say("Commit ID ", commit, " was checked out at ", d.target)
		var err error
		if rev, _, err = d.head(ctx, d.target); err != nil {
			return d.failed("", err)
		}
	}
	if d.a.Submodules && !d.c.Test {
		up := &report{c: d.c, name: d.name, g: d.auth, changes: d.changes, comments: d.comments}
		if stop := up.updateSubmodules(ctx, d.target); stop != nil {
			return stop
		}
		d.say("Submodules were updated")
	}
	if rev != "" {
		d.changes.Set("HEAD", value.MapOf("old", value.OrNone(d.local), "new", rev))
	} else {
		d.say("Already checked out at correct revision")
	}
	return nil
}
