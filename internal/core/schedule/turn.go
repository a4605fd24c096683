package schedule

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"brine/internal/py/value"
)

// Key names the job on all controllers that have the same one: a job of the same
// name with another call is another job.
func (j *Job) Key() string {
	call := value.EncodeJSON(value.MapOf("function", j.Function, "args", value.NewList(j.Args...), "kwargs", j.Kwargs))
	sum := sha256.Sum256(call)
	return j.Name + "#" + hex.EncodeToString(sum[:6])
}

// maxDue bounds how many due times are looked at for the last of them.
const maxDue = 100_000

// LastDue returns the newest time of the calendar at which the job was due, at now
// or before; false for a job that runs every so often, and where there was none.
func (j *Job) LastDue(now time.Time) (last time.Time, ok bool) {
	if j.Every > 0 {
		return last, false
	}
	now = now.Add(early)
	for _, window := range []time.Duration{late + j.SplayMax, time.Hour, 25 * time.Hour, 8 * 24 * time.Hour, 367 * 24 * time.Hour} {
		t := now.Add(-window)
		for range maxDue {
			next, more := j.regular(t, t)
			if !more || next.After(now) || !next.After(t) {
				break
			}
			t, last, ok = next, next, true
		}
		if ok {
			break
		}
	}
	for _, t := range j.Runs {
		if !t.After(now) && (!ok || t.After(last)) {
			last, ok = t, true
		}
	}
	return last, ok
}

// Slack is how much earlier than after a whole interval a job may be due: timers are
// put off by chance.
func (j *Job) Slack() time.Duration { return min(late+j.SplayMax, j.Every/2) }
