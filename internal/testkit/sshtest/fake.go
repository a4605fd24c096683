package sshtest

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// A Point is where in the life of a connection a [Fake] misbehaves.
type Point int

// Points, in the order in which a connection passes them.
const (
	Never     Point = iota
	AtAccept        // before the server's version line
	AtVersion       // after the version line
	AtAuth          // when the client authenticates
	AtChannel       // when it opens a channel
	AtExec          // when it asks for a command
)

// A Session is a command that a client runs on a [Fake].
type Session struct {
	Command string
	User    string
	ssh.Channel
}

// Fake is a server in this process. Set its fields, then Start it.
type Fake struct {
	// Exec answers a command and returns its exit status. nil: status 0.
	Exec func(s *Session) int
	// Asked is told the kind of each request on a session, and of each channel that a
	// client opens; nil: nobody.
	Asked func(kind string)
	// Hang is where the server stops to answer, Reset where it resets the
	// connection.
	Hang, Reset Point
	// Hangs is on how many connections, the first, it hangs; 0: on all.
	Hangs int32
	// Password accepts a password; Interactive accepts the answer to one
	// question; Keys accept keys. All unset: anyone may log in.
	Password, Interactive string
	Keys                  []ssh.PublicKey
	// Code is asked for after a key, as a second factor.
	Code string
	// Latency is added to each write towards the client, Rate bounds it to
	// bytes a second, DropAfter resets the connection after so many bytes.
	Latency   time.Duration
	Rate      int
	DropAfter int64
	// Flaky resets so many connections before the first that is let through.
	Flaky int32
	// DeafToKeepalive leaves requests of the client unanswered.
	DeafToKeepalive bool
	Banner          string

	Addr    string
	HostKey ssh.Signer
	Dials   atomic.Int32 // connections so far

	ln      net.Listener
	refuses atomic.Bool
	frozen  sync.Map // connections on which nothing passes any more

	mu    sync.Mutex
	conns map[net.Conn]bool
	order map[net.Conn]int32 // the how-manieth each of conns is
	done  chan struct{}
	wg    sync.WaitGroup
}

// NewFake returns a server on a loopback port; it ends with the test. It
// answers from Start on.
func NewFake(t testing.TB) *Fake {
	t.Helper()
	return NewFakeOn(t, "127.0.0.1:0")
}

// NewFakeOn is NewFake on an address; the test is skipped where the machine has
// no such address.
func NewFakeOn(t testing.TB, addr string) *Fake {
	t.Helper()
	_, priv, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(priv)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		t.Skip(err)
	}
	f := &Fake{Addr: ln.Addr().String(), HostKey: signer, ln: ln, conns: map[net.Conn]bool{}, order: map[net.Conn]int32{}, done: make(chan struct{})}
	t.Cleanup(f.Close)
	return f
}

// Start lets the server answer. It returns f.
func (f *Fake) Start() *Fake {
	f.wg.Add(1)
	go f.accept()
	return f
}

// Port returns the port that the server listens on.
func (f *Fake) Port() int { return f.ln.Addr().(*net.TCPAddr).Port }

// Close ends the server and its connections.
func (f *Fake) Close() {
	f.mu.Lock()
	select {
	case <-f.done:
		f.mu.Unlock()
		return
	default:
	}
	close(f.done)
	f.mu.Unlock()
	f.ln.Close()
	f.Kill()
	f.wg.Wait()
}

// Kill resets all connections, as a machine that crashed does.
func (f *Fake) Kill() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.conns {
		reset(c)
	}
}

// Freeze lets nothing pass any more on the connections there are, as a machine
// without power does.
func (f *Fake) Freeze() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.conns {
		f.frozen.Store(c, true)
	}
}

// Refuse lets the server reset all connections, those there are and those that
// come, or lets it answer again.
func (f *Fake) Refuse(on bool) {
	f.refuses.Store(on)
	if on {
		f.Kill()
	}
}

