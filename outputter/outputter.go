// Package outputter turns returns into what users read: values in, bytes out.
//
// Each outputter is a file of its own; [Lookup] finds one by Salt's name.
package outputter

import (
	"fmt"
	"io"
	"sort"
	"strings"

	"brine/internal/core/absent"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// A Func writes data, the whole return ("local" → value, or id → value), to w.
// Its error is w's, or that data is nothing it can print.
type Func func(w io.Writer, data value.Value, o *Options) error

// Options are what configuration and command line say about output. The zero
// Options are Salt's defaults without colour.
type Options struct {
	// Indent is the number of spaces a level is indented by: nil is the
	// outputter's own default, a negative one means a single line.
	Indent *int
	// Pretty is Salt's output_indent: pretty: four spaces and sorted keys.
	Pretty bool
	Color  bool
	// StateOutput is full (""), terse, mixed, changes, filter, live, or one of them
	// with _id. live is changes, for a report that is printed in parts.
	StateOutput string
	// HideClean leaves out states that succeeded without changes: Salt's
	// state_verbose: False.
	HideClean bool
	// HideProfile leaves out start times and durations: Salt's
	// state_output_profile: False.
	HideProfile bool
	// Opts are the configuration, for the rarer settings: state_output_diff,
	// state_output_exclude, state_output_terse, state_tabular,
	// state_compress_ids, state_output_pct, strip_colors, out.table.*.
	Opts *value.Map
	// Retcode is the return code of the data, where a caller knows it.
	Retcode int
	// Shown are the tags of the states that [HighstatePart] has printed: Highstate
	// prints what is left of the report. nil: it prints all.
	Shown map[string]bool
	// NestedIndent is where the nested outputter begins, in spaces.
	NestedIndent int

	many *many // see GroupAbove
}

// Lookup returns the outputter called name. The error for an unknown name lists
// the available ones.
func Lookup(name string) (Func, error) {
	if f := byName(name); f != nil {
		return f, nil
	}
	return nil, Unknown(name, Names())
}

// Unknown is the error of an outputter that is none of names.
func Unknown(name string, names []string) error {
	if why := absent.ReasonSuffix(absent.Outputter, name); why != "" {
		return fmt.Errorf("unknown outputter %q%s", name, why)
	}
	return fmt.Errorf("unknown outputter %q%s; there are %s", name, source.DidYouMean(name, names), strings.Join(names, ", "))
}

// Names returns the names of all outputters, sorted.
func Names() []string {
	names := []string{
		"highstate", "json", "key", "nested", "newline_values_only", "no_out", "no_return", "pprint", "profile", "quiet", "raw", "table", "txt", "yaml",
	}
	sort.Strings(names)
	return names
}

func byName(name string) Func {
	switch name {
	case "highstate":
		return Highstate
	case "json":
		return JSON
	case "key":
		return Key
	case "nested", "grains": // grains is a name of old
		return Nested
	case "newline_values_only":
		return NewlineValuesOnly
	case "no_return":
		return NoReturn
	case "pprint":
		return Pprint
	case "profile":
		return Profile
	case "quiet", "no_out":
		return Quiet
	case "raw":
		return Raw
	case "table":
		return Table
	case "text", "txt":
		return Txt
	case "yaml":
		return YAML
	}
	return nil
}

// stripColors reports whether escape sequences in data are made harmless:
// Salt's strip_colors, true by default.
func (o *Options) stripColors() bool {
	v, ok := o.Opts.Get("strip_colors")
	return !ok || value.Truth(v)
}

// escapes reports whether a character begins an escape sequence, or rings.
func escapes(r rune) bool { return r == 0x1b || r == 0x07 || r >= 0x80 && r < 0xa0 && r != 0x85 }

// opt reports whether a setting is there and true.
func (o *Options) opt(name string) bool { return value.Truth(o.Opts.At(name)) }

// clean makes escape sequences in s harmless where the settings ask for it.
// Salt: salt/output/__init__.py strip_esc_sequence.
func (o *Options) clean(s string) string {
	if !strings.ContainsFunc(s, escapes) || !o.stripColors() {
		return s
	}
	return strings.Map(func(r rune) rune {
		if escapes(r) {
			return '?'
		}
		return r
	}, s)
}

// print writes s and a newline, as Salt prints what an outputter returns: blanks
// and empty lines at its end are left out, and empty text prints nothing.
// Salt: salt/output/__init__.py display_output.
func print(w io.Writer, s string) error {
	s = strings.TrimRightFunc(s, value.IsSpace)
	if s == "" {
		return nil
	}
	_, err := io.WriteString(w, s+"\n")
	return err
}

// sortedKeys returns a mapping's keys as Salt's outputters show them: those of
// an OrderedDict in order, else sorted.
func sortedKeys(m value.Mapping) []value.Value {
	if om, ok := m.(*value.Map); ok && om.Ordered {
		return om.Keys()
	}
	return sorted(m.Keys())
}

// sorted sorts keys in place and returns them.
func sorted(keys []value.Value) []value.Value {
	sort.SliceStable(keys, func(i, j int) bool { return lessKey(keys[i], keys[j]) })
	return keys
}

// lessKey orders keys: numbers by value, all else by text.
func lessKey(a, b value.Value) bool {
	x, ok := value.AsInt(a)
	y, ok2 := value.AsInt(b)
	if ok && ok2 {
		return x < y
	}
	return value.Str(a) < value.Str(b)
}
