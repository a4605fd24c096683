package wire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"brine/internal/py/value"
)

// Links that break.
//
// A Mux whose two ends both allow it outlives the connection that carries it.
// Each end counts the bytes of the frames that it received, tells the count now
// and then (ack), and keeps what it sent until that was told. When the link
// breaks, the streams stay: what is written waits, what is read comes later. A
// new link begins with the magic and a hello that carries the count; each end
// sends what the other does not have, and goes on. An end that closes the
// channel says so (bye), so that the other one does not wait for it.

const (
	// ackEvery is how many bytes may come before they are acknowledged. The end of
	// a stream is acknowledged at once, so that an agent whose work is done knows
	// that nobody needs it; the rest is with the next heartbeat.
	ackEvery = 32 << 10
	// maxKept bounds what was sent and is not acknowledged; more waits.
	maxKept = 4 << 20
	// byeTime is how long a farewell may take to be written.
	byeTime = time.Second
)

// ErrUnknownChannel says that the peer of a new link does not know the channel.
var ErrUnknownChannel = errors.New("the channel is gone")

// ErrReplaced is why a link ended: the peer came by another one.
var ErrReplaced = errors.New("another link took its place")

// A carrier is what carries the frames of a Mux, until it breaks.
type carrier struct{ rw io.ReadWriteCloser }

// resume is what a Mux needs to outlive its link. Mux.mu guards it.
type resume struct {
	on     bool   // both ends allow it
	kept   []byte // sent, and not acknowledged
	keptAt uint64 // how many bytes were sent before kept
	got    uint64 // bytes of frames that were received
	due    int    // of these, bytes to be acknowledged
	again  []byte // of kept, to be written to a new link before all else
	broken error  // why there is no link; nil where there is one
}

// Resumable reports whether the channel outlives its link: both ends allow it.
func (m *Mux) Resumable() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.re.on
}

// Broken returns why there is no link at present; nil where there is one, or the
// Mux has ended.
func (m *Mux) Broken() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return nil
	}
	return m.re.broken
}

// Wanted reports whether another link would be of use: to the controller while
// it waits for the answer to a stream. An agent cannot know, since a request may be
// on its way: whoever runs it says when it has waited long enough.
func (m *Mux) Wanted() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.wanted()
}

func (m *Mux) wanted() bool {
	if m.o.Role == Controller {
		return len(m.streams) > 0
	}
	return true
}

// Unacknowledged reports whether requests of the peer are being served, or something was
// sent that the peer has not acknowledged.
func (m *Mux) Unacknowledged() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.serving > 0 || len(m.out) > 0 {
		return true
	}
	return matters(m.re.kept) || matters(m.first)
}

// matters reports whether among frames is one of a request or an answer.
func matters(frames []byte) bool {
	for n := 0; n < len(frames); n += header + int(binary.BigEndian.Uint32(frames[n:])) {
		switch frameType(frames[n+4]) {
		case frameOpen, frameData, frameEnd:
			return true
		default: // notes and credits mean nothing without a stream
		}
	}
	return false
}

// Abandon ends the Mux for a reason.
func (m *Mux) Abandon(err error) { m.fail(err) }

// notEOF returns an error of a link without what says that a file ended: to those
// who read a stream that would be the end of the stream.
func notEOF(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New(err.Error())
	}
	return err
}

// part notes that a link broke. The Mux ends with it unless it can be carried by
// another one, and somebody waits for that.
func (m *Mux) part(l *carrier, err error) {
	m.taking.Lock()
	m.mu.Lock()
	if m.err != nil || m.link != l {
		m.mu.Unlock()
		m.taking.Unlock()
		return
	}
	err = notEOF(err)
	if !m.re.on || !m.wanted() {
		m.mu.Unlock()
		m.taking.Unlock()
		m.fail(err)
		return
	}
	m.link, m.re.broken = nil, err
	m.mu.Unlock()
	m.taking.Unlock()
	// A link that is stuck may take its time to close.
	go func() { _ = l.rw.Close() }()
	if m.o.Broken != nil && !errors.Is(err, ErrReplaced) {
		go m.o.Broken(err)
	}
}

