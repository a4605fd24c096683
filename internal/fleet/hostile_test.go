package fleet

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// TestHostileRunning has a target say for ever that it still works on a job: it
// is given up at the bound, of the step, of the configuration or the default
// one, the others return, and the user is told who is waited for.
func TestHostileRunning(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		ofJob, of time.Duration
		timeout   time.Duration
		shell     string
		want      time.Duration
	}{
		{"step", 2 * time.Hour, 5 * time.Hour, 5 * time.Second, "", 2 * time.Hour},
		{"configuration", 0, 5 * time.Hour, 5 * time.Second, "", 5 * time.Hour},
		{"default", 0, 0, 5 * time.Second, "", DefaultMaxWait},
		{"nobody asked", 2 * time.Hour, 0, 0, "", 2 * time.Hour},
		{"raw, step", 2 * time.Hour, 5 * time.Hour, 5 * time.Second, "sleep", 2 * time.Hour},
		{"raw, configuration", 0, 5 * time.Hour, 5 * time.Second, "sleep", 5 * time.Hour},
		{"raw, default", 0, 0, 0, "sleep", DefaultMaxWait},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &sleepers{
					machines: machines{ids: []string{"liar", "quick"}},
					work:     map[string]time.Duration{"liar": -1, "quick": time.Second}, running: map[string]bool{},
				}
				var told []string
				f := &Fleet{
					Providers: []Provider{s}, Timeout: tt.timeout, Gather: 10 * time.Second, MaxWait: tt.of,
					NewJID:  func() string { return "20200102030405000000" },
					Waiting: func(_ string, ids []string, _ time.Duration) { told = append(told, strings.Join(ids, " ")) },
				}
				start := time.Now()
				got := map[string]fun.Return{}
				if _, err := f.Run(t.Context(), fun.Job{Tgt: "*", Fun: "state.apply", Shell: tt.shell, MaxWait: tt.ofJob}, func(r fun.Return) error {
					got[r.ID] = r
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(start); took < tt.want || took > tt.want+time.Minute {
					t.Errorf("it took %s", took)
				}
				if r := got["liar"]; r.Stage != fun.TimedOut || !strings.Contains(r.Err.Error(), "max_wait") || r.Partial.Len() != 1 {
					t.Errorf("liar: %s, %v, %v", r.Stage, r.Err, r.Partial)
				}
				if got["quick"].Stage != fun.Returned {
					t.Errorf("quick: %+v", got["quick"])
				}
				if len(told) < 5 || len(told) > 40 || told[0] != "liar" {
					t.Errorf("told %q", told)
				}
			})
		})
	}
}

// held is a provider whose machines return when they are let.
type held struct {
	machines
	began, let chan struct{}
}

func (h *held) Run(ctx context.Context, job fun.Job, id string, begun func()) fun.Return {
	begun()
	h.began <- struct{}{}
	<-h.let
	return h.machines.Run(ctx, job, id, func() {})
}

// TestHostileReturnEvents: a job is over when its targets have returned, whatever events
// somebody else fires about it.
func TestHostileReturnEvents(t *testing.T) {
	t.Parallel()
	const jid = "20261123080000000001"
	h := &held{machines: machines{ids: []string{"web1"}}, began: make(chan struct{}), let: make(chan struct{})}
	ring := event.NewRing(0, host.FakeTime)
	f := fleetOf(&h.machines)
	f.Providers, f.Bus = []Provider{h}, ring
	done := make(chan []fun.Return, 1)
	go func() {
		var got []fun.Return
		_, _ = f.Run(t.Context(), fun.Job{JID: jid, Fun: "test.ping", Tgt: "*"}, func(r fun.Return) error { got = append(got, r); return nil })
		done <- got
	}()
	<-h.began
	for _, tag := range []string{jid, "salt/job/" + jid + "/ret/web1"} {
		ring.FireRemote(tag, value.MapOf("id", "web1", "jid", jid, "return", "forged", "retcode", int64(0), "success", true), time.Time{})
		ring.FireForeign(tag, value.MapOf("id", "web1", "jid", jid, "return", "forged", "retcode", int64(0), "success", true))
	}
	select {
	case got := <-done:
		t.Errorf("the job ended by an event: %+v", got)
	case <-time.After(100 * time.Millisecond):
	}
	close(h.let)
	if got := <-done; len(got) != 1 || got[0].Stage != fun.Returned {
		t.Errorf("%+v", got)
	} else if v, _ := got[0].Value(); v == "forged" {
		t.Error("the forged return is that of the job")
	}
}
