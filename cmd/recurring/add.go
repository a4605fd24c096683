package recurring

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/library"
	"brine/cmd/runner"
	"brine/internal/core/dispatch"
	"brine/internal/core/host"
	"brine/internal/core/schedule"
	"brine/internal/fleet/queue"
	"brine/internal/py/source"
)

type addOptions struct {
	app.RunFlags
	queue, cron, every, zone string
	overlap, missed          string
	jitter                   time.Duration
}

// Kinds of what a schedule runs.
const (
	chainKind       = "chain"
	orchestrateKind = "orchestrate"
	templateKind    = "template"
)

func newAdd(a *app.App, runF func(context.Context, *addOptions, []string) error) *cobra.Command {
	o := &addOptions{}
	c := &cobra.Command{
		Use:   "add <name> chain <chain> | template <template>@<label> | orchestrate <sls>[,<sls>...] [<key>=<value>...]",
		Short: "Add a schedule",
		Long: `Add a schedule: at its times, a worker of the queue runs the chain, the
template or the orchestration, as they are at that time. A template runs with the
answers that 'brine template run --save-as <label>' has kept; these have no passwords.

--cron takes the five fields of a crontab (minute hour day month weekday), or six
with seconds as the last. --every takes an interval such as 6h or 90m, or a time
such as 'monday 04:00' or '04:00'. A time that the clocks of the time zone skip is
due when they have been moved forward, one that they show twice the first time.

If no worker looks at the queue within five minutes of a time, it is missed: it is
left out, or with --missed run it runs late, once. 'brine recurring list' shows
what was left out, and why.

Exit status: 0 the schedule was added; 1 it cannot be; 64 usage error.`,
		Example: `  brine recurring add weekly --queue ops --every 'monday 04:00' --timezone Europe/Berlin chain deploy-friday
  brine recurring add nightly --queue ops --cron '30 2 * * *' --jitter 10m orchestrate orch.backup pillar='{"keep": 7}'`,
		SilenceUsage: true, SilenceErrors: true, ValidArgsFunction: app.NoCompletion,
		RunE: func(c *cobra.Command, args []string) error {
			x, r, err := o.read(a.Host, c, args)
			if err != nil {
				return err
			}
			if runF != nil {
				return runF(c.Context(), o, args)
			}
			return open(c.Context(), a, c, &o.RunFlags, func(ctx context.Context, s *schedules) error {
				return s.add(ctx, o, x, r, args[1:])
			})
		},
	}
	c.SetFlagErrorFunc(app.FlagError)
	f := c.Flags()
	o.RegisterConfig(f)
	o.Output.Register(f)
	app.RepeatedVar(f, &o.NoParse, "no-parse", "", "keep the values of these keyword arguments as strings (comma-separated)")
	f.StringVar(&o.queue, "queue", "", "name of the queue whose workers run it")
	f.StringVar(&o.cron, "cron", "", "when: the fields of a crontab")
	f.StringVar(&o.every, "every", "", "when: an interval such as 6h, or a time such as 'monday 04:00'")
	f.StringVar(&o.zone, "timezone", "UTC", "time zone of the times, such as Europe/Berlin")
	f.DurationVar(&o.jitter, "jitter", 0, "run up to this much later, by chance: 10m, 24h at most")
	f.StringVar(&o.overlap, "overlap", queue.OverlapSkip, "if the last run has not ended: skip, or queue (run afterwards)")
	f.StringVar(&o.missed, "missed", queue.MissedSkip, "if no worker was there in time: skip, or run (late, once)")
	return c
}

// read returns the schedule that flags and arguments describe, without its work.
func (o *addOptions) read(h host.Host, c *cobra.Command, args []string) (*queue.Schedule, *schedule.Recurrence, error) {
	if err := o.check(c, args); err != nil {
		return nil, nil, err
	}
	zone, err := schedule.Zone(h, o.zone)
	switch {
	case errors.Is(err, schedule.ErrNoZones):
		return nil, nil, err
	case err != nil:
		return nil, nil, app.Usagef(c, "--timezone: %s", err)
	}
	flag, text, parse := "--cron", o.cron, schedule.RecurCron
	if o.every != "" {
		flag, text, parse = "--every", o.every, schedule.RecurEvery
	}
	r, err := parse(text, zone)
	if err != nil {
		return nil, nil, app.Usagef(c, "%s: %s", flag, err)
	}
	return &queue.Schedule{
		Name: args[0], Queue: o.queue, Recurrence: r.String(), Zone: zone.String(), Jitter: o.jitter, Overlap: o.overlap, Missed: o.missed,
	}, r, nil
}

