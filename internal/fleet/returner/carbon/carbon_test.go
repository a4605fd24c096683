package carbon

import (
	"io"
	"net"
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/fleet/returner"
	"brine/internal/py/value"
)

func TestNumbersAreSent(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ fun, pattern, want string }{
		{"status.diskusage", "", "status.diskusage.web1_example.load_1 0.5 1795252087\nstatus.diskusage.web1_example.disks.0 7 1795252087\nstatus.diskusage.web1_example.up 1 1795252087\n"},
		{"virt.x", "", "virt.x.load_1 0.5 1795252087\nvirt.x.disks.0 7 1795252087\nvirt.x.up 1 1795252087\n"},
		{"a.b", "m.[module].[function].[minion_id]", "m.a.b.web1_example.load_1 0.5 1795252087\nm.a.b.web1_example.disks.0 7 1795252087\nm.a.b.web1_example.up 1 1795252087\n"},
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_ = l.(*net.TCPListener).SetDeadline(time.Now().Add(time.Minute)) // where nobody connects
		got := make(chan string, 1)
		go func() {
			c, err := l.Accept()
			if err != nil {
				got <- err.Error()
				return
			}
			b, _ := io.ReadAll(c)
			got <- string(b)
		}()
		spec := Spec()
		opts := value.MapOf("carbon.host", "127.0.0.1", "carbon.port", int64(l.Addr().(*net.TCPAddr).Port), "carbon.metric_base_pattern", tt.pattern)
		r, err := spec.New(t.Context(), returner.Settings{Spec: &spec, Env: &fun.Env{Data: fun.Data{Opts: opts}}})
		if err != nil {
			t.Fatal(err)
		}
		ret := value.MapOf("load.1", "0.5", "disks", value.NewList(int64(7)), "name", "text", "up", true)
		if err := r.Return(t.Context(), []*value.Map{value.MapOf("id", "web1.example", "jid", "20261121090807123456", "fun", tt.fun, "return", ret)}); err != nil {
			t.Error(err)
		}
		r.Close()
		s := <-got // the connection may still wait to be accepted: the listener closes behind it
		l.Close()
		if s != tt.want {
			t.Errorf("%s: sent\n%s, want\n%s", tt.fun, s, tt.want)
		}
	}
}

func TestPickleIsRefused(t *testing.T) {
	t.Parallel()
	spec := Spec()
	for mode, ok := range map[string]bool{"text": true, "pickle": false} {
		_, err := returner.Settings{Spec: &spec, Env: &fun.Env{Data: fun.Data{Opts: value.MapOf("carbon", value.MapOf("mode", mode))}}}.Check()
		if (err == nil) != ok {
			t.Errorf("%s: %v", mode, err)
		}
	}
}
