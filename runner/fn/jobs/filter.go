package jobsrun

import (
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// A filter says which jobs are looked for.
type filter struct {
	metadata  *value.Map
	functions []string
	targets   []string
	from, to  string // jids
	noFindJob bool
}

// A span is a time to search, with the names of its arguments.
type span struct {
	start, end         string
	startName, endName string
}

func newFilter(metadata *value.Map, function, target value.Value, in span) (filter, error) {
	f := filter{functions: globs(function), targets: globs(target)}
	if metadata.Len() > 0 {
		f.metadata = metadata
	}
	var err error
	if f.from, err = Bound(in.start, in.startName); err != nil {
		return f, err
	}
	f.to, err = Bound(in.end, in.endName)
	return f, err
}

func globs(v value.Value) []string {
	switch v := v.(type) {
	case nil:
		return nil
	case *value.List:
		var out []string
		for _, x := range v.Items {
			out = append(out, value.Str(x))
		}
		return out
	default:
		if s := value.Str(v); s != "" {
			return []string{s}
		}
		return nil
	}
}

// layouts are the times that start_time and end_time may be.
var layouts = [...]string{
	"2006, Jan 2 15:04:05.999999", "2006, Jan 2 15:04", "2006, Jan 2",
	"2006-01-02 15:04:05.999999", "2006-01-02 15:04", "2006-01-02",
	"2006-01-02T15:04:05.999999", "2006-01-02T15:04", time.RFC3339Nano,
	"2006/01/02 15:04:05", "2006/01/02 15:04", "2006/01/02", "20060102",
	"Jan 2 2006 15:04:05", "Jan 2 2006 15:04", "Jan 2 2006", "Jan 2, 2006 15:04:05", "Jan 2, 2006 15:04", "Jan 2, 2006",
	"2 Jan 2006 15:04:05", "2 Jan 2006 15:04", "2 Jan 2006",
}

// Bound returns the job id of the moment that the argument name gives; "" for none.
func Bound(text, name string) (string, error) {
	if text == "" {
		return "", nil
	}
	s := strings.TrimSpace(text)
	if jobs.IsJID(s) {
		return s, nil
	}
	for _, l := range layouts {
		if t, err := time.Parse(l, s); err == nil {
			var j jobs.JIDs
			return j.Next(t), nil
		}
	}
	return "", fun.Errorf("%s %q is not a time: write it as '2026, Nov 20 14:00', 2026-11-20 or a jid", name, s)
}

// wants reports whether a row matches. It reads no more of it than it has to.
func (f filter) wants(r *jobs.Row) bool {
	if f.noFindJob && r.FindJob() {
		return false
	}
	return f.metadata == nil && f.functions == nil && f.targets == nil || f.match(r.JID, r.Brief(f.targets != nil).Load)
}

func (f filter) match(jid string, load *value.Map) bool {
	m := jobs.Format(jid, load)
	if f.noFindJob && m.Str("Function") == "saltutil.find_job" {
		return false
	}
	if f.metadata != nil && !anyItem(m.Map("Metadata"), f.metadata) {
		return false
	}
	if f.functions != nil && !anyGlob(f.functions, globs(m.At("Function"))) {
		return false
	}
	if f.targets != nil {
		names := append(globs(m.At("Target")), globs(load.At("Minions"))...)
		if !anyGlob(f.targets, names) {
			return false
		}
	}
	return true
}

func anyItem(have, want *value.Map) bool {
	for k, v := range want.All() {
		if x, ok := have.Get(k); ok && value.Equal(x, v) {
			return true
		}
	}
	return false
}

func anyGlob(pats, names []string) bool {
	for _, p := range pats {
		for _, n := range names {
			if value.Fnmatch(p, n) {
				return true
			}
		}
	}
	return false
}
