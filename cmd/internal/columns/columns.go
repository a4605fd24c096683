// Package columns fits text to the width of a terminal: paragraphs, two columns of
// names and texts, tables, and shell commands. Nothing is cut: a word that is wider
// than the terminal has a line of its own.
package columns

import (
	"cmp"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// Usual is the width where nobody says another one; Least and Most bound it.
const (
	Usual = 80
	Least = 40
	Most  = 160
)

// Width returns how wide a text on w is to be: as wide as the terminal that w is, else
// as $COLUMNS says, else Usual.
func Width(w io.Writer, getenv func(string) string) int {
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return bound(n)
		}
	}
	if n, err := strconv.Atoi(getenv("COLUMNS")); err == nil && n > 0 {
		return bound(n)
	}
	return Usual
}

func bound(n int) int { return min(max(n, Least), Most) }

// Len is how many columns a text takes.
func Len(s string) int { return utf8.RuneCountInString(s) }

// Wrap breaks a text into lines at its blanks. It returns at least one line.
func Wrap(text string, width int) []string { return fill(strings.Fields(text), width) }

// fill puts words into lines.
func fill(words []string, width int) []string {
	lines := []string{""}
	for _, w := range words {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = w
		case Len(*last)+1+Len(w) <= width:
			*last += " " + w
		default:
			lines = append(lines, w)
		}
	}
	return lines
}

// Hang returns a text that begins with first, and whose further lines begin with as
// many blanks as rest says.
func Hang(first, text string, rest, width int) string {
	var b strings.Builder
	b.WriteString(first)
	lead := Len(first)
	words := strings.Fields(text)
	at := lead
	for i, w := range words {
		if i > 0 {
			if at+1+Len(w) <= width {
				b.WriteString(" " + w)
				at += 1 + Len(w)
				continue
			}
			b.WriteString("\n" + strings.Repeat(" ", rest))
			at = rest
		}
		b.WriteString(w)
		at += Len(w)
	}
	b.WriteByte('\n')
	return b.String()
}

// An Entry is a name and what is said of it.
type Entry struct{ Name, Text string }

const (
	gap       = 3  // between a name and its text
	leastText = 24 // columns of a text beside names
)

// Entries returns names, each after indent, and their texts in a column beside them.
// The text of a name that is too long for its column begins under it.
func Entries(entries []Entry, indent string, width int) string {
	column := 0
	for _, e := range entries {
		if n := Len(indent) + Len(e.Name) + gap; width-n >= max(leastText, width/2) {
			column = max(column, n)
		}
	}
	if column == 0 {
		column = Len(indent) + 4
	}
	pad := strings.Repeat(" ", column)
	var b strings.Builder
	for _, e := range entries {
		name := strings.TrimLeft(e.Name, " ")
		lead := indent + e.Name[:len(e.Name)-len(name)]
		first := lead + name
		switch n := Len(first); {
		case e.Text == "":
			b.WriteString(Hang(lead, name, column, width))
			continue
		case n+2 > column: // it reaches into the column
			b.WriteString(Hang(lead, name, column, width))
			first = pad
		default:
			first += strings.Repeat(" ", column-n)
		}
		b.WriteString(Hang(first, e.Text, column, width))
	}
	return b.String()
}

// Prose fits text whose paragraphs are separated by empty lines. Of lines that begin
// with blanks, those with a wide gap are entries; others are commands.
func Prose(text string, width int) string {
	var b strings.Builder
	var para []string
	var entries []Entry
	indent := ""
	flush := func() {
		if len(para) > 0 {
			b.WriteString(strings.Join(Wrap(strings.Join(para, " "), width), "\n") + "\n")
		}
		if len(entries) > 0 {
			b.WriteString(Entries(entries, indent, width))
		}
		para, entries = nil, nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		bare := strings.TrimLeft(line, " \t")
		lead := strings.ReplaceAll(line[:len(line)-len(bare)], "\t", "    ")
		name, rest, isEntry := strings.Cut(bare, "  ")
		switch {
		case bare == "":
			flush()
			b.WriteByte('\n')
		case lead == "":
			if len(entries) > 0 {
				flush()
			}
			para = append(para, bare)
		case isEntry:
			if len(para) > 0 || lead != indent {
				flush()
			}
			indent = lead
			entries = append(entries, Entry{name, strings.TrimSpace(rest)})
		default:
			flush()
			b.WriteString(Command(lead+bare, width))
		}
	}
	flush()
	return b.String()
}

