package git

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/git"
)

// A revType is what the revision of git.latest is on the remote.
type revType int

const (
	noRev revType = iota
	shaRev
	branchRev
	tagRev
)

// A tracking is what the upstream of the branch has to be.
type tracking int

const (
	unsetTracking tracking = iota // none
	keepTracking                  // whatever it is
	setTracking                   // wantUpstream
)

// A latestRun is one run of git.latest. SHAs and names that are not there are "".
type latestRun struct {
	*report
	a                            *latestArgs
	auth                         *git.Client // with credentials and identity files, for what asks the remote
	source                       string      // URL without credentials
	shown                        string      // name without credentials
	target, rev, branch, remote  string
	bare, mirror                 bool
	updateHead, force, forceSoft bool // force: force_reset is True; forceSoft: it is remote-changes

	remoteRefs         git.Refs
	defaultBranch      string
	remoteRev          string
	kind               revType
	remoteLoc          string
	want               tracking
	wantUpstream       string
	localRev           string
	localBranch        string
	baseRev            string
	baseBranch         string
	branches, tags     []string
	remotes            *value.Map
	revsMatch, changed bool // changed: there are uncommitted changes
	haveRemoteRev      bool
	ff                 fastForward
	upstream           string
}

// A fastForward says whether an update is one.
type fastForward int

const (
	unknownFF fastForward = iota
	noFF
	isFF
)

func ffOf(is bool) fastForward {
	if is {
		return isFF
	}
	return noFF
}

type latestArgs struct {
	Name          string         `arg:"name,required" doc:"URL of the repository"`
	Target        string         `arg:"target,required,path" doc:"directory of the clone, an absolute path"`
	Rev           value.Value    `arg:"rev,str" default:"HEAD" doc:"branch, tag or commit"`
	Branch        string         `arg:"branch" doc:"name of the local branch; default: the one that is checked out"`
	User          string         `arg:"user" doc:"account that runs git"`
	_             string         `arg:"password,secret" doc:"accepted for compatibility; it is used on Windows only"`
	UpdateHead    bool           `arg:"update_head" default:"True" doc:"update the working tree; otherwise only fetch"`
	ForceCheckout bool           `arg:"force_checkout" default:"False" doc:"discard uncommitted changes when another branch or commit is checked out"`
	ForceClone    bool           `arg:"force_clone" default:"False" doc:"delete the content of the target if it is not a repository"`
	ForceFetch    bool           `arg:"force_fetch" default:"False" doc:"let a fetch overwrite refs that cannot be fast-forwarded"`
	ForceReset    value.Value    `arg:"force_reset,str|bool" default:"False" doc:"reset the branch if it cannot be fast-forwarded or has uncommitted changes; remote-changes: only when the remote has changed"`
	Submodules    bool           `arg:"submodules" default:"False" doc:"update submodules"`
	Bare          bool           `arg:"bare" default:"False" doc:"make a repository without working tree"`
	Mirror        bool           `arg:"mirror" default:"False" doc:"mirror the remote; implies bare"`
	Remote        string         `arg:"remote" default:"origin" doc:"name of the remote"`
	FetchTags     bool           `arg:"fetch_tags" default:"True" doc:"fetch tags, and the branches of refspec_branch"`
	SyncTags      bool           `arg:"sync_tags" default:"True" doc:"delete local tags that the remote does not have"`
	Depth         fun.Opt[int64] `arg:"depth" doc:"clone only this many commits of the history; rev must be a branch or tag"`
	Identity      []string       `arg:"identity" doc:"SSH private keys to try: paths or salt:// URLs"`
	HTTPSUser     value.Value    `arg:"https_user,str" doc:"user for HTTPS"`
	HTTPSPass     value.Value    `arg:"https_pass,secret,str" doc:"password for HTTPS"`
	RefspecBranch string         `arg:"refspec_branch" default:"*" doc:"branches to fetch"`
	RefspecTag    string         `arg:"refspec_tag" default:"*" doc:"tags to fetch"`
	_             string         `arg:"output_encoding" doc:"accepted; output is UTF-8"`
	fun.SystemPath
	Rest fun.Kwargs
}

