package summary

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"brine/internal/core/cause"
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// A Tally counts what became of the targets of several jobs, such as the steps of an
// orchestration. It is safe for concurrent use.
type Tally struct {
	mu  sync.Mutex
	ids map[string]*score
}

// A score is what became of a target.
type score struct {
	n      cause.Count
	failed bool
	why    string // it failed first
	took   time.Duration
}

// Add counts the return of a target, whose value is v. step is what the job is called in
// front of the reason of a failure; mask hides the secrets in a text.
func (t *Tally) Add(step string, ret fun.Return, v value.Value, mask func(string) string) {
	n, isRun := cause.CountOf(v)
	var why string
	switch {
	case ret.Stage != fun.Returned:
		n, _ = cause.CountOf(ret.Partial)
		n.Failed++
		why = outcomeText(ret, v, mask)
	case !ret.Success():
		if !isRun || n.Failed == 0 {
			n = cause.Count{Failed: 1}
		}
		why = cause.Of("", v, int64(ret.Retcode), cause.Options{Mask: mask}).Line(maxReason)
	case !isRun:
		n = cause.Count{Same: 1}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ids == nil {
		t.ids = map[string]*score{}
	}
	s := t.ids[ret.ID]
	if s == nil {
		s = &score{}
		t.ids[ret.ID] = s
	}
	s.n.Add(n)
	s.took += tookOf(v)
	if !ret.Success() && !s.failed {
		s.failed, s.why = true, cmp.Or(why, "failed")
		if step != "" {
			s.why = step + ": " + s.why
		}
	}
}

// Outcomes returns what became of each target, in the order of their ids.
func (t *Tally) Outcomes() []Outcome {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]Outcome, 0, len(t.ids))
	for id, s := range t.ids {
		x := Outcome{ID: id, Text: countText(s.n), Failed: s.failed, Took: s.took}
		if s.failed {
			x.Text += ": " + s.why
		}
		out = append(out, x)
	}
	slices.SortFunc(out, func(a, b Outcome) int { return CompareIDs(a.ID, b.ID) })
	return out
}

// tookOf is how long the states of a run took; 0 where that is not known.
func tookOf(v value.Value) time.Duration {
	n, _ := cause.CountOf(v)
	return n.Took
}

// A span is the shortest and the longest of times.
type span struct{ from, to time.Duration }

func (s *span) add(d time.Duration) {
	if d <= 0 {
		return
	}
	if s.from == 0 || d < s.from {
		s.from = d
	}
	s.to = max(s.to, d)
}

// String is the span behind a line: ", 1.2 s" or ", 1.2 to 3.4 s"; "" where no time is
// known.
func (s *span) String() string {
	from, to := fmt.Sprintf("%.1f", s.from.Seconds()), fmt.Sprintf("%.1f", s.to.Seconds())
	if to == "0.0" {
		return ""
	}
	if from == to {
		return ", " + to + " s"
	}
	return ", " + from + " to " + to + " s"
}
