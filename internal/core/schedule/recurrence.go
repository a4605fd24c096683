package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// A Recurrence says when something is due again and again: at the times of a calendar in a
// time zone, or every so often.
//
// A time that the clocks of the zone skip is due when they have been moved forward, and one
// that they show twice is due the first time: each is due once.
type Recurrence struct {
	next  func(wall time.Time) (time.Time, bool) // of a calendar, whose times are written as UTC
	every time.Duration                          // 0: it has a calendar
	zone  *time.Location
	text  string
}

// Bounds of an interval.
const (
	minInterval = time.Second
	maxInterval = 366 * 24 * time.Hour
)

// Kinds of recurrences, which begin their texts.
const (
	cronKind  = "cron "
	everyKind = "every "
)

// RecurCron returns the recurrence of the fields of a crontab.
func RecurCron(text string, zone *time.Location) (*Recurrence, error) {
	c, err := ParseCron(text)
	if err != nil {
		return nil, err
	}
	r := &Recurrence{next: c.Next, zone: zone, text: cronKind + c.text}
	return r, r.check()
}

// RecurEvery returns the recurrence of an interval such as 6h, or of a date or time without a
// year, such as "monday 04:00".
func RecurEvery(text string, zone *time.Location) (*Recurrence, error) {
	text = strings.Join(strings.Fields(text), " ")
	r := &Recurrence{zone: zone, text: everyKind + text}
	if d, err := time.ParseDuration(text); err == nil {
		if d < minInterval || d > maxInterval {
			return nil, fmt.Errorf("%q is not from %s to %d days", text, minInterval, maxInterval/(24*time.Hour))
		}
		r.every = d
		return r, nil
	}
	d, err := ParseDate(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w; it may be an interval such as 6h, or a time such as 'monday 04:00'", err)
	case d.Year != 0:
		return nil, fmt.Errorf("%q has a year, so that it is only due once", text)
	}
	r.next = d.Next
	return r, r.check()
}

// ParseRecurrence reads the text of a recurrence, as String returns it.
func ParseRecurrence(text string, zone *time.Location) (*Recurrence, error) {
	if cron, ok := strings.CutPrefix(text, cronKind); ok {
		return RecurCron(cron, zone)
	}
	if every, ok := strings.CutPrefix(text, everyKind); ok {
		return RecurEvery(every, zone)
	}
	return nil, fmt.Errorf("%q is neither a crontab nor an interval", text)
}

// String is the text that [ParseRecurrence] reads.
func (r *Recurrence) String() string { return r.text }

// Zone is its time zone.
func (r *Recurrence) Zone() *time.Location { return r.zone }

// errNever says that no calendar has the times of a recurrence.
var errNever = errors.New("it is never due: no year has such a day")

// check returns an error for a recurrence that is never due.
func (r *Recurrence) check() error {
	if _, ok := r.next(time.Date(2024, time.January, 1, 0, 0, 0, 0, time.UTC)); !ok {
		return fmt.Errorf("%q: %w", r.text, errNever)
	}
	return nil
}

// maxRepeated bounds how many times of a calendar are passed over since the clocks show them
// once more: the seconds of a day.
const maxRepeated = 24 * 60 * 60

// Next returns the first time after now; false where there is none. Intervals are counted
// from begin.
func (r *Recurrence) Next(now, begin time.Time) (time.Time, bool) {
	if r.every > 0 {
		if now.Before(begin) {
			return begin.Add(r.every), true
		}
		return begin.Add((now.Sub(begin)/r.every + 1) * r.every), true
	}
	wall := wallOf(now.In(r.zone))
	for range maxRepeated {
		var ok bool
		if wall, ok = r.next(wall); !ok {
			break
		}
		if t := onClock(wall, r.zone); t.After(now) {
			return t, true
		}
	}
	return time.Time{}, false
}

// wallOf is what a clock shows, written as UTC, which skips nothing.
func wallOf(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}

// onClock is when the clocks of a zone show a time for the first time, or have skipped it.
func onClock(wall time.Time, zone *time.Location) time.Time {
	const day = 24 * time.Hour // no zone changes twice within two of them
	var first time.Time
	for _, near := range []time.Time{wall.Add(-day), wall.Add(day)} {
		_, offset := near.In(zone).Zone()
		t := wall.Add(-time.Duration(offset) * time.Second).In(zone)
		if wallOf(t).Equal(wall) && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	if !first.IsZero() {
		return first
	}
	_, before := wall.Add(-day).In(zone).Zone()
	skipped, _ := wall.Add(-time.Duration(before) * time.Second).In(zone).ZoneBounds()
	return skipped
}

// A Turn is what is due at a time.
type Turn struct {
	Due    time.Time // the newest time that has come
	Missed int       // how many came before it, and were not handled; at most MaxMissed
	Next   time.Time // the first time that has not come; zero: there is none
}

// MaxMissed is how many missed times are counted.
const MaxMissed = 10_000

// Turn returns what is due at now, if due was the next time. late is when a time is due,
// which may be after it.
func (r *Recurrence) Turn(due, now, begin time.Time, late func(time.Time) time.Time) Turn {
	t := Turn{Due: due}
	for {
		next, ok := r.Next(t.Due, begin)
		switch {
		case !ok:
			return t
		case late(next).After(now):
			t.Next = next
			return t
		case t.Missed == MaxMissed:
			t.Next, _ = r.Next(now, begin)
			return t
		}
		t.Due = next
		t.Missed++
	}
}
