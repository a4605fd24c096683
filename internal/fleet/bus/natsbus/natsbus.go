// Package natsbus is a bus between controllers over NATS. The subject of a message is
// the tag of the event, see [Subject]; its body is the data of the event as JSON.
package natsbus

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"brine/internal/core/event"
	"brine/internal/fleet/bus"
	"brine/internal/py/value"
)

// fromHeader is the header that names the processes which hear each other without
// the bus.
const fromHeader = "Brine-From"

// Limits of what waits to be taken.
const (
	maxPending      = 4096
	maxPendingBytes = 64 << 20
)

// dialTimeout bounds one try to connect, and one question to the server.
const dialTimeout = 5 * time.Second

// Options say where a server is, and who this controller is to it.
type Options struct {
	URL    string // of servers, with commas between them
	Name   string // of the connection, for who looks at the server
	From   string // of [bus.Options]
	Prefix string // of all subjects
	// Stream is the JetStream stream that keeps the events; "": none does. With it, a
	// controller that was away for a moment takes what it missed.
	Stream string
	TLS    *tls.Config // nil: only if the server wants it

	User, Password, Token string
	Credentials           []byte // a file of nsc: the user's JWT and seed
	NKey                  []byte // the seed of a user
}

// A Link is a connection to NATS; see [bus.Link].
type Link struct {
	o    Options
	auth []nats.Option

	asked time.Time // when the first connection was tried, by the clock of this machine
	tries int       // connections that were tried
	known bool      // whether last is known
	begun time.Time // what was stored before is not taken; by the server's clock
	made  time.Time // when the stream was

	mu   sync.Mutex
	nc   *nats.Conn          // nil while there is none
	js   jetstream.JetStream // of nc, with a stream
	last uint64              // number in the stream of the newest event that was taken
	at   time.Time           // when that was stored; zero: none was taken
}

// New returns a link. It connects when a bus is opened with it.
func New(o Options) (*Link, error) {
	l := &Link{o: o}
	switch {
	case o.Credentials != nil:
		jwt, err := nkeys.ParseDecoratedJWT(o.Credentials)
		key, err2 := nkeys.ParseDecoratedNKey(o.Credentials)
		if err != nil || err2 != nil {
			return nil, errors.New("credentials: the file has no JWT and seed of a user, as nsc writes them")
		}
		l.auth = append(l.auth, nats.UserJWT(func() (string, error) { return jwt, nil }, key.Sign))
	case o.NKey != nil:
		key, err := nkeys.FromSeed(o.NKey)
		if err != nil {
			return nil, errors.New("nkey: the file has no seed (a line that begins with SU)")
		}
		public, err := key.PublicKey()
		if err != nil || !nkeys.IsValidPublicUserKey(public) {
			return nil, errors.New("nkey: the seed is not that of a user (a line that begins with SU)")
		}
		l.auth = append(l.auth, nats.Nkey(public, key.Sign))
	case o.Token != "":
		l.auth = append(l.auth, nats.Token(o.Token))
	case o.User != "":
		l.auth = append(l.auth, nats.UserInfo(o.User, o.Password))
	}
	if o.TLS != nil {
		l.auth = append(l.auth, nats.Secure(o.TLS))
	}
	return l, nil
}

// A dialer connects.
type dialer func(network, address string) (net.Conn, error)

// Dial connects.
func (d dialer) Dial(network, address string) (net.Conn, error) { return d(network, address) }

// until returns a dialer whose connections end with ctx.
func until(ctx context.Context) dialer {
	return func(network, address string) (net.Conn, error) {
		dial, cancel := context.WithTimeout(ctx, dialTimeout)
		defer cancel()
		c, err := (&net.Dialer{}).DialContext(dial, network, address)
		if err != nil {
			return nil, err
		}
		context.AfterFunc(ctx, func() { _ = c.Close() })
		return c, nil
	}
}

// errClosed says that a connection ended without a reason.
var errClosed = errors.New("the connection to NATS has ended")

