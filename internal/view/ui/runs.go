package ui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"brine/internal/fleet/approval"
	"brine/internal/fleet/kept"
)

// runs are the executions that the pages of this controller started. Each is a process of
// its own, which goes on when the server ends.
type runs struct {
	backend Backend
	now     func() time.Time
	ending  chan struct{} // closed when nobody follows runs any more
	end     func()
	work    sync.WaitGroup

	starting sync.Mutex // one run is started at a time, so that two clicks start one
	mu       sync.Mutex
	known    map[string]*run // in memory
}

func newRuns(b Backend, now func() time.Time) *runs {
	rs := &runs{backend: b, now: now, known: map[string]*run{}, ending: make(chan struct{})}
	rs.end = sync.OnceFunc(func() { close(rs.ending) })
	return rs
}

// start starts an execution. It goes on when the request that asked for it has
// ended. If a form was sent twice, or two people resume the same execution, it
// returns the one that was started before.
func (rs *runs) start(ctx context.Context, spec runSpec, user string) (r *run, before bool, err error) {
	rs.starting.Lock()
	defer rs.starting.Unlock()
	ctx = context.WithoutCancel(ctx)
	store, err := rs.backend.Runs(ctx)
	if err != nil {
		return nil, false, err
	}
	all, err := store.List()
	if err != nil {
		return nil, false, err
	}
	for _, id := range all {
		old, err := store.Open(id)
		if err != nil || !rs.same(old, spec) {
			continue
		}
		if old.Spec.Once != spec.Once && isKey(spec.Once) {
			return nil, false, errKeyReused
		}
		r, err = rs.find(ctx, id)
		return r, true, err
	}
	spec.JID, spec.User, spec.Args = "", user, spec.args()
	k, err := rs.backend.Start(ctx, spec.Spec, spec.Answers)
	if err != nil {
		return nil, false, err
	}
	return rs.take(k), false, nil
}

// clicks is how long a second click on a button may take to arrive.
const clicks = 10 * time.Second

// same reports whether a run was started when somebody asked for this one already.
func (rs *runs) same(r *kept.Run, spec runSpec) bool {
	old := runSpec{Spec: r.Spec}
	switch {
	case isKey(spec.Once) && keyOf(spec.Once) == keyOf(old.Once):
		return rs.now().Sub(old.Started) < keyLife
	case spec.Once != "" && spec.Once == old.Once:
		return rs.now().Sub(old.Started) < clicks || r.State() == kept.Active
	case spec.Kind == kept.Functions, spec.plans(): // its arguments are not known here
		return false
	case spec.Resume != "" && spec.Resume == old.Resume,
		spec.single() && spec.Kind == old.Kind && spec.Name == old.Name && slices.Equal(spec.Hosts, old.Hosts):
		return r.State() == kept.Active
	}
	return false
}

// take has a run in memory, and follows it until it is over.
func (rs *runs) take(k *kept.Run) *run {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	r := rs.known[k.Spec.JID]
	if r == nil {
		r = &run{ID: k.Spec.JID, Spec: runSpec{Spec: k.Spec}, kept: k, changed: make(chan struct{})}
		rs.known[r.ID] = r
		if !r.look() {
			rs.work.Go(func() { r.follow(rs.ending) })
		}
		rs.forget()
	}
	r.used = rs.now()
	return r
}

// forget takes those out of memory that ended and that nobody has looked at lately.
func (rs *runs) forget() {
	for over := len(rs.known) - maxKnown; over > 0; over-- {
		var oldest *run
		for _, r := range rs.known {
			if r.isOver() && (oldest == nil || r.used.Before(oldest.used)) {
				oldest = r
			}
		}
		if oldest == nil {
			return
		}
		delete(rs.known, oldest.ID)
	}
}

func (r *run) isOver() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.ended.IsZero()
}

