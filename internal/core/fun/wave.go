package fun

import (
	"context"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"time"

	"brine/internal/py/source"
	"brine/internal/py/value"
)

// A Share is a number of targets, or a percentage of them.
type Share struct {
	N       int
	Percent float64
	percent bool
}

// ParseShare reads a number or a percentage: 3, "3", "25%" or "%25". It returns an
// error for what is neither, and for what is negative.
func ParseShare(v value.Value) (Share, error) {
	text := strings.TrimSpace(value.Str(v))
	num := strings.Trim(text, "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(num), 64)
	percent := strings.Contains(text, "%")
	switch v.(type) {
	case string, int64, float64:
	default:
		return Share{}, Errorf("%s is neither a number nor a percentage", value.Repr(v))
	}
	switch {
	case err != nil || len(text)-len(num) > 1 || math.IsNaN(x) || math.IsInf(x, 0):
		return Share{}, Errorf("%q is neither a number nor a percentage", text)
	case x < 0:
		return Share{}, Errorf("%s is negative", text)
	case percent:
		return Share{Percent: x, percent: true}, nil
	case x != math.Trunc(x) || x > math.MaxInt32:
		return Share{}, Errorf("%s is not a whole number", text)
	}
	return Share{N: int(x)}, nil
}

// Of returns how many of n targets the share is: a percentage is rounded down, and
// a number is the same for every n.
func (s Share) Of(n int) int {
	if s.percent {
		return int(min(s.Percent*float64(n)/100, math.MaxInt32))
	}
	return s.N
}

// String returns the share as it is written.
func (s Share) String() string {
	if s.percent {
		return strconv.FormatFloat(s.Percent, 'f', -1, 64) + "%"
	}
	return strconv.Itoa(s.N)
}

// A Wave says how far a wave of a job goes: up to a share of its targets, or up to
// the last target of a group.
type Wave struct {
	Upto    Share
	Tgt     value.Value // of a group; nil: the wave is a share
	TgtType string
}

// String returns the wave as it is written.
func (w Wave) String() string {
	if w.Tgt == nil {
		return w.Upto.String()
	}
	return value.Str(w.Tgt)
}

// ParseWaves reads the waves of a job: a list, or text with commas between, of
// numbers, percentages and groups. A group is a mapping of tgt and tgt_type, or the
// text of a compound target. Numbers and percentages must grow.
func ParseWaves(v value.Value) ([]Wave, error) {
	var items []value.Value
	switch v := v.(type) {
	case *value.List:
		items = v.Items
	case string:
		for s := range strings.SplitSeq(v, ",") {
			items = append(items, strings.TrimSpace(s))
		}
	default:
		items = []value.Value{v}
	}
	if len(items) == 0 {
		return nil, Errorf("waves: the list is empty")
	}
	var last [2]Share // a number, a percentage
	waves := make([]Wave, len(items))
	for i, item := range items {
		w, err := parseWave(item)
		if err != nil {
			return nil, Errorf("waves: %v", err)
		}
		waves[i] = w
		if w.Tgt != nil {
			continue
		}
		before := &last[0]
		if w.Upto.percent {
			before = &last[1]
		}
		if before.N >= w.Upto.N && before.Percent >= w.Upto.Percent {
			return nil, Errorf("waves: %s after %s: each size counts the targets of the waves before it, too, so it must be larger than the one before", w.Upto, *before)
		}
		*before = w.Upto
	}
	return waves, nil
}

func parseWave(v value.Value) (Wave, error) {
	if m, ok := v.(*value.Map); ok {
		return parseGroup(m)
	}
	if s, ok := v.(string); ok && strings.Trim(s, "0123456789.%+- ") != "" {
		return Wave{Tgt: s, TgtType: "compound"}, nil
	}
	s, err := ParseShare(v)
	switch {
	case err != nil:
		return Wave{}, Errorf("%v, nor a group of targets", err)
	case s.N == 0 && s.Percent == 0:
		return Wave{}, Errorf("%s: a wave has at least one target", s)
	case s.Percent > 100:
		return Wave{}, Errorf("%s is more than all targets", s)
	}
	return Wave{Upto: s}, nil
}

func parseGroup(m *value.Map) (Wave, error) {
	if err := KnownKeys("a group", m, "tgt", "tgt_type"); err != nil {
		return Wave{}, err
	}
	w := Wave{Tgt: m.At("tgt"), TgtType: m.Str("tgt_type")}
	switch tgt := w.Tgt.(type) {
	case string:
		if tgt != "" {
			return w, nil
		}
	case *value.List:
		if tgt.Len() > 0 {
			if w.TgtType == "" {
				w.TgtType = "list"
			}
			return w, nil
		}
	}
	return Wave{}, Errorf("a group needs tgt: a target expression")
}

// KnownKeys returns an error for a key of a mapping that is not among keys; what
// names the mapping.
func KnownKeys(what string, m *value.Map, keys ...string) error {
	for k := range m.All() {
		name := value.Str(k)
		known := false
		for _, key := range keys {
			known = known || k == key
		}
		if !known {
			return Errorf("%s has no key %q%s; there are %s", what, name, source.DidYouMean(name, keys), strings.Join(keys, ", "))
		}
	}
	return nil
}

// A WaveDone is a wave whose targets have returned.
type WaveDone struct {
	Number, Of int
	// Good are the targets of the wave on which the job succeeded.
	Good []string
}

// A NotBegunError is why a target was left out of a job that goes in waves, or of
// which a number of targets may fail. It is an [ErrNotBegun].
type NotBegunError struct {
	Wave, Of int // the wave that was the last one; Of is 1 where there are no waves
	Why      error
}

// Where names the wave that was the last one; "" where there are no waves.
func (e *NotBegunError) Where() string {
	if e.Of < 2 {
		return ""
	}
	return fmt.Sprintf("wave %d of %d", e.Wave, e.Of)
}

// Error says why.
func (e *NotBegunError) Error() string {
	if where := e.Where(); where != "" {
		return "not begun: stopped in " + where + ": " + e.Why.Error()
	}
	return "not begun: " + e.Why.Error()
}

// Is says that it is an ErrNotBegun.
func (e *NotBegunError) Is(target error) bool { return target == ErrNotBegun }

// Unwrap returns why.
func (e *NotBegunError) Unwrap() error { return e.Why }

// Retries are how often a health check is tried.
type Retries struct {
	Times    int // after the first try
	Interval time.Duration
}

// Try calls check until it succeeds or was tried often enough, and returns its last
// error. It ends early where ctx does, or may says that nothing new may start.
func (r Retries) Try(ctx context.Context, may func() bool, check func() error) error {
	for n := 0; ; n++ {
		err := check()
		if err == nil || n >= r.Times || !Sleep(ctx, r.Interval, may) {
			return err
		}
	}
}

// Sleep waits, and reports whether it waited to the end: it does not where ctx ends,
// or may says that nothing new may start.
func Sleep(ctx context.Context, d time.Duration, may func() bool) bool {
	end := time.NewTimer(d)
	defer end.Stop()
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-end.C:
			return may()
		case <-ctx.Done():
			return false
		case <-look.C:
			if !may() {
				return false
			}
		}
	}
}

