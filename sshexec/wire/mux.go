package wire

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"brine/internal/py/value"
)

// A Role says which end a Mux is.
type Role uint8

// The two ends.
const (
	Controller Role = iota
	Agent
)

// Defaults of [Options].
const (
	DefaultHeartbeat = 15 * time.Second
	DefaultNoise     = 64 << 10
	DefaultWindow    = 256 << 10
	DefaultStreams   = 64
)

// Bounds of what waits to be written: data waits for room, what must be said
// at once does not, and a peer that lets that pile up is given up.
const (
	softQueue = 256 << 10
	hardQueue = 8 << 20
	// noteItems is how many items a note may have in addition to one for every
	// eight bytes: unrequested data must not take many times its size in
	// memory.
	noteItems = 4096
	// aWrite is how much bulk data is written at once, and so how long other
	// frames wait. A stream is bulk from smallStream bytes on.
	aWrite      = 64 << 10
	smallStream = 32 << 10
	// maxMissed is how many heartbeats a peer may stay silent.
	maxMissed = 3
)

// Options are what an end of a channel is and bears.
type Options struct {
	Role Role
	// Hello is what this end says of itself; Greet adds proto, window and frame.
	Hello *value.Map
	// Noise is how many bytes before the peer's magic are skipped. 0: none.
	Noise int64
	// Frame is the largest payload taken; 0 is DefaultFrame.
	Frame int
	// Window is how many bytes of each stream may wait here to be read; 0 is
	// DefaultWindow.
	Window int
	// Streams is how many streams the peer may have open; 0 is DefaultStreams.
	Streams int
	// Heartbeat is how long the peer may be silent before it is asked; 0 is
	// DefaultHeartbeat.
	Heartbeat time.Duration
	// Resume allows the channel to outlive its link, where the peer allows it too:
	// see [Mux.Rejoin]. Broken is then called when the link breaks and somebody
	// waits for another one; nil is nothing.
	Resume bool
	Broken func(err error)
	// Handle serves a stream that the peer opened, in a goroutine of its own.
	// Its ctx ends with the stream. An error goes to the peer as its end. nil: the
	// peer may open none.
	Handle func(ctx context.Context, s *Stream) error
	// Note takes a message, in order, in the goroutine that reads: it must not
	// wait. nil: a controller takes none.
	Note func(name string, v value.Value, size int)
}

// A Mux is one end of a channel. It is safe for concurrent use.
type Mux struct {
	o         Options
	peer      *value.Map
	odd       uint32 // 1 where the streams opened here have odd numbers
	window    int    // what the peer grants each stream at first
	peerFrame int

	received   atomic.Bool // since the last heartbeat
	receivedAt atomic.Int64
	rejoining  sync.Mutex // held while a new link is made
	taking     sync.Mutex // held while a frame is taken, and when the link changes

	mu       sync.Mutex
	streams  map[uint32]*Stream
	next     uint32 // number of the next stream opened here
	last     uint32 // highest number that the peer used
	serving  int    // handlers at work
	handlers sync.WaitGroup
	err      error
	done     chan struct{}
	timer    *time.Timer

	link    *carrier // nil: it broke
	missed  int      // heartbeats without a sign of the peer
	re      resume
	first   []byte        // waits to be written before out: all but bulk data
	out     []byte        // waits to be written
	spare   []byte        // the writer's other buffer
	writing bool          // a buffer is on its way
	wake    chan struct{} // to the writer; 1
	room    chan struct{} // closed when out was written; nil while nobody waits
}

// ErrClosed is the error of operations that are running or begun after Close.
var ErrClosed = errors.New("the channel is closed")

// ErrSilent says that the peer was silent for three heartbeats.
var ErrSilent = errors.New("the peer answers no more: no heartbeat")

// ErrEnded says that the peer closed the channel.
var ErrEnded = errors.New("the peer closed the channel")

// ErrBusy is the error of a stream that the peer will not serve because too
// many are open.
var ErrBusy = errors.New("too many requests at once")

