package saltapi_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/fleet/saltapi"
	"brine/internal/py/value"
	"brine/internal/testkit/saltapitest"
)

func sshConf(t *testing.T, s *saltapitest.Server) saltapi.Config {
	t.Helper()
	c := conf(t, s.URL)
	c.SSH = true
	return c
}

// Hosts of salt-ssh are a fleet as minions are: one request for all of a job.
func TestSSHClient(t *testing.T) {
	t.Parallel()
	s := saltapitest.New(t, "web1", "web2")
	s.Silent = []string{"down"}
	s.Return = func(c saltapitest.Call) (any, int, bool) {
		switch c.Fun {
		case "cmd.run_all":
			return map[string]any{"pid": 7, "stdout": "up", "stderr": "", "retcode": 3}, 3, true
		case "test.arg":
			return fmt.Sprint(c.Arg, c.Kwarg), 0, true
		}
		return true, 0, true
	}
	for _, tt := range []struct {
		prefix string
		job    fun.Job
		want   string
	}{
		{"", fun.Job{Tgt: "*"}, "down={'stdout': '', 'stderr': 'ssh: connect to host down port 22: Connection refused', 'retcode': 255}(255) web1=True web2=True"},
		{"", fun.Job{Tgt: "web1,ghost", TgtType: "list"}, "ghost:unreachable web1=True"},
		{"", fun.Job{Tgt: "web* and not L@web1", TgtType: "compound"}, "web2=True"},
		{"x-", fun.Job{Tgt: "x-web*"}, "x-web1=True x-web2=True"},
		{"", fun.Job{Tgt: "web*", Batch: "1"}, "web1=True web2=True"},
		{"", fun.Job{Tgt: "web1", Fun: "test.arg", Args: fun.Args{Pos: []value.Value{int64(1)}, Kw: value.MapOf("a", "b")}}, "web1=[1] map[a:b]"},
		{"", fun.Job{Tgt: "web1", Shell: "uptime"}, "web1={'stdout': 'up', 'stderr': '', 'retcode': 3}(3)"},
	} {
		c := sshConf(t, s)
		c.Prefix = tt.prefix
		r := with(t, c)
		if tt.job.Fun == "" && tt.job.Shell == "" {
			tt.job.Fun = "test.echo"
		}
		if got := r.run(t, tt.job); got != tt.want {
			t.Errorf("%+v: %s, want %s", tt.job.Tgt, got, tt.want)
		}
	}
	r := with(t, sshConf(t, s))
	if _, err := r.try(t.Context(), fun.Job{Tgt: "role:web", TgtType: "grain", Fun: "test.ping"}); err == nil || !strings.Contains(err.Error(), "salt-ssh has no grains") {
		t.Errorf("by grains: %v", err)
	}
	job := fun.Job{JID: "20261123090000000001", Fun: "test.echo", Async: true}
	r.p.Publish(t.Context(), job, []string{"web1"})
	if ret, ok := r.p.Detach(t.Context(), job, "web1"); ok || !strings.Contains(fmt.Sprint(ret.Err), "salt-ssh, which knows no jobs") {
		t.Errorf("detached: %+v", ret)
	}
	for _, pub := range s.Published() {
		if !strings.HasPrefix(pub, "ssh:") {
			t.Errorf("published to minions: %s", pub)
		}
	}
}

// The returns of hosts come by the events, while the request for all is open, however
// long it is; what has no return works on.
func TestSSHClientEvents(t *testing.T) {
	t.Parallel()
	s, began := hold(t, "a", "b")
	c := sshConf(t, s)
	r := with(t, c)
	r.Timeout = 20 * time.Millisecond // they are asked meanwhile
	rets, end := make(chan fun.Return, 2), make(chan error, 1)
	go func() {
		_, err := r.Run(t.Context(), fun.Job{Tgt: "*", Fun: "test.sleep", Args: fun.Args{Kw: value.NewMap(0)}}, func(ret fun.Return) error {
			rets <- ret
			return nil
		})
		end <- err
	}()
	call := <-began
	<-began
	for _, id := range []string{"a", "b"} {
		s.Finish(call.JID, id, "done "+id, 0)
		if ret := <-rets; show(ret) != id+"=done "+id {
			t.Errorf("%s", show(ret))
		}
	}
	if err := <-end; err != nil {
		t.Error(err)
	}
}

// An answer that is lost, or that nothing but it tells, costs no return.
func TestSSHClientLostAnswer(t *testing.T) {
	t.Parallel()
	for _, lost := range []bool{true, false} {
		s := saltapitest.New(t, "a")
		r := with(t, sshConf(t, s))
		s.LoseEvents(true)
		if lost {
			s.CutAnswer()
		}
		if got := r.run(t, fun.Job{Tgt: "*", Fun: "test.echo"}); got != "a=True" {
			t.Errorf("answer lost: %t: %s", lost, got)
		}
	}
}
