package run

import (
	"context"
	"testing"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/runner"
	"brine/internal/testkit/cmdtest"
)

// TestFlags has what flags and arguments mean, without a run.
func TestFlags(t *testing.T) {
	t.Parallel()
	cmdtest.Flags(t, func(a *app.App, runF func(context.Context, *runner.Options, []string) error) *cobra.Command {
		return New(a, app.AsBrine, runF)
	}, []cmdtest.Case[runner.Options]{
		{Args: "run jobs.list_jobs", Rest: "jobs.list_jobs"},
		{Args: "run --quiet --roster-file hosts -t 9 jobs.active", Set: func(o *runner.Options) { o.Quiet, o.RosterFile, o.Timeout = true, "hosts", 9 }, Rest: "jobs.active"},
		{Args: "run -d state", Set: func(o *runner.Options) { o.Doc = true }, Rest: "state"},
		{Args: "run state.orchestrate orch.web pillar={} --saltenv dev", Set: func(o *runner.Options) { o.Saltenv = "dev" }, Rest: "state.orchestrate orch.web pillar={}"},
		{Args: "run --rosterfile x", Err: "unknown flag: --rosterfile (did you mean --roster-file?)"},
	})
}

// TestUsage has command lines that are refused before anything runs.
func TestUsage(t *testing.T) {
	t.Parallel()
	cmdtest.Refuses(t, func(a *app.App) *cobra.Command { return New(a, app.AsBrine, nil) }, map[string]string{
		"run":                               "no function was given",
		"run -d a b":                        "--doc takes one function or module",
		"run --async jobs.active":           "--async: a runner function ends with its command",
		"run jobs.active --state-verbose x": `--state-verbose: "x" is neither true nor false`,
	})
}