// Greet says hello over rw, waits for the peer's and starts the Mux. When ctx
// ends before that, rw is closed. An error is a *[NoHelloError] where something
// else than an agent answered.
func Greet(ctx context.Context, rw io.ReadWriteCloser, o Options) (*Mux, error) {
	if o.Frame <= 0 {
		o.Frame = DefaultFrame
	}
	if o.Window <= 0 {
		o.Window = DefaultWindow
	}
	if o.Streams <= 0 {
		o.Streams = DefaultStreams
	}
	if o.Heartbeat <= 0 {
		o.Heartbeat = DefaultHeartbeat
	}
	m := &Mux{
		link: &carrier{rw}, o: o, streams: map[uint32]*Stream{}, next: 1, odd: 1, done: make(chan struct{}),
		wake: make(chan struct{}, 1),
	}
	if o.Role == Agent {
		m.next, m.odd = 2, 0
	}
	stop := context.AfterFunc(ctx, func() { rw.Close() })
	r := bufio.NewReaderSize(rw, 4<<10)
	err := m.greet(rw, r)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		rw.Close()
		if ctx.Err() != nil {
			err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
		return nil, err
	}
	m.mu.Lock()
	m.timer = time.AfterFunc(o.Heartbeat, m.beat)
	l := m.link
	m.mu.Unlock()
	go m.writer()
	go m.reader(l, r)
	return m, nil
}

// greet exchanges hellos. The own one is written while the peer's is awaited:
// neither end waits for the other's first.
func (m *Mux) greet(w io.Writer, r *bufio.Reader) error {
	hello := value.NewMap(8)
	if m.o.Hello != nil {
		hello.Update(m.o.Hello)
	}
	hello.Set("proto", int64(Proto))
	hello.Set("window", int64(m.o.Window))
	hello.Set("frame", int64(m.o.Frame))
	hello.Set("resume", m.o.Resume)
	payload, err := AppendValue(nil, hello)
	if err != nil {
		return err
	}
	sent := make(chan error, 1)
	go func() {
		_, err := w.Write(appendFrame([]byte(magic), frame{typ: frameHello, payload: payload}))
		sent <- err
	}()
	err = m.readHello(r)
	if err != nil {
		return err // Greet closes rw, which frees the writing end
	}
	return <-sent
}

func (m *Mux) readHello(r *bufio.Reader) error {
	if err := skipTo(r, m.o.Noise); err != nil {
		return err
	}
	f, err := readFrame(r, m.o.Frame)
	if err != nil {
		return &NoHelloError{Err: err}
	}
	if f.typ != frameHello {
		return broken("the first frame is not a hello")
	}
	if m.peer, err = ParseMap(f.payload); err != nil {
		return err
	}
	proto, _ := m.peer.At("proto").(int64)
	if proto != Proto {
		return fmt.Errorf("the remote program speaks version %d of the protocol, this program version %d", proto, Proto)
	}
	window, _ := m.peer.At("window").(int64)
	limit, _ := m.peer.At("frame").(int64)
	if window < 1 || window > maxCredit || limit < dataFrame {
		return broken("a hello with window %d and frame %d", window, limit)
	}
	m.window, m.peerFrame = int(window), int(min(limit, maxCredit))
	m.re.on = m.o.Resume && m.peer.At("resume") == true
	return nil
}

// Peer returns the peer's hello.
func (m *Mux) Peer() *value.Map { return m.peer }

// ReceivedSince reports whether a frame of the peer came since then.
func (m *Mux) ReceivedSince(t time.Time) bool { return m.receivedAt.Load() >= t.UnixNano() }

// Done is closed when the Mux has ended.
func (m *Mux) Done() <-chan struct{} { return m.done }

// Err returns why the Mux ended; nil while it lives.
func (m *Mux) Err() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err
}

// Close ends the Mux and closes the channel. Streams end with ErrClosed. A peer
// that would wait for a new link is notified, which takes a second at most.
func (m *Mux) Close() error {
	m.bye()
	m.fail(ErrClosed)
	return nil
}

// Wait waits until the handlers of all streams have returned.
func (m *Mux) Wait() { m.handlers.Wait() }

// Flush waits until what was sent is written, at most for d.
func (m *Mux) Flush(d time.Duration) {
	deadline := time.NewTimer(d)
	defer deadline.Stop()
	for {
		m.mu.Lock()
		if m.err != nil || m.queued() == 0 && !m.writing {
			m.mu.Unlock()
			return
		}
		if m.room == nil {
			m.room = make(chan struct{})
		}
		room := m.room
		m.mu.Unlock()
		select {
		case <-room:
		case <-m.done:
			return
		case <-deadline.C:
			return
		}
	}
}

