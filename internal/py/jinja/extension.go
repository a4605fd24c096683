package jinja

import (
	"maps"
	"slices"
	"strings"

	"brine/internal/py/value"
)

// An Extension is what a dialect adds to Jinja2. A filter or test replaces one of
// Jinja2 that has the same name. Environments may share the tables: they must not
// change after [New].
type Extension struct {
	Filters map[string]Func
	Tests   map[string]Func
	Globals map[string]value.Value // found after all variables and Jinja2's own globals
	Tags    map[string]Tag

	// Finalize, where set, returns the text that {{ v }} prints, where v is not
	// a string, Markup, a [Module] or undefined.
	Finalize func(s *State, v value.Value) (string, error)
}

// A Tag is a statement that an [Extension] adds.
type Tag struct {
	Kind   TagKind
	End    string // the tag that ends the body
	Filter string // the filter that the text goes through
}

// A TagKind says what a [Tag] looks like and does.
type TagKind int

// The kinds of tags.
const (
	// CaptureTag is {% name as target %}body{% end %}. It sets the target to
	// what the filter makes of the rendered body.
	CaptureTag TagKind = iota
	// ImportTag is {% name template as target %}. It sets the target to what
	// the filter makes of the imported template, a [Module]. [Options.Profile]
	// measures it.
	ImportTag
	// ProfileTag is {% name as label %}body{% end %}. [Options.Profile]
	// measures the body.
	ProfileTag
)

// filter finds a filter: the extension's, else Jinja2's.
func (e *Env) filter(name string) (Func, bool) {
	if f, ok := e.opts.Extension.Filters[name]; ok {
		return f, true
	}
	f := builtinFilter(name)
	return f, f != nil
}

// test finds a test: the extension's, else Jinja2's.
func (e *Env) test(name string) (Func, bool) {
	if f, ok := e.opts.Extension.Tests[name]; ok {
		return f, true
	}
	f := builtinTest(name)
	return f, f != nil
}

// global finds a global: Jinja2's, else the extension's.
func (e *Env) global(name string) (value.Value, bool) {
	if v, ok := builtinGlobal(name); ok {
		return v, true
	}
	v, ok := e.opts.Extension.Globals[name]
	return v, ok
}

// FilterNames returns the names of all filters, sorted.
func (e *Env) FilterNames() []string { return union(builtinFilters, e.opts.Extension.Filters) }

// TestNames returns the names of all tests, sorted.
func (e *Env) TestNames() []string { return union(builtinTests, e.opts.Extension.Tests) }

// GlobalNames returns the names of all built-in globals, sorted.
func (e *Env) GlobalNames() []string { return union(builtinGlobals, e.opts.Extension.Globals) }

// TagNames returns the names of the tags that start a statement, sorted.
func (e *Env) TagNames() []string { return union(builtinTags, e.opts.Extension.Tags) }

// union returns the words of names and the keys of a table, sorted.
func union[T any](names string, table map[string]T) []string {
	all := slices.AppendSeq(strings.Fields(names), maps.Keys(table))
	slices.Sort(all)
	return slices.Compact(all)
}
