package sshexec

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	xknownhosts "golang.org/x/crypto/ssh/knownhosts"

	"brine/internal/core/fun"
	"brine/internal/core/roster"
	"brine/internal/py/value"
	"brine/internal/testkit/sshtest"
	"brine/sshexec/relay"
	"brine/sshexec/wire"
)

// relayed is a fleet of servers in this process.
type relayed struct {
	t       *testing.T
	entries []*roster.Entry
	known   []string

	mu    sync.Mutex
	warns []string
}

// firstLine is a session without the line that starts sh.
type firstLine struct {
	io.Reader
	*sshtest.Session
}

func (f firstLine) Read(b []byte) (int, error) { return f.Reader.Read(b) }

// startLines reads what starts an agent: a line, and the one after it that it skips.
func startLines(in *bufio.Reader) (string, error) {
	script, err := in.ReadString('\n')
	if err == nil && strings.Contains(script, " --skip ") {
		_, err = in.ReadString('\n')
	}
	return script, err
}

// relay adds a machine that serve serves where it is started as a relay; nil: as
// an agent does. starts counts that.
func (r *relayed) relay(id string, serve func(ctx context.Context, rw io.ReadWriteCloser) error) (f *sshtest.Fake, starts *atomic.Int32) {
	r.t.Helper()
	starts = new(atomic.Int32)
	if serve == nil {
		serve = func(ctx context.Context, rw io.ReadWriteCloser) error { return relay.Serve(ctx, rw, "") }
	}
	return r.add(id, func(s *sshtest.Session) int {
		in := bufio.NewReader(s)
		script, err := startLines(in)
		if err != nil || !strings.Contains(script, "agent --relay") {
			return 127
		}
		starts.Add(1)
		if serve(r.t.Context(), firstLine{in, s}) != nil {
			return 1
		}
		return 0
	}), starts
}

// target adds a machine that answers raw commands with its name.
func (r *relayed) target(id, by, fallback string) *sshtest.Fake {
	r.t.Helper()
	f := r.add(id, func(s *sshtest.Session) int {
		fmt.Fprintln(s, "this is", id)
		return 0
	})
	e := r.entries[len(r.entries)-1]
	e.Relay, e.RelayFallback = by, fallback
	return f
}

func (r *relayed) add(id string, exec func(s *sshtest.Session) int) *sshtest.Fake {
	r.t.Helper()
	f := sshtest.NewFake(r.t)
	f.Exec = exec
	f.Start()
	r.known = append(r.known, line(f))
	e := entry(f)
	e.ID = id
	r.entries = append(r.entries, e)
	return f
}

func (r *relayed) provider() *Provider {
	r.t.Helper()
	return r.providerBy(nil)
}

// providerBy is provider; change changes how machines are dialled.
func (r *relayed) providerBy(change func(o *Options)) *Provider {
	r.t.Helper()
	o := options(r.t, known(r.t, r.known...))
	o.Retries = 0
	if change != nil {
		change(&o)
	}
	p := NewProvider(Settings{
		Entries: r.entries, Dialer: NewDialer(o), Images: &Images{}, Opts: value.NewMap(0), Now: time.Now,
		Warn: func(text string) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.warns = append(r.warns, text)
		},
	})
	r.t.Cleanup(func() { _ = p.Close() })
	return p
}

// ask runs a raw command on a target and returns its output, or its error.
func (r *relayed) ask(p *Provider, id string) string {
	r.t.Helper()
	ret := p.Run(r.t.Context(), fun.Job{JID: "1", Shell: "who"}, id, func() {})
	if ret.Err != nil {
		return ret.Err.Error()
	}
	v, ok := ret.Body.(fun.ValueBody)
	if !ok {
		return fmt.Sprintf("a body of %T", ret.Body)
	}
	return value.Str(v.V)
}

func wantText(t *testing.T, got string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(got, text) {
			t.Errorf("no %q in %q", text, got)
		}
	}
}

