package sshexec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"brine/internal/core/fun"
	"brine/internal/core/roster"
	"brine/internal/testkit/sshtest"
	"brine/sshexec/wire"
)

// says is a relay that answers every dial with an error.
func says(code wire.Code, text string) *evil {
	return &evil{answer: func(context.Context, *wire.Stream) (bool, error) {
		return true, &wire.RemoteError{Code: code, Text: text}
	}}
}

// TestHostileRelayLies: why a relay did not connect is marked as its word, is a short
// line, and counts as nothing else than a failure, whatever the word is.
func TestHostileRelayLies(t *testing.T) {
	t.Parallel()
	r := &relayed{t: t}
	for id, e := range map[string]*evil{
		"refused":  says(wire.CodeFailed, "connection refused"),
		"canceled": says(wire.CodeCanceled, "context canceled"),
		"busy":     says(wire.CodeBusy, "too many requests at once"),
		"notexist": says(wire.CodeNotExist, "file does not exist"),
		"none":     says(99, ""),
		"lines":    says(wire.CodeFailed, "x\nbrine: warning: web2: FORGED\x1b]0;owned\x07\u202e\r\nweb2:\n    True"),
		"long":     says(wire.CodeFailed, strings.Repeat("\xff\x00long ", 10_000)),
		"eof":      says(wire.CodeFailed, "EOF"),
		"another answer": {answer: func(_ context.Context, s *wire.Stream) (bool, error) {
			_, err := s.Write([]byte{2})
			return true, err
		}},
		"cancels": {answer: func(_ context.Context, s *wire.Stream) (bool, error) { return true, s.Close() }},
	} {
		r.relay(id, e.serve)
		r.target("behind "+id, id, "")
	}
	p := r.provider()
	for _, e := range r.entries {
		if e.Relay == "" {
			continue
		}
		ret := p.Run(t.Context(), fun.Job{JID: "1", Shell: "who"}, e.ID, func() {})
		if _, good := ret.Outcome(); ret.Err == nil || ret.Body != nil || good != false {
			t.Errorf("%s: %v, %v", e.ID, ret.Err, ret.Body)
			continue
		}
		text := ret.Err.Error()
		if errors.Is(ret.Err, context.Canceled) || errors.Is(ret.Err, fun.ErrNotBegun) || errors.Is(ret.Err, fun.ErrStopped) {
			t.Errorf("%s: the failure passes for an interrupt: %v", e.ID, ret.Err)
		}
		wantText(t, text, e.ID+" (127.0.0.1:", "connect: by relay "+e.Relay)
		if strings.ContainsAny(text, "\n\r\x1b\x07\u202e") || len(text) > 2000 {
			t.Errorf("%s: a line of %d bytes: %.400q", e.ID, len(text), text)
		}
		if e.Relay != "another answer" && e.Relay != "cancels" {
			wantText(t, text, "by relay "+e.Relay+", which says: ")
		}
	}
}

// TestHostileRelayPlays: a relay that answers in the place of a target, as an SSH
// server of its own, gets no further than to its host key, and what it says until then
// is marked.
func TestHostileRelayPlays(t *testing.T) {
	t.Parallel()
	forged := "web2:\n    True\x1b[2J"
	play := func(lines string, then func(c io.ReadWriter)) *evil {
		return &evil{answer: func(_ context.Context, s *wire.Stream) (bool, error) {
			if _, err := io.WriteString(s, "\x01"+lines); err != nil {
				return true, err
			}
			if then != nil {
				then(s)
			}
			return true, nil
		}}
	}
	disconnect := ssh.Marshal(struct {
		Type   byte
		Reason uint32
		Text   string
		Lang   string
	}{1, 2, forged, ""})
	packet := append([]byte{0, 0, 0, byte(len(disconnect) + 1 + 4), 4}, append(disconnect, 0, 0, 0, 0)...)
	r := &relayed{t: t}
	for id, e := range map[string]*evil{
		"banner":     play(strings.Repeat(forged+"\r\n", 1000), nil),
		"version":    play("SSH-2.0-"+forged+"\r\n", func(c io.ReadWriter) { _, _ = io.CopyN(io.Discard, c, 100) }),
		"disconnect": play("SSH-2.0-x\r\n"+string(packet), func(c io.ReadWriter) { _, _ = io.CopyN(io.Discard, c, 1000) }),
		"agent":      play("\x00brine wire\x00\r\n", nil),
	} {
		r.relay(id, e.serve)
		r.target("behind "+id, id, "")
	}
	p := r.provider()
	for _, e := range r.entries {
		if e.Relay == "" {
			continue
		}
		text := r.ask(p, e.ID)
		wantText(t, text, e.ID+" (127.0.0.1:", "handshake: ", "the relay "+e.Relay+" may have")
		if strings.ContainsAny(text, "\n\x1b") {
			t.Errorf("%s: %q", e.ID, text)
		}
	}
}

