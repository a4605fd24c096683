package worker

import (
	"context"
	"testing"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/internal/testkit/cmdtest"
)

// TestFlags has what flags and arguments mean, without a run.
func TestFlags(t *testing.T) {
	t.Parallel()
	cmdtest.Flags(t, func(a *app.App, runF func(context.Context, *options, []string) error) *cobra.Command {
		return New(a, runF)
	}, []cmdtest.Case[options]{
		{Args: "worker --queue q"},
		{Args: "worker --queue q --once --drain-empty --max-runs 3", Set: func(o *options) { o.once, o.drainEmpty, o.maxRuns = true, true, 3 }},
		{Args: "worker --queue q --attempts 2 --backoff 0.5 --lease 30 --poll 2 --max-crashes 4", Set: func(o *options) { o.attempts, o.backoff, o.lease, o.poll, o.maxCrashes = 2, 0.5, 30, 2, 4 }},
		{Args: "worker --queue q --react --collect web* --every 5", Set: func(o *options) { o.react, o.collect, o.every = true, "web*", 5 }},
		{Args: "worker x", Err: "no arguments are taken"},
		{Args: "worker --onec", Err: "unknown flag: --onec (did you mean --once?)"},
	})
}

// TestUsage has command lines that are refused before anything runs.
func TestUsage(t *testing.T) {
	t.Parallel()
	cmdtest.Refuses(t, func(a *app.App) *cobra.Command { return New(a, nil) }, map[string]string{
		"worker":                                         "--queue: no queue was named",
		"worker --queue a/b":                             `--queue: invalid name "a/b": letters, digits and . _ - are allowed, 64 at most`,
		"worker --queue q --attempts 0":                  "--attempts: 0 is not a number from 1 to 1000",
		"worker --queue q --poll 0.01":                   "--poll: 0.01 is not a number from 0.05 to 3600",
		"worker --queue q --collect web1":                "--collect fetches events that something reacts to: give --react, too; 'brine run beacon.collect' fetches them once",
		"worker --queue q --react --every 5":             "--every is for --collect",
		"worker --queue q --react --collect a --every 0": "--every: 0 is not a number from 1 to 86400",
		"worker --queue q --roster-file -":               "--roster-file -: standard input can be read only once; give a file",
	})
}
