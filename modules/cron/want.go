package cron

import (
	"math/rand/v2"
	"strconv"
	"strings"

	"brine/internal/core/fun"
)

// random is the word for a time that is picked once.
const random = "random"

// A Want is a job that is to be in a crontab.
type Want struct {
	Job
	// AnyID keeps the identifier of a job that exists, as does a Comment that is
	// not set.
	AnyID bool
}

// times returns the fields of a timed job by their names.
func (j *Job) times() []*string {
	return []*string{&j.Minute, &j.Hour, &j.DayMonth, &j.Month, &j.DayWeek}
}

var timeNames = [...]string{"minute", "hour", "daymonth", "month", "dayweek"}

// Check returns what is wrong with the job: text that would not stay on its line
// or in its field.
func (w *Want) Check() error {
	for _, s := range []struct{ name, text string }{{"name", w.Cmd}, {"identifier", w.Identifier}} {
		if strings.ContainsAny(s.text, "\r\n\x00") {
			return fun.Errorf("%s must be a single line", s.name)
		}
	}
	if strings.TrimSpace(w.Cmd) == "" {
		return fun.Errorf("the command is empty")
	}
	if strings.ContainsAny(w.Comment, "\r\x00") {
		return fun.Errorf("comment has characters that a crontab cannot hold")
	}
	if w.Special != "" {
		if strings.ContainsAny(w.Special, " \t\r\n\x00") {
			return fun.Errorf("special must be a single word such as @daily, not %q", w.Special)
		}
		return nil
	}
	for i, f := range w.times() {
		*f = strings.ToLower(strings.TrimSpace(*f))
		if *f == "" || strings.ContainsAny(*f, " \t\r\n\x00") {
			return fun.Errorf("%s must be a single field such as 5, */10 or mon-fri, not %q", timeNames[i], *f)
		}
		if _, _, err := randomRange(*f); err != nil {
			return err
		}
	}
	return nil
}

// randomRange returns the bounds of a time "low:high", 0, 0 for another time.
func randomRange(field string) (low, high int, err error) {
	a, b, ok := strings.Cut(field, ":")
	if !ok || strings.Contains(b, ":") {
		return 0, 0, nil
	}
	low, err1 := strconv.Atoi(a)
	high, err2 := strconv.Atoi(b)
	if err1 != nil || err2 != nil || low < 0 || high < 0 || low > 1000 || high > 1000 {
		return 0, 0, fun.Errorf("a random time between two bounds is written as two numbers, not %q", field)
	}
	return min(low, high), max(low, high), nil
}

// differs reports whether a field that exists is not what is wanted. A random
// time is any, once it is picked.
func differs(have, want string) bool {
	if have == want {
		return false
	}
	if want == random {
		return have == "*" || have == ""
	}
	if low, high, _ := randomRange(want); strings.Contains(want, ":") {
		n, err := strconv.Atoi(have)
		return err != nil || n < low || n > high
	}
	return true
}

// Due reports whether a job that exists has to be changed.
// Salt: salt/modules/cron.py _needs_change.
func (w *Want) Due(have *Job) bool {
	if have.Cmd != w.Cmd || have.Special != w.Special || have.Commented != w.Commented {
		return true
	}
	if w.HasComment && !have.sameComment(&w.Job) || have.Identifier != w.Identifier && !w.AnyID {
		return true
	}
	if w.Special != "" {
		return false
	}
	old := have.times()
	for i, f := range w.times() {
		if differs(*old[i], *f) {
			return true
		}
	}
	return false
}

// Put puts the job in, in the place of have unless that is nil.
func (w *Want) Put(t *Tab, have *Job) {
	j := w.Job
	if have != nil {
		if !w.HasComment {
			j.Comment, j.HasComment = have.Comment, have.HasComment
		}
		if w.AnyID {
			j.Identifier, j.HasIdentifier = have.Identifier, have.HasIdentifier
		}
		old := have.times()
		for i, f := range j.times() {
			if *old[i] != "" && !differs(*old[i], *f) {
				*f = *old[i]
			}
		}
		t.Remove(have)
	}
	if j.Special == "" {
		j.pick()
	}
	t.Add(&j)
}

// pick replaces random times.
func (j *Job) pick() {
	between := func(field *string, low, high int) {
		if *field == random {
			*field = strconv.Itoa(low + rand.IntN(high-low+1))
		} else if a, b, err := randomRange(*field); err == nil && strings.Contains(*field, ":") {
			*field = strconv.Itoa(a + rand.IntN(b-a+1))
		}
	}
	between(&j.Minute, 0, 59)
	between(&j.Hour, 0, 23)
	between(&j.Month, 1, 12)
	between(&j.DayWeek, 0, 6)
	days := 28
	switch j.Month {
	case "1", "3", "5", "7", "8", "10", "12":
		days = 31
	case "4", "6", "9", "11":
		days = 30
	}
	between(&j.DayMonth, 1, days)
}
