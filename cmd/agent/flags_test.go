package agent

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
		{Args: "agent"},
		{Args: "agent --wipe --detached", Set: func(o *options) { o.wipe, o.detached = true, true }},
		{Args: "agent --resume x --skip 7", Set: func(o *options) { o.resume, o.skip = "x", 7 }},
		{Args: "agent --wpie", Err: "unknown flag: --wpie (did you mean --wipe?)"},
	})
}

// TestBuildFlags has the flags of brine agent build.
func TestBuildFlags(t *testing.T) {
	t.Parallel()
	cmdtest.Flags(t, func(a *app.App, runF func(context.Context, *buildOptions, []string) error) *cobra.Command {
		return newBuild(a, runF)
	}, []cmdtest.Case[buildOptions]{
		{Args: "build linux/arm64", Rest: "linux/arm64"},
		{Args: "build linux/arm64 linux/386 --source src --agent-dir d", Set: func(o *buildOptions) { o.source, o.dir = "src", "d" }, Rest: "linux/arm64 linux/386"},
		{Args: "build --sorce x", Err: "unknown flag: --sorce (did you mean --source?)"},
	})
}
