package fleet

import (
	"slices"

	"brine/internal/core/fun"
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
	r.wave, r.of, r.waveSucceeded, r.waveFailed = number, len(waves), nil, nil
	r.begun += len(waves[number-1])
}

// passOver notes on which targets of the wave an earlier run succeeded, and whether
// others are left.
func (r *running) passOver(ids []string, left bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waveSucceeded, r.ran = ids, left
}

// judge reports whether a return counts as a failure, and whether it is a success.
func (r *running) judge(ret fun.Return) (failed, good bool) {
	if r.job.Judge != nil {
		return r.job.Judge(ret)
	}
	return !ret.Success(), ret.Success()
}

// What became of a wave, as its events say.
const (
	waveStarted = "started"
	waveEnded   = "ended"
	waveStopped = "stopped" // by its check
)
