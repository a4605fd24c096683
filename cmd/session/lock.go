package session

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"time"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/internal/core/config"
	"brine/internal/core/fun"
	"brine/internal/core/printable"
	"brine/internal/fleet/history"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/shared"
	"brine/internal/py/value"
)

// locking is what flags and configuration say of locks.
type locking struct {
	on   bool
	wait time.Duration
}

// minLease is the shortest lease: a machine that is busy has to get heartbeats out in
// it.
const (
	defaultLease = 60 * time.Second
	minLease     = 10 * time.Second
)

// Locking reads the flags and the options orchestrate_lock and orchestrate_lock_wait.
func (s *Session) Locking() (l locking, err error) {
	f, opts := &s.Flags.Lock, s.Cfg.Opts
	switch v := opts.At("orchestrate_lock").(type) {
	case nil:
	case bool:
		l.on = v
	case string:
		if l.on, err = parseBool(v); err != nil {
			return l, fun.Errorf("orchestrate_lock: %v", err)
		}
	default:
		return l, fun.Errorf("orchestrate_lock: %s is neither true nor false", value.Str(v))
	}
	l.on = (l.on || f.On) && !f.Off
	seconds := 0.0
	if v := opts.At("orchestrate_lock_wait"); v != nil {
		if seconds, err = value.ToFloat(v); err != nil || seconds < 0 || seconds > 1e8 || math.IsNaN(seconds) {
			return l, fun.Errorf("orchestrate_lock_wait: %s is not a number of seconds", value.Str(v))
		}
	}
	if f.Given {
		if !l.on {
			return l, fun.Errorf("--lock-wait waits for a lock, and this run takes none: add --lock, or orchestrate_lock: True to the configuration")
		}
		seconds = f.Wait
	}
	l.wait = time.Duration(seconds * float64(time.Second))
	return l, nil
}

// lease is the option controller_lease: how old the heartbeat of a controller may
// become.
func lease(opts *value.Map) (time.Duration, error) {
	v := opts.At("controller_lease")
	if v == nil {
		return defaultLease, nil
	}
	n, err := value.ToFloat(v)
	if err != nil || !(n >= minLease.Seconds() && n <= 86400) {
		return 0, fmt.Errorf("controller_lease: %s is not a number of seconds from %.0f to 86400", value.Str(v), minLease.Seconds())
	}
	return time.Duration(n * float64(time.Second)), nil
}

// OpenShared has the session share what it does with other controllers. The database
// is opened when there is something to share.
func (s *Session) OpenShared(env *fun.Env) error {
	if s.Shared != nil {
		return nil
	}
	lease, err := lease(s.Cfg.Opts)
	if err != nil {
		return &app.StatusError{Status: app.ExitUsage, Err: err}
	}
	name, _ := s.App.Host.Hostname()
	s.Shared = &shared.Controller{
		Open:    func(ctx context.Context) (*shared.Store, error) { return assembly.OpenShared(ctx, env) },
		Records: s.Jobs != nil && s.Cfg.Kind == config.Master && assembly.SharesRecords(env),
		Self:    shared.Run{Controller: env.ID, Host: name, Cache: env.CacheDir, PID: os.Getpid(), Lease: lease},
		Owner:   s.UserName() + "@" + name,
		Warn:    s.alarm,
	}
	s.OnEnd(s.Shared.Close)
	return nil
}

// alarm prints what a run cannot keep to itself, whatever the log level is.
func (s *Session) alarm(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.App.Err, "brine: warning: %s\n", printable.Text(s.Secrets.Text(text)))
}

// A lockJournal is the journal of an orchestration that takes its lock before the
// first step, and has no other run go on with the one that it resumes.
type lockJournal struct {
	*jobs.History
	s      *Session
	jid    string
	parent string // jid of the orchestration that this one is a step of
	name   string
	claims []string  // runs that no other run is to go on with
	from   *jobs.Job // the one that this one goes on with; nil: none

	mu   sync.Mutex
	held *shared.Held
}

