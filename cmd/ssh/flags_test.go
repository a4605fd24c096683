package ssh

import (
	"context"
	"testing"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/target"
	"brine/internal/testkit/cmdtest"
)

// TestFlags has what flags and arguments mean, without a run.
func TestFlags(t *testing.T) {
	t.Parallel()
	cmdtest.Flags(t, func(a *app.App, runF func(context.Context, *target.Options, []string) error) *cobra.Command {
		return New(a, app.AsBrine, runF)
	}, []cmdtest.Case[target.Options]{
		{Args: "ssh web* test.ping", Rest: "web* test.ping"},
		{Args: "ssh -r web1 uptime --static", Set: func(o *target.Options) { o.Raw, o.Static = true, true }, Rest: "web1 uptime"},
		{Args: "ssh web1 state.apply web -b 25% --batch-wait 2.5 --failhard", Set: func(o *target.Options) { o.Batch, o.BatchWait, o.FailHard = "25%", 2.5, true }, Rest: "web1 state.apply web"},
		{Args: "ssh x test.ping --limit a,b --subset 3 --max-procs 9", Set: func(o *target.Options) { o.Limit, o.Subset, o.MaxProcs = "a,b", 3, 9 }, Rest: "x test.ping"},
		{Args: "ssh x test.ping --ignore-host-keys --user admin --priv key -w", Set: func(o *target.Options) { o.IgnoreKeys, o.User, o.Priv, o.Wipe = true, "admin", "key", true }, Rest: "x test.ping"},
		{Args: "ssh --connections web*", Set: func(o *target.Options) { o.Connections = target.ListConnections }, Rest: "web*"},
		{Args: "ssh --connections=close", Set: func(o *target.Options) { o.Connections = target.CloseConnections }},
		{Args: "ssh x test.ping --ssh-persist 60", Set: func(o *target.Options) { o.Persist = 60 }, Rest: "x test.ping"},
		{Args: "ssh --connections=end", Err: `invalid argument "end" for "--connections" flag: "end" is none of list, close`},
		{Args: "ssh --hosts", Set: func(o *target.Options) { o.Hosts = true }},
		{Args: "ssh x test.ping --group", Set: func(o *target.Options) { o.Group = app.GroupOn }, Rest: "x test.ping"},
		{Args: "ssh x test.ping --group=never", Set: func(o *target.Options) { o.Group = app.GroupNever }, Rest: "x test.ping"},
		{Args: "ssh x test.ping --no-group", Set: func(o *target.Options) { o.Group = app.GroupNever }, Rest: "x test.ping"},
		{Args: "ssh x test.ping --group=nevr", Err: `invalid argument "nevr" for "--group" flag: "nevr" is none of auto, always, never (did you mean "never"?)`},
		{Args: "ssh x test.ping --grup", Err: "unknown flag: --grup (did you mean --group?)"},
		{Args: "ssh x test.ping --subset many", Err: `--subset takes a whole number, not "many"`},
	})
}

// TestUsage has command lines that are refused before anything runs.
func TestUsage(t *testing.T) {
	t.Parallel()
	cmdtest.Refuses(t, func(a *app.App) *cobra.Command { return New(a, app.AsBrine, nil) }, map[string]string{
		"ssh":                                         "no target was given",
		"ssh --connections close":                     "--connections takes its value behind =: close would be a target",
		"ssh web1":                                    "no function was given",
		"ssh -r web1":                                 "no command was given",
		"ssh -E -G x test.ping":                       "-E and -G both say what the target is; give one of them",
		"ssh x test.ping --subset -1":                 "--subset, --max-procs, --timeout and --batch-wait cannot be negative",
		"ssh x test.ping --jid 7":                     `--jid: "7" is not a jid`,
		"ssh x test.ping --passwd y":                  "--passwd would show the password to every user of this machine",
		"ssh -r x uptime --async":                     "--async and --raw do not go together: a raw command has no agent on the target that could keep its return",
		"ssh x test.ping --async -b 2":                "--async and --batch do not go together: nobody would wait to start the next batch",
		"ssh x test.ping --wave-check test.ping":      "--wave-check and --wave-wait are for what comes between waves: give --waves, too",
		"ssh x test.ping --failhard --max-failures 2": "--failhard is --max-failures 0: give one of them",
		"ssh x test.ping --waves 1,,":                 `--waves: waves: "" is neither a number nor a percentage, nor a group of targets`,
		"ssh x test.ping,test.echo":                   `"test.ping,test.echo" are several functions, and one is called at a time`,
		"ssh x test.ping --remote-port-forwards 80":   "--remote-port-forwards: brine forwards no ports of targets",
	})
}
