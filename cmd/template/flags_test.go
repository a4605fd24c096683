package template

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
	cmdtest.Flags(t, func(a *app.App, runF func(context.Context, *runOptions, []string) error) *cobra.Command {
		return newRun(a, runF)
	}, []cmdtest.Case[runOptions]{
		{Args: "run deploy", Rest: "deploy"},
		{Args: "run deploy --target web=web* --set a:b=1 --set c=2 --set-env p=P", Set: func(o *runOptions) {
			o.targets, o.sets, o.envs = []string{"web=web*"}, []string{"a:b=1", "c=2"}, []string{"p=P"}
		}, Rest: "deploy"},
		{Args: "run deploy --answers last --save-as x -y --test", Set: func(o *runOptions) { o.answers, o.saveAs, o.yes, o.test = "last", "x", true, true }, Rest: "deploy"},
		{Args: "run", Err: "give the name of one template"},
		{Args: "run deploy --sett x", Err: "unknown flag: --sett (did you mean --set?)"},
	})
}

// TestUsage has command lines that are refused before anything runs.
func TestUsage(t *testing.T) {
	t.Parallel()
	cmdtest.Refuses(t, New, map[string]string{
		"template":              "no command was given",
		"template show x --yes": "unknown flag: --yes",
	})
}
