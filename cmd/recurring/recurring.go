// Package recurring is brine recurring: it has the workers of a queue run chains and
// orchestrations again and again.
package recurring

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/cmd/output"
	"brine/cmd/runner"
	"brine/cmd/session"
	"brine/internal/core/config"
	"brine/internal/core/fun"
	"brine/internal/core/printable"
	"brine/internal/core/schedule"
	"brine/internal/fleet/queue"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

const exitStatus = `

Exit status: 0 success; 1 failure; 64 usage error.`

// New returns "brine recurring". addF, which may be nil, replaces what "add" runs.
func New(a *app.App, addF func(context.Context, *addOptions, []string) error) *cobra.Command {
	c := &cobra.Command{
		Use:   "recurring <command>",
		Short: "Run chains and orchestrations regularly, with workers",
		Long: `Have the workers of a queue run a chain or an orchestration again and again, such
as every Monday at 04:00. The schedules are in the database of the queue: any of
the workers puts what is due into the queue, once, and any of them runs it. See
'brine docs queue'. The jobs of a single machine are those of 'brine schedule'.` + exitStatus,
		Example: `  brine recurring add weekly --queue ops --every 'monday 04:00' --timezone Europe/Berlin chain deploy-friday
  brine recurring add nightly --queue ops --cron '30 2 * * *' --jitter 10m orchestrate orch.backup
  brine recurring list
  brine recurring pause weekly`,
		SilenceUsage: true, SilenceErrors: true,
		RunE: func(c *cobra.Command, _ []string) error { return app.Usagef(c, "no command was given") },
	}
	c.SetFlagErrorFunc(app.FlagError)
	c.AddCommand(
		newAdd(a, addF),
		newSub(a, "list", "List the schedules, with their next times and last results", "", (*schedules).list),
		newSub(a, "show <name>", "Show a schedule, with its next times and last result", "show", (*schedules).show),
		newSub(a, "pause <name>", "Keep a schedule from being due", "pause", (*schedules).pause),
		newSub(a, "resume <name>", "End the pause of a schedule; what came meanwhile is left out", "resume", (*schedules).resume),
		newSub(a, "remove <name>", "Remove a schedule; what it has queued still runs", "remove", (*schedules).remove),
	)
	return c
}

// schedules are those of the queue of a session.
type schedules struct {
	*queue.Store
	app *app.App
	s   *session.Session
	rep *output.Report
	env *fun.Env
}

// open calls do with the schedules of a session.
func open(ctx context.Context, a *app.App, c *cobra.Command, o *app.RunFlags, do func(context.Context, *schedules) error) (err error) {
	if err := a.Saltfile(c, "salt-run", o); err != nil {
		return err
	}
	s, err := session.New(a, config.Master, "salt-run", o, nil)
	if err != nil {
		return err
	}
	defer s.End()
	rep := output.New(s)
	if err := rep.CheckOutput(); err != nil {
		return err
	}
	if err := s.ApplySDB(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, runner.QueueTimeout)
	defer cancel()
	x := &schedules{app: a, s: s, rep: rep, env: s.Env(ctx, s.JIDs.Next(a.Host.Now()))}
	if x.Store, err = assembly.OpenQueue(ctx, x.env); err != nil {
		return err
	}
	if err := errors.Join(do(ctx, x), x.Close()); err != nil {
		return err
	}
	return app.Silent(s.StrictStatus(app.ExitOK))
}

// newSub is a command that takes the name of a schedule; names "" is that it takes none.
func newSub(a *app.App, use, short, names string, run func(*schedules, context.Context, string) error) *cobra.Command {
	o := &app.RunFlags{}
	c := &cobra.Command{Use: use, Short: short, Long: short + "." + exitStatus, SilenceUsage: true, SilenceErrors: true, ValidArgsFunction: app.NoCompletion}
	c.Example = "  brine recurring " + c.Name()
	if names != "" {
		c.Example += " weekly"
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		name := ""
		switch {
		case names == "" && len(args) > 0:
			return app.Usagef(c, "%s takes no arguments", c.Name())
		case names != "" && len(args) != 1:
			return app.Usagef(c, "give the name of one schedule")
		case names != "":
			name = args[0]
			if !queue.ValidName(name) {
				return app.Usagef(c, "%s", badName(name))
			}
		}
		return open(c.Context(), a, c, o, func(ctx context.Context, x *schedules) error {
			err := run(x, ctx, name)
			if errors.Is(err, queue.ErrNone) {
				err = x.noSchedule(ctx, name)
			}
			return err
		})
	}
	c.SetFlagErrorFunc(app.FlagError)
	o.RegisterConfig(c.Flags())
	o.Output.Register(c.Flags())
	return c
}

func badName(name string) string {
	return fmt.Sprintf("invalid name of a schedule %q: letters, digits and . _ - are allowed, 64 at most", name)
}

// noSchedule says that there is no schedule with a name, and which one may be meant.
func (x *schedules) noSchedule(ctx context.Context, name string) error {
	all, err := x.Schedules(ctx, "")
	if err != nil {
		return err
	}
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = s.Name
	}
	return &app.StatusError{
		Status: app.ExitGeneric, Err: fmt.Errorf("there is no schedule %s%s", name, source.DidYouMean(name, names)),
		Hint: "'brine recurring list' lists the schedules",
	}
}

