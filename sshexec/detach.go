package sshexec

import (
	"context"
	"errors"

	"brine/internal/core/fun"
	"brine/internal/fleet"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
	"brine/sshexec/link"
	"brine/sshexec/wire"
)

var _ fleet.Detacher = (*Provider)(nil)

// Detach starts the job on a machine, where it goes on without this process.
func (p *Provider) Detach(ctx context.Context, job fun.Job, id string) (fun.Return, bool) {
	m := p.machine(id)
	leave := m.enter()
	defer func() { leave(p.s.Once) }()
	conn, err := m.connect(ctx)
	if err != nil {
		return fun.Return{Stage: fun.Unreachable, Err: err}, false
	}
	defer m.runs()(false) // it goes on
	if _, err := conn.Detach(ctx, job); err != nil {
		if _, ok := errors.AsType[*wire.RemoteError](err); !ok {
			return fun.Return{Stage: fun.Lost, Err: m.agentError(err)}, false
		}
		return fun.Return{Stage: fun.Refused, Err: m.agentError(err)}, false
	}
	return fun.Return{}, true
}

// agentError says that an agent did not do what was asked of it.
func (m *machine) agentError(err error) error {
	return &Error{ID: m.e.ID, Addr: m.e.Host, Stage: Agent, Err: err}
}

// Left tells how far a detached job came on a machine, and has what it told
// meanwhile told now.
func (p *Provider) Left(ctx context.Context, jid, id string) (fleet.Left, error) {
	m := p.machine(id)
	leave := m.enter()
	defer leave(false)
	conn, err := m.connect(ctx)
	if err != nil {
		return fleet.Left{}, err
	}
	l, err := conn.Left(ctx, jid)
	if err != nil {
		return fleet.Left{}, m.agentError(err)
	}
	out := fleet.Left{State: l.State, PID: l.PID}
	if l.State != jobs.LeftReturn {
		return out, nil
	}
	m.runs()(true) // it has run until now
	conn.Replay(l.Doc)
	out.Ret = returnOf(l)
	return out, nil
}

// Forget has a machine remove what a job left.
func (p *Provider) Forget(ctx context.Context, jid, id string) error {
	m := p.machine(id)
	leave := m.enter()
	defer leave(false)
	conn, err := m.connect(ctx)
	if err != nil {
		return err
	}
	return conn.Forget(ctx, jid)
}

// returnOf reads what a job left.
func returnOf(l link.Left) fun.Return {
	doc := l.Doc
	if doc.Str("stage") != fun.Returned.String() {
		why := doc.Str("why")
		if why == "" {
			why = "it ended without a return"
		}
		return fun.Return{Stage: fun.Lost, Err: errors.New(why)}
	}
	code, ok := value.AsInt(doc.At("retcode"))
	raised, ok2 := doc.At("raised").(bool)
	if !ok || !ok2 || !doc.Has("return") {
		return fun.Return{Stage: fun.Lost, Err: errors.New("what it left has no return")}
	}
	return fun.Return{
		Retcode: int(int32(code)), Raised: raised, Out: link.OutName(doc.Str("out")), Each: fun.EachOf(doc.At("each")),
		Body: fun.ValueBody{V: doc.At("return")},
	}
}
