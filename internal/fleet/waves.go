package fleet

import (
	"fmt"
	"slices"

	"brine/internal/fun"
)

// without returns those of ids that are not among others.
func without(ids, others []string) []string {
	if len(others) == 0 {
		return ids
	}
	not := make(map[string]bool, len(others))
	for _, id := range others {
		not[id] = true
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return not[id] })
}

// enter has a wave be the one that is under way.
func (r *running) enter(number int, waves [][]string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.wave == number {
		return
	}
	r.wave, r.of, r.good, r.ill = number, len(waves), nil, nil
	r.begun += len(waves[number-1])
}

// passOver notes on which targets of the wave an earlier run succeeded, and whether
// others are left.
func (r *running) passOver(ids []string, left bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.good, r.ran = ids, left
}

// fails reports whether a return counts as a failure.
func (r *running) fails(ret fun.Return) bool {
	if r.job.Fails != nil {
		return r.job.Fails(ret)
	}
	return ret.Failed()
}

// count takes in whether a target failed, and halts the job where too many did. mu
// is held.
func (r *running) count(id string, bad bool) {
	if !bad {
		if r.of > 1 {
			r.good = append(r.good, id)
		}
		return
	}
	r.bad++
	r.ill = append(r.ill, id)
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

// What became of a wave, as its events say.
const (
	waveStarted = "started"
	waveEnded   = "ended"
	waveStopped = "stopped" // by its check
)
