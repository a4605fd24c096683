package outputter

import (
	"strings"
	"unicode/utf8"

	"brine/internal/py/pyformat"
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

// fill wraps text at width columns, every line indented, as Python's
// textwrap.fill does.
func fill(text string, width, indent int) string {
	w := pyformat.Wrapper{Width: width - indent, BreakLong: true, Hyphens: true}
	lines := w.Wrap(spaces(text))
	lead := strings.Repeat(" ", indent)
	for i := range lines {
		lines[i] = lead + lines[i]
	}
	return strings.Join(lines, "\n")
}

// spaces makes every blank of s a space; tabs lead to the next of the columns
// that are eight apart.
func spaces(s string) string {
	var b strings.Builder
	col := 0
	for _, r := range s {
		n := 1
		switch r {
		case '\t':
			n = 8 - col%8
			b.WriteString(strings.Repeat(" ", n))
		case '\n', '\r':
			b.WriteByte(' ')
			n = -col
		case '\v', '\f':
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
		col += n
	}
	return b.String()
}
