// Package bus carries the events of a run to other controllers and to other
// programs, and theirs to it. A [Link] is the way there, such as PostgreSQL or NATS.
package bus

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"brine/internal/core/event"
	"brine/internal/core/printable"
	"brine/internal/py/value"
)

// Limits of events.
const (
	MaxEvent = 1 << 20  // bytes of the data of an event
	MaxTag   = 1024     // bytes of its tag
	maxQueue = 4096     // events that wait to be sent
	maxBytes = 64 << 20 // about how much memory these take
)

// Times that a server is given.
const (
	sendTime = 10 * time.Second // for one event
	grace    = 2 * time.Second  // for the last events of a run that ends
)

// A Link is a server that controllers share.
type Link interface {
	// Receive passes the events of others to b.Take over one connection until ctx ends or
	// the connection breaks, which is the error. It calls ready when no event is missed any more.
	Receive(ctx context.Context, b *Bus, ready func()) error
	// Send sends an event of this run, and connects first if need be. It is called by
	// one goroutine. The error is a [LargeError] if only this event cannot be sent.
	Send(ctx context.Context, e event.Event) error
	// Close returns when all is sent, or when ctx ends; Send is not called any more.
	Close(ctx context.Context)
}

// Options say what a bus carries.
type Options struct {
	// From names the processes that hear each other without the bus.
	From string
	// Tags are globs of the tags that are sent and taken; none is all.
	Tags []string
	// IsOwnJob reports whether a jid is that of a job of this run, whose events nobody else
	// can make; nil: none is.
	IsOwnJob func(jid string) bool
	// Fire takes the events of others. stored is when a stream stored it; zero: there is none.
	Fire func(tag string, data *value.Map, stored time.Time)
	// Warn is called with what goes wrong.
	Warn func(error)
	// Back, where it is not nil, is called when events of others arrive again after Warn was
	// called because they did not.
	Back func()
}

// A Flusher is a Link whose Send returns before the server has an event. Flush returns when
// the server has all.
type Flusher interface {
	Flush(ctx context.Context) error
}

// A queued is an event that waits to be sent; done, where it is not nil, gets what became
// of it.
type queued struct {
	event.Event
	done func(error)
}

// A LargeError says that an event is too large for a link.
type LargeError struct {
	Tag       string
	Size, Max int
}

// Error names the event.
func (e *LargeError) Error() string {
	return fmt.Sprintf("%.100s has %d bytes, more than %d", e.Tag, e.Size, e.Max)
}

// A Bus carries events over a link. A server that is away makes it lose events, with
// a warning, and holds nobody up.
type Bus struct {
	link Link
	o    Options

	stop   context.CancelFunc // of the listener
	wg     sync.WaitGroup     // of the listener
	abort  context.CancelFunc // of the sender
	sent   chan struct{}      // closed when the sender has ended
	out    chan queued
	mu     sync.Mutex
	bytes  int // cost of the events in out, and of the one that is sent
	closed bool
	once   map[string]struct{} // warnings that were given
	up     time.Time           // since when the events of others arrive; zero: they do not
	silent bool                // it was said that they do not, and not that they do again
	down   time.Time           // when it was last said that they do not
}

// Open begins to carry events. A server that does not answer is tried again later.
func Open(ctx context.Context, l Link, o Options) *Bus {
	b := &Bus{link: l, o: o, out: make(chan queued, maxQueue), sent: make(chan struct{}), once: map[string]struct{}{}}
	listen, stop := context.WithCancel(context.WithoutCancel(ctx))
	send, abort := context.WithCancel(context.WithoutCancel(ctx))
	b.stop, b.abort = stop, abort
	ready := make(chan struct{})
	b.wg.Go(func() { b.listen(listen, sync.OnceFunc(func() { close(ready) })) })
	go b.send(send)
	select { // so that a run that begins now misses nothing
	case <-ready:
	case <-ctx.Done():
	}
	return b
}

// Warn warns of something once; that events do not arrive, once for each outage, but not more
// than once a minute.
func (b *Bus) Warn(what string, err error) {
	b.mu.Lock()
	_, told := b.once[what]
	b.once[what] = struct{}{}
	if what == away {
		if told = told && (b.silent || time.Since(b.down) <= awayAgain); !told {
			b.silent, b.down = true, time.Now()
		}
	}
	b.mu.Unlock()
	if !told {
		b.o.Warn(fmt.Errorf("event_bus: %s: %w", what, err))
	}
}

// backoff is the time before the n-th try to connect again.
func backoff(n int) time.Duration { return min(30*time.Second, time.Second<<min(n, 5)) }

// pause waits, but no longer than ctx lasts.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// Up returns since when the events of others arrive; zero: they do not.
func (b *Bus) Up() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.up
}

const (
	// away is the warning that events do not arrive.
	away = "events of other controllers do not arrive"
	// awayAgain is how long after that warning an outage has another one.
	awayAgain = time.Minute
)

// isUp notes that the events of others arrive, or no longer do.
func (b *Bus) isUp(up bool) {
	b.mu.Lock()
	b.up = time.Time{}
	if up {
		b.up = time.Now()
	}
	back := up && b.silent
	if up {
		b.silent = false
	}
	b.mu.Unlock()
	if back && b.o.Back != nil {
		b.o.Back()
	}
}

// listen takes events until ctx ends. ready is called when it has begun, or could
// not.
func (b *Bus) listen(ctx context.Context, ready func()) {
	defer ready()
	for tries := 0; ctx.Err() == nil; tries++ {
		err := b.link.Receive(ctx, b, func() {
			b.isUp(true)
			ready()
			tries = -1
		})
		b.isUp(false)
		if ctx.Err() != nil {
			return
		}
		b.Warn(away, err)
		ready()
		pause(ctx, backoff(max(tries, 0)))
	}
}

