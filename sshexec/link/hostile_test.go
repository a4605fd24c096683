package link_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/sshexec/link"
	"brine/sshexec/wire"
)

// hostile connects to an agent that does what handle does.
func (s *site) hostile(handle func(ctx context.Context, st *wire.Stream) error) (*link.Conn, *wire.Mux) {
	s.t.Helper()
	a, b := pipe()
	got := make(chan *wire.Mux, 1)
	go func() {
		m, err := wire.Greet(context.Background(), b, wire.Options{
			Role: wire.Agent, Handle: handle,
			Hello: value.MapOf("is", "brine agent", "version", "1\x1b[2J\nroot", "os", "linux", "trees", value.NewList("x", int64(1))),
		})
		if err != nil {
			s.t.Error(err)
		}
		got <- m
	}()
	c := s.attach(a)
	m := <-got
	s.t.Cleanup(func() {
		m.Close()
		c.Close()
		m.Wait()
	})
	return c, m
}

func ask(t *testing.T, m *wire.Mux, method string, kv ...value.Value) (value.Value, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	return m.Call(ctx, method, value.MapOf(kv...), 1<<20)
}

func TestAnAgentReadsNothingOutsideOfTheRoots(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]string{"in.sls": "inside"})
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"link": secret, "dirlink": filepath.Dir(secret), "rel": "../../../../../../.." + secret} {
		if err := os.Symlink(to, filepath.Join(s.root, link)); err != nil {
			t.Fatal(err)
		}
	}
	c, m := s.hostile(nil)
	if v := c.Facts().Version; strings.ContainsAny(v, "\x1b\n") {
		t.Errorf("version = %q", v)
	}
	paths := []string{
		secret, "../" + filepath.Base(filepath.Dir(secret)) + "/secret", "link", "dirlink/secret", "rel", "/etc/passwd", "../../../../../../etc/passwd",
		"a/../../../../../../../etc/passwd", "in.sls/../../secret", "in.sls\x00", strings.Repeat("../", 2000) + "etc/passwd", ".", "", "salt://in.sls/../..",
	}
	for _, env := range []string{"base", "", "..", "../..", "no", strings.Repeat("x", 300)} {
		for _, p := range paths {
			for _, method := range []string{"file", "stat", "hash", "list"} {
				st, err := m.Open(t.Context(), method, value.MapOf("env", env, "path", p), false)
				if err != nil {
					t.Fatal(err)
				}
				b, err := io.ReadAll(st)
				st.Close()
				if method == "list" || method == "stat" && (p == "." || p == "" || strings.HasPrefix(p, "salt:")) {
					continue // of the roots
				}
				if err == nil {
					t.Errorf("%s %q %q gave %q", method, env, p, b)
				}
			}
			st, err := m.Open(t.Context(), "files", value.MapOf("files", value.NewList(value.Tuple{env, p}, value.Tuple{"base", "in.sls"})), false)
			if err != nil {
				t.Fatal(err)
			}
			b, _ := io.ReadAll(st)
			st.Close()
			if strings.Contains(string(b), "secret") || strings.Contains(string(b), "root:") {
				t.Errorf("files %q %q gave %q", env, p, b)
			}
		}
	}
	if _, err := ask(t, m, "file", "env", "base", "path", "link"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a link that leads out: %v", err)
	}
	for _, method := range []string{"push", "exec", "invoke", "mine", "publish", ""} {
		var re *wire.RemoteError
		if _, err := ask(t, m, method, "path", "x"); !errors.As(err, &re) || re.Code != wire.CodeRefused {
			t.Errorf("%q: %v, want a refusal", method, err)
		}
	}
	many := value.NewList()
	for range 5000 {
		many.Append(value.Tuple{"base", "in.sls"})
	}
	if st, err := m.Open(t.Context(), "files", value.MapOf("files", many), false); err != nil {
		t.Error(err)
	} else if _, err := io.ReadAll(st); err == nil {
		t.Error("5000 files at once are served")
	}
}

