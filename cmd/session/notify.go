package session

import (
	"context"
	"fmt"
	"sync"
	"time"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/internal/core/fun"
	"brine/internal/fleet/approval"
	"brine/internal/fleet/history"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/notify"
)

// tellTime bounds how long the end of a run sends notifications; what it does not send,
// others do.
const tellTime = 12 * time.Second

// A teller tells the destinations of notifications how runs of the session end.
type teller struct {
	s   *Session
	env *fun.Env
	to  *notify.Destinations

	mu   sync.Mutex
	sink *jobs.Sink // of what was told and is not sent; nil: there is nothing
}

// openNotify has the session tell how its orchestrations end.
func (s *Session) openNotify(env *fun.Env) error {
	if s.history == nil || s.teller != nil || env.Opts.At(notify.Option) == nil {
		return nil
	}
	t, err := s.newTeller(env)
	if err != nil {
		return err
	}
	if s.Subject != nil {
		if err := t.to.CheckNames(s.Subject.Notify); err != nil {
			s.Warn(fun.Warning{Text: fmt.Sprintf("the %s %s: %s", s.Subject.Kind, s.Subject.Name, err)})
		}
	}
	s.teller, s.history.Ended = t, t.ended
	s.OnEnd(t.send)
	return nil
}

// newTeller reads the destinations.
func (s *Session) newTeller(env *fun.Env) (*teller, error) {
	to, err := assembly.Destinations(env)
	if err != nil {
		return nil, &app.StatusError{Status: app.ExitUsage, Err: err, Hint: "'brine docs notifications' describes the option notify"}
	}
	s.Secrets.Add(to.Secrets()...)
	return &teller{s: s, env: env, to: to}, nil
}

// Notify tells the destinations of notifications something, at once.
func (s *Session) Notify(env *fun.Env, m notify.Message) error {
	t, err := s.newTeller(env)
	if err != nil {
		return err
	}
	t.tell(m, nil)
	t.send()
	return nil
}

// NotifyOnce is Notify for how a job ended, unless its own process has told: it may
// have been killed.
func (s *Session) NotifyOnce(ctx context.Context, env *fun.Env, m notify.Message) error {
	st, err := assembly.OpenNotices(ctx, env, s.Tell)
	if err != nil {
		return err
	}
	known, err := st.Has(ctx, m.JID)
	if cerr := st.Close(); err == nil {
		err = cerr
	}
	if known || err != nil {
		return err
	}
	return s.Notify(env, m)
}

// DeliverNotices sends the notifications that are due, whoever left them.
func (s *Session) DeliverNotices(ctx context.Context, env *fun.Env) error {
	if env.Opts.At(notify.Option) == nil {
		return nil
	}
	t, err := s.newTeller(env)
	if err != nil {
		return err
	}
	return assembly.DeliverNotices(ctx, env, t.to, s.Tell, s.Undelivered)
}

// ended tells how a run ended.
func (t *teller) ended(e history.Ending) {
	status, why := t.s.AskedEnd()
	if status == history.Waiting { // which was told, and another run goes on
		return
	}
	if status == history.Refused {
		e.Cause = why
	}
	event := map[string]string{history.Succeeded: notify.Succeeded, history.Failed: notify.Failed}[e.Status]
	if event == "" {
		event = notify.Interrupted
	}
	t.tell(t.message(event, e), e.Notify)
}

// waits tells that a run waits before a step until somebody resumes it.
func (t *teller) waits(jid, id string) {
	e, ok := t.s.history.Waiting(jid, id)
	if !ok {
		return
	}
	m := t.message(notify.Waiting, e)
	m.Cause = "somebody has paused the run; 'brine run state.resume " + jid + "' goes on"
	t.tell(m, e.Notify)
	t.send()
}

// asks tells that a run waits before a step until somebody approves it.
func (t *teller) asks(q *approval.Question, id string) {
	e, ok := t.s.history.Waiting(q.Asker(), id)
	if !ok {
		return
	}
	m := t.message(notify.Waiting, e)
	m.Cause = fmt.Sprintf("it waits for an approval %s by %s; 'brine approval approve %s' or the pages answer", q.Before(), q.Whom(), q.ID())
	t.tell(m, e.Notify)
	t.send()
}

// message describes a run, without secrets.
func (t *teller) message(event string, e history.Ending) notify.Message {
	mask := t.s.Secrets.AnyText
	return notify.Message{
		Event: event, Kind: e.Kind, Name: mask(e.Name), JID: e.JID, User: mask(e.User), Controller: t.env.ID, Status: e.Status, Step: mask(e.Step), Cause: mask(e.Cause),
		Started: e.Started.UTC(), Ended: e.Ended.UTC(), Steps: e.Steps, Done: e.Done, FailedN: e.Failed, Hosts: e.Hosts,
	}
}

// tell keeps a message for those who ask for it.
func (t *teller) tell(m notify.Message, named []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, n := range t.to.For(m, named, t.s.App.Host.Now()) {
		row, err := n.Row()
		if err != nil {
			t.s.Tell(err)
			continue
		}
		if t.sink == nil {
			t.sink = assembly.NoticeSink(t.env, t.s.Tell)
		}
		t.sink.Return(row)
	}
}

// send stores what was told, and sends what is due for a while.
func (t *teller) send() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sink == nil {
		return
	}
	_ = t.sink.Close() // it has warned
	t.sink = nil
	ctx, cancel := context.WithTimeout(context.Background(), tellTime)
	defer cancel()
	if err := assembly.DeliverNotices(ctx, t.env, t.to, t.s.Tell, t.s.Undelivered); err != nil && ctx.Err() == nil {
		t.s.Tell(fmt.Errorf("notifications are not sent now: %w", err))
	}
}

// Undelivered reports an attempt to send that failed.
func (s *Session) Undelivered(n *notify.Notice) {
	switch n.State {
	case notify.Delivered:
	case notify.GivenUp:
		s.Tell(fmt.Errorf("the notification %q for %s is given up: %s; 'brine notify retry %s' tries again", n.Message.Title(), n.Destination, n.Error, n.ID))
	default:
		s.Tell(fmt.Errorf("the notification %q did not reach %s: %s; a worker, brine ui or 'brine notify send' tries again", n.Message.Title(), n.Destination, n.Error))
	}
}
