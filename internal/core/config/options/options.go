// Package options is the table of every option of Salt 3006, and what each does in
// brine. It is static data that is looked at for options which are set; agents do
// not have it.
package options

import (
	"slices"
	"strings"
)

// A Verdict says what brine makes of an option.
type Verdict string

// The verdicts.
const (
	Honoured    Verdict = "honoured"
	Otherwise   Verdict = "honoured otherwise" // the note says how
	Meaningless Verdict = "meaningless"        // there is nothing that it could concern; the note says why
	Unsupported Verdict = "not supported"
	Own         Verdict = "brine's own"
	Unknown     Verdict = "unknown" // no option of Salt or brine; templates may read it
)

// Verdicts returns them in the order of reports.
func Verdicts() []Verdict {
	return []Verdict{Honoured, Otherwise, Meaningless, Unsupported, Own, Unknown}
}

// A File is which of Salt's files an option belongs to.
type File int

// The files; an option of proxy is one of a proxy minion's file alone.
const (
	master File = 1 << iota
	minion
	proxy
	both = master | minion
)

// String names the files.
func (f File) String() string {
	switch f {
	case both:
		return "master, minion"
	case master:
		return "master"
	case minion:
		return "minion"
	case proxy:
		return "proxy"
	}
	return ""
}

// An Option is one row.
type Option struct {
	Name    string
	In      File
	Verdict Verdict
	Note    string // one plain clause
	// Restrictive says that the option forbids something. A run for which one is set
	// that is not supported does not begin.
	Restrictive bool
	// Cosmetic marks an unsupported option that does not change what a run
	// does: only brine check warns of it.
	Cosmetic bool
}

// All returns the table, by name.
func All() []Option { return all[:] }

// Find returns the row of an option of Salt.
func Find(name string) (Option, bool) {
	i, ok := slices.BinarySearchFunc(all[:], name, func(o Option, name string) int { return strings.Compare(o.Name, name) })
	if !ok {
		return Option{}, false
	}
	return all[i], true
}

// Of returns what brine makes of a key of a configuration.
func Of(name string) Option {
	if o, ok := Find(name); ok {
		return o
	}
	o := Option{Name: name, In: both, Verdict: Unknown}
	switch _, own := slices.BinarySearch(ownOptions[:], name); {
	case own:
		o.Verdict = Own
	case strings.Contains(name, "."):
		o.Verdict, o.Note = Own, "a setting of what the name begins with"
	default:
		o.Note = "templates and config.get have it"
	}
	return o
}
