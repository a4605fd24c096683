package app

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"
)

// texts is the value of a flag that may be repeated. pflag's own writes its default as
// CSV, through a buffer of 4 KiB for each such flag of each command at each start.
type texts struct {
	list *[]string
}

// RepeatedVar defines a flag that may be repeated, each time with one more text; short
// is its shorthand, or "".
func RepeatedVar(fs *pflag.FlagSet, list *[]string, name, short, usage string) {
	*list = nil
	fs.VarP(texts{list}, name, short, usage)
}

// Repeated returns the texts of a flag that [RepeatedVar] has defined; nil if the
// command has no such flag.
func Repeated(fs *pflag.FlagSet, name string) []string {
	if f := fs.Lookup(name); f != nil {
		if v, ok := f.Value.(texts); ok {
			return v.GetSlice()
		}
	}
	return nil
}

// Set adds a text.
func (v texts) Set(text string) error { return v.Append(text) }

// Append adds a text.
func (v texts) Append(text string) error {
	*v.list = append(*v.list, text)
	return nil
}

// Replace replaces the texts.
func (v texts) Replace(list []string) error {
	*v.list = slices.Clone(list)
	return nil
}

// GetSlice returns the texts.
func (v texts) GetSlice() []string { return slices.Clone(*v.list) }

// Type is how help calls the value.
func (texts) Type() string { return "stringArray" }

// String returns the texts for people; nothing for none, which help takes as no default.
func (v texts) String() string {
	if v.list == nil || len(*v.list) == 0 {
		return ""
	}
	return fmt.Sprintf("%q", *v.list)
}
