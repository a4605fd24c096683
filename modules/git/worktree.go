package git

import (
	"context"
	"path/filepath"
	"strings"

	"brine/internal/fun"
	"brine/internal/host"
	"brine/internal/value"
)

func worktreeAdd(ctx context.Context, c *fun.Call) (fun.Result, error) {
	branch, at := c.Str("branch"), c.Str("worktree_path")
	if branch != "" && c.Bool("detach") {
		return fun.Result{}, fun.Errorf("Only one of 'branch' and 'detach' is allowed")
	}
	l := command(c, "worktree", "add")
	if c.Bool("detach") {
		l.add("--detach")
	} else {
		if branch == "" {
			branch = filepath.Base(at)
		}
		how := "-b"
		if c.Bool("reset_branch") {
			how = "-B"
		}
		l.add(how).text("branch", branch).flag(c.Bool("force"), "--force")
	}
	l.words("opts").plain("worktree_path")
	if c.Str("ref") != "" {
		l.plain("ref")
	}
	return l.stdout(ctx, mode{merge: true})
}

func worktreePrune(ctx context.Context, c *fun.Call) (fun.Result, error) {
	l := command(c, "worktree", "prune").flag(c.Bool("dry_run"), "--dry-run").flag(c.Bool("verbose"), "--verbose")
	if e := c.Str("expire"); e != "" {
		l.add("--expire", e)
	}
	// Where git reports depends on its version.
	return l.words("opts").stdout(ctx, mode{merge: true})
}

func worktreeRm(ctx context.Context, c *fun.Call) (fun.Result, error) {
	g, dir := cwd(c)
	if _, err := c.Env.Host.Lstat(dir); err != nil {
		return fun.Result{}, fun.Errorf("%s does not exist", dir)
	}
	is, err := g.IsWorktree(ctx, dir)
	if err != nil {
		return fun.Result{}, err
	}
	if !is {
		return fun.Result{}, fun.Errorf("%s is not a git worktree", dir)
	}
	if err := c.Env.Host.CheckSystem(dir, true); err != nil {
		return fun.Result{}, fun.Errorf("%s", err)
	}
	if err := c.Env.Host.RemoveAll(dir); err != nil {
		return fun.Result{}, fun.Errorf("Unable to remove %s: %s", dir, host.OSError(err))
	}
	return fun.Value(true)
}

func listWorktrees(ctx context.Context, c *fun.Call) (fun.Result, error) {
	all, stale := c.Bool("all"), c.Bool("stale")
	if all && stale {
		return fun.Result{}, fun.Errorf("'all' and 'stale' cannot both be set to True")
	}
	g, dir := cwd(c)
	out, err := g.Run(ctx, dir, "worktree", "list", "--porcelain")
	if err != nil {
		return fun.Result{}, err
	}
	ret := value.NewMap(2)
	for entry := range strings.SplitSeq(strings.TrimSpace(out.Stdout), "\n\n") {
		at, head, ref := worktreeEntry(entry)
		if at == "" || head == "" || ref == "" {
			continue
		}
		st, err := c.Env.Host.Stat(at)
		gone := err != nil || !st.Mode.IsDir()
		if gone && !all && !stale || !gone && stale {
			continue
		}
		tree := value.MapOf("stale", gone, "HEAD", head, "detached", ref == "detached")
		ret.Set(at, tree)
		if ref != "detached" {
			tree.Set("branch", strings.Replace(ref, "refs/heads/", "", 1))
			continue
		}
		tree.Set("branch", nil)
		if err := plain("commit", head); err != nil {
			return fun.Result{}, err
		}
		tags, err := g.Run(ctx, dir, "tag", "--points-at", head)
		if err != nil {
			return fun.Result{}, err
		}
		if names := lines(tags.Stdout); len(names) > 0 {
			tree.Set("tags", value.Strings(names...))
		}
	}
	return fun.Value(ret)
}

// worktreeEntry reads an entry of git worktree list --porcelain. ref is
// "detached" where no branch is checked out.
func worktreeEntry(entry string) (at, head, ref string) {
	for s := range strings.SplitSeq(entry, "\n") {
		key, val, ok := split2(strings.TrimSpace(s))
		switch {
		case key == "detached" && !ok:
			key, val = "branch", "detached"
		case !ok:
			continue
		}
		switch {
		case key == "worktree" && at == "":
			at = val
		case key == "HEAD" && head == "":
			head = val
		case key == "branch" && ref == "":
			ref = val
		}
	}
	return at, head, ref
}
