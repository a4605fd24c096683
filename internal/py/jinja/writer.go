package jinja

import (
	"sort"
	"strings"
	"sync"
	"unsafe"

	"brine/internal/py/source"
	"brine/internal/py/value"
)

// A writer collects what a template prints, and notes where its parts come from.
type writer struct {
	run   *run
	buf   []byte
	marks []mark
	text  string // what was captured, until the writer is used again
}

// A mark says that what starts at off of the output comes from line of t, and
// whether its own newlines are the template's.
type mark struct {
	off  int
	t    *Template
	line int32
	data bool
	via  *link // the tags that printed it from elsewhere, innermost first
}

// A link is a tag that includes a template or prints what a tag captured.
type link struct {
	t    *Template
	line int32
	up   *link
}

// under returns the chain l with outer at its end.
func (l *link) under(outer *link) *link {
	if l == nil {
		return outer
	}
	return &link{l.t, l.line, l.up.under(outer)}
}

// includedFrom adds the tag at line of t to the marks from i on.
func (w *writer) includedFrom(i int, t *Template, line int32) {
	if i >= len(w.marks) {
		return
	}
	outer := &link{t: t, line: line}
	var from, to *link
	for ; i < len(w.marks); i++ {
		m := &w.marks[i]
		if to == nil || m.via != from {
			from, to = m.via, m.via.under(outer)
		}
		m.via = to
	}
}

func (w *writer) grow(n int) error {
	w.run.size += n
	if w.run.size > w.run.env.opts.MaxOutput {
		return value.Raise("MemoryError", "the template renders to more than %d MiB", w.run.env.opts.MaxOutput>>20)
	}
	return nil
}

// starts reports whether a line of the output begins in text, which comes next:
// others need no mark.
func (w *writer) starts(text string) bool {
	n := len(w.buf)
	return n == 0 || w.buf[n-1] == '\n' || strings.IndexByte(text, '\n') >= 0
}

// data writes text of the template that starts at line.
func (w *writer) data(text string, t *Template, line int32) error {
	if w.starts(text) {
		w.marks = append(w.marks, mark{off: len(w.buf), t: t, line: line, data: true})
	}
	w.buf = append(w.buf, text...)
	return w.grow(len(text))
}

// value writes what a tag at line printed.
func (w *writer) value(text string, t *Template, line int32) error {
	if len(text) > 0 && w.starts(text) {
		from := len(w.marks)
		for _, m := range w.run.origin(text) {
			m.off += len(w.buf)
			w.marks = append(w.marks, m)
		}
		if len(w.marks) > from {
			w.includedFrom(from, t, line)
		} else {
			w.marks = append(w.marks, mark{off: len(w.buf), t: t, line: line})
		}
	}
	w.buf = append(w.buf, text...)
	return w.grow(len(text))
}

// raw writes the value of a call or filter block, which has to be a text.
func (w *writer) raw(v value.Value, t *Template, at pos) error {
	s, ok := value.AsText(v)
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
	w.text = string(w.buf)
	w.run.spare = append(w.run.spare, w)
	return w.text
}

// maxKept bounds how many captured texts keep their places.
const maxKept = 256

// keep makes the places of the text that was captured last stay known until the
// end of the rendering: it may be printed, or read as data, at any time.
func (r *run) keep(text string) {
	marks := r.origin(text)
	if len(marks) == 0 || len(r.kept) >= maxKept {
		return
	}
	if r.kept == nil {
		r.kept = map[*byte]captured{}
	}
	r.kept[unsafe.StringData(text)] = captured{text, append([]mark(nil), marks...)}
}

// A captured text is one that a tag collected.
type captured struct {
	text  string
	marks []mark
}

// origin returns where the parts of a text come from that was captured by the
// last macro, or that was kept; nil where that is not known. It goes by the
// identity of the text and not by what is in it: equal texts may come from
// different places.
func (r *run) origin(text string) []mark {
	if strings.IndexByte(text, '\n') < 0 {
		return nil // what has one line is where it is printed
	}
	data := unsafe.StringData(text)
	if n := len(r.spare); n > 0 {
		if w := r.spare[n-1]; len(w.text) == len(text) && unsafe.StringData(w.text) == data {
			return w.marks
		}
	}
	if k, ok := r.kept[data]; ok && len(k.text) == len(text) {
		return k.marks
	}
	return nil
}

// Origin returns a function that tells the place of a line of a text, which is
// read as data: its own place where that is known, else that of the tag.
func (s *State) Origin(text string) func(line int) source.Pos {
	tag := s.Pos()
	marks := s.run.origin(text)
	if len(marks) == 0 {
		return func(int) source.Pos { return tag }
	}
	return (&Output{Text: text, name: tag.File, marks: append([]mark(nil), marks...)}).Pos
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
// macro or a captured block made is at its own place where it is printed as it
// is, else at the tag that printed it.
func (o *Output) Pos(line int) source.Pos {
	m, line := o.mark(line)
	if m == nil {
		return source.Pos{File: o.name, Line: 1}
	}
	at := source.Pos{File: m.t.Name, Line: int(m.line)}
	if m.data {
		// The lines between the start of the data and this one are its own.
		at.Line += line - sort.SearchInts(o.lines, m.off+1)
	}
	return at
}

// Via returns the tags (include, and what printed the text of a macro or a
// captured block) that led to the given line, innermost first.
func (o *Output) Via(line int) []source.Pos {
	m, _ := o.mark(line)
	if m == nil {
		return nil
	}
	var via []source.Pos
	for l := m.via; l != nil; l = l.up {
		via = append(via, source.Pos{File: l.t.Name, Line: int(l.line)})
	}
	return via
}

// mark returns the mark that the first character of a line falls under, and the
// line, moved into the text.
func (o *Output) mark(line int) (*mark, int) {
	o.once.Do(func() {
		o.lines = append(make([]int, 0, 1+strings.Count(o.Text, "\n")), 0)
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
		return nil, line
	}
	return &o.marks[i], line
}