// latest makes sure that a clone exists and is at the newest commit of a branch,
// or at a tag or commit. Salt: salt/states/git.py latest.
func latest(ctx context.Context, c *fun.Call, a *latestArgs) fun.Ret {
	l := &latestRun{
		report: newReport(c, a.Name, a.User), a: a, target: a.Target, rev: fun.TextOf(a.Rev), branch: a.Branch, remote: a.Remote,
		bare: a.Bare || a.Mirror, mirror: a.Mirror, updateHead: a.UpdateHead, shown: git.Redact(a.Name),
	}
	for _, step := range []func(context.Context) *fun.Ret{l.check, l.askRemote, l.findRev, l.checkRev} {
		if stop := step(ctx); stop != nil {
			return *stop
		}
	}
	is, err := l.isRepo(ctx, l.target, l.bare)
	if err != nil {
		return *l.failed("", err)
	}
	steps := []func(context.Context) *fun.Ret{l.look, l.looseChanges, l.findRemoteRev, l.judge, l.setURL, l.update, l.finish}
	if !is {
		steps = []func(context.Context) *fun.Ret{l.clone, l.settle, l.cloneReport}
	}
	for _, step := range steps {
		if stop := step(ctx); stop != nil {
			return *stop
		}
	}
	return *l.ret(fun.OK, sentences(l.comments))
}

func (l *latestRun) check(ctx context.Context) *fun.Ret {
	if stop := l.unknown(l.a.Rest); stop != nil {
		return stop
	}
	switch {
	case l.remote == "":
		return l.fail("'remote' argument is required")
	case l.target == "":
		return l.fail("'target' argument is required")
	case l.rev == "":
		return l.fail("'", value.Str(l.a.Rev), "' is not a valid value for the 'rev' argument")
	}
	switch v := l.a.ForceReset.(type) {
	case bool:
		l.force = v
	case string:
		if l.forceSoft = v == "remote-changes"; !l.forceSoft {
			return l.fail("'force_reset' must be one of True, False, or 'remote-changes'")
		}
	}
	if !filepath.IsAbs(l.target) {
		return l.fail("target '", l.target, "' is not an absolute path")
	}
	if stop := l.option(word{"name", l.name}, word{"rev", l.rev}, word{"branch", l.branch}, word{"remote", l.remote}); stop != nil {
		return stop
	}
	if stop := l.identities(ctx, l.a.Identity); stop != nil {
		return stop
	}
	if isFile(l.c.Env.Host, l.target) {
		return l.fail("Target '", l.target, "' exists and is a regular file, cannot proceed")
	}
	var err error
	if l.auth, l.source, err = l.g.WithAuth(l.name, l.a.HTTPSUser, l.a.HTTPSPass); err != nil {
		return l.failed("", err)
	}
	if l.rev != "HEAD" && l.bare {
		return l.fail("'rev' is not compatible with the 'mirror' and 'bare' arguments")
	}
	return nil
}

// askRemote reads the refs of the remote.
func (l *latestRun) askRemote(ctx context.Context) *fun.Ret {
	var err error
	if l.remoteRefs, err = l.auth.LsRemote(ctx, "", "--", l.source); err != nil {
		return l.failed("Failed to check remote refs: ", err)
	}
	if head := l.remoteRefs.Get("HEAD"); head != "" {
		for _, r := range l.remoteRefs {
			if name, ok := strings.CutPrefix(r.Name, "refs/heads/"); ok && r.SHA == head {
				l.defaultBranch = name
				break
			}
		}
	}
	return nil
}

