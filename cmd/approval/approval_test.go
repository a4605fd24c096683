package approval

import (
	"context"
	"testing"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/internal/testkit/cmdtest"
)

// TestFlags has what flags mean, without a run.
func TestFlags(t *testing.T) {
	t.Parallel()
	cmdtest.Flags(t, func(a *app.App, runF func(context.Context, *options, []string) error) *cobra.Command {
		return New(a, runF)
	}, []cmdtest.Case[options]{
		{Args: "approval list"},
		{Args: "approval list --all", Set: func(o *options) { o.all = true }},
	})
}

// TestUsage has command lines that are refused before anything runs.
func TestUsage(t *testing.T) {
	t.Parallel()
	cmdtest.Refuses(t, func(a *app.App) *cobra.Command { return New(a, nil) }, map[string]string{
		"approval":         "no command was given",
		"approval list x":  "list takes no arguments",
		"approval approve": "give the ID of one approval; 'brine approval list' shows them",
	})
}
