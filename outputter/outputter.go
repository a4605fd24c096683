// Package outputter turns returns into what users read: values in, bytes out.
//
// Each outputter is a file of its own; [Lookup] finds one by Salt's name.
package outputter

import (
	"fmt"
	"io"
	"sort"
	"strings"

	"brine/internal/source"
	"brine/internal/value"
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
	Color  bool
	// StateOutput is full (""), terse, mixed, changes, filter, or one of them
	// with _id.
	StateOutput string
	// HideClean leaves out states that succeeded without changes: Salt's
	// state_verbose: False.
	HideClean bool
	// Opts are the configuration, for the rarer settings: state_output_diff,
	// state_output_exclude, state_output_profile, state_tabular,
	// state_compress_ids, state_output_pct, output_diff, strip_colors ...
	Opts *value.Map
	// Retcode is the return code of the data, where a caller knows it.
	Retcode int
}

// Lookup returns the outputter of a name. The error of an unknown one lists
// those that are there.
func Lookup(name string) (Func, error) {
	if f, ok := table()[name]; ok {
		return f, nil
	}
	names := Names()
	return nil, fmt.Errorf("unknown outputter %q%s; there are %s", name, source.DidYouMean(name, names), strings.Join(names, ", "))
}

// Names returns the names of all outputters, sorted.
func Names() []string {
	var names []string
	for n := range table() {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

func table() map[string]Func {
	return map[string]Func{
		"json": JSON,
	}
}