// findRev finds what rev is on the remote: its HEAD, a branch, a tag or a commit.
func (l *latestRun) findRev(context.Context) *fun.Ret {
	if l.bare {
		return nil
	}
	ref := l.remoteRefs.Get
	switch {
	case l.rev == "HEAD":
		if l.remoteRev = ref("HEAD"); l.remoteRev != "" {
			l.kind, l.want = shaRev, keepTracking
		}
	case ref("refs/heads/"+l.rev) != "":
		l.remoteRev, l.kind, l.want, l.wantUpstream = ref("refs/heads/"+l.rev), branchRev, setTracking, l.remote+"/"+l.rev
	case ref("refs/tags/"+l.rev+"^{}") != "":
		l.remoteRev, l.kind = ref("refs/tags/"+l.rev+"^{}"), tagRev
	case ref("refs/tags/"+l.rev) != "":
		l.remoteRev, l.kind = ref("refs/tags/"+l.rev), tagRev
	case isHash(l.rev):
		l.rev = strings.ToLower(l.rev)
		l.remoteRev, l.kind = l.rev, shaRev
	}
	switch {
	case l.kind == shaRev && l.rev == "HEAD":
		l.remoteLoc = "remote HEAD (" + short7(l.remoteRev) + ")"
	case l.kind == shaRev:
		l.remoteLoc = short7(l.remoteRev)
	case l.kind == branchRev:
		l.remoteLoc = l.wantUpstream + " (" + short7(l.remoteRev) + ")"
	case l.kind == tagRev:
		l.remoteLoc = l.rev + " (" + short7(l.remoteRev) + ")"
	}
	return nil
}

func (l *latestRun) checkRev(context.Context) *fun.Ret {
	if l.a.Depth.Given && l.kind != branchRev && l.kind != tagRev {
		return l.fail("When 'depth' is used, 'rev' must be set to the name of a branch or tag on the remote repository")
	}
	if l.remoteRev == "" && !l.bare && l.rev != "HEAD" {
		return l.fail("No revision matching '", l.rev, "' exists in the remote repository")
	}
	return nil
}

// equal reports whether a local commit is the one of the remote.
func (l *latestRun) equal(local string) bool {
	if local == "" || l.remoteRev == "" {
		return local == l.remoteRev
	}
	if l.kind == shaRev {
		return strings.HasPrefix(local, l.remoteRev)
	}
	return local == l.remoteRev
}

// switches reports whether another branch has to be checked out.
func (l *latestRun) switches() bool { return l.branch != "" && l.branch != l.localBranch }

// commitOf returns the commit of a name in the clone, "" where there is none.
func (l *latestRun) commitOf(ctx context.Context, args ...string) (string, error) {
	sha, err := l.plain().RevParse(ctx, l.target, args...)
	if err != nil && git.IsFailure(err) {
		return "", nil
	}
	return sha, err
}

// look reads the state of the clone.
func (l *latestRun) look(ctx context.Context) *fun.Ret {
	g := l.plain()
	var err error
	if l.branches, err = g.Branches(ctx, l.target); err != nil {
		return l.failed("", err)
	}
	if l.tags, err = g.Tags(ctx, l.target); err != nil {
		return l.failed("", err)
	}
	if l.localRev, l.localBranch, err = l.head(ctx, l.target); err != nil {
		return l.failed("", err)
	}
	if !l.bare && l.remoteRev == "" && l.localRev != "" {
		return l.fail("Remote repository is empty, cannot update from a non-empty to an empty repository")
	}
	l.baseRev, l.baseBranch = l.localRev, l.localBranch
	if l.switches() {
		if !contains(l.branches, l.branch) {
			l.baseRev = l.remoteRev
		} else {
			l.baseBranch = l.branch
			if l.baseRev, err = g.RevParse(ctx, l.target, l.branch+"^{commit}"); err != nil {
				return l.failed("Unable to get position of local branch '"+l.branch+"': ", err)
			}
		}
	}
	if l.remotes, err = g.Remotes(ctx, l.target, false); err != nil {
		return l.failed("", err)
	}
	l.revsMatch = l.equal(l.localRev)
	if !l.bare && l.localRev != "" {
		out, err := g.Run(ctx, l.target, "diff", "HEAD", "--")
		if err != nil && !git.IsFailure(err) {
			return l.failed("", err)
		}
		l.changed = err == nil && out.Stdout != ""
	}
	return nil
}

