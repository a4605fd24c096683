package saltapi_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// The part of a job that a batch began later has a jid of its own at the master. Who
// stops waiting for it is told which, and can look up the return under it.
func TestLaterBatchIsLookedUp(t *testing.T) {
	t.Parallel()
	s, began := hold(t, "a", "b")
	r := with(t, conf(t, s.URL))
	const jid = "20261123090000000001"
	job := fun.Job{JID: jid, Fun: "test.sleep", Args: fun.Args{Kw: value.NewMap(0)}}
	for _, id := range []string{"a", "b"} {
		ctx, cancel := context.WithCancel(t.Context())
		lost := make(chan fun.Return, 1)
		go func() { lost <- r.p.Run(ctx, job, id, func() {}) }()
		call := <-began
		if id == "b" && call.JID == jid {
			t.Fatal("both parts have the same jid")
		}
		if !r.p.Leave(id, jid) {
			t.Errorf("%s: its return is not kept", id)
		}
		cancel()
		ret := <-lost
		if ret.Stage != fun.Lost || !ret.Away || ret.FleetJID != call.JID {
			t.Errorf("%s: %+v; want one to be looked up under %s", id, ret, call.JID)
		}
		s.Finish(call.JID, id, "late", 0)
		l, err := r.p.Left(t.Context(), ret.FleetJID, id)
		if v, verr := l.Ret.Value(); err != nil || verr != nil || l.State != jobs.LeftReturn || v != "late" {
			t.Errorf("%s: %+v, %v", id, l, err)
		}
	}
}

// A run that is ended has the minions end its job, by one question to all of them,
// and says what became of that.
func TestEnd(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		forbidden []string
		cause     error // why the calls are given up; nil: the run was ended
		want      string
		asked     int
	}{
		{"ended", nil, nil, "stopped: the minion was asked to end the job (saltutil.term_job), and answered", 1},
		{"not permitted", []string{"saltutil.term_job"}, nil, "it could not be ended: fleet lab", 0},
		{"given up", nil, errors.New("it took too long"), "the job goes on there", 0},
	} {
		s, began := hold(t, "a", "b")
		s.Forbidden = tt.forbidden
		r := with(t, conf(t, s.URL))
		ctx, cancel := context.WithCancelCause(t.Context())
		lost := make(chan fun.Return, 2)
		job := fun.Job{JID: "20261123090000000001", Fun: "test.sleep", Args: fun.Args{Kw: value.NewMap(0)}}
		r.p.Publish(t.Context(), job, []string{"a", "b"})
		begun := make(chan struct{}, 2)
		for _, id := range []string{"a", "b"} {
			go func() { lost <- r.p.Run(ctx, job, id, func() { begun <- struct{}{} }) }()
		}
		for range 2 {
			<-began
			<-begun
		}
		cancel(tt.cause)
		for range 2 {
			if ret := <-lost; ret.Stage != fun.Lost || ret.Err == nil || !strings.Contains(ret.Err.Error(), tt.want) {
				t.Errorf("%s: %+v; want %s", tt.name, ret, tt.want)
			}
		}
		asked, minions := 0, 0
		for _, pub := range s.Published() {
			if strings.HasPrefix(pub, "saltutil.term_job ") {
				asked++
				minions += strings.Count(pub, ",") + 1
			}
		}
		if asked > tt.asked*2 || minions != tt.asked*2 {
			t.Errorf("%s: asked %d times, %d minions: %v", tt.name, asked, minions, s.Published())
		}
	}
}
