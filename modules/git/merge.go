package git

import (
	"context"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type mergeArgs struct {
	_        fun.Arguments
	Cwd      string      `arg:"cwd,required,path" doc:"path of the repository"`
	Rev      string      `arg:"rev" doc:"branch, tag or commit"`
	Opts     value.Value `arg:"opts,str|list" default:"''" doc:"further options of the git command"`
	GitOpts  value.Value `arg:"git_opts,str|list" default:"''" doc:"options of git itself, before the command"`
	User     string      `arg:"user" doc:"account that runs git"`
	_        string      `arg:"password,secret" doc:"accepted for compatibility; it is used on Windows only"`
	Identity []string    `arg:"identity" doc:"SSH private keys to try: paths or salt:// URLs"`
	_        bool        `arg:"ignore_retcode" default:"False" doc:"a failing git does not change the exit status"`
	_        string      `arg:"output_encoding" doc:"accepted; output is UTF-8"`
}

func merge(ctx context.Context, c *fun.Call, a *mergeArgs) (fun.Result, error) {
	l := command(c, in{user: a.User, cwd: a.Cwd, identity: a.Identity, opts: a.GitOpts}, "merge").words(a.Opts)
	if a.Rev != "" {
		l.text("rev", a.Rev)
	}
	return l.stdout(ctx, mode{})
}

// mergeBaseRefs returns the refs of git.merge_base, checked against its options.
func mergeBaseRefs(a *mergeBaseArgs) ([]string, error) {
	octopus, ancestor, independent, fork := a.Octopus, a.IsAncestor, a.Independent, a.ForkPoint != ""
	if a.All && (independent || ancestor || fork) {
		return nil, fun.Errorf("The 'all' argument is not compatible with 'independent', 'is_ancestor', or 'fork_point'")
	}
	var refs []string
	for _, r := range a.Refs {
		refs = append(refs, strings.TrimSpace(r))
	}
	n := 0
	for _, on := range [...]bool{octopus, ancestor, independent, fork} {
		if on {
			n++
		}
	}
	switch {
	case n > 1:
		return nil, fun.Errorf("Only one of 'octopus', 'independent', 'is_ancestor', and 'fork_point' is permitted")
	case ancestor && len(refs) != 2:
		return nil, fun.Errorf("Two refs/commits are required if 'is_ancestor' is True")
	case fork && len(refs) > 1:
		return nil, fun.Errorf("At most one ref/commit can be passed if 'fork_point' is specified")
	case fork && len(refs) == 0:
		refs = []string{"HEAD"}
	}
	return refs, nil
}

type mergeBaseArgs struct {
	_             fun.Arguments
	Cwd           string      `arg:"cwd,required,path" doc:"path of the repository"`
	Refs          []string    `arg:"refs,comma[str]" doc:"branches, tags or commits"`
	Octopus       bool        `arg:"octopus" default:"False" doc:"common ancestor of all refs, as for an octopus merge"`
	IsAncestor    bool        `arg:"is_ancestor" default:"False" doc:"return whether the first of two refs is an ancestor of the second"`
	Independent   bool        `arg:"independent" default:"False" doc:"refs that cannot be reached from any other"`
	ForkPoint     string      `arg:"fork_point" doc:"ref whose reflog is looked at for the point where a branch forked"`
	Opts          value.Value `arg:"opts,str|list" default:"''" doc:"further options of the git command"`
	GitOpts       value.Value `arg:"git_opts,str|list" default:"''" doc:"options of git itself, before the command"`
	User          string      `arg:"user" doc:"account that runs git"`
	_             string      `arg:"password,secret" doc:"accepted for compatibility; it is used on Windows only"`
	IgnoreRetcode bool        `arg:"ignore_retcode" default:"False" doc:"a failing git does not change the exit status"`
	_             string      `arg:"output_encoding" doc:"accepted; output is UTF-8"`
	All           bool        `arg:"all,kw" default:"False" doc:"all common ancestors, as a list"`
}

func mergeBase(ctx context.Context, c *fun.Call, a *mergeBaseArgs) (fun.Result, error) {
	refs, err := mergeBaseRefs(a)
	if err != nil {
		return fun.Result{}, err
	}
	ancestor := a.IsAncestor
	l := command(c, in{user: a.User, cwd: a.Cwd, opts: a.GitOpts}, "merge-base").words(a.Opts).flag(a.All, "--all").flag(a.Octopus, "--octopus").
		flag(ancestor, "--is-ancestor").flag(a.Independent, "--independent")
	if a.ForkPoint != "" {
		l.add("--fork-point").text("fork_point", a.ForkPoint)
	}
	for _, r := range refs {
		l.text("ref", r)
	}
	out, err := l.run(ctx, mode{soft: ancestor})
	if err != nil {
		return fun.Result{}, err
	}
	if ancestor {
		return fun.Result{Value: out.Retcode == 0, Retcode: status(a.IgnoreRetcode, out.Retcode)}, nil
	}
	bases := lines(out.Stdout)
	if a.All {
		return fun.Value(value.Strings(bases...))
	}
	if len(bases) == 0 {
		return fun.Result{}, fun.Errorf("%s have no common commit", strings.Join(refs, " and "))
	}
	return fun.Value(bases[0])
}

type mergeTreeArgs struct {
	Cwd  string          `arg:"cwd,required,path" doc:"path of the repository"`
	Ref1 string          `arg:"ref1,required" doc:"first branch or commit"`
	Ref2 string          `arg:"ref2,required" doc:"second branch or commit"`
	Base fun.Opt[string] `arg:"base" doc:"common ancestor; default: git finds it"`
	runArgs
}

func mergeTree(ctx context.Context, c *fun.Call, a *mergeTreeArgs) (fun.Result, error) {
	l := command(c, in{user: a.User, cwd: a.Cwd}, "merge-tree")
	if !a.Base.Given {
		g, dir := cwd(c, in{user: a.User, cwd: a.Cwd})
		if err := plain("ref", a.Ref1, "ref", a.Ref2); err != nil {
			return fun.Result{}, err
		}
		out, err := g.run(ctx, dir, mode{soft: true}, "merge-base", a.Ref1, a.Ref2)
		if err != nil {
			return fun.Result{}, err
		}
		bases := lines(out.Stdout)
		if out.Retcode != 0 || len(bases) == 0 {
			return fun.Result{}, fun.Errorf("Unable to determine merge base for %s and %s", a.Ref1, a.Ref2)
		}
		l.add(bases[0])
	} else {
		l.plain("base", a.Base)
	}
	return l.text("ref1", a.Ref1).text("ref2", a.Ref2).stdout(ctx, mode{})
}

type rebaseArgs struct {
	Cwd string `arg:"cwd,required,path" doc:"path of the repository"`
	Rev string `arg:"rev" default:"master" doc:"branch, tag or commit"`
	optRunArgs
}

func rebase(ctx context.Context, c *fun.Call, a *rebaseArgs) (fun.Result, error) {
	opts, err := Words(a.Opts)
	if err != nil {
		return fun.Result{}, err
	}
	for _, o := range opts {
		if o == "-i" || o == "--interactive" {
			return fun.Result{}, fun.Errorf("Interactive rebases are not supported")
		}
	}
	revs, err := Words(a.Rev)
	if err != nil {
		return fun.Result{}, err
	}
	l := command(c, in{user: a.User, cwd: a.Cwd, opts: a.GitOpts}, "rebase").add(opts...)
	for _, r := range revs {
		l.text("rev", r)
	}
	return l.stdout(ctx, mode{})
}
