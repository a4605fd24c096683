package schedule

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Cron is the five fields of a crontab, or six with seconds as the last.
type Cron struct {
	second, minute, hour, day, month, weekday uint64 // bits
	anyDay, anyWeekday, seconds               bool
	text                                      string
}

// A field says which numbers and names a field of a crontab has.
type field struct {
	name     string
	min, max int
	names    []string
	first    int // the number of names[0]
}

var cronFields = [...]field{
	{"minutes", 0, 59, nil, 0},
	{"hours", 0, 23, nil, 0},
	{"days of the month", 1, 31, nil, 0},
	{"months", 1, 12, months[:], 1},
	{"days of the week", 0, 7, weekdays[:], 0},
	{"seconds", 0, 59, nil, 0},
}

var cronNames = map[string]string{
	"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
	"@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
}

// ParseCron reads the fields of a crontab.
func ParseCron(text string) (*Cron, error) {
	full := text
	if named, ok := cronNames[strings.ToLower(strings.TrimSpace(text))]; ok {
		full = named
	}
	words := strings.Fields(full)
	if len(words) != 5 && len(words) != 6 {
		return nil, fmt.Errorf("%q has %d fields, a crontab has 5 (minute hour day month weekday), or 6 with seconds", text, len(words))
	}
	c := &Cron{text: strings.Join(words, " "), seconds: len(words) == 6, second: 1}
	into := [...]*uint64{&c.minute, &c.hour, &c.day, &c.month, &c.weekday, &c.second}
	for i, w := range words {
		set, err := cronFields[i].parse(w)
		if err != nil {
			return nil, fmt.Errorf("%q: field %d: %w", text, i+1, err)
		}
		*into[i] = set
	}
	c.weekday |= c.weekday >> 7 & 1 // 7 is Sunday, too
	c.weekday &= 1<<7 - 1
	c.anyDay, c.anyWeekday = strings.HasPrefix(words[2], "*"), strings.HasPrefix(words[4], "*")
	return c, nil
}

// parse reads one field.
func (f field) parse(text string) (set uint64, err error) {
	for part := range strings.SplitSeq(text, ",") {
		span, stepText, hasStep := strings.Cut(part, "/")
		step := 1
		if hasStep {
			if step, err = strconv.Atoi(stepText); err != nil || step < 1 {
				return 0, fmt.Errorf("the step %q of the %s is not a number above 0", stepText, f.name)
			}
		}
		lo, hi := f.min, f.max
		if span != "*" {
			from, to, isSpan := strings.Cut(span, "-")
			if lo, err = f.number(from); err != nil {
				return 0, err
			}
			hi = lo
			switch {
			case isSpan:
				if hi, err = f.number(to); err != nil {
					return 0, err
				}
			case hasStep:
				hi = f.max
			}
			if hi < lo {
				return 0, fmt.Errorf("the %s %q end before they begin", f.name, span)
			}
		}
		for n := lo; n <= hi; n += step {
			set |= 1 << n
		}
	}
	return set, nil
}

func (f field) number(text string) (int, error) {
	if n, err := strconv.Atoi(text); err == nil && n >= f.min && n <= f.max {
		return n, nil
	}
	if i := named(strings.ToLower(text), f.names); f.names != nil && i >= 0 && len(text) == 3 {
		return i + f.first, nil
	}
	if strings.ContainsAny(text, "#LlWwHhRr?") {
		return 0, fmt.Errorf("%q in the %s is an extension of crontabs that brine does not have", text, f.name)
	}
	return 0, fmt.Errorf("%q is not among the %s, %d to %d", text, f.name, f.min, f.max)
}

// days reports whether a day is one of the fields': where both the day of the
// month and of the week are limited, one of them is enough.
func (c *Cron) days(t time.Time) bool {
	day, weekday := c.day>>t.Day()&1 == 1, c.weekday>>int(t.Weekday())&1 == 1
	if c.anyDay || c.anyWeekday {
		return day && weekday
	}
	return day || weekday
}

// Next returns the first time after now; false where there is none in ten years,
// as for 30 February.
func (c *Cron) Next(now time.Time) (time.Time, bool) {
	step := time.Minute
	if c.seconds {
		step = time.Second
	}
	t := now.Truncate(time.Second).Add(step)
	if !c.seconds {
		t = time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), 0, 0, t.Location())
	}
	for limit := now.AddDate(10, 0, 0); t.Before(limit); {
		was := t
		switch {
		case c.month>>int(t.Month())&1 == 0:
			t = time.Date(t.Year(), t.Month()+1, 1, 0, 0, 0, 0, t.Location())
		case !c.days(t):
			t = time.Date(t.Year(), t.Month(), t.Day()+1, 0, 0, 0, 0, t.Location())
		case c.hour>>t.Hour()&1 == 0:
			t = time.Date(t.Year(), t.Month(), t.Day(), t.Hour()+1, 0, 0, 0, t.Location())
		case c.minute>>t.Minute()&1 == 0:
			t = t.Add(time.Minute - time.Duration(t.Second())*time.Second)
		case c.second>>t.Second()&1 == 0:
			t = t.Add(time.Second)
		default:
			return t, true
		}
		if !t.After(was) { // an hour that the clocks leave out
			t = was.Add(time.Hour)
		}
	}
	return time.Time{}, false
}

// list writes the bits of a field as a list; "*" where all are set.
func list(set uint64, f field) string {
	hi := f.max
	if f.name == "days of the week" {
		hi = 6
	}
	var out []string
	for n := f.min; n <= hi; n++ {
		if set>>n&1 == 1 {
			out = append(out, fmt.Sprintf("%02d", n))
		}
	}
	if len(out) == hi-f.min+1 {
		return "*"
	}
	return strings.Join(out, ",")
}

// calendars returns the fields as OnCalendar= of a systemd timer: two where the
// day of the month or of the week is enough.
func (c *Cron) calendars() []string {
	clock := list(c.hour, cronFields[1]) + ":" + list(c.minute, cronFields[0]) + ":" + list(c.second, cronFields[5])
	month := list(c.month, cronFields[3])
	var names []string
	for n := range 7 {
		if c.weekday>>n&1 == 1 {
			names = append(names, shortDay(n))
		}
	}
	days := strings.Join(names, ",") + " "
	if len(names) == 7 {
		days = ""
	}
	day := list(c.day, cronFields[2])
	if !c.anyDay && !c.anyWeekday {
		return []string{"*-" + month + "-" + day + " " + clock, days + "*-" + month + "-* " + clock}
	}
	return []string{days + "*-" + month + "-" + day + " " + clock}
}

// fields returns what a crontab has.
func (c *Cron) fields() (string, error) {
	if c.seconds {
		return "", fmt.Errorf("a crontab has no seconds")
	}
	return c.text, nil
}
