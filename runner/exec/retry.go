package exec

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// waited is the key under which an attempt keeps how long was waited after it,
// in milliseconds; fold takes it out.
const waited = "\x00waited"

// A retry is the global argument retry. A nil *retry means that a state is not
// retried.
type retry struct {
	until           bool
	attempts        int64
	interval, splay int64 // s
}

// retryOf returns c's retry, and warns of what is wrong with it.
func (r *run) retryOf(c *fun.Chunk) *retry {
	v, ok := c.Low.Get("retry")
	if !ok {
		return nil
	}
	t, mistakes := readRetry(v)
	for _, text := range mistakes {
		r.warnOnce(c, "retry", text)
	}
	return t
}

// readRetry reads the argument retry: anything but a dict means the defaults, an
// attribute of the wrong type its default. The mistakes are what a run warns of.
//
// Salt: salt/state.py State.verify_retry_data. Difference: "retry: False" is no
// retry.
func readRetry(v value.Value) (t *retry, mistakes []string) {
	if v == false || v == nil {
		return nil, nil
	}
	t = &retry{until: true, attempts: 2, interval: 30}
	m, ok := v.(*value.Map)
	if !ok {
		if v != true {
			mistakes = append(mistakes, "retry is neither True nor a dict of attempts, interval, until and splay; its defaults are used")
		}
		return t, mistakes
	}
	numbers := map[string]*int64{"attempts": &t.attempts, "interval": &t.interval, "splay": &t.splay}
	for k, x := range m.All() {
		key := value.Str(k)
		p := numbers[key]
		switch {
		case key == "until":
			b, ok := x.(bool)
			if t.until = b || !ok; ok {
				continue
			}
		case p == nil:
			mistakes = append(mistakes, fmt.Sprintf("retry has no option %q%s", key, source.DidYouMean(key, retryOptions)))
			continue
		default:
			if i, ok := value.AsInt(x); ok {
				*p = i
				continue
			}
		}
		mistakes = append(mistakes, fmt.Sprintf("retry: %s cannot be %s; the default is used", key, value.Repr(x)))
	}
	return t, mistakes
}

var retryOptions = []string{"attempts", "interval", "splay", "until"}

// next returns how long to wait before the next attempt, and whether there is
// to be one after attempt number n returned ret.
func (t *retry) next(test bool, n int, ret *value.Map) (time.Duration, bool) {
	if t == nil || test || ret.At("result") == t.until || int64(n) >= t.attempts {
		return 0, false
	}
	s := max(t.interval, 0)
	if t.splay > 0 {
		s += rand.Int64N(t.splay + 1)
	}
	return time.Duration(s) * time.Second, true
}

// fold joins the past attempts into the return of the last one.
func (t *retry) fold(test bool, past []*value.Map, last *value.Map) *value.Map {
	last.Delete(waited)
	if t == nil {
		return last
	}
	if test {
		comment := ""
		if c := last.At("comment"); value.Truth(c) {
			comment = value.Str(c)
		}
		last.Set("comment", fmt.Sprintf("%s  The state would be retried every %d seconds (with a splay of up to %d seconds) "+
			"a maximum of %d times or until a result of %s is returned", comment, t.interval, t.splay, t.attempts, value.Str(t.until)))
		return last
	}
	if len(past) == 0 {
		return last
	}
	var lines []string
	total, _ := last.At("duration").(float64)
	for i, p := range past {
		lines = append(lines, fmt.Sprintf(`Attempt %d: Returned a result of "%s", with the following comment: "%s"`,
			i+1, value.Str(p.At("result")), value.Str(p.At("comment"))))
		d, _ := p.At("duration").(float64)
		w, _ := p.At(waited).(float64)
		total += d + w
	}
	comment := ""
	if c := withText(last).At("comment"); value.Truth(c) {
		comment = value.Str(c)
	}
	last.Set("comment", strings.Join(append(lines, comment), "\n"))
	last.Set("duration", total)
	last.Set("start_time", past[0].At("start_time"))
	return last
}
