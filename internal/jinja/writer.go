package jinja

import (
	"sort"
	"sync"

	"brine/internal/source"
	"brine/internal/value"
)

// A writer collects what a template prints. That of the rendering notes where
// its parts come from.
type writer struct {
	run   *run
	buf   []byte
	marks []mark
	track bool
}

// A mark says that what starts at off of the output comes from line of t, and
// whether its own newlines are the template's.
type mark struct {
	off  int
	t    *Template
	line int32
	data bool
}

func (w *writer) grow(n int) error {
	w.run.size += n
	if w.run.size > w.run.env.opts.MaxOutput {
		return value.Raise("MemoryError", "the template renders to more than %d MiB", w.run.env.opts.MaxOutput>>20)
	}
	return nil
}

// data writes text of the template that starts at line.
func (w *writer) data(text string, t *Template, line int32) error {
	if w.track {
		w.marks = append(w.marks, mark{len(w.buf), t, line, true})
	}
	w.buf = append(w.buf, text...)
	return w.grow(len(text))
}

// value writes what a tag at line printed.
func (w *writer) value(text string, t *Template, line int32) error {
	if w.track && len(text) > 0 {
		w.marks = append(w.marks, mark{len(w.buf), t, line, false})
	}
	w.buf = append(w.buf, text...)
	return w.grow(len(text))
}

// raw writes the value of a call or filter block, which has to be a text.
func (w *writer) raw(v value.Value, t *Template, at pos) error {
	s, ok := Text(v)
	if !ok {
		return placed(t, at.off, value.Raise("TypeError", "sequence item 0: expected str instance, %s found", value.TypeName(v)))
	}
	if err := w.value(s, t, at.line); err != nil {
		return placed(t, at.off, err)
	}
	return nil
}

// done ends a writer that captured text, and returns the text.
func (w *writer) done() string {
	s := string(w.buf)
	w.buf = w.buf[:0]
	w.run.spare = append(w.run.spare, w)
	return s
}

// An Output is a rendered template.
type Output struct {
	Text  string
	name  string
	marks []mark

	once  sync.Once
	lines []int // where the lines of Text start
}

// Pos returns the place in the template that the given line of the text,
// counted from 1, comes from: the place of its first character. Text that a
// macro or a captured block made is at the tag that printed it.
func (o *Output) Pos(line int) source.Pos {
	o.once.Do(func() {
		o.lines = append(o.lines, 0)
		for i := range len(o.Text) {
			if o.Text[i] == '\n' {
				o.lines = append(o.lines, i+1)
			}
		}
	})
	line = min(max(line, 1), len(o.lines))
	off := o.lines[line-1]
	i := sort.Search(len(o.marks), func(i int) bool { return o.marks[i].off > off }) - 1
	if i < 0 {
		return source.Pos{File: o.name, Line: 1}
	}
	m := o.marks[i]
	at := source.Pos{File: m.t.Name, Line: int(m.line)}
	if m.data {
		// The lines between the start of the data and this one are its own.
		at.Line += line - sort.SearchInts(o.lines, m.off+1)
	}
	return at
}