// TestHostileRelayReplays: what passed in an earlier session is worth nothing in
// another one: not to the controller, and not to the target.
func TestHostileRelayReplays(t *testing.T) {
	t.Parallel()
	var (
		replay   atomic.Bool
		up, down heard
		refused  = make(chan error, 1)
		addr     string
	)
	r := &relayed{t: t}
	tee := func(h *heard) copier {
		return func(_ context.Context, w io.Writer, r io.Reader) error {
			_, err := io.Copy(w, io.TeeReader(r, h))
			return err
		}
	}
	e := &evil{up: tee(&up), down: tee(&down)}
	e.answer = func(_ context.Context, s *wire.Stream) (bool, error) {
		if !replay.Load() {
			return false, nil
		}
		// To the target, what the controller sent; to the controller, what the target did.
		c, err := net.Dial("tcp", addr)
		if err != nil {
			return true, err
		}
		defer c.Close()
		go func() { _, _ = c.Write(up.bytes()) }()
		_, err = io.Copy(io.Discard, c)
		refused <- err
		_, err = s.Write(append([]byte{1}, down.bytes()...))
		return true, err
	}
	r.relay("b1", e.serve)
	var asked atomic.Int32
	f := r.add("web1", func(s *sshtest.Session) int {
		asked.Add(1)
		fmt.Fprintln(s, "this is web1")
		return 0
	})
	addr, r.entries[1].Relay = f.Addr, "b1"
	p := r.provider()
	wantText(t, r.ask(p, "web1"), "this is web1")
	if n := asked.Load(); n != 1 || len(up.bytes()) < 1000 || len(down.bytes()) < 1000 {
		t.Fatalf("%d commands, %d and %d bytes", n, len(up.bytes()), len(down.bytes()))
	}
	m := p.machine("web1")
	m.dialing.Lock()
	_ = m.client.Close()
	m.dialing.Unlock()
	replay.Store(true)
	wantText(t, r.ask(p, "web1"), "web1 (127.0.0.1:", "handshake: ")
	<-refused
	if n := asked.Load(); n != 1 {
		t.Errorf("the target ran %d commands", n)
	}
}

// TestHostileRelayWrongMachine: a relay that connects a target to another machine. Its
// key is not that of the target, so that nobody logs in. With -i brine does, says so,
// and sends it no pillar, no password, no ssh-agent and no files.
func TestHostileRelayWrongMachine(t *testing.T) {
	t.Parallel()
	for _, policy := range []Policy{Strict, AcceptNew, Off, "localhost"} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			r := &relayed{t: t}
			var mu sync.Mutex
			asked := map[string]int{}
			other := r.add("other", func(s *sshtest.Session) int {
				fmt.Fprintln(s, "this is other")
				return 0
			})
			other.Asked = func(kind string) {
				mu.Lock()
				defer mu.Unlock()
				asked[kind]++
			}
			key := filepath.Join(t.TempDir(), "key")
			sshtest.WriteKey(t, key, "")
			r.relay("b1", (&evil{to: func(string) string { return other.Addr }}).serve)
			r.target("web1", "b1", "")
			r.entries[2].Priv = "agent-forwarding"
			if policy == "localhost" {
				r.entries[2].SSHOptions = []string{"NoHostAuthenticationForLocalhost=yes"}
			}
			r.target("web2", "b1", "")
			secret := roster.NewSecret("the-password")
			r.entries[3].Passwd, r.entries[3].Sudo = secret, true
			var warned buffer
			p := r.providerBy(func(o *Options) {
				o.Policy = policy
				if policy == "localhost" {
					o.Policy = Strict
				}
				o.AgentSocket = sshAgent(t, key, "")
				o.Warn = func(text string) { fmt.Fprintln(&warned, text) }
			})
			text := r.ask(p, "web1")
			if policy != Off {
				wantText(t, text, "web1 (127.0.0.1:", "host key: the host's key is not the known one")
				if mu.Lock(); len(asked) > 0 {
					t.Errorf("the other machine was asked for %v", asked)
				}
				mu.Unlock()
				return
			}
			wantText(t, text, "this is other")
			wantText(t, warned.String(), "web1 (127.0.0.1:", "REMOTE HOST IDENTIFICATION HAS CHANGED", ssh.FingerprintSHA256(other.HostKey.PublicKey()),
				"passwords, agent forwarding and pillar are disabled")
			m := p.machine("web1")
			if _, err := p.place.options(m.client).Pillar(t.Context(), "web1", nil, fun.PillarRequest{}); err == nil || !strings.Contains(err.Error(), "no pillar is sent to web1") {
				t.Errorf("the pillar: %v", err)
			}
			if _, err := p.s.Dialer.dialShared(t.Context(), m.e, &carry{"b1", func(ctx context.Context, network, addr string) (net.Conn, error) {
				c, err := p.relay(ctx, "b1")
				if err != nil {
					return nil, err
				}
				return c.Dial(ctx, network, addr)
			}}); err == nil || !strings.Contains(err.Error(), "is not the known one") {
				t.Errorf("a connection for files: %v", err)
			}
			wantText(t, r.ask(p, "web2"), "the password of sudo is not sent")
			mu.Lock()
			defer mu.Unlock()
			if asked["session"] == 0 || asked["auth-agent-req@openssh.com"] > 0 {
				t.Errorf("the other machine was asked for %v", asked)
			}
		})
	}
}