func TestNothingIsServedBeforeTheSession(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]string{"a.sls": "x"})
	a, b := pipe()
	go func() {
		_, _ = link.Connect(t.Context(), a, s.opts)
	}()
	m, err := wire.Greet(t.Context(), b, wire.Options{Role: wire.Agent, Hello: value.MapOf("is", "brine agent")})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, method := range []string{"pillar", "file", "tree"} {
		if _, err := ask(t, m, method, "env", "base", "path", "a.sls"); err == nil {
			t.Errorf("%s is served", method)
		}
	}
}

func TestPillarIsTheTargetsOwnAndOneAtATime(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	var now, most atomic.Int32
	s.opts.Pillar = func(_ context.Context, id string, grains value.Mapping, _ fun.PillarRequest) (*value.Map, error) {
		most.Store(max(most.Load(), now.Add(1)))
		defer now.Add(-1)
		time.Sleep(time.Millisecond)
		g, _ := grains.Get("id")
		role, _ := grains.Get("role")
		return value.MapOf("for", id, "grain", g, "role", role), nil
	}
	_, m := s.hostile(nil)
	var wg sync.WaitGroup
	for range 30 {
		wg.Go(func() {
			v, err := ask(t, m, "pillar", "id", "db1", "grains", value.MapOf("id", "db1", "role", "db"))
			if err != nil || !value.Equal(v, value.MapOf("for", "web1", "grain", "web1", "role", "web")) {
				t.Errorf("pillar = %s, %v", value.Repr(v), err)
			}
		})
	}
	wg.Wait()
	if n := most.Load(); n != 1 {
		t.Errorf("%d pillars were rendered at once", n)
	}
}

func TestAFloodOfEventsIsBounded(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	var warned atomic.Int32
	s.opts.Warn = func(_ string, w fun.Warning) {
		warned.Add(1)
		if strings.ContainsRune(w.Text, 0x1b) || len(w.Text) > 5000 {
			t.Errorf("text = %.100q", w.Text)
		}
	}
	_, m := s.hostile(nil)
	for i := range 20_000 {
		_ = m.Note("event", value.MapOf("tag", fmt.Sprintf("flood/%d", i), "data", value.MapOf("id", "db1")))
	}
	for _, tag := range []string{
		"salt/job/20260101000000000000/ret/db1", "salt/minion/db1/start", "salt/run/20260101000000000000/ret", "salt/auth", "20260101000000000000",
		strings.Repeat("x", 5000), "", "salt/job/20260101000000000000/ret/web1",
	} {
		_ = m.Note("event", value.MapOf("tag", tag))
	}
	_ = m.Note("event", int64(1))
	_ = m.Note("event", value.MapOf("tag", int64(1), "data", "x"))
	_ = m.Note("warn", value.MapOf("text", "\x1b[2J"+strings.Repeat("x", 100_000)))
	_ = m.Note("nonsense", nil)
	if _, err := ask(t, m, "pillar"); err != nil {
		t.Fatal(err)
	}
	if n := s.bus.Seq(); n < 1000 || n > 8000 {
		t.Errorf("%d events of 20000 came through", n)
	}
	for seq := range s.bus.Seq() {
		e, _, err := s.bus.Next(t.Context(), seq, nil)
		if err != nil || !strings.HasPrefix(e.Tag, "flood/") || e.Data.Str("id") != "web1" {
			t.Fatalf("event %q of %q came through, %v", e.Tag, e.Data.Str("id"), err)
		}
	}
}

