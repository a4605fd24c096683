// Package relay carries connections of a controller to targets that an agent
// reaches and the controller does not, or not well.
//
// [Serve] is the end at the agent: it dials addresses and copies bytes. [Connect]
// is the controller's end; [Conn.Dial] returns a connection for SSH to run over.
// The SSH of a target is spoken by the controller itself, through the relay: a
// relay sees what any router sees, and holds no key, no password and no pillar.
// What the relay says is bounded by the channel (sshexec/wire), and can end the
// connections that it carries, no others.
package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"

	"brine/internal/py/value"
	"brine/sshexec/wire"
)

// maxTunnels is how many connections a relay carries at once.
const maxTunnels = 16384

// dialTimeout bounds the dials of a controller that sets no time itself.
const dialTimeout = 5 * time.Minute

// The requests of a controller.
const (
	methodDial = "relay.dial"
	methodHas  = "relay.has"
	methodPut  = "relay.put"
	methodDrop = "relay.drop"
)

// hello is what a relay says of itself, so that no agent of another kind is taken
// for one.
const hello = "brine relay"

// Serve relays connections for the controller at the other end of rw until the
// controller closes the channel, or ctx ends. Files that it receives are kept
// in dir; if that is "", they are not kept.
func Serve(ctx context.Context, rw io.ReadWriteCloser, dir string) error {
	return (&server{&store{dir: dir}}).serve(ctx, rw)
}

type server struct{ files *store }

func (r *server) serve(ctx context.Context, rw io.ReadWriteCloser) error {
	defer r.files.close()
	m, err := wire.Greet(ctx, rw, wire.Options{Role: wire.Agent, Hello: value.MapOf("is", hello), Streams: maxTunnels, Handle: r.handle})
	if err != nil {
		return err
	}
	select {
	case <-m.Done():
	case <-ctx.Done():
		_ = m.Close() // who sent the signal wants the end, not its reason
	}
	m.Wait()
	if err := m.Err(); !errors.Is(err, wire.ErrEnded) && !errors.Is(err, wire.ErrClosed) {
		return err
	}
	return nil
}

func (r *server) handle(ctx context.Context, s *wire.Stream) error {
	switch s.Method() {
	case methodDial:
		return r.dial(ctx, s)
	case methodHas:
		sum, _ := s.Head().At("sum").(string)
		return s.Answer(r.files.get(sum) != nil)
	case methodPut:
		return r.files.put(s)
	case methodDrop:
		sum, _ := s.Head().At("sum").(string)
		r.files.drop(sum)
		return s.Answer(true)
	default:
		return wire.Refusef("%q is not a request to a relay", s.Method())
	}
}

// dial carries one connection: a byte says that it was made, then come the bytes
// of both ends.
func (r *server) dial(ctx context.Context, s *wire.Stream) error {
	network, _ := s.Head().At("network").(string)
	addr, _ := s.Head().At("addr").(string)
	switch network {
	case "tcp", "tcp4", "tcp6":
	default:
		return wire.Refusef("%q is not a network that a relay dials", network)
	}
	d := net.Dialer{Timeout: dialTimeout}
	c, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return plain(err)
	}
	var once sync.Once
	end := func() { once.Do(func() { _ = c.Close() }) } // its end is what matters
	defer end()
	defer context.AfterFunc(ctx, end)()
	if _, err := s.Write([]byte{1}); err != nil {
		return err
	}
	up := make(chan error, 1)
	go func() {
		var err error
		if s.Head().At("shared") == true {
			err = r.files.pieces(c, s)
		} else {
			_, err = io.Copy(onlyWriter{c}, s)
		}
		if tcp, ok := c.(*net.TCPConn); ok && err == nil {
			err = tcp.CloseWrite()
		}
		up <- err
		if err != nil {
			end()
		}
	}()
	_, err = io.CopyBuffer(onlyWriter{s}, onlyReader{c}, make([]byte, copySize))
	if errors.Is(err, net.ErrClosed) {
		select {
		case err = <-up: // what closed it
		default:
		}
	}
	if err != nil {
		return plain(err)
	}
	return nil // and the other direction ends with the stream
}

// copySize is how much of a target is passed on at once.
const copySize = 16 << 10

// These keep io.Copy from a way of its own, which would hold more memory.
type (
	onlyReader struct{ io.Reader }
	onlyWriter struct{ io.Writer }
)

