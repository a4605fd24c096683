package git

import (
	"context"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/git"
)

// update brings an existing clone to the revision of the remote.
func (l *latestRun) update(ctx context.Context) *fun.Ret {
	if l.bare {
		return l.updateBare(ctx)
	}
	if l.remoteRev == "" {
		return nil
	}
	if l.c.Test {
		return l.wouldUpdate()
	}
	action, opts := l.track()
	if opts != nil && l.localBranch == "" {
		return l.fail("Cannot set/unset upstream tracking branch, local HEAD refers to nonexistent branch. This may have been caused by cloning a remote repository for which " +
			"the default branch was renamed or deleted. If you are unable to fix the remote repository, you can work around this by setting the 'branch' argument " +
			"(which will ensure that the named branch is created if it does not already exist).")
	}
	for _, step := range []func(context.Context) *fun.Ret{l.syncTags, l.fetchRev, l.switchBranch, l.discard} {
		if stop := step(ctx); stop != nil {
			return stop
		}
	}
	if opts != nil {
		if _, err := l.plain().Run(ctx, l.target, append([]string{"branch"}, opts...)...); err != nil {
			return l.failed("", err)
		}
		l.say(action)
	}
	if stop := l.forward(ctx); stop != nil {
		return stop
	}
	if l.a.Submodules {
		return l.submodules(ctx)
	}
	return nil
}

func (l *latestRun) updateBare(ctx context.Context) *fun.Ret {
	if l.c.Test {
		return l.upToDate([]string{"Bare repository at " + l.target + " would be fetched"}, false)
	}
	got, stop := l.fetch(ctx)
	if stop != nil {
		return stop
	}
	with := ""
	if got.Len() > 0 {
		with = ", resulting in updated refs"
	}
	l.say("Bare repository at ", l.target, " was fetched", with)
	return nil
}

// track returns what has to be done about the upstream of the branch, and the
// options of git branch for it; nil where nothing has to be.
func (l *latestRun) track() (action string, opts []string) {
	set := func(verb string) (string, []string) {
		action := "Tracking branch was " + verb + " to " + l.wantUpstream
		if l.branch != "" && !contains(l.branches, l.branch) {
			return action, nil // checking out the new branch sets it
		}
		return action, []string{"--set-upstream-to", l.wantUpstream}
	}
	switch {
	case l.upstream == "" && l.want == setTracking:
		return set("set")
	case l.upstream != "" && l.want == unsetTracking:
		return "Tracking branch was unset", []string{"--unset-upstream"}
	case l.want == setTracking && l.upstream != l.wantUpstream:
		return set("updated")
	}
	return "", nil
}

// wouldUpdate reports what an update would do.
func (l *latestRun) wouldUpdate() *fun.Ret {
	var actions []string
	say := func(parts ...string) { actions = append(actions, strings.Join(parts, "")) }
	if !l.haveRemoteRev {
		say("Remote '", l.remote, "' would be fetched")
	}
	if !l.revsMatch && (l.updateHead || l.switches()) {
		l.changes.Set("revision", value.MapOf("old", value.OrNone(l.localRev), "new", l.remoteRev))
	}
	switch {
	case l.switches() && !contains(l.branches, l.branch):
		say("New branch '", l.branch, "' would be checked out, with ", l.remoteLoc, " as a starting point")
		if l.want == setTracking {
			say("Tracking branch would be set to ", l.wantUpstream)
		}
	case l.switches():
		say("Branch '", l.branch, "' would be checked out and ", l.mergeAction(), " to ", short7(l.remoteRev))
	case !l.revsMatch && !l.updateHead:
		say("Local HEAD (", short7(l.localRev), ") does not match ", l.remoteLoc, " but update_head=False, HEAD would not be updated locally")
	case !l.revsMatch:
		how := "updated"
		if l.ff == isFF {
			how = "fast-forwarded"
		} else if (l.force || l.forceSoft) && l.haveRemoteRev {
			how = "hard-reset"
		}
		say("Repository would be ", how, " from ", short7(l.localRev), " to ", short7(l.remoteRev))
	}
	switch {
	case l.upstream == "" && l.want == setTracking:
		say("Tracking branch would be set to ", l.wantUpstream)
	case l.upstream != "" && l.want == unsetTracking:
		say("Tracking branch would be unset")
	case l.want == setTracking && l.upstream != l.wantUpstream:
		say("Tracking branch would be updated to ", l.wantUpstream)
	}
	switch {
	case l.changes.Len() > 0:
		return l.would(sentences(actions))
	case !l.revsMatch && !l.updateHead && len(actions) > 0:
		return l.ret(fun.OK, sentences(actions))
	}
	return l.upToDate(actions, false)
}

func (l *latestRun) mergeAction() string {
	switch l.ff {
	case noFF:
		return "hard-reset"
	case isFF:
		return "fast-forwarded"
	case unknownFF:
	}
	return "updated"
}

