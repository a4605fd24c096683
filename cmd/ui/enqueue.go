package ui

import (
	"context"
	"fmt"

	"brine/cmd/library"
	"brine/cmd/runner"
	"brine/cmd/session"
	"brine/internal/core/fun"
	"brine/internal/fleet/queue"
	"brine/internal/py/value"
	"brine/internal/view/ui"
)

// Enqueue puts what a hook starts into a queue; see [ui.Backend].
func (b *backend) Enqueue(ctx context.Context, d ui.Delivery) (jid string, known bool, err error) {
	err = b.queueOf(ctx, func(ctx context.Context, s *session.Session, env *fun.Env, q *queue.Store) error {
		work, err := workOf(ctx, s, env, d)
		if err != nil {
			return err
		}
		e := &queue.Entry{JID: s.JIDs.Next(s.App.Host.Now()), Queue: d.Queue, User: d.User, Controller: env.ID, Work: work}
		keys := make([]string, len(d.IDs))
		for i, id := range d.IDs {
			keys[i] = queue.Key(d.User, id)
		}
		jid, known, err = q.PutOnce(ctx, e, keys)
		if err != nil {
			return fmt.Errorf("it cannot be queued: %w", err)
		}
		return nil
	})
	return jid, known, err
}

// workOf is the work of what a hook starts, which must be there.
func workOf(ctx context.Context, s *session.Session, env *fun.Env, d ui.Delivery) (*queue.Work, error) {
	if d.Chain != "" {
		_, _, err := library.ReadChain(library.Chains(s), d.Chain)
		return &queue.Work{Chain: d.Chain}, err
	}
	if d.Template != "" {
		return library.TemplateWork(ctx, s, d.Template)
	}
	in := fun.Args{Pos: []value.Value{d.Orchestration}, Kw: value.NewMap(0)}
	if d.Pillar.Len() > 0 {
		in.Kw.Set("pillar", value.MapOf("hook", d.Pillar))
	}
	return &queue.Work{Args: in.Pos, Kwargs: in.Kw}, runner.MayQueue(s, env, in)
}
