// Package queuerun is the runner module "queue": orchestrations that wait for a
// worker. The functions of Salt's module of this name are others.
package queuerun

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/core/redact"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/queue"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// An Opener opens the queue.
type Opener func(ctx context.Context, env *fun.Env) (*queue.Store, error)

type module struct{ open Opener }

// with calls do with the queue.
func (m *module) with(ctx context.Context, c *fun.Call, do func(*queue.Store) (value.Value, error)) (fun.Result, error) {
	s, err := m.open(ctx, c.Env)
	if err != nil {
		return fun.Result{}, fun.Errorf("%v", err)
	}
	v, err := do(s)
	if err = errors.Join(err, s.Close()); err != nil {
		return fun.Result{}, err
	}
	return fun.Value(v)
}

// of calls do with the queue and the jid of a call.
func (m *module) of(ctx context.Context, c *fun.Call, a *jidArgs, do func(*queue.Store, string) (value.Value, error)) (fun.Result, error) {
	jid := a.JID
	if !jobs.IsJID(jid) {
		return fun.Result{}, fun.Errorf("%q is not a jid: a jid is 20 digits, such as 20261121093205123456; queue.list lists the entries", jid)
	}
	return m.with(ctx, c, func(s *queue.Store) (value.Value, error) {
		v, err := do(s, jid)
		if errors.Is(err, queue.ErrNone) {
			err = fun.Errorf("no queue has an entry %s; queue.list lists the entries", jid)
		}
		return v, err
	})
}

func named(name string) error {
	if name != "" && !queue.ValidName(name) {
		return fun.Errorf("invalid name of a queue %q: letters, digits and . _ - are allowed, 64 at most", name)
	}
	return nil
}

func (m *module) list(ctx context.Context, c *fun.Call, a *listArgs) (fun.Result, error) {
	q := queue.Query{Queue: a.Queue, State: a.State}
	if err := named(q.Queue); err != nil {
		return fun.Result{}, err
	}
	if q.State != "" && !slices.Contains(queue.States(), q.State) {
		return fun.Result{}, fun.Errorf("state %q is none of %s%s", q.State, strings.Join(queue.States(), ", "), source.DidYouMean(q.State, queue.States()))
	}
	n := a.Limit
	if n < 0 || n > math.MaxInt32 {
		return fun.Result{}, fun.Errorf("limit %d is not a number of entries: 0 is all of them", n)
	}
	q.Limit = int(n)
	return m.with(ctx, c, func(s *queue.Store) (value.Value, error) {
		all, err := s.List(ctx, q)
		out := value.NewMap(len(all))
		for _, e := range all {
			out.Set(e.JID, described(e))
		}
		return out, err
	})
}

func (m *module) show(ctx context.Context, c *fun.Call, a *jidArgs) (fun.Result, error) {
	return m.of(ctx, c, a, func(s *queue.Store, jid string) (value.Value, error) {
		e, err := s.Entry(ctx, jid)
		if err != nil {
			return nil, err
		}
		out := described(e)
		out.Set("controller", e.Controller)
		out.Set("runs", value.Strings(e.Runs...))
		if w := e.Work; w != nil && w.Event != nil {
			out.Set("data_keys", value.NewList(w.Event.Data.Keys()...))
		} else if w != nil && w.Chain == "" {
			out.Set("arg", redact.Args([]string{"mods"}, w.Args, w.Kwargs)) // without the pillar
			if p := w.Kwargs.Map("pillar"); p.Len() > 0 {
				out.Set("pillar_keys", value.NewList(p.Keys()...))
			}
			if len(w.At) > 0 {
				out.Set("at", value.Strings(w.At...))
			}
			some(out, "saltenv", w.SaltEnv)
			some(out, "pillarenv", w.PillarEnv)
		}
		return value.MapOf(jid, out), nil
	})
}

