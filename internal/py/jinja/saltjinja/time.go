package saltjinja

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"brine/internal/py/jinja"
	"brine/internal/py/jinja/pymethod"
	"brine/internal/py/jinja/pytext"
	"brine/internal/py/pyformat"
	"brine/internal/py/value"
)

// osError words an error of the file system as Python does.
func osError(p string, err error) error {
	typ, text := "OSError", err.Error()
	switch {
	case jinja.IsTimeUp(err):
		return err
	case errors.Is(err, fs.ErrNotExist):
		typ, text = "FileNotFoundError", "[Errno 2] No such file or directory: "+value.QuoteStr(p)
	case errors.Is(err, fs.ErrPermission):
		typ, text = "PermissionError", "[Errno 13] Permission denied: "+value.QuoteStr(p)
	}
	return &value.PyError{Type: typ, Msg: text}
}

// strftime formats a date: a datetime, a number of seconds, text that
// holds either or a date, or None for now.
// Salt: salt/utils/dateutils.py strftime, date_cast.
func (m machine) strftime(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("strftime", 0, "date?", "format?")
	if err != nil {
		return nil, err
	}
	format := "%Y-%m-%d"
	if pymethod.Given(a[1]) {
		if format, err = wantText(a[1], "strftime() argument 1 must be str, not %s"); err != nil {
			return nil, err
		}
	}
	t, err := m.dateCast(pymethod.OrNil(a[0]))
	if err != nil {
		return nil, err
	}
	s := pyformat.Strftime(t, format)
	return s, value.CheckSize(len(s))
}

func (m machine) dateCast(v value.Value) (time.Time, error) {
	if err := jinja.Defined(v); err != nil {
		return time.Time{}, err
	}
	bad := func() (time.Time, error) {
		return time.Time{}, value.Raise("ValueError", "Unable to parse %s", value.Str(v))
	}
	switch x := v.(type) {
	case nil:
		return m.now(), nil
	case time.Time:
		return x, nil
	}
	if s, ok := value.AsText(v); ok {
		if t, ok := parseDate(s, m.now()); ok {
			return t, nil
		}
		f, err := value.ToFloat(s)
		if err != nil {
			return bad()
		}
		v = f
		if pytext.Every(s, pytext.IsDigit) {
			if n, err := value.ParseInt(s, 10); err == nil {
				v = n
			}
		}
	}
	f, err := value.ToFloat(v)
	if err != nil || f != f || f < -62135596800 || f > 253402300799 {
		return bad()
	}
	whole := int64(f)
	if float64(whole) > f {
		whole--
	}
	micros := int64((f-float64(whole))*1e6 + 0.5)
	return time.Unix(whole, micros*1000).In(m.now().Location()), nil
}

// parseDate reads what people write for dates: ISO 8601, year/month/day,
// month/day/year, day.month.year, month names, the words now, today, tomorrow
// and yesterday, @seconds, each with a time of day and steps such as "+1 day".
// Times with a zone are given in UTC.
func parseDate(s string, now time.Time) (time.Time, bool) {
	s = strings.ToLower(value.TrimSpace(s))
	if rest, ok := strings.CutPrefix(s, "@"); ok {
		n, err := strconv.ParseInt(rest, 10, 64)
		return time.Unix(n, 0).UTC(), err == nil
	}
	if s == "" {
		return time.Time{}, false
	}
	p := dateParser{t: time.Date(now.Year(), now.Month(), now.Day(), now.Hour(), now.Minute(), now.Second(), now.Nanosecond(), time.UTC)}
	for _, layout := range []string{"2006-01-02t15:04:05.999999999z07:00", "2006-01-02 15:04:05.999999999z07:00", "2006-01-02t15:04:05z0700"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), true
		}
	}
	s = strings.ReplaceAll(s, ",", " ")
	words := strings.Fields(s)
	for i := 0; i < len(words); i++ {
		n, ok := p.words(words[i:])
		if !ok {
			return time.Time{}, false
		}
		i += n - 1
	}
	return p.result(), true
}

