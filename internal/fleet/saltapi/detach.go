package saltapi

import (
	"context"
	"errors"
	"fmt"

	"brine/internal/core/fun"
	"brine/internal/fleet"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// A job that nobody waits for is in the hands of its master, which keeps the
// returns under the jid that brine has chosen, that of the job.

// Detach starts the job on a machine and leaves it.
func (p *Provider) Detach(ctx context.Context, job fun.Job, id string) (fun.Return, bool) {
	ret := fun.Return{ID: id, JID: job.JID, Stage: fun.Unreachable, Fleet: p.FleetName()}
	if p.o.Config.SSH {
		ret.Err = fmt.Errorf("the master of fleet %s reaches it by salt-ssh, which knows no jobs that nobody waits for", p.FleetName())
		return ret, false
	}
	pub := p.publicationOf(ctx, job, id)
	defer p.leave(pub, id)
	select {
	case <-pub.ready:
	case <-ctx.Done():
		return p.unready(ctx, pub, ret), false
	}
	_, known := p.waitOf(pub, id)
	switch {
	case pub.err != nil && pub.lost:
		ret.Stage, ret.Err, ret.FleetJID, ret.Away = fun.Lost, pub.err, pub.jid, true
	case pub.err != nil:
		ret.Err = pub.err
	case !known:
		ret.Err = fmt.Errorf("the master of fleet %s did not send the job to %s", p.FleetName(), p.minion(id))
	}
	return ret, ret.Err == nil
}

// A leftover is what a master knows of a detached job.
type leftover struct {
	job     *value.Map
	running map[string]int // by minion: the pid; 0: it does not run there
}

// Left tells how far a detached job came on a machine: the master is asked once
// for all machines.
func (p *Provider) Left(ctx context.Context, jid, id string) (fleet.Left, error) {
	l, err := p.left.get(ctx, jid, false, func(ctx context.Context) (*leftover, error) { return p.lookLeft(ctx, jid) })
	minion := p.minion(id)
	if errors.Is(err, errUnknownJob) {
		return fleet.Left{State: jobs.LeftUnknown}, nil
	}
	if err != nil {
		return fleet.Left{}, err
	}
	if data := l.job.Map("Result").Map(minion); data != nil && isOf(data, minion, jid) {
		if p.o.Config.SSH {
			data = ofHost(data)
		}
		ret := returnOf(fun.Job{JID: jid, Fun: l.job.Str("Function")}, data)
		ret.Fleet, ret.FleetJID = p.FleetName(), jid
		return fleet.Left{State: jobs.LeftReturn, Ret: ret}, nil
	}
	pid, answered := l.running[minion]
	switch {
	case !answered && p.o.Config.SSH:
		return fleet.Left{}, errors.New("its master has no return of it yet; salt-ssh cannot be asked whether the job runs")
	case !answered:
		return fleet.Left{}, fmt.Errorf("its master has no return of it, and it did not answer within %s whether the job runs", p.o.Gather)
	case pid != 0:
		return fleet.Left{State: jobs.LeftRunning, PID: pid}, nil
	}
	return fleet.Left{State: jobs.LeftLost}, nil
}

// lookLeft asks the master for a job, and its minions that have not returned
// whether it runs there.
func (p *Provider) lookLeft(ctx context.Context, jid string) (l *leftover, err error) {
	l = &leftover{running: map[string]int{}}
	if l.job, err = p.job(ctx, jid); err != nil {
		return l, err
	}
	if err := p.tooMany(opLook, l.job.List("Minions").Len()); err != nil {
		return l, err
	}
	out := value.NewList()
	for id := range idSet(l.job.List("Minions")) {
		if !l.job.Map("Result").Has(id) {
			out.Append(id)
		}
	}
	if out.Len() == 0 || p.o.Config.SSH {
		return l, nil
	}
	q, forget, err := p.ask(ctx, opAsk, out, "list", "saltutil.find_job", jid)
	if err != nil {
		return l, err
	}
	defer forget()
	ctx, cancel := context.WithTimeout(ctx, p.o.Gather) // for the minions; the master has timeout
	defer cancel()
	idle := false
	for left := len(q.minions); left > 0; left-- {
		select {
		case a := <-q.answers:
			l.running[a.minion] = a.pid
			idle = idle || a.pid == 0
		case <-ctx.Done():
			left = 0
		}
	}
	if !idle {
		return l, nil
	}
	// The return may have come while its minion was asked.
	if again, err := p.job(context.WithoutCancel(ctx), jid); err == nil {
		l.job = again
	}
	return l, nil
}

// Forget leaves the job to the master, which forgets it in its own time
// (keep_jobs_seconds).
func (p *Provider) Forget(context.Context, string, string) error { return nil }
