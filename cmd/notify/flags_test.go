package notify

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
		{Args: "notify list"},
		{Args: "notify list --state pending --limit 5", Set: func(o *options) { o.state, o.limit = "pending", 5 }},
	})
}

// TestUsage has command lines that are refused before anything runs.
func TestUsage(t *testing.T) {
	t.Parallel()
	cmdtest.Refuses(t, func(a *app.App) *cobra.Command { return New(a, nil) }, map[string]string{
		"notify":                "no command was given",
		"notify destinations x": "destinations takes no arguments",
		"notify list x":         "list takes no arguments",
		"notify list --sate x":  "unknown flag: --sate (did you mean --state?)",
		"notify send x":         "send takes no arguments",
		"notify retry":          "give the id of one notification; 'brine notify list' shows it",
		"notify test":           "give the name of one destination",
	})
}
