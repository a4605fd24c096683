// Package aptsources reads and edits the lists of repositories that apt uses:
// /etc/apt/sources.list and what is in /etc/apt/sources.list.d, one-line files
// (.list) and deb822 files (.sources).
//
// Only what is changed is written: other lines, comments and fields stay as they
// are, and so do files in which nothing changes.
package aptsources

import (
	"slices"
	"strings"
)

// An Option is a setting of an entry that this package does not interpret.
type Option struct{ Name, Value string }

// An Entry is one repository: a type, an address and a suite.
type Entry struct {
	File     string // where it is, or is to be
	Type     string // deb, deb-src
	URI      string
	Dist     string
	Comps    []string
	Archs    []string
	SignedBy string
	Options  []Option // other settings
	Disabled bool
	Comment  string // what follows # in the line
	// Line is the entry as it was read: with its line end in a one-line file, as
	// such a file would have it for a deb822 one.
	Line string

	at *stanza // of a deb822 file
}

// Types are the words that an entry may begin with.
var types = []string{"deb", "deb-src", "rpm", "rpm-src"}

// Parse reads a line of a one-line file. ok is false for what is not an entry: an
// empty line, a comment, or nonsense. A line that is commented out is an entry that
// is disabled.
func Parse(line string) (e Entry, ok bool) {
	e.Line = line
	rest := strings.TrimSpace(line)
	if rest, ok = strings.CutPrefix(rest, "#"); ok {
		e.Disabled = true
	}
	if i := strings.IndexByte(rest, '#'); i > 0 {
		e.Comment = strings.TrimRight(rest[i+1:], " \t\r")
		rest = rest[:i]
	}
	e.Type, rest = word(rest)
	if !slices.Contains(types, e.Type) {
		return e, false
	}
	if inside, is := strings.CutPrefix(rest, "["); is {
		end := strings.IndexByte(inside, ']')
		if end < 0 || !e.options(strings.Fields(inside[:end])) {
			return e, false
		}
		rest = strings.TrimLeft(inside[end+1:], " \t")
	}
	e.URI, rest = address(rest)
	e.Dist, rest = word(rest)
	e.Comps = strings.Fields(rest)
	return e, e.Dist != "" && strings.Contains(e.URI, ":") && strings.Count(e.URI, "[") == strings.Count(e.URI, "]") && !strings.HasPrefix(e.Dist, "[")
}

func word(s string) (first, rest string) {
	s = strings.TrimLeft(s, " \t\r\n")
	i := strings.IndexAny(s, " \t\r\n")
	if i < 0 {
		return s, ""
	}
	return s[:i], strings.TrimLeft(s[i:], " \t\r\n")
}

// address returns the address that s begins with. That of a CD has blanks within
// brackets.
func address(s string) (uri, rest string) {
	if label, ok := strings.CutPrefix(s, "cdrom:["); ok {
		if i := strings.IndexByte(label, ']'); i >= 0 {
			tail, rest := word(label[i+1:])
			if strings.HasPrefix(label[i+1:], " ") {
				tail, rest = "", strings.TrimLeft(label[i+1:], " \t")
			}
			return "cdrom:[" + label[:i+1] + tail, rest
		}
	}
	return word(s)
}

// options reads what is within brackets; false where a word is not a setting.
func (e *Entry) options(words []string) bool {
	for _, w := range words {
		name, val, ok := strings.Cut(w, "=")
		if !ok {
			return false
		}
		switch name {
		case "arch":
			e.Archs = append(e.Archs, splitComma(val)...)
		case "signed-by":
			e.SignedBy = val
		default:
			e.Options = append(e.Options, Option{name, val})
		}
	}
	return true
}

func splitComma(s string) []string {
	return slices.DeleteFunc(strings.Split(s, ","), func(w string) bool { return w == "" })
}

// String returns the entry as a line of a one-line file, without line end.
func (e *Entry) String() string {
	var words []string
	if e.Disabled {
		words = append(words, "#")
	}
	words = append(words, e.Type)
	var opts []string
	if len(e.Archs) > 0 {
		opts = append(opts, "arch="+strings.Join(e.Archs, ","))
	}
	if e.SignedBy != "" {
		opts = append(opts, "signed-by="+e.SignedBy)
	}
	for _, o := range e.Options {
		opts = append(opts, o.Name+"="+o.Value)
	}
	if len(opts) > 0 {
		words = append(words, "["+strings.Join(opts, " ")+"]")
	}
	words = append(append(words, e.URI, e.Dist), e.Comps...)
	if e.Comment != "" {
		words = append(words, "#"+e.Comment)
	}
	return strings.Join(words, " ")
}

// Deb822 reports whether the entry is in a deb822 file.
func (e *Entry) Deb822() bool { return strings.HasSuffix(e.File, ".sources") }

// SetOption sets an option.
func (e *Entry) SetOption(o Option) {
	for i := range e.Options {
		if e.Options[i].Name == o.Name {
			e.Options[i].Value = o.Value
			return
		}
	}
	e.Options = append(e.Options, o)
}

// Has reports whether the entry has an option with that value.
func (e *Entry) Has(o Option) bool { return slices.Contains(e.Options, o) }

// Shares reports whether the entry has one of some components, or neither has any.
func (e *Entry) Shares(comps []string) bool {
	if len(e.Comps) == 0 || len(comps) == 0 {
		return len(e.Comps) == len(comps)
	}
	return slices.ContainsFunc(comps, func(c string) bool { return slices.Contains(e.Comps, c) })
}

// SameURI reports whether two addresses are the same but for a slash at the end.
func SameURI(a, b string) bool { return strings.TrimRight(a, "/") == strings.TrimRight(b, "/") }
