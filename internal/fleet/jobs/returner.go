package jobs

import (
	"context"
	"errors"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
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

// stageKey has, in the row of a target that gave no answer, how far it came.
const stageKey = "stage"

// FullReturn returns an answer as Salt hands it to a returner, with its return code
// and success. The row of a target that gave none has the reason as its return and,
// as stage, how far the target came; where states of it are known they are the
// return. It returns nil for a target that was not to begin.
func FullReturn(l Load, r fun.Return, stamp string) (*value.Map, error) {
	if r.Stage == fun.Refused && (errors.Is(r.Err, fun.ErrNotBegun) || errors.Is(r.Err, fun.ErrStopped) || errors.Is(r.Err, context.Canceled)) {
		return nil, nil
	}
	v, err := r.Value()
	if err != nil {
		return nil, err
	}
	code, success := r.Outcome()
	if l.Runner {
		return runnerReturn(l, v, code, success), nil
	}
	if r.Stage != fun.Returned {
		v = reason(r)
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
	if l.User != "" {
		m.Set("user", l.User)
	}
	if l.Metadata != nil {
		m.Set("metadata", l.Metadata)
	}
	return m, nil
}

// runnerReturn is the answer of a runner's job: the runner's data within, under the
// id of the controller. Salt: salt/utils/job.py store_job. Difference: it has the
// return code and the success as others have.
func runnerReturn(l Load, data, code, success value.Value) *value.Map {
	return value.MapOf("jid", l.JID, "return", data, "retcode", code, "success", success, "tgt", l.Tgt, "user", l.User, "fun", l.Fun, "id", l.Tgt)
}

// reason is why a target gave no answer: how far it came, and what came between.
func reason(r fun.Return) string {
	if r.Err == nil {
		return r.Stage.String()
	}
	return r.Stage.String() + ": " + r.Err.Error()
}
