package lsp

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
		{Args: "lsp"},
		{Args: "lsp tree --log-file x.log --docs-url https://x.example", Set: func(o *options) { o.logFile, o.docsURL = "x.log", "https://x.example" }, Rest: "tree"},
		{Args: "lsp -l debug --stdio", Set: func(o *options) { o.logLevel = "debug" }},
		{Args: "lsp a b", Err: "one tree is checked at a time, 2 were given"},
		{Args: "lsp --sdtio", Err: "unknown flag: --sdtio (did you mean --stdio?)"},
	})
}
