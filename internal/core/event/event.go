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
	Seq   uint64 // number on its bus, from 1
	Tag   string
	Data  *value.Map // holds _stamp as in Salt
	Stamp time.Time
	// Foreign says that the event came from another process, and Remote that it came
	// from another controller.
	Foreign, Remote bool

	cost int
}

// Cost returns about how many bytes of memory the data of an event of a [Ring] takes.
func (e Event) Cost() int { return e.cost }

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
