package sshexec

import (
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
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
// when it and its output have ended.
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

func (o *ownCarrier) Close() error { return o.ssh.Close() }

func (o *ownCarrier) dial(ctx context.Context, host string, port int) (net.Conn, error) {
	return o.ssh.DialContext(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
}

func (o *ownCarrier) probe() error {
	_, _, err := o.ssh.SendRequest("keepalive@openssh.com", true, nil)
	return err
}

// ttyModes make a terminal pass bytes as they are.
func ttyModes() ssh.TerminalModes {
	return ssh.TerminalModes{
		ssh.ECHO: 0, ssh.ECHONL: 0, ssh.ICANON: 0, ssh.ISIG: 0, ssh.IEXTEN: 0, ssh.OPOST: 0, ssh.ONLCR: 0, ssh.OCRNL: 0,
		ssh.ICRNL: 0, ssh.INLCR: 0, ssh.IGNCR: 0, ssh.IXON: 0, ssh.IXOFF: 0, ssh.ISTRIP: 0, ssh.CS8: 1, ssh.PARENB: 0,
	}
}

// sessionPauses are the pauses before a session that the host refused is asked for again:
// where it allows few (MaxSessions), one that has just ended still counts for a moment.
var sessionPauses = [...]time.Duration{50 * time.Millisecond, 150 * time.Millisecond, 400 * time.Millisecond, time.Second}

// open opens a session.
func (o *ownCarrier) open() (*ssh.Session, error) {
	for _, pause := range sessionPauses {
		sess, err := o.ssh.NewSession()
		if _, refused := errors.AsType[*ssh.OpenChannelError](err); !refused {
			return sess, err
		}
		time.Sleep(pause)
	}
	return o.ssh.NewSession()
}

func (o *ownCarrier) run(r request, stderr io.Writer) (*session, error) {
	sess, err := o.open()
	if err != nil {
		return nil, err
	}
	s := &session{wait: func() (int, error) { return exitOf(sess.Wait()) }, close: sess.Close}
	if s.stdin, err = sess.StdinPipe(); err == nil {
		s.stdout, err = sess.StdoutPipe()
	}
	sess.Stderr = stderr
	if err == nil && o.forwardsAgent && !r.subsystem {
		// A server that does not want it says no, and is worked on all the same.
		_ = agent.RequestAgentForwarding(sess)
	}
	if err == nil && r.tty {
		err = sess.RequestPty("dumb", 24, 80, ttyModes())
	}
	switch {
	case err != nil:
	case r.subsystem:
		if err = sess.RequestSubsystem(r.line); err == nil {
			// The library waits for what it started itself alone.
			s.wait = func() (int, error) { return 0, errors.New("a subsystem is not waited for") }
		}
	default:
		err = sess.Start(r.line)
	}
	if err != nil {
		_ = sess.Close()
		return nil, err
	}
	return s, nil
}

// exitOf returns the exit status of a session that has ended.
func exitOf(err error) (int, error) {
	var exit *ssh.ExitError
	switch {
	case err == nil:
		return 0, nil
	case !errors.As(err, &exit):
		return 0, err
	case exit.Signal() != "":
		return 128, nil
	}
	return exit.ExitStatus(), nil
}
