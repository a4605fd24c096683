package ui

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/internal/py/value"
)

// A listed is what a page says of a list: how many entries of how many it has, in which
// order, and where the others are.
type listed struct {
	Path  string     // of the page
	Query url.Values // what the visitor asked for, without the order and the part
	Sort  string     // one of the keys of the list, or "-" and one of them: the other way round; "": as it comes
	From  int        // how many are before those that are shown
	Shown int
	All   int
	More  bool   // there are more than All: they were not counted
	What  string // an entry, such as run
}

// listedOf is the order and the part that a request asks for, with those keys of its query
// that are its filter.
func listedOf(path, what string, q url.Values, filter ...string) listed {
	l := listed{Path: path, What: what, Query: url.Values{}, Sort: q.Get("sort")}
	for _, key := range filter {
		if x := strings.TrimSpace(q.Get(key)); x != "" {
			l.Query.Set(key, x)
		}
	}
	l.From, _ = strconv.Atoi(q.Get("from"))
	l.From = max(0, l.From)
	return l
}

// at is the address of the part that begins after some entries, in an order.
func (l listed) at(from int, sort string) string {
	q := url.Values{}
	maps.Copy(q, l.Query)
	if sort != "" {
		q.Set("sort", sort)
	}
	if from > 0 {
		q.Set("from", strconv.Itoa(from))
	}
	if len(q) == 0 {
		return l.Path
	}
	return l.Path + "?" + q.Encode()
}

// toggled is the order when somebody asks for a key: the other way round if the list is
// sorted by it already.
func (l listed) toggled(key string) string {
	if l.Sort == key {
		return "-" + key
	}
	return key
}

// direction is how the list is sorted by a key, in words of ARIA; "": by another one.
func (l listed) direction(key string) string {
	switch {
	case key == "":
	case l.Sort == key:
		return "ascending"
	case l.Sort == "-"+key:
		return "descending"
	}
	return ""
}

// text says how many entries are shown of how many.
func (l listed) text() string {
	all := grouped(l.All)
	if l.More {
		all = "more than " + all
	}
	all += " " + l.What + value.Plural(l.All)
	switch {
	case l.From > 0:
		return fmt.Sprintf("%s to %s of %s", grouped(l.From+min(1, l.Shown)), grouped(l.From+l.Shown), all)
	case l.Shown < l.All || l.More:
		return grouped(l.Shown) + " of " + all
	}
	return all
}

// grouped is a number as people read it: 12,034.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0 && n >= 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// An order compares two entries by a key.
type order[T any] map[string]func(a, b T) int

// sorted sorts rows as a list asks for. Those that are alike stay as they are.
func sorted[T any](l listed, rows []T, by order[T]) error {
	if l.Sort == "" {
		return nil
	}
	key, reverse := strings.CutPrefix(l.Sort, "-")
	compare := by[key]
	if compare == nil {
		var keys []string
		for k := range by {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		return fmt.Errorf("this list is not sorted by %q, but by %s", key, strings.Join(keys, ", "))
	}
	slices.SortStableFunc(rows, func(a, b T) int {
		if reverse {
			return compare(b, a)
		}
		return compare(a, b)
	})
	return nil
}

// cut leaves the part of sorted rows that the list shows, of so many on a page.
func cutList[T any](l *listed, rows []T, most int) []T {
	l.All = len(rows)
	l.From = min(l.From, l.All)
	rows = rows[l.From:min(l.From+most, l.All)]
	l.Shown = len(rows)
	return rows
}

// byText compares entries by a text of each, without regard to case.
func byText[T any](text func(T) string) func(a, b T) int {
	return func(a, b T) int {
		x, y := text(a), text(b)
		return cmp.Or(cmp.Compare(strings.ToLower(x), strings.ToLower(y)), cmp.Compare(x, y))
	}
}

// byTime compares entries by a time of each.
func byTime[T any](at func(T) time.Time) func(a, b T) int {
	return func(a, b T) int { return at(a).Compare(at(b)) }
}

// A period is the days that a list is for, in UTC.
type period struct{ Since, Until string }

// times are the first and the last moment of the period; zero where there is no bound.
func (p period) times() (from, to time.Time, err error) {
	for _, x := range []struct {
		text string
		at   *time.Time
		days int
	}{{p.Since, &from, 0}, {p.Until, &to, 1}} {
		if x.text == "" {
			continue
		}
		day, err := time.Parse(time.DateOnly, x.text)
		if err != nil {
			return from, to, fmt.Errorf("%q is not a date such as 2026-12-01", x.text)
		}
		if *x.at = day; x.days > 0 {
			*x.at = day.AddDate(0, 0, x.days).Add(-time.Microsecond)
		}
	}
	return from, to, nil
}

// A head is that of a column; Key is what the list is sorted by when somebody asks for it,
// "" where it cannot be.
type head struct{ Text, Key string }

// headsOf are heads of texts and keys by turns.
func headsOf(pairs ...string) (out []head) {
	for i := 0; i+1 < len(pairs); i += 2 {
		out = append(out, head{pairs[i], pairs[i+1]})
	}
	return out
}
