package wire

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"time"

	"brine/internal/py/value"
)

const (
	flagFin = 1
	// maxCredit bounds what a peer may grant.
	maxCredit = 1 << 30
	// maxText bounds the text of an error from the peer.
	maxText = 64 << 10
)

// A Code is the kind of an error that crosses the channel.
type Code uint8

// The codes. An error of the other end answers errors.Is for what its code
// stands for.
const (
	CodeOK Code = iota
	CodeFailed
	CodeNotExist
	CodePermission
	CodeCanceled
	CodeBusy
	CodeRefused // the request is invalid to the peer
)

// A RemoteError is an error of the peer's.
type RemoteError struct {
	Code Code
	Text string
}

func (e *RemoteError) Error() string { return e.Text }

// Is reports whether the code stands for target.
func (e *RemoteError) Is(target error) bool {
	switch e.Code {
	case CodeNotExist:
		return target == fs.ErrNotExist
	case CodePermission:
		return target == fs.ErrPermission
	case CodeCanceled:
		return target == context.Canceled
	case CodeBusy:
		return target == ErrBusy
	default:
		return false
	}
}

// Refusef returns an error that tells the peer that its request is invalid.
func Refusef(format string, args ...any) error {
	return &RemoteError{CodeRefused, fmt.Sprintf(format, args...)}
}

func codeOf(err error) Code {
	var re *RemoteError
	switch {
	case errors.As(err, &re):
		return re.Code
	case errors.Is(err, fs.ErrNotExist):
		return CodeNotExist
	case errors.Is(err, fs.ErrPermission):
		return CodePermission
	case errors.Is(err, ErrBusy):
		return CodeBusy
	case errors.Is(err, context.Canceled):
		return CodeCanceled
	}
	return CodeFailed
}

// endPayload is the payload of an end frame: an error, or the closing value's
// encoding.
func endPayload(err error, closing []byte) []byte {
	if err == nil {
		return append([]byte{byte(CodeOK)}, closing...)
	}
	text := err.Error()
	if len(text) > maxText {
		text = text[:maxText]
	}
	return append([]byte{byte(codeOf(err))}, text...)
}

// A Stream is a request and its answer. One goroutine may read and one write
// at a time.
type Stream struct {
	m      *Mux
	id     uint32
	method string
	head   *value.Map
	stop   func() bool // lets go of the ctx of the stream
	sent   int         // bytes of data; Mux.mu guards it and bulk
	bulk   bool        // others go before it

	readable chan struct{} // 1
	writable chan struct{} // 1
	over     chan struct{} // closed when the stream ends for both

	mu       sync.Mutex
	buf      []byte // received, not yet read
	off      int
	credit   int64 // that may still be sent
	granted  int64 // that may still be received
	consumed int64 // read since credit was last granted
	readEnd  bool  // the peer sends no more
	readErr  error // what its end said
	closing  *value.Map
	writeEnd bool
	ended    bool
	err      error // why it ended for both, where it did early
}

func newStream(m *Mux, id uint32, method string, head *value.Map) *Stream {
	return &Stream{
		m: m, id: id, method: method, head: head,
		readable: make(chan struct{}, 1), writable: make(chan struct{}, 1), over: make(chan struct{}),
		credit: int64(m.window), granted: int64(m.o.Window),
	}
}

// Method returns the name of the request.
func (s *Stream) Method() string { return s.method }

// Head returns the head of the request.
func (s *Stream) Head() *value.Map { return s.head }

func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Read reads what the peer sends. It returns io.EOF after the peer's end, the
// error that this end carries, or why the stream is over.
func (s *Stream) Read(p []byte) (int, error) {
	for {
		s.mu.Lock()
		if n := copy(p, s.buf[s.off:]); n > 0 {
			s.off += n
			if s.off == len(s.buf) {
				s.buf, s.off = s.buf[:0], 0
			}
			grant := s.consume(n)
			s.mu.Unlock()
			if grant > 0 {
				_ = s.m.send(frame{frameCredit, s.id, binary.BigEndian.AppendUint32(nil, uint32(grant))})
			}
			return n, nil
		}
		err := s.err
		if err == nil && s.readEnd {
			if err = s.readErr; err == nil {
				err = io.EOF
			}
		}
		if err == nil && s.ended { // it was answered: nothing more comes
			err = io.ErrClosedPipe
		}
		s.mu.Unlock()
		if err != nil || len(p) == 0 {
			return 0, err
		}
		select {
		case <-s.readable:
		case <-s.over:
		}
	}
}

// consume notes that n bytes were read and returns what to grant again.
func (s *Stream) consume(n int) int64 {
	s.consumed += int64(n)
	if s.readEnd || s.err != nil || s.consumed < int64(s.m.o.Window)/2 {
		return 0
	}
	grant := s.consumed
	s.consumed = 0
	s.granted += grant
	return grant
}

// Write sends p as far as the peer grants, and waits for further grants.
func (s *Stream) Write(p []byte) (int, error) {
	sent := 0
	for sent < len(p) {
		s.mu.Lock()
		if s.err != nil || s.writeEnd {
			err := s.err
			if err == nil {
				err = io.ErrClosedPipe
			}
			s.mu.Unlock()
			return sent, err
		}
		n := min(int64(len(p)-sent), s.credit, dataFrame)
		s.credit -= n
		s.mu.Unlock()
		if n > 0 {
			if err := s.m.sendData(s, p[sent:sent+int(n)]); err != nil {
				return sent, err
			}
			sent += int(n)
			continue
		}
		select {
		case <-s.writable:
		case <-s.over:
		}
	}
	return sent, nil
}

