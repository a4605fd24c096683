package pythonpath

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
	cmdtest.Flags(t, func(a *app.App, runF func(context.Context, *app.RunFlags, []string) error) *cobra.Command {
		return New(a, runF)
	}, []cmdtest.Case[app.RunFlags]{
		{Args: "python-path"},
		{Args: "python-path -c conf --cachedir x", Set: func(o *app.RunFlags) { o.ConfigDir, o.CacheDir = "conf", "x" }},
		{Args: "python-path x", Err: `python-path takes no arguments, and "x" was given`},
		{Args: "python-path --cachdir x", Err: "unknown flag: --cachdir (did you mean --cachedir?)"},
	})
}