// Take fires an event that somebody sent, if it is a valid one of another group. A
// link that knows the tag before it reads the data asks [Bus.Wants] first. stored is when a
// stream stored the event; zero: there is none.
func (b *Bus) Take(from, tag string, data *value.Map, stored time.Time) {
	if !b.Wants(from, tag) {
		return
	}
	if data == nil {
		data = value.NewMap(1)
	}
	b.o.Fire(tag, data, stored)
}

// Wants reports whether an event that somebody sent would be taken.
func (b *Bus) Wants(from, tag string) bool {
	return from != b.o.From && tag != "" && len(tag) <= MaxTag && printable.Line(tag) == tag && b.carries(tag) && !b.isOwn(tag)
}

// isOwn reports whether a tag is that of an event about a job of this run.
func (b *Bus) isOwn(tag string) bool {
	if b.o.IsOwnJob == nil {
		return false
	}
	parts := strings.SplitN(tag, "/", 4)
	if len(parts) == 1 {
		return b.o.IsOwnJob(tag)
	}
	about := parts[0] == "salt" && (parts[1] == "job" || parts[1] == "run") || parts[0] == "brine" && parts[1] == "job"
	return about && len(parts) > 2 && b.o.IsOwnJob(parts[2])
}

// From names the processes that hear each other without the bus.
func (b *Bus) From() string { return b.o.From }

// Decode reads a mapping that somebody sent; nil for what is none.
func Decode(text string) *value.Map {
	if len(text) > MaxEvent {
		return nil
	}
	v, _, err := value.ParseJSONWithin(text, 32*MaxEvent)
	if err != nil {
		return nil
	}
	m, _ := v.(*value.Map)
	return m
}

// Encode writes a mapping for others to read.
func Encode(m *value.Map) ([]byte, error) {
	return value.AppendJSON(nil, m, value.JSONOptions{Repr: true, Strict: true, SkipKeys: true, EscapeNonASCII: true})
}

// carries reports whether events with a tag go over the bus.
func (b *Bus) carries(tag string) bool {
	for _, g := range b.o.Tags {
		if value.Fnmatch(g, tag) {
			return true
		}
	}
	return len(b.o.Tags) == 0
}

// Send has an event sent, unless it came from another process: what came over one
// bus goes over no other, so that no event runs in a circle. It does not wait.
func (b *Bus) Send(e event.Event) {
	if e.Foreign || !b.carries(e.Tag) {
		return
	}
	if err := b.enqueue(queued{Event: e}); err != nil && !errors.Is(err, errClosed) {
		b.Warn("events are lost", err)
	}
}

// errClosed says that a bus has ended.
var errClosed = errors.New("the bus is closed")

// Deliver sends an event and returns when the server has it; else the error says why not.
func (b *Bus) Deliver(ctx context.Context, e event.Event) error {
	if !b.carries(e.Tag) {
		return fmt.Errorf("the tags of event_bus do not name %.100s", e.Tag)
	}
	ended := make(chan error, 1)
	if err := b.enqueue(queued{Event: e, done: func(err error) { ended <- err }}); err != nil {
		return err
	}
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// enqueue has an event sent unless too much waits.
func (b *Bus) enqueue(e queued) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return errClosed
	case b.bytes > 0 && b.bytes+e.Cost() > maxBytes:
		return fmt.Errorf("more than %d MiB wait to be sent", maxBytes>>20)
	}
	select {
	case b.out <- e:
		b.bytes += e.Cost()
		return nil
	default:
		return fmt.Errorf("more than %d wait to be sent", maxQueue)
	}
}

// send sends events until out is closed.
func (b *Bus) send(ctx context.Context) {
	defer close(b.sent)
	defer b.link.Close(ctx)
	var down time.Time // until when the server is left alone
	tries := 0
	for e := range b.out {
		if time.Now().Before(down) || ctx.Err() != nil {
			b.forget(e, errDown)
			continue
		}
		err := b.sendOne(ctx, e)
		b.forget(e, err)
		switch _, large := errors.AsType[*LargeError](err); {
		case err == nil:
			tries = 0
		case large:
			b.Warn("an event is too large for other controllers", err)
		default:
			b.Warn("other controllers do not get the events of this one", err)
			down = time.Now().Add(backoff(tries))
			tries++
		}
	}
}

// errDown says that the server did not answer a moment ago.
var errDown = errors.New("the server does not answer")

// forget notes that an event is in the queue no longer, and what became of it.
func (b *Bus) forget(e queued, err error) {
	b.mu.Lock()
	b.bytes -= e.Cost()
	b.mu.Unlock()
	if e.done != nil {
		e.done(err)
	}
}

func (b *Bus) sendOne(ctx context.Context, e queued) error {
	if len(e.Tag) > MaxTag {
		return &LargeError{Tag: "the tag " + printable.Line(e.Tag), Size: len(e.Tag), Max: MaxTag}
	}
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	err := b.link.Send(ctx, e.Event)
	if f, ok := b.link.(Flusher); ok && err == nil && e.done != nil {
		err = f.Flush(ctx)
	}
	return err
}

// Close sends what waits, for a moment, and ends the bus.
func (b *Bus) Close() {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return
	}
	b.closed = true
	close(b.out)
	b.mu.Unlock()
	select {
	case <-b.sent:
	case <-time.After(grace):
		b.abort()
		<-b.sent
	}
	b.abort()
	b.stop()
	b.wg.Wait()
}
