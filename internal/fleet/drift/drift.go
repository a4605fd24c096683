// Package drift keeps for each host when it last agreed with its states and what
// deviates since. A [Store] is a directory with one file for each subject, which is
// what was planned: [Store.Put] takes what a plan found in, [Store.All] reads all.
package drift

import (
	"cmp"
	"slices"
	"time"
)

// The statuses of a host. Only one that was looked at agrees or deviates.
const (
	Agrees      = "agrees"      // all of its states were looked at, and none would change
	Deviates    = "deviates"    // a state would change something, or would fail
	Unknown     = "unknown"     // of a state it is not known whether it would change something
	Unreachable = "unreachable" // it did not answer
	NoPlan      = "no plan"     // its states do not compile, or there is another error
	Outdated    = "outdated"    // of a report: it was looked at too long ago
)

// Statuses returns the statuses, the one that matters most first.
func Statuses() []string {
	return []string{Deviates, Unknown, Unreachable, NoPlan, Outdated, Agrees}
}

// MaxAge is the age from which on what is known of a host that agrees is outdated,
// where nobody says another one: that of a job each day, with some hours to run.
const MaxAge = 36 * time.Hour

// Bounds of what is kept.
const (
	MaxSubjects   = 200
	MaxHosts      = 20_000 // of a subject
	maxDeviations = 20     // of a host; the others are counted
	maxText       = 300    // bytes
	maxFile       = 64 << 20
	maxAhead      = time.Hour // how far the clock of who wrote may be ahead
)

// A Record is what is known of a host.
type Record struct {
	Host   string `json:"host"`
	Status string `json:"status"`
	Why    string `json:"why,omitempty"` // it is not known, was not reached or has no plan
	// Tried is when a plan meant the host the last time, Looked when it answered,
	// Agreed when it agreed. Since is when it answered for the first time after that and
	// did not agree. Times that were never are zero.
	Tried  time.Time `json:"tried"`
	Looked time.Time `json:"looked,omitzero"`
	Agreed time.Time `json:"agreed,omitzero"`
	Since  time.Time `json:"since,omitzero"`
	// What the host answered when it was looked at: how many states there were, and how
	// many of them deviate or are not known.
	States     int         `json:"states"`
	Due        int         `json:"due"`
	Deviations []Deviation `json:"deviations,omitempty"` // the first of these
}

// A Deviation is a state that deviates, or of which that is not known. It has no
// content of files.
type Deviation struct {
	ID     string `json:"id"`
	Fun    string `json:"fun"`
	Name   string `json:"name,omitempty"`
	SLS    string `json:"sls,omitempty"`
	Effect string `json:"effect"`
	Text   string `json:"text,omitempty"`
}

// A Seen is what a plan found on a host, by when it was made. The texts have no
// secrets.
type Seen struct {
	Host, Status, Why string
	States            int
	Due               []Deviation
}

// looked reports whether the status is of a host that answered.
func looked(status string) bool {
	return status == Agrees || status == Deviates || status == Unknown
}

// take returns a record with what was seen at a time. A plan that is older than the
// record says nothing.
func (r Record) take(s Seen, at time.Time) Record {
	if r.Tried.After(at) {
		return r
	}
	r.Host, r.Status, r.Why, r.Tried = s.Host, s.Status, cut(s.Why), at
	if !looked(s.Status) {
		return r
	}
	r.Looked, r.States, r.Due, r.Deviations = at, s.States, len(s.Due), nil
	for _, d := range s.Due[:min(len(s.Due), maxDeviations)] {
		r.Deviations = append(r.Deviations, Deviation{cut(d.ID), cut(d.Fun), cut(d.Name), cut(d.SLS), cut(d.Effect), cut(d.Text)})
	}
	switch {
	case s.Status == Agrees:
		r.Agreed, r.Since = at, time.Time{}
	case r.Since.IsZero():
		r.Since = at
	}
	return r
}

// At returns the status of a host at a time: outdated if what is known of one that
// agrees is older than an age. 0 is any age.
func (r Record) At(now time.Time, age time.Duration) string {
	if r.Status == Agrees && age > 0 && now.Sub(r.Looked) > age {
		return Outdated
	}
	return r.Status
}

// fault says what no record has; "" where that is nothing.
func (r Record) fault(now time.Time) string {
	switch {
	case r.Host == "" || len(r.Host) > maxText:
		return "host"
	case r.Status == Outdated || !slices.Contains(Statuses(), r.Status):
		return "status"
	case r.Tried.IsZero() || r.Tried.After(now.Add(maxAhead)):
		return "tried"
	case r.Looked.After(r.Tried) || looked(r.Status) && !r.Looked.Equal(r.Tried):
		return "looked"
	case r.Agreed.After(r.Looked) || (r.Status == Agrees) && !r.Agreed.Equal(r.Looked):
		return "agreed"
	case r.Since.After(r.Looked), r.Status == Agrees && !r.Since.IsZero(), (r.Status == Deviates || r.Status == Unknown) && r.Since.IsZero():
		return "since"
	case r.States < 0, r.Due < len(r.Deviations), len(r.Deviations) > maxDeviations, r.Status == Agrees && (r.Due > 0 || r.States == 0), r.Status == Deviates && r.Due == 0:
		return "states"
	}
	texts := []string{r.Why}
	for _, d := range r.Deviations {
		texts = append(texts, d.ID, d.Fun, d.Name, d.SLS, d.Effect, d.Text)
	}
	if slices.ContainsFunc(texts, func(s string) bool { return len(s) > maxText }) {
		return "texts"
	}
	return ""
}

// cut bounds a text.
func cut(s string) string {
	const more = "..."
	if len(s) <= maxText {
		return s
	}
	n := maxText - len(more)
	for n > 0 && s[n]&0xc0 == 0x80 { // within a character
		n--
	}
	return s[:n] + more
}

// A Subject is what was planned, with the hosts that it was planned for.
type Subject struct {
	Name    string
	Records []Record // sorted by host
	Damaged int      // records that are not to be trusted, and are not among them
}

// tried is when the subject was planned the last time.
func (s *Subject) tried() time.Time {
	var at time.Time
	for _, r := range s.Records {
		if r.Tried.After(at) {
			at = r.Tried
		}
	}
	return at
}

func byHost(a, b Record) int { return cmp.Compare(a.Host, b.Host) }
