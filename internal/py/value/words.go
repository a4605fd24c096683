package value

import (
	"fmt"
	"strings"
)

// Plural returns the ending of a word that stands with the number n.
func Plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// MissingArguments says which positional arguments a call lacks, in the words of
// Python's TypeError; names are as they are to be shown.
func MissingArguments(names []string) string {
	n := len(names)
	list := strings.Join(names, " and ")
	if n > 2 {
		list = strings.Join(names[:n-1], ", ") + ", and " + names[n-1]
	}
	return fmt.Sprintf("missing %d required positional argument%s: %s", n, Plural(n), list)
}

// Excerpt returns the lines about a line (from 1) of a text, five each way, with
// a mark behind that line. Where there is no such line it is all of the text.
//
// Salt: salt/utils/stringutils.py get_context.
func Excerpt(text string, line int) string {
	const (
		around = 5
		mark   = "    <======================"
	)
	lines := SplitLines(text, false)
	if line < 1 || line > len(lines) {
		return text
	}
	from, to := max(0, line-around-1), min(len(lines), line+around)
	var b strings.Builder
	b.WriteString("---\n")
	if from > 0 {
		b.WriteString("[...]\n")
	}
	for i := from; i < to; i++ {
		b.WriteString(lines[i])
		if i == line-1 {
			b.WriteString(mark)
		}
		b.WriteByte('\n')
	}
	if to < len(lines) {
		b.WriteString("[...]\n")
	}
	b.WriteString("---")
	return b.String()
}
