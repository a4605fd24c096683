package sshexec

import (
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"time"

	"golang.org/x/crypto/ssh"
)

// A carrier is a connection to a host on which commands are started: brine's own, or
// that of an OpenSSH master.
type carrier interface {
	// run starts a command. What it says on stderr is written to stderr.
	run(r request, stderr io.Writer) (*session, error)
	// dial connects from the host to a port.
	dial(ctx context.Context, host string, port int) (net.Conn, error)
	// probe asks the host whether it is there and waits for the answer, or for the end
	// of the connection.
	probe() error
	Close() error
}

// A request is a command to start.
type request struct {
	line      string // for the shell of the account, or the name of a subsystem
	subsystem bool
	tty       bool
}

// A session is a command under way. wait returns its exit status, 128 after a signal,
// when it and its output have ended. It answers what the host asks in the meantime, so
// that somebody has to call it at once.
type session struct {
	stdin  io.WriteCloser
	stdout io.Reader
	wait   func() (status int, err error)
	close  func() error
}

// ownCarrier is a connection of brine's own.
type ownCarrier struct {
	ssh           *ssh.Client
	forwardsAgent bool // the ssh-agent, to what runs there
}

// newOwnCarrier makes a carrier of a connection. Somebody has to call wait, which returns when the
// connection has ended. One goroutine does so, where ssh.NewClient would have three: of
// thousands of connections their stacks are a tenth of the memory. A host that may use
// the ssh-agent opens channels for it, which the library knows how to take.
func newOwnCarrier(conn ssh.Conn, chans <-chan ssh.NewChannel, reqs <-chan *ssh.Request, lends bool) (o *ownCarrier, wait func()) {
	if lends {
		return &ownCarrier{ssh: ssh.NewClient(conn, chans, reqs), forwardsAgent: true}, func() { _ = conn.Wait() }
	}
	return &ownCarrier{ssh: &ssh.Client{Conn: conn}}, func() {
		refuse(chans, reqs)
		_ = conn.Wait() // until then a channel may be asked for that nobody ever answers
	}
}

// refuse says no to all that a host asks, until the connection ends. Keepalives are such
// questions: any answer will do.
func refuse(chans <-chan ssh.NewChannel, reqs <-chan *ssh.Request) {
	for chans != nil || reqs != nil {
		select {
		case ch, ok := <-chans:
			if !ok {
				chans = nil
				continue
			}
			_ = ch.Reject(ssh.UnknownChannelType, "brine opens channels, and takes none")
		case r, ok := <-reqs:
			if !ok {
				reqs = nil
				continue
			}
			if r.WantReply {
				_ = r.Reply(false, nil)
			}
		}
	}
}

func (o *ownCarrier) Close() error { return o.ssh.Close() }

func (o *ownCarrier) dial(ctx context.Context, host string, port int) (net.Conn, error) {
	return o.ssh.DialContext(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
}

func (o *ownCarrier) probe() error {
	_, _, err := o.ssh.SendRequest("keepalive@openssh.com", true, nil)
	return err
}

// sessionPauses are the pauses before a session that the host refused is asked for again:
// where it allows few (MaxSessions), one that has just ended still counts for a moment.
var sessionPauses = [...]time.Duration{50 * time.Millisecond, 150 * time.Millisecond, 400 * time.Millisecond, time.Second}

// openSession opens the channel of a session with what opens channels.
func openSession(open func(kind string, data []byte) (ssh.Channel, <-chan *ssh.Request, error)) (ssh.Channel, <-chan *ssh.Request, error) {
	for _, pause := range sessionPauses {
		ch, reqs, err := open("session", nil)
		if _, refused := errors.AsType[*ssh.OpenChannelError](err); !refused {
			return ch, reqs, err
		}
		time.Sleep(pause)
	}
	return open("session", nil)
}

// begin starts the command of a request on the channel of a session.
func (r request) begin(ch ssh.Channel) error {
	kind := "exec"
	if r.subsystem {
		kind = "subsystem"
	}
	ok, err := ch.SendRequest(kind, true, ssh.Marshal(struct{ Text string }{r.line}))
	if err == nil && !ok {
		err = errors.New("the host does not start the command")
	}
	return err
}

// terminal asks for a terminal that passes bytes as they are.
func terminal(ch ssh.Channel) error {
	modes := make([]byte, 0, 5*20)
	for _, off := range []byte{
		ssh.ECHO, ssh.ECHONL, ssh.ICANON, ssh.ISIG, ssh.IEXTEN, ssh.OPOST, ssh.ONLCR, ssh.OCRNL,
		ssh.ICRNL, ssh.INLCR, ssh.IGNCR, ssh.IXON, ssh.IXOFF, ssh.ISTRIP, ssh.PARENB,
	} {
		modes = append(modes, off, 0, 0, 0, 0)
	}
	modes = append(modes, ssh.CS8, 0, 0, 0, 1, 0) // the last one ends the list
	ok, err := ch.SendRequest("pty-req", true, ssh.Marshal(struct {
		Term                         string
		Columns, Rows, Width, Height uint32
		Modes                        string
	}{"dumb", 80, 24, 640, 192, string(modes)}))
	if err == nil && !ok {
		err = errors.New("the host gives no terminal")
	}
	return err
}

// killedStatus is the status of a command that a signal ended.
const killedStatus = 128

// exitOf serves what a host asks about a channel until it is closed, and returns the exit
// status of the command, which is not known where the host did not say it.
func exitOf(reqs <-chan *ssh.Request) (status int, known bool) {
	for r := range reqs {
		switch r.Type {
		case "exit-status":
			var m struct{ Status uint32 }
			if ssh.Unmarshal(r.Payload, &m) == nil {
				status, known = int(m.Status), true
			}
		case "exit-signal":
			status, known = killedStatus, true
		}
		if r.WantReply { // such as a keepalive
			_ = r.Reply(false, nil) // the channel is closing if it fails
		}
	}
	return status, known
}

// A channelInput is what a command reads: its end is not the end of the channel.
type channelInput struct{ ssh.Channel }

func (c channelInput) Close() error { return c.CloseWrite() }

func (o *ownCarrier) run(r request, stderr io.Writer) (*session, error) {
	ch, reqs, err := openSession(o.ssh.OpenChannel)
	if err != nil {
		return nil, err
	}
	s := &session{stdin: channelInput{ch}, stdout: ch, close: ch.Close}
	if o.forwardsAgent && !r.subsystem {
		// A server that does not want it says no, and is worked on all the same.
		_, err = ch.SendRequest("auth-agent-req@openssh.com", true, nil)
	}
	if err == nil && r.tty {
		err = terminal(ch)
	}
	if err == nil {
		err = r.begin(ch)
	}
	if err != nil {
		_ = ch.Close()
		go ssh.DiscardRequests(reqs)
		return nil, err
	}
	if r.subsystem {
		go ssh.DiscardRequests(reqs)
		s.wait = func() (int, error) { return 0, errors.New("a subsystem is not waited for") }
		return s, nil
	}
	said := make(chan struct{})
	go func() {
		_, _ = io.Copy(stderr, ch.Stderr())
		close(said)
	}()
	s.wait = func() (int, error) {
		status, known := exitOf(reqs)
		<-said
		if !known {
			return 0, errors.New("the host closed the session without the exit status of its command")
		}
		return status, nil
	}
	return s, nil
}
