// Package termtest helps to test what is drawn on a terminal: [VT] is what one
// shows, [Open] makes a real one. Only tests import it.
package termtest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A VT is what a terminal shows: enough of one for lines that are redrawn. It
// scrolls without end, and does not show wide characters.
type VT struct {
	Width int
	// Seen has each line as it was before it was erased or drawn again.
	Seen []string

	lines    [][]rune
	row, col int
}

var escape = regexp.MustCompile(`^\x1b\[([?0-9;]*)([A-Za-z])`)

func (v *VT) put(r rune) {
	for v.row >= len(v.lines) {
		v.lines = append(v.lines, nil)
	}
	if v.col >= v.Width {
		v.row, v.col = v.row+1, 0
		v.put(r)
		return
	}
	l := v.lines[v.row]
	for len(l) <= v.col {
		l = append(l, ' ')
	}
	l[v.col] = r
	v.lines[v.row] = l
	v.col++
}

// cut erases what stands behind a column of a line.
func (v *VT) cut(row, col int) {
	if row < len(v.lines) {
		v.Seen = append(v.Seen, string(v.lines[row]))
		v.lines[row] = v.lines[row][:min(col, len(v.lines[row]))]
	}
}

// Write shows what a program writes. An unknown sequence is an error.
func (v *VT) Write(p []byte) (int, error) {
	for s := string(p); s != ""; {
		if m := escape.FindStringSubmatch(s); m != nil {
			s = s[len(m[0]):]
			if err := v.sequence(m[2], m[1]); err != nil {
				return 0, err
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(s)
		s = s[size:]
		switch r {
		case '\r':
			v.col = 0
		case '\n':
			v.row, v.col = v.row+1, 0
		case '\x1b', '\a', '\b':
			return 0, fmt.Errorf("the terminal was sent %q", string(r)+s)
		default:
			v.put(r)
		}
	}
	return len(p), nil
}

func (v *VT) sequence(kind, arg string) error {
	n, _ := strconv.Atoi(arg)
	switch kind {
	case "K":
		v.cut(v.row, v.col)
	case "J":
		v.cut(v.row, v.col)
		for row := v.row + 1; row < len(v.lines); row++ {
			v.cut(row, 0)
		}
	case "A", "F":
		v.row = max(0, v.row-max(1, n))
		if kind == "F" {
			v.col = 0
		}
	case "m", "h", "l":
	default:
		return fmt.Errorf("the terminal was sent \\e[%s%s", arg, kind)
	}
	return nil
}

// Resize makes the terminal narrower or wider, which wraps its lines as most
// terminals do. The cursor stays at its character.
func (v *VT) Resize(width int) {
	var lines [][]rune
	row, col := v.row, v.col
	for i, l := range v.lines {
		if i == v.row {
			row, col = len(lines)+max(0, v.col-1)/width, v.col-max(0, v.col-1)/width*width
		}
		for len(l) > width {
			lines, l = append(lines, l[:width:width]), l[width:]
		}
		lines = append(lines, l)
	}
	v.Width, v.lines, v.row, v.col = width, lines, row, col
}

// Text is what the terminal shows, without blanks at the ends of lines.
func (v *VT) Text() string {
	var b strings.Builder
	for _, l := range v.lines {
		b.WriteString(strings.TrimRight(string(l), " ") + "\n")
	}
	return b.String()
}