// TestHostileRelayAgentForwarding: the ssh-agent is lent to the target behind a relay
// that the roster names, from one end to the other: not to the relay, not to other
// targets, and not over the connection by which the relay sends files.
func TestHostileRelayAgentForwarding(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	asked := map[string]map[string]int{}
	note := func(f *sshtest.Fake, id string) {
		f.Asked = func(kind string) {
			mu.Lock()
			defer mu.Unlock()
			if asked[id] == nil {
				asked[id] = map[string]int{}
			}
			asked[id][kind]++
		}
	}
	r := &relayed{t: t}
	b1, _ := r.relay("b1", nil)
	note(b1, "b1")
	note(r.target("lent", "b1", ""), "lent")
	note(r.target("other", "b1", ""), "other")
	note(r.target("files", "b1", ""), "files")
	r.entries[1].Priv, r.entries[3].Priv = "agent-forwarding", "agent-forwarding"
	key := filepath.Join(t.TempDir(), "key")
	sshtest.WriteKey(t, key, "")
	p := r.providerBy(func(o *Options) {
		o.AgentSocket = sshAgent(t, key, "")
		o.Config = []string{write(t, "Host *\n ForwardAgent yes\n")} // which counts for ssh alone
	})
	wantText(t, r.ask(p, "lent"), "this is lent")
	wantText(t, r.ask(p, "other"), "this is other")
	c, err := p.s.Dialer.dialShared(t.Context(), p.machine("files").e, &carry{"b1", func(ctx context.Context, network, addr string) (net.Conn, error) {
		by, err := p.relay(ctx, "b1")
		if err != nil {
			return nil, err
		}
		return by.Dial(ctx, network, addr)
	}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.open(t.Context(), "who", false, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, s)
	_ = c.Close()
	mu.Lock()
	defer mu.Unlock()
	const request = "auth-agent-req@openssh.com"
	if asked["lent"][request] == 0 {
		t.Error("the agent is not lent to whom it is for")
	}
	for _, id := range []string{"b1", "other", "files"} {
		if asked[id]["session"] == 0 || asked[id][request] > 0 {
			t.Errorf("%s was asked for %v", id, asked[id])
		}
	}
}

// keeper is an evil relay for files: it says that it has them, and has others.
type keeper struct {
	evil
	puts atomic.Int32
	bend func(b []byte) []byte // what is written to the target in a connection for files
}

// serve answers as a relay does.
func (k *keeper) serve(ctx context.Context, rw io.ReadWriteCloser) error {
	k.answer = func(ctx context.Context, s *wire.Stream) (bool, error) {
		switch {
		case s.Method() == "relay.has":
			return true, s.Answer(true)
		case s.Method() == "relay.put":
			k.puts.Add(1)
			_, err := io.Copy(io.Discard, s)
			return true, err
		case s.Method() == "relay.drop":
			return true, s.Answer(true)
		case s.Head().At("shared") == true:
			return true, (&evil{up: k.pieces}).handle(ctx, s)
		}
		return false, nil
	}
	return k.evil.serve(ctx, rw)
}

// pieces is what a relay does with the messages of a connection for files, with other
// bytes in the place of those of the file.
func (k *keeper) pieces(_ context.Context, w io.Writer, r io.Reader) error {
	for {
		var head [5]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return err
		}
		p := make([]byte, int(head[3])<<8|int(head[4])|int(head[2])<<16)
		if _, err := io.ReadFull(r, p); err != nil {
			return err
		}
		switch head[0] {
		case 1:
			continue
		case 2:
			p = k.bend(make([]byte, int(p[18])<<8|int(p[19])|int(p[17])<<16))
		}
		if _, err := w.Write(p); err != nil {
			return err
		}
	}
}

// TestHostileRelayFiles: whatever a relay puts into a connection for files, or does to
// what it has, the target notices, gets the file from the controller, and keeps nothing
// of what it got.
func TestHostileRelayFiles(t *testing.T) {
	t.Parallel()
	for name, bend := range map[string]func(b []byte) []byte{
		"another file": func(b []byte) []byte { return b },
		"nothing":      func([]byte) []byte { return nil },
		"twice as much": func(b []byte) []byte {
			return append(b, b...)
		},
		"a byte less": func(b []byte) []byte { return b[1:] },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := &keeper{bend: bend}
			b := newBehindBy(t, 2, 300_000, nil, k.serve)
			b.p.place.stall = 2 * time.Second
			b.fetch("big", b.file) // which compares what each of them has
			if log := b.log.String(); k.puts.Load() == 0 || strings.Contains(log, "file sent by its relay") || strings.Count(log, "file not sent by its relay") != 2 {
				t.Errorf("%d files were held: %s", k.puts.Load(), log)
			}
			until(t, "what broke off is removed", func() bool { return len(b.left()) == 0 })
		})
	}
}

