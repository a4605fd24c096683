package cmd

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"

	"brine/cmd/assembly"
	"brine/internal/core/fun"
	"brine/internal/core/printable"
	"brine/internal/fleet/history"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
	"brine/internal/view/chain"
	"brine/internal/view/orchestration"
)

// openHistory has the session tell the history of its orchestrations. The
// database is opened when there is something to tell.
func (s *session) openHistory(ctx context.Context, env *fun.Env) {
	if s.jobs == nil || s.history != nil {
		return
	}
	// A store that is broken is told of once, whatever becomes of its rows.
	var once sync.Once
	sink := assembly.HistorySink(context.WithoutCancel(ctx), env, s.once(func(err error) { once.Do(func() { s.tell(err) }) }))
	s.history = &history.Recorder{
		Put: func(row *value.Map) { sink.Return(value.ToMap(s.mask(row))) }, Now: s.app.Host.Now,
		Subject: s.shownSubject(), Controller: env.ID, Cache: env.CacheDir, PID: os.Getpid(),
	}
	s.close = append(s.close, func() { _ = sink.Close() }) // it has warned
}

// shownSubject is what the command runs as the history names it: without secrets in the
// texts of people.
func (s *session) shownSubject() *history.Subject {
	if s.subject == nil {
		return nil
	}
	x := *s.subject
	x.Description = s.secrets.Source(x.Description)
	if step := x.Step; step != nil {
		x.Step = func(id string) (label, target string) {
			label, target = step(id)
			return s.secrets.Source(label), target
		}
	}
	return &x
}

// tell prints what is wrong with the history. It is nothing that --strict counts: the
// history fails no run.
func (s *session) tell(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.level <= slog.LevelWarn {
		fmt.Fprintf(s.app.Err, "brine: warning: %s\n", printable.Text(s.secrets.Text(err.Error())))
	}
}

// chronicled returns a record that the history is told of, too.
func (s *session) chronicled(l jobs.Load, rec jobs.Record) jobs.Record {
	if s.history == nil {
		return rec
	}
	return s.history.Record(l, rec)
}

// chainSubject is a chain as the history names it.
func chainSubject(c *chain.Chain) *history.Subject {
	return &history.Subject{
		Kind: history.Chain, Name: c.Name, Description: c.Description, Source: c.Hash(),
		Step: func(id string) (label, target string) {
			if s := c.StepOf(id); s != nil {
				return s.Summary(), s.On
			}
			return "", ""
		},
	}
}

// templateSubject is a template as the history names it.
func templateSubject(t *orchestration.Template) *history.Subject {
	return &history.Subject{
		Kind: history.Template, Name: t.Name, Description: t.Description,
		Step: func(id string) (label, target string) {
			for _, s := range t.Steps {
				if slices.Contains(s.IDs, id) {
					return s.Description, ""
				}
			}
			return "", ""
		},
	}
}