// Rejoin continues the Mux over a new link, which it closes if that fails. The
// previous link, if it still exists, is closed. The error is ErrUnknownChannel if the
// peer does not know the channel. If the peer has received something else than
// what was sent, the Mux ends.
func (m *Mux) Rejoin(ctx context.Context, rw io.ReadWriteCloser) error {
	m.rejoining.Lock()
	defer m.rejoining.Unlock()
	stop := context.AfterFunc(ctx, func() { _ = rw.Close() })
	defer stop()
	err := m.rejoin(rw)
	if err != nil {
		_ = rw.Close()
		if ctx.Err() != nil {
			err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
	}
	return err
}

func (m *Mux) rejoin(rw io.ReadWriteCloser) error {
	m.mu.Lock()
	old, err := m.link, m.err
	m.mu.Unlock()
	if err == nil && old != nil && m.o.Role == Controller {
		err = errors.New("the channel has a link")
	}
	if err != nil {
		return err
	}
	// The controller greets first: who comes to an agent and says nothing takes
	// no link away from it.
	r := bufio.NewReaderSize(rw, 4<<10)
	var has uint64
	if m.o.Role == Agent {
		if has, err = m.readCount(r); err != nil {
			return err
		}
		if old != nil {
			m.part(old, ErrReplaced)
		}
	}
	m.mu.Lock()
	count := value.MapOf("got", int64(m.re.got))
	err = m.err
	m.mu.Unlock()
	if err != nil {
		return err
	}
	if err := writeCount(rw, count); err != nil {
		return err
	}
	if m.o.Role == Controller {
		if has, err = m.readCount(r); err != nil {
			return err
		}
	}
	l := &carrier{rw}
	m.mu.Lock()
	if m.err != nil {
		defer m.mu.Unlock()
		return m.err
	}
	if err := m.trim(has); err != nil {
		m.mu.Unlock()
		m.fail(err)
		return err
	}
	m.re.again = bytes.Clone(m.re.kept)
	m.link, m.re.broken, m.missed = l, nil, 0
	m.mu.Unlock()
	m.received.Store(true)
	go m.reader(l, r)
	m.wakeWriter()
	return nil
}

func writeCount(w io.Writer, count *value.Map) error {
	p, err := AppendValue(nil, count)
	if err != nil {
		return err
	}
	_, err = w.Write(appendFrame([]byte(magic), frame{typ: frameHello, payload: p}))
	return err
}

// readCount reads the hello of a new link and returns how many bytes the peer
// has.
func (m *Mux) readCount(r *bufio.Reader) (uint64, error) {
	if err := skipTo(r, m.o.Noise); err != nil {
		return 0, err
	}
	f, err := readFrame(r, 4<<10)
	if err != nil {
		return 0, &NoHelloError{Err: err}
	}
	if f.typ != frameHello {
		return 0, broken("the first frame is not a hello")
	}
	h, err := ParseMap(f.payload)
	if err != nil {
		return 0, err
	}
	if why := h.Str("gone"); why != "" {
		return 0, fmt.Errorf("%w: %s", ErrUnknownChannel, why)
	}
	n, ok := h.At("got").(int64)
	if !ok || n < 0 {
		return 0, broken("a hello without a count")
	}
	return uint64(n), nil
}

// RefuseResume answers the controller at the other end of a new link that there is
// no such channel.
func RefuseResume(w io.Writer, why string) error { return writeCount(w, value.MapOf("gone", why)) }

// trim drops what the peer has of what was sent.
func (m *Mux) trim(has uint64) error {
	n := has - m.re.keptAt
	if has < m.re.keptAt || n > uint64(len(m.re.kept)) {
		return broken("it has %d bytes, and %d to %d were sent", has, m.re.keptAt, m.re.keptAt+uint64(len(m.re.kept)))
	}
	rest := m.re.kept[n:]
	if len(rest) == 0 && cap(m.re.kept) > 4<<10 {
		m.re.kept = nil
	} else {
		m.re.kept = m.re.kept[:copy(m.re.kept, rest)]
	}
	m.re.keptAt = has
	return nil
}

// count notes a frame that was received.
func (m *Mux) count(f frame) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.re.on {
		return
	}
	n := header + len(f.payload)
	m.re.got += uint64(n)
	switch f.typ {
	case frameAck, framePing, framePong: // else two ends would never come to rest
		return
	default:
		m.re.due += n
	}
	if m.re.due >= ackEvery || f.typ == frameEnd {
		m.ack()
	}
}

// ack queues an acknowledgement of all that was received.
func (m *Mux) ack() {
	if m.re.due == 0 || m.err != nil {
		return
	}
	m.re.due = 0
	m.first = appendFrame(m.first, frame{typ: frameAck, payload: binary.BigEndian.AppendUint64(nil, m.re.got)})
	m.wakeWriter()
}

func (m *Mux) takeAck(p []byte) error {
	if len(p) != 8 {
		return broken("an acknowledgement of %d bytes", len(p))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.re.on {
		return broken("an acknowledgement that nobody asked for")
	}
	has := binary.BigEndian.Uint64(p)
	if has < m.re.keptAt {
		return nil // it was sent before what the hello of a new link told
	}
	m.wakeWriter()
	return m.trim(has)
}

// bye tells the peer that the channel is closed and not broken.
func (m *Mux) bye() {
	m.mu.Lock()
	if m.err != nil || !m.re.on || m.link == nil {
		m.mu.Unlock()
		return
	}
	m.first = appendFrame(m.first, frame{typ: frameBye})
	m.mu.Unlock()
	m.wakeWriter()
	m.Flush(byeTime)
}