// Some joins names, at most ten of them, and counts the others.
func Some(names []string) string {
	const most = 10
	if len(names) <= most+1 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// Healthy reports whether a return of a health check is a success: its return code
// is 0, it is not an error, and it is not False.
func Healthy(r Return) (bool, error) {
	if !r.Success() {
		return false, nil
	}
	v, err := r.Value()
	return v != false, err
}

// RunCheck runs the job of a health check and returns an error that names the
// targets on which it failed, as good says, or that there was none.
func RunCheck(ctx context.Context, f Fleet, job Job, good func(Return) (bool, error)) error {
	var bad []string
	why := map[string]string{}
	sum, err := f.Run(ctx, job, func(r Return) error {
		ok, err := good(r)
		if ok && err == nil {
			return nil
		}
		bad = append(bad, r.ID)
		switch {
		case err != nil:
			why[r.ID] = err.Error()
		case r.Stage != Returned && r.Err != nil:
			why[r.ID] = r.Err.Error()
		case r.Stage != Returned:
			why[r.ID] = r.Stage.String()
		case r.Retcode != 0:
			why[r.ID] = fmt.Sprintf("return code %d", r.Retcode)
		default:
			why[r.ID] = "its return is a failure"
		}
		return nil
	})
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", job.Fun, err)
	case len(sum.Targets) == 0:
		return fmt.Errorf("%s: no target matches %s", job.Fun, value.Str(job.Tgt))
	case len(bad) == 0:
		return nil
	}
	sort.Strings(bad)
	return fmt.Errorf("%s failed on %s (%s: %s)", job.Fun, Some(bad), bad[0], why[bad[0]])
}
