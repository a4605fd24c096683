package outputter

import (
	"strings"
	"unicode/utf8"
)

func rjust(s string, width int) string {
	return strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s))) + s
}

func ljust(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}

// center pads as Python's str.center does.
func center(s string, width int) string {
	pad := max(0, width-utf8.RuneCountInString(s))
	left := pad/2 + pad&width&1
	return strings.Repeat(" ", left) + s + strings.Repeat(" ", pad-left)
}

// fill wraps text at width columns, every line indented, as Python's textwrap
// does: white space is one blank, words break behind hyphens, and a word that
// is longer than a line is cut.
func fill(text string, width, indent int) string {
	lead := strings.Repeat(" ", indent)
	room := width - indent
	var lines []string
	line, used := "", 0
	flush := func() {
		if t := strings.TrimRight(line, " "); t != "" {
			lines = append(lines, lead+t)
		}
		line, used = "", 0
	}
	for _, word := range strings.Fields(text) {
		for i, part := range hyphenParts(word) {
			n := utf8.RuneCountInString(part)
			gap := 0
			if i == 0 && used > 0 {
				gap = 1
			}
			if used+gap+n > room {
				flush()
				gap = 0
			}
			for n > room {
				cut := []rune(part)
				lines = append(lines, lead+string(cut[:room]))
				part = string(cut[room:])
				n -= room
			}
			line += strings.Repeat(" ", gap) + part
			used += gap + n
		}
	}
	flush()
	return strings.Join(lines, "\n")
}

// hyphenParts splits a word behind each hyphen that stands between letters.
func hyphenParts(word string) []string {
	var parts []string
	start := 0
	for i := 1; i+1 < len(word); i++ {
		if word[i] == '-' && letter(word[i-1]) && letter(word[i+1]) {
			parts = append(parts, word[start:i+1])
			start = i + 1
		}
	}
	return append(parts, word[start:])
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80 }
