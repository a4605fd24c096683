package doc

import (
	"context"
	"testing"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/funcdoc"
	"brine/internal/testkit/cmdtest"
)

// TestFlags has what flags and arguments mean, without a run.
func TestFlags(t *testing.T) {
	t.Parallel()
	cmdtest.Flags(t, func(a *app.App, runF func(context.Context, *funcdoc.Flags, []string) error) *cobra.Command {
		return New(a, runF)
	}, []cmdtest.Case[funcdoc.Flags]{
		{Args: "doc test.ping", Rest: "test.ping"},
		{Args: "doc cmd file.managed", Rest: "cmd file.managed"},
		{Args: "doc", Err: "no function was named"},
		{Args: "doc x --no-rn", Err: "unknown flag: --no-rn (did you mean --no-run?)"},
	})
}

// TestFunctionsFlags has the flags of brine functions.
func TestFunctionsFlags(t *testing.T) {
	t.Parallel()
	cmdtest.Flags(t, func(a *app.App, runF func(context.Context, *functionsOptions, []string) error) *cobra.Command {
		return NewFunctions(a, runF)
	}, []cmdtest.Case[functionsOptions]{
		{Args: "functions"},
		{Args: "functions file.* --kind state", Set: func(o *functionsOptions) { o.kind = "state" }, Rest: "file.*"},
		{Args: "functions --kidn state", Err: "unknown flag: --kidn (did you mean --kind?)"},
	})
	cmdtest.Refuses(t, func(a *app.App) *cobra.Command { return NewFunctions(a, nil) }, map[string]string{
		"functions --kind stat": `--kind: "stat" is none of state, execution, runner, wheel`,
	})
}
