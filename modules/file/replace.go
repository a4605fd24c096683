package file

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/difflib"
	"brine/internal/py/pyre"
	"brine/internal/py/value"
)

// invalid is Salt's SaltInvocationError.
func invalid(format string, args ...any) error {
	return &fun.InvocationError{Msg: fmt.Sprintf(format, args...)}
}

// ReFlags reads the flags of a pattern: a number, a name, or a list of names.
// Salt: _get_flags.
func ReFlags(v value.Value) (pyre.Flags, error) {
	switch v := v.(type) {
	case int64:
		return pyre.Flags(v), nil
	case string:
		v = strings.TrimSpace(strings.Trim(v, "[]"))
		if v == "" {
			return 0, nil
		}
		var flags pyre.Flags
		for name := range strings.SplitSeq(v, ",") {
			f, ok := pyre.FlagByName(strings.TrimSpace(name))
			if !ok {
				return 0, fun.Errorf("Invalid re flag given: %s", name)
			}
			flags |= f
		}
		return flags, nil
	case *value.List:
		var flags pyre.Flags
		for _, x := range v.Items {
			f, err := ReFlags(x)
			if err != nil {
				return 0, err
			}
			flags |= f
		}
		return flags, nil
	}
	return 0, fun.Errorf(`Invalid re flags: "%s", must be given either as a single flag string, a list of strings, as an integer, or as an re flag`, value.Str(v))
}

// A Replacement is a search and replace in a file.
type Replacement struct {
	Path     string
	Pattern  string
	Repl     string
	Count    int // 0 is all
	Flags    pyre.Flags
	Append   bool    // append_if_not_found
	Prepend  bool    // prepend_if_not_found
	NotFound *string // not_found_content; nil is Repl
	// Backup is what the name of the copy ends in; "" makes none.
	Backup        string
	DryRun        bool
	IgnoreMissing bool
	Literal       bool // backslash_literal
}

// editable returns the path of a file to edit and its text, or says in Salt's
// words that there is none or that it is binary.
func (f *FS) editable(p string) (path, text string, err error) {
	path = f.Expand(p)
	b, err := f.ReadFile(path)
	real := f.RealPath(path) // as Salt's texts name it
	if err != nil {
		switch {
		case !f.Exists(real):
			return path, "", invalid("File not found: %s", real)
		case f.IsDir(real):
			return path, "", invalid("Cannot perform string replacements on a binary file: %s", real)
		}
		return path, "", fun.Errorf("Unable to open file '%s'. Exception: %s", real, host.OSError(err))
	}
	if !IsText(b) {
		return path, "", invalid("Cannot perform string replacements on a binary file: %s", real)
	}
	return path, string(b), nil
}

// Search reports whether a pattern matches in a file. A file that is not there
// is an error unless ignoreMissing.
//
// Salt: search.
func (f *FS) Search(p, pattern string, flags pyre.Flags, ignoreMissing bool) (bool, error) {
	_, text, err := f.editable(p)
	if err != nil {
		if ignoreMissing && !f.Exists(f.Expand(p)) {
			return false, nil
		}
		return false, err
	}
	re, err := pyre.Compile(pattern, flags|pyre.Bytes)
	if err != nil {
		return false, err
	}
	return re.Has(text)
}

