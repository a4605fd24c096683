package schedule

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Date is what a text such as "Monday 5:00pm" or "2026-12-24 18:00" says. What
// it leaves out is 0, the weekday -1.
type Date struct {
	Year, Month, Day     int
	Weekday              int // 0 is Sunday
	Hour, Minute, Second int
}

var (
	weekdays = [...]string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}
	months   = [...]string{"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"}
)

// named returns the place of a word, or of its first three letters or more, in
// names; -1 where it is none.
func named(word string, names []string) int {
	word = strings.TrimSuffix(word, ".")
	if len(word) < 3 {
		return -1
	}
	for i, n := range names {
		if n == word || len(word) <= 4 && strings.HasPrefix(n, word) {
			return i
		}
	}
	return -1
}

// dateForms are the forms of one word of a date.
var dateForms = sync.OnceValue(func() [5]*regexp.Regexp {
	return [5]*regexp.Regexp{
		regexp.MustCompile(`^(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?(am|pm|z)?$`),
		regexp.MustCompile(`^(\d{1,2})(am|pm)$`),
		regexp.MustCompile(`^(\d{4})[-/](\d{1,2})[-/](\d{1,2})$`),
		regexp.MustCompile(`^(\d{1,2})/(\d{1,2})(?:/(\d{4}|\d{2}))?$`),
		regexp.MustCompile(`^(\d{1,2})(?:st|nd|rd|th)?$`),
	}
})

// ParseDate reads a date, a time or both, in the forms that people write in
// schedules. A month comes before the day in 11/24/2026.
func ParseDate(text string) (Date, error) {
	d := Date{Weekday: -1}
	bad := func(why string) (Date, error) {
		return Date{}, fmt.Errorf("%q is not a date or time: %s", text, why)
	}
	lower := strings.ToLower(text)
	if i := strings.IndexByte(lower, 't'); i > 7 && i+1 < len(lower) && lower[i-1] >= '0' && lower[i-1] <= '9' && lower[i+1] >= '0' && lower[i+1] <= '9' {
		lower = lower[:i] + " " + lower[i+1:] // 2026-12-24T18:00:00
	}
	words := strings.Fields(strings.ReplaceAll(lower, ",", " "))
	if len(words) == 0 || len(text) > 100 {
		return bad("it has no words that can be read")
	}
	clock := false
	for i := 0; i < len(words); i++ {
		w := words[i]
		half := ""
		if i+1 < len(words) && (words[i+1] == "am" || words[i+1] == "pm") {
			half = words[i+1]
		}
		used, isClock, err := d.word(w, half)
		switch {
		case err != nil:
			return bad(err.Error())
		case isClock && clock:
			return bad("it has two times")
		case isClock:
			clock = true
		}
		if used {
			i++
		}
	}
	return d.checked(text)
}

// word reads one word; used says that the am or pm behind it belongs to it.
func (d *Date) word(w, half string) (used, clock bool, err error) {
	f := dateForms()
	num := func(s string) int { n, _ := strconv.Atoi(s); return n }
	if m := f[0].FindStringSubmatch(w); m != nil {
		if m[4] != "" && m[4] != "z" {
			half = m[4]
		}
		d.Hour, d.Minute, d.Second = num(m[1]), num(m[2]), num(m[3])
		return half != "" && m[4] == "", true, d.half(half)
	}
	if m := f[1].FindStringSubmatch(w); m != nil {
		d.Hour = num(m[1])
		return false, true, d.half(m[2])
	}
	if m := f[2].FindStringSubmatch(w); m != nil {
		d.Year, d.Month, d.Day = num(m[1]), num(m[2]), num(m[3])
		return false, false, nil
	}
	if m := f[3].FindStringSubmatch(w); m != nil {
		d.Month, d.Day, d.Year = num(m[1]), num(m[2]), num(m[3])
		if d.Month > 12 {
			d.Month, d.Day = d.Day, d.Month
		}
		if len(m[3]) == 2 {
			d.Year += 2000
		}
		return false, false, nil
	}
	if n := named(w, weekdays[:]); n >= 0 {
		d.Weekday = n
		return false, false, nil
	}
	if n := named(w, months[:]); n >= 0 {
		d.Month = n + 1
		return false, false, nil
	}
	if m := f[4].FindStringSubmatch(w); m != nil {
		n := num(m[1])
		if half != "" {
			d.Hour = n
			return true, true, d.half(half)
		}
		d.Day = n
		return false, false, nil
	}
	if len(w) == 4 && strings.Trim(w, "0123456789") == "" {
		d.Year = num(w)
		return false, false, nil
	}
	switch w {
	case "at", "on", "the", "of", "and":
		return false, false, nil
	}
	return false, false, fmt.Errorf("%q is not understood", w)
}

