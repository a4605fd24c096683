package docs

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
		{Args: "docs"},
		{Args: "docs requisites --open", Set: func(o *options) { o.open = true }, Rest: "requisites"},
		{Args: "docs --list", Set: func(o *options) { o.list = true }},
		{Args: "docs --dir site", Set: func(o *options) { o.dir = "site" }},
		{Args: "docs --lst", Err: "unknown flag: --lst (did you mean --list?)"},
	})
}

// TestUsage has command lines that are refused before anything runs.
func TestUsage(t *testing.T) {
	t.Parallel()
	cmdtest.Refuses(t, func(a *app.App) *cobra.Command { return New(a, nil) }, map[string]string{
		"docs --list --dir x": "--list and --dir exclude each other",
		"docs --list word":    "--list and --dir are for all pages: they take no words and no --open",
	})
}