// TestRelay: targets are reached by one channel to their relay, and what it says
// is told apart.
func TestRelay(t *testing.T) {
	t.Parallel()
	r := &relayed{t: t}
	_, starts := r.relay("b1", nil)
	const n = 20
	for i := range n {
		r.target(fmt.Sprintf("web%d", i), "b1", "")
	}
	p := r.provider()
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			id := fmt.Sprintf("web%d", i)
			if got := r.ask(p, id); !strings.Contains(got+"\n", "this is "+id+"\\n") {
				t.Errorf("%s: %s", id, got)
			}
		})
	}
	wg.Wait()
	if starts.Load() != 1 {
		t.Errorf("the relay was started %d times", starts.Load())
	}
	if p.room.used.files != 1 {
		t.Errorf("%v are used for a relay and what is behind it", p.room.used)
	}
}

// TestRelayFails: what fails is told of the machine where it failed.
func TestRelayFails(t *testing.T) {
	t.Parallel()
	r := &relayed{t: t}
	gone, _ := r.relay("gone", nil)
	r.relay("b1", nil)
	shut := r.target("shut", "b1", "")
	r.target("lost", "gone", "")
	r.target("direct", "gone", roster.Direct)
	r.target("spared", "gone", "b1")
	r.target("nowhere", "gone", "gone2")
	changed := r.target("changed", "b1", "")
	r.target("web", "b1", "")
	for i, l := range r.known {
		if l == line(changed) {
			r.known[i] = xknownhosts.Line([]string{changed.Addr}, shut.HostKey.PublicKey())
		}
	}
	gone.Close()
	shut.Close()
	p := r.provider()
	wantText(t, r.ask(p, "shut"), "shut (127.0.0.1:", "connect: by relay b1, which says: connection refused", "check that the relay reaches it")
	wantText(t, r.ask(p, "lost"), "lost (127.0.0.1): connect: by relay gone (127.0.0.1:", "connection refused")
	wantText(t, r.ask(p, "nowhere"), "by relay gone2: it is not in the roster")
	wantText(t, r.ask(p, "changed"), "changed (127.0.0.1:", "host key")
	wantText(t, r.ask(p, "direct"), "this is direct")
	wantText(t, r.ask(p, "spared"), "this is spared")
	wantText(t, r.ask(p, "web"), "this is web")
	all := strings.Join(r.warns, "\n")
	wantText(t, all, "the relay gone cannot be used, so its targets are reached directly, as relay_fallback says: gone (127.0.0.1:", "are reached by b1, as relay_fallback says")
}

// TestRelayKilled: what is under way when a relay is lost ends with it, and the
// next call is made through a new one.
func TestRelayKilled(t *testing.T) {
	t.Parallel()
	r := &relayed{t: t}
	b1, starts := r.relay("b1", nil)
	hold := make(chan struct{})
	r.add("slow", func(*sshtest.Session) int {
		close(hold)
		<-t.Context().Done()
		return 0
	})
	r.entries[1].Relay = "b1"
	r.target("web", "b1", "")
	p := r.provider()
	ended := make(chan string, 1)
	go func() { ended <- r.ask(p, "slow") }()
	<-hold
	b1.Kill()
	wantText(t, <-ended, "slow (127.0.0.1:", "the connection")
	wantText(t, r.ask(p, "web"), "this is web")
	if starts.Load() != 2 {
		t.Errorf("the relay was started %d times", starts.Load())
	}
}