// Receive takes events over one connection, until it breaks; see [bus.Link].
func (l *Link) Receive(ctx context.Context, b *bus.Bus, ready func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if l.tries++; l.tries == 1 {
		l.asked = time.Now()
	}
	closed := make(chan struct{})
	nc, err := nats.Connect(l.o.URL, append([]nats.Option{
		nats.Name(l.o.Name), nats.NoReconnect(), nats.IgnoreDiscoveredServers(), nats.Timeout(dialTimeout), nats.SetCustomDialer(until(ctx)),
		nats.PingInterval(20 * time.Second), nats.MaxPingsOutstanding(2),
		nats.ClosedHandler(func(*nats.Conn) { close(closed) }),
		nats.ErrorHandler(func(_ *nats.Conn, sub *nats.Subscription, err error) {
			if sub != nil {
				b.Warn("events of other controllers are lost", err)
			} else {
				b.Warn("the server refuses something", err)
			}
		}),
	}, l.auth...)...)
	if err != nil {
		return worded(err)
	}
	defer nc.Close()
	js, stop, err := l.subscribe(ctx, nc, b)
	if err != nil {
		return worded(err)
	}
	defer stop()
	l.set(nc, js)
	defer l.set(nil, nil)
	ready()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-closed:
	}
	if err := nc.LastError(); err != nil {
		return worded(err)
	}
	return errClosed
}

// worded adds what to do to errors that do not say it.
func worded(err error) error {
	switch {
	case errors.Is(err, nats.ErrSecureConnWanted):
		return fmt.Errorf("%w: the server offers no TLS; tls: False in event_bus sends events in the clear", err)
	case errors.Is(err, jetstream.ErrStreamNotFound), errors.Is(err, jetstream.ErrNoStreamResponse):
		return fmt.Errorf("%w: an administrator of the server makes the stream that event_bus names, for all subjects of brine", err)
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return fmt.Errorf("%w: leave stream out of event_bus, or enable JetStream", err)
	}
	return err
}

func (l *Link) set(nc *nats.Conn, js jetstream.JetStream) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.nc, l.js = nc, js
}

// subscribe asks for the events of others; none that is sent after its return is
// missed.
func (l *Link) subscribe(ctx context.Context, nc *nats.Conn, b *bus.Bus) (js jetstream.JetStream, stop func(), err error) {
	ask, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	all := l.o.Prefix + ".>"
	if l.o.Stream == "" {
		sub, err := nc.Subscribe(all, func(m *nats.Msg) { l.take(b, m.Subject, m.Header, m.Data, time.Time{}) })
		if err == nil {
			err = sub.SetPendingLimits(maxPending, maxPendingBytes)
		}
		if err == nil {
			err = nc.FlushWithContext(ask)
		}
		return nil, func() {}, err
	}
	if js, err = jetstream.New(nc); err != nil {
		return nil, nil, err
	}
	stream, err := js.Stream(ask, l.o.Stream)
	if err != nil {
		return nil, nil, err
	}
	conf := jetstream.OrderedConsumerConfig{FilterSubjects: []string{all}, DeliverPolicy: jetstream.DeliverByStartSequencePolicy, InactiveThreshold: time.Minute}
	if conf.OptStartSeq = l.from(ask, b, stream); conf.OptStartSeq == 0 {
		conf.DeliverPolicy, conf.OptStartTime = jetstream.DeliverByStartTimePolicy, &l.begun
	}
	consumer, err := stream.OrderedConsumer(ask, conf)
	if err != nil {
		return nil, nil, err
	}
	cc, err := consumer.Consume(func(m jetstream.Msg) {
		if meta, err := m.Metadata(); err == nil && l.newer(meta.Sequence.Stream, meta.Timestamp) {
			l.take(b, m.Subject(), m.Headers(), m.Data(), meta.Timestamp)
		}
	}, jetstream.PullMaxMessages(256), jetstream.ConsumeErrHandler(func(_ jetstream.ConsumeContext, err error) {
		if ctx.Err() == nil && !errors.Is(err, nats.ErrConnectionClosed) {
			b.Warn("events of other controllers come late", worded(err))
		}
	}))
	if err != nil {
		return nil, nil, err
	}
	return js, cc.Stop, nil
}