// fail ends the Mux for a reason; the first one counts.
func (m *Mux) fail(err error) {
	m.mu.Lock()
	if m.err != nil {
		m.mu.Unlock()
		return
	}
	m.err = err
	m.timer.Stop()
	streams := m.streams
	m.streams = nil
	m.first, m.out, m.re.kept, m.re.again = nil, nil, nil, nil
	link := m.link
	close(m.done)
	m.mu.Unlock()
	if link != nil {
		link.rw.Close()
	}
	for _, s := range streams {
		s.abort(err)
	}
}

// beat looks after a silent peer.
func (m *Mux) beat() {
	heard := m.received.Swap(false)
	m.mu.Lock()
	l := m.link
	switch {
	case l == nil: // whoever looks for another link knows when to give up
		m.missed = 0
	case heard:
		m.missed = 0
		m.ack()
	default:
		m.missed++
	}
	missed := m.missed
	m.mu.Unlock()
	switch {
	case missed > maxMissed:
		m.part(l, ErrSilent)
	case missed > 0:
		_ = m.send(frame{typ: framePing})
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err == nil {
		m.timer.Reset(m.o.Heartbeat)
	}
}

// queued is how many bytes wait to be written. m.mu is held.
func (m *Mux) queued() int { return len(m.re.again) + len(m.first) + len(m.out) }

// send queues a frame without waiting, before all bulk data.
func (m *Mux) send(f frame) error { return m.sendBy(f, false) }

// sendBy is send; a frame of a stream whose data is bulk goes behind that.
func (m *Mux) sendBy(f frame, bulk bool) error {
	if len(f.payload) > m.peerFrame {
		return fmt.Errorf("a message of %d bytes, the peer takes %d", len(f.payload), m.peerFrame)
	}
	m.mu.Lock()
	if m.err != nil {
		defer m.mu.Unlock()
		return m.err
	}
	q := &m.first
	if bulk {
		q = &m.out
	}
	*q = appendFrame(*q, f)
	full := len(m.first)+len(m.out) > hardQueue
	m.mu.Unlock()
	m.wakeWriter()
	if full {
		m.fail(errors.New("the peer reads no more"))
	}
	return nil
}

func (m *Mux) wakeWriter() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// sendData queues data of a stream; it waits for room, and for as long as the
// stream lives.
func (m *Mux) sendData(s *Stream, p []byte) error {
	for {
		m.mu.Lock()
		if m.err != nil {
			defer m.mu.Unlock()
			return m.err
		}
		if len(m.first)+len(m.out) < softQueue {
			q := &m.first
			if s.bulk = s.bulk || s.sent >= smallStream; s.bulk {
				q = &m.out
			}
			s.sent += len(p)
			*q = append(appendHeader(*q, frameData, s.id, len(p)), p...)
			m.mu.Unlock()
			m.wakeWriter()
			return nil
		}
		if m.room == nil {
			m.room = make(chan struct{})
		}
		room := m.room
		m.mu.Unlock()
		select {
		case <-room:
		case <-m.done:
		case <-s.over:
			return s.failure()
		}
	}
}

// writer writes what is queued, as long as there is a link. It keeps no large
// buffer while idle.
func (m *Mux) writer() {
	for {
		select {
		case <-m.wake:
		case <-m.done:
			return
		}
		m.mu.Lock()
		for m.link != nil && m.queued() > 0 {
			b, l := m.nextWrite(), m.link
			if b == nil {
				break
			}
			m.writing = true
			m.mu.Unlock()
			_, err := l.rw.Write(b)
			if err != nil {
				m.part(l, fmt.Errorf("write to the peer: %w", err))
			}
			m.mu.Lock()
			m.writing = false
			if cap(b) <= 4<<10 {
				m.spare = b[:0]
			}
			if m.room != nil {
				close(m.room)
				m.room = nil
			}
		}
		if m.queued() == 0 && cap(m.out) > 4<<10 {
			m.out = nil
		}
		m.mu.Unlock()
	}
}

// nextWrite takes what is to be written now: what a new link has to be sent again,
// else all but bulk data, and of that so much that others do not wait long. It
// returns nil while too much is not acknowledged. m.mu is held.
func (m *Mux) nextWrite() []byte {
	if b := m.re.again; len(b) > 0 {
		m.re.again = nil
		return b
	}
	if m.re.on && len(m.re.kept) >= maxKept {
		return nil
	}
	b := m.first
	m.first, m.spare = m.spare, nil
	if n := cut(m.out, aWrite); n == len(m.out) && len(b) == 0 {
		b, m.out = m.out, nil
	} else if n > 0 {
		b = append(b, m.out[:n]...)
		if m.out = m.out[n:]; len(m.out) == 0 {
			m.out = nil
		}
	}
	if m.re.on {
		m.re.kept = append(m.re.kept, b...)
	}
	return b
}

// cut returns how many bytes of whole frames at the front of b are at least
// want, or all there are.
func cut(b []byte, want int) int {
	n := 0
	for n < want && n < len(b) {
		n += header + int(binary.BigEndian.Uint32(b[n:]))
	}
	return n
}

// reader reads the frames of a link until it breaks or the peer breaks the
// protocol.
func (m *Mux) reader(l *carrier, r io.Reader) {
	for {
		f, err := readFrame(r, m.o.Frame)
		if err != nil {
			if _, ok := errors.AsType[*ProtocolError](err); ok {
				m.fail(err)
				return
			}
			if errors.Is(err, io.EOF) {
				err = ErrEnded
			}
			m.part(l, err)
			return
		}
		if !m.takeFrom(l, f) {
			return
		}
	}
}

// takeFrom takes a frame of a link, and reports whether more are to come by it.
func (m *Mux) takeFrom(l *carrier, f frame) bool {
	m.taking.Lock()
	m.mu.Lock()
	current := m.link == l
	m.mu.Unlock()
	if !current {
		m.taking.Unlock()
		return false // it comes again by the link that took its place
	}
	m.received.Store(true)
	m.receivedAt.Store(time.Now().UnixNano())
	m.count(f)
	err := m.take(f)
	m.taking.Unlock()
	if err != nil {
		m.fail(err)
	}
	return err == nil
}

// take acts on a frame. It never waits.
func (m *Mux) take(f frame) error {
	switch f.typ {
	case framePing:
		return m.send(frame{typ: framePong})
	case framePong:
		return nil
	case frameAck:
		return m.takeAck(f.payload)
	case frameBye:
		return ErrEnded
	case frameNote:
		return m.takeNote(f.payload)
	case frameOpen:
		return m.takeOpen(f)
	case frameHello:
		return broken("a second hello")
	default: // frames of a stream
	}
	m.mu.Lock()
	s := m.streams[f.stream]
	known := s != nil || m.wasOpen(f.stream)
	m.mu.Unlock()
	if s == nil {
		if !known {
			return broken("a frame for stream %d, which was never open", f.stream)
		}
		return nil
	}
	switch f.typ {
	case frameData:
		return s.takeData(f.payload)
	case frameCredit:
		if len(f.payload) != 4 {
			return broken("a credit of %d bytes", len(f.payload))
		}
		return s.takeCredit(int64(binary.BigEndian.Uint32(f.payload)))
	case frameEnd:
		return s.takeEnd(f.payload)
	case frameCancel:
		if len(f.payload) > maxText {
			f.payload = f.payload[:maxText]
		}
		s.takeCancel(string(f.payload))
		return nil
	default:
		return nil
	}
}

// wasOpen reports whether a stream of this number was open at some time.
func (m *Mux) wasOpen(id uint32) bool {
	if id%2 == m.odd {
		return id < m.next
	}
	return id <= m.last
}

func (m *Mux) takeNote(p []byte) error {
	if len(p) < 1 || int(p[0]) > maxMethod || len(p) < 1+int(p[0]) {
		return broken("a note without a name")
	}
	if m.o.Note == nil && m.o.Role == Controller {
		return broken("a note, and none is expected")
	}
	name, p := string(p[1:1+int(p[0])]), p[1+int(p[0]):]
	left := maxItems
	if m.o.Role == Controller {
		left = noteItems + len(p)/8
	}
	v, err := ParseWithin(p, &left)
	if errors.Is(err, errItems) {
		v, err = nil, nil // only its name and size are logged, not its content
	}
	if err != nil {
		return err
	}
	if m.o.Note != nil {
		m.o.Note(name, v, len(p))
	}
	return nil
}

func (m *Mux) takeOpen(f frame) error {
	p := f.payload
	if len(p) < 2 || int(p[1]) > maxMethod || len(p) < 2+int(p[1]) {
		return broken("a stream without a method")
	}
	if f.stream == 0 || f.stream%2 == m.odd || f.stream <= m.last {
		return broken("stream %d opened out of order", f.stream)
	}
	if m.o.Handle == nil && m.o.Role == Controller {
		return broken("a request, and none is expected")
	}
	m.last = f.stream
	head, err := ParseMap(p[2+int(p[1]):])
	if err != nil {
		return err
	}
	s := newStream(m, f.stream, string(p[2:2+int(p[1])]), head)
	s.readEnd = p[0]&flagFin != 0
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = func() bool { cancel(); return true }
	m.mu.Lock()
	if m.err != nil {
		m.mu.Unlock()
		cancel()
		return nil
	}
	busy := m.serving >= m.o.Streams || m.o.Handle == nil
	if !busy {
		m.serving++
		m.handlers.Add(1)
		m.streams[s.id] = s
	}
	m.mu.Unlock()
	if busy {
		cancel()
		return m.send(frame{frameEnd, s.id, endPayload(ErrBusy, nil)})
	}
	go m.serve(ctx, s)
	return nil
}

// serve runs the handler of a stream. A handler that panics ends its stream
// only.
func (m *Mux) serve(ctx context.Context, s *Stream) {
	defer func() {
		m.mu.Lock()
		m.serving--
		m.mu.Unlock()
		m.handlers.Done()
	}()
	err := func() (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("serve %s: %v", s.method, p)
			}
		}()
		return m.o.Handle(ctx, s)
	}()
	s.finish(err)
}