// dateParser puts a date together from words.
type dateParser struct {
	t                time.Time
	hasDate, hasTime bool
	year, day        int
	month            time.Month
	clock            time.Duration
	steps            []func(time.Time) time.Time
}

func (p *dateParser) result() time.Time {
	t := p.t
	switch {
	case p.hasDate:
		t = time.Date(p.year, p.month, p.day, 0, 0, 0, 0, time.UTC).Add(p.clock)
	case p.hasTime:
		t = time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC).Add(p.clock)
	}
	for _, f := range p.steps {
		t = f(t)
	}
	return t
}

func (p *dateParser) setDate(t time.Time) {
	p.hasDate, p.year, p.month, p.day = true, t.Year(), t.Month(), t.Day()
}

// words reads one part and returns how many words it has.
func (p *dateParser) words(w []string) (int, bool) {
	switch w[0] {
	case "now":
		return 1, true
	case "today", "midnight":
		p.setDate(p.t)
		return 1, true
	case "tomorrow":
		p.setDate(p.t.AddDate(0, 0, 1))
		return 1, true
	case "yesterday":
		p.setDate(p.t.AddDate(0, 0, -1))
		return 1, true
	case "noon":
		p.hasTime, p.clock = true, 12*time.Hour
		return 1, true
	}
	for _, layout := range []string{"2006-1-2t15:04:05.999999", "2006-1-2t15:04"} {
		if t, err := time.Parse(layout, w[0]); err == nil {
			p.setDate(t)
			p.setClock(t)
			return 1, true
		}
	}
	for _, layout := range []string{"2006-1-2", "2006/1/2", "1/2/2006", "2.1.2006", "20060102", "2-Jan-2006", "2006-Jan-2"} {
		if t, err := time.Parse(layout, w[0]); err == nil && !p.hasDate {
			p.setDate(t)
			return 1, true
		}
	}
	for _, layout := range []string{"15:04:05.999999", "15:04", "3:04pm", "3pm"} {
		if t, err := time.Parse(layout, w[0]); err == nil && !p.hasTime {
			p.setClock(t)
			return 1, true
		}
	}
	if len(w) >= 3 && !p.hasDate {
		for _, layout := range []string{"2 Jan 2006", "2 January 2006", "Jan 2 2006", "January 2 2006"} {
			if t, err := time.Parse(layout, strings.Join(w[:3], " ")); err == nil {
				p.setDate(t)
				return 3, true
			}
		}
	}
	return p.step(w)
}

func (p *dateParser) setClock(t time.Time) {
	p.hasTime = true
	p.clock = time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second +
		time.Duration(t.Nanosecond())
}

// step reads "+1 day", "2 weeks ago", "next month".
func (p *dateParser) step(w []string) (int, bool) {
	if len(w) < 2 {
		return 0, false
	}
	n, err := strconv.Atoi(w[0])
	switch {
	case w[0] == "next":
		n = 1
	case w[0] == "last" || w[0] == "previous":
		n = -1
	case err != nil || n > 1_000_000 || n < -1_000_000:
		return 0, false
	}
	used := 2
	if len(w) > 2 && w[2] == "ago" {
		n, used = -n, 3
	}
	var f func(time.Time) time.Time
	switch strings.TrimSuffix(w[1], "s") {
	case "second", "sec":
		f = func(t time.Time) time.Time { return t.Add(time.Duration(n) * time.Second) }
	case "minute", "min":
		f = func(t time.Time) time.Time { return t.Add(time.Duration(n) * time.Minute) }
	case "hour":
		f = func(t time.Time) time.Time { return t.Add(time.Duration(n) * time.Hour) }
	case "day":
		f = func(t time.Time) time.Time { return t.AddDate(0, 0, n) }
	case "week":
		f = func(t time.Time) time.Time { return t.AddDate(0, 0, 7*n) }
	case "fortnight":
		f = func(t time.Time) time.Time { return t.AddDate(0, 0, 14*n) }
	case "month":
		f = func(t time.Time) time.Time { return t.AddDate(0, n, 0) }
	case "year":
		f = func(t time.Time) time.Time { return t.AddDate(n, 0, 0) }
	default:
		return 0, false
	}
	p.steps = append(p.steps, f)
	return used, true
}
