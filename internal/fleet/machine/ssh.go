package machine

import (
	"context"
	"math"
	"net"
	"sync"

	"golang.org/x/crypto/ssh"

	"brine/internal/core/host"
)

// ServeSSH serves SSH on l: each command that a client runs is run in the machine as root,
// without a terminal. No sshd and no network is needed for it. It returns when l is closed
// or ctx ends, after all connections have ended.
func (m *Machine) ServeSSH(ctx context.Context, l net.Listener, config *ssh.ServerConfig) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{m: m, config: config}
	defer s.serving.Wait()
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	for {
		conn, err := l.Accept()
		if err != nil {
			cancel()
			return
		}
		s.serving.Go(func() { s.connection(ctx, conn) })
	}
}

// A server is the SSH server of one machine.
type server struct {
	m       *Machine
	config  *ssh.ServerConfig
	serving sync.WaitGroup
}

// connection serves one client.
func (s *server) connection(ctx context.Context, raw net.Conn) {
	defer context.AfterFunc(ctx, func() { _ = raw.Close() })()
	conn, channels, requests, err := ssh.NewServerConn(raw, s.config)
	if err != nil {
		_ = raw.Close()
		return
	}
	defer conn.Close()
	go ssh.DiscardRequests(requests)
	for c := range channels {
		if c.ChannelType() != "session" {
			_ = c.Reject(ssh.UnknownChannelType, "only sessions are served")
			continue
		}
		ch, requests, err := c.Accept()
		if err != nil {
			return
		}
		s.serving.Go(func() { s.session(ctx, ch, requests) })
	}
}

// session runs the command of one session. The command ends with its channel.
func (s *server) session(ctx context.Context, ch ssh.Channel, requests <-chan *ssh.Request) {
	defer ch.Close()
	for r := range requests {
		var exec struct{ Command string }
		if r.Type != "exec" || ssh.Unmarshal(r.Payload, &exec) != nil {
			_ = r.Reply(false, nil)
			continue
		}
		_ = r.Reply(true, nil)
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		go func() {
			ssh.DiscardRequests(requests)
			cancel()
		}()
		status := s.run(ctx, ch, exec.Command)
		_, _ = ch.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{status}))
		return
	}
}

// failedToRun is the exit status of a command that could not be run, as shells have it.
const failedToRun = 126

func (s *server) run(ctx context.Context, ch ssh.Channel, command string) uint32 {
	out, err := s.m.Run(ctx, host.Cmd{
		Argv: []string{"/bin/sh", "-c", command}, Stdin: ch, Stdout: ch, Stderr: ch.Stderr(), MaxOutput: math.MaxInt64,
	})
	switch {
	case err != nil:
		return failedToRun
	case out.Status < 0: // a signal
		return uint32(128 - out.Status)
	}
	return uint32(out.Status)
}
