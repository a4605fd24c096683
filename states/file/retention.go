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

	"brine/internal/fun"
	"brine/internal/host"
	"brine/internal/value"
)

// A backup is a file with its time.
type backup struct {
	name string
	at   time.Time
}

// retentionDepth is how many parts of the time a rule looks at: year, month,
// day, hour.
var retentionDepth = map[string]int{"first_of_year": 1, "first_of_month": 2, "first_of_day": 3, "first_of_hour": 4, "most_recent": 5}

// retentionSchedule removes the backups that no rule keeps. Of the last N
// hours, days and so on that have backups, the first one each is kept.
//
// Salt: states/file.py retention_schedule. Difference: of backups of the very
// same time most_recent counts each; Salt counts one and removes the others.
func retentionSchedule(ctx context.Context, fc *fun.Call) fun.Ret {
	c := begin(fc)
	name := c.path()
	switch {
	case name == "":
		return c.fail("Must provide name to file.retention_schedule")
	case !c.IsDir(name):
		return c.fail("Name provided to file.retention must be a directory")
	}
	list, ignored, err := c.backups(name)
	if err != nil {
		return fun.Raise(err)
	}
	keep := map[string]bool{}
	for rule, n := range c.Map("retain").All() {
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
func (c *call) backups(dir string) (list []backup, ignored []string, err error) {
	names, err := c.ReadDir(dir)
	if err != nil {
		return nil, nil, fun.Errorf("%s", host.OSError(err))
	}
	zone := time.Local
	if tz := c.Str("timezone"); tz != "" && tz != "None" {
		if zone, err = time.LoadLocation(tz); err != nil {
			return nil, nil, fun.Errorf("timezone: %v", err)
		}
	}
	format := c.Str("strptime_format")
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
	year, month, day, hour, minute, second, nano, yday := 1900, 1, 1, 0, 0, 0, 0, 0
	half, afternoon := false, false
	number := func(width int, to *int) bool {
		n := 0
		for n < len(s) && n < width && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		if n == 0 {
			return false
		}
		*to, _ = strconv.Atoi(s[:n])
		s = s[n:]
		return true
	}
	name := func(names []string, to *int) bool {
		for i, n := range names {
			if len(s) >= len(n) && strings.EqualFold(s[:len(n)], n) {
				*to, s = i+1, s[len(n):]
				return true
			}
		}
		return false
	}
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			if s == "" || s[0] != format[i] {
				return time.Time{}, false
			}
			s = s[1:]
			continue
		}
		i++
		ok, skipped := true, 0
		switch format[i] {
		case 'Y':
			ok = len(s) >= 4 && number(4, &year)
		case 'y':
			if ok = number(2, &year); ok {
				year += 1900
				if year < 1969 {
					year += 100
				}
			}
		case 'm':
			ok = number(2, &month)
		case 'd':
			ok = number(2, &day)
		case 'H':
			ok = number(2, &hour)
		case 'I':
			half = true
			ok = number(2, &hour)
		case 'M':
			ok = number(2, &minute)
		case 'S':
			ok = number(2, &second)
		case 'f':
			digits := len(s)
			if ok = number(6, &nano); ok {
				for range 9 - (digits - len(s)) {
					nano *= 10
				}
			}
		case 'j':
			ok = number(3, &yday)
		case 'p':
			n := 0
			ok = name([]string{"am", "pm"}, &n)
			afternoon = n == 2
		case 'B':
			ok = name(monthNames(0), &month)
		case 'b', 'h':
			ok = name(monthNames(3), &month)
		case 'A':
			ok = name(dayNames(0), &skipped)
		case 'a':
			ok = name(dayNames(3), &skipped)
		case '%':
			if ok = strings.HasPrefix(s, "%"); ok {
				s = s[1:]
			}
		default:
			ok = false
		}
		if !ok {
			return time.Time{}, false
		}
	}
	if s != "" || month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 61 {
		return time.Time{}, false
	}
	if half {
		if hour < 1 || hour > 12 {
			return time.Time{}, false
		}
		hour %= 12
		if afternoon {
			hour += 12
		}
	}
	if yday > 0 {
		return time.Date(year, 1, yday, hour, minute, second, nano, time.UTC), yday <= 366
	}
	t := time.Date(year, time.Month(month), day, hour, minute, second, nano, time.UTC)
	return t, t.Day() == day
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
