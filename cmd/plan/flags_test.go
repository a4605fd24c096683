package plan

import (
	"context"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"brine/cmd/app"
	"brine/cmd/target"
	"brine/internal/testkit/cmdtest"
)

// TestFlags has what flags and arguments mean, without a run.
func TestFlags(t *testing.T) {
	t.Parallel()
	cmdtest.Flags(t, func(a *app.App, runF func(context.Context, *options, []string) error) *cobra.Command {
		return New(a, Definitions{}, runF)
	}, []cmdtest.Case[options]{
		{Args: "plan orch.web", Rest: "orch.web"},
		{Args: "plan --call state.apply web", Set: func(o *options) { o.call = true }, Rest: "state.apply web"},
		{Args: "plan --ssh web* state.apply web -G --limit a", Set: func(o *options) { o.target, o.Limit, o.Matching = "web*", "a", grains() }, Rest: "state.apply web"},
		{Args: "plan orch.web -o x.plan --out=diff --detailed-exitcode", Set: func(o *options) { o.file, o.format, o.detailed = "x.plan", "diff", true }, Rest: "orch.web"},
		{Args: "plan orch.web --limit a,b -o x --without-unreachable --no-slots --no-ext-pillar", Set: func(o *options) { o.Limit, o.file, o.without, o.noSlots, o.noExt = "a,b", "x", true, true, true }, Rest: "orch.web"},
		{Args: "plan --chain friday", Set: func(o *options) { o.chain = true }, Rest: "friday"},
		{Args: "plan --template deploy --answers last -o x", Set: func(o *options) { o.template, o.answers, o.file = true, "last", "x" }, Rest: "deploy"},
		{Args: "plan orch.web --record", Set: func(o *options) { o.record = true }, Rest: "orch.web"},
		{Args: "plan orch.web --detailed-exit", Err: "unknown flag: --detailed-exit (did you mean --detailed-exitcode?)"},
	})
}

// TestUsage has command lines that are refused before anything runs.
func TestUsage(t *testing.T) {
	t.Parallel()
	cmdtest.Refuses(t, func(a *app.App) *cobra.Command { return New(a, Definitions{}, nil) }, map[string]string{
		"plan":                                               "no SLS was given",
		"plan --call":                                        "no function was given",
		"plan --call --ssh x state.apply":                    "--call plans for this machine and --ssh for targets: give one of them",
		"plan --ssh= state.apply":                            "--ssh: no target was given",
		"plan -G orch.web":                                   "--grain says what the target of --ssh is, and --ssh was not given",
		"plan orch.web --out xml":                            `--out: "xml" is none of text, diff, json, yaml, markdown, html`,
		"plan orch.web test=True":                            "test=: a plan is made in test mode, and applied without it",
		"plan orch.web --async":                              "--async: a plan waits for what its targets answer",
		"plan orch.web --roster-file -":                      "--roster-file -: 'brine apply' could not read the roster again; name a file",
		"plan state.apply web":                               "state.apply is a function, and not the SLS of an orchestration",
		"plan --call state.apply --limit a":                  "--limit is for targets, and --call plans for this machine",
		"plan orch.web --without-unreachable":                "--without-unreachable is for a plan that is kept: give -o <file>",
		"plan --call state.apply --without-unreachable -o x": "--without-unreachable is for targets, and --call plans for this machine",
		"plan --chain":                                       "give the name of one chain",
		"plan --chain a b":                                   "give the name of one chain",
		"plan --chain --template a":                          "--chain plans a chain and --template a template: give one of them",
		"plan --chain --call a":                              "--chain plans steps, and --call and --ssh a function: give one of them",
		"plan --chain a --answers x":                         "--answers are those to a template: give --template",
		"plan --call cmd.run":                                "cmd.run cannot be planned",
	})
}

// TestApplyFlags has the flags of brine apply.
func TestApplyFlags(t *testing.T) {
	t.Parallel()
	cmdtest.Flags(t, func(a *app.App, runF func(context.Context, *applyOptions, []string) error) *cobra.Command {
		return NewApply(a, nil, Definitions{}, runF)
	}, []cmdtest.Case[applyOptions]{
		{Args: "apply x.plan", Rest: "x.plan"},
		{Args: "apply x.plan --yes --out json", Set: func(o *applyOptions) { o.yes, o.output.Out = true, "json" }, Rest: "x.plan"},
		{Args: "apply x.plan password=x -l quiet --strict", Set: func(o *applyOptions) { o.log.LogLevel, o.log.Strict = "quiet", true }, Rest: "x.plan password=x"},
		{Args: "apply x.plan --limit a --without-unreachable", Set: func(o *applyOptions) { o.fleet.Limit, o.without = "a", true }, Rest: "x.plan"},
		{Args: "apply x.plan --roster-file x", Err: "unknown flag: --roster-file"},
	})
	cmdtest.Refuses(t, func(a *app.App) *cobra.Command { return NewApply(a, nil, Definitions{}, nil) }, map[string]string{"apply": "no plan was given"})
}

// grains are the flags of a target that -G makes one of grains.
func grains() target.Matching {
	o := &target.Options{}
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	o.Matching.Register(f)
	_ = f.Parse([]string{"-G"})
	return o.Matching
}
