package link_test

import (
	"context"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"brine/cmd/assembly"
	"brine/internal/core/event"
	"brine/internal/core/fileserver"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/sshexec/link"
)

// A site is a controller's tree and what its pillar is.
type site struct {
	t      testing.TB
	root   string
	bus    *event.Ring
	opts   link.Options
	files  *countFiles
	cache  string
	heart  time.Duration
	faults []string
	placed []*source.Error
	mu     sync.Mutex
}

// countFiles counts what is opened.
type countFiles struct {
	*fileserver.Server
	mu    sync.Mutex
	opens map[string]int
}

func (c *countFiles) Open(ctx context.Context, env, p string) (io.ReadCloser, error) {
	c.mu.Lock()
	c.opens[p]++
	c.mu.Unlock()
	return c.Server.Open(ctx, env, p)
}

func (c *countFiles) count(p string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.opens[p]
}

// newSite writes a tree: path to content.
func newSite(t testing.TB, tree map[string]string) *site {
	t.Helper()
	s := &site{t: t, root: t.TempDir(), bus: event.NewRing(0, time.Now), cache: filepath.Join(t.TempDir(), "cache")}
	for p, text := range tree {
		s.write(p, text)
	}
	s.files = &countFiles{Server: fileserver.New(host.NewLocal(), &fileserver.Roots{Envs: []string{"base"}, Dirs: map[string][]string{"base": {s.root}}}), opens: map[string]int{}}
	s.opts = link.Options{
		Tree: link.NewTree(s.files), Bus: s.bus, SpillDir: t.TempDir(),
		Pillar: func(_ context.Context, id string, grains value.Mapping, req fun.PillarRequest) (*value.Map, error) {
			kernel, _ := grains.Get("kernel")
			m := value.MapOf("id", id, "kernel", kernel, "port", int64(8080), int64(7), "seven")
			if req.Override != nil {
				m.Update(req.Override)
			}
			return m, nil
		},
		Fault: func(id, text string, at *source.Error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.placed = append(s.placed, at)
			s.faults = append(s.faults, id+": "+text)
		},
	}
	return s
}

func (s *site) write(p, text string) {
	s.t.Helper()
	full := filepath.Join(s.root, p)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), fs.FileMode(0o644)); err != nil {
		s.t.Fatal(err)
	}
}

// An end is a running agent.
type end struct {
	done chan struct{}
	err  error
	stop context.CancelFunc
}

// serve runs an agent at one end of a channel.
func (s *site) serve(rw io.ReadWriteCloser) *end {
	h := host.NewLocal()
	ctx, cancel := context.WithCancel(context.Background())
	e := &end{done: make(chan struct{}), stop: cancel}
	go func() {
		defer close(e.done)
		e.err = assembly.ServeAgent(ctx, rw, assembly.AgentOptions{
			Host: h, Table: assembly.Table(), Version: "test", CacheDir: s.cache, CloseAll: h.CloseAll, Heartbeat: s.heart,
		})
	}()
	return e
}

// connect returns a connection to an agent in this process.
func (s *site) connect() (*link.Conn, *end) {
	s.t.Helper()
	a, b := pipe()
	e := s.serve(b)
	c := s.attach(a)
	s.t.Cleanup(func() {
		c.Close()
		<-e.done
	})
	return c, e
}

func (s *site) attach(rw io.ReadWriteCloser) *link.Conn {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 20*time.Second)
	defer cancel()
	c, err := link.Connect(ctx, rw, s.opts)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := c.Open(ctx, link.Target{ID: "web1", Opts: value.NewMap(0), Grains: value.MapOf("role", "web")}); err != nil {
		s.t.Fatal(err)
	}
	return c
}

// pipe returns both ends of a channel without latency.
func pipe() (a, b io.ReadWriteCloser) { return net.Pipe() }

var (
	jid   int
	jidMu sync.Mutex
)

func newJID() string {
	jidMu.Lock()
	defer jidMu.Unlock()
	jid++
	return "2026010203040500" + string(rune('0'+jid/1000%10)) + string(rune('0'+jid/100%10)) + string(rune('0'+jid/10%10)) + string(rune('0'+jid%10))
}

// job returns a call with positional arguments, the last of which may be the
// keywords.
func job(name string, args ...value.Value) fun.Job {
	j := fun.Job{Fun: name, JID: newJID(), Args: fun.Args{Kw: value.NewMap(0)}}
	for _, a := range args {
		if m, ok := a.(*value.Map); ok {
			j.Args.Kw = m
			continue
		}
		j.Args.Pos = append(j.Args.Pos, a)
	}
	return j
}

// call invokes and returns the value; a call that did not return is fatal.
func call(t testing.TB, c *link.Conn, j fun.Job) value.Value {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	ret := c.Invoke(ctx, j)
	if ret.Stage != fun.Returned {
		t.Fatalf("%s: %s: %v", j.Fun, ret.Stage, ret.Err)
	}
	v, err := ret.Value()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// results returns "id: result comment" of a state run, or fails.
func results(t testing.TB, v value.Value) map[string]string {
	t.Helper()
	m, ok := v.(*value.Map)
	if !ok {
		t.Fatalf("the return is %s", value.Repr(v))
	}
	out := map[string]string{}
	for _, r := range m.All() {
		r, ok := r.(*value.Map)
		if !ok {
			t.Fatalf("the return is %s", value.Repr(v))
		}
		out[r.Str("__id__")] = value.Repr(r.At("result")) + " " + value.Str(r.At("comment"))
	}
	return out
}
