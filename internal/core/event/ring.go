package event

import (
	"context"
	"slices"
	"sync"
	"time"

	"brine/internal/py/value"
)

// DefaultSize is how many events a ring keeps unless told otherwise: those of
// a step on some thousand targets.
const DefaultSize = 16384

// maxBytes is about how much memory the events of a ring take at most: beyond
// that the oldest are forgotten sooner.
const maxBytes = 64 << 20

// A Ring is the Bus of one process.
type Ring struct {
	now  func() time.Time
	size int

	mu    sync.Mutex
	buf   []Event // buf[(seq-1)%len] is event seq
	first uint64  // number before that of the oldest event which is still there
	kept  int     // how many there are
	total int     // cost of these
	seq   uint64
	added chan struct{} // closed at the next Fire; nil while nobody waits
	taps  []func(Event)
	mask  func(value.Value) value.Value // of data; nil: they stay as they are
	bound int                           // of the bytes of data; 0: there is none
	cause *value.List                   // of the events of this process; nil: there is none
}

// NewRing returns a ring of size events (DefaultSize where it is 0) whose
// stamps come from now.
func NewRing(size int, now func() time.Time) *Ring {
	if size <= 0 {
		size = DefaultSize
	}
	return &Ring{now: now, size: size}
}

// StampFormat is how Salt writes _stamp.
const StampFormat = "2006-01-02T15:04:05.000000"

// Fire puts an event on the ring; see [Bus].
func (r *Ring) Fire(tag string, data *value.Map) { r.fire(tag, data, time.Time{}, false, false) }

// FireForeign puts an event of another process on the ring.
func (r *Ring) FireForeign(tag string, data *value.Map) { r.fire(tag, data, time.Time{}, true, false) }

// FireRemote puts an event of another controller on the ring. stored is when a stream stored it;
// zero: there is none.
func (r *Ring) FireRemote(tag string, data *value.Map, stored time.Time) {
	r.fire(tag, data, stored, true, true)
}

func (r *Ring) fire(tag string, data *value.Map, stored time.Time, foreign, remote bool) {
	now := r.now().UTC()
	if stored.IsZero() {
		stored = now
	}
	if data == nil {
		data = value.NewMap(1)
	}
	if !foreign {
		r.mu.Lock()
		cause := r.cause
		r.mu.Unlock()
		data = caused(data, cause)
	}
	data = r.Shape(data)
	unstamped := !data.Has("_stamp")
	if unstamped {
		data = stamped(data, now)
	}
	r.mu.Lock()
	r.seq++
	e := Event{Seq: r.seq, Tag: tag, Data: data, Stamp: stored, Foreign: foreign, Remote: remote, Unstamped: unstamped, cost: costOf(data, 0)}
	if len(r.buf) < r.size {
		r.buf = append(r.buf, e)
	} else {
		if r.kept == r.size {
			r.drop()
		}
		at := (r.seq - 1) % uint64(len(r.buf))
		r.buf[at] = e
	}
	r.kept++
	r.total += e.cost
	for r.total > maxBytes && r.kept > 1 {
		r.drop()
	}
	if r.added != nil {
		close(r.added)
		r.added = nil
	}
	taps := r.taps
	r.mu.Unlock()
	for _, tap := range taps {
		tap(e)
	}
}

// Shape is data as the ring hands it out: without secrets, and bounded.
func (r *Ring) Shape(data *value.Map) *value.Map {
	r.mu.Lock()
	mask, bound := r.mask, r.bound
	r.mu.Unlock()
	if bound > 0 {
		data = trim(data, bound)
	}
	if mask != nil {
		data, _ = mask(data).(*value.Map)
	}
	return data
}

// stamped is data with the time at which its event was fired.
func stamped(data *value.Map, now time.Time) *value.Map {
	data = data.Copy()
	data.Set("_stamp", now.UTC().Format(StampFormat))
	return data
}

// caused is data with what led to its event, if that is known.
func caused(data *value.Map, cause *value.List) *value.Map {
	if cause.Len() == 0 || data.Has(CauseKey) {
		return data
	}
	data = data.Copy()
	data.Set(CauseKey, cause)
	return data
}

// Cause has events of this process say from now on which reactions led to them.
func (r *Ring) Cause(cause *value.List) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cause = cause
}

// drop forgets the oldest event.
func (r *Ring) drop() {
	at := r.first % uint64(r.size)
	r.first++
	r.total -= r.buf[at].cost
	r.buf[at] = Event{}
	r.kept--
}

// costOf returns about how many bytes of memory data takes.
func costOf(v value.Value, depth int) int {
	const node = 48
	n := node
	if depth > 100 {
		return n
	}
	switch v := v.(type) {
	case string:
		n += len(v)
	case value.Bytes:
		n += len(v)
	case *value.List:
		for i := range v.Len() {
			n += costOf(v.Items[i], depth+1)
		}
	case value.Tuple:
		for _, x := range v {
			n += costOf(x, depth+1)
		}
	case *value.Map:
		for k, x := range v.All() {
			n += node + costOf(k, depth+1) + costOf(x, depth+1)
		}
	}
	return n
}

// Mask has what f returns fired in the place of data from now on: it takes
// secrets out.
func (r *Ring) Mask(f func(value.Value) value.Value) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mask = f
}

// Bound has values left out of the data of events that take more than n bytes from
// now on, as Salt's max_event_size does: the text VALUE_TRIMMED stands in their place.
func (r *Ring) Bound(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bound = n
}

// Tap has f called with every event fired from now on, in the goroutine that
// fires it: f must not wait.
func (r *Ring) Tap(f func(Event)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taps = append(slices.Clip(r.taps), f)
}

// Seq returns the number of the newest event; 0 before the first.
func (r *Ring) Seq() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seq
}

// Next returns the first event after a number that matches; see [Bus].
func (r *Ring) Next(ctx context.Context, after uint64, match func(Event) bool) (e Event, lost uint64, err error) {
	for {
		r.mu.Lock()
		oldest := r.seq - uint64(r.kept) + 1
		if after+1 < oldest {
			lost += oldest - after - 1
			after = oldest - 1
		}
		for after < r.seq {
			after++
			e := r.buf[(after-1)%uint64(len(r.buf))]
			if match == nil || match(e) {
				r.mu.Unlock()
				return e, lost, nil
			}
		}
		if r.added == nil {
			r.added = make(chan struct{})
		}
		wait := r.added
		r.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return Event{}, lost, ctx.Err()
		}
	}
}
