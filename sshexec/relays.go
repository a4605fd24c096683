package sshexec

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"brine/internal/fleet"
	"brine/internal/roster"
	"brine/sshexec/relay"
)

// Relays.
//
// A target whose entry names a relay is dialled by an agent on that machine, and
// the controller speaks SSH with the target through it: keys stay here, host keys
// are checked here, and a relay can hold back what passes, but not make it up. A
// relay is a machine of the roster like others, with one connection for all
// targets behind it, and is kept until the end of the run.

// A carry dials an address from another machine.
type carry func(ctx context.Context, network, addr string) (net.Conn, error)

// relayHint is said of a target that its relay does not reach.
const relayHint = "see that the relay reaches it: the name is looked up there"

// carryHint is what to do where a relay does not make a connection.
func carryHint(err error) string {
	if _, ok := errors.AsType[*Error](err); ok {
		return "" // it says so itself
	}
	return relayHint
}

// relaying is what a machine has as a relay of others.
type relaying struct {
	mu       sync.Mutex
	conn     *relay.Conn
	held     bool  // the machine counts as used
	failed   error // why the last attempt failed, and when
	failedAt time.Time
}

// carrier returns what dials m from its relay; nil where it has none, or is
// reached directly since its relay is gone.
func (m *machine) carrier(ctx context.Context) (carry, error) {
	if m.e.Relay == "" {
		return nil, nil
	}
	via := m.e.Relay
	if _, err := m.p.relay(ctx, via); err != nil {
		other := m.e.RelayFallback
		if other == "" || ctx.Err() != nil {
			return nil, m.byRelay(via, err)
		}
		how := "by " + other
		if other == roster.Direct {
			how = "directly"
		}
		m.p.warnOnce(fmt.Sprintf("the relay %s cannot be used, so its targets are reached %s, as relay_fallback says: %v", via, how, err))
		if other == roster.Direct {
			return nil, nil
		}
		if _, err := m.p.relay(ctx, other); err != nil {
			return nil, m.byRelay(other, err)
		}
		via = other
	}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		r, err := m.p.relay(ctx, via)
		if err != nil {
			return nil, fmt.Errorf("by relay %w", err)
		}
		way, err := r.Dial(ctx, network, addr)
		if err != nil {
			return nil, fmt.Errorf("by relay %s: %w", via, err)
		}
		return way, nil
	}, nil
}

// byRelay words that a target cannot be reached since its relay cannot.
func (m *machine) byRelay(relay string, err error) error {
	if _, ok := errors.AsType[*Error](err); !ok {
		err = fmt.Errorf("%s: %w", relay, err)
	}
	return &Error{ID: m.e.ID, Addr: m.e.Host, Stage: Connect, Err: fmt.Errorf("by relay %w", err)}
}

// relay returns the channel to a relay, made where there is none. Those who wait
// meanwhile share the answer.
func (p *Provider) relay(ctx context.Context, id string) (*relay.Conn, error) {
	m := p.targets[id]
	if m == nil {
		return nil, errors.New("it is not in the roster")
	}
	r, came := &m.relaying, time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.conn != nil {
		select {
		case <-r.conn.Done():
			r.conn = nil
		default:
			return r.conn, nil
		}
	}
	select {
	case <-p.closing:
		return nil, errors.New("the run ends")
	default:
	}
	if r.failed != nil && (r.failedAt.After(came) || time.Since(r.failedAt) < failureHolds) {
		return nil, r.failed
	}
	conn, err := m.serveAsRelay(ctx)
	if err != nil {
		if ctx.Err() == nil {
			r.failed, r.failedAt = err, time.Now()
		}
		return nil, err
	}
	r.conn, r.failed = conn, nil
	if !r.held {
		r.held = true
		m.enter() // until the end of the run
	}
	return conn, nil
}

// serveAsRelay connects to a machine and starts its agent as a relay.
func (m *machine) serveAsRelay(ctx context.Context) (*relay.Conn, error) {
	m.dialing.Lock()
	defer m.dialing.Unlock()
	fleet.Enter(ctx, fleet.Connecting)
	c, err := m.dial(ctx)
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	conn, err := m.p.place.relay(ctx, c, m.e)
	if err != nil {
		return nil, err
	}
	m.p.s.Dialer.o.Log.Debug("relay started", "host", m.e.ID, "after", time.Since(begun).Round(time.Millisecond))
	return conn, nil
}

// endRelay closes the channel of a relay.
func (m *machine) endRelay() {
	m.relaying.mu.Lock()
	defer m.relaying.mu.Unlock()
	if m.relaying.conn != nil {
		_ = m.relaying.conn.Close()
		m.relaying.conn = nil
	}
}

// relay starts the agent of an entry as a relay, after placing it where it is not.
func (p *placer) relay(ctx context.Context, c *Client, e *roster.Entry) (*relay.Conn, error) {
	for try := 0; ; try++ {
		var conn *relay.Conn
		missing, err := p.start(ctx, c, e, "agent --relay", try == 0, func(ctx context.Context, s *stream) (err error) {
			conn, err = relay.Connect(ctx, s)
			return err
		})
		if err != nil || missing == nil {
			return conn, err
		}
		if err := p.provide(ctx, c, e, missing, try, false); err != nil {
			return nil, err
		}
	}
}
