package jinja

import (
	"strings"

	"brine/internal/py/source"
)

// branch has body report that it is rendered, where Options.Branch is set; a nil body
// renders nothing.
func (c *compiler) branch(off int32, yes bool, body stmt) stmt {
	hook, name := c.env.opts.Branch, c.t.Name
	if hook == nil {
		return body
	}
	return func(f *frame) (ctl, error) {
		hook(name, off, yes)
		if body == nil {
			return goOn, nil
		}
		return body(f)
	}
}

// A Branch is a part of a template that may be passed by when it is rendered: that which a
// condition leads to, one where it is false, the body of a loop or of a macro.
type Branch struct {
	Off  int32 // with Yes, as Options.Branch gets it
	Yes  bool
	Pos  source.Pos
	Text string // says what did not happen if it was passed by: "{% if x %} is never true"
	// First and Last are the lines of its text; 0: it has none of its own.
	First, Last int
}

// Branches returns the branches of a template by their places. A fault of syntax is an
// *[Error].
func (e *Env) Branches(name, text string) ([]Branch, error) {
	src := normalize(&e.opts, text)
	body, err := parse(e, name, src)
	if err != nil {
		return nil, err
	}
	l := &brancher{opts: &e.opts, name: name, src: src, elifs: map[*sIf]bool{}}
	anyNode(body, func(n node) bool {
		l.visit(n)
		return false
	})
	return l.out, nil
}

// A brancher lists the branches of a template.
type brancher struct {
	opts      *Options
	name, src string
	elifs     map[*sIf]bool // that were listed with their if
	out       []Branch
}

func (l *brancher) visit(n node) {
	switch n := n.(type) {
	case *sIf:
		if l.elifs[n] {
			return
		}
		tag := l.tag(n.off)
		l.add(n.test.at().off, true, n.off, tag+" is never true", n.body)
		for _, e := range n.elifs {
			l.elifs[e] = true
			l.add(e.test.at().off, true, e.off, l.tag(e.off)+" is never true", e.body)
		}
		if n.els == nil {
			l.add(n.test.at().off, false, n.off, tag+" is never false", nil)
			return
		}
		l.add(n.test.at().off, false, n.elsAt.off, "the else of "+tag+" is never reached", n.els)
	case *sFor:
		tag := l.tag(n.off)
		l.add(n.target.at().off, true, n.off, tag+" never has an item", n.body)
		if n.els != nil {
			l.add(n.target.at().off, false, n.off, "the else of "+tag+" is never reached", n.els)
		}
	case *sMacro:
		l.add(n.off, true, n.off, "the macro "+n.name+" is never called", n.body)
	case *nCond:
		off := n.test.at().off
		tag := l.tag(off)
		l.add(off, true, off, "the condition in "+tag+" is never true", nil)
		l.add(off, false, off, "the condition in "+tag+" is never false", nil)
	}
}

func (l *brancher) add(off int32, yes bool, at int32, text string, body []node) {
	b := Branch{Off: off, Yes: yes, Pos: place(l.name, l.src, at), Text: text}
	anyNode(body, func(n node) bool {
		if d, ok := n.(*sData); ok && strings.TrimSpace(d.text) != "" {
			first := int(d.line) + strings.Count(d.text[:len(d.text)-len(strings.TrimLeft(d.text, " \t\n"))], "\n")
			if b.First == 0 || first < b.First {
				b.First = first
			}
			b.Last = max(b.Last, int(d.line)+strings.Count(strings.TrimRight(d.text, " \t\n"), "\n"))
		}
		return false
	})
	l.out = append(l.out, b)
}

// maxTag bounds the text of a tag that is shown, in characters.
const maxTag = 100

// tag is the text of the tag at a place, on one line.
func (l *brancher) tag(off int32) string {
	before, after := l.src[:off], l.src[off:]
	from := max(strings.LastIndex(before, l.opts.BlockStart), strings.LastIndex(before, l.opts.VariableStart))
	to := -1
	for _, end := range []string{l.opts.BlockEnd, l.opts.VariableEnd} {
		if i := strings.Index(after, end); i >= 0 && (to < 0 || i+len(end) < to) {
			to = i + len(end)
		}
	}
	if from < 0 || to < 0 { // a line statement
		from, to = strings.LastIndexByte(before, '\n')+1, len(after)
		if i := strings.IndexByte(after, '\n'); i >= 0 {
			to = i
		}
	}
	text := []rune(strings.Join(strings.Fields(l.src[from:int(off)+to]), " "))
	if len(text) > maxTag {
		return string(text[:maxTag]) + "…"
	}
	return string(text)
}
