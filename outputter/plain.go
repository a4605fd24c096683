package outputter

import (
	"io"
	"sort"
	"strings"

	"brine/internal/py/pyformat"
	"brine/internal/py/value"
)

// Raw prints data as Python's print would. Salt: salt/output/raw.py.
func Raw(w io.Writer, data value.Value, _ *Options) error { return print(w, value.Str(data)) }

// Quiet prints nothing. Salt: salt/output/no_out_quiet.py.
func Quiet(io.Writer, value.Value, *Options) error { return nil }

// Txt prints "id: line" for each line of each value; text without an id as it
// is, all else without one as [Pprint] does. Salt: salt/output/txt.py.
func Txt(w io.Writer, data value.Value, o *Options) error {
	m, ok := data.(value.Mapping)
	if !ok {
		if s, ok := data.(string); ok {
			return print(w, s)
		}
		return Pprint(w, data, o)
	}
	var b strings.Builder
	for _, k := range m.Keys() {
		v, _ := m.Get(k)
		s, ok := v.(string)
		if !ok {
			b.WriteString(value.Str(k) + ": " + value.Str(v) + "\n")
			continue
		}
		for _, line := range value.SplitLines(s, false) {
			b.WriteString(value.Str(k) + ": " + line + "\n")
		}
	}
	return print(w, b.String())
}

// NewlineValuesOnly prints the values without the ids, one a line; the items
// of a list count as values. What has no ids is printed by [Nested].
// Salt: salt/output/newline_values_only.py.
func NewlineValuesOnly(w io.Writer, data value.Value, o *Options) error {
	m, ok := data.(value.Mapping)
	if !ok {
		return Nested(w, data, o)
	}
	var lines []string
	add := func(v value.Value) {
		if l, ok := v.(*value.List); ok {
			for _, x := range l.Items {
				lines = append(lines, value.Str(x))
			}
			return
		}
		lines = append(lines, value.Str(v))
	}
	for _, k := range m.Keys() {
		v, _ := m.Get(k)
		add(v)
	}
	return print(w, strings.Join(lines, "\n"))
}

// NoReturn prints the notices about targets that did not return.
// Salt: salt/output/no_return.py.
func NoReturn(w io.Writer, data value.Value, o *Options) error {
	c := colors(o.Color)
	var b strings.Builder
	var show func(v value.Value, indent int)
	show = func(v value.Value, indent int) {
		pad := strings.Repeat(" ", indent)
		switch v := v.(type) {
		case string:
			for line := range strings.SplitSeq(v, "\n") {
				b.WriteString(c.red + pad + o.clean(line) + c.endc + "\n")
			}
		case value.Mapping:
			for _, k := range sorted(v.Keys()) {
				x, _ := v.Get(k)
				b.WriteString(c.cyan + pad + o.clean(value.Str(k)) + c.endc + ":\n")
				show(x, indent+4)
			}
		}
	}
	show(data, 0)
	return print(w, b.String())
}

// Key prints accepted and other keys as salt-key does: dicts of lists by
// status. What is no such data is printed by [Nested].
// Salt: salt/output/key.py.
func Key(w io.Writer, data value.Value, o *Options) error {
	m, ok := data.(value.Mapping)
	if !ok {
		return Nested(w, data, o)
	}
	c := colors(o.Color)
	type status struct{ title, titleColor, color string }
	known := map[string]status{
		"minions":          {"Accepted Keys:", c.lightGreen, c.green},
		"minions_pre":      {"Unaccepted Keys:", c.lightRed, c.red},
		"minions_denied":   {"Denied Keys:", c.lightMagenta, c.magenta},
		"minions_rejected": {"Rejected Keys:", c.lightBlue, c.blue},
		"local":            {"Local Keys:", c.lightMagenta, c.magenta},
	}
	keys := m.Keys()
	sort.SliceStable(keys, func(i, j int) bool { return value.Str(keys[i]) < value.Str(keys[j]) })
	var b strings.Builder
	for _, k := range keys {
		s, ok := known[value.Str(k)]
		if !ok {
			return Nested(w, data, o)
		}
		v, _ := m.Get(k)
		b.WriteString(s.titleColor + s.title + c.endc + "\n")
		switch v := v.(type) {
		case *value.List:
			if mixed(v.Items) {
				return Nested(w, data, o)
			}
			for _, line := range sortedStrings(v.Items) {
				b.WriteString(s.color + o.clean(line) + c.endc + "\n")
			}
		case value.Mapping:
			for _, line := range sortedStrings(v.Keys()) {
				x, _ := v.Get(line)
				b.WriteString(s.color + o.clean(line) + ":  " + o.clean(value.Str(x)) + c.endc + "\n")
			}
		case string: // its letters are the keys, and none is shown
		default:
			return Nested(w, data, o)
		}
	}
	return print(w, b.String())
}

// mixed reports whether Python could not sort items: dicts, or things of
// several types.
func mixed(items []value.Value) bool {
	for _, x := range items {
		if _, ok := x.(value.Mapping); ok && len(items) > 1 || value.TypeName(x) != value.TypeName(items[0]) {
			return true
		}
	}
	return false
}

func sortedStrings(items []value.Value) []string {
	out := make([]string, len(items))
	for i, x := range items {
		out[i] = value.Str(x)
	}
	sort.Strings(out)
	return out
}

// Pprint prints data as Python's pprint does. Salt: salt/output/pprint_out.py.
func Pprint(w io.Writer, data value.Value, _ *Options) error {
	return print(w, pyformat.Pformat(data, 80))
}
