package lint

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"brine/internal/py/source"
)

// maxLine is how many characters a line has at most by the rule line-length.
const maxLine = 160

// style checks white space, and how templates and modes are written.
func (l *linter) style(f *file) {
	for i, line := range f.lines {
		at := func(col int) source.Pos { return source.Pos{File: f.Abs, Line: i + 1, Col: col + 1} }
		if rest := strings.TrimRight(line, " \t"); rest != line {
			f.add(Finding{Rule: trailingSpace, Pos: at(len(rest)), Message: "the line ends in white space", Fix: &Edit{Start: len(rest), End: len(line)}})
		}
		if tab := strings.IndexByte(line, '\t'); tab >= 0 {
			f.addf(i+1, tab+1, tabStyle, "", "the line contains a tab")
		}
		if n := utf8.RuneCountInString(line); n > maxLine {
			f.addf(i+1, 1, lineLength, "", "the line has %d characters, more than %d", n, maxLine)
		}
		if odd := strings.IndexFunc(line, isIrregularSpace); odd >= 0 {
			r, _ := utf8.DecodeRuneInString(line[odd:])
			f.add(Finding{Rule: irregularSpace, Pos: at(odd), Message: fmt.Sprintf("the line contains the space U+%04X", r)})
		}
		if f.sls != "" {
			f.modes(i, line)
		}
	}
	f.delimiters()
}

// isIrregularSpace reports whether a character looks like a space or like nothing.
func isIrregularSpace(r rune) bool {
	switch r {
	case '\v', '\f', 0x85, 0xA0, 0x1680, 0x180E, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF:
		return true
	}
	return r >= 0x2000 && r <= 0x200B
}

var modeLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(?:- +)?(?:[a-z]+_)?mode:\s+(['"]?)([0-7]{3,5})['"]?\s*(?:#.*)?$`)
})

// modes checks how the mode of a file is written in a line.
func (f *file) modes(i int, line string) {
	m := modeLine().FindStringSubmatchIndex(line)
	if m == nil {
		return
	}
	digits, pos := line[m[4]:m[5]], source.Pos{File: f.Abs, Line: i + 1, Col: m[2] + 1}
	quoted := m[2] < m[3]
	if !quoted {
		f.add(Finding{Rule: unquotedMode, Pos: pos, Message: "the mode " + digits + " is not quoted", Hint: "write '" + digits + "'", Fix: &Edit{Start: m[4], End: m[5], New: "'" + digits + "'"}})
	}
	if digits[0] != '0' {
		// Four digits such as 1777 have the bits of setuid, setgid and sticky first.
		out := Finding{Rule: modeZero, Pos: pos, Message: "the mode " + digits + " has no leading zero", Hint: "write '0" + digits + "'"}
		if quoted {
			out.Fix = &Edit{Start: m[4], End: m[5], New: "0" + digits}
		} else {
			out.Fix = &Edit{Start: m[4], End: m[5], New: "'0" + digits + "'"}
		}
		f.add(out)
	}
}

// tags are the delimiters of Jinja, and the rules about the spaces inside them.
var tags = [...]struct{ open, end, rule, what string }{
	{"{%", "%}", jinjaStatementSpace, "statement"},
	{"{{", "}}", jinjaVariableSpace, "expression"},
	{"{#", "#}", jinjaCommentSpace, "comment"},
}

// A tagScan goes through the tags of a file, a line at a time.
type tagScan struct {
	f     *file
	in    int  // which delimiter is open; -1 is none
	raw   bool // in a raw block, which is text
	quote byte // of the string that is open in a tag
	start int  // where what is inside begins in this line
}

// delimiters checks the spaces inside the delimiters of Jinja.
func (f *file) delimiters() {
	s := &tagScan{f: f, in: -1}
	for i, line := range f.lines {
		s.start = 0
		for j := 0; j < len(line); j++ {
			if s.in < 0 {
				j = s.open(i, j, line)
			} else {
				j = s.inside(i, j, line)
			}
		}
	}
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// adjoins reports whether a character may be next to a delimiter without a space: an
// expression may be a mapping, and a comment may have a line of hashes.
func (s *tagScan) adjoins(c, bracket byte) bool {
	return isBlank(c) || s.in == 1 && c == bracket || s.in == 2 && c == '#'
}

// open reads a delimiter at j, if there is one, and returns the last place of it.
func (s *tagScan) open(i, j int, line string) int {
	if s.in = opens(line[j:], s.raw); s.in < 0 {
		return j
	}
	j += 2
	if j < len(line) && (line[j] == '-' || line[j] == '+') {
		j++
	}
	if j < len(line) && !s.adjoins(line[j], '{') {
		s.f.space(i, j, s.in, "begins")
	}
	s.start, s.quote = j, 0
	return j - 1
}

// inside reads what is at j in a tag, and returns the last place of it.
func (s *tagScan) inside(i, j int, line string) int {
	c := line[j]
	switch {
	case s.quote != 0 && c == '\\':
		return j + 1
	case s.quote != 0 && c == s.quote:
		s.quote = 0
	case s.quote != 0:
	case s.in != 2 && (c == '\'' || c == '"'):
		s.quote = c
	case strings.HasPrefix(line[j:], tags[s.in].end) && (s.in != 1 || !strings.HasPrefix(line[j:], "}}}")): // of three, the first closes a mapping
		return s.end(i, j, line)
	}
	return j
}

// end reads the end of a tag at j.
func (s *tagScan) end(i, j int, line string) int {
	at := j
	if at > s.start && (line[at-1] == '-' || line[at-1] == '+') {
		at--
	}
	if at > s.start && !s.adjoins(line[at-1], '}') {
		s.f.space(i, at, s.in, "ends")
	}
	if s.in == 0 {
		switch word, _, _ := strings.Cut(strings.Trim(line[min(s.start, at):at], " \t-+"), " "); word {
		case "raw":
			s.raw = true
		case "endraw":
			s.raw = false
		}
	}
	s.in = -1
	return j + 1
}

// opens returns which delimiter a text begins with, -1 for none. In a raw block only the
// tag that ends it is one.
func opens(text string, raw bool) int {
	if raw {
		if rest, ok := strings.CutPrefix(text, "{%"); ok && strings.HasPrefix(strings.TrimLeft(rest, "-+ "), "endraw") {
			return 0
		}
		return -1
	}
	for n, t := range tags {
		if strings.HasPrefix(text, t.open) {
			return n
		}
	}
	return -1
}

// space notes a delimiter without a space inside.
func (f *file) space(i, at, tag int, how string) {
	f.add(Finding{
		Rule: tags[tag].rule, Pos: source.Pos{File: f.Abs, Line: i + 1, Col: at + 1},
		Message: "a Jinja " + tags[tag].what + " " + how + " without a space", Fix: &Edit{Start: at, End: at, New: " "},
	})
}