// looseChanges decides about uncommitted changes where nothing else is due.
func (l *latestRun) looseChanges(context.Context) *fun.Ret {
	if !l.changed || !l.revsMatch {
		return nil
	}
	if !l.force {
		return l.upToDate(nil, true)
	}
	if !l.c.Test {
		return nil
	}
	l.changes.Set("forced update", true)
	return l.would(l.target, " is up-to-date, but with uncommitted changes. Since 'force_reset' is set to True, these local changes would be reset. "+
		"To only reset when there are changes in the remote repository, set 'force_reset' to 'remote-changes'.")
}

func (l *latestRun) upToDate(actions []string, loose bool) *fun.Ret {
	msg := "Repository " + l.target + " is up-to-date"
	if loose {
		msg += ", but with uncommitted changes. Set 'force_reset' to True to purge uncommitted changes."
	}
	if len(actions) > 0 {
		would := ""
		if l.c.Test {
			would = "that would be "
		}
		msg += "\n\nChanges " + would + "made: " + sentences(actions)
	}
	return l.ret(fun.OK, msg)
}

// findRemoteRev finds out whether the commit of the remote is in the clone, and
// the refs for it are as on the remote, so that nothing has to be fetched.
func (l *latestRun) findRemoteRev(ctx context.Context) *fun.Ret {
	if l.kind == shaRev && l.baseRev != "" && strings.HasPrefix(l.baseRev, l.remoteRev) {
		l.haveRemoteRev = true
		return nil
	}
	if l.remoteRev == "" {
		return nil
	}
	sha, err := l.commitOf(ctx, l.remoteRev+"^{commit}")
	if err != nil {
		return l.failed("", err)
	}
	if sha == "" {
		return nil
	}
	switch l.kind {
	case branchRev:
		if l.remotes.Has(l.remote) {
			// Another commit here means that the branch was force-pushed.
			sha, err := l.commitOf(ctx, l.wantUpstream)
			if err != nil {
				return l.failed("", err)
			}
			l.haveRemoteRev = sha == l.remoteRev
		}
	case tagRev:
		if !contains(l.tags, l.rev) {
			return nil
		}
		sha, err := l.commitOf(ctx, l.rev+"^{commit}")
		if err != nil {
			return l.failed("", err)
		}
		if l.haveRemoteRev = sha == l.remoteRev; !l.haveRemoteRev && !l.force && !l.forceSoft {
			return l.fail("'", l.rev, "' is a tag, but the remote SHA1 for this tag (", short7(l.remoteRev), ") doesn't match the local SHA1 (",
				short7(sha), "). Set 'force_reset' to True to force this update.")
		}
	case shaRev:
		l.haveRemoteRev = true
	case noRev:
	}
	return nil
}

// stays says that HEAD is not updated because update_head is false.
func (l *latestRun) stays() *fun.Ret {
	loc := l.remoteLoc
	if l.rev == "HEAD" {
		loc = strings.ToUpper(loc[:1]) + strings.ToLower(loc[1:])
	}
	return l.ret(fun.OK, loc+" is already present and local HEAD ("+short7(l.localRev)+") does not match, but update_head=False. HEAD has not been updated locally.")
}

// judge decides whether the update is a fast-forward, and refuses one that is not
// unless that is forced.
func (l *latestRun) judge(ctx context.Context) *fun.Ret {
	if l.changed && !l.forceSoft {
		l.ff = noFF
	}
	if l.haveRemoteRev {
		if !l.revsMatch && !l.updateHead && (l.branch == "" || l.branch == l.localBranch) {
			return l.stays()
		}
		if l.ff == unknownFF {
			if stop := l.ancestry(ctx); stop != nil {
				return stop
			}
		}
	}
	if l.ff == noFF && !l.force && !l.forceSoft {
		return l.notFastForward()
	}
	if l.baseBranch == "" {
		return nil
	}
	var err error
	if l.upstream, err = l.commitOf(ctx, "--abbrev-ref", l.baseBranch+"@{upstream}"); err != nil {
		return l.failed("", err)
	}
	return nil
}