func reset(c net.Conn) {
	if s, ok := c.(*shaped); ok {
		c = s.Conn
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	c.Close()
}

func (f *Fake) accept() {
	defer f.wg.Done()
	for {
		c, err := f.ln.Accept()
		if err != nil {
			return
		}
		n := f.Dials.Add(1)
		if n <= atomic.LoadInt32(&f.Flaky) || f.refuses.Load() {
			reset(c)
			continue
		}
		f.mu.Lock()
		f.conns[c], f.order[c] = true, n
		f.mu.Unlock()
		f.wg.Go(func() {
			f.serve(c)
			c.Close()
			f.mu.Lock()
			delete(f.conns, c)
			delete(f.order, c)
			f.mu.Unlock()
		})
	}
}

var errFault = errors.New("fault asked for by the test")

// at misbehaves where the test asked for it.
func (f *Fake) at(c net.Conn, p Point) error {
	if f.Hang == p && f.hangs(c) {
		<-f.done
		return errFault
	}
	if f.Reset == p {
		reset(c)
		return errFault
	}
	return nil
}

// hangs reports whether c is one of the connections that hang.
func (f *Fake) hangs(c net.Conn) bool {
	if f.Hangs == 0 {
		return true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.order[c] <= f.Hangs
}

func (f *Fake) config(c net.Conn) *ssh.ServerConfig {
	conf := &ssh.ServerConfig{NoClientAuth: f.Password == "" && f.Interactive == "" && f.Keys == nil, MaxAuthTries: -1}
	conf.AddHostKey(f.HostKey)
	refused := errors.New("refused")
	auth := func(ok bool) error {
		if err := f.at(c, AtAuth); err != nil {
			return err
		}
		if !ok {
			return refused
		}
		return nil
	}
	conf.NoClientAuthCallback = func(ssh.ConnMetadata) (*ssh.Permissions, error) { return nil, auth(true) }
	if f.Banner != "" {
		conf.BannerCallback = func(ssh.ConnMetadata) string { return f.Banner }
	}
	if f.Password != "" {
		conf.PasswordCallback = func(_ ssh.ConnMetadata, p []byte) (*ssh.Permissions, error) {
			return nil, auth(string(p) == f.Password)
		}
	}
	if f.Interactive != "" {
		conf.KeyboardInteractiveCallback = func(_ ssh.ConnMetadata, ask ssh.KeyboardInteractiveChallenge) (*ssh.Permissions, error) {
			got, err := ask("", "", []string{"Password: "}, []bool{false})
			return nil, auth(err == nil && len(got) == 1 && got[0] == f.Interactive)
		}
	}
	if f.Keys != nil {
		conf.PublicKeyCallback = func(_ ssh.ConnMetadata, k ssh.PublicKey) (*ssh.Permissions, error) {
			for _, want := range f.Keys {
				if string(want.Marshal()) == string(k.Marshal()) {
					return nil, f.second(auth)
				}
			}
			return nil, auth(false)
		}
	}
	return conf
}

// second returns what follows a key: nothing, or the question for a code.
func (f *Fake) second(auth func(ok bool) error) error {
	if f.Code == "" {
		return auth(true)
	}
	return &ssh.PartialSuccessError{Next: ssh.ServerAuthCallbacks{
		KeyboardInteractiveCallback: func(_ ssh.ConnMetadata, ask ssh.KeyboardInteractiveChallenge) (*ssh.Permissions, error) {
			got, err := ask("", "", []string{"Verification code: "}, []bool{true})
			return nil, auth(err == nil && len(got) == 1 && got[0] == f.Code)
		},
	}}
}

func (f *Fake) serve(raw net.Conn) {
	if f.at(raw, AtAccept) != nil {
		return
	}
	var c net.Conn = &shaped{Conn: raw, f: f}
	if f.Hang == AtVersion && f.hangs(raw) || f.Reset == AtVersion {
		fmt.Fprint(c, "SSH-2.0-fake\r\n")
		_ = f.at(raw, AtVersion)
		return
	}
	conn, chans, reqs, err := ssh.NewServerConn(c, f.config(raw))
	if err != nil {
		return
	}
	defer conn.Close()
	go func() {
		for r := range reqs {
			if f.DeafToKeepalive {
				continue
			}
			if r.WantReply {
				_ = r.Reply(false, nil)
			}
		}
	}()
	for nc := range chans {
		if f.at(raw, AtChannel) != nil {
			return
		}
		f.asked(nc.ChannelType())
		if nc.ChannelType() == "direct-tcpip" {
			f.forward(nc)
			continue
		}
		if nc.ChannelType() != "session" {
			_ = nc.Reject(ssh.UnknownChannelType, "no such channel")
			continue
		}
		ch, creqs, err := nc.Accept()
		if err != nil {
			return
		}
		f.wg.Go(func() {
			f.session(raw, conn.User(), ch, creqs)
		})
	}
}

func (f *Fake) asked(kind string) {
	if f.Asked != nil {
		f.Asked(kind)
	}
}

func (f *Fake) session(raw net.Conn, user string, ch ssh.Channel, reqs <-chan *ssh.Request) {
	defer ch.Close()
	for r := range reqs {
		f.asked(r.Type)
		if r.Type != "exec" {
			if r.WantReply {
				_ = r.Reply(r.Type == "env" || r.Type == "pty-req", nil)
			}
			continue
		}
		if f.at(raw, AtExec) != nil {
			return
		}
		var msg struct{ Command string }
		if err := ssh.Unmarshal(r.Payload, &msg); err != nil {
			return
		}
		_ = r.Reply(true, nil)
		go ssh.DiscardRequests(reqs)
		status := 0
		if f.Exec != nil {
			status = f.Exec(&Session{Command: msg.Command, User: user, Channel: ch})
		}
		_, _ = ch.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{uint32(status)}))
		return
	}
}