// syncTags compares the tags with those of the remote.
func (l *latestRun) syncTags(ctx context.Context) *fun.Ret {
	refs, err := l.auth.LsRemote(ctx, l.target, "--tags", l.remote)
	if err != nil {
		return l.failed("", err)
	}
	var there []string
	for _, r := range refs {
		if !strings.Contains(r.Name, "^{}") {
			there = append(there, strings.Replace(r.Name, "refs/tags/", "", 1))
		}
	}
	fresh := value.NewSet()
	for _, t := range there {
		if !contains(l.tags, t) {
			fresh.Add(t)
		}
	}
	var gone []string
	for _, t := range l.tags {
		if !contains(there, t) {
			gone = append(gone, t)
		}
	}
	if fresh.Len() > 0 || len(gone) > 0 {
		l.haveRemoteRev = false
	}
	if fresh.Len() > 0 {
		l.changes.Set("new_tags", fresh)
	}
	if l.a.SyncTags {
		l.removeTags(ctx, gone)
	}
	return nil
}

// fetchRev fetches, unless the clone has all that is needed, and decides again
// whether the update is a fast-forward.
func (l *latestRun) fetchRev(ctx context.Context) *fun.Ret {
	if l.haveRemoteRev {
		return nil
	}
	got, stop := l.fetch(ctx)
	if stop != nil {
		return stop
	}
	if got.Len() > 0 {
		l.say(l.shown, " was fetched, resulting in updated refs")
	}
	if _, err := l.plain().RevParse(ctx, l.target, l.remoteRev+"^{commit}"); err != nil {
		if !git.IsFailure(err) {
			return l.failed("", err)
		}
		l.comments = nil
		return l.fail("Fetch did not successfully retrieve rev '", l.rev, "' from ", l.shown, ": ", err.Error())
	}
	if !l.revsMatch && !l.updateHead && (l.branch == "" || l.branch == l.localBranch) {
		return l.stays()
	}
	if stop := l.ancestry(ctx); stop != nil {
		return stop
	}
	if !l.force && !l.forceSoft && (l.ff == noFF || l.changed) {
		return l.notFastForward()
	}
	return nil
}

// switchBranch checks out the branch that the state asks for.
func (l *latestRun) switchBranch(ctx context.Context) *fun.Ret {
	if !l.switches() {
		return nil
	}
	force := l.a.ForceCheckout
	if l.changed && !force {
		l.comments = nil
		return l.fail("Local branch '", value.Str(value.OrNone(l.localBranch)), "' has uncommitted changes. Set 'force_checkout' to True to discard them and proceed.")
	}
	args := []string{"checkout"}
	if force {
		args = append(args, "--force")
	}
	made := !contains(l.branches, l.branch)
	if made {
		args = append(args, "-b", l.branch, l.start())
	} else {
		args = append(args, l.branch)
	}
	if _, err := l.plain().Run(ctx, l.target, args...); err != nil {
		return l.failed("", err)
	}
	if made {
		l.say("New branch '", l.branch, "' was checked out, with ", l.remoteLoc, " as a starting point")
	} else {
		l.say("'", l.branch, "' was checked out")
	}
	return nil
}

// discard resets the branch where the update is forced, and discards uncommitted
// changes before a fast-forward.
func (l *latestRun) discard(ctx context.Context) *fun.Ret {
	switch {
	case l.ff == noFF:
		if _, err := l.big(ctx).Run(ctx, l.target, "reset", "--hard", l.remoteRev); err != nil {
			return l.failed("", err)
		}
		l.changes.Set("forced update", true)
		if l.changed {
			l.say("Uncommitted changes were discarded")
		}
		l.say("Repository was hard-reset to ", l.remoteLoc)
	case l.ff == isFF && l.changed && (l.force || l.forceSoft):
		if _, err := l.plain().Run(ctx, l.target, "checkout", "--", "."); err != nil {
			return l.failed("", err)
		}
		l.say("Uncommitted changes were discarded")
	}
	return nil
}

// forward fast-forwards the branch to the revision.
func (l *latestRun) forward(ctx context.Context) *fun.Ret {
	if l.ff != isFF || l.equal(l.baseRev) {
		return nil
	}
	g := l.plain()
	if l.want != setTracking && l.rev != "HEAD" {
		if _, err := l.big(ctx).Run(ctx, l.target, "reset", "--hard", l.rev); err != nil {
			return l.failed("", err)
		}
		l.say("Repository was reset to ", l.rev, " (fast-forward)")
		return nil
	}
	on, err := g.Run(ctx, l.target, "symbolic-ref", "--quiet", "HEAD")
	if err != nil && !git.IsFailure(err) {
		return l.failed("", err)
	}
	if err != nil || on.Stdout == "" {
		return l.fail("Unable to fast-forward, HEAD is detached")
	}
	if _, err := l.big(ctx).Run(ctx, l.target, "merge", "--ff-only", l.remoteRev); err != nil {
		return l.failed("", err)
	}
	l.say("Repository was fast-forwarded to ", l.remoteLoc)
	return nil
}
