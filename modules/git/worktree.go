package git

import (
	"context"
	"path/filepath"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

type worktreeAddArgs struct {
	_            fun.Arguments
	Cwd          string      `arg:"cwd,required,path" doc:"path of the repository"`
	WorktreePath string      `arg:"worktree_path,required,path" doc:"directory of the worktree"`
	Ref          string      `arg:"ref" doc:"branch, tag or commit"`
	ResetBranch  bool        `arg:"reset_branch" doc:"reset the branch where it exists"`
	Force        bool        `arg:"force" doc:"force the command"`
	Detach       bool        `arg:"detach" default:"False" doc:"check out a commit, not a branch"`
	Opts         value.Value `arg:"opts,str|list" default:"''" doc:"further options of the git command"`
	GitOpts      value.Value `arg:"git_opts,str|list" default:"''" doc:"options of git itself, before the command"`
	User         string      `arg:"user" doc:"account that runs git"`
	_            string      `arg:"password,secret" doc:"accepted for compatibility; it is used on Windows only"`
	_            bool        `arg:"ignore_retcode" default:"False" doc:"a failing git does not change the exit status"`
	_            string      `arg:"output_encoding" doc:"accepted; output is UTF-8"`
	Branch       string      `arg:"branch,kw" doc:"name of the branch; default: the last part of the path"`
}

func worktreeAdd(ctx context.Context, c *fun.Call, a *worktreeAddArgs) (fun.Result, error) {
	branch, at := a.Branch, a.WorktreePath
	if branch != "" && a.Detach {
		return fun.Result{}, fun.Errorf("Only one of 'branch' and 'detach' is allowed")
	}
	l := command(c, in{user: a.User, cwd: a.Cwd, opts: a.GitOpts}, "worktree", "add")
	if a.Detach {
		l.add("--detach")
	} else {
		if branch == "" {
			branch = filepath.Base(at)
		}
		how := "-b"
		if a.ResetBranch {
			how = "-B"
		}
		l.add(how).text("branch", branch).flag(a.Force, "--force")
	}
	l.words(a.Opts).text("worktree_path", at)
	if a.Ref != "" {
		l.text("ref", a.Ref)
	}
	return l.stdout(ctx, mode{merge: true})
}

type worktreePruneArgs struct {
	Cwd     string `arg:"cwd,required,path" doc:"path of the repository"`
	DryRun  bool   `arg:"dry_run" default:"False" doc:"only report"`
	Verbose bool   `arg:"verbose" default:"True" doc:"report what is removed"`
	Expire  string `arg:"expire" doc:"only worktrees that are unused for this long"`
	optRunArgs
}

func worktreePrune(ctx context.Context, c *fun.Call, a *worktreePruneArgs) (fun.Result, error) {
	l := command(c, in{user: a.User, cwd: a.Cwd, opts: a.GitOpts}, "worktree", "prune").flag(a.DryRun, "--dry-run").flag(a.Verbose, "--verbose")
	if e := a.Expire; e != "" {
		l.add("--expire", e)
	}
	// Where git reports depends on its version.
	return l.words(a.Opts).stdout(ctx, mode{merge: true})
}

type worktreeRmArgs struct {
	Cwd  string `arg:"cwd,required,path" doc:"directory of the worktree"`
	User string `arg:"user" doc:"account that runs git"`
	_    string `arg:"output_encoding" doc:"accepted; output is UTF-8"`
	fun.SystemPath
}

func worktreeRm(ctx context.Context, c *fun.Call, a *worktreeRmArgs) (fun.Result, error) {
	g, dir := cwd(c, in{user: a.User, cwd: a.Cwd})
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

type listWorktreesArgs struct {
	_     fun.Arguments
	Cwd   string `arg:"cwd,required,path" doc:"path of the repository"`
	Stale bool   `arg:"stale" default:"False" doc:"only worktrees whose directory is missing"`
	User  string `arg:"user" doc:"account that runs git"`
	_     string `arg:"password,secret" doc:"accepted for compatibility; it is used on Windows only"`
	_     string `arg:"output_encoding" doc:"accepted; output is UTF-8"`
	All   bool   `arg:"all,kw" default:"False" doc:"also worktrees whose directory is missing"`
}

func listWorktrees(ctx context.Context, c *fun.Call, a *listWorktreesArgs) (fun.Result, error) {
	all, stale := a.All, a.Stale
	if all && stale {
		return fun.Result{}, fun.Errorf("'all' and 'stale' cannot both be set to True")
	}
	g, dir := cwd(c, in{user: a.User, cwd: a.Cwd})
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
