package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// A Detacher is a Provider whose machines run jobs without this process.
type Detacher interface {
	Provider
	// Detach starts the job on a machine and leaves it. started is false where
	// that failed; the Return then says why.
	Detach(ctx context.Context, job fun.Job, id string) (ret fun.Return, started bool)
	// Left returns how far such a job has come. Progress that it reported while
	// it ran is reported now.
	Left(ctx context.Context, jid, id string) (Left, error)
	// Forget removes what the job left on the machine.
	Forget(ctx context.Context, jid, id string) error
}

// A Left is how far a detached job came on a machine.
type Left struct {
	State jobs.Left
	PID   int        // of its process, where it runs
	Ret   fun.Return // where it returned
}

// detach starts the job on its targets and leaves it there. Machines of this
// process are left to another one, which Background starts, or worked on beside
// what comes next.
func (r *running) detach(ctx context.Context, targets []string, owner map[string]Provider, limit int) {
	sem := make(chan struct{}, limit)
	var wg sync.WaitGroup
	var here []string
	published := map[string]bool{} // these have begun, even if the run is stopped meanwhile
	if !r.stopped(ctx) {
		_, by := byPublisher(targets, owner)
		for p, ids := range by {
			p.Publish(ctx, r.job, ids)
			for _, id := range ids {
				published[id] = true
			}
		}
	}
	for _, id := range targets {
		d, ok := owner[id].(Detacher)
		switch {
		case !published[id] && r.stopped(ctx):
			r.deliver(fun.Return{ID: id, JID: r.job.JID, Stage: fun.Refused, Err: fun.ErrStopped})
			continue
		case !ok:
			here = append(here, id)
			continue
		}
		sem <- struct{}{}
		wg.Go(func() {
			defer func() { <-sem }()
			if ret, started := d.Detach(ctx, r.job, id); !started {
				ret.ID, ret.JID = id, r.job.JID
				r.deliver(ret)
			} else {
				r.left()
			}
		})
	}
	wg.Wait()
	if len(here) == 0 {
		return
	}
	if r.f.Background == nil && r.f.Stay != nil {
		r.stay(ctx, here, owner, limit)
		return
	}
	err := errors.New("it is in the process that runs the job, and there is nobody to go on with it")
	if r.f.Background != nil {
		err = r.f.Background(r.job, here, r.rec)
	}
	for _, id := range here {
		if err != nil {
			r.deliver(fun.Return{ID: id, JID: r.job.JID, Stage: fun.Refused, Err: err})
		} else {
			r.left()
		}
	}
}

// stay has this process work on with targets that are in it, and nobody wait for
// them. The record is ended when they have returned.
func (r *running) stay(ctx context.Context, ids []string, owner map[string]Provider, limit int) {
	r.stillRunning = true
	calm := context.WithoutCancel(ctx) // of what the context knows; the end of the step is none of the job
	r.f.Stay(r.job.JID, ids, func(life context.Context) {
		own, cancel := context.WithCancel(calm)
		defer cancel()
		defer context.AfterFunc(life, cancel)()
		sem := make(chan struct{}, limit)
		var wg sync.WaitGroup
		for _, id := range ids {
			sem <- struct{}{}
			wg.Go(func() {
				defer func() { <-sem }()
				ret := fun.Return{ID: id, JID: r.job.JID, Stage: fun.Refused, Err: fun.ErrStopped}
				if !r.stopped(own) {
					ret = owner[id].Run(own, r.job, id, func() {})
				}
				r.f.doubt(r.rec.Return(ret))
				r.f.returned(r.job, ret)
			})
		}
		wg.Wait()
		r.f.doubt(r.conclude(own))
	})
}

// left notes that a target works on without this process.
func (r *running) left() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.detached++
}

// conclude ends the record, or leaves it open for those who are still at work.
func (r *running) conclude(ctx context.Context) error {
	if r.detached > 0 {
		return r.rec.Leave()
	}
	if r.job.Continued && r.f.Store != nil {
		if j, err := r.f.Store.Job(ctx, r.job.JID); err == nil && j != nil && len(j.Outstanding()) > 0 {
			return r.rec.Leave()
		}
	}
	return r.rec.End()
}

