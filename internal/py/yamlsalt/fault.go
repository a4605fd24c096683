package yamlsalt

import (
	"fmt"
	"strings"

	"brine/internal/py/source"
	"brine/internal/py/value"
)

// A SyntaxError is what is wrong with a YAML text, in the words of PyYAML.
type SyntaxError struct {
	// Class is the Python exception: ReaderError, ScannerError, ParserError,
	// ComposerError, ConstructorError, or a plain one such as ValueError.
	Class string
	// Context says what was being read, from ContextLine and ContextCol on;
	// they may be "" and 0.
	Context                 string
	ContextLine, ContextCol int
	// Problem is the fault, found at Line and Col (from 1; 0 is unknown).
	Problem   string
	Line, Col int

	offset int // bytes, of a ReaderError
	// from is where ContextLine comes from, if that is known.
	from source.Pos
}

// Error returns the fault in one line, without its place.
func (f *SyntaxError) Error() string {
	problem := strings.ReplaceAll(f.Problem, "\n", " ")
	switch {
	case f.Context == "":
		return problem
	case f.ContextLine > 0 && f.ContextLine != f.Line && f.from.File != "":
		return fmt.Sprintf("%s (%s from %s)", problem, f.Context, source.Pos{File: f.from.File, Line: f.from.Line})
	case f.ContextLine > 0 && f.ContextLine != f.Line:
		return fmt.Sprintf("%s (%s from line %d)", problem, f.Context, f.ContextLine)
	}
	return problem + " (" + f.Context + ")"
}

// Text returns the fault as Python's str() prints the exception: some lines,
// with the places in the text that was loaded.
func (f *SyntaxError) Text() string {
	if f.Class == "ReaderError" {
		return fmt.Sprintf("%s\n  in \"<unicode string>\", position %d", f.Problem, f.offset)
	}
	var lines []string
	if f.Context != "" {
		lines = append(lines, f.Context)
		if f.ContextLine > 0 && (f.ContextLine != f.Line || f.ContextCol != f.Col || f.Problem == "") {
			lines = append(lines, markText(f.ContextLine, f.ContextCol))
		}
	}
	lines = append(lines, f.Problem)
	if f.Line > 0 && f.marked() {
		lines = append(lines, markText(f.Line, f.Col))
	}
	return strings.Join(lines, "\n")
}

func markText(line, col int) string {
	return fmt.Sprintf("  in \"<unicode string>\", line %d, column %d", line, col)
}

// marked reports whether the exception is one of YAML's, which print places.
func (f *SyntaxError) marked() bool {
	switch f.Class {
	case "ScannerError", "ParserError", "ComposerError", "ConstructorError":
		return true
	}
	return false
}

// RenderError reports whether Salt's YAML renderer makes a SaltRenderError of
// the fault ("Rendering SLS 'base:x' failed: ..."). Others leave the renderer
// as they are ("Rendering SLS x failed, render error: ..." and a traceback).
func (f *SyntaxError) RenderError() bool {
	return f.Class == "ScannerError" || f.Class == "ParserError" || f.Class == "ConstructorError"
}

// Unwrap returns the fault as a Python exception.
func (f *SyntaxError) Unwrap() error { return &value.PyError{Type: f.Class, Msg: f.Text()} }

// saltText is what follows "failed: " when an SLS has the fault: of a scanner's
// fault Salt keeps the problem alone.
func (f *SyntaxError) saltText() string {
	if f.Class == "ScannerError" {
		return f.Problem
	}
	return f.Text()
}

// hint says what a user can do about common faults.
func (f *SyntaxError) hint() string {
	switch {
	case f.Problem == "mapping values are not allowed in this context":
		return "text that contains \": \" needs quotes; or a line before it is not indented as it should be"
	case f.Problem == "found character that cannot start any token":
		return "a tab cannot indent, and text that starts with @, ` or % needs quotes"
	case f.Problem == "found undefined alias" || f.Problem == "did not find expected alphabetic or numeric character" && strings.HasSuffix(f.Context, "alias"):
		return "text that starts with * needs quotes: '*'"
	case f.Problem == "did not find expected alphabetic or numeric character":
		return "text that starts with & needs quotes"
	case strings.HasPrefix(f.Problem, "found unacceptable key"):
		return "a value that starts with { is a mapping: if it is a template expression, quote it"
	case strings.HasPrefix(f.Problem, "found conflicting ID"):
		return "a mapping may have a key only once"
	case strings.HasSuffix(f.Problem, "'tag:yaml.org,2002:value'"):
		return "a lone = needs quotes"
	}
	return ""
}

// placed makes f an error of the file, at the place that the fault's line has
// in it.
func (o *LoadOptions) placed(f *SyntaxError) error {
	if f.ContextLine > 0 && o.Name != "" {
		f.from = o.pos(f.ContextLine, f.ContextCol)
	}
	return &source.Error{Pos: o.pos(f.Line, f.Col), Err: f, Salt: f.saltText(), Hint: f.hint()}
}

func (o *LoadOptions) pos(line, col int) source.Pos {
	if line == 0 {
		return source.Pos{File: o.Name}
	}
	if o.Pos == nil {
		return source.Pos{File: o.Name, Line: line, Col: col}
	}
	p := o.Pos(line)
	if p.Col == 0 {
		p.Col = col
	}
	return p
}