// TestHostileRelay: a relay that answers in the place of another target, breaks
// the protocol or drops what passes, costs its own targets their connection and
// nobody else anything.
// An agent that does not answer because the relay on the way was killed is started
// again, by the relay that is started in its place.
func TestRelayKilledWhileAgentStarts(t *testing.T) {
	t.Parallel()
	r := &relayed{t: t}
	kill := make(chan struct{}, 1)
	_, relays := r.relay("b1", func(ctx context.Context, rw io.ReadWriteCloser) error {
		ctx, end := context.WithCancel(ctx)
		defer end()
		go func() {
			select {
			case <-kill:
				end()
			case <-ctx.Done():
			}
		}()
		return relay.Serve(ctx, rw, "")
	})
	var agents atomic.Int32
	r.add("web1", func(s *sshtest.Session) int {
		in := bufio.NewReader(s)
		if _, err := startLines(in); err != nil {
			return 127
		}
		if agents.Add(1) > 1 {
			return 127 // this is what the run fails by
		}
		kill <- struct{}{}
		_, _ = io.Copy(io.Discard, in) // until the connection ends, which says nothing before
		return 0
	})
	r.entries[len(r.entries)-1].Relay = "b1"
	p := r.provider()
	p.place.opts.Reconnect = time.Minute
	ret := p.Run(t.Context(), fun.Job{JID: "1", Fun: "test.ping"}, "web1", func() {})
	if ret.Err == nil || strings.Contains(ret.Err.Error(), "no hello") {
		t.Errorf("the call ends with %v", ret.Err)
	}
	if n, m := agents.Load(), relays.Load(); n != 2 || m != 2 {
		t.Errorf("the agent was started %d times and the relay %d times, want 2 and 2", n, m)
	}
}

func TestHostileRelay(t *testing.T) {
	t.Parallel()
	r := &relayed{t: t}
	other := r.target("other", "", "")
	bend := func(serve func(ctx context.Context, s *wire.Stream) error) func(ctx context.Context, rw io.ReadWriteCloser) error {
		return func(ctx context.Context, rw io.ReadWriteCloser) error {
			m, err := wire.Greet(ctx, rw, wire.Options{Role: wire.Agent, Hello: value.MapOf("is", "brine relay"), Handle: serve})
			if err != nil {
				return err
			}
			<-m.Done()
			return nil
		}
	}
	r.relay("forger", bend(func(_ context.Context, s *wire.Stream) error {
		c, err := net.Dial("tcp", other.Addr)
		if err != nil {
			return err
		}
		defer c.Close()
		if _, err := s.Write([]byte{1}); err != nil {
			return err
		}
		go func() { _, _ = io.Copy(c, s) }()
		_, err = io.Copy(s, c)
		return err
	}))
	r.relay("flood", func(_ context.Context, rw io.ReadWriteCloser) error {
		for {
			if _, err := rw.Write(make([]byte, 1<<16)); err != nil {
				return err
			}
		}
	})
	r.relay("garbage", bend(func(_ context.Context, s *wire.Stream) error {
		_, err := s.Write(append([]byte{1}, strings.Repeat("SSH-2.0-x\r\n\xff\xff\xff\xff", 1000)...))
		return err
	}))
	r.relay("sink", bend(func(_ context.Context, s *wire.Stream) error {
		_, err := s.Write([]byte{1})
		return err
	}))
	for _, by := range []string{"forger", "flood", "garbage", "sink"} {
		r.target("behind-"+by, by, "")
	}
	p := r.provider()
	wantText(t, r.ask(p, "behind-forger"), "behind-forger (127.0.0.1:", "host key")
	wantText(t, r.ask(p, "behind-flood"), "by relay flood (127.0.0.1:")
	wantText(t, r.ask(p, "behind-garbage"), "handshake")
	wantText(t, r.ask(p, "behind-sink"), "handshake: the host closed the connection")
	wantText(t, r.ask(p, "other"), "this is other")
}

// counting counts what is read.
type counting struct {
	io.ReadWriteCloser
	n *atomic.Int64
}

func (c counting) Read(b []byte) (int, error) {
	n, err := c.ReadWriteCloser.Read(b)
	c.n.Add(int64(n))
	return n, err
}

