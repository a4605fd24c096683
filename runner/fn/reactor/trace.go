package reactorrun

import (
	"context"
	"errors"

	"brine/internal/core/fun"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/queue"
	"brine/internal/py/value"
)

type traceArgs struct {
	_   fun.Arguments
	JID string `arg:"jid,required" doc:"jid of the entry in the queue, as 'brine run queue.list' shows it"`
}

// trace returns the chain of reactions that an entry is one of.
func trace(ctx context.Context, c *fun.Call, a *traceArgs, open func(context.Context, *fun.Env) (*queue.Store, error)) (res fun.Result, err error) {
	if !jobs.IsJID(a.JID) {
		return res, fun.Errorf("%q is not a jid: a jid is 20 digits, such as 20261121093205123456; queue.list lists the entries", a.JID)
	}
	s, err := open(ctx, c.Env)
	if err != nil {
		return res, fun.Errorf("%v", err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	before, after, err := s.Trace(ctx, a.JID)
	if errors.Is(err, queue.ErrNone) {
		return res, fun.Errorf("no event became an entry %s of a queue; 'queue.list' lists the entries", a.JID)
	}
	if err != nil {
		return res, err
	}
	self, err := s.Entry(ctx, a.JID)
	if err != nil && !errors.Is(err, queue.ErrNone) {
		return res, err
	}
	out := value.NewList()
	for _, l := range append(append(before, queue.Link{JID: a.JID, Entry: self}), after...) {
		m := value.MapOf("jid", l.JID)
		if l.Entry == nil {
			m.Set("state", "removed")
		} else {
			m.Set("event", l.Entry.SLS)
			m.Set("state", l.Entry.State)
			if l.Entry.Error != "" {
				m.Set("error", l.Entry.Error)
			}
		}
		out.Append(m)
	}
	return fun.Value(out)
}
