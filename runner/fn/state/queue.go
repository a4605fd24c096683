package statefn

import (
	"context"
	"fmt"
	"time"

	"brine/internal/core/fun"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// turnPause is how long a run that waits for its turn sleeps before it looks
// again.
const turnPause = 250 * time.Millisecond

// A runFunc runs states. A is a pointer to a struct of arguments.
type runFunc[A asker] func(context.Context, *fun.Call, A) (fun.Result, error)

// inTurn makes a function that runs states take turns with the state runs of
// other jobs on this machine. With queue, or the option state_queue, it waits
// for those that already run; otherwise it is refused with a sentence for each;
// with concurrent it runs beside them. A call within a state run belongs to
// that run.
//
// If the cache directory is read-only or full, so that no claim can be written,
// states run without taking turns. Salt: salt/modules/state.py _check_queue,
// running. Difference: two runs that begin at the same moment do not refuse
// each other.
func inTurn[A asker](fn runFunc[A]) runFunc[A] {
	return func(ctx context.Context, c *fun.Call, a A) (fun.Result, error) {
		if !jobs.TakesTurn(ctx, c.Env.JID, c.Env.ID) {
			return fn(ctx, c, a)
		}
		o := a.options()
		queue := o.Queue
		if queue == nil {
			queue = c.Env.Opts.At("state_queue")
		}
		most, limited := queue.(int64)
		turn, others, err := jobs.RunsOf(c.Env).Enter(jobs.TurnRequest{
			JID: c.Env.JID, Fun: "state." + c.Spec.Name, Beside: o.beside(), Queue: value.Truth(queue) && most >= 0, Max: int(max(most, 0)),
		})
		switch {
		case err != nil:
			c.Env.Log().Info("the state run does not take turns with others", "err", err)
			return fn(ctx, c, a)
		case turn == nil:
			res := fun.Result{Value: runningTexts(others), Retcode: retCompile, Out: highstateOut}
			hint := "queue=True waits for it, concurrent=True runs beside it"
			if limited {
				hint = fmt.Sprintf("queue=%d waits only for fewer runs than that", most)
			}
			c.Env.Warn(fun.Warning{Text: "another state run is at work on this machine: " + hint})
			return res, nil
		}
		defer turn.End()
		if err := await(ctx, c, turn); err != nil {
			return fun.Result{}, err
		}
		return fn(jobs.WithinTurn(ctx, c.Env.ID), c, a)
	}
}

// await waits until it is a run's turn. An error is a wait that was interrupted.
func await(ctx context.Context, c *fun.Call, turn *jobs.Turn) error {
	for told := false; ; told = true {
		before, err := turn.Before()
		if err != nil || before == nil {
			return err
		}
		what := fmt.Sprintf("%s (process %s, jid %s)", before.Str("fun"), value.Str(before.At("pid")), before.Str("jid"))
		if !told {
			c.Env.Warn(fun.Warning{Text: "queue: waiting for " + what})
		}
		if !c.Env.MayStart(ctx, nil) {
			return fun.Errorf("interrupted while waiting for %s", what)
		}
		if err := c.Env.Host.Sleep(ctx, turnPause); err != nil {
			return err
		}
	}
}
