//go:build !slim

package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// waves parts the targets of a job, which are sorted, into waves; without waves it
// is one. The targets of groups come first, in the order of the groups, so that the
// same machines are in the first waves each time.
func (f *Fleet) waves(ctx context.Context, job fun.Job, ids []string) ([][]string, error) {
	if len(job.Waves) == 0 {
		return [][]string{ids}, nil
	}
	if job.Async {
		return nil, errors.New("a job that nobody waits for cannot go in waves")
	}
	order := make([]string, 0, len(ids))
	left := slices.Clone(ids)
	ends := make([]int, len(job.Waves))
	for i, w := range job.Waves {
		if w.Tgt == nil || len(ids) == 0 {
			continue
		}
		group, err := f.expression(ctx, fun.Job{Tgt: w.Tgt, TgtType: w.TgtType, Fleet: job.Fleet}, true)
		if err != nil {
			return nil, fmt.Errorf("waves: %s: %w", w, err)
		}
		for _, id := range ids {
			if why := group.unasked[id]; why != nil {
				f.warnUnasked(id, why)
			}
		}
		if f.Keep != nil && len(only(ids, group.ids)) == 0 {
			if f.Warn != nil {
				f.Warn(fun.Warning{Text: fmt.Sprintf("waves: no wave for the group %s: none of the targets within --limit is in it", w)})
			}
			continue
		}
		if len(only(ids, group.ids)) == 0 {
			return nil, fun.Errorf("waves: none of the %d targets is in the group %s", len(ids), w)
		}
		order = append(order, only(left, group.ids)...)
		left = without(left, group.ids)
		ends[i] = len(order)
	}
	order = append(order, left...)
	var waves [][]string
	at := 0
	for i, w := range job.Waves {
		end := ends[i]
		if w.Tgt == nil {
			end = min(max(1, w.Upto.Of(len(ids))), len(ids))
		}
		if end > at { // of few targets, 1 and 10% are the same
			waves = append(waves, order[at:end])
			at = end
		}
	}
	if at < len(order) {
		waves = append(waves, order[at:])
	}
	return waves, nil
}

// Waves returns the targets of each wave of a job, nil where it has none.
func (f *Fleet) Waves(ctx context.Context, job fun.Job) ([][]string, error) {
	if len(job.Waves) == 0 {
		return nil, nil
	}
	found, err := f.targets(ctx, job)
	if err != nil {
		return nil, err
	}
	return f.waves(ctx, job, found.ids)
}

// between waits before the next wave and has the one before it checked. A wave that
// was passed over is checked, too: what kept the next one from beginning may have
// been its check.
func (r *running) between(ctx context.Context) {
	r.mu.Lock()
	done, ran := fun.WaveDone{Number: r.wave, Of: r.of, Good: slices.Clone(r.waveSucceeded)}, r.ran
	r.mu.Unlock()
	slices.Sort(done.Good)
	may := func() bool { return !r.stopped(ctx) }
	if ran && r.job.WaveWait > 0 && !fun.Sleep(ctx, r.job.WaveWait, may) || r.job.WaveCheck == nil {
		return
	}
	err := r.job.WaveCheck(ctx, done)
	if err == nil || !may() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.halt = &fun.NotBegunError{Wave: done.Number, Of: done.Of, Why: fmt.Errorf("its check failed: %w", err)}
	r.fireWave(waveStopped, nil)
}

// reportWave tells the bus, and whoever watches, of a wave.
func (r *running) reportWave(state string, ids []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if state == waveStarted {
		r.f.watcher().Wave(r.job.JID, r.wave, r.of, len(ids))
	}
	r.fireWave(state, ids)
}

// fireWave fires the event of a wave. mu is held.
func (r *running) fireWave(state string, ids []string) {
	if r.f.Bus == nil {
		return
	}
	data := value.MapOf("jid", r.job.JID, "number", int64(r.wave), "of", int64(r.of), "state", state)
	if r.job.Step != "" {
		data.Set("step", r.job.Step)
	}
	if ids != nil {
		data.Set("targets", value.Strings(ids...))
	}
	if state != waveStarted {
		data.Set("failed", value.Strings(slices.Sorted(slices.Values(r.waveFailed))...))
		if r.halt != nil {
			data.Set("reason", r.halt.Error())
		}
	}
	r.f.Bus.Fire("brine/job/"+r.job.JID+"/wave", data)
}

// count takes in whether a target failed or succeeded, and halts the job where too
// many failed. mu is held.
func (r *running) count(id string, failed, good bool) {
	if good && r.of > 1 {
		r.waveSucceeded = append(r.waveSucceeded, id)
	}
	if !failed {
		return
	}
	r.bad++
	r.waveFailed = append(r.waveFailed, id)
	share := fun.Share{}
	switch {
	case r.halt != nil:
		return
	case r.job.MaxFailures != nil:
		share = *r.job.MaxFailures
	case len(r.job.Waves) > 0:
	case r.job.FailHard:
		r.halt = fun.ErrNotBegun
		return
	default:
		return
	}
	if r.bad > share.Of(r.begun) {
		r.halt = &fun.NotBegunError{Wave: max(1, r.wave), Of: r.of, Why: fmt.Errorf("%s failed (max_failures: %s)", targetsOf(r.bad), share)}
	}
}

func targetsOf(n int) string {
	if n == 1 {
		return "1 target"
	}
	return fmt.Sprintf("%d targets", n)
}
