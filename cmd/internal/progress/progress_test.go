package progress

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"brine/internal/fleet"
	"brine/internal/fun"
)

// someProgress is a job on 50 targets that is under way.
func someProgress(now *time.Time) *line {
	p := &line{now: func() time.Time { return *now }, jobs: map[string]*watchedJob{}}
	p.Begin(fun.Job{JID: "1", Fun: "state.sls", Step: "deploy"}, make([]string, 50))
	at := func(ph fleet.Phase, ids ...string) {
		for _, id := range ids {
			p.At("1", id, ph)
		}
	}
	at(fleet.Connecting, "web7")
	*now = now.Add(9 * time.Second)
	at(fleet.Connecting, "web1", "web2", "web3", "web4")
	at(fleet.Pushing, "web4")
	at(fleet.Running, "web7", "web1")
	*now = now.Add(3 * time.Second)
	p.Done(fun.Return{ID: "web1", JID: "1"})
	p.Done(fun.Return{ID: "web9", JID: "1", Stage: fun.Unreachable})
	p.Done(fun.Return{ID: "web10", JID: "1", Retcode: 2})
	return p
}

func TestProgressLine(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	p := someProgress(&now)
	for _, tt := range []struct {
		width int
		want  string
	}{
		{200, "deploy: 3/50 done, 2 failed, 2 connecting, 1 pushing, 1 running, slowest web7 12s"},
		{81, "deploy: 3/50 done, 2 failed, 2 connecting, 1 pushing, 1 running, slowest web7 12s"},
		{80, "deploy: 3/50 done, 2 failed, 2 connecting, 1 pushing, 1 running"},
		{40, "deploy: 3/50 done, 2 failed"},
		{26, "deploy: 3/50 done"},
		{16, "3/50 done"},
		{9, "3/50 done"},
		{8, ""},
		{-1, ""},
	} {
		if got := p.text(tt.width); got != tt.want {
			t.Errorf("text(%d) = %q, want %q", tt.width, got, tt.want)
		}
	}
	p.Begin(fun.Job{JID: "2", Fun: "test.ping"}, make([]string, 2))
	if got, want := p.text(200), "2 steps: 3/52 done, 2 failed, "; !strings.HasPrefix(got, want) {
		t.Errorf("two jobs: %q, want %q", got, want)
	}
	p.End("1")
	if got, want := p.text(200), "test.ping: 0/2 done"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	p.At("1", "web1", fleet.Running) // too late
	p.End("2")
	if got := p.text(200); got != "" {
		t.Errorf("nothing is under way: %q", got)
	}
	p.Begin(fun.Job{JID: "3", Shell: "uptime"}, make([]string, 1))
	if got, want := p.text(200), "raw command: 0/1 done"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestProgressOfPushes: how much of the agents has arrived, how fast, and how long
// it takes with those that wait. What an earlier run sent does not make it fast.
func TestProgressOfPushes(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	p := &line{now: func() time.Time { return now }, jobs: map[string]*watchedJob{}}
	p.Begin(fun.Job{JID: "1", Fun: "test.ping"}, make([]string, 3))
	p.Sent("2", "web1", 1, 2) // of no job
	p.At("1", "web1", fleet.Pushing)
	p.At("1", "web2", fleet.Queued)
	p.At("1", "web3", fleet.Queued)
	if got, want := p.text(200), "test.ping: 0/3 done, 2 waiting for the agent, 1 pushing, slowest web1 0s"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	p.Sent("1", "web1", 1e6, 4e6)
	now = now.Add(2 * time.Second)
	p.Sent("1", "web1", 2e6, 4e6)
	if got, want := p.text(200), "test.ping: 0/3 done, 2 waiting for the agent, 1 pushing (2.0 of 12.0 MB, 0.5 MB/s, 20s left), slowest web1 2s"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	p.At("1", "web1", fleet.Running)
	p.Done(fun.Return{ID: "web2", JID: "1"})
	p.Done(fun.Return{ID: "web3", JID: "1"})
	if got, want := p.text(200), "test.ping: 2/3 done, 1 running, slowest web1 2s"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestProgressLineIsOneLine: what names say moves no cursor, and wide letters
// count as two columns.
func TestProgressLineIsOneLine(t *testing.T) {
	t.Parallel()
	if got, want := fit("a\n\x1b[2J\u009bx", []string{"1/1 done", "slowest \r\x00"}, 80), "a??[2J?x: 1/1 done, slowest ??"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := fit("部署", []string{"1/1 done"}, 13), "1/1 done"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestProgressTells(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &line{now: time.Now, jobs: map[string]*watchedJob{}}
		var out bytes.Buffer
		stop := p.tell(&out)
		time.Sleep(12 * time.Second) // nothing is under way
		p.Begin(fun.Job{JID: "1", Fun: "test.ping"}, make([]string, 2))
		time.Sleep(20 * time.Second)
		p.At("1", "web1", fleet.Running)
		time.Sleep(10 * time.Second)
		stop()
		want := "brine: test.ping: 0/2 done\nbrine: test.ping: 0/2 done, 1 running, slowest web1 8s\n"
		if out.String() != want {
			t.Errorf("got %q, want %q", out.String(), want)
		}
	})
}

// TestProgressAtOnce: jobs, targets and lines at once.
func TestProgressAtOnce(t *testing.T) {
	t.Parallel()
	p := &line{now: time.Now, jobs: map[string]*watchedJob{}}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			jid := fmt.Sprint(i)
			p.Begin(fun.Job{JID: jid, Fun: "test.ping"}, make([]string, 20))
			for n := range 20 {
				id := fmt.Sprint(n)
				p.At(jid, id, fleet.Running)
				_ = p.text(80)
				p.Done(fun.Return{ID: id, JID: jid, Err: errors.New("x")})
			}
			p.End(jid)
		})
	}
	wg.Wait()
	if got := p.text(80); got != "" {
		t.Errorf("all is over: %q", got)
	}
}
