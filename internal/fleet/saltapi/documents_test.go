package saltapi_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
	"brine/internal/testkit/saltapitest"
)

// What practitioners write of Salt's events and of its jobs, with a master between
// brine and the minions.

// tapped returns the events of a bus as "tag key=value", of the keys that are named.
func tapped(bus *event.Ring, keys ...string) func() []string {
	after := bus.Seq()
	return func() []string {
		var out []string
		for bus.Seq() > after {
			e, _, err := bus.Next(context.Background(), after, nil)
			if err != nil {
				break
			}
			after = e.Seq
			s := e.Tag
			for _, k := range keys {
				if v, ok := e.Data.Get(k); ok {
					s += " " + k + "=" + value.Str(v)
				}
			}
			out = append(out, s)
		}
		return out
	}
}

// A short call is four events: who is meant, the job, and the return under two tags.
// One that is longer than the timeout is asked for by saltutil.find_job, with the
// events of such a call, and waited for as long as it runs. A minion that does not
// say so did not return.
func TestEventsThroughMaster(t *testing.T) {
	t.Parallel()
	s := saltapitest.New(t, "gs-ssh")
	s.Silent = []string{"gone"}
	asked := make(chan saltapitest.Call, 100)
	s.Return = func(c saltapitest.Call) (any, int, bool) {
		if c.Fun == "cmd.run" {
			asked <- c
			return nil, 0, false
		}
		return true, 0, true
	}
	r := with(t, conf(t, s.URL))
	r.OldEvents = true
	const ping, sleep = "20150227111546144547", "20150227113729719091"
	events := tapped(r.bus, "fun", "id", "return")
	if got := r.run(t, fun.Job{JID: ping, Tgt: "gs-ssh", Fun: "test.ping"}); got != "gs-ssh=True" {
		t.Error(got)
	}
	want := ping + "\nnew_job fun=test.ping\nsalt/job/" + ping + "/new fun=test.ping\n" +
		ping + " fun=test.ping id=gs-ssh return=True\nsalt/job/" + ping + "/ret/gs-ssh fun=test.ping id=gs-ssh return=True"
	if got := strings.Join(events(), "\n"); got != want {
		t.Errorf("events of test.ping:\n%s\nwant\n%s", got, want)
	}

	r.Timeout, r.Gather = 50*time.Millisecond, time.Second
	go func() {
		c := <-asked
		for finds := 0; finds < 2; { // it works on for two periods of the timeout
			finds = 0
			for _, p := range s.Published() {
				if strings.HasPrefix(p, "saltutil.find_job ") && strings.HasSuffix(p, "gs-ssh") {
					finds++
				}
			}
			select {
			case <-t.Context().Done():
				return
			case <-time.After(time.Millisecond):
			}
		}
		s.Finish(c.JID, "gs-ssh", "hello world", 0)
	}()
	got := r.run(t, fun.Job{JID: sleep, Tgt: "*", Fun: "cmd.run", Args: fun.Args{Pos: []value.Value{"sleep 6; echo hello world"}}})
	if got != "gone:"+fun.TimedOut.String()+" gs-ssh=hello world" {
		t.Error(got)
	}
	all := strings.Join(events(), "\n")
	for _, want := range []string{
		"new_job fun=cmd.run\nsalt/job/" + sleep + "/new fun=cmd.run\n",
		"new_job fun=saltutil.find_job\n",
		"fun=saltutil.find_job id=gs-ssh return={'jid': '" + sleep + "', 'fun': 'cmd.run', 'arg': ['sleep 6; echo hello world'], ",
		"'pid': 4711}\n",
		"\n" + sleep + " fun=cmd.run id=gs-ssh return=hello world\nsalt/job/" + sleep + "/ret/gs-ssh fun=cmd.run id=gs-ssh return=hello world",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("events of cmd.run:\n%s\nwithout\n%s", all, want)
		}
	}
}

// The returns of minions are in brine's job cache under the jid, with all that a
// look-up shows. A job that nobody waited for is found at work on the minion, looked
// up when it has returned, and ended by saltutil.kill_job.
func TestJobsThroughMaster(t *testing.T) {
	t.Parallel()
	s := saltapitest.New(t, "m136", "m141", "m142")
	began := make(chan saltapitest.Call, 100)
	s.Return = func(c saltapitest.Call) (any, int, bool) {
		switch c.Fun {
		case "cmd.run":
			if c.Arg[0] == "ls /root/" {
				return "anaconda-ks.cfg", 0, true
			}
			began <- c
			return nil, 0, false
		case "saltutil.kill_job":
			s.Finish(c.Arg[0].(string), c.Minion, "killed", 137)
			return "Signal 9 sent to job " + c.Arg[0].(string) + " at pid 4711", 0, true
		}
		return true, 0, true
	}
	r := with(t, conf(t, s.URL))
	store := jobs.NewFiles(t.TempDir(), 0, time.Now)
	r.Jobs, r.Store = store, store
	const ls, sleep = "20190724154112399435", "20190724155612509222"
	if got := r.run(t, fun.Job{JID: ls, Tgt: "*", Fun: "cmd.run", Args: fun.Args{Pos: []value.Value{"ls /root/"}}}); got != "m136=anaconda-ks.cfg m141=anaconda-ks.cfg m142=anaconda-ks.cfg" {
		t.Error(got)
	}
	look := func(jid string) *jobs.Job {
		t.Helper()
		j, err := store.Job(t.Context(), jid)
		if err != nil || j == nil {
			t.Fatalf("%s: %v, %v", jid, j, err)
		}
		if err := r.Settle(t.Context(), j); err != nil {
			t.Error(err)
		}
		return j
	}
	if j := look(ls); j.State != jobs.Complete || value.Str(j.Returns.Map("m141")) != "{'return': 'anaconda-ks.cfg', 'retcode': 0, 'success': True}" || value.Str(j.Load.Map("fleets")) != "{'lab': ['m136', 'm141', 'm142']}" {
		t.Errorf("%v %s %s", j.State, value.Str(j.Returns.Map("m141")), value.Str(j.Load))
	}

	if _, err := r.Run(t.Context(), fun.Job{JID: sleep, Tgt: "m14*", Fun: "cmd.run", Async: true, Args: fun.Args{Pos: []value.Value{"sleep 1000;echo hehe"}, Kw: value.NewMap(0)}}, func(ret fun.Return) error {
		t.Errorf("%s returned at once", ret.ID)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	<-began
	<-began
	if j := look(sleep); len(j.Running) != 2 || j.Running["m141"] != 4711 {
		t.Errorf("at work: %v, %v", j.Running, j.Silent)
	}
	if got := r.run(t, fun.Job{Tgt: "m141", Fun: "saltutil.find_job", Args: fun.Args{Pos: []value.Value{sleep}}}); !strings.Contains(got, "'pid': 4711") {
		t.Error(got)
	}
	if got := r.run(t, fun.Job{Tgt: "m141", Fun: "saltutil.kill_job", Args: fun.Args{Pos: []value.Value{sleep}}}); !strings.Contains(got, "Signal 9 sent to job "+sleep) {
		t.Error(got)
	}
	s.Finish(sleep, "m142", "hehe", 0)
	// Another process looks it up.
	r = with(t, conf(t, s.URL))
	r.Jobs, r.Store = store, store
	j := look(sleep)
	if got := value.Str(j.Returns.Map("m141").At("return")) + " " + value.Str(j.Returns.Map("m142").At("return")); j.State != jobs.Complete || got != "killed hehe" {
		t.Errorf("looked up: %v, %s, %v", j.State, got, j.Silent)
	}
}
