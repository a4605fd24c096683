package natsbus

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"brine/internal/core/event"
	"brine/internal/core/printable"
	"brine/internal/fleet/bus"
	"brine/internal/py/value"
)

// History calls each with the events that the stream has stored since a time, in their order,
// until each returns false or there are no more. Those of this controller are among them.
func (l *Link) History(ctx context.Context, since time.Time, each func(event.Event) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ask, done := context.WithTimeout(ctx, dialTimeout)
	defer done()
	stream, end, err := l.stream(ctx, ask)
	if err != nil {
		return worded(err)
	}
	defer end()
	last := stream.CachedInfo().State.LastSeq
	// An ordered consumer would wait for ever for a connection that has ended.
	consumer, err := stream.CreateConsumer(ask, jetstream.ConsumerConfig{
		FilterSubjects: []string{l.o.Prefix + ".>"}, DeliverPolicy: jetstream.DeliverByStartTimePolicy, OptStartTime: &since,
		AckPolicy: jetstream.AckNonePolicy, InactiveThreshold: 5 * time.Minute, MemoryStorage: true,
	})
	if err != nil || consumer.CachedInfo().NumPending == 0 {
		return worded(err)
	}
	for n := uint64(0); ; {
		batch, err := consumer.Fetch(fetchMost, jetstream.FetchMaxWait(dialTimeout))
		if err != nil {
			return worded(err)
		}
		before := n
		for m := range batch.Messages() {
			meta, err := m.Metadata()
			if err != nil {
				return err
			}
			if n++; meta.Sequence.Consumer != n {
				return errCut
			}
			if e, ok := l.stored(m, meta); ok && !each(e) {
				return nil
			}
			if meta.NumPending == 0 || meta.Sequence.Stream >= last || ctx.Err() != nil {
				return ctx.Err()
			}
		}
		if err := batch.Error(); err != nil && !errors.Is(err, nats.ErrTimeout) {
			return worded(err)
		}
		if n > before {
			continue
		}
		again, done := context.WithTimeout(ctx, dialTimeout)
		info, err := consumer.Info(again)
		done()
		switch {
		case err != nil:
			return worded(err)
		case info.NumPending > 0 || info.Delivered.Consumer != n:
			return errCut
		}
		return nil // the rest was removed meanwhile
	}
}

// fetchMost is how many events are asked for at once.
const fetchMost = 256

// errCut says that not all that the stream has was read.
var errCut = errors.New("the server of the stream does not answer")

// Now returns the time by the clock of the server, which is that of what its stream stores.
func (l *Link) Now(ctx context.Context) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	stream, end, err := l.stream(ctx, ctx)
	if err != nil {
		return time.Time{}, worded(err)
	}
	defer end()
	return stream.CachedInfo().TimeStamp, nil
}

// stream finds the stream over a connection of its own, which lasts until end is called or ctx
// ends.
func (l *Link) stream(ctx, ask context.Context) (stream jetstream.Stream, end func(), err error) {
	nc, err := nats.Connect(l.o.URL, append([]nats.Option{
		nats.Name(l.o.Name), nats.NoReconnect(), nats.IgnoreDiscoveredServers(), nats.Timeout(dialTimeout), nats.SetCustomDialer(until(ctx)),
	}, l.auth...)...)
	if err != nil {
		return nil, nil, err
	}
	js, err := jetstream.New(nc)
	if err == nil {
		stream, err = js.Stream(ask, l.o.Stream)
	}
	if err != nil {
		nc.Close()
		return nil, nil, err
	}
	return stream, nc.Close, nil
}

// stored reads an event of the stream, if it is a valid one.
func (l *Link) stored(m jetstream.Msg, meta *jetstream.MsgMetadata) (e event.Event, ok bool) {
	tag, ok := Tag(l.o.Prefix, m.Subject())
	if !ok || tag == "" || len(tag) > bus.MaxTag || printable.Line(tag) != tag {
		return e, false
	}
	data := value.NewMap(1)
	if len(m.Data()) > 0 {
		if data = bus.Decode(string(m.Data())); data == nil {
			return e, false
		}
	}
	if !data.Has("_stamp") {
		data.Set("_stamp", meta.Timestamp.UTC().Format(event.StampFormat))
	}
	return event.Event{Seq: meta.Sequence.Stream, Tag: tag, Data: data, Stamp: meta.Timestamp}, true
}
