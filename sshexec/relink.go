package sshexec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/roster"
	"brine/internal/fleet"
	"brine/internal/fleet/jobs"
	"brine/sshexec/wire"
)

var (
	_ fleet.Holder = (*Provider)(nil)
	_ fleet.Leaver = (*Provider)(nil)
)

// relinker returns what makes another way to an agent that was started over c,
// when that connection broke.
func (m *machine) relinker(c *Client) func(ctx context.Context, token string) (io.ReadWriteCloser, error) {
	if m.p.place.opts.Reconnect <= 0 {
		return nil
	}
	return func(ctx context.Context, token string) (io.ReadWriteCloser, error) {
		if m.downs.Load() > 0 {
			return nil, fmt.Errorf("%w: the machine was asked to go down", wire.ErrUnknownChannel)
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		go func() {
			select {
			case <-m.p.closing:
				cancel()
			case <-ctx.Done():
			}
		}()
		// The token comes from the target, and becomes part of a script.
		if token == "" || strings.Trim(token, "0123456789abcdef") != "" {
			return nil, fmt.Errorf("%w: the agent named none by which it is found again", wire.ErrUnknownChannel)
		}
		next, err := m.redial(ctx, c)
		if err != nil {
			return nil, err
		}
		if next.doubt != nil && c.doubt == nil {
			// The pillar goes on over the new connection, without another question.
			return nil, fmt.Errorf("%w: another host may answer in its place: %w", wire.ErrUnknownChannel, next.doubt)
		}
		c = next
		return m.p.place.resume(ctx, next, m.e, token)
	}
}

// redial makes a connection in the place of one that broke.
func (m *machine) redial(ctx context.Context, old *Client) (*Client, error) {
	m.dialing.Lock()
	defer m.dialing.Unlock()
	_ = old.Close()
	old.giveUpMaster(net.ErrClosed)
	if m.client != nil && m.client != old {
		select {
		case <-m.client.Done():
		default:
			return m.client.heir(old), nil
		}
	}
	c, err := m.reach(ctx)
	if err != nil {
		return nil, err
	}
	m.client, m.failed = c, nil
	return c.heir(old), nil
}

// heir makes a connection the one of an agent that was started over old.
func (c *Client) heir(old *Client) *Client {
	c.relink, c.exe = old.relink, old.exe
	c.bare.Store(old.bare.Load())
	return c
}

// fetch returns what a machine knows of a call whose agent was not found again,
// in the place of the return that says so.
func (m *machine) fetch(ctx context.Context, job fun.Job, lost fun.Return) fun.Return {
	if !errors.Is(lost.Err, wire.ErrUnknownChannel) || m.downs.Load() > 0 || ctx.Err() != nil {
		return lost
	}
	conn, err := m.connect(ctx)
	if err != nil {
		return lost
	}
	l, err := conn.Left(ctx, job.JID)
	switch {
	case err != nil:
		return lost
	case l.State == jobs.LeftRunning:
		lost.Away = true
	case l.State == jobs.LeftReturn:
		conn.Replay(l.Doc)
		_ = conn.Forget(ctx, job.JID) // what is not removed now is removed when it is old
		if ret := returnOf(l); ret.Stage == fun.Returned {
			return ret
		}
	}
	return lost
}

// Leave has a machine go on with a job that is given up, and keep its return. It
// reports whether it will: not where agents end with their connection.
func (p *Provider) Leave(id, jid string) bool {
	m := p.machine(id)
	if m == nil || p.s.Wipe || p.s.Link.Reconnect <= 0 || m.e.TTY {
		return false
	}
	conn := m.open()
	return conn != nil && conn.Leave(jid) == nil
}

// Held tells why nothing can be said of a machine that does not answer whether it
// works: its connection is being made again, or is silent and not known to be
// dead, or has so much to carry that the answer takes its time. A machine that
// answers while its agent does not is not held.
func (p *Provider) Held(id string) (why string, held bool) {
	m := p.machine(id)
	if m == nil {
		return "", false
	}
	if !m.dialing.TryLock() {
		return "it is being connected to", true
	}
	client, conn, asked := m.client, m.agent, m.asked
	m.dialing.Unlock()
	if client == nil || conn == nil {
		return "", false
	}
	switch {
	case conn.Broken() != nil:
		return fmt.Sprintf("its connection broke (%v) and is being made again", conn.Broken()), true
	case conn.Err() != nil:
		return "", false
	case conn.ReceivedSince(asked):
		return "its connection is slow", true
	case !client.pulse.receivedSince(asked):
		return "its connection is silent, and not known to be dead", true
	}
	return "", false
}

// resume starts the command that connects a channel to a running agent.
func (p *placer) resume(ctx context.Context, c *Client, e *roster.Entry, token string) (*stream, error) {
	ctx, cancel := context.WithTimeout(ctx, responseTimeout(e))
	defer cancel()
	command := "agent --resume " + token
	if c.bare.Load() {
		return c.open(ctx, c.exe+" "+command, false, 0)
	}
	return c.start(ctx, p.startLaunch(e, "brine-need-"+token, command, false))
}
