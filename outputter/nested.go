package outputter

import (
	"bufio"
	"io"
	"math/big"
	"strings"

	"brine/internal/py/value"
)

// Nested prints data as indented keys and values; the default for most
// execution functions. Salt: salt/output/nested.py.
func Nested(w io.Writer, data value.Value, o *Options) error {
	b := bufio.NewWriterSize(w, flushSize)
	out := &ended{w: b}
	if err := nestedTo(out, data, o); err != nil || !out.some {
		return err
	}
	_ = b.WriteByte('\n') // Flush has its error
	return b.Flush()
}

// ended notes whether something was written.
type ended struct {
	w    *bufio.Writer
	some bool
}

func (e *ended) Write(p []byte) (int, error) {
	e.some = e.some || len(p) > 0
	return e.w.Write(p)
}

// WriteString is Write of a text.
func (e *ended) WriteString(s string) (int, error) {
	e.some = e.some || s != ""
	return e.w.WriteString(s)
}

// nestedTo prints data without blanks and empty lines at its end.
func nestedTo(w io.Writer, data value.Value, o *Options) error {
	n := newNester(o)
	n.w = w
	n.show(data, o.NestedIndent, "")
	n.flush()
	return n.err
}

func newNester(o *Options) *nester {
	n := &nester{o: o, c: colors(o.Color), dictColor: colors(o.Color).cyan, listColor: colors(o.Color).green}
	if o.Retcode != 0 {
		n.dictColor, n.listColor = n.c.red, n.c.red
	}
	return n
}

type nester struct {
	b                    strings.Builder
	w                    io.Writer // takes what is written as it grows
	held                 []string  // blanks that are written if something follows
	err                  error     // of w
	o                    *Options
	c                    palette
	dictColor, listColor string
	depth                int
}

func (n *nester) line(indent int, color, prefix, msg, suffix string) {
	for range indent {
		n.b.WriteByte(' ')
	}
	n.b.WriteString(color)
	n.b.WriteString(prefix)
	n.write(n.o.clean(msg))
	n.b.WriteString(n.c.endc)
	n.b.WriteString(suffix)
	n.b.WriteByte('\n')
	if n.b.Len() >= flushSize {
		n.flush()
		n.b.Grow(flushSize + flushSize/4) // there is more to come
	}
}

// flushSize is how many bytes of a long report are written at once, at least.
const flushSize = 64 << 10

// flush writes all but the blanks at the end, which [print] leaves out.
func (n *nester) flush() {
	s := n.b.String()
	n.b.Reset()
	n.put(s)
}

// write adds text, which is not copied where it is long.
func (n *nester) write(s string) {
	if len(s) < flushSize {
		n.b.WriteString(s)
		return
	}
	n.flush()
	n.put(s)
}

// put writes text, save blanks at its end, which are held until there is more.
func (n *nester) put(s string) {
	text := strings.TrimRightFunc(s, value.IsSpace)
	if text != "" {
		for _, part := range append(n.held, text) {
			if n.err == nil {
				_, n.err = io.WriteString(n.w, part)
			}
		}
		n.held = n.held[:0]
	}
	n.held = append(n.held, s[len(text):])
}

// maxNesting bounds what is printed of data that contains itself.
const maxNesting = 200

func (n *nester) show(v value.Value, indent int, prefix string) {
	if n.depth > maxNesting {
		n.line(indent, n.c.green, prefix, "...", "")
		return
	}
	n.depth++
	defer func() { n.depth-- }()
	switch v := v.(type) {
	case nil, bool, int64, *big.Int, float64:
		n.line(indent, n.c.lightYellow, prefix, value.Repr(v), "")
	case string:
		n.text(v, indent, prefix)
	case value.Bytes:
		n.text(string(v), indent, prefix)
	case *value.List:
		n.items(v.Items, indent)
	case value.Tuple:
		n.items(v, indent)
	case value.Mapping:
		if indent > 0 {
			n.line(indent, n.dictColor, "", "----------", "")
		}
		for _, k := range sortedKeys(v) {
			x, _ := v.Get(k)
			n.line(indent, n.dictColor, prefix, value.Str(k), ":")
			n.show(x, indent+4, "")
		}
	default:
		n.text(value.Str(v), indent, prefix)
	}
}

func (n *nester) text(s string, indent int, prefix string) {
	for line := range value.Lines(s, false) {
		n.line(indent, n.c.green, prefix, line, "")
		prefix = strings.Repeat(" ", len(prefix))
	}
}

func (n *nester) items(items []value.Value, indent int) {
	for _, x := range items {
		switch x.(type) {
		case value.Mapping:
			n.line(indent, n.listColor, "", "|_", "")
			n.show(x, indent+2, "")
		case *value.List, value.Tuple:
			n.line(indent, n.listColor, "", "|_", "")
			n.show(x, indent+2, "- ")
		default:
			n.show(x, indent, "- ")
		}
	}
}