// Command returns a line of a shell. One that is too wide goes on in further lines, and
// is still the same command: it is broken between words, with a backslash.
func Command(line string, width int) string {
	if Len(line) <= width {
		return line + "\n"
	}
	words := ShellWords(line)
	lead := line[:len(line)-len(strings.TrimLeft(line, " "))]
	lines := fill(words, width-2-Len(lead)-4)
	return lead + strings.Join(lines, " \\\n"+lead+"    ") + "\n"
}

// ShellWords splits a line of a shell at the blanks that are not quoted. The words keep
// their quotes.
func ShellWords(line string) (words []string) {
	var quote rune
	word, escaped := strings.Builder{}, false
	for _, r := range line {
		switch {
		case escaped:
			escaped = false
		case r == '\\' && quote != '\'':
			escaped = true
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '\'' || r == '"':
			quote = r
		case r == ' ' || r == '\t':
			if word.Len() > 0 {
				words = append(words, word.String())
			}
			word.Reset()
			continue
		}
		word.WriteRune(r)
	}
	if word.Len() > 0 {
		words = append(words, word.String())
	}
	return words
}

// Table returns rows of cells in columns that fit the width; the first row is the head.
// Where columns would become too narrow, each row is a list of its cells under the heads.
func Table(rows [][]string, width int) string {
	if len(rows) == 0 {
		return ""
	}
	n := 0
	for _, r := range rows {
		n = max(n, len(r))
	}
	wide, word := make([]int, n), make([]int, n)
	for _, r := range rows {
		for i, cell := range r {
			wide[i] = max(wide[i], Len(cell))
			for w := range strings.FieldsSeq(cell) {
				word[i] = max(word[i], Len(w))
			}
		}
	}
	widths := share(wide, word, width-2*(n-1))
	if widths == nil {
		return stacked(rows, width)
	}
	var b strings.Builder
	for i, r := range rows {
		tableRow(&b, r, widths)
		if i == 0 {
			rules := make([]string, n)
			for j, w := range widths {
				rules[j] = strings.Repeat("-", w)
			}
			tableRow(&b, rules, widths)
		}
	}
	return b.String()
}

// share divides room among columns that would like to be wide, and that must take their
// longest word. It returns nil where there is too little.
func share(wide, word []int, room int) []int {
	widths := make([]int, len(wide))
	need := 0
	for i := range wide {
		widths[i] = min(wide[i], max(word[i], 8))
		need += widths[i]
	}
	if need > room {
		return nil
	}
	for need < room {
		// The column that lacks most gets the next one.
		best := -1
		for i := range wide {
			if lack := wide[i] - widths[i]; lack > 0 && (best < 0 || wide[i]*widths[best] > wide[best]*widths[i]) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		widths[best]++
		need++
	}
	return widths
}

func tableRow(b *strings.Builder, cells []string, widths []int) {
	lines := make([][]string, len(widths))
	height := 1
	for i := range widths {
		lines[i] = []string{""}
		if i < len(cells) {
			lines[i] = Wrap(cells[i], widths[i])
		}
		height = max(height, len(lines[i]))
	}
	for y := range height {
		var row strings.Builder
		for i, w := range widths {
			cell := ""
			if y < len(lines[i]) {
				cell = lines[i][y]
			}
			row.WriteString(cell + strings.Repeat(" ", max(w-Len(cell), 0)+2))
		}
		b.WriteString(strings.TrimRight(row.String(), " ") + "\n")
	}
}

// stacked is a table for a narrow terminal.
func stacked(rows [][]string, width int) string {
	var b strings.Builder
	head := rows[0]
	for _, r := range rows[1:] {
		for i, cell := range r {
			if cell == "" {
				continue
			}
			name := ""
			if i < len(head) {
				name = head[i]
			}
			if i == 0 {
				b.WriteString(Hang("", cell, 4, width))
				continue
			}
			b.WriteString(Hang("    ", strings.TrimSpace(cmp.Or(name, "-")+": "+cell), 6, width))
		}
	}
	return b.String()
}