// half applies am or pm.
func (d *Date) half(half string) error {
	if half != "am" && half != "pm" {
		return nil
	}
	if d.Hour < 1 || d.Hour > 12 {
		return fmt.Errorf("there is no hour %d %s", d.Hour, half)
	}
	d.Hour %= 12
	if half == "pm" {
		d.Hour += 12
	}
	return nil
}

// checked refuses dates that no calendar has.
func (d Date) checked(text string) (Date, error) {
	bad := func(format string, args ...any) (Date, error) {
		return Date{}, fmt.Errorf("%q is not a date or time: %s", text, fmt.Sprintf(format, args...))
	}
	switch {
	case d.Hour > 23 || d.Minute > 59 || d.Second > 59:
		return bad("there is no time %02d:%02d:%02d", d.Hour, d.Minute, d.Second)
	case d.Year != 0 && (d.Month == 0 || d.Day == 0), d.Month != 0 && d.Day == 0, d.Month == 0 && d.Day != 0:
		return bad("it needs a month and a day")
	case d.Month > 12:
		return bad("there is no month %d", d.Month)
	}
	if d.Month != 0 {
		year := d.Year
		if year == 0 {
			year = 2024 // a leap year
		}
		if t := time.Date(year, time.Month(d.Month), d.Day, 0, 0, 0, 0, time.UTC); t.Day() != d.Day || d.Day < 1 {
			return bad("month %d has no day %d", d.Month, d.Day)
		}
	}
	return d, nil
}

// At returns the time that the date means where it is read at now: what it leaves
// out is today's, and a weekday is today or the next one.
func (d Date) At(now time.Time) time.Time {
	y, m, day := now.Date()
	if d.Year != 0 {
		y = d.Year
	}
	if d.Month != 0 {
		m, day = time.Month(d.Month), d.Day
	}
	t := time.Date(y, m, day, d.Hour, d.Minute, d.Second, 0, now.Location())
	if d.Weekday >= 0 && d.Month == 0 {
		t = t.AddDate(0, 0, (d.Weekday-int(t.Weekday())+7)%7)
	}
	return t
}

// Next returns the first time after now that the date means; false where it has a
// year and is past. Without a date it recurs each day, with a weekday each week,
// with a month and day each year.
func (d Date) Next(now time.Time) (time.Time, bool) {
	t := d.At(now)
	if t.After(now) {
		return t, true
	}
	switch {
	case d.Year != 0:
		return time.Time{}, false
	case d.Month != 0:
		for range 8 { // 29 February
			now = time.Date(now.Year()+1, time.January, 1, 0, 0, 0, 0, now.Location())
			if t = d.At(now); t.Day() == d.Day {
				return t, true
			}
		}
		return time.Time{}, false
	case d.Weekday >= 0:
		return t.AddDate(0, 0, 7), true
	}
	return t.AddDate(0, 0, 1), true
}

// calendar returns the date as OnCalendar= of a systemd timer.
func (d Date) calendar() string {
	clock := fmt.Sprintf("%02d:%02d:%02d", d.Hour, d.Minute, d.Second)
	switch {
	case d.Year != 0:
		return fmt.Sprintf("%04d-%02d-%02d %s", d.Year, d.Month, d.Day, clock)
	case d.Month != 0:
		return fmt.Sprintf("*-%02d-%02d %s", d.Month, d.Day, clock)
	case d.Weekday >= 0:
		return shortDay(d.Weekday) + " *-*-* " + clock
	}
	return "*-*-* " + clock
}

func shortDay(n int) string { return strings.ToUpper(weekdays[n][:1]) + weekdays[n][1:3] }

// cron returns the date as the five fields of a crontab.
func (d Date) cron() (string, error) {
	switch {
	case d.Second != 0:
		return "", fmt.Errorf("a crontab has no seconds")
	case d.Year != 0:
		return "", fmt.Errorf("a crontab has no years")
	case d.Month != 0:
		return fmt.Sprintf("%d %d %d %d *", d.Minute, d.Hour, d.Day, d.Month), nil
	case d.Weekday >= 0:
		return fmt.Sprintf("%d %d * * %d", d.Minute, d.Hour, d.Weekday), nil
	}
	return fmt.Sprintf("%d %d * * *", d.Minute, d.Hour), nil
}
