package orchestrate

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
		return New(a, runF)
	}, []cmdtest.Case[runner.Options]{
		{Args: "orchestrate orch.web", Rest: "orch.web"},
		{Args: "orchestrate orch.web --lock --lock-wait 30", Set: func(o *runner.Options) { o.Lock.On, o.Lock.Wait, o.Lock.Given = true, 30, true }, Rest: "orch.web"},
		{Args: "orchestrate --resume 20260101000000000000", Set: func(o *runner.Options) { o.Resume = "20260101000000000000" }},
		{Args: "orch orch.web --queue deploy", Set: func(o *runner.Options) { o.Queue = "deploy" }, Rest: "orch.web"},
		{Args: "orchestrate", Err: "no SLS was given"},
		{Args: "orchestrate x --lock --no-lock", Err: "--lock and --no-lock exclude each other"},
		{Args: "orchestrate x --no-lock --lock-wait 3", Err: "--lock-wait waits for a lock, and --no-lock takes none"},
		{Args: "orchestrate x --lock-wait -1", Err: "--lock-wait: -1 is not a number of seconds"},
		{Args: "orchestrate x --resum y", Err: "unknown flag: --resum (did you mean --resume?)"},
	})
}

// TestUsage has command lines that are refused before anything runs.
func TestUsage(t *testing.T) {
	t.Parallel()
	cmdtest.Refuses(t, func(a *app.App) *cobra.Command { return New(a, nil) }, map[string]string{
		"orchestrate x --queue a/b":               `--queue: invalid name "a/b": letters, digits and . _ - are allowed, 64 at most`,
		"orchestrate x --queue q --report x.html": "--report cannot be given with --queue: a worker runs it, with its own flags",
		"orchestrate --queued":                    "--queued: the worker handed over nothing",
	})
}
