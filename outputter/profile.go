package outputter

import (
	"io"
	"slices"
	"sort"
	"strconv"
	"strings"

	"brine/internal/py/value"
)

// Profile prints returns of states as a table of names, functions and
// durations, the longest last; its looks are set as those of [Table]. Data of
// another shape are printed by [Nested]. Salt: salt/output/profile.py.
func Profile(w io.Writer, data value.Value, o *Options) error {
	rows, ok := durations(data)
	if !ok {
		return Nested(w, data, o)
	}
	t := newTabler(o)
	t.rowsKey, t.labelsKey = "rows", "labels"
	return t.print(w, value.MapOf("labels", value.Strings("name", "mod.fun", "duration (ms)"), "rows", rows), o)
}

// maxName is how much of a name a profile shows, in characters.
const maxName = 60

// durations returns a row for each state of each target.
func durations(data value.Value) (*value.List, bool) {
	targets, ok := data.(value.Mapping)
	if !ok {
		return nil, false
	}
	var states []timedState
	width := len("duration (ms)")
	add := func(tag string, m *value.Map) bool {
		s, ok := timed(tag, m)
		if !ok {
			return false
		}
		width = max(width, len(strconv.FormatFloat(s.ms, 'f', 4, 64)))
		states = append(states, s)
		return true
	}
	for _, id := range targets.Keys() {
		v, _ := targets.Get(id)
		switch v := v.(type) {
		case value.Mapping:
			for _, tag := range v.Keys() {
				x, _ := v.Get(tag)
				m, ok := x.(*value.Map)
				if !ok {
					m = value.MapOf("name", value.Str(tag))
				}
				if !add(value.Str(tag), m) {
					return nil, false
				}
			}
		case *value.List: // an SLS that did not compile
			for _, x := range v.Items {
				if !add(value.Str(x), nil) {
					return nil, false
				}
			}
		default:
			return nil, false
		}
	}
	rows := make([][3]string, len(states))
	for i, s := range states {
		rows[i] = [3]string{rjust(strconv.FormatFloat(s.ms, 'f', 4, 64), width), s.name, s.fun}
	}
	sort.Slice(rows, func(i, j int) bool { return slices.Compare(rows[i][:], rows[j][:]) < 0 })
	out := value.NewList()
	for _, r := range rows {
		out.Append(value.Strings(r[1], r[2], r[0]))
	}
	return out, true
}

// A timedState is a state with its duration.
type timedState struct {
	ms        float64
	name, fun string
}

// timed reads a state's return; it reports false of what is none.
func timed(tag string, m *value.Map) (timedState, bool) {
	s := timedState{ms: -1, name: "<>"}
	comps := strings.Split(tag, "_|-")
	s.fun = comps[0] + "." + comps[len(comps)-1]
	name := m.At("name")
	if !m.Has("name") {
		name = m.At("__id__")
	}
	if name != nil {
		text, ok := name.(string)
		if !ok {
			return s, false
		}
		s.name = text
	}
	if r := []rune(s.name); len(r) > maxName {
		s.name = string(r[:maxName-3]) + "..."
	}
	if d, ok := m.Get("duration"); ok {
		f, err := value.ToFloat(d)
		if err != nil {
			return s, false
		}
		s.ms = f
	}
	return s, true
}