// plain takes the addresses out of an error of the network, which the controller
// names already.
func plain(err error) error {
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return fmt.Errorf("lookup %s: %s", dns.Name, dns.Err)
	}
	if no, ok := errors.AsType[syscall.Errno](err); ok {
		return no
	}
	return err
}

// ErrBroken is the error of a connection that the relay, or the end of the
// channel to it, has ended.
var ErrBroken = errors.New("the connection through the relay ended")

// A ReportedError is why a relay did not do what it was asked for, in its own words.
// Nobody can check them, so that they are never taken for a finding of this program.
type ReportedError struct{ Text string }

func (e *ReportedError) Error() string { return "the relay says: " + e.Text }

// maxReported bounds what a relay says, in bytes.
const maxReported = 300

// reported turns an error that a relay sent into a ReportedError.
func reported(err error) error {
	if said, ok := errors.AsType[*wire.RemoteError](err); ok {
		text := strings.ToValidUTF8(said.Text[:min(len(said.Text), maxReported)], "")
		if len(text) < len(said.Text) {
			text += "..."
		}
		return &ReportedError{text}
	}
	return err
}

// stallTimeout is how long a relay may take nothing of a file that it is sent, or
// not answer a question about one.
const stallTimeout = 2 * time.Minute

// A Conn is the controller's end of the channel to a relay. It is safe for
// concurrent use.
type Conn struct {
	m     *wire.Mux
	stall time.Duration

	putting chan struct{}   // has room for one: who sends a file, and guards has and stalled
	has     map[string]bool // files that the relay has
	stalled error           // why it is sent no more files
}

// Connect exchanges hellos with the relay at the other end of rw. If ctx ends
// first, it closes rw. If something else answers, the error is a
// *wire.NoHelloError.
func Connect(ctx context.Context, rw io.ReadWriteCloser) (*Conn, error) {
	m, err := wire.Greet(ctx, rw, wire.Options{Role: wire.Controller, Noise: wire.DefaultNoise, Hello: value.MapOf("is", "brine")})
	if err != nil {
		return nil, err
	}
	if m.Peer().At("is") != hello {
		_ = m.Close()
		return nil, errors.New("what answers is not a relay")
	}
	return &Conn{m: m, stall: stallTimeout, putting: make(chan struct{}, 1), has: map[string]bool{}}, nil
}

// Done is closed when the channel has ended.
func (c *Conn) Done() <-chan struct{} { return c.m.Done() }

// Err returns why the channel ended; nil while it lives.
func (c *Conn) Err() error { return c.m.Err() }

// Close ends the channel and all connections through it.
func (c *Conn) Close() error { return c.m.Close() }

// Dial has the relay connect to an address, which it looks up itself. network is
// tcp, tcp4 or tcp6.
func (c *Conn) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	return c.dial(ctx, value.MapOf("network", network, "addr", addr))
}

func (c *Conn) dial(ctx context.Context, head *value.Map) (net.Conn, error) {
	s, err := c.m.Open(context.WithoutCancel(ctx), methodDial, head, true)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	var made [1]byte
	_, err = io.ReadFull(s, made[:])
	if !stop() && ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = s.Close()
		if errors.Is(err, io.EOF) {
			err = ErrBroken
		}
		return nil, reported(err)
	}
	if made[0] != 1 {
		_ = s.Close()
		return nil, fmt.Errorf("the relay broke the protocol: it answers %d", made[0])
	}
	addr, _ := head.At("addr").(string)
	return &tunnel{s: s, addr: tunnelAddr(addr)}, nil
}

// tunnel is a connection through a relay.
type tunnel struct {
	s    *wire.Stream
	addr tunnelAddr
}

type tunnelAddr string

func (tunnelAddr) Network() string  { return "relay" }
func (a tunnelAddr) String() string { return string(a) }

func (t *tunnel) Read(b []byte) (int, error) {
	n, err := t.s.Read(b)
	return n, broken(err)
}

func (t *tunnel) Write(b []byte) (int, error) {
	n, err := t.s.Write(b)
	return n, broken(err)
}

// broken marks what ended a connection but the end of the target's bytes.
func broken(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrBroken, reported(err))
}

func (t *tunnel) Close() error                     { return t.s.Close() }
func (t *tunnel) LocalAddr() net.Addr              { return tunnelAddr("local") }
func (t *tunnel) RemoteAddr() net.Addr             { return t.addr }
func (t *tunnel) SetDeadline(time.Time) error      { return nil }
func (t *tunnel) SetReadDeadline(time.Time) error  { return nil }
func (t *tunnel) SetWriteDeadline(time.Time) error { return nil }
