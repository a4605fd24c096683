package graph

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
		{Args: "graph orch.web", Rest: "orch.web"},
		{Args: "graph --call web --no-run", Set: func(o *options) { o.call, o.noRun = true, true }, Rest: "web"},
		{Args: "graph orch.web --format svg --save x.svg", Set: func(o *options) { o.format, o.file = "svg", "x.svg" }, Rest: "orch.web"},
		{Args: "graph orch.web --fromat svg", Err: "unknown flag: --fromat (did you mean --format?)"},
	})
}

// TestUsage has command lines that are refused before anything runs.
func TestUsage(t *testing.T) {
	t.Parallel()
	cmdtest.Refuses(t, func(a *app.App) *cobra.Command { return New(a, nil) }, map[string]string{
		"graph":                "no SLS was given",
		"graph x --format png": `--format: "png" is none of dot, mermaid, svg`,
		"graph state.apply":    "state.apply is a function, and not the SLS of an orchestration",
		"graph x --save x.png": "--save x.png: the suffix names no format; use .dot, .gv, .mmd, .mermaid or .svg, or --format",
	})
}
