package link_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"brine/cmd/assembly"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
	"brine/sshexec/link"
	"brine/sshexec/wire"
)

// startHost starts the process of a detached job as a goroutine.
type startHost struct {
	*host.Local
	s  *site
	wg *sync.WaitGroup
}

func (h startHost) Start(c host.Cmd) (int, error) {
	again := func(f any) *os.File { // the caller closes its own
		fd, err := syscall.Dup(int(f.(*os.File).Fd()))
		if err != nil {
			h.s.t.Error(err)
		}
		return os.NewFile(uintptr(fd), "pipe")
	}
	in, out := again(c.Stdin), again(c.Stdout)
	h.wg.Go(func() {
		defer in.Close()
		own := host.NewLocal()
		_ = assembly.RunDetached(context.Background(), in, out, assembly.AgentOptions{
			Host: own, Table: assembly.Table(), Version: "test", CacheDir: h.s.cache, CloseAll: own.CloseAll,
		})
	})
	return os.Getpid(), nil
}

// detaching returns a connection to an agent that can leave jobs behind.
func (s *site) detaching() *link.Conn {
	s.t.Helper()
	a, b := pipe()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	wg := &sync.WaitGroup{}
	h := startHost{host.NewLocal(), s, wg}
	go func() {
		defer close(done)
		_ = assembly.ServeAgent(ctx, b, assembly.AgentOptions{Host: h, Table: assembly.Table(), Version: "test", CacheDir: s.cache, Exe: "/agent"})
	}()
	c := s.attach(a)
	s.t.Cleanup(func() {
		c.Close()
		cancel()
		<-done
		wg.Wait()
	})
	return c
}

// leaves waits for what a job leaves.
func leaves(t *testing.T, c *link.Conn, jid string) link.Left {
	t.Helper()
	for range 2000 {
		l, err := c.Left(t.Context(), jid)
		if err != nil {
			t.Fatal(err)
		}
		if l.State != jobs.LeftRunning {
			return l
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the job does not end")
	return link.Left{}
}

// TestDetach: a job takes with it what it reads, outlives its connection, and
// leaves its return where another one finds it.
func TestDetach(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "out")
	s := newSite(t, map[string]string{
		"web/init.sls": fmt.Sprintf(`
include: [common]
%s:
  file.managed:
    - source: salt://web/{{ 'fi' ~ 'le' }}
tell:
  event.send:
    - name: my/tag
say:
  test.show_notification:
    - text: {{ pillar['port'] }} {{ pillar['secret'] }} {{ grains['role'] }}
`, out),
		"common.sls": "common:\n  test.nop\n",
		"web/file":   "the file\n",
		"other/x":    "in the tree\n",
	})
	c := s.detaching()
	j := job("state.apply", "web", value.MapOf("pillar", value.MapOf("secret", "xyzzy-plugh")))
	if _, err := c.Detach(t.Context(), j); err != nil {
		t.Fatal(err)
	}
	s.files.mu.Lock()
	asked := len(s.files.opens)
	s.files.mu.Unlock()
	c.Close()
	c = s.detaching()
	l := leaves(t, c, j.JID)
	if l.State != jobs.LeftReturn || l.Doc.At("retcode") == nil {
		t.Fatalf("%s: %s", l.State, value.Repr(l.Doc))
	}
	res := results(t, l.Doc.At("return"))
	if got := res["say"]; !strings.HasSuffix(got, "8080 xyzzy-plugh web") {
		t.Errorf("say: %s", got)
	}
	if b, err := os.ReadFile(out); string(b) != "the file\n" {
		t.Errorf("the file is %q, %v: %s", b, err, res[out])
	}
	s.files.mu.Lock()
	if len(s.files.opens) != asked {
		t.Errorf("the controller was asked for files after the job began: %v", s.files.opens)
	}
	s.files.mu.Unlock()
	seen := s.bus.Seq()
	c.Replay(l.Doc)
	if s.bus.Seq() == seen {
		t.Error("the events of the job are not told")
	}
	// The pillar was on no disk.
	_ = filepath.WalkDir(s.cache, func(p string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && filepath.Base(filepath.Dir(p)) != "returns" {
			if b, _ := os.ReadFile(p); strings.Contains(string(b), "xyzzy-plugh") {
				t.Errorf("%s has the pillar", p)
			}
		}
		return nil
	})
	if err := c.Forget(t.Context(), j.JID); err != nil {
		t.Fatal(err)
	}
	if l, err := c.Left(t.Context(), j.JID); err != nil || l.State != jobs.LeftUnknown {
		t.Errorf("what was forgotten is %s, %v", l.State, err)
	}
	for _, sub := range []string{"proc", "returns"} {
		if names, _ := os.ReadDir(filepath.Join(s.cache, sub)); len(names) > 0 {
			t.Errorf("%s has %v", sub, names)
		}
	}
}

// TestDetachedAsksInVain: what was not sent is a failure that says so.
func TestDetachedAsksInVain(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]string{
		"big/init.sls": "{{ opts['cachedir'] }}/x:\n  file.managed:\n    - source: salt://{{ 'o' ~ 'ther' }}/x\nagain:\n  module.run:\n    - name: saltutil.refresh_pillar\n",
		"other/x":      "not sent\n",
	})
	if err := os.Truncate(filepath.Join(s.root, "other/x"), 40<<20); err != nil {
		t.Fatal(err)
	}
	c := s.detaching()
	j := job("state.apply", "big")
	if _, err := c.Detach(t.Context(), j); err != nil {
		t.Fatal(err)
	}
	l := leaves(t, c, j.JID)
	if text := value.Repr(l.Doc); !strings.Contains(text, "salt://other/x is not here: the job runs without its controller (--async), and the file was not among those that were sent ahead") {
		t.Errorf("%s", text)
	}
	// A function takes what its arguments name.
	j = job("cp.get_file_str", "salt://big/init.sls")
	if _, err := c.Detach(t.Context(), j); err != nil {
		t.Fatal(err)
	}
	if l := leaves(t, c, j.JID); !strings.Contains(l.Doc.Str("return"), "refresh_pillar") {
		t.Errorf("%s", value.Repr(l.Doc))
	}
	for name, want := range map[string]string{"pillar.items": `"port": 8080`, "no.such": "'no.such' is not available.", "test.raise_exception": "exception"} {
		j := job(name)
		if _, err := c.Detach(t.Context(), j); err != nil {
			t.Fatal(err)
		}
		if l := leaves(t, c, j.JID); !strings.Contains(string(value.EncodeJSON(l.Doc)), strings.ReplaceAll(want, ": ", ":")) {
			t.Errorf("%s: %s", name, value.EncodeJSON(l.Doc))
		}
	}
}

