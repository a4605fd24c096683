package chain

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
		{Args: "run deploy --yes --test", Set: func(o *runOptions) { o.yes, o.test = true, true }, Rest: "deploy"},
		{Args: "run deploy --resume 20260101000000000000 --report x.html", Set: func(o *runOptions) { o.Resume, o.Output.Reports = "20260101000000000000", []string{"x.html"} }, Rest: "deploy"},
		{Args: "run", Err: "give the name of one chain"},
		{Args: "run a b", Err: `"b" is one argument too many: give the name of one chain`},
		{Args: "run deploy --resme x", Err: "unknown flag: --resme (did you mean --resume?)"},
	})
}

// TestUsage has command lines that are refused before anything runs.
func TestUsage(t *testing.T) {
	t.Parallel()
	cmdtest.Refuses(t, New, map[string]string{
		"chain":                                 "no command was given",
		"chain new":                             "give the name of one chain",
		"chain add x":                           "give a chain and an action; there are cmd, config, formula, highstate, orchestrate, pkg, reboot, state, upgrade, wait",
		"chain add x rebot":                     `unknown action "rebot" (did you mean "reboot"?); there are cmd, config, formula, highstate, orchestrate, pkg, reboot, state, upgrade, wait`,
		"chain add x wait soon":                 `wait takes a number of seconds, not "soon"`,
		"chain add x cmd --on y":                "cmd takes one argument",
		"chain add x highstate y --on z":        "highstate takes no arguments",
		"chain add x reboot":                    "reboot needs targets: give them with --on, such as --on 'web*'",
		"chain add x state y --on x --pillar z": "--pillar must be a mapping, such as '{nginx: {workers: 4}}'",
		"chain move x 1":                        "give a chain, the number of a step, and its new number",
		"chain rename x":                        "give a chain and its new name",
		"chain show x --on y":                   "unknown flag: --on",
	})
}

// TestScheduleFlags has the flags of brine chain schedule.
func TestScheduleFlags(t *testing.T) {
	t.Parallel()
	cmdtest.Flags(t, func(a *app.App, runF func(context.Context, *scheduleOptions, []string) error) *cobra.Command {
		return newSchedule(a, runF)
	}, []cmdtest.Case[scheduleOptions]{
		{Args: "schedule deploy", Rest: "deploy"},
		{Args: "schedule deploy --at 2099-12-01T02:00 --print", Set: func(o *scheduleOptions) { o.at, o.print = "2099-12-01T02:00", true }, Rest: "deploy"},
		{Args: "schedule --list", Set: func(o *scheduleOptions) { o.list = true }},
		{Args: "schedule --cancel 7", Set: func(o *scheduleOptions) { o.cancel = "7" }},
		{Args: "schedule --cancl 7", Err: "unknown flag: --cancl (did you mean --cancel?)"},
	})
}
