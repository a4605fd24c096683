package fun

import (
	"strings"

	"brine/internal/py/value"
)

// A Type says which values an argument takes. Types are combined with |: an
// argument of type Str|Bool takes a string or a boolean. dispatch converts each
// value to its type once, before the function runs, and refuses what no reading
// makes valid (see [Arg.Convert]).
type Type uint32

// The types of arguments.
const (
	// Any takes every value as it comes. It is for arguments that are data to
	// the function, such as what test.echo returns.
	Any Type = 0

	Str      Type = 1 << (iota - 1) // text; numbers and booleans become text as Python's str prints them
	Bool                            // a boolean; see [Arg.Convert] for strings
	Int                             // an integer, or text that is one
	Float                           // a number, or text that is one
	List                            // a list; a single scalar is a list of one
	Dict                            // a mapping
	Comma                           // a list; text is split at commas
	Mode                            // permissions in octal digits: 644, "0644", "0o644"; becomes "0644"
	Duration                        // seconds, as a number or text that is one
	Size                            // bytes, as a number or text with a unit: 10k, 5M, 1G
	Path                            // text that can name a file: no NUL byte
	None                            // an argument that is required may be None

	elem = 16 // how far the type of elements is shifted
)

// Lists and mappings whose elements have a type.
const (
	Strs    = List | Str<<elem  // list of strings
	Ints    = List | Int<<elem  // list of integers
	Dicts   = List | Dict<<elem // list of mappings
	Paths   = List | Path<<elem // list of paths
	Commas  = Comma | Str<<elem // list of strings; text is split at commas
	StrDict = Dict | Str<<elem  // mapping of strings
)

// Elem returns the type of the elements of a list or mapping type.
func Elem(t Type) Type { return t >> elem }

var typeNames = [...]string{"string", "boolean", "integer", "number", "list", "mapping", "comma-separated list", "mode", "duration", "size", "path", "None"}

// String returns the type as the documentation names it: "string or boolean",
// "list of strings".
func (t Type) String() string {
	if t == Any {
		return "any"
	}
	var names []string
	of := Elem(t)
	for i, name := range typeNames {
		bit := Type(1) << i
		if t&bit == 0 {
			continue
		}
		if of != 0 && bit&(List|Dict|Comma) != 0 {
			name += " of " + plural(of)
		}
		names = append(names, name)
	}
	return strings.Join(names, " or ")
}

func plural(t Type) string {
	var names []string
	for i, name := range typeNames {
		if t&(1<<i) != 0 {
			names = append(names, name+"s")
		}
	}
	return strings.Join(names, " or ")
}

// want says what a value of the type has to be, as an error names it.
func (a *Arg) want() string {
	var names []string
	for i, name := range typeNames {
		bit := Type(1) << i
		if a.Type&bit == 0 {
			continue
		}
		switch bit {
		case Mode:
			name = "a file mode in octal digits"
		case Duration:
			name = "a number of seconds"
		case Size:
			name = "a size in bytes such as 4096, 10k or 5M"
		case Path:
			name = "a path"
		case None:
		case Int:
			name = "an integer"
			if a.Unit != "" {
				name += " (" + a.Unit + ")"
			}
		case Str:
			name = "a string"
			if len(a.OneOf) > 0 {
				name = "one of " + strings.Join(a.OneOf, ", ")
			}
		default:
			name = "a " + name
			if of := Elem(a.Type); of != 0 && bit&(List|Dict|Comma) != 0 {
				name += " of " + plural(of)
			}
		}
		names = append(names, name)
	}
	return strings.Join(names, " or ")
}

// An Arg is one argument of a function.
type Arg struct {
	Name     string
	Type     Type
	Required bool
	Default  value.Value // where it is not Required
	Unit     string      // "s", "bytes", ...; "" is none
	Doc      string
	// OneOf lists the strings that an argument of type Str, or the words that
	// one of type Mode, takes; nil is all strings and no words. Help, completion
	// and errors show them.
	OneOf []string
	// KwOnly says that the argument is given by name only: further positional
	// arguments are the function's *args. Such arguments follow all others.
	KwOnly bool
	// Secret says that errors about the value do not show it. Records and logs hide
	// values by the names of arguments: see internal/core/redact.
	Secret bool

	key value.Value // Name; nil where the argument is not of a struct
}

// Key returns the name as a key of mappings. It costs no memory for an argument of a
// struct.
func (a *Arg) Key() value.Value {
	if a.key == nil {
		return a.Name
	}
	return a.key
}

// DefaultText is the default as documentation shows it: as Python does, or, where
// the default is a marker for what was not given, what the marker says.
func (a Arg) DefaultText() string {
	if m, ok := a.Default.(interface{ Text() string }); ok {
		return m.Text()
	}
	return value.Repr(a.Default)
}

// SystemPath is the argument of the functions that remove a path, or change the
// owner or mode of all that is in it: without it they refuse the directories that
// the system consists of (see internal/core/host/system.go).
type SystemPath struct {
	_ bool `arg:"force_system_path,kw" default:"False" doc:"accept system directories such as /etc, /usr and /home"`
}

const forceSystemPath = "force_system_path"
