package ui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"brine/cmd/assembly"
	"brine/cmd/library"
	"brine/cmd/runner"
	"brine/cmd/session"
	"brine/internal/core/fun"
	"brine/internal/core/schedule"
	"brine/internal/fleet/queue"
	"brine/internal/py/value"
	"brine/internal/view/ui"
)

// queueOf calls a function with the queue of a session.
func (b *backend) queueOf(ctx context.Context, do func(context.Context, *session.Session, *fun.Env, *queue.Store) error) error {
	ctx, cancel := context.WithTimeout(ctx, runner.QueueTimeout)
	defer cancel()
	return b.session(ctx, func(s *session.Session) error {
		env := s.Env(ctx, s.JIDs.Next(s.App.Host.Now()))
		q, err := assembly.OpenQueue(ctx, env)
		if err != nil {
			return err
		}
		return errors.Join(do(ctx, s, env, q), q.Close())
	})
}

// Recurring returns the schedules of the queue; see [ui.Backend].
func (b *backend) Recurring(ctx context.Context, until time.Time) (out []ui.Recurrence, err error) {
	configured := true
	err = b.session(ctx, func(s *session.Session) error {
		configured = assembly.HasQueue(s.Env(ctx, ""))
		return nil
	})
	if err != nil || !configured {
		return nil, err
	}
	err = b.queueOf(ctx, func(ctx context.Context, s *session.Session, _ *fun.Env, q *queue.Store) error {
		all, err := q.Schedules(ctx, "")
		for _, x := range all {
			out = append(out, recurrenceOf(s, x, until))
		}
		return err
	})
	return out, err
}

// maxNext is how many of the next times of a schedule a page has.
const maxNext = 500

// recurrenceOf is a schedule as pages show it.
func recurrenceOf(s *session.Session, x *queue.Schedule, until time.Time) ui.Recurrence {
	out := ui.Recurrence{
		Name: x.Name, Queue: x.Queue, Runs: "?", When: x.Recurrence, Zone: x.Zone, User: shown(s.Secrets, x.User), Paused: x.Paused,
		Last: x.Last, LastJID: x.LastJID, Skips: x.Skips, Skipped: x.Skipped, Why: shown(s.Secrets, x.Why),
	}
	if x.Result != nil {
		out.Result = x.Result.State
	}
	r, err := runner.Recurrence(s.App.Host, x)
	switch {
	case err != nil:
		out.Fault = err.Error()
		return out
	case x.Work == nil:
		out.Fault = "what it runs is not valid, or is of a newer version of brine"
		return out
	case x.Work.Chain != "":
		out.Runs = "chain " + x.Work.Chain
	case x.Work.Template != "":
		out.Runs = "template " + x.Work.Template
	default:
		out.Runs = "orchestration " + shown(s.Secrets, x.Work.Names())
	}
	if x.Paused {
		return out
	}
	for at, ok := x.Planned, !x.Planned.IsZero(); ok && at.Before(until) && len(out.Next) < maxNext; at, ok = r.Next(at, x.Created) {
		out.Next = append(out.Next, x.DueAt(at))
	}
	return out
}

// AddRecurring adds a schedule; see [ui.Backend].
func (b *backend) AddRecurring(ctx context.Context, x ui.NewRecurrence) error {
	return b.queueOf(ctx, func(ctx context.Context, s *session.Session, env *fun.Env, q *queue.Store) error {
		r, err := recurrence(s, x)
		if err != nil {
			return err
		}
		work, err := b.recurringWork(ctx, s, env, x)
		if err != nil {
			return err
		}
		add := &queue.Schedule{
			Name: x.Name, Queue: x.Queue, Work: work, Recurrence: r.String(), Zone: r.Zone().String(), Overlap: x.Overlap, Missed: x.Missed, User: x.User, Controller: env.ID,
		}
		if err := runner.AddSchedule(ctx, q, add, r); errors.Is(err, queue.ErrExists) {
			return ui.OnField("name", fmt.Errorf("there is a schedule %s already", x.Name))
		} else if err != nil {
			return fmt.Errorf("the schedule cannot be added: %w", err)
		}
		return nil
	})
}

// recurrence checks what somebody asks for, and returns its times.
func recurrence(s *session.Session, x ui.NewRecurrence) (*schedule.Recurrence, error) {
	switch {
	case !queue.ValidName(x.Name):
		return nil, ui.OnField("name", fmt.Errorf("invalid name %q: letters, digits and . _ - are allowed, 64 at most", x.Name))
	case !queue.ValidName(x.Queue):
		return nil, ui.OnField("queue", fmt.Errorf("invalid queue %q: letters, digits and . _ - are allowed, 64 at most", x.Queue))
	case !slices.Contains([]string{queue.OverlapSkip, queue.OverlapQueue}, x.Overlap), !slices.Contains([]string{queue.MissedSkip, queue.MissedRun}, x.Missed):
		return nil, errors.New("choose what happens if the last run has not ended, and if no worker was there")
	}
	zone, err := schedule.Zone(s.App.Host, x.Zone)
	if err != nil {
		return nil, ui.OnField("zone", err)
	}
	var r *schedule.Recurrence
	if x.Cron != "" {
		r, err = schedule.RecurCron(x.Cron, zone)
	} else {
		r, err = schedule.RecurEvery(x.Every, zone)
	}
	return r, ui.OnField("when", err)
}

// recurringWork is what a schedule of the pages runs: only what they show.
func (b *backend) recurringWork(ctx context.Context, s *session.Session, env *fun.Env, x ui.NewRecurrence) (*queue.Work, error) {
	if x.Kind == "chain" {
		_, _, err := library.ReadChain(library.Chains(s), x.What)
		return &queue.Work{Chain: x.What}, err
	}
	if x.Kind == "template" {
		return library.TemplateWork(ctx, s, x.What)
	}
	names, _, err := b.orchestrations(ctx, s)
	if err != nil {
		return nil, err
	}
	if x.Kind != "orchestration" || !slices.Contains(names, x.What) {
		return nil, fmt.Errorf("%s %s: %w", x.Kind, x.What, ui.ErrNotFound)
	}
	in := fun.Args{Pos: []value.Value{x.What}, Kw: value.NewMap(0)}
	return &queue.Work{Args: in.Pos, Kwargs: in.Kw}, runner.MayQueue(s, env, in)
}

// ChangeRecurring pauses, resumes or removes a schedule; see [ui.Backend].
func (b *backend) ChangeRecurring(ctx context.Context, name, what string) error {
	return b.queueOf(ctx, func(ctx context.Context, s *session.Session, _ *fun.Env, q *queue.Store) (err error) {
		switch what {
		case ui.PauseRecurrence:
			err = q.PauseSchedule(ctx, name)
		case ui.RemoveRecurrence:
			err = q.RemoveSchedule(ctx, name)
		default:
			var all []*queue.Schedule
			if all, err = q.Schedules(ctx, name); err == nil && len(all) == 0 {
				err = queue.ErrNone
			}
			if err == nil && all[0].Paused {
				_, err = runner.ResumeSchedule(ctx, s.App.Host, q, all[0])
			}
		}
		if errors.Is(err, queue.ErrNone) {
			return fmt.Errorf("schedule %s: %w", name, ui.ErrNotFound)
		}
		return err
	})
}
