// Package jobs knows what a job is: its id, its record, its store.
package jobs

import (
	"fmt"
	"sync"
	"time"
)

// jidLayout is Salt's format of a job id: UTC to the microsecond.
const jidLayout = "20060102150405.000000"

// JIDs makes job ids that are unique within one process. The zero JIDs is
// ready.
type JIDs struct {
	mu   sync.Mutex
	last time.Time
}

// Next returns the job id of a moment: 20 digits of UTC time to the
// microsecond, a microsecond later than the last one where they would be equal.
// Salt: salt/utils/jid.py gen_jid.
func (j *JIDs) Next(now time.Time) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	now = now.UTC().Truncate(time.Microsecond)
	if !now.After(j.last) {
		now = j.last.Add(time.Microsecond)
	}
	j.last = now
	return JIDAt(now)
}

// JIDAt is the job id of a moment.
func JIDAt(t time.Time) string {
	s := t.UTC().Format(jidLayout)
	return s[:14] + s[15:]
}

// TimeOf is the moment of a job id.
func TimeOf(jid string) (time.Time, error) {
	if !IsJID(jid) {
		return time.Time{}, fmt.Errorf("%q is not a jid", jid)
	}
	return time.ParseInLocation(jidLayout, jid[:14]+"."+jid[14:], time.UTC)
}

// IsJID reports whether s looks like a job id.
func IsJID(s string) bool {
	if len(s) != 20 {
		return false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}