// TestDetachRefused: without a directory nothing is left behind.
func TestDetachRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.cache = ""
	c := s.detaching()
	_, err := c.Detach(t.Context(), job("test.ping"))
	var re *wire.RemoteError
	if !errors.As(err, &re) || re.Code != wire.CodeRefused || !strings.Contains(err.Error(), "no directory of its own") {
		t.Errorf("Detach: %v", err)
	}
	if _, err := c.Left(t.Context(), newJID()); err == nil {
		t.Error("Left answers")
	}
	s = newSite(t, nil)
	c = s.detaching()
	for _, bad := range []string{"", "x", "../../../etc/passwd", "20260102030405000000/../../x"} {
		if _, err := c.Left(t.Context(), bad); err == nil {
			t.Errorf("Left(%q) answers", bad)
		}
		if err := c.Forget(t.Context(), bad); err == nil {
			t.Errorf("Forget(%q) answers", bad)
		}
	}
}

// TestHostileLeft: what a target says it was left is bounded and looked at.
func TestHostileLeft(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.opts.MaxReturn = 1 << 20
	jid := newJID()
	answers := map[string]func(st *wire.Stream) error{
		"endless": func(st *wire.Stream) error {
			for {
				if _, err := st.Write(make([]byte, 64<<10)); err != nil {
					return err
				}
			}
		},
		"garbage": func(st *wire.Stream) error {
			_, _ = io.WriteString(st, "{{{{")
			return st.CloseWrite(nil, value.MapOf("state", "returned"))
		},
		"other": func(st *wire.Stream) error {
			_, _ = io.WriteString(st, `{"jid": "20200102030405000000", "return": 1}`)
			return st.CloseWrite(nil, value.MapOf("state", "returned"))
		},
		"state":   func(st *wire.Stream) error { return st.CloseWrite(nil, value.MapOf("state", "fine")) },
		"nothing": func(*wire.Stream) error { return nil },
	}
	for name, answer := range answers {
		c, _ := s.hostile(func(_ context.Context, st *wire.Stream) error { return answer(st) })
		if l, err := c.Left(t.Context(), jid); err == nil {
			t.Errorf("%s: %v is taken", name, l)
		}
	}
	// Events that are not the target's to fire stay out.
	c, _ := s.hostile(nil)
	before := s.bus.Seq()
	c.Replay(value.MapOf("events", value.NewList(
		value.NewList("salt/job/20200102030405000000/ret/db1", value.NewMap(0)), value.NewList("x"), "y", value.NewList("salt/run/1/ret", nil),
	), "lines", value.NewList("x", value.MapOf("kind", "session"), value.NewList())))
	if s.bus.Seq() != before {
		t.Error("a target speaks for others")
	}
}

// TestSignalJobs: signals of others end one call of an agent and not its others.
func TestSignalJobs(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	c, _ := s.connect()
	file := filepath.Join(t.TempDir(), "pid")
	a, b := job("cmd.run", sleeper(file)), job("cmd.run", "sleep 2; echo alive")
	rets := make(chan fun.Return, 2)
	for _, j := range []fun.Job{a, b} {
		go func() { rets <- c.Invoke(t.Context(), j) }()
	}
	n := pid(t, file)
	if err := c.Signal(t.Context(), a.JID, 9); err != nil {
		t.Fatal(err)
	}
	if ret := <-rets; ret.JID != a.JID || ret.Stage == fun.Returned || !strings.Contains(fmt.Sprint(ret.Err), "ended by a signal 9") {
		t.Errorf("%s %s: %v", ret.JID, ret.Stage, ret.Err)
	}
	gone(t, n)
	if ret := <-rets; ret.Stage != fun.Returned {
		t.Errorf("the other call: %s, %v", ret.Stage, ret.Err)
	}
}
