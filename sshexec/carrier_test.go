package sshexec

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// ownPair returns a carrier over a connection, the other end of the connection, and what
// is closed when the carrier has seen the end.
func ownPair(t *testing.T) (*ownCarrier, *ssh.ServerConn, <-chan ssh.NewChannel, <-chan struct{}) {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	conf := &ssh.ServerConfig{NoClientAuth: true}
	conf.AddHostKey(signer)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	type served struct {
		conn  *ssh.ServerConn
		chans <-chan ssh.NewChannel
		err   error
	}
	done := make(chan served, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			done <- served{err: err}
			return
		}
		conn, chans, reqs, err := ssh.NewServerConn(c, conf)
		if err == nil {
			go ssh.DiscardRequests(reqs)
		}
		done <- served{conn, chans, err}
	}()
	way, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	conn, chans, reqs, err := ssh.NewClientConn(way, "host", &ssh.ClientConfig{HostKeyCallback: ssh.FixedHostKey(signer.PublicKey())})
	if err != nil {
		t.Fatal(err)
	}
	own, wait := newOwnCarrier(conn, chans, reqs, false)
	ended := make(chan struct{})
	go func() {
		wait()
		close(ended)
	}()
	s := <-done
	if s.err != nil {
		t.Fatal(s.err)
	}
	t.Cleanup(func() {
		_ = own.Close()
		_ = s.conn.Close()
	})
	return own, s.conn, s.chans, ended
}

// TestHostileChannels: a host opens no channel to who works on it, and is answered.
func TestHostileChannels(t *testing.T) {
	t.Parallel()
	own, host, _, ended := ownPair(t)
	for _, kind := range []string{"forwarded-tcpip", "auth-agent@openssh.com", "x11", "session"} {
		_, _, err := host.OpenChannel(kind, nil)
		if e, ok := errors.AsType[*ssh.OpenChannelError](err); !ok || e.Reason != ssh.UnknownChannelType {
			t.Errorf("a channel %s: %v", kind, err)
		}
	}
	for range 100 { // more than a connection buffers
		if ok, _, err := host.SendRequest("keepalive@openssh.com", true, nil); ok || err != nil {
			t.Fatalf("a keepalive: %v, %v", ok, err)
		}
	}
	_ = host.Close()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("the end of the connection was not seen")
	}
	if _, err := own.run(request{line: "true"}, io.Discard); err == nil {
		t.Error("a command starts on a connection that has ended")
	}
}

// TestOwnSession has commands end in each way that there is.
func TestOwnSession(t *testing.T) {
	t.Parallel()
	own, _, chans, _ := ownPair(t)
	type end struct {
		kind    string
		payload []byte
	}
	status := func(n uint32) []byte { return ssh.Marshal(struct{ Status uint32 }{n}) }
	for name, tt := range map[string]struct {
		ends   []end
		status int
		fails  bool
	}{
		"a status":        {ends: []end{{"exit-status", status(3)}}, status: 3},
		"good":            {ends: []end{{"exit-status", status(0)}}},
		"a signal":        {ends: []end{{"exit-signal", ssh.Marshal(struct{ A string }{"TERM"})}}, status: killedStatus},
		"nothing":         {fails: true},
		"a short status":  {ends: []end{{"exit-status", []byte{0, 0}}}, fails: true},
		"other questions": {ends: []end{{"keepalive@openssh.com", nil}, {"exit-status", status(7)}, {"eow@openssh.com", nil}}, status: 7},
	} {
		for _, tty := range []bool{false, true} {
			asked := make(chan string, 10)
			go func() {
				defer close(asked)
				ch, reqs, err := (<-chans).Accept()
				if err != nil {
					return
				}
				for r := range reqs {
					asked <- r.Type
					_ = r.Reply(true, nil)
					if r.Type == "exec" {
						break
					}
				}
				go ssh.DiscardRequests(reqs)
				text, _ := io.ReadAll(ch)
				_, _ = ch.Write(text)
				_, _ = ch.Stderr().Write([]byte("a complaint"))
				for _, e := range tt.ends {
					_, _ = ch.SendRequest(e.kind, e.kind[0] == 'k', e.payload)
				}
				_ = ch.Close()
			}()
			var stderr bytes.Buffer
			s, err := own.run(request{line: "cat", tty: tty}, &stderr)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			type exit struct {
				status int
				err    error
			}
			waited := make(chan exit, 1)
			go func() {
				status, err := s.wait()
				waited <- exit{status, err}
			}()
			_, _ = io.WriteString(s.stdin, "words")
			if err := s.stdin.Close(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			out, err := io.ReadAll(s.stdout)
			if string(out) != "words" || err != nil {
				t.Errorf("%s: stdout %q, %v", name, out, err)
			}
			if got := <-waited; got.status != tt.status || (got.err != nil) != tt.fails || stderr.String() != "a complaint" {
				t.Errorf("%s: status %d, %v, stderr %q", name, got.status, got.err, stderr.String())
			}
			var kinds []string
			for k := range asked {
				kinds = append(kinds, k)
			}
			if !tty && len(kinds) != 1 || tty && (len(kinds) != 2 || kinds[0] != "pty-req") {
				t.Errorf("%s, a terminal %v: asked %v", name, tty, kinds)
			}
		}
	}
	// A host that does not start the command.
	go func() {
		if ch, reqs, err := (<-chans).Accept(); err == nil {
			r := <-reqs
			_ = r.Reply(false, nil)
			go ssh.DiscardRequests(reqs)
			_ = ch.Close()
		}
	}()
	if _, err := own.run(request{line: "cat"}, io.Discard); err == nil || err.Error() != "the host does not start the command" {
		t.Errorf("a command that is refused: %v", err)
	}
}
