package recurring

import (
	"context"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/internal/testkit/cmdtest"
)

// TestFlags has what flags and arguments mean, without a run.
func TestFlags(t *testing.T) {
	t.Parallel()
	cmdtest.Flags(t, func(a *app.App, runF func(context.Context, *addOptions, []string) error) *cobra.Command {
		return New(a, runF)
	}, []cmdtest.Case[addOptions]{
		{Args: "recurring add w --queue q --every 6h chain c", Rest: "w chain c"},
		{
			Args: "recurring add w --queue q --cron @daily --overlap queue --missed run --jitter 10m orchestrate a,b x=1", Rest: "w orchestrate a,b x=1",
			Set: func(o *addOptions) {
				o.cron, o.every, o.overlap, o.missed, o.jitter = "@daily", "", "queue", "run", 10*time.Minute
			},
		},
	})
}

// TestUsage has command lines that are refused before anything runs.
func TestUsage(t *testing.T) {
	t.Parallel()
	cmdtest.Refuses(t, func(a *app.App) *cobra.Command { return New(a, nil) }, map[string]string{
		"recurring":                           "no command was given",
		"recurring add":                       "give the name of the schedule, and what it runs",
		"recurring add a/b chain c":           `invalid name of a schedule "a/b": letters, digits and . _ - are allowed, 64 at most`,
		"recurring add w":                     "say what it runs: chain <chain>, orchestrate <sls>, or template <template>@<label>",
		"recurring add w chian c":             `"chian" is none of chain, orchestrate and template (did you mean "chain"?)`,
		"recurring add w chain":               "chain: give the name of one",
		"recurring add w chain c d":           "chain: give the name of one",
		"recurring add w orchestrate":         "orchestrate: give the name of one",
		"recurring add w chain c":             "--queue: no queue was named",
		"recurring add w chain c --queue a/b": `--queue: invalid name "a/b": letters, digits and . _ - are allowed, 64 at most`,
		"recurring add w chain c --queue q":   "say when it runs, by one of --cron and --every",
		"recurring add w chain c --queue q --cron @daily --every 1h":    "say when it runs, by one of --cron and --every",
		"recurring add w chain c --queue q --every 1h --jitter 25h":     "--jitter: 25h0m0s is not a number of seconds from 0s to 24h0m0s",
		"recurring add w chain c --queue q --every 1h --overlap skpi":   `--overlap: "skpi" is neither skip nor queue (did you mean "skip"?)`,
		"recurring add w chain c --queue q --every 1h --missed never":   `--missed: "never" is neither skip nor run`,
		"recurring add w chain c --queue q --every 1h --timezone local": `--timezone: "local" is not the name of a time zone, such as UTC or Europe/Berlin`,
		"recurring add w chain c --queue q --cron @hurly":               `--cron: "@hurly" has 1 fields, a crontab has 5 (minute hour day month weekday), or 6 with seconds`,
		"recurring add w chain c --queue q --every 0s":                  `--every: "0s" is not from 1s to 366 days`,
		"recurring list x":    "list takes no arguments",
		"recurring show":      "give the name of one schedule",
		"recurring pause a/b": `invalid name of a schedule "a/b": letters, digits and . _ - are allowed, 64 at most`,
	})
}
