package sshexec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"brine/internal/core/roster"
	"brine/internal/fleet"
)

const (
	// stallTimeout is how long a push may go on without a byte that arrives.
	stallTimeout = time.Minute
	// settleTimeout is how long a host may take to unpack, check and try what
	// arrived.
	settleTimeout = 5 * time.Minute
	// inFlight is how much of a parcel may be on its way in any case, and
	// underWayTime how long what is on its way may take at the speed that was
	// measured: a keepalive, or the push of another host, does not have to wait
	// longer for it.
	inFlight     = 128 << 10
	inFlightTime = 2 * time.Second
	// logEvery is how often a push is logged.
	logEvery = 10 * time.Second
)

// errStalled is why a push ends of which no byte arrives.
var errStalled = errors.New("no byte arrived")

// A sending is the push of one agent to one host. What has arrived is known from
// the answers of the host to requests that stand behind the data.
type sending struct {
	c    *Client
	e    *roster.Entry
	img  *image
	by   string // the way of the push
	turn *turn
	log  *slog.Logger

	size     int64         // of the parcel
	maxStall time.Duration // how long no byte may arrive; 0: as the constants say
	timer    *time.Timer

	mu      sync.Mutex
	from    int64 // where it begins
	sent    int64
	arrived int64
	begun   time.Time
	last    time.Time // when something arrived
	logged  time.Time
	asking  bool
	lost    error         // no further answer will come
	wake    chan struct{} // closed when something arrived; nil: nobody waits
}

// watch ends the context when the push stalls.
func (x *sending) watch(ctx context.Context) (watched context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	before := max(stallTimeout, responseTimeout(x.e)) // the host may take to ask for the parcel
	if x.maxStall <= 0 {
		x.maxStall = before
	}
	now := time.Now()
	x.begun, x.last, x.logged = now, now, now
	x.from, x.sent, x.arrived, x.size, x.lost = 0, 0, 0, 0, nil
	x.timer = time.AfterFunc(before, func() { cancel(errStalled) })
	return ctx, func() {
		x.timer.Stop()
		cancel(nil)
	}
}

// settle gives the host time for what it does with the parcel.
func (x *sending) settle() { x.timer.Reset(settleTimeout) }

// cause words why a push failed.
func (x *sending) cause(ctx context.Context, err error) error {
	ended := x.c.connectionLost(err)
	x.mu.Lock()
	defer x.mu.Unlock()
	cut := &interruptedError{got: x.arrived, size: x.size, since: x.last}
	var hint string
	switch {
	case errors.Is(context.Cause(ctx), errStalled):
		cut.err = orRelay(fmt.Errorf("%w for %s", errStalled, time.Since(x.last).Round(time.Second)), x.c.via, "may have passed nothing on")
		hint = "see the network on the way and the host's disk; "
	case ended || x.lost != nil:
		cut.err = x.c.why()
	default:
		if err == nil {
			err = ctx.Err()
		}
		if _, ok := errors.AsType[*Error](err); ok {
			return err
		}
		return x.c.fail(Push, err, "")
	}
	return &Error{ID: x.c.ID, Addr: x.c.Addr, Stage: Push, Err: cut, Hint: hint + "the next run goes on with what arrived"}
}

// why says why a connection ended.
func (c *Client) why() error {
	if err := c.Err(); err != nil {
		return err
	}
	return errors.New("the connection ended")
}

// send sends a parcel of size bytes, from the byte that the host asked for.
func (x *sending) send(ctx context.Context, w io.Writer, body io.Reader, from, size int64) error {
	if from > size {
		return fmt.Errorf("the host asks for byte %d of %d", from, size)
	}
	if err := skipTo(body, from); err != nil {
		return err
	}
	x.mu.Lock()
	x.from, x.sent, x.arrived, x.size = from, from, from, size
	x.begun, x.last = time.Now(), time.Now()
	x.mu.Unlock()
	x.timer.Reset(x.maxStall)
	err := x.copy(ctx, w, body)
	if x.log != nil {
		took := time.Since(x.begun)
		x.mu.Lock()
		n := x.sent - from
		x.mu.Unlock()
		x.log.Debug("agent sent", "host", x.c.ID, "platform", x.img.platform, "program", x.img.from, "by", x.by, "bytes", n, "from", from, "of", size,
			"after", took.Round(time.Millisecond), "bytes per second", int64(float64(n)/max(took.Seconds(), 0.001)))
	}
	return err
}

