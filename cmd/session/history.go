package session

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"

	"brine/cmd/assembly"
	"brine/internal/core/fun"
	"brine/internal/core/printable"
	"brine/internal/core/version"
	"brine/internal/fleet/history"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// openHistory has the session tell the history of its orchestrations. The
// database is opened when there is something to tell.
func (s *Session) openHistory(ctx context.Context, env *fun.Env) {
	if s.Jobs == nil || s.history != nil {
		return
	}
	// A broken store is reported once, whatever becomes of its rows.
	var once sync.Once
	sink := assembly.HistorySink(context.WithoutCancel(ctx), env, s.once(func(err error) { once.Do(func() { s.Tell(err) }) }))
	s.history = &history.Recorder{
		Put: func(row *value.Map) { sink.Return(value.ToMap(s.Mask(row))) }, Now: s.App.Host.Now,
		Subject: s.ShownSubject(), Controller: env.ID, Cache: env.CacheDir, Program: version.Number(), PID: os.Getpid(), Verdict: s.askedStatus,
	}
	s.OnEnd(func() { _ = sink.Close() }) // it has warned
}

// ShownSubject is what the command runs as the history names it: without secrets in the
// texts of people.
func (s *Session) ShownSubject() *history.Subject {
	if s.Subject == nil {
		return nil
	}
	x := *s.Subject
	x.Description = s.Secrets.Source(x.Description)
	if step := x.Step; step != nil {
		x.Step = func(id string) (label, target string) {
			label, target = step(id)
			return s.Secrets.Source(label), target
		}
	}
	return &x
}

// Tell prints what is wrong with the history. It is nothing that --strict counts: the
// history fails no run.
func (s *Session) Tell(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Level <= slog.LevelWarn {
		fmt.Fprintf(s.App.Err, "brine: warning: %s\n", printable.Text(s.Secrets.Text(err.Error())))
	}
}

// chronicled returns a record that also goes to the history.
func (s *Session) chronicled(l jobs.Load, rec jobs.Record) jobs.Record {
	if s.history == nil {
		return rec
	}
	return s.history.Record(l, rec)
}
