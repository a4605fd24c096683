package check

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
	cmdtest.Flags(t, func(a *app.App, runF func(context.Context, *flags, []string) error) *cobra.Command {
		return New(a, runF)
	}, []cmdtest.Case[flags]{
		{Args: "check"},
		{Args: "check tree --out json", Set: func(o *flags) { o.Out = "json" }, Rest: "tree"},
		{Args: "check --config /etc/salt", Set: func(o *flags) { o.config = true }, Rest: "/etc/salt"},
		{Args: "check --out xml", Err: `--out: "xml" is not one of text, json`},
		{Args: "check a b", Err: "one tree is checked at a time, 2 were given"},
	})
}