// Replace replaces what a pattern matches in a file, or adds text where it
// matches nothing, and returns the old and new lines.
//
// Salt: replace.
func (f *FS) Replace(q Replacement) (before, after []string, err error) {
	if q.Append && q.Prepend {
		return nil, nil, invalid("Only one of append and prepend_if_not_found is permitted")
	}
	given, text, err := f.editable(q.Path)
	if err != nil {
		if q.IgnoreMissing && !f.Exists(given) {
			return nil, nil, nil
		}
		return nil, nil, err
	}
	re, err := pyre.Compile(q.Pattern, q.Flags|pyre.Bytes)
	if err != nil {
		return nil, nil, err
	}
	repl := q.Repl
	if q.Literal {
		repl = strings.ReplaceAll(repl, `\`, `\\`)
	}
	out, n, err := re.Sub(repl, text, q.Count)
	if err != nil {
		return nil, nil, err
	}
	before, after = byteLines(text), byteLines(out)
	if n == 0 && (q.Append || q.Prepend) {
		if after, err = q.addMissing(text); err != nil {
			return nil, nil, err
		}
		out = strings.Join(after, "")
	}
	if out == text || q.DryRun {
		return before, after, nil
	}
	if q.Backup != "" {
		if err := f.copyBeside(given, q.Backup); err != nil {
			return nil, nil, err
		}
		if to, err := f.Readlink(given); err == nil {
			_ = f.Host.Remove(given + q.Backup)
			if err := f.Symlink(to+q.Backup, given+q.Backup); err != nil {
				return nil, nil, fun.Errorf("Unable create backup symlink '%s'. Target was '%s'. Exception: %s", given+q.Backup, to+q.Backup, host.OSError(err))
			}
		}
	}
	if err := f.Write(given, out); err != nil {
		return nil, nil, fun.Errorf("Exception: %s", host.OSError(err))
	}
	return before, after, nil
}

// copyBeside copies a file to a name that ends in backup, beside the file that a
// link at path leads to.
func (f *FS) copyBeside(path, backup string) error {
	real, err := f.Target(path)
	if err == nil {
		err = f.copyWithOwner(path, real+backup)
	}
	if err != nil {
		return fun.Errorf("Unable to move the temp file '%s' to the backup file '%s'. Exception: %s", path, path+backup, host.OSError(err))
	}
	return nil
}

// addMissing adds the text for a pattern that matched nothing, unless a line
// of the file is that text already. It returns the lines; as in Salt, the text
// that is added counts as one, whatever it has inside.
func (q *Replacement) addMissing(text string) ([]string, error) {
	add := q.Repl
	look := q.Repl
	if q.NotFound != nil {
		add = *q.NotFound
		if add != "" {
			look = add
		}
	}
	there, err := pyre.Compile("^"+pyre.Escape(look)+`($|(?=\r\n))`, q.Flags|pyre.Bytes)
	if err != nil {
		return nil, err
	}
	if ok, err := there.Has(text); ok || err != nil {
		return byteLines(text), err
	}
	if q.Prepend {
		return append([]string{add + "\n"}, byteLines(text)...), nil
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return append(byteLines(text), add+"\n"), nil
}

// DiffLines returns the unified diff of lines.
func DiffLines(a, b []string) string {
	return difflib.String(decodedLines(a), decodedLines(b), "", "")
}

// A Block is a marked block of lines in a file.
type Block struct {
	Path         string
	Start, End   string // markers
	Content      string
	Append       bool // append_if_not_found
	Prepend      bool // prepend_if_not_found
	InsertBefore string
	InsertAfter  string
	Backup       string // "" makes none
	DryRun       bool
	Newline      *bool // append_newline; nil: where Content does not end in one
	Fault        error // of Content that is not text
}

// BlockReplace replaces the lines between two markers, and returns the old and
// new lines.
//
// Salt: blockreplace.
func (f *FS) BlockReplace(b Block) (before, after []string, err error) {
	ways := 0
	for _, w := range []bool{b.Append, b.Prepend, b.InsertBefore != "", b.InsertAfter != ""} {
		if w {
			ways++
		}
	}
	if ways > 1 {
		return nil, nil, invalid("Only one of append_if_not_found, prepend_if_not_found, insert_before_match, and insert_after_match is permitted")
	}
	p := f.Expand(b.Path)
	raw, err := f.ReadFile(p)
	if err != nil {
		if !f.Exists(p) {
			return nil, nil, invalid("File not found: %s", p)
		}
		return nil, nil, fun.Errorf("Failed to read from %s: %s", p, host.OSError(err))
	}
	if bytes.IndexByte(raw, 0) >= 0 {
		return nil, nil, invalid("Cannot perform string replacements on a binary file: %s", p)
	}
	if b.Fault != nil {
		return nil, nil, b.Fault
	}
	before = difflib.SplitLines(string(raw))
	if after, err = b.replaceIn(before); err != nil {
		return nil, nil, err
	}
	text := strings.Join(after, "")
	if b.DryRun || text == string(raw) {
		return before, after, nil
	}
	if b.Backup != "" {
		if err := f.copyWithOwner(p, p+b.Backup); err != nil {
			return nil, nil, fun.Errorf("Unable to back up %s: %s", p, host.OSError(err))
		}
	}
	if err := f.Write(p, text); err != nil {
		return nil, nil, fun.Errorf("Unable to write %s: %s", p, host.OSError(err))
	}
	return before, after, nil
}

// replaceIn returns lines with the block in them.
func (b *Block) replaceIn(lines []string) ([]string, error) {
	sep := "\n"
	if len(lines) > 0 && strings.HasSuffix(lines[0], "\r\n") {
		sep = "\r\n"
	}
	var out []string
	inside, found := false, false
	for _, l := range lines {
		keep := true
		switch {
		case strings.Contains(l, b.Start):
			inside = true
		case inside:
			keep = false
			if i := strings.Index(l, b.End); i >= 0 {
				inside, found = false, true
				out = b.appendBlock(out, sep, false, l[i:])
			}
		}
		if keep {
			out = append(out, l)
		}
	}
	if inside {
		return nil, fun.Errorf("Unterminated marked block. End of file reached before marker_end.")
	}
	if found {
		return out, nil
	}
	block := b.appendBlock(nil, sep, true, b.End)
	if n := len(block); !strings.HasSuffix(block[n-1], "\n") {
		block[n-1] += sep
	}
	switch {
	case b.Prepend:
		return append(block, out...), nil
	case b.Append:
		if n := len(out); n > 0 && !strings.HasSuffix(out[n-1], sep) {
			out[n-1] += sep
		}
		return append(out, block...), nil
	case b.InsertBefore != "" || b.InsertAfter != "":
		return b.insert(lines, out, block)
	}
	return nil, errNoMarkers()
}

// insert puts a block beside the first of lines that matches; out are the lines
// to put it in.
func (b *Block) insert(lines, out, block []string) ([]string, error) {
	re, err := pyre.Compile(b.InsertBefore+b.InsertAfter, 0)
	if err != nil {
		return nil, err
	}
	for i, l := range lines {
		ok, err := re.Has(l)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if b.InsertAfter != "" {
			i++
		}
		return slices.Concat(out[:i], block, out[i:]), nil
	}
	return nil, errNoMarkers()
}

func errNoMarkers() error {
	return fun.Errorf("Cannot edit marked block. Markers were not found in file.")
}

// appendBlock adds the block to lines; end is the line of the end marker.
func (b *Block) appendBlock(lines []string, sep string, withStart bool, end string) []string {
	end = strings.TrimRight(end, "\r\n") + sep
	if withStart {
		lines = append(lines, b.Start+sep)
	}
	newline := b.Newline != nil && *b.Newline || b.Newline == nil && !strings.HasSuffix(b.Content, "\n")
	parts := strings.Split(strings.ReplaceAll(b.Content, "\r\n", "\n"), "\n")
	for _, l := range parts[:len(parts)-1] {
		lines = append(lines, l+sep)
	}
	last := parts[len(parts)-1]
	if newline {
		return append(lines, last+sep, end)
	}
	return append(lines, last+end)
}

// CommentLine puts a comment character before the lines that match a pattern,
// or takes it off, and returns the lines that changed.
//
// Salt: comment_line.
func (f *FS) CommentLine(path, pattern, char string, comment bool, backup string) (before, after []string, err error) {
	if pattern == "" {
		return nil, nil, invalid("an empty pattern matches no line")
	}
	anchored, ended := pattern[0] == '^', strings.HasSuffix(pattern, "$")
	body := strings.TrimRight(strings.TrimLeft(pattern, "^"), "$")
	expr := "(" + body + ")"
	if ended {
		expr += "$"
	}
	switch {
	case !comment:
		expr = "^" + char + `\s*` + expr
	case anchored:
		expr = "^" + expr
	}
	re, err := pyre.Compile(expr, 0)
	if err != nil {
		return nil, nil, err
	}
	path, text, err := f.editable(path)
	if err != nil {
		return nil, nil, err
	}
	var out strings.Builder
	for _, l := range difflib.SplitLines(text) {
		m, err := re.Match(l)
		if err != nil {
			return nil, nil, err
		}
		if m == nil {
			out.WriteString(l)
			continue
		}
		changed := char + l
		if !comment {
			changed = strings.TrimLeft(l, char)
		}
		before, after = append(before, l), append(after, changed)
		out.WriteString(changed)
	}
	if len(before) == 0 {
		return nil, nil, nil
	}
	if backup != "" {
		if err := f.copyBeside(path, backup); err != nil {
			return nil, nil, err
		}
	}
	if err := f.Write(path, out.String()); err != nil {
		return nil, nil, fun.Errorf("Unable to write file '%s'. Exception: %s", path, host.OSError(err))
	}
	return before, after, nil
}

// AppendLines adds lines at the end of a file, after a newline where the last
// line has none.
//
// Salt: append.
func (f *FS) AppendLines(path string, lines []string) error {
	path = f.Expand(path)
	old, err := f.ReadFile(path)
	if err != nil {
		return err
	}
	text := string(old)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	for _, l := range lines {
		text += l + "\n"
	}
	return f.Write(path, text)
}

// PrependLines puts lines before those of a file, which is made where it is
// missing.
//
// Salt: prepend.
func (f *FS) PrependLines(path string, lines []string) error {
	path = f.Expand(path)
	old, err := f.ReadFile(path)
	if err != nil && f.Exists(path) {
		return err
	}
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l + "\n")
	}
	b.Write(old)
	return f.Write(path, b.String())
}

// wrote is what append and write answer.
func wrote(verb string, n int, path string) string {
	return fmt.Sprintf("%s %d lines to \"%s\"", verb, n, path)
}