// Settle asks the targets of a job that may have kept a return for a later look
// (see [jobs.Job.Owed]), records the returns that they left and brings j up to date: what runs is in j.Running,
// what cannot be asked, and why, in j.Silent.
func (f *Fleet) Settle(ctx context.Context, j *jobs.Job) error {
	open := j.Owed()
	if len(open) == 0 && (!j.Detached() || j.State == jobs.Complete || j.State == jobs.Active) {
		return nil
	}
	_, owner, err := f.listed(ctx, RosterFleet)
	if err != nil {
		return err
	}
	f.ownersOf(j, owner)
	j.Running, j.Silent = map[string]int{}, map[string]string{}
	var (
		mu  sync.Mutex
		rec jobs.Record
		wg  sync.WaitGroup
		sem = make(chan struct{}, max(1, min(DefaultLimit, len(open))))
	)
	prepare(ctx, open, owner)
	// note records a target's end once, durably, before the target forgets it.
	note := func(ret fun.Return) error {
		mu.Lock()
		defer mu.Unlock()
		if rec == nil {
			var err error
			if rec, err = f.reopen(j); err != nil {
				return err
			}
		}
		if err := rec.Return(ret); err != nil {
			return err
		}
		return j.Took(ret)
	}
	job := fun.Job{JID: j.JID, Fun: j.Load.Str("fun"), Metadata: j.Load.At("metadata")}
	for _, id := range open {
		d, ok := owner[id].(Detacher)
		switch {
		case !ok && !j.Detached():
			continue // it ended with the process that ran it
		case !ok:
			f.settleHere(j, id, owner[id], &mu, note)
			continue
		}
		sem <- struct{}{}
		wg.Go(func() {
			defer func() { <-sem }()
			l, err := d.Left(ctx, j.KeptAs(id), id)
			if err == nil {
				err = f.settle(ctx, job, j.Load.List("arg"), d, id, l, &mu, j, note)
			}
			if err != nil {
				mu.Lock()
				defer mu.Unlock()
				j.Silent[id] = err.Error()
			}
		})
	}
	wg.Wait()
	return f.settled(j, rec)
}

// settled closes the record of a job whose targets were asked, and ends it where
// nothing is to come. rec is nil where nothing was recorded.
func (f *Fleet) settled(j *jobs.Job, rec jobs.Record) error {
	ends := len(j.Outstanding()) == 0 && j.State != jobs.Complete
	switch {
	case rec != nil && !ends:
		return rec.Leave()
	case rec == nil && (!ends || !j.Detached()):
		return nil
	case rec == nil:
		var err error
		if rec, err = f.reopen(j); err != nil {
			return err
		}
	}
	j.State = jobs.Complete
	return rec.End()
}

// settle takes what is known of a job on one target.
func (f *Fleet) settle(ctx context.Context, job fun.Job, arg *value.List, d Detacher, id string, l Left, mu *sync.Mutex, j *jobs.Job, note func(fun.Return) error) error {
	ret := fun.Return{ID: id, JID: job.JID, Stage: fun.Lost}
	switch l.State {
	case jobs.LeftRunning:
		mu.Lock()
		defer mu.Unlock()
		j.Running[id] = l.PID
		return nil
	case jobs.LeftReturn:
		ret = l.Ret
		if job.Fun == rawName { // a Salt master has it as cmd.run_all
			ret = Raw(ret)
		}
		ret.ID, ret.JID = id, job.JID
	case jobs.LeftUnknown:
		// Another process may have fetched the return, which it recorded before the
		// target forgot it.
		if f.fetched(ctx, j, id, mu) {
			return nil
		}
		ret.Err = errors.New("the target knows nothing of the job: its agent's directory was removed, or the job never began there")
	case jobs.LeftLost:
		ret.Err = errors.New("its process is gone and left no return: it was killed, or the machine went down")
	}
	if err := note(ret); err != nil {
		return err
	}
	f.fireReturn(job, arg, ret)
	if l.State == jobs.LeftReturn || l.State == jobs.LeftLost {
		if err := d.Forget(ctx, job.JID, id); err != nil {
			f.doubt(fmt.Errorf("%s keeps what job %s left: %w", id, job.JID, err))
		}
	}
	return nil
}

// fetched takes over what another process has recorded of a target since j was
// read.
func (f *Fleet) fetched(ctx context.Context, j *jobs.Job, id string, mu *sync.Mutex) bool {
	if f.Store == nil {
		return false
	}
	now, err := f.Store.Job(ctx, j.JID)
	if err != nil || now == nil {
		return false
	}
	mu.Lock()
	defer mu.Unlock()
	if r := now.Returns.Map(id); r != nil {
		j.Returns.Set(id, r)
		return true
	}
	if why, ok := now.Missing[id]; ok {
		j.Missing[id] = why
		return true
	}
	return false
}

// settleHere takes what is known of a target that another process of this
// machine works on: it records the return itself, or is gone.
func (f *Fleet) settleHere(j *jobs.Job, id string, owner Provider, mu *sync.Mutex, note func(fun.Return) error) {
	var err error
	switch {
	case owner == nil:
		mu.Lock()
		defer mu.Unlock()
		j.Silent[id] = "it is not in the roster of this run; the job was started with another one"
		return
	case j.State == jobs.Active:
		mu.Lock()
		defer mu.Unlock()
		j.Running[id] = j.PID()
		return
	default:
		why := errors.New("the process that worked on it is gone and left no return")
		if j.Killed != 0 {
			why = fmt.Errorf("the process that worked on it was ended by a signal %d", j.Killed)
		}
		err = note(fun.Return{ID: id, JID: j.JID, Stage: fun.Lost, Err: why})
	}
	if err != nil {
		mu.Lock()
		defer mu.Unlock()
		j.Silent[id] = err.Error()
	}
}

// A reopener is a Recorder whose records can be gone on with.
type reopener interface {
	Reopen(j *jobs.Job) (jobs.Record, error)
}

func (f *Fleet) reopen(j *jobs.Job) (jobs.Record, error) {
	if r, ok := f.Jobs.(reopener); ok {
		return r.Reopen(j)
	}
	return nil, errors.New("jobs are not recorded here")
}