func TestReturnsThatLie(t *testing.T) { // not parallel: it looks at memory
	s := newSite(t, nil)
	s.opts.MaxReturn = 2 << 20
	end := func(kv ...value.Value) *value.Map { return value.MapOf(kv...) }
	c, _ := s.hostile(func(ctx context.Context, st *wire.Stream) error {
		if st.Method() != "invoke" {
			// grains and running: more than is taken
			_, err := st.Write(make([]byte, 64<<20))
			return err
		}
		switch st.Head().Str("fun") {
		case "lie.flood":
			for {
				if _, err := st.Write(make([]byte, 1<<20)); err != nil {
					return err
				}
			}
		case "lie.states":
			rec := append([]byte{1, 0x80, 0x80, 0x10}, make([]byte, 256<<10)...)
			for {
				if _, err := st.Write(rec); err != nil {
					return err
				}
			}
		case "lie.record":
			_, _ = st.Write([]byte{1, 3, 200, 200, 200, 1, 0xff, 0xff, 0xff, 0xff, 0x7f})
			return nil
		case "lie.stall":
			_, _ = io.WriteString(st, "\x00{\"a\":")
			<-ctx.Done()
			return ctx.Err()
		case "lie.empty":
			return st.CloseWrite(nil, end("retcode", int64(0), "raised", false))
		case "lie.types":
			_, _ = io.WriteString(st, "\x001")
			return st.CloseWrite(nil, end("retcode", "0", "raised", false))
		case "lie.noend":
			_, _ = io.WriteString(st, "\x001")
			return nil
		case "lie.out":
			_, _ = io.WriteString(st, "\x001")
			return st.CloseWrite(nil, end("retcode", int64(1)<<40, "raised", false, "out", "../../evil"))
		case "lie.error":
			return wire.Refusef("%s", strings.Repeat("x", 1<<20))
		case "lie.json":
			_, _ = io.WriteString(st, "\x00"+strings.Repeat("[", 100_000))
			return st.CloseWrite(nil, end("retcode", int64(0), "raised", false))
		}
		return nil
	})
	for name, want := range map[string]fun.Stage{
		"lie.flood": fun.Lost, "lie.empty": fun.Lost, "lie.types": fun.Lost, "lie.noend": fun.Lost, "lie.error": fun.Refused,
		"lie.states": fun.Lost, "lie.record": fun.Lost,
		"lie.out": fun.Returned, "lie.json": fun.Lost,
	} {
		stop, peak := watchMemory()
		ret := c.Invoke(t.Context(), job(name))
		stop()
		if ret.Stage != want || (ret.Stage == fun.Returned) != (ret.Err == nil) {
			t.Errorf("%s: %s, %v", name, ret.Stage, ret.Err)
		}
		if ret.Err != nil && ret.Body != nil {
			t.Errorf("%s: the body of a return that is refused is kept", name)
		}
		if ret.Out != "" {
			t.Errorf("%s: outputter %q", name, ret.Out)
		}
		if p := *peak >> 20; p > 16 {
			t.Errorf("%s: %d MiB", name, p)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if ret := c.Invoke(ctx, job("lie.stall")); ret.Stage != fun.TimedOut {
		t.Errorf("lie.stall: %s, %v", ret.Stage, ret.Err)
	}
	if _, err := c.Grains(t.Context(), nil, false); err == nil {
		t.Error("64 MiB of grains are taken")
	}
	if _, err := c.Running(t.Context()); err == nil {
		t.Error("64 MiB of jobs are taken")
	}
}

func TestNoAgentAtTheFarEnd(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	a, b := pipe()
	go func() {
		go func() { _, _ = io.Copy(io.Discard, b) }()
		_, _ = io.WriteString(b, "sh: brine-agent: not found\n")
		b.Close()
	}()
	_, err := link.Connect(t.Context(), a, s.opts)
	var nh *wire.NoHelloError
	if !errors.As(err, &nh) || !strings.Contains(string(nh.Noise), "not found") {
		t.Errorf("err = %v", err)
	}
	near, far := pipe()
	go func() {
		_, _ = io.WriteString(far, "Welcome!\r\nYou have mail.\r\n")
		e := s.serve(far)
		<-e.done
	}()
	c := s.attach(near)
	if v := call(t, c, job("test.ping")); v != true {
		t.Errorf("test.ping behind a banner = %v", v)
	}
	c.Close()
}
