// Package event is the event bus of a run.
//
// A [Bus] is a bounded, numbered ring: whoever waits reads from a number that
// it noted earlier, so nothing that was fired between is missed, and a slow
// reader loses the oldest events instead of slowing the run.
package event

import (
	"context"
	"time"

	"brine/internal/py/value"
)

// An Event is a tag with data.
type Event struct {
	Seq  uint64 // number on its bus, from 1
	Tag  string
	Data *value.Map // holds _stamp as in Salt
	// Stamp is when the event came; for one of a stream, which keeps events, when that
	// stored it, by the clock of its server.
	Stamp time.Time
	// Foreign says that the event came from another process, and Remote that it came
	// from another controller.
	Foreign, Remote bool
	// Unstamped says that _stamp is when the event was received, since its sender gave
	// none: others that receive it give it another one.
	Unstamped bool

	cost int
}

// Cost returns about how many bytes of memory the data of an event takes that a [Ring] or
// [Peers.Watch] handed out.
func (e Event) Cost() int { return e.cost }

// CauseKey is the key of the data of an event that a reaction led to: the jids of the
// reactions before it, the oldest first.
const CauseKey = "brine_cause"

// LostTag is the tag of an event which says that a reader was too slow for some others:
// lost is how many.
const LostTag = "brine/events/lost"

// A Bus carries the events of a run. It is safe for concurrent use.
type Bus interface {
	// Fire puts an event on the bus; it never waits for a reader. data gets
	// the key _stamp (UTC, microseconds) where it has none.
	Fire(tag string, data *value.Map)
	// Seq returns the number of the newest event; 0 before the first.
	Seq() uint64
	// Next returns the first event numbered above after for which match (nil:
	// all) is true, waiting for it until ctx ends (its error is returned).
	// lost is how many events between were gone from the ring before they
	// could be read.
	Next(ctx context.Context, after uint64, match func(Event) bool) (e Event, lost uint64, err error)
}
