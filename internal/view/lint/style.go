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

// delimiters checks the spaces inside the delimiters of Jinja. What is in a raw block is
// text.
func (f *file) delimiters() {
	in, raw := -1, false
	var quote byte
	start := 0 // of what is inside, in this line
	for i, line := range f.lines {
		start = 0
		for j := 0; j < len(line); j++ {
			if in < 0 {
				if in = opens(line[j:], raw); in < 0 {
					continue
				}
				j += 2
				if j < len(line) && (line[j] == '-' || line[j] == '+') {
					j++
				}
				if j < len(line) && line[j] != ' ' && line[j] != '\t' && !(in == 1 && line[j] == '{') && !(in == 2 && line[j] == '#') {
					f.space(i, j, in, "begins")
				}
				start, quote = j, 0
				j--
				continue
			}
			switch c := line[j]; {
			case quote != 0:
				if c == '\\' {
					j++
				} else if c == quote {
					quote = 0
				}
			case in != 2 && (c == '\'' || c == '"'):
				quote = c
			case strings.HasPrefix(line[j:], tags[in].end):
				if in == 1 && strings.HasPrefix(line[j:], "}}}") {
					continue // the first one closes a mapping
				}
				at := j
				if at > start && (line[at-1] == '-' || line[at-1] == '+') {
					at--
				}
				if at > start && line[at-1] != ' ' && line[at-1] != '\t' && !(in == 1 && line[at-1] == '}') && !(in == 2 && line[at-1] == '#') {
					f.space(i, at, in, "ends")
				}
				if in == 0 {
					switch word, _, _ := strings.Cut(strings.Trim(line[min(start, at):at], " \t-+"), " "); word {
					case "raw":
						raw = true
					case "endraw":
						raw = false
					}
				}
				in = -1
				j++
			}
		}
	}
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
