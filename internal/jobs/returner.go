package jobs

import (
	"context"
	"time"

	"brine/internal/fun"
	"brine/internal/value"
)

// A Returner stores the returns of jobs somewhere else. Its methods are called
// by one goroutine at a time.
type Returner interface {
	// Return stores answers, each a dict with Salt's keys (see [FullReturn]).
	// Where it fails, all of them are given to it again, save what it took by a
	// [PartialError]; where it [Refused] them, in parts.
	Return(ctx context.Context, rets []*value.Map) error
	// Close ends what New began.
	Close() error
}

// A LoadSaver is a Returner that stores loads, too.
type LoadSaver interface {
	SaveLoad(ctx context.Context, loads []*value.Map) error
}

// An EventSaver is a Returner that stores events.
type EventSaver interface {
	SaveEvents(ctx context.Context, events []EventRow) error
}

// A Cleaner is a Returner that forgets: what is older than keep is removed, or
// with archive put aside. It does so in steps that hold nobody up, and ends
// between two of them when ctx does.
type Cleaner interface {
	Clean(ctx context.Context, keep time.Duration, archive bool) error
}

// An Unstorer is a Returner that can tell which answers it has not. One that is
// none may be given an answer twice, where a process was killed between sending
// it and noting that.
type Unstorer interface {
	Unstored(ctx context.Context, rets []*value.Map) ([]*value.Map, error)
}

// An EventRow is an event as stores keep it.
type EventRow struct {
	Tag    string
	Data   *value.Map
	Master string // id of the controller
}

// FullReturn returns a target's answer as Salt hands it to a returner. It
// returns nil for a target that gave none.
func FullReturn(l Load, r fun.Return, stamp string) (*value.Map, error) {
	if r.Stage != fun.Returned {
		return nil, nil
	}
	v, err := r.Value()
	if err != nil {
		return nil, err
	}
	m := value.MapOf(
		"fun_args", l.Arg, "jid", l.JID, "return", v, "retcode", int64(r.Retcode), "success", r.Success(),
		"cmd", "_return", "_stamp", stamp, "fun", l.Fun, "id", r.ID,
	)
	if r.Out != "" {
		m.Set("out", r.Out)
	}
	if l.Metadata != nil {
		m.Set("metadata", l.Metadata)
	}
	return m, nil
}
