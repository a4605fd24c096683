package ui

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"brine/cmd/session"
	"brine/internal/core/fun"
	"brine/internal/core/printable"
	"brine/internal/fleet/history"
	"brine/internal/fleet/kept"
	"brine/internal/fleet/notify"
)

const (
	// notifyEvery is how often the server looks for notifications that are to be sent.
	notifyEvery = 15 * time.Second
	// lostRuns is how many of the newest runs are looked at for those whose process is
	// gone, and lostFor how long ago it may have been.
	lostRuns = 20
	lostFor  = 24 * time.Hour
)

// A notifier sends notifications that did not arrive, and tells of runs whose processes
// could not, since they were killed.
type notifier struct {
	b    *backend
	seen map[string]bool // runs that were looked at
	last string          // what was wrong before
}

// notifies sends notifications until stop is called.
func (b *backend) notifies(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	n := &notifier{b: b, seen: map[string]bool{}}
	var wg sync.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil {
			n.look(ctx)
			select {
			case <-ctx.Done():
			case <-time.After(notifyEvery):
			}
		}
	})
	return func() {
		cancel()
		wg.Wait()
	}
}

// look does what is due, and reports what is wrong unless that is known.
func (n *notifier) look(ctx context.Context) {
	err := n.b.session(ctx, func(s *session.Session) error {
		if s.Cfg.Opts.At(notify.Option) == nil {
			return nil
		}
		if err := s.ApplySDB(ctx); err != nil {
			return err
		}
		env := s.Env(ctx, "")
		if err := n.lost(ctx, s, env); err != nil {
			return err
		}
		return s.DeliverNotices(ctx, env)
	})
	text := ""
	if err != nil && ctx.Err() == nil {
		text = err.Error()
	}
	if text != "" && text != n.last {
		fmt.Fprintf(n.b.app.Err, "brine: warning: notifications: %s\n", printable.Text(text))
	}
	n.last = text
}

// lost tells of runs whose process is gone before it could report how it ended.
func (n *notifier) lost(ctx context.Context, s *session.Session, env *fun.Env) error {
	st := kept.New(s.Cfg.CacheDir, n.b.app.Host.Now)
	jids, err := st.List()
	if err != nil {
		return err
	}
	for _, jid := range jids[:min(len(jids), lostRuns)] {
		if n.seen[jid] {
			continue
		}
		r, err := st.Open(jid)
		if err != nil || r.State() == kept.Active {
			continue
		}
		n.seen[jid] = true
		if m, ok := lostMessage(r, n.b.app.Host.Now()); ok {
			m.Controller = env.ID
			if err := s.NotifyOnce(ctx, env, m); err != nil {
				n.seen[jid] = false
				return err
			}
		}
	}
	return nil
}

// lostMessage describes a run that is lost; false for others.
func lostMessage(r *kept.Run, now time.Time) (m notify.Message, ok bool) {
	kind := map[string]string{kept.Orchestrations: history.Orchestration, kept.Chains: history.Chain, kept.Templates: history.Template}[r.Spec.Kind]
	at := r.LastWord()
	if r.State() != kept.Lost || kind == "" || r.Spec.Test || now.Sub(at) > lostFor {
		return m, false
	}
	return notify.Message{
		Event: notify.Interrupted, Kind: kind, Name: strings.TrimSpace(printable.Line(r.Spec.Name)), JID: r.Spec.JID, User: printable.Line(r.Spec.User), Status: history.Killed,
		Cause: "its process was killed, or the machine went down", Started: r.Spec.Started, Ended: at,
	}, true
}