func (l *latestRun) ancestry(ctx context.Context) *fun.Ret {
	if l.baseRev == "" || l.baseRev == l.remoteRev {
		l.ff = isFF
		return nil
	}
	is, err := l.plain().IsAncestor(ctx, l.target, l.baseRev, l.remoteRev)
	if err != nil {
		return l.failed("", err)
	}
	l.ff = ffOf(is)
	return nil
}

func (l *latestRun) notFastForward() *fun.Ret {
	hint := ""
	switch {
	case l.branch != "":
	case l.rev != "HEAD":
		if l.localBranch != l.rev {
			hint = " The desired rev (" + l.rev + ") differs from the name of the local branch (" + value.Str(value.OrNone(l.localBranch)) + "), if the desired rev is a branch name " +
				"then a forced update could possibly be avoided by setting the 'branch' argument to '" + l.rev + "' instead."
		}
	case l.defaultBranch != "" && l.localBranch != l.defaultBranch:
		hint = " The default remote branch (" + l.defaultBranch + ") differs from the local branch (" + value.Str(value.OrNone(l.localBranch)) + "). This could be caused by changing the " +
			"default remote branch, or if the local branch was manually changed. Rather than forcing an update, it may be advisable to set the 'branch' argument to '" +
			l.defaultBranch + "' instead. To ensure that this state follows the '" + l.defaultBranch + "' branch instead of the remote HEAD, set the 'rev' argument to '" + l.defaultBranch + "'."
	}
	from, to, why, also, discard := "", short7(l.remoteRev), "this is not a fast-forward merge", "", ""
	if l.changed {
		why, also, discard = "there are uncommitted changes", " (or 'remote-changes')", " and discard these changes"
	}
	if pre := short7(l.baseRev); l.changed && pre != to {
		from = "from " + pre + " "
	}
	after := ""
	if l.switches() {
		after = " (after checking out local branch '" + l.branch + "')"
	}
	return l.fail("Repository would be updated ", from, "to ", to, after, ", but ", why, ". Set 'force_reset' to True", also, " to force this update", discard, ".", hint)
}

// fetchURL returns the URL of the remote in the clone, "" where there is none.
func (l *latestRun) fetchURL() string {
	if m := l.remotes.Map(l.remote); m != nil {
		return m.Str("fetch")
	}
	return ""
}

// setURL sets the URL of the remote, or reports in test mode that it would be.
func (l *latestRun) setURL(ctx context.Context) *fun.Ret {
	have := l.fetchURL()
	if l.remoteRev == "" || have != "" && git.Plain(have) == l.source {
		return nil
	}
	shown := git.Redact(l.source)
	if l.c.Test {
		return l.wouldSetURL(have, shown)
	}
	local := *l.auth
	local.Identity = nil
	if err := local.SetRemote(ctx, l.target, l.remote, l.source); err != nil {
		return l.failed("", err)
	}
	if have == "" {
		l.say("Remote '", l.remote, "' set to ", shown)
		l.changes.Set("new", l.shown+" => "+l.remote)
		return nil
	}
	l.say("Remote '", l.remote, "' changed from ", git.Redact(have), " to ", shown)
	return nil
}