// forget drops a stream from the table.
func (m *Mux) forget(s *Stream) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.streams, s.id)
}

// Note sends a message without an answer. It does not wait: for few and short
// ones.
func (m *Mux) Note(name string, v value.Value) error {
	p := append([]byte{byte(len(name))}, name...)
	p, err := AppendValue(p, v)
	if err != nil {
		return err
	}
	return m.send(frame{typ: frameNote, payload: p})
}

// NoteWhenRoom is Note for messages that may be many: it waits while too much
// is to be written already. It is not to be called from Options.Note.
func (m *Mux) NoteWhenRoom(name string, v value.Value) error {
	for {
		m.mu.Lock()
		if m.err != nil || len(m.first)+len(m.out) < softQueue {
			m.mu.Unlock()
			return m.Note(name, v)
		}
		if m.room == nil {
			m.room = make(chan struct{})
		}
		room := m.room
		m.mu.Unlock()
		select {
		case <-room:
		case <-m.done:
		}
	}
}

// Open opens a stream: a request with a head. Where body is false, nothing
// further is sent. The stream ends with ctx, which tells the peer; see
// [Stream.Close] for what the caller must do in the end.
func (m *Mux) Open(ctx context.Context, method string, head *value.Map, body bool) (*Stream, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p := []byte{0, byte(len(method))}
	if !body {
		p[0] |= flagFin
	}
	p, err := AppendValue(append(p, method...), head)
	if err != nil {
		return nil, err
	}
	if len(p) > m.peerFrame {
		return nil, fmt.Errorf("%s: a request of %d bytes, the peer takes %d", method, len(p), m.peerFrame)
	}
	m.mu.Lock()
	if m.err != nil {
		defer m.mu.Unlock()
		return nil, m.err
	}
	if m.next > 1<<31 {
		m.mu.Unlock()
		return nil, errors.New("the channel has no stream numbers left")
	}
	s := newStream(m, m.next, method, head)
	s.writeEnd = !body
	m.next += 2
	m.streams[s.id] = s
	// Numbers must reach the peer in order: queued under the same lock.
	m.first = appendFrame(m.first, frame{frameOpen, s.id, p})
	m.mu.Unlock()
	m.wakeWriter()
	s.endWith(ctx)
	return s, nil
}

// Call opens a stream without a body and returns the value that answers it, of
// at most limit bytes.
func (m *Mux) Call(ctx context.Context, method string, head *value.Map, limit int64) (value.Value, error) {
	s, err := m.Open(ctx, method, head, false)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	b, err := io.ReadAll(io.LimitReader(s, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > limit {
		return nil, broken("an answer to %s of more than %d bytes", method, limit)
	}
	if len(b) == 0 {
		return nil, nil
	}
	return ParseValue(b)
}

// Answer sends v as the answer to a [Mux.Call].
func (s *Stream) Answer(v value.Value) error {
	b, err := AppendValue(nil, v)
	if err != nil {
		return err
	}
	_, err = s.Write(b)
	return err
}
