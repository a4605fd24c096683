package jobs

import (
	"context"
	"errors"
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

// stageKey has, in the row of a target that gave no answer, how far it came, and
// noneCode is the return code of such a row: that of ssh.
const (
	stageKey = "stage"
	noneCode = 255
)

// FullReturn returns a target's answer as Salt hands it to a returner. The row of
// a target that gave none has the reason as its return, a return code of its own
// and, as stage, how far the target came; where states of it are known they are
// the return. It returns nil for a target that was not to begin.
func FullReturn(l Load, r fun.Return, stamp string) (*value.Map, error) {
	if r.Stage == fun.Refused && (errors.Is(r.Err, fun.ErrNotBegun) || errors.Is(r.Err, fun.ErrStopped) || errors.Is(r.Err, context.Canceled)) {
		return nil, nil
	}
	v, err := r.Value()
	if err != nil {
		return nil, err
	}
	code, success := r.Outcome()
	if r.Stage != fun.Returned {
		v, code = reason(r), int64(noneCode)
		if states := r.States(); states != nil {
			v = states
			r.Out = "highstate"
		}
	}
	m := value.MapOf(
		"fun_args", fun.Plain(l.Fun, l.Arg), "jid", l.JID, "return", v, "retcode", code, "success", success,
		"cmd", "_return", "_stamp", stamp, "fun", l.Fun, "id", r.ID,
	)
	if r.Stage != fun.Returned {
		m.Set(stageKey, r.Stage.String())
		m.Set("reason", reason(r))
	}
	if r.Out != "" {
		m.Set("out", r.Out)
	}
	if l.Metadata != nil {
		m.Set("metadata", l.Metadata)
	}
	return m, nil
}

// reason is why a target gave no answer: how far it came, and what came between.
func reason(r fun.Return) string {
	if r.Err == nil {
		return r.Stage.String()
	}
	return r.Stage.String() + ": " + r.Err.Error()
}