// from returns the number of the first event of the stream that is to be taken: the
// next one that is fired, or after an interruption the first that was missed. 0 is the first
// since the run began, which was before the server answered.
func (l *Link) from(ctx context.Context, b *bus.Bus, stream jetstream.Stream) uint64 {
	info := stream.CachedInfo()
	state := info.State
	other := l.known && l.other(ctx, stream)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case !l.known:
		l.known, l.last, l.begun, l.made = true, state.LastSeq, info.TimeStamp, info.Created
		if l.tries > 1 { // what was fired before this connection is missed otherwise
			l.last, l.begun = 0, info.TimeStamp.Add(-time.Since(l.asked))
			return 0
		}
	case other: // numbers say nothing any more
		l.last, l.made = 0, info.Created
		if l.at.After(l.begun) {
			l.begun = l.at.Add(1)
		}
		b.Warn("the history of events is another one", fmt.Errorf("the stream %s was made again, or put back to an earlier state", l.o.Stream))
	case state.FirstSeq > l.last+1:
		b.Warn("events of other controllers are lost", fmt.Errorf("the stream %s has removed some that were fired while NATS was away", l.o.Stream))
	}
	return l.last + 1
}

// other reports whether a stream is not the one that events were taken of, or has another
// history: it was made again, or has another event, or none yet, where the last one was.
func (l *Link) other(ctx context.Context, stream jetstream.Stream) bool {
	l.mu.Lock()
	last, at, made := l.last, l.at, l.made
	l.mu.Unlock()
	info := stream.CachedInfo()
	switch {
	case !info.Created.Equal(made), info.State.LastSeq < last:
		return true
	case at.IsZero(), last < info.State.FirstSeq: // it was removed by age or number
		return false
	}
	m, err := stream.GetMsg(ctx, last)
	return err == nil && !m.Time.Equal(at)
}

// newer notes the number of an event, and reports whether it was not taken yet, and was
// stored since the run began: a stream that was made again or restored may have what is
// older.
func (l *Link) newer(seq uint64, stored time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if seq <= l.last {
		return false
	}
	l.last, l.at = seq, stored
	return !stored.Before(l.begun)
}

// take fires an event that somebody sent, if it is a valid one. stored is when the stream
// stored it, which is the same for all who take it; zero: there is no stream.
func (l *Link) take(b *bus.Bus, subject string, h nats.Header, data []byte, stored time.Time) {
	tag, ok := Tag(l.o.Prefix, subject)
	from := h.Get(fromHeader)
	if !ok || !b.Wants(from, tag) {
		return
	}
	m := value.NewMap(1)
	if len(data) > 0 {
		if m = bus.Decode(string(data)); m == nil {
			return
		}
	}
	if !stored.IsZero() && !m.Has("_stamp") {
		m.Set("_stamp", stored.UTC().Format(event.StampFormat))
	}
	b.Take(from, tag, m, stored)
}

// errNotConnected says that there is no connection.
var errNotConnected = errors.New("there is no connection to NATS")

// Send sends an event; see [bus.Link].
func (l *Link) Send(ctx context.Context, e event.Event) error {
	l.mu.Lock()
	nc, js := l.nc, l.js
	l.mu.Unlock()
	if nc == nil {
		return errNotConnected
	}
	data, err := bus.Encode(e.Data)
	if err != nil {
		return err
	}
	m := &nats.Msg{Subject: Subject(l.o.Prefix, e.Tag), Data: data, Header: nats.Header{fromHeader: {l.o.From}}}
	// The server counts the header, too, and ends a connection that sends more.
	const header = 256
	if limit := int(min(nc.MaxPayload(), bus.MaxEvent+header)) - header; len(data) > limit {
		return &bus.LargeError{Tag: e.Tag, Size: len(data), Max: limit}
	}
	if js == nil {
		return nc.PublishMsg(m)
	}
	_, err = js.PublishMsg(ctx, m)
	return worded(err)
}

// Flush has what was sent reach the server; see [bus.Flusher].
func (l *Link) Flush(ctx context.Context) error {
	l.mu.Lock()
	nc := l.nc
	l.mu.Unlock()
	if nc == nil {
		return errNotConnected
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	return nc.FlushWithContext(ctx)
}

// Close has what was sent reach the server; see [bus.Link].
func (l *Link) Close(ctx context.Context) {
	_ = l.Flush(ctx) // what does not get there is lost, as while the server is away
}
