package jinja

import (
	"strings"
	"time"

	"brine/internal/py/value"
)

// Limits that hold where Options gives none.
const (
	DefaultMaxDepth  = 1000      // nested macro calls, includes, imports and recursive loops
	DefaultMaxOutput = 256 << 20 // bytes of rendered text, buffers of macros and blocks included
	DefaultMaxTime   = time.Minute
	DefaultMaxMemory = 1 << 30 // bytes of values that are held

	// MaxRange is the number of items that range() may give, as in Jinja2's
	// sandbox.
	MaxRange = 100000
)

// An UndefinedKind says how an undefined variable behaves.
type UndefinedKind int

// The kinds of undefined: Jinja2's StrictUndefined, and its Undefined, which an
// inline if without else yields too.
const (
	Strict UndefinedKind = iota
	Plain
)

// Options are the settings of an [Env]. The zero value has Jinja2's delimiters
// and strict undefined values.
type Options struct {
	BlockStart, BlockEnd       string // "{%", "%}"
	VariableStart, VariableEnd string // "{{", "}}"
	CommentStart, CommentEnd   string // "{#", "#}"
	LineStatementPrefix        string // empty: none
	LineCommentPrefix          string // empty: none
	TrimBlocks                 bool   // drop the newline after a block tag
	LstripBlocks               bool   // drop blanks before a block tag that starts its line
	KeepTrailingNewline        bool   // keep the newline that ends the template
	NewlineSequence            string // what newlines of the template become; empty: "\n"
	Autoescape                 bool
	Undefined                  UndefinedKind
	Debug                      bool // allow the debug tag

	// MaxDepth, MaxOutput (bytes) and MaxTime (without what Untimed calls)
	// bound a rendering; 0 is the default of this package. MaxMemory (bytes)
	// ends one that has made more than that, where the process holds more than
	// that too.
	MaxDepth  int
	MaxOutput int
	MaxMemory int
	MaxTime   time.Duration

	// Profile, where set, is called at the start of what a [ProfileTag] or an
	// [ImportTag] measures. The function that it returns is called at the end.
	Profile func(label, source string) func()

	// Branch, where set, is called for each branch of a template that is rendered, with
	// what identifies it among those that [Env.Branches] lists; off is -1 for the
	// template itself. It must be safe for concurrent use.
	Branch func(template string, off int32, yes bool)

	// Globals are seen by every template, imported ones too.
	Globals *value.Map
	// Extension is what a dialect adds to Jinja2.
	Extension Extension
}

// Apply sets the options of a jinja_env or jinja_sls_env dict (names of
// jinja2.defaults, any case) and returns the names that Jinja2 does not know.
func (o *Options) Apply(m *value.Map) (unknown []string) {
	for k, v := range m.All() {
		name := value.Str(k)
		str := func(p *string) {
			if v != nil {
				*p = value.Str(v)
			}
		}
		switch strings.ToLower(name) {
		case "block_start_string":
			str(&o.BlockStart)
		case "block_end_string":
			str(&o.BlockEnd)
		case "variable_start_string":
			str(&o.VariableStart)
		case "variable_end_string":
			str(&o.VariableEnd)
		case "comment_start_string":
			str(&o.CommentStart)
		case "comment_end_string":
			str(&o.CommentEnd)
		case "line_statement_prefix":
			str(&o.LineStatementPrefix)
		case "line_comment_prefix":
			str(&o.LineCommentPrefix)
		case "newline_sequence":
			str(&o.NewlineSequence)
		case "trim_blocks":
			o.TrimBlocks = value.Truth(v)
		case "lstrip_blocks":
			o.LstripBlocks = value.Truth(v)
		case "keep_trailing_newline":
			o.KeepTrailingNewline = value.Truth(v)
		default:
			unknown = append(unknown, name)
		}
	}
	return unknown
}

// withDefaults fills in what is empty.
func (o Options) withDefaults() Options {
	def := func(p *string, s string) {
		if *p == "" {
			*p = s
		}
	}
	def(&o.BlockStart, "{%")
	def(&o.BlockEnd, "%}")
	def(&o.VariableStart, "{{")
	def(&o.VariableEnd, "}}")
	def(&o.CommentStart, "{#")
	def(&o.CommentEnd, "#}")
	def(&o.NewlineSequence, "\n")
	if o.MaxDepth <= 0 {
		o.MaxDepth = DefaultMaxDepth
	}
	if o.MaxOutput <= 0 {
		o.MaxOutput = DefaultMaxOutput
	}
	if o.MaxMemory <= 0 {
		o.MaxMemory = DefaultMaxMemory
	}
	if o.MaxTime <= 0 {
		o.MaxTime = DefaultMaxTime
	}
	return o
}
