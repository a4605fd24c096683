package outputter

import (
	"bufio"
	"io"
	"strings"

	"brine/internal/py/value"
)

// A reportLine is a part of a report: text, then data as the nested outputter prints
// them, on lines of their own, then what ends their colour.
type reportLine struct {
	text  string
	below value.Value // nil: none
	o     *Options    // of below
	end   string
}

// reportLines are parts of a report with a line end between them. Their data are
// printed when the report is, since they may be long.
type reportLines []reportLine

// print writes the lines as the function print does.
func (l reportLines) print(w io.Writer) error {
	for len(l) > 0 && l[len(l)-1].blank() {
		l = l[:len(l)-1]
	}
	if len(l) == 0 {
		return nil
	}
	b := bufio.NewWriterSize(w, flushSize)
	last := &l[len(l)-1]
	for i := range l[:len(l)-1] {
		if err := l[i].write(b); err != nil {
			return err
		}
		_ = b.WriteByte('\n') // Flush has its error
	}
	end := *last
	switch {
	case end.end != "":
		end.end = strings.TrimRightFunc(end.end, value.IsSpace)
	case end.below == nil:
		end.text = strings.TrimRightFunc(end.text, value.IsSpace)
	}
	if err := end.write(b); err != nil {
		return err
	}
	_ = b.WriteByte('\n')
	return b.Flush()
}

// join returns the lines as one text.
func (l reportLines) join() string {
	var b strings.Builder
	for i := range l {
		if i > 0 {
			b.WriteByte('\n')
		}
		_ = l[i].write(&b) // a Builder takes all
	}
	return b.String()
}

// blank reports whether nothing of the line is seen.
func (l *reportLine) blank() bool {
	return l.below == nil && strings.TrimRightFunc(l.text+l.end, value.IsSpace) == ""
}

func (l *reportLine) write(w io.Writer) error {
	if _, err := io.WriteString(w, l.text); err != nil {
		return err
	}
	if l.below != nil {
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
		if err := nestedTo(w, l.below, l.o); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, l.end)
	return err
}