// TestRelayPush: an agent crosses the link to a relay once, whatever the number of
// targets behind it, and arrives whole.
func TestRelayPush(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"cat", "gzip", "zstd"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			sshtest.Require(t, way)
			r := &relayed{t: t}
			var up atomic.Int64
			dir := t.TempDir()
			r.relay("b1", func(ctx context.Context, rw io.ReadWriteCloser) error {
				return relay.Serve(ctx, counting{rw, &up}, dir)
			})
			// What cannot be compressed.
			noise := make([]byte, 1<<20)
			rnd := rand.NewChaCha8([32]byte{1})
			_, _ = rnd.Read(noise)
			exe := filepath.Join(t.TempDir(), "prog")
			text := append(program(0), "\n#"+base64.StdEncoding.EncodeToString(noise)...)
			if err := os.WriteFile(exe, text, 0o755); err != nil {
				t.Fatal(err)
			}
			const n = 3
			var boxes []*box
			for i := range n {
				b := newBox(t)
				b.Start()
				e := entry(b.Fake)
				e.ID, e.Relay, e.ThinDir = fmt.Sprintf("web%d", i), "b1", filepath.Join(b.home, "thin")
				r.entries, r.known = append(r.entries, e), append(r.known, line(b.Fake))
				boxes = append(boxes, b)
			}
			p := r.provider()
			p.place.images = &Images{Exe: exe}
			u, err := exec.Command("uname", "-sm").Output()
			if err != nil {
				t.Skip(err)
			}
			f := strings.Fields(string(u))
			for i := range boxes {
				m := p.targets[fmt.Sprintf("web%d", i)]
				log := &buffer{}
				p.place.opts.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
				m.dialing.Lock()
				c, err := m.dial(t.Context())
				m.dialing.Unlock()
				if err != nil {
					t.Fatal(err)
				}
				c.share = m.sharer()
				if err := p.place.pushInTurn(t.Context(), c, m.e, &absent{f[0], f[1], way}); err != nil {
					t.Fatal(err)
				}
				whole(t, &p.place, m.e)
				if !strings.Contains(log.String(), "agent sent by its relay") {
					t.Errorf("it was not sent by the relay: %s", log)
				}
			}
			_, size, sum, err := p.place.images.stream(own(t, &p.place), way)
			if err != nil {
				t.Fatal(err)
			}
			if got := up.Load(); got < size || got > size+size/2 {
				t.Errorf("%d bytes went to the relay for %d targets and a file of %d bytes", got, n, size)
			}
			if b, err := os.ReadFile(filepath.Join(dir, sum)); err != nil || int64(len(b)) != size {
				t.Errorf("the relay keeps %d bytes of %d: %v", len(b), size, err)
			}
		})
	}
}

// TestRelayPushKeepsSecrets: nothing that a relay could read is used where a
// password is sent, or where the controller's configuration does not allow it.
func TestRelayPushKeepsSecrets(t *testing.T) {
	t.Parallel()
	r := &relayed{t: t}
	r.relay("b1", nil)
	for _, id := range []string{"plain", "passwd", "tty", "direct", "strict"} {
		r.target(id, "b1", "")
	}
	r.entries[2].Passwd = roster.NewSecret("secret")
	r.entries[3].TTY = true
	r.entries[4].Relay = ""
	r.entries[5].SSHOptions = []string{"Ciphers=aes256-gcm@openssh.com"}
	p := r.provider()
	for id, want := range map[string]bool{"plain": true, "passwd": false, "tty": false, "direct": false, "strict": true} {
		m := p.targets[id]
		m.dialing.Lock()
		if _, err := m.dial(t.Context()); err != nil {
			t.Fatal(err)
		}
		m.dialing.Unlock()
		if got := m.sharer() != nil; got != want {
			t.Errorf("%s: shared %v", id, got)
		}
	}
	_, err := p.targets["strict"].sharer()(t.Context(), strings.Repeat("0", 64), func() ([]byte, error) { return nil, fmt.Errorf("not read") })
	if err == nil || !strings.Contains(err.Error(), "not read") {
		t.Errorf("a file that cannot be read: %v", err)
	}
	_, err = p.s.Dialer.dialShared(t.Context(), p.targets["strict"].e, nil)
	if err == nil || !strings.Contains(err.Error(), "ssh_config does not allow aes128-ctr") {
		t.Errorf("a cipher that is not allowed: %v", err)
	}
}