// Flush waits until what was sent is written, at most for d.
func (s *Stream) Flush(d time.Duration) { s.m.Flush(d) }

// CloseWrite says that nothing further is sent: err goes to the peer, nil is a
// good end with a closing value (which may be nil).
func (s *Stream) CloseWrite(err error, closing *value.Map) error {
	var b []byte
	if err == nil && closing != nil {
		var e error
		if b, e = AppendValue(nil, closing); e != nil {
			err = e
		}
	}
	s.mu.Lock()
	if s.writeEnd || s.err != nil {
		e := s.err
		s.mu.Unlock()
		return e
	}
	s.writeEnd = true
	both := s.readEnd
	s.mu.Unlock()
	e := s.m.sendBy(frame{frameEnd, s.id, endPayload(err, b)}, s.isBulk())
	if both {
		s.conclude(nil)
	}
	return e
}

func (s *Stream) isBulk() bool {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	return s.bulk
}

// finish ends a stream that a handler served.
func (s *Stream) finish(err error) {
	_ = s.CloseWrite(err, nil)
	s.mu.Lock()
	open := !s.readEnd && !s.ended
	s.mu.Unlock()
	if open { // the peer still sends what nobody will read
		s.cancelWith("the request was answered", nil)
	}
}

// Close ends the stream; if it is not complete, the peer is notified that
// nobody reads the rest. Call it when the stream is no longer needed.
func (s *Stream) Close() error {
	s.cancelWith("no longer needed", ErrClosed)
	return nil
}

// Closing returns what the peer's good end said; nil before, or where it said
// nothing.
func (s *Stream) Closing() *value.Map {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closing
}

// endWith has the stream end with ctx.
func (s *Stream) endWith(ctx context.Context) {
	stop := context.AfterFunc(ctx, func() { s.cancel(context.Cause(ctx)) })
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		stop()
		return
	}
	s.stop = stop
}

// cancel ends the stream for a reason of this end.
func (s *Stream) cancel(cause error) {
	if cause == nil {
		cause = context.Canceled
	}
	s.cancelWith(cause.Error(), cause)
}

func (s *Stream) cancelWith(text string, err error) {
	s.mu.Lock()
	tell := !s.ended
	s.mu.Unlock()
	if tell {
		_ = s.m.sendBy(frame{frameCancel, s.id, []byte(text)}, s.isBulk()) // behind an end that was sent
	}
	s.conclude(err)
}

// conclude ends the stream for both and drops it.
func (s *Stream) conclude(err error) {
	s.m.forget(s)
	s.abort(err)
}

// abort ends the stream in both directions: pending operations return err,
// reads only after they have returned what was received.
func (s *Stream) abort(err error) {
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return
	}
	s.ended = true
	s.err = err
	stop := s.stop
	s.mu.Unlock()
	close(s.over)
	if stop != nil {
		stop()
	}
}

// failure returns why the stream is over.
func (s *Stream) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	return io.ErrClosedPipe
}

func (s *Stream) takeData(p []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil
	}
	if s.readEnd {
		return broken("data after the end of stream %d", s.id)
	}
	if s.granted -= int64(len(p)); s.granted < 0 {
		return broken("more data on stream %d than was granted", s.id)
	}
	if s.off > 0 && len(s.buf)+len(p) > cap(s.buf) {
		s.buf = s.buf[:copy(s.buf, s.buf[s.off:])]
		s.off = 0
	}
	s.buf = append(s.buf, p...)
	notify(s.readable)
	return nil
}

func (s *Stream) takeCredit(n int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.credit += n; s.credit > maxCredit {
		return broken("a credit of %d bytes on stream %d", s.credit, s.id)
	}
	notify(s.writable)
	return nil
}

func (s *Stream) takeEnd(p []byte) error {
	if len(p) < 1 || len(p) > 1+maxText {
		return broken("an end of %d bytes", len(p))
	}
	var closing *value.Map
	var err error
	if Code(p[0]) == CodeOK {
		if closing, err = ParseMap(p[1:]); err != nil {
			return err
		}
	}
	s.mu.Lock()
	if s.readEnd {
		s.mu.Unlock()
		return broken("stream %d ended twice", s.id)
	}
	s.readEnd = true
	if Code(p[0]) != CodeOK {
		s.readErr = &RemoteError{s.m.trustedCode(Code(p[0])), string(p[1:])}
	} else {
		s.closing = closing
	}
	both := s.writeEnd
	notify(s.readable)
	s.mu.Unlock()
	if both {
		s.conclude(nil)
	}
	return nil
}

// takeCancel ends the stream. After the peer's end it only says that the peer
// reads no more: the answer stays.
func (s *Stream) takeCancel(text string) {
	s.mu.Lock()
	answered := s.readEnd
	s.writeEnd = true
	s.mu.Unlock()
	if answered {
		s.conclude(nil)
		return
	}
	s.conclude(&RemoteError{Code: s.m.trustedCode(CodeCanceled), Text: "cancelled by the peer: " + text})
}

// trustedCode returns the code that an error of the peer has here. A controller knows
// itself what it cancelled: an agent that says so would have its failure reported as
// an interrupt of the person.
func (m *Mux) trustedCode(c Code) Code {
	if m.o.Role == Controller && c == CodeCanceled {
		return CodeFailed
	}
	return c
}

// Why returns the error that the peer's end carries, else err: what made a
// Write fail that the peer did not want.
func (s *Stream) Why(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.readErr != nil {
		return s.readErr
	}
	return err
}
