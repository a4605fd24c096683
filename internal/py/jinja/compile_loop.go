package jinja

import (
	"brine/internal/py/value"
)

func (c *compiler) forLoop(n *sFor, fr *cframe) stmt {
	in, els, test := fr.inner(), fr.inner(), fr.innerFn()
	if n.recursive {
		in = fr.innerFn()
		els = &cframe{sym: newSymbols(fr.sym, in.sym.fn), check: fr.check}
	}
	extended := n.recursive || undeclared(n.body, "loop")["loop"] || anyNode([]node{n}, func(n node) bool {
		b, ok := n.(*sBlock)
		return ok && b.scoped
	})
	loopSlot := -1
	if extended {
		loopSlot = in.sym.param("loop").slot
	}
	in.sym.params(n.target)
	in.sym.analyzeAll(n.body)
	els.sym.analyzeAll(n.els)

	l := &loop{t: c.t, pos: n.pos, slot: loopSlot, esc: c.esc, recursive: n.recursive}
	inBlock := c.inBlock
	if n.test != nil {
		// The test is a separate function, and so is a recursive loop.
		c.inBlock = false
		c.line = n.test.at().line
		test.sym.params(n.target)
		test.sym.analyze(n.test)
		l.testFn = test.sym.fn
		l.testSet = c.target(n.target, test, false)
		l.test, l.testMark = c.cond(n.test, test), c.marked()
		l.testEnter = c.enter(test.sym)
		c.inBlock = inBlock
	}
	anyNode([]node{n}, func(n node) bool {
		if name, ok := n.(*nName); ok && name.ctx == store && name.name == "loop" {
			c.fail(name.pos, "Can't assign to special loop variable in for-loop target", "")
		}
		return false
	})
	if n.recursive {
		c.inBlock = false
	}
	c.line = n.line
	l.fn = in.sym.fn
	l.set = c.target(n.target, in, false)
	l.mark = c.marked()
	var iter eval
	var mark func(error) error
	if !n.recursive {
		iter, mark = c.expr(n.iter, fr), c.marked()
	}
	l.body = c.branch(n.target.at().off, true, c.stmts(n.body, in))
	if n.els != nil {
		l.els = c.branch(n.target.at().off, false, c.stmts(n.els, els))
		l.elsEnter = c.enter(els.sym)
	}
	l.enter = c.enter(in.sym)
	c.inBlock = inBlock
	if n.recursive {
		c.line = n.line
		iter, mark = c.expr(n.iter, fr), c.marked()
	}
	off, t := n.iter.at().off, c.t
	return func(f *frame) (ctl, error) {
		v, err := iter(f)
		if err != nil {
			return goOn, mark(err)
		}
		if l.recursive {
			s, err := l.recurse(f, v, 0)
			if err == nil {
				err = f.w.raw(s, t, n.pos)
			}
			if err != nil {
				return goOn, mark(err)
			}
			return goOn, nil
		}
		return l.run(f, v, off, nil)
	}
}

// A loop is a compiled for statement.
type loop struct {
	t         *Template
	pos       pos
	fn        *fnScope
	slot      int // of the loop variable, or -1
	esc       escMode
	recursive bool
	set       setter
	enter     func(*frame)
	body, els stmt
	elsEnter  func(*frame)
	mark      func(error) error

	test      eval // may be nil; a separate function
	testFn    *fnScope
	testSet   setter
	testEnter func(*frame)
	testMark  func(error) error
}

// recurse renders the loop over v as loop(v) does.
func (l *loop) recurse(f *frame, v value.Value, depth int) (value.Value, error) {
	r := f.st.run
	if err := r.enter(); err != nil {
		return nil, placed(l.t, l.pos.off, err)
	}
	defer r.leave()
	in := newFrame(l.fn, f, f.st, r.writer())
	rec := &recursion{loop: l, up: f, depth: depth}
	_, err := l.run(in, v, l.pos.off, rec)
	s := in.w.done()
	if err != nil {
		return nil, err
	}
	return safe(s, l.esc, f.st), nil
}