// lockName is the name of the lock of an orchestration.
func lockName(subject *history.Subject, sls value.Value, saltenv string) string {
	if subject != nil {
		return subject.Kind + ":" + subject.Name
	}
	var names []string
	if l, ok := sls.(*value.List); ok {
		for _, x := range l.Items {
			names = append(names, value.Str(x))
		}
	} else {
		names = strings.Split(value.Str(sls), ",")
	}
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	name := strings.Join(names, ",")
	if saltenv != "" && saltenv != "base" {
		name += "@" + saltenv
	}
	return name
}

// Begin takes the lock; see [fun.Journal].
func (j *lockJournal) Begin(ctx context.Context, env *fun.Env, chunks []*fun.Chunk) (map[string]*value.Map, error) {
	l, err := j.s.Locking()
	if err != nil {
		return nil, err
	}
	if l.on && !value.Truth(env.Opts.At("test")) {
		if err := j.take(ctx, l, assembly.TargetsOf(ctx, env, chunks)); err != nil {
			return nil, err
		}
	}
	undo := func() {}
	if j.from != nil || len(j.claims) > 0 {
		undo, err = j.s.Shared.Resume(j.jid, j.claims, j.from)
		if err != nil && (j.s.Queued || !errors.Is(err, shared.ErrDown)) { // else it has warned
			undo()
			j.drop()
			return nil, fun.Errorf("%v", j.s.NotYet(err))
		}
	}
	done, err := j.History.Begin(ctx, env, chunks)
	if err == nil {
		err = j.s.Approvals.known(j.jid, chunks, done)
	}
	if err != nil {
		undo()
		j.drop()
	}
	return done, err
}

// lockPoll is how often it is tried again to take a lock.
const lockPoll = time.Second

// take takes the lock, and waits for it where that is wished.
func (j *lockJournal) take(ctx context.Context, l locking, targets []string) error {
	s := j.s
	want := shared.Lock{Name: j.name, JID: j.jid, Targets: targets}
	own := s.ancestors(j.parent)
	began := time.Now()
	for told := false; ; {
		held, err := s.Shared.Take(ctx, want, own)
		if err == nil {
			j.mu.Lock()
			j.held = held
			j.mu.Unlock()
			s.mu.Lock()
			s.held = append(s.held, held)
			s.mu.Unlock()
			return nil
		}
		var taken *shared.HeldError
		left := l.wait - time.Since(began)
		switch {
		case !errors.As(err, &taken):
			if j.parent == "" {
				err = s.NotYet(err)
			} else if s.Queued { // a step fails by it, which is to run again
				s.PutBack.Store(app.ExitCut)
			}
			return fun.Errorf("the lock %s cannot be taken: %v\n--no-lock runs without it", j.name, err)
		case s.App.Intr.Draining() || ctx.Err() != nil:
			return fun.Errorf("interrupted while it waited for the lock %s", j.name)
		case left <= 0:
			if j.parent == "" {
				s.PutBack.Store(app.ExitLocked)
			}
			if !told {
				return fun.Errorf("%v", err)
			}
			return fun.Errorf("waited %s without success: %v", l.wait, err)
		case !told:
			told = true
			s.Note(fmt.Sprintf("waiting up to %s for the lock %s, which job %s of %s has had for %s", l.wait, j.name, taken.By.JID, taken.By.Owner, shared.Round(taken.By.Age)))
		}
		select {
		case <-ctx.Done():
		case <-time.After(min(lockPoll, left)):
		}
	}
}

// drop gives the lock back.
func (j *lockJournal) drop() {
	if j == nil {
		return
	}
	j.mu.Lock()
	held := j.held
	j.held = nil
	j.mu.Unlock()
	if held != nil {
		held.Drop()
	}
}

// ancestors returns the orchestration that a run is a step of, and those above it:
// their locks are not in its way.
func (s *Session) ancestors(jid string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for ; jid != ""; jid = s.parents[jid] {
		out = append(out, jid)
	}
	return out
}

// LockLost says why the run begins nothing new; "" is that it has all its locks, and
// that no other run goes on with it.
func (s *Session) LockLost() string {
	if why := s.Shared.Taken(); why != "" {
		return why
	}
	s.mu.Lock()
	held := s.held
	s.mu.Unlock()
	for _, h := range held {
		if why := h.Lost(); why != "" {
			return "the lock " + h.Name + " was lost"
		}
	}
	return ""
}