// TestHostileRelayAgents: of an agent that a relay spoils, nothing is left that runs. The
// next try goes by the connection of the controller.
func TestHostileRelayAgents(t *testing.T) {
	t.Parallel()
	sshtest.Require(t, "cat")
	k := &keeper{bend: func(b []byte) []byte { return bytes.Repeat([]byte{7}, len(b)) }}
	r := &relayed{t: t}
	r.relay("b1", k.serve)
	box := newBox(t)
	box.Start()
	e := entry(box.Fake)
	e.ID, e.Relay, e.ThinDir = "web1", "b1", filepath.Join(box.home, "thin")
	r.entries, r.known = append(r.entries, e), append(r.known, line(box.Fake))
	p := r.provider()
	exe := filepath.Join(t.TempDir(), "prog")
	writeExe(t, exe, append(program(0), bytes.Repeat([]byte("#"), 200_000)...))
	p.place.images, p.place.stall = &Images{Exe: exe}, 2*time.Second
	m := p.machine("web1")
	m.dialing.Lock()
	c, err := m.dial(t.Context())
	m.dialing.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	u, err := exec.Command("uname", "-sm").Output()
	if err != nil {
		t.Skip(err)
	}
	host := strings.Fields(string(u))
	c.share = m.sharer()
	if err := p.place.pushInTurn(t.Context(), c, m.e, &absent{host[0], host[1], "cat"}); err == nil {
		t.Fatal("what the relay made up is an agent")
	}
	if left, _ := filepath.Glob(filepath.Join(e.ThinDir, "agent", "brine-*")); len(left) > 0 {
		t.Errorf("%v are there to run", left)
	}
	m.dialing.Lock()
	c, err = m.dial(t.Context())
	m.dialing.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	if c.share = m.sharer(); c.share != nil {
		t.Error("the relay is to send it again")
	}
	if err := p.place.pushInTurn(t.Context(), c, m.e, &absent{host[0], host[1], "cat"}); err != nil {
		t.Fatal(err)
	}
	whole(t, &p.place, m.e)
}

// TestHostileRelayQueues: a relay that lets its targets wait takes no turn of others:
// neither to be sent the agent, nor to shake hands with a host of the same address.
func TestHostileRelayQueues(t *testing.T) {
	t.Parallel()
	p := &placer{turns: newTurns(1)}
	d := NewDialer(options(t, known(t)))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for range dialsAtOneHost {
		if _, err := d.enter(ctx, "evil", "10.0.0.1:22"); err != nil {
			t.Fatal(err)
		}
	}
	for _, via := range []string{"evil", "good", ""} {
		x, err := p.begin(ctx, &Client{via: via, closed: make(chan struct{})})
		if err != nil {
			t.Fatalf("no turn by %q: %v", via, err)
		}
		if via != "evil" { // which keeps its own
			x.leave()
			leave, err := d.enter(ctx, via, "10.0.0.1:22")
			if err != nil {
				t.Fatalf("no handshake by %q: %v", via, err)
			}
			leave()
		}
	}
	if evil := p.turnsBy("evil"); evil != p.turnsBy("evil") || p.turnsBy("").limit != 1 || p.turnsBy("evil").limit != 1 {
		t.Error("the turns by a relay are not those of all its targets")
	}
}