func (rs *runs) find(ctx context.Context, id string) (*run, error) {
	rs.mu.Lock()
	r := rs.known[id]
	rs.mu.Unlock()
	if r != nil {
		r.look()
		return r, nil
	}
	store, err := rs.backend.Runs(ctx)
	if err != nil {
		return nil, err
	}
	k, err := store.Open(id)
	if errors.Is(err, kept.ErrNotFound) {
		return nil, fmt.Errorf("run %s: %w; the page of jobs has the records of all runs", id, ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	return rs.take(k), nil
}

// each calls f with what is known of each execution without what it wrote, the latest
// first, until f returns false.
func (rs *runs) each(ctx context.Context, f func(runView) (more bool)) error {
	store, err := rs.backend.Runs(ctx)
	if err != nil {
		return err
	}
	all, err := store.List()
	if err != nil {
		return err
	}
	var asked map[string][]*approval.Entry
	if len(all) > 0 {
		waiting, err := approval.New(store.CacheDir(), rs.now).Waiting()
		if err != nil {
			return err
		}
		asked = map[string][]*approval.Entry{}
		for jid, e := range waiting {
			asked[jid] = []*approval.Entry{e}
		}
	}
	for _, id := range all {
		k, err := store.Open(id)
		if errors.Is(err, kept.ErrNotFound) {
			continue
		}
		v := runView{ID: id, Rev: unread}
		if err == nil {
			v = briefOf(k, asked)
		}
		if !f(v) {
			break
		}
	}
	return nil
}

// briefOf is a run without what it wrote.
func briefOf(k *kept.Run, asked map[string][]*approval.Entry) runView {
	v := runView{ID: k.Spec.JID, Spec: runSpec{Spec: k.Spec}, User: k.Spec.User, Started: k.Spec.Started, Stopping: k.Asked()}
	if k.State() == kept.Active {
		v.Asks = asked[v.ID]
		return v
	}
	if end, err := k.End(); err == nil {
		v.Ended, v.Status = end.At, end.Status
	} else {
		v.Ended, v.Lost = k.LastWord(), true
	}
	return v
}

// Active returns what the runs are that have not ended, which go on without the server.
func (s *Server) Active(ctx context.Context) ([]string, error) {
	store, err := s.opts.Backend.Runs(ctx)
	if err != nil {
		return nil, err
	}
	all, err := store.List()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, id := range all {
		if r, err := store.Open(id); err == nil && r.State() == kept.Active {
			out = append(out, fmt.Sprintf("%s (%s)", runSpec{Spec: r.Spec}.title(), id))
		}
	}
	return out, nil
}

// Close ends what follows runs. The runs go on.
func (s *Server) Close() {
	s.runs.end()
	s.runs.work.Wait()
}

// stop stops a run: soft ends it before the next step, hard at once. A run that
// cannot be told to stop softly goes on: its running steps must not be ended for it.
func (s *Server) stop(ctx context.Context, r *run, hard bool) error {
	r.mu.Lock()
	jid := r.jid
	r.mu.Unlock()
	if !hard && jid != "" {
		// The run is asked to stop even if the page that requested it is closed
		// meanwhile.
		if err := s.opts.Backend.Drain(context.WithoutCancel(ctx), jid); err != nil {
			return fmt.Errorf("the run goes on, since it could not be told to stop: %w", err)
		}
		return r.ask(kept.Stop)
	}
	// Hard, or nothing has begun that is worth waiting for.
	if err := r.ask(kept.Kill); err != nil {
		return err
	}
	return s.opts.Backend.End(context.WithoutCancel(ctx), r.kept)
}

// ask keeps what somebody asked of the run.
func (r *run) ask(w kept.Request) error {
	if err := r.kept.Ask(w); err != nil {
		return fmt.Errorf("the run goes on, since it could not be noted that it is to end: %w", err)
	}
	asked := r.kept.Asked()
	r.change(func() { r.asked = asked })
	return nil
}

// goingOn asks for a further run that goes on with this one. The plan that this one has run
// is not that of the other, which begins elsewhere.
func (v runView) goingOn() runSpec {
	spec := v.Spec
	spec.Resume, spec.Plan, spec.Once = v.JID, "", ""
	return spec
}
