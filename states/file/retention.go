package file

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// A backup is a file with its time.
type backup struct {
	name string
	at   time.Time
}

// retentionDepth is how many parts of the time a rule looks at: year, month,
// day, hour.
var retentionDepth = map[string]int{"first_of_year": 1, "first_of_month": 2, "first_of_day": 3, "first_of_hour": 4, "most_recent": 5}

type retentionScheduleArgs struct {
	_              string     `arg:"name,required,path" doc:"path of the directory"`
	Retain         *value.Map `arg:"retain,required" doc:"number to keep, or all, by rule: most_recent, first_of_hour, first_of_day, first_of_week, first_of_month, first_of_year"`
	StrptimeFormat string     `arg:"strptime_format" doc:"strptime format of the names, other files are kept; default: all files by modification time"`
	Timezone       string     `arg:"timezone" doc:"time zone of modification times; default: that of this machine"`
	fun.SystemPath
}

// retentionSchedule removes the backups that no rule keeps. Of the last N
// hours, days and so on that have backups, the first one each is kept.
//
// Salt: states/file.py retention_schedule. Difference: of backups of the very
// same time most_recent counts each; Salt counts one and removes the others.
func retentionSchedule(ctx context.Context, fc *fun.Call, a *retentionScheduleArgs) fun.Ret {
	c := begin(fc)
	name := c.path()
	switch {
	case name == "":
		return c.fail("Must provide name to file.retention_schedule")
	case !c.IsDir(name):
		return c.fail("Name provided to file.retention must be a directory")
	}
	if err := c.CheckSystem(name, true); err != nil {
		return c.fail("%s", err)
	}
	list, ignored, err := c.backups(name, a)
	if err != nil {
		return fun.Raise(err)
	}
	keep := map[string]bool{}
	for rule, n := range a.Retain.All() {
		count := math.MaxInt32
		if n != "all" {
			i, err := value.ToInt(n)
			if err != nil {
				return fun.Raise(err)
			}
			small, _ := value.AsInt(i)
			count = int(min(small, math.MaxInt32-1))
		}
		depth, known := retentionDepth[value.Str(rule)]
		part := func(b backup) string { return timePrefix(b, depth) }
		if rule == "first_of_week" {
			known = true
			count++ // as in Salt: the week that is not over does not count
			part = func(b backup) string {
				_, week := b.at.ISOWeek()
				return fmt.Sprintf("%04d %02d", b.at.Year(), week)
			}
		}
		if !known {
			return fun.Raise(value.Raise("KeyError", "%s", value.Repr(rule)))
		}
		for _, b := range firstOfLast(list, count, part) {
			keep[b.name] = true
		}
	}
	var kept, gone []string
	for _, b := range list {
		if keep[b.name] {
			kept = append(kept, b.name)
		} else {
			gone = append(gone, b.name)
		}
	}
	descending := func(names []string) *value.List {
		sort.Sort(sort.Reverse(sort.StringSlice(names)))
		return value.Strings(names...)
	}
	if len(gone) > 0 {
		c.ret.Changes = value.MapOf("retained", descending(kept), "deleted", descending(gone), "ignored", descending(ignored))
	}
	if c.Test {
		c.ret.Comment = fmt.Sprintf("%d backups would have been removed from %s.\n", len(gone), name)
		if len(gone) > 0 {
			c.ret.Result = fun.WouldChange
		}
		return c.ret.Ret()
	}
	for _, n := range gone {
		if _, err := c.Remove(filepath.Join(name, n)); err != nil {
			return fun.Raise(err)
		}
	}
	return c.done(fun.OK, fmt.Sprintf("%d backups were removed from %s.\n", len(gone), name))
}

// backups returns the backups in a directory by time, and the other names.
func (c *call) backups(dir string, a *retentionScheduleArgs) (list []backup, ignored []string, err error) {
	names, err := c.ReadDir(dir)
	if err != nil {
		return nil, nil, fun.Errorf("%s", host.OSError(err))
	}
	zone := time.Local
	if tz := a.Timezone; tz != "" && tz != "None" {
		if zone, err = time.LoadLocation(tz); err != nil {
			return nil, nil, fun.Errorf("timezone: %v", err)
		}
	}
	format := a.StrptimeFormat
	ignored = []string{".", ".."}
	for _, n := range names {
		at, ok := time.Time{}, false
		if format != "" {
			at, ok = strptime(n, format)
		} else if st, err := c.Lstat(filepath.Join(dir, n)); err == nil {
			at, ok = st.Mtime.In(zone), true
		}
		if !ok {
			ignored = append(ignored, n)
			continue
		}
		list = append(list, backup{n, at})
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].at.Before(list[j].at) })
	return list, ignored, nil
}

// timePrefix returns the first parts of a backup's time in an order that
// sorts; all five tell backups apart.
func timePrefix(b backup, parts int) string {
	s := fmt.Sprintf("%04d%02d%02d%02d", b.at.Year(), b.at.Month(), b.at.Day(), b.at.Hour())
	if parts < 5 {
		return s[:[]int{0, 4, 6, 8, 10}[parts]]
	}
	return fmt.Sprintf("%s%020d %s", s, b.at.UnixNano(), b.name)
}