// recursion is the state of a recursive loop.
type recursion struct {
	loop  *loop
	up    *frame
	depth int
}

// run runs the loop over v in f; off is the place of what it goes over.
func (l *loop) run(f *frame, v value.Value, off int32, rec *recursion) (ctl, error) {
	if l.slot < 0 && l.test == nil {
		return l.plain(f, v, off)
	}
	lc := &LoopContext{index0: -1, rec: rec, st: f.st}
	cur := &lc.cur
	iterErr := cur.init(v)
	if iterErr != nil && l.test == nil {
		return goOn, l.mark(placed(l.t, off, iterErr))
	}
	if l.test != nil {
		lc.next = l.filtered(f, cur, off, iterErr)
	}
	if l.slot >= 0 {
		f.slots[l.slot] = missing{}
	}
	return l.turns(f, off, lc.advance, lc)
}

// plain is run without a loop variable and without a test.
func (l *loop) plain(f *frame, v value.Value, off int32) (ctl, error) {
	var cur cursor
	if err := cur.init(v); err != nil {
		return goOn, l.mark(placed(l.t, off, err))
	}
	return l.turns(f, off, cur.next, nil)
}

// turns runs the body for each item of next; lc is what the loop variable, where
// there is one, is set to.
func (l *loop) turns(f *frame, off int32, next func() (value.Value, bool, error), lc *LoopContext) (ctl, error) {
	ran := false
	for {
		if err := f.st.run.tick(); err != nil {
			return goOn, l.mark(placed(l.t, l.pos.off, err))
		}
		item, ok, err := next()
		if err == nil && ok {
			err = l.set(f, item)
		}
		if err != nil {
			return goOn, l.mark(placed(l.t, off, err))
		}
		if !ok {
			break
		}
		if l.slot >= 0 {
			f.slots[l.slot] = lc
		}
		if l.enter != nil {
			l.enter(f)
		}
		k, err := l.body(f)
		if err != nil {
			return goOn, err
		}
		if k == doBreak {
			break
		}
		if k == goOn {
			ran = true
		}
	}
	return l.orElse(f, ran)
}

// orElse runs the else part where no turn of the loop came to its end: a loop
// that only ever continues or breaks counts as one without items, as in
// Jinja2.
func (l *loop) orElse(f *frame, ran bool) (ctl, error) {
	if l.els == nil || ran {
		return goOn, nil
	}
	if l.elsEnter != nil {
		l.elsEnter(f)
	}
	return l.els(f)
}

// filtered returns the items that the test takes, one at a time: the test runs
// in a function of its own, between the turns of the loop.
func (l *loop) filtered(f *frame, cur *cursor, off int32, iterErr error) func() (value.Value, bool, error) {
	up := f
	if l.recursive {
		up = f.up // the test is written beside the function that the loop is
	}
	var tf *frame
	return func() (value.Value, bool, error) {
		if iterErr != nil {
			return nil, false, l.testMark(placed(l.t, off, iterErr))
		}
		if tf == nil {
			tf = newFrame(l.testFn, up, f.st, f.w)
			if l.testEnter != nil {
				l.testEnter(tf)
			}
		}
		for {
			if err := f.st.run.tick(); err != nil {
				return nil, false, l.testMark(placed(l.t, l.pos.off, err))
			}
			item, ok, err := cur.next()
			if err == nil && ok {
				err = l.testSet(tf, item)
			}
			if err != nil {
				return nil, false, l.testMark(placed(l.t, off, err))
			}
			if !ok {
				return nil, false, nil
			}
			v, err := l.test(tf)
			if err != nil {
				return nil, false, l.testMark(err)
			}
			if v == true {
				return item, true, nil
			}
		}
	}
}