func (l *latestRun) wouldSetURL(have, shown string) *fun.Ret {
	actions := []string{"Remote '" + l.remote + "' would be changed from " + git.Redact(value.Str(value.OrNone(have))) + " to " + shown}
	if !l.haveRemoteRev {
		actions = append(actions, "Remote would be fetched")
	}
	if !l.revsMatch && l.updateHead {
		l.changes.Set("revision", value.MapOf("old", value.OrNone(l.localRev), "new", l.remoteRev))
		how := "updated"
		switch l.ff {
		case noFF:
			l.changes.Set("forced update", true)
			how = "hard-reset"
		case isFF:
			how = "fast-forwarded"
		case unknownFF:
		}
		actions = append(actions, "Repository would be "+how+" to "+short7(l.remoteRev))
	}
	switch {
	case l.changes.Len() > 0:
		return l.would(sentences(actions))
	case !l.revsMatch && !l.updateHead:
		return l.ret(fun.OK, sentences(actions))
	}
	return l.upToDate(actions, false)
}

// finish reports what became of the clone.
func (l *latestRun) finish(ctx context.Context) *fun.Ret {
	rev, err := l.commitOf(ctx, "HEAD")
	switch {
	case err != nil:
		return l.failed("", err)
	case !l.bare && !l.equal(rev):
		return l.fail("Failed to update repository")
	case rev == l.localRev:
		return l.upToDate(l.comments, false)
	}
	l.changes.Set("revision", value.MapOf("old", value.OrNone(l.localRev), "new", value.OrNone(rev)))
	return nil
}

// refspecs returns what is fetched from the remote.
func (l *latestRun) refspecs() []string {
	if !l.a.FetchTags {
		return nil
	}
	b, t := l.a.RefspecBranch, l.a.RefspecTag
	return []string{"refs/heads/" + b + ":refs/remotes/" + l.remote + "/" + b, "+refs/tags/" + t + ":refs/tags/" + t}
}

func (l *latestRun) fetch(ctx context.Context) (*value.Map, *fun.Ret) {
	var args []string
	if l.a.ForceFetch {
		args = append(args, "--force")
	}
	got, err := l.auth.Fetch(ctx, l.target, slices.Concat(args, []string{l.remote}, l.refspecs())...)
	if err != nil {
		return nil, l.failed("Fetch failed. Set 'force_fetch' to True to force the fetch if the failure was due to not being able to fast-forward. "+
			"Output of the fetch command follows:\n\n", err)
	}
	return got, nil
}

// clone makes the clone.
func (l *latestRun) clone(ctx context.Context) *fun.Ret {
	if stop := l.makeRoom(l.target, l.a.ForceClone); stop != nil {
		if l.c.Test && stop.Result == fun.WouldChange {
			l.changes.Set("forced clone", true)
			l.changes.Set("new", l.shown+" => "+l.target)
		}
		return stop
	}
	if l.c.Test {
		l.changes.Set("new", l.shown+" => "+l.target)
		return l.would("Repository ", l.shown, " would be cloned to ", l.target)
	}
	var opts []string
	as := ""
	switch {
	case l.mirror:
		opts, as = []string{"--mirror"}, " as mirror"
	case l.bare:
		opts, as = []string{"--bare"}, " as bare repository"
	}
	if l.remote != "origin" {
		opts = append(opts, "--origin", l.remote)
	}
	if l.a.Depth.Given {
		opts = append(opts, "--depth", strconv.FormatInt(l.a.Depth.V, 10), "--branch", l.rev)
	}
	if err := l.auth.Clone(ctx, l.source, l.target, opts...); err != nil {
		return l.failed("Clone failed: ", err)
	}
	l.changes.Set("new", l.shown+" => "+l.target)
	l.say(l.shown, " cloned to ", l.target, as)
	return nil
}