// skipTo passes over the first n bytes.
func skipTo(r io.Reader, n int64) error {
	if s, ok := r.(io.Seeker); ok {
		_, err := s.Seek(n, io.SeekStart)
		return err
	}
	_, err := io.CopyN(io.Discard, r, n)
	return err
}

// copy writes what is left, and waits until all of it has arrived.
func (x *sending) copy(ctx context.Context, w io.Writer, body io.Reader) error {
	buf := make([]byte, 32<<10)
	for {
		n, err := body.Read(buf)
		if n > 0 {
			if err := x.room(ctx); err != nil {
				return err
			}
			if _, err := w.Write(buf[:n]); err != nil {
				return err
			}
			x.wrote(ctx, int64(n))
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	return x.wait(ctx, func() bool { return x.arrived == x.sent })
}

// room waits until more may be on its way.
func (x *sending) room(ctx context.Context) error {
	return x.wait(ctx, func() bool {
		rate := float64(x.arrived-x.from) / max(time.Since(x.begun).Seconds(), 0.001)
		return x.sent-x.arrived < max(inFlight, int64(rate*inFlightTime.Seconds()))
	})
}

// wait waits until is holds, which is called with mu held.
func (x *sending) wait(ctx context.Context, is func() bool) error {
	for {
		x.mu.Lock()
		if x.lost != nil || is() {
			defer x.mu.Unlock()
			return x.lost
		}
		if x.wake == nil {
			x.wake = make(chan struct{})
		}
		wake := x.wake
		x.mu.Unlock()
		select {
		case <-wake:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// wrote notes that bytes were handed to the connection, and has the host asked
// when they are there.
func (x *sending) wrote(ctx context.Context, n int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.sent += n
	if !x.asking {
		x.asking = true
		go x.ask(ctx) // ends with the connection at the latest
	}
}

// ask asks until all that was sent has arrived.
func (x *sending) ask(ctx context.Context) {
	for {
		x.mu.Lock()
		to := x.sent
		n := to - x.arrived
		if x.asking = n > 0; !x.asking {
			x.mu.Unlock()
			return
		}
		x.mu.Unlock()
		if err := x.c.way.probe(); err != nil {
			x.mu.Lock()
			x.lost = err
			x.wakeAll()
			x.mu.Unlock()
			return
		}
		x.arrive(ctx, n)
	}
}

// wakeAll wakes who waits. mu is held.
func (x *sending) wakeAll() {
	if x.wake != nil {
		close(x.wake)
		x.wake = nil
	}
}

// arrive notes that n more bytes have arrived.
func (x *sending) arrive(ctx context.Context, n int64) {
	if ctx.Err() != nil {
		return
	}
	x.timer.Reset(x.maxStall)
	x.mu.Lock()
	x.arrived += n
	x.last = time.Now()
	x.wakeAll()
	done, size := x.arrived, x.size
	tell := x.log != nil && x.last.Sub(x.logged) >= logEvery
	rate := float64(done-x.from) / max(x.last.Sub(x.begun).Seconds(), 0.001)
	if tell {
		x.logged = x.last
	}
	x.mu.Unlock()
	x.turn.moved(n)
	fleet.Sent(ctx, done, size)
	if tell {
		x.log.Info("agent under way", "host", x.c.ID, "bytes", done, "of", size, "bytes per second", int64(rate),
			"left", time.Duration(float64(size-done)/max(rate, 1)*float64(time.Second)).Round(time.Second))
	}
}

// counted tells what is read.
type counted struct {
	r     io.Reader
	moved func(n int64)
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	if n > 0 {
		c.moved(int64(n))
	}
	return n, err
}
