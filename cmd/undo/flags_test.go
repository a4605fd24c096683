package undo

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
		return New(a, nil, runF)
	}, []cmdtest.Case[options]{
		{Args: "undo 20261121140500123456", Rest: "20261121140500123456"},
		{Args: "undo 20261121140500123456 web1 web2 --yes", Set: func(o *options) { o.yes = true }, Rest: "20261121140500123456 web1 web2"},
		{Args: "undo --test --force 20261121140500123456", Set: func(o *options) { o.test, o.force = true, true }, Rest: "20261121140500123456"},
		{Args: "undo --froce", Err: "unknown flag: --froce (did you mean --force?)"},
	})
}

// TestUsage has command lines that are refused before anything is looked at.
func TestUsage(t *testing.T) {
	t.Parallel()
	cmdtest.Refuses(t, func(a *app.App) *cobra.Command { return New(a, nil, nil) }, map[string]string{
		"undo":                                   "no jid was given",
		"undo 12":                                `"12" is not a jid, such as 20261121140500123456`,
		"undo 20261121140500123456 --undo":       "--undo: what an undo changes is always kept, so that it can be undone: leave it out",
		"undo 20261121140500123456 --test --yes": "--test only shows what would be brought back: there is nothing that --yes could answer",
	})
}

// TestUnknownJob: neither a job that is in no record nor one of other targets is undone.
func TestUnknownJob(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmdtest.Write(t, dir+"/master", "cachedir: "+dir+"/cache\n", 0o644)
	cmdtest.Write(t, dir+"/minion", "cachedir: "+dir+"/cache\n", 0o644)
	for _, only := range []string{"", "web1"} {
		args := []string{"undo", "-c", dir, "--yes", "20261121140500123456"}
		if only != "" {
			args = append(args, only)
		}
		status, out, errs := cmdtest.Run(t, map[string]string{"HOME": dir, "PWD": dir}, func(a *app.App) *cobra.Command { return New(a, nil, nil) }, args...)
		want := "brine: there is no job 20261121140500123456 in the cache of this machine\nhint: 'brine run jobs.list_jobs' lists the jobs, " +
			"'brine call undo.kept' those of brine call of which is kept what they changed\n"
		if status != app.ExitGeneric || out != "" || errs != want {
			t.Errorf("%q: status %d, %q, %q", only, status, out, errs)
		}
	}
}