// firstOfLast returns the first backup of each of the last n periods.
func firstOfLast(list []backup, n int, period func(backup) string) []backup {
	first := map[string]backup{}
	var periods []string
	for _, b := range list {
		p := period(b)
		if _, ok := first[p]; !ok {
			first[p] = b
			periods = append(periods, p)
		}
	}
	sort.Sort(sort.Reverse(sort.StringSlice(periods)))
	out := make([]backup, 0, min(n, len(periods)))
	for _, p := range periods[:max(0, min(n, len(periods)))] {
		out = append(out, first[p])
	}
	return out
}

// strptime reads a time as Python's datetime.strptime does, for the directives
// that name files have: %Y %y %m %d %H %I %M %S %f %j %p %b %B %a %A %%.
func strptime(s, format string) (time.Time, bool) {
	p := timeParser{rest: s, year: 1900, month: 1, day: 1}
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			if !p.literal(format[i]) {
				return time.Time{}, false
			}
			continue
		}
		if i++; !p.directive(format[i]) {
			return time.Time{}, false
		}
	}
	return p.time()
}

// A timeParser is a time while it is read from rest.
type timeParser struct {
	rest string

	year, month, day, yearDay  int
	hour, minute, second, nano int

	twelve, afternoon bool // the hour is one of twelve
}

func (p *timeParser) literal(c byte) bool {
	if p.rest == "" || p.rest[0] != c {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

// number reads up to width digits.
func (p *timeParser) number(width int, to *int) bool {
	n := 0
	for n < len(p.rest) && n < width && p.rest[n] >= '0' && p.rest[n] <= '9' {
		n++
	}
	if n == 0 {
		return false
	}
	*to, _ = strconv.Atoi(p.rest[:n]) // at most six digits
	p.rest = p.rest[n:]
	return true
}

// name reads one of names, as its number from 1.
func (p *timeParser) name(names []string, to *int) bool {
	for i, n := range names {
		if len(p.rest) >= len(n) && strings.EqualFold(p.rest[:len(n)], n) {
			*to, p.rest = i+1, p.rest[len(n):]
			return true
		}
	}
	return false
}

// directive reads what %c stands for.
func (p *timeParser) directive(c byte) bool {
	skipped := 0
	switch c {
	case 'Y':
		return len(p.rest) >= 4 && p.number(4, &p.year)
	case 'y':
		if !p.number(2, &p.year) {
			return false
		}
		if p.year += 1900; p.year < 1969 {
			p.year += 100
		}
		return true
	case 'm':
		return p.number(2, &p.month)
	case 'd':
		return p.number(2, &p.day)
	case 'H':
		return p.number(2, &p.hour)
	case 'I':
		p.twelve = true
		return p.number(2, &p.hour)
	case 'M':
		return p.number(2, &p.minute)
	case 'S':
		return p.number(2, &p.second)
	case 'f':
		before := len(p.rest)
		if !p.number(6, &p.nano) {
			return false
		}
		for range 9 - (before - len(p.rest)) {
			p.nano *= 10
		}
		return true
	case 'j':
		return p.number(3, &p.yearDay)
	case 'p':
		half := 0
		ok := p.name([]string{"am", "pm"}, &half)
		p.afternoon = half == 2
		return ok
	case 'B':
		return p.name(monthNames(0), &p.month)
	case 'b', 'h':
		return p.name(monthNames(3), &p.month)
	case 'A':
		return p.name(dayNames(0), &skipped)
	case 'a':
		return p.name(dayNames(3), &skipped)
	case '%':
		return p.literal('%')
	}
	return false
}

// time returns the time that was read, if all was read and there is such a time.
func (p *timeParser) time() (time.Time, bool) {
	if p.rest != "" || p.month < 1 || p.month > 12 || p.day < 1 || p.hour > 23 || p.minute > 59 || p.second > 61 {
		return time.Time{}, false
	}
	if p.twelve {
		if p.hour < 1 || p.hour > 12 {
			return time.Time{}, false
		}
		p.hour %= 12
		if p.afternoon {
			p.hour += 12
		}
	}
	if p.yearDay > 0 {
		return time.Date(p.year, 1, p.yearDay, p.hour, p.minute, p.second, p.nano, time.UTC), p.yearDay <= 366
	}
	t := time.Date(p.year, time.Month(p.month), p.day, p.hour, p.minute, p.second, p.nano, time.UTC)
	return t, t.Day() == p.day
}

// monthNames returns the English months, dayNames the days, at most n letters
// of each where n is not 0.
func monthNames(n int) []string {
	var out []string
	for m := time.January; m <= time.December; m++ {
		out = append(out, cut(m.String(), n))
	}
	return out
}

func dayNames(n int) []string {
	var out []string
	for d := time.Sunday; d <= time.Saturday; d++ {
		out = append(out, cut(d.String(), n))
	}
	return out
}

func cut(s string, n int) string {
	if n > 0 {
		return s[:n]
	}
	return s
}
