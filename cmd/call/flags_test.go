package call

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
		return New(a, app.AsBrine, runF)
	}, []cmdtest.Case[options]{
		{Args: "call test.ping", Rest: "test.ping"},
		{Args: "call --local test.ping", Set: func(o *options) { o.local = true }, Rest: "test.ping"},
		{Args: "call cmd.run uptime cwd=/tmp --retcode-passthrough", Set: func(o *options) { o.passthrough = true }, Rest: "cmd.run uptime cwd=/tmp"},
		{Args: "call -l debug --id web1 state.apply web --out=json --state-output mixed", Set: func(o *options) {
			o.LogLevel, o.ID, o.Output.Out, o.Output.StateOutput = "debug", "web1", "json", "mixed"
		}, Rest: "state.apply web"},
		{Args: "call --file-root a --file-root b -c conf test.ping", Set: func(o *options) { o.FileRoots, o.ConfigDir = []string{"a", "b"}, "conf" }, Rest: "test.ping"},
		{Args: "call --schedule nightly --splay 5:9 --own-turn", Set: func(o *options) { o.schedule, o.splay, o.ownTurn = "nightly", "5:9", true }},
		{Args: "call --async test.ping", Set: func(o *options) { o.async.On = true }, Rest: "test.ping"},
		{Args: "call --pillar_root p --state_verbose=false test.ping", Set: func(o *options) { o.PillarRoots, o.Output.StateVerbose = []string{"p"}, "false" }, Rest: "test.ping"},
		{Args: "call --lokal test.ping", Err: "unknown flag: --lokal (did you mean --local?)"},
		{Args: "call --test test.ping", Err: "unknown flag: --test"},
		{Args: "call --out", Err: "flag needs an argument: --out"},
	})
}

// TestUsage has command lines that are refused before anything runs.
func TestUsage(t *testing.T) {
	t.Parallel()
	cmdtest.Refuses(t, func(a *app.App) *cobra.Command { return New(a, app.AsBrine, nil) }, map[string]string{
		"call":                                   "no function was given",
		"call --grains os":                       "--grains takes no arguments",
		"call --doc test.ping test.echo":         "--doc takes one function or module",
		"call --async --metadata test.ping":      "--async and --metadata do not go together: there is no return to print",
		"call --async --splay 3 test.ping":       "--async and --schedule or --splay do not go together",
		"call --splay 9:5 test.ping":             `--splay: "9:5" is not a number of seconds, or <min>:<max>`,
		"call --state-verbose perhaps test.ping": `--state-verbose: "perhaps" is neither true nor false`,
		"call --report run.xyz test.ping":        `--report: run.xyz: no report has the suffix ".xyz"; known suffixes are .html, .htm, .xml, .md, .markdown, .ndjson, .jsonl, .prom, .sarif`,
	})
}