// settle brings a new clone to the revision.
func (l *latestRun) settle(ctx context.Context) *fun.Ret {
	if l.bare || l.remoteRev == "" {
		return nil
	}
	g := l.plain()
	var err error
	if l.tags, err = g.Tags(ctx, l.target); err != nil {
		return l.failed("", err)
	}
	if l.kind == tagRev && !contains(l.tags, l.rev) {
		return l.fail("Revision '", l.rev, "' does not exist in clone")
	}
	if l.branches, err = g.Branches(ctx, l.target); err != nil {
		return l.failed("", err)
	}
	if l.branch != "" && !contains(l.branches, l.branch) {
		if _, err := g.Run(ctx, l.target, "checkout", "-b", l.branch, l.start()); err != nil {
			return l.failed("", err)
		}
		l.say("Branch '", l.branch, "' checked out, with ", l.remoteLoc, " as a starting point")
		l.branches = append(l.branches, l.branch)
	}
	var local string
	if local, l.localBranch, err = l.head(ctx, l.target); err != nil {
		return l.failed("", err)
	}
	if l.localBranch == "" && l.remoteRefs.Get("HEAD") == "" {
		return l.fail("Remote HEAD refers to a ref that does not exist. This can happen when the default branch on the remote repository is renamed or deleted. If you " +
			"are unable to fix the remote repository, you can work around this by setting the 'branch' argument (which will ensure that the named branch is created " +
			"if it does not already exist).")
	}
	if !l.equal(local) {
		if _, err := l.big(ctx).Run(ctx, l.target, "reset", "--hard", l.remoteRev); err != nil {
			return l.failed("", err)
		}
		l.say("Repository was reset to ", l.remoteLoc)
	}
	if l.localBranch != "" {
		if l.upstream, err = l.commitOf(ctx, "--abbrev-ref", l.localBranch+"@{upstream}"); err != nil {
			return l.failed("", err)
		}
	}
	if action, opts := l.track(); opts != nil {
		if _, err := g.Run(ctx, l.target, append([]string{"branch"}, opts...)...); err != nil {
			return l.failed("", err)
		}
		l.say(action)
	}
	if l.a.Submodules {
		return l.submodules(ctx)
	}
	return nil
}

func (l *latestRun) submodules(ctx context.Context) *fun.Ret {
	up := *l.report
	up.g = l.auth
	return up.updateSubmodules(ctx, l.target)
}

// start returns where a new branch starts.
func (l *latestRun) start() string {
	switch {
	case l.rev == "HEAD":
		return l.remoteRev
	case l.want == setTracking:
		return l.wantUpstream
	}
	return l.rev
}

func (l *latestRun) cloneReport(ctx context.Context) *fun.Ret {
	rev, err := l.commitOf(ctx, "HEAD")
	if err != nil {
		return l.failed("", err)
	}
	if rev != "" && rev != "HEAD" {
		l.changes.Set("revision", value.MapOf("old", nil, "new", rev))
	}
	return nil
}

// big is the client for commands that write files of the working tree, which may
// ask the remote for those that git LFS keeps.
func (l *latestRun) big(ctx context.Context) *git.Client {
	if len(l.g.Identity) == 0 && l.auth.Auth == nil {
		return l.plain()
	}
	own := &git.Client{Env: l.c.Env}
	m, _, err := own.ConfigMatch(ctx, git.Config{Global: true}, `filter\.lfs\.`, nil)
	if err != nil || m.Len() == 0 {
		return l.plain()
	}
	return l.auth
}

// remove takes the tags out of the clone that the remote does not have.
func (l *latestRun) removeTags(ctx context.Context, gone []string) {
	var done []string
	for _, t := range gone {
		if _, err := l.plain().Run(ctx, l.target, "tag", "-d", "--", t); err != nil {
			l.warn("Failed to remove local tag '" + t + "':\n\n" + err.Error() + "\n\n")
			continue
		}
		done = append(done, t)
	}
	if len(done) > 0 {
		l.changes.Set("deleted_tags", value.Strings(done...))
		l.say("The following tags were removed from the local checkout: ", strings.Join(done, ", "))
	}
}

func (l *latestRun) warn(msg string) {
	if l.extra == nil {
		l.extra = value.NewMap(1)
	}
	list := l.extra.List("warnings")
	if list == nil {
		list = &value.List{}
		l.extra.Set("warnings", list)
	}
	list.Items = append(list.Items, msg)
}