// check returns an error for flags and arguments that cannot be.
func (o *addOptions) check(c *cobra.Command, args []string) error {
	kinds := []string{chainKind, orchestrateKind, templateKind}
	switch {
	case len(args) == 0:
		return app.Usagef(c, "give the name of the schedule, and what it runs")
	case !queue.ValidName(args[0]):
		return app.Usagef(c, "%s", badName(args[0]))
	case len(args) == 1:
		return app.Usagef(c, "say what it runs: chain <chain>, orchestrate <sls>, or template <template>@<label>")
	case !slices.Contains(kinds, args[1]):
		return app.Usagef(c, "%q is none of chain, orchestrate and template%s", args[1], source.DidYouMean(args[1], kinds))
	case len(args) == 2, args[1] != orchestrateKind && len(args) != 3:
		return app.Usagef(c, "%s: give the name of one", args[1])
	case o.queue == "":
		return app.Usagef(c, "--queue: no queue was named")
	case !queue.ValidName(o.queue):
		return app.Usagef(c, "--queue: invalid name %q: letters, digits and . _ - are allowed, 64 at most", o.queue)
	case (o.cron == "") == (o.every == ""):
		return app.Usagef(c, "say when it runs, by one of --cron and --every")
	case o.jitter < 0 || o.jitter > queue.MaxJitter || o.jitter%time.Second != 0:
		return app.Usagef(c, "--jitter: %s is not a number of seconds from 0s to %s", o.jitter, queue.MaxJitter)
	}
	for _, x := range []struct {
		flag, value string
		known       []string
	}{{"--overlap", o.overlap, []string{queue.OverlapSkip, queue.OverlapQueue}}, {"--missed", o.missed, []string{queue.MissedSkip, queue.MissedRun}}} {
		if !slices.Contains(x.known, x.value) {
			return app.Usagef(c, "%s: %q is neither %s nor %s%s", x.flag, x.value, x.known[0], x.known[1], source.DidYouMean(x.value, x.known))
		}
	}
	return nil
}

// add adds a schedule that runs what args say.
func (s *schedules) add(ctx context.Context, o *addOptions, x *queue.Schedule, r *schedule.Recurrence, args []string) (err error) {
	if x.Work, err = s.work(ctx, o, args); err != nil {
		return err
	}
	x.User, x.Controller = s.s.UserName(), s.env.ID
	switch err := runner.AddSchedule(ctx, s.Store, x, r); {
	case errors.Is(err, queue.ErrExists):
		return &app.StatusError{
			Status: app.ExitGeneric, Err: fmt.Errorf("there is a schedule %s", x.Name),
			Hint: "'brine recurring show " + x.Name + "' shows it, 'brine recurring remove " + x.Name + "' removes it",
		}
	case err != nil:
		return fmt.Errorf("the schedule cannot be added: %w", err)
	}
	return s.rep.Print("The schedule "+x.Name+" is due next at "+stamp(x.Due, r.Zone())+".", "txt", app.ExitOK)
}

// work is what args say: a chain, or an orchestration with its arguments.
func (s *schedules) work(ctx context.Context, o *addOptions, args []string) (*queue.Work, error) {
	if args[0] != orchestrateKind {
		if len(o.At) > 0 || o.Saltenv != "" || o.Pillarenv != "" || len(o.NoParse) > 0 {
			return nil, errors.New("--at, --saltenv, --pillarenv and --no-parse are for orchestrations; a chain and a template have no arguments")
		}
	}
	switch args[0] {
	case templateKind:
		return library.TemplateWork(ctx, s.s, args[1])
	case chainKind:
		_, _, err := library.ReadChain(library.Chains(s.s), args[1])
		return &queue.Work{Chain: args[1]}, err
	}
	in := dispatch.ParseInput(args[1:], o.Unparsed())
	if err := runner.MayQueue(s.s, s.env, in); err != nil {
		return nil, err
	}
	return &queue.Work{Args: in.Pos, Kwargs: in.Kw, At: o.At, SaltEnv: o.Saltenv, PillarEnv: o.Pillarenv}, nil
}
