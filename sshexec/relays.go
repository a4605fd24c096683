package sshexec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"brine/internal/core/roster"
	"brine/internal/fleet"
	"brine/sshexec/relay"
	"brine/sshexec/wire"
)

// Relays.
//
// A target whose entry names a relay is dialled by an agent on that machine, and
// the controller speaks SSH with the target through it: keys stay here, host keys
// are checked here, and a relay can hold back what passes, but not make it up. A
// relay is a machine of the roster like others, with one connection for all
// targets behind it, and is kept until the end of the run.

// A carry dials an address from another machine, the relay by.
type carry struct {
	by   string
	dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// relayHint is said of a target that its relay does not reach.
const relayHint = "check that the relay reaches it: the name is looked up there"

// carryHint is what to do where a relay does not make a connection.
func carryHint(err error) string {
	if _, ok := errors.AsType[*Error](err); ok {
		return "" // it says so itself
	}
	return relayHint
}

// relaying is what a machine has as a relay of others.
type relaying struct {
	mu          sync.Mutex
	conn        *relay.Conn
	behind      atomic.Int32 // machines of the run that name it as relay, or fallback
	held        bool         // the machine counts as used
	failed      error        // why the last attempt failed, and when
	failedAt    time.Time
	relayFailed atomic.Bool // the agent did not arrive by the machine's own relay
}

// carrier returns what dials m from its relay; nil where it has none, or is
// reached directly since its relay is gone.
func (m *machine) carrier(ctx context.Context) (*carry, error) {
	m.via, m.carriedBy = "", nil
	if m.e.Relay == "" || m.e.Err != nil {
		return nil, nil // what is wrong with the entry is said when it is dialled
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
	m.via = via
	return &carry{via, func(ctx context.Context, network, addr string) (net.Conn, error) {
		r, err := m.p.relay(ctx, via)
		if err != nil {
			return nil, fmt.Errorf("by relay %w", err)
		}
		m.carriedBy = r
		way, err := r.Dial(ctx, network, addr)
		if err != nil {
			return nil, notCarried(via, err)
		}
		return way, nil
	}}, nil
}

// notCarried words that a relay did not make a connection. What it says of that is
// its own word.
func notCarried(relayID string, err error) error {
	if said, ok := errors.AsType[*relay.ReportedError](err); ok {
		return fmt.Errorf("by relay %s, which says: %s", relayID, oneLine(said.Text))
	}
	return fmt.Errorf("by relay %s: %w", relayID, err)
}

// relayEnded reports whether an agent that did not answer was reached by a relay that
// is gone, which may show a moment later: it can be started by another one.
func (m *machine) relayEnded(ctx context.Context, err error) bool {
	if _, silent := errors.AsType[*wire.NoHelloError](err); m.carriedBy == nil || !silent && !errors.Is(err, io.EOF) && !errors.Is(err, errDropped) {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	select {
	case <-m.carriedBy.Done():
		return true
	case <-ctx.Done():
		return false
	}
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
	m := p.machine(id)
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
	before := m.client
	c, err := m.dial(ctx)
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	c.keeps = true
	conn, err := m.p.place.relay(ctx, c, m.e)
	if err != nil && c == before && endsSoon(ctx, c) { // it had ended, and that was not known yet
		if c, err = m.dial(ctx); err != nil {
			return nil, err
		}
		c.keeps = true
		conn, err = m.p.place.relay(ctx, c, m.e)
	}
	if err != nil {
		return nil, err
	}
	m.p.s.Dialer.o.Log.Debug("relay started", "host", m.e.ID, "after", time.Since(begun).Round(time.Millisecond))
	return conn, nil
}

// endsSoon reports whether a connection on which something failed is over, which
// may show a moment later.
func endsSoon(ctx context.Context, c *Client) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	select {
	case <-c.Done():
		return true
	case <-ctx.Done():
		return false
	}
}

// dropHeld has the relays let a file go, by the hash of what was sealed.
func (p *Provider) dropHeld(sum string) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	for _, id := range p.known() {
		r := &p.machine(id).relaying
		r.mu.Lock()
		conn := r.conn
		r.mu.Unlock()
		if conn != nil {
			_ = conn.Drop(ctx, sum) // what is not dropped takes room there until the end
		}
	}
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

// A sharer opens another connection to a host, into which the relay on the way puts
// what has the hash sum, and which open returns.
type sharer func(ctx context.Context, sum string, open func() ([]byte, error)) (*Client, error)

// sharer returns what a push to m goes by; nil: by the connection there is. The
// relay can read what is sent by a sharer, so there is none where a password is.
func (m *machine) sharer() sharer {
	via := m.via
	if via == "" || m.e.Passwd.IsSet() || m.e.TTY || m.relaying.relayFailed.Load() {
		return nil
	}
	return func(ctx context.Context, sum string, open func() ([]byte, error)) (*Client, error) {
		r, err := m.p.relay(ctx, via)
		if err != nil {
			return nil, err
		}
		file, err := m.p.place.parcels.get(sum, open)
		if err != nil {
			return nil, err
		}
		if err := r.Put(ctx, sum, file); err != nil {
			return nil, err
		}
		c, err := m.p.s.Dialer.dialShared(ctx, m.e, &carry{via, func(ctx context.Context, network, addr string) (net.Conn, error) {
			way, err := r.DialShared(ctx, network, addr)
			if err != nil {
				return nil, notCarried(via, err)
			}
			return &tap{Shared: way, file: file, sum: sum}, nil
		}})
		if err == nil {
			c.onStall = func() { m.relaying.relayFailed.Store(true) }
		}
		return c, err
	}
}

// dialShared dials for a tap: by a key alone, and with what a tap can follow.
func (d *Dialer) dialShared(ctx context.Context, e *roster.Entry, by *carry) (*Client, error) {
	t, err := d.dest(ctx, e)
	if err != nil {
		return nil, err
	}
	for _, l := range []struct {
		name string
		list *[]string
	}{{tapKex, &t.kexes}, {tapCipher, &t.ciphers}, {tapMAC, &t.macs}} {
		if *l.list != nil && !slices.Contains(*l.list, l.name) {
			return nil, fmt.Errorf("ssh_config does not allow %s", l.name)
		}
		*l.list = []string{l.name}
	}
	if !slices.Contains(t.methods, "publickey") {
		return nil, errors.New("no key may be used")
	}
	t.methods, t.forward, t.batch, t.carry = []string{"publickey"}, "", true, by
	t.passwd = roster.Secret{}
	c, err := d.dial(ctx, t, nil, nil)
	if err == nil && c.doubt != nil {
		_ = c.Close()
		return nil, c.doubt
	}
	return c, err
}

// parcels are files as they are sent, in memory for those who share them.
type parcels struct {
	mu  sync.Mutex
	all map[string][]byte // by hash
}

func (p *parcels) get(sum string, open func() ([]byte, error)) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b := p.all[sum]; b != nil {
		return b, nil
	}
	b, err := open()
	if err != nil {
		return nil, err
	}
	if p.all == nil {
		p.all = map[string][]byte{}
	}
	p.all[sum] = b
	return b, nil
}

// shared returns the connection to push x by: one of its own where a relay on the
// way can put the file in.
func (p *placer) shared(ctx context.Context, x *sending, way string) *Client {
	if x.c.share == nil || way == "sftp" {
		return x.c
	}
	c, err := p.share(ctx, x, way)
	if x.log != nil {
		if err != nil {
			x.log.Info("agent not sent by its relay", "host", x.c.ID, "since", err)
		} else {
			x.log.Debug("agent sent by its relay", "host", x.c.ID)
		}
	}
	if err != nil {
		return x.c
	}
	return c
}

func (p *placer) share(ctx context.Context, x *sending, way string) (*Client, error) {
	body, size, sum, err := p.images.stream(x.img, way)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return x.c.share(ctx, sum, func() ([]byte, error) {
		b := make([]byte, size)
		_, err := io.ReadFull(body, b)
		return b, err
	})
}