// one returns the schedule with a name.
func (x *schedules) one(ctx context.Context, name string) (*queue.Schedule, error) {
	all, err := x.Schedules(ctx, name)
	if err == nil && len(all) == 0 {
		err = queue.ErrNone
	}
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

func (x *schedules) list(ctx context.Context, _ string) error {
	all, err := x.Schedules(ctx, "")
	if err != nil {
		return err
	}
	now, err := x.Now(ctx)
	if err != nil {
		return err
	}
	out := value.NewMap(len(all))
	for _, s := range all {
		out.Set(printable.Line(s.Name), x.described(s, now, 1))
	}
	return x.rep.Print(out, "nested", app.ExitOK)
}

// shownTimes is how many of the next times of a schedule are shown.
const shownTimes = 5

func (x *schedules) show(ctx context.Context, name string) error {
	s, err := x.one(ctx, name)
	if err != nil {
		return err
	}
	now, err := x.Now(ctx)
	if err != nil {
		return err
	}
	out := x.described(s, now, shownTimes)
	out.Set("jitter", s.Jitter.String())
	out.Set("overlap", s.Overlap)
	out.Set("missed", s.Missed)
	out.Set("user", s.User)
	out.Set("controller", s.Controller)
	out.Set("created", stamp(s.Created, time.UTC))
	return x.rep.Print(value.MapOf(s.Name, out), "nested", app.ExitOK)
}

// overdue is how long a time may have come before it is said that no worker looks.
const overdue = time.Minute

// described is a schedule at a time, with its next times.
func (x *schedules) described(s *queue.Schedule, now time.Time, times int) *value.Map {
	out := value.MapOf("queue", s.Queue, "runs", runs(s), "when", s.Recurrence, "timezone", s.Zone)
	r, err := runner.Recurrence(x.app.Host, s)
	switch {
	case err != nil:
		out.Set("error", err.Error())
	case s.Work == nil:
		out.Set("error", unsupported(s))
	case s.Paused:
		out.Set("paused", true)
	default:
		out.Set("next", value.Strings(nextTimes(s, r, times)...))
		if !s.Due.IsZero() && now.Sub(s.Due) > overdue {
			out.Set("overdue", "no worker of the queue has looked at it since; is one running?")
		}
	}
	zone := time.UTC
	if r != nil {
		zone = r.Zone()
	}
	if !s.Last.IsZero() {
		out.Set("last", lastOf(s, zone))
	}
	if s.Skips > 0 {
		out.Set("left_out", value.MapOf("times", int64(s.Skips), "newest", stamp(s.Skipped, zone), "because", s.Why))
	}
	return out
}

func unsupported(s *queue.Schedule) string {
	if !s.Supported() {
		return "it is of a newer version of brine"
	}
	return "what it runs is not valid; remove it, and add it again"
}

// runs says what a schedule runs.
func runs(s *queue.Schedule) string {
	switch {
	case s.Work == nil:
		return "?"
	case s.Work.Chain != "":
		return "chain " + s.Work.Chain
	case s.Work.Template != "":
		return "template " + s.Work.Template
	}
	return "orchestrate " + s.Work.Names()
}

// nextTimes are the next times of a schedule, with its jitter.
func nextTimes(s *queue.Schedule, r *schedule.Recurrence, n int) []string {
	out := []string{}
	for t, ok := s.Planned, !s.Planned.IsZero(); ok && len(out) < n; t, ok = r.Next(t, s.Created) {
		out = append(out, stamp(s.DueAt(t), r.Zone()))
	}
	return out
}

// lastOf is the last run of a schedule.
func lastOf(s *queue.Schedule, zone *time.Location) *value.Map {
	out := value.MapOf("time", stamp(s.Last, zone), "jid", s.LastJID)
	if s.Result == nil {
		out.Set("result", "removed from the queue")
		return out
	}
	out.Set("result", s.Result.State)
	if s.Result.Error != "" {
		out.Set("error", s.Result.Error)
	}
	return out
}

// stamp is a time with its distance from UTC.
func stamp(t time.Time, zone *time.Location) string { return t.In(zone).Format(time.RFC3339) }

func (x *schedules) pause(ctx context.Context, name string) error {
	if err := x.PauseSchedule(ctx, name); err != nil {
		return err
	}
	return x.rep.Print("The schedule "+name+" is paused.", "txt", app.ExitOK)
}

func (x *schedules) resume(ctx context.Context, name string) error {
	s, err := x.one(ctx, name)
	if err != nil {
		return err
	}
	if !s.Paused {
		return fmt.Errorf("the schedule %s is not paused", name)
	}
	r, err := runner.ResumeSchedule(ctx, x.app.Host, x.Store, s)
	if err != nil {
		return err
	}
	return x.rep.Print("The schedule "+name+" is due next at "+stamp(s.Due, r.Zone())+".", "txt", app.ExitOK)
}

func (x *schedules) remove(ctx context.Context, name string) error {
	if err := x.RemoveSchedule(ctx, name); err != nil {
		return err
	}
	return x.rep.Print("The schedule "+name+" is removed.", "txt", app.ExitOK)
}