// described is an entry without its arguments.
func described(e *queue.Entry) *value.Map {
	what := map[int]string{queue.EventVersion: "event", queue.ChainVersion: "chain", queue.TemplateVersion: "template"}[e.Version]
	if what == "" {
		what = "sls"
	}
	out := value.MapOf("queue", e.Queue, "state", e.State, what, e.SLS, "user", e.User, "queued", stamp(e.Created))
	if e.Version > queue.TemplateVersion {
		out.Set("version", int64(e.Version))
	}
	if e.State == queue.Queued && e.Tries > 0 {
		some(out, "next_try", stamp(e.Due))
	}
	some(out, "started", stamp(e.Started))
	if e.State != queue.Queued && e.State != queue.Running {
		some(out, "ended", stamp(e.Ended))
	}
	if e.State == queue.Running {
		some(out, "lease_until", stamp(e.Due))
	}
	some(out, "worker", e.Worker)
	if e.Tries > 0 {
		out.Set("tries", int64(e.Tries))
		out.Set("failures", int64(e.Failures))
	}
	some(out, "error", e.Error)
	if e.Requested == queue.RequestCancel && e.State == queue.Running {
		out.Set("cancelled", true)
	}
	if len(e.Runs) > 0 {
		out.Set("run", e.Runs[len(e.Runs)-1])
	}
	return out
}

func some(m *value.Map, key, text string) {
	if text != "" {
		m.Set(key, text)
	}
}

// stamp is a time as events have it; "" for none.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(event.StampFormat)
}

func (m *module) cancel(ctx context.Context, c *fun.Call, a *jidArgs) (fun.Result, error) {
	return m.of(ctx, c, a, func(s *queue.Store, jid string) (value.Value, error) {
		state, err := s.Cancel(ctx, jid)
		switch {
		case err != nil:
			return nil, err
		case state == queue.Running:
			return "The entry is running. Its worker ends it before its next step.", nil
		case state != queue.Cancelled:
			return nil, fun.Errorf("the entry %s has ended: it is %s", jid, state)
		}
		return "The entry was cancelled.", nil
	})
}

type retryArgs struct {
	jidArgs
	Fresh bool `arg:"fresh" default:"False" doc:"begin again with the first step, instead of after the steps that succeeded"`
}

func (m *module) retry(ctx context.Context, c *fun.Call, a *retryArgs) (fun.Result, error) {
	return m.of(ctx, c, &a.jidArgs, func(s *queue.Store, jid string) (value.Value, error) {
		state, err := s.Retry(ctx, jid, a.Fresh)
		switch {
		case err != nil:
			return nil, err
		case state != queue.Queued:
			return nil, fun.Errorf("the entry %s is %s; those that are failed, poisoned or refused can be queued again", jid, state)
		}
		return "The entry is queued.", nil
	})
}

func (m *module) stats(ctx context.Context, c *fun.Call, a *statsArgs) (fun.Result, error) {
	name := a.Queue
	if err := named(name); err != nil {
		return fun.Result{}, err
	}
	return m.with(ctx, c, func(s *queue.Store) (value.Value, error) {
		counts, err := s.Stats(ctx, name)
		if err != nil {
			return nil, err
		}
		out := value.NewMap(2)
		for _, n := range counts {
			q := out.Map(n.Queue)
			if q == nil {
				q = value.NewMap(4)
				out.Set(n.Queue, q)
			}
			q.Set(n.State, int64(n.N))
			if n.State == queue.Queued {
				q.Set("oldest", n.Oldest)
			}
		}
		for i := range out.Len() {
			name := value.Str(out.Keys()[i])
			busy, err := s.Workers(ctx, name)
			if err != nil {
				return nil, err
			}
			if len(busy) > 0 {
				out.Map(name).Set("workers", value.Strings(slices.Sorted(maps.Keys(busy))...))
			}
		}
		return out, nil
	})
}

// sinks returns what became of the events for each sink.
func (m *module) sinks(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return m.with(ctx, c, func(s *queue.Store) (value.Value, error) {
		all, err := s.Sinks(ctx)
		out := value.NewMap(len(all))
		for _, x := range all {
			one := value.MapOf("sent", x.Sent, "waiting", int64(x.Waiting), "bytes", x.Bytes, "lost", x.Lost, "worker", x.Held)
			if !x.Seen.IsZero() {
				one.Set("heard_until", x.Seen.Format(event.StampFormat))
			}
			if x.Error != "" {
				one.Set("error", x.Error)
			}
			if x.Tries > 0 {
				one.Set("failed_attempts", int64(x.Tries))
				one.Set("next_attempt", x.Due.Format(event.StampFormat))
			}
			out.Set(x.Name, one)
		}
		for name := range c.Env.Opts.Map("event_sinks").All() {
			if !out.Has(name) {
				out.Set(name, value.MapOf("sent", int64(0), "waiting", int64(0), "bytes", int64(0), "lost", int64(0), "worker", false,
					"error", "no worker with this configuration has brought events for it"))
			}
		}
		return out, err
	})
}
