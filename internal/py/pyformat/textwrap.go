package pyformat

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"brine/internal/py/value"
)

// A Wrapper fills lines as Python's textwrap does.
type Wrapper struct {
	Width     int  // of a line in characters, above 0
	BreakLong bool // cut what is longer than a line
	Hyphens   bool // break words at hyphens
}

// Wrap returns the lines of s. Blanks are kept as they are within a line and
// left out around its end.
func (w *Wrapper) Wrap(s string) []string {
	chunks := w.chunks([]rune(s))
	var lines []string
	for len(chunks) > 0 {
		if len(lines) > 0 && allBlank(chunks[0]) {
			chunks = chunks[1:]
		}
		var line [][]rune
		n := 0
		for len(chunks) > 0 && n+len(chunks[0]) <= w.Width {
			n += len(chunks[0])
			line, chunks = append(line, chunks[0]), chunks[1:]
		}
		if len(chunks) > 0 && len(chunks[0]) > w.Width {
			if w.BreakLong {
				end := w.longBreak(chunks[0], w.Width-n)
				line = append(line, chunks[0][:end])
				chunks[0] = chunks[0][end:]
			} else if len(line) == 0 {
				line, chunks = append(line, chunks[0]), chunks[1:]
			}
		}
		if k := len(line); k > 0 && allBlank(line[k-1]) {
			line = line[:k-1]
		}
		if len(line) > 0 {
			var b strings.Builder
			for _, chunk := range line {
				b.WriteString(string(chunk))
			}
			lines = append(lines, b.String())
		}
	}
	return lines
}

// chunks cuts text where a line may end: around blanks, after hyphens within
// words, and around dashes.
func (w *Wrapper) chunks(text []rune) [][]rune {
	var out [][]rune
	for i := 0; i < len(text); {
		j := i + 1
		switch {
		case isWrapBlank(text[i]):
			for j < len(text) && isWrapBlank(text[j]) {
				j++
			}
		case w.Hyphens:
			j = wordEnd(text, i)
		default:
			for j < len(text) && !isWrapBlank(text[j]) {
				j++
			}
		}
		out = append(out, text[i:j])
		i = j
	}
	return out
}

// wordEnd returns where the chunk that starts at i, no blank, ends.
func wordEnd(text []rune, i int) int {
	at := func(k int, f func(rune) bool) bool { return k >= 0 && k < len(text) && f(text[k]) }
	hyphen := func(r rune) bool { return r == '-' }
	if at(i-1, wrapPunct) {
		if j := dashes(text, i); j > i {
			return j
		}
	}
	for j := i + 1; ; j++ {
		if at(j, hyphen) {
			before := at(j-1, wrapLetter) && (at(j-2, wrapLetter) || at(j-2, hyphen) && at(j-3, wrapLetter))
			after := at(j+1, wrapLetter) && (at(j+2, wrapLetter) || at(j+2, hyphen) && at(j+3, wrapLetter))
			if before && after {
				return j + 1
			}
		}
		if j >= len(text) || isWrapBlank(text[j]) {
			return j
		}
		if wrapPunct(text[j-1]) && dashes(text, j) > j {
			return j
		}
	}
}

// dashes returns the end of a dash (two hyphens or more, before a word) at i,
// or i where there is none.
func dashes(text []rune, i int) int {
	j := i
	for j < len(text) && text[j] == '-' {
		j++
	}
	if j-i >= 2 && j < len(text) && isWordChar(text[j]) {
		return j
	}
	return i
}

// longBreak returns where to cut a chunk that is longer than a line, with room
// characters left on this one.
func (w *Wrapper) longBreak(chunk []rune, room int) int {
	if w.Hyphens && len(chunk) > room {
		for k := room - 1; k > 0; k-- {
			if chunk[k] != '-' {
				continue
			}
			for _, r := range chunk[:k] {
				if r != '-' {
					return k + 1
				}
			}
			break
		}
	}
	return room
}

func isWrapBlank(r rune) bool { return r < utf8.RuneSelf && strings.ContainsRune("\t\n\v\f\r ", r) }

// isWordChar is \w of Python's regular expressions.
func isWordChar(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) }

func wrapLetter(r rune) bool { return isWordChar(r) && r != '_' && !unicode.IsDigit(r) }

func wrapPunct(r rune) bool {
	return isWordChar(r) || r < utf8.RuneSelf && strings.ContainsRune(`!"'&.,?`, r)
}

func allBlank(chunk []rune) bool {
	for _, r := range chunk {
		if !value.IsSpace(r) {
			return false
		}
	}
	return true
}
