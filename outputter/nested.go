package outputter

import (
	"io"
	"math/big"
	"strings"

	"brine/internal/value"
)

// Nested prints data as indented keys and values; the default for most
// execution functions. Salt: salt/output/nested.py.
func Nested(w io.Writer, data value.Value, o *Options) error {
	n := newNester(o)
	n.w = w
	n.show(data, o.NestedIndent, "")
	if n.err != nil {
		return n.err
	}
	if n.flushed {
		_, err := io.WriteString(w, strings.TrimRightFunc(n.held+n.b.String(), value.IsSpace)+"\n")
		return err
	}
	return print(w, n.b.String())
}

func nestedText(data value.Value, o *Options) string {
	n := newNester(o)
	n.show(data, o.NestedIndent, "")
	return strings.TrimSuffix(n.b.String(), "\n")
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
	w                    io.Writer // takes what is written as it grows; nil: nothing does
	held                 string    // blanks that are written if something follows
	flushed              bool
	err                  error // of w
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
	n.b.WriteString(n.o.clean(msg))
	n.b.WriteString(n.c.endc)
	n.b.WriteString(suffix)
	n.b.WriteByte('\n')
	if n.w != nil && n.b.Len() >= flushSize {
		n.flush()
	}
}

// flushSize is how many bytes of a long report are written at once, at least.
const flushSize = 64 << 10

// flush writes all but the blanks at the end, which [print] leaves out.
func (n *nester) flush() {
	s := n.held + n.b.String()
	n.b.Reset()
	n.b.Grow(flushSize + flushSize/4) // there is more to come
	text := strings.TrimRightFunc(s, value.IsSpace)
	n.held = s[len(text):]
	n.flushed = true
	if n.err == nil {
		_, n.err = io.WriteString(n.w, text)
	}
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
