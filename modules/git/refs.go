package git

import (
	"context"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type branchArgs struct {
	Cwd  string          `arg:"cwd,required,path" doc:"path of the repository"`
	Name fun.Opt[string] `arg:"name" doc:"name of the branch"`
	optRunArgs
}

func branch(ctx context.Context, c *fun.Call, a *branchArgs) (fun.Result, error) {
	return command(c, in{user: a.User, cwd: a.Cwd, opts: a.GitOpts}, "branch").words(a.Opts).plain("name", a.Name).done(ctx)
}

type checkoutArgs struct {
	Cwd   string          `arg:"cwd,required,path" doc:"path of the repository"`
	Rev   fun.Opt[string] `arg:"rev" doc:"branch, tag or commit"`
	Force bool            `arg:"force" default:"False" doc:"discard local changes"`
	optRunArgs
}

func checkout(ctx context.Context, c *fun.Call, a *checkoutArgs) (fun.Result, error) {
	l := command(c, in{user: a.User, cwd: a.Cwd, opts: a.GitOpts}, "checkout").flag(a.Force, "--force")
	n := len(l.args)
	l.words(a.Opts)
	if !a.Rev.Given {
		makes := false
		for _, w := range l.args[n:] {
			makes = makes || w == "-b" || w == "-B"
		}
		if !makes {
			return fun.Result{}, fun.Errorf("'rev' argument is required unless -b or -B in opts")
		}
	}
	return l.plain("rev", a.Rev).stdout(ctx, mode{merge: true})
}

// currentBranchArgs are the arguments of currentBranch, listTags and statusOf.
type currentBranchArgs struct {
	Cwd string `arg:"cwd,required,path" doc:"path of the repository"`
	runArgs
}

func currentBranch(ctx context.Context, c *fun.Call, a *currentBranchArgs) (fun.Result, error) {
	return command(c, in{user: a.User, cwd: a.Cwd}, "rev-parse", "--abbrev-ref", "HEAD").stdout(ctx, mode{})
}

type describeArgs struct {
	Cwd string          `arg:"cwd,required,path" doc:"path of the repository"`
	Rev fun.Opt[string] `arg:"rev" default:"HEAD" doc:"branch, tag or commit"`
	runArgs
}

func describe(ctx context.Context, c *fun.Call, a *describeArgs) (fun.Result, error) {
	return command(c, in{user: a.User, cwd: a.Cwd}, "describe", "--always").plain("rev", a.Rev).stdout(ctx, mode{})
}

type listBranchesArgs struct {
	Cwd    string `arg:"cwd,required,path" doc:"path of the repository"`
	Remote bool   `arg:"remote" default:"False" doc:"the branches of the remotes"`
	runArgs
}

func listBranches(ctx context.Context, c *fun.Call, a *listBranchesArgs) (fun.Result, error) {
	g, dir := cwd(c, in{user: a.User, cwd: a.Cwd})
	below := "refs/heads/"
	if a.Remote {
		below = "refs/remotes/"
	}
	names, err := g.refs(ctx, dir, below)
	return fun.Result{Value: value.Strings(names...)}, err
}

func listTags(ctx context.Context, c *fun.Call, a *currentBranchArgs) (fun.Result, error) {
	g, dir := cwd(c, in{user: a.User, cwd: a.Cwd})
	names, err := g.Tags(ctx, dir)
	return fun.Result{Value: value.Strings(names...)}, err
}

type revParseArgs struct {
	Cwd string          `arg:"cwd,required,path" doc:"path of the repository"`
	Rev fun.Opt[string] `arg:"rev" doc:"branch, tag or commit"`
	optRunArgs
}

func revParse(ctx context.Context, c *fun.Call, a *revParseArgs) (fun.Result, error) {
	return command(c, in{user: a.User, cwd: a.Cwd, opts: a.GitOpts}, "rev-parse").words(a.Opts).plain("rev", a.Rev).stdout(ctx, mode{})
}

type revisionArgs struct {
	Cwd   string          `arg:"cwd,required,path" doc:"path of the repository"`
	Rev   fun.Opt[string] `arg:"rev" default:"HEAD" doc:"branch, tag or commit"`
	Short bool            `arg:"short" default:"False" doc:"abbreviate the SHA"`
	runArgs
}

func revision(ctx context.Context, c *fun.Call, a *revisionArgs) (fun.Result, error) {
	return command(c, in{user: a.User, cwd: a.Cwd}, "rev-parse").flag(a.Short, "--short").plain("rev", a.Rev).stdout(ctx, mode{})
}

type symbolicRefArgs struct {
	Cwd   string          `arg:"cwd,required,path" doc:"path of the repository"`
	Ref   string          `arg:"ref,required" doc:"name of the symbolic ref"`
	Value fun.Opt[string] `arg:"value" doc:"branch that it is to point to"`
	optRunArgs
}

func symbolicRef(ctx context.Context, c *fun.Call, a *symbolicRefArgs) (fun.Result, error) {
	opts, err := Words(a.Opts)
	if err != nil {
		return fun.Result{}, err
	}
	for _, o := range opts {
		if a.Value.Given && (o == "-d" || o == "--delete") {
			return fun.Result{}, fun.Errorf("Value cannot be set for symbolic ref if -d/--delete is included in opts")
		}
	}
	return command(c, in{user: a.User, cwd: a.Cwd, opts: a.GitOpts}, "symbolic-ref").add(opts...).text("ref", a.Ref).plain("value", a.Value).stdout(ctx, mode{})
}

type tagArgs struct {
	Cwd     string          `arg:"cwd,required,path" doc:"path of the repository"`
	Name    string          `arg:"name,required" doc:"name of the tag"`
	Ref     fun.Opt[string] `arg:"ref" default:"HEAD" doc:"branch, tag or commit"`
	Message fun.Opt[string] `arg:"message" doc:"message, which makes the tag an annotated one"`
	optRunArgs
}

func tag(ctx context.Context, c *fun.Call, a *tagArgs) (fun.Result, error) {
	l := command(c, in{user: a.User, cwd: a.Cwd, opts: a.GitOpts}, "tag")
	n := len(l.args)
	l.words(a.Opts, "-a", "--annotate")
	removes := false
	for _, o := range l.args[n:] {
		if o == "-m" || strings.Contains(o, "--message") {
			return fun.Result{}, fun.Errorf(`Tag messages must be passed in the "message" argument`)
		}
		removes = removes || o == "-d" || o == "--delete"
	}
	if a.Message.Given && !removes {
		l.add("-a", "-m", a.Message.V)
	}
	l.text("name", a.Name)
	if !removes {
		l.plain("ref", a.Ref)
	}
	return l.stdout(ctx, mode{merge: true})
}
