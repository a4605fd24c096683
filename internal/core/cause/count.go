package cause

import (
	"strings"
	"time"

	"brine/internal/py/value"
)

// A Count is how many states of a run ended in which way. Each state is in one of the fields but
// Touched.
type Count struct {
	Same    int // as it should be: nothing was changed
	Changed int // done, with changes
	Due     int // in test mode: it would change something, or nobody can tell
	Failed  int
	NotRun  int // see [NotRun]
	// Touched is how many changed something, failed ones among them.
	Touched int
	// Took is how long the states took, one after the other.
	Took time.Duration
}

// maxTook bounds what a state says that it took: a host may say anything.
const maxTook = 1000 * time.Hour

// CountOf counts the states of a run that a host returned; false for a value that has none.
func CountOf(v value.Value) (n Count, ok bool) {
	m, isMap := v.(value.Mapping)
	if !isMap || m.Len() == 0 {
		return n, false
	}
	for _, k := range keys(m) {
		tag, isText := k.(string)
		x, _ := m.Get(k)
		ret, isMap := x.(value.Mapping)
		if !isMap || !isText || !strings.Contains(tag, "_|-") {
			return Count{}, false
		}
		if _, has := ret.Get("result"); !has {
			return Count{}, false
		}
		n.Add(CountState(ret))
	}
	return n, true
}

// CountState counts one state, by its return.
func CountState(ret value.Mapping) (n Count) {
	touched, result := value.Truth(at(ret, "changes")), at(ret, "result")
	switch {
	case NotRun(ret):
		n.NotRun++
	case result == nil:
		n.Due++
		touched = false
	case !value.Truth(result):
		n.Failed++
	case touched:
		n.Changed++
	default:
		n.Same++
	}
	if touched {
		n.Touched++
	}
	if ms, ok := at(ret, "duration").(float64); ok && ms > 0 {
		n.Took = time.Duration(min(ms, float64(maxTook.Milliseconds())) * float64(time.Millisecond))
	}
	return n
}

// Add adds the states of another run.
func (n *Count) Add(o Count) {
	n.Same += o.Same
	n.Changed += o.Changed
	n.Due += o.Due
	n.Failed += o.Failed
	n.NotRun += o.NotRun
	n.Touched += o.Touched
	n.Took = min(n.Took+o.Took, maxTook)
}