// forward is what a bastion does for ProxyJump.
func (f *Fake) forward(nc ssh.NewChannel) {
	var msg struct {
		Host  string
		Port  uint32
		OHost string
		OPort uint32
	}
	if err := ssh.Unmarshal(nc.ExtraData(), &msg); err != nil {
		_ = nc.Reject(ssh.ConnectionFailed, err.Error())
		return
	}
	to, err := net.Dial("tcp", net.JoinHostPort(msg.Host, fmt.Sprint(msg.Port)))
	if err != nil {
		_ = nc.Reject(ssh.ConnectionFailed, err.Error())
		return
	}
	ch, reqs, err := nc.Accept()
	if err != nil {
		to.Close()
		return
	}
	go ssh.DiscardRequests(reqs)
	f.wg.Add(2)
	go func() {
		defer f.wg.Done()
		_, _ = io.Copy(to, ch)
		to.Close()
	}()
	go func() {
		defer f.wg.Done()
		_, _ = io.Copy(ch, to)
		ch.Close()
	}()
}

// shaped is a connection with the latency, rate and end that the test asked for.
type shaped struct {
	net.Conn
	f    *Fake
	sent atomic.Int64
}

// Read waits for the end of the server where the connection is frozen.
func (s *shaped) Read(b []byte) (int, error) {
	n, err := s.Conn.Read(b)
	if _, frozen := s.f.frozen.Load(s.Conn); frozen {
		<-s.f.done
		return 0, errFault
	}
	return n, err
}

func (s *shaped) Write(b []byte) (int, error) {
	if _, frozen := s.f.frozen.Load(s.Conn); frozen {
		return len(b), nil
	}
	if s.f.Latency > 0 {
		time.Sleep(s.f.Latency)
	}
	if s.f.Rate > 0 {
		time.Sleep(time.Duration(len(b)) * time.Second / time.Duration(s.f.Rate))
	}
	if d := s.f.DropAfter; d > 0 && s.sent.Load()+int64(len(b)) > d {
		n, _ := s.Conn.Write(b[:max(0, d-s.sent.Load())])
		reset(s.Conn)
		return n, errFault
	}
	n, err := s.Conn.Write(b)
	s.sent.Add(int64(n))
	return n, err
}
