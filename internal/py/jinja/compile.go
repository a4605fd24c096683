package jinja

import (
	"context"
	"errors"
	"strings"

	"brine/internal/py/jinja/markupsafe"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// The tree is compiled to closures: names are slots by then, filters and tests
// are found, and what Jinja2 refuses while compiling is refused. Statements are
// visited in the order in which Jinja2 writes their code, because the line that
// it reports for a fault is that of the last statement it wrote.

// A ctl says how a statement ended.
type ctl uint8

const (
	goOn ctl = iota
	doBreak
	doContinue
)

type (
	stmt func(f *frame) (ctl, error)
	eval func(f *frame) (value.Value, error)
)

// A frame is one activation of a function of a template.
type frame struct {
	slots []value.Value
	up    *frame // of the function around it
	st    *State
	w     *writer
	root  *rootState
}

// rootState is what the statements of one template body share.
type rootState struct {
	parent *Template // set by extends at off
	off    int32
}

// missing is in the slots of variables that have no value.
type missing struct{}

func newFrame(fn *fnScope, up *frame, st *State, w *writer) *frame {
	f := &frame{slots: make([]value.Value, fn.n), up: up, st: st, w: w}
	if up != nil {
		f.root = up.root
	}
	return f
}

// escape modes of what is compiled.
type escMode uint8

const (
	escOff escMode = iota
	escOn
	escVolatile // known when rendering
)

// A code is a compiled function: the body of a template or of a block.
type code struct {
	t     *Template
	name  string // of a block
	fn    *fnScope
	enter func(f *frame)
	body  stmt
	self  *variable // of "self" and "super", where they are used
	super *variable
}

// compiler compiles one template.
type compiler struct {
	env *Env
	t   *Template
	esc escMode
	// constEsc is the last mode that was known when compiling: constants are
	// escaped by that.
	constEsc escMode
	line     int32 // that Jinja2 would report now

	hasExtends   bool
	knownExtends bool
	extends      int
	inBlock      bool // the function being compiled is a block's
	stop         bool // nothing after this is reached
}

// cframe is a frame while compiling.
type cframe struct {
	sym       *symbols
	toplevel  bool // the body of the template, within if too
	rootlevel bool // the body of the template itself
	soft      bool // within an if: unknown filters are faults only when used
	check     bool // output is for templates that extend none
}

func (fr *cframe) inner() *cframe {
	return &cframe{sym: newSymbols(fr.sym, fr.sym.fn), check: fr.check}
}

// innerFn is inner for a separate function.
func (fr *cframe) innerFn() *cframe {
	return &cframe{sym: newSymbols(fr.sym, &fnScope{up: fr.sym.fn}), check: fr.check}
}

func (fr *cframe) softened() *cframe {
	c := *fr
	c.rootlevel, c.soft = false, true
	return &c
}

// fail stops compiling; compileTemplate recovers it.
func (c *compiler) fail(at pos, msg, hint string) {
	panic(newError(c.t.Name, c.t.text, at.off, at.line, "TemplateAssertionError", msg, hint))
}

// compileTemplate fills in t's code.
func compileTemplate(t *Template, body []node) (err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			err = e
		}
	}()
	c := &compiler{env: t.env, t: t, line: 1}
	if t.env.opts.Autoescape {
		c.esc = escOn
	}
	c.constEsc = c.esc
	esc := c.esc
	var blocks []*sBlock
	seen := map[string]bool{}
	anyNode(body, func(n node) bool {
		switch n := n.(type) {
		case *sBlock:
			if seen[n.name] {
				c.fail(n.pos, "block "+value.QuoteStr(n.name)+" defined twice", "")
			}
			seen[n.name] = true
			blocks = append(blocks, n)
		case *sExtends:
			c.hasExtends = true
		}
		return false
	})
	t.root = c.function("", body, nil)
	if hook := t.env.opts.Branch; hook != nil {
		hook(t.Name, -1, true)
	}
	c.inBlock = true
	t.blocks = make(map[string]*code, len(blocks))
	for _, b := range blocks {
		c.esc = esc
		t.blocks[b.name] = c.function(b.name, b.body, b)
	}
	return nil
}

// function compiles the body of the template or of a block.
func (c *compiler) function(name string, body []node, block *sBlock) *code {
	fn := &fnScope{}
	fr := &cframe{sym: newSymbols(nil, fn)}
	k := &code{t: c.t, name: name, fn: fn}
	used := undeclared(body, "self", "super")
	if used["self"] {
		k.self = fr.sym.param("self")
	}
	if block == nil {
		fr.toplevel, fr.rootlevel = true, true
		fr.check = c.hasExtends
	} else {
		c.line = block.line
		if used["super"] {
			k.super = fr.sym.param("super")
		}
	}
	fr.sym.analyzeAll(body)
	k.body = c.stmts(body, fr)
	k.enter = c.enter(fr.sym)
	return k
}

// enter returns what loads a frame's variables when it starts.
func (c *compiler) enter(s *symbols) func(f *frame) {
	type item struct {
		slot int
		kind loadKind
		name string
		from getter
	}
	var items []item
	for v, l := range s.loads {
		if l.kind == loadParam {
			continue
		}
		it := item{slot: v.slot, kind: l.kind, name: l.name}
		if l.kind == loadAlias {
			it.from = getterOf(l.from, s.fn)
		}
		items = append(items, it)
	}
	if items == nil {
		return nil
	}
	return func(f *frame) {
		for i := range items {
			it := &items[i]
			switch it.kind {
			case loadResolve:
				v, ok := f.st.Resolve(it.name)
				if !ok {
					v = missing{}
				}
				f.slots[it.slot] = v
			case loadAlias:
				f.slots[it.slot] = it.from.get(f)
			default:
				f.slots[it.slot] = missing{}
			}
		}
	}
}

// getter reads a variable: hops functions out, at slot.
type getter struct{ hops, slot int }

func getterOf(v *variable, from *fnScope) getter {
	g := getter{slot: v.slot}
	for fn := from; fn != nil && fn != v.fn; fn = fn.up {
		g.hops++
	}
	return g
}

func (g getter) get(f *frame) value.Value {
	for range g.hops {
		f = f.up
	}
	return f.slots[g.slot]
}

// stmts compiles statements into one.
func (c *compiler) stmts(ns []node, fr *cframe) stmt {
	var list []stmt
	for _, n := range ns {
		if s := c.stmt(n, fr); s != nil {
			list = append(list, s)
		}
		if c.stop {
			c.stop = false
			break
		}
	}
	switch len(list) {
	case 0:
		return func(*frame) (ctl, error) { return goOn, nil }
	case 1:
		return list[0]
	}
	return func(f *frame) (ctl, error) {
		for _, s := range list {
			if k, err := s(f); k != goOn || err != nil {
				return k, err
			}
		}
		return goOn, nil
	}
}

// placed makes an error of evaluation at off of t an *Error.
func placed(t *Template, off int32, err error) error {
	switch err := err.(type) { //nolint:errorlint // what wraps an *Error is an error of its own, with its own place
	case *Error:
		return err
	case *value.PyError:
		return runtimeError(t, off, err, "", nil)
	case *hinted:
		return runtimeError(t, off, err.PyError, err.hint, nil)
	}
	return wrapError(t, off, err)
}

// marked returns what adds to errors of a statement the line that Jinja2 would
// report, which is the current one. Errors in a block get the line of the block:
// Jinja2 compiles it to another function.
func (c *compiler) marked() func(error) error {
	line, t, inBlock := c.line, c.t, c.inBlock
	return func(err error) error {
		if e, ok := errors.AsType[*Error](err); ok && e.At.IsZero() && !inBlock {
			e.At, e.Source = source.Pos{File: t.Name, Line: int(line)}, t.text
		}
		return err
	}
}

func (c *compiler) stmt(n node, fr *cframe) stmt {
	switch n := n.(type) {
	case *sOutput:
		return c.output(n, fr)
	case *sIf:
		return c.ifElse(n, fr)
	case *sFor:
		return c.forLoop(n, fr)
	case *sAssign:
		return c.assign(n, fr)
	case *sAssignBlock:
		return c.assignBlock(n, fr)
	case *sDo:
		c.line = n.line
		x, mark := c.expr(n.x, fr), c.marked()
		return func(f *frame) (ctl, error) {
			_, err := x(f)
			if err != nil {
				return goOn, mark(err)
			}
			return goOn, nil
		}
	case *sMacro:
		return c.macro(n, fr)
	case *sCallBlock:
		return c.callBlock(n, fr)
	case *sFilterBlock:
		return c.filterBlock(n, fr)
	case *sWith:
		return c.with(n, fr)
	case *sAutoescape:
		return c.autoescape(n, fr)
	case *sBlock:
		return c.block(n, fr)
	case *sExtends:
		return c.extend(n, fr)
	case *sInclude:
		return c.include(n, fr)
	case *sImport:
		return c.importAs(n, fr)
	case *sFromImport:
		return c.fromImport(n, fr)
	case *sBreak:
		c.line = n.line
		return func(*frame) (ctl, error) { return doBreak, nil }
	case *sContinue:
		c.line = n.line
		return func(*frame) (ctl, error) { return doContinue, nil }
	case *sProfile:
		return c.profile(n, fr)
	case *sDebug:
		c.line = n.line
		line, t := n.line, c.t
		return func(f *frame) (ctl, error) {
			if err := f.w.value(debugText(f.st), t, line); err != nil {
				return goOn, placed(t, n.off, err)
			}
			return goOn, nil
		}
	}
	panic("jinja: a statement without code")
}

func (c *compiler) output(n *sOutput, fr *cframe) stmt {
	if fr.check && c.knownExtends {
		return nil
	}
	var list []stmt
	for i := 0; i < len(n.nodes); i++ {
		switch x := n.nodes[i].(type) {
		case *sData:
			at, t, mark := x.pos, c.t, c.marked()
			text := x.text
			list = append(list, func(f *frame) (ctl, error) {
				if err := f.w.data(text, t, at.line); err != nil {
					return goOn, mark(placed(t, at.off, err))
				}
				return goOn, nil
			})
		default:
			list = append(list, c.print(x, fr))
		}
	}
	check := fr.check
	if !check && len(list) == 1 {
		return list[0]
	}
	return func(f *frame) (ctl, error) {
		if check && f.root.parent != nil {
			return goOn, nil
		}
		for _, s := range list {
			if _, err := s(f); err != nil {
				return goOn, err
			}
		}
		return goOn, nil
	}
}

// print compiles {{ x }}.
func (c *compiler) print(x node, fr *cframe) stmt {
	at, esc, t := x.at(), c.esc, c.t
	if constant(x) {
		// What is made of literals is printed while compiling, if it can be.
		f := &frame{st: &State{run: &run{ctx: context.Background(), env: c.env}, tmpl: c.t}}
		v, err := c.expr(x, fr)(f)
		text := ""
		if err == nil {
			text, err = f.st.printed(v, c.constEsc == escOn)
		}
		if err == nil {
			mark := c.marked()
			return func(f *frame) (ctl, error) {
				if err := f.w.value(text, t, at.line); err != nil {
					return goOn, mark(placed(t, at.off, err))
				}
				return goOn, nil
			}
		}
	}
	c.line = at.line
	ev, mark := c.expr(x, fr), c.marked()
	line := at.line
	return func(f *frame) (ctl, error) {
		v, err := ev(f)
		if err == nil {
			if s, ok := v.(string); ok && esc == escOff {
				err = f.w.value(s, t, line)
			} else {
				var s string
				if s, err = f.st.printed(v, esc == escOn || esc == escVolatile && f.st.autoescape); err == nil {
					err = f.w.value(s, t, line)
				}
			}
		}
		if err != nil {
			return goOn, mark(placed(t, at.off, err))
		}
		return goOn, nil
	}
}

// constant reports whether n is made of literals alone.
func constant(n node) bool {
	switch n.(type) {
	case *nConst:
		return true
	case *nTuple, *nList, *nDict, *nUnary, *nBin, *nNot, *nConcat, *nCompare, *nLogic:
	default:
		return false
	}
	all := true
	children(n, func(c node) { all = all && constant(c) })
	return all
}

func (c *compiler) ifElse(n *sIf, fr *cframe) stmt {
	fr = fr.softened()
	type branch struct {
		test eval
		mark func(error) error
		body stmt
	}
	var branches []branch
	add := func(n *sIf) {
		c.line = n.line
		b := branch{test: c.cond(n.test, fr), mark: c.marked()}
		b.body = c.branch(n.test.at().off, true, c.stmts(n.body, fr))
		branches = append(branches, b)
	}
	add(n)
	for _, e := range n.elifs {
		add(e)
	}
	var els stmt
	if n.els != nil {
		els = c.stmts(n.els, fr)
	}
	els = c.branch(n.test.at().off, false, els)
	return func(f *frame) (ctl, error) {
		for i := range branches {
			b := &branches[i]
			v, err := b.test(f)
			if err != nil {
				return goOn, b.mark(err)
			}
			if v == true {
				return b.body(f)
			}
		}
		if els != nil {
			return els(f)
		}
		return goOn, nil
	}
}

// cond compiles x as a condition: the value is a bool.
func (c *compiler) cond(x node, fr *cframe) eval {
	ev, off, t := c.expr(x, fr), x.at().off, c.t
	return func(f *frame) (value.Value, error) {
		v, err := ev(f)
		if err != nil {
			return nil, err
		}
		if _, ok := v.(bool); ok {
			return v, nil
		}
		b, err := f.st.Truth(v)
		if err != nil {
			return nil, placed(t, off, err)
		}
		return b, nil
	}
}

// A setter stores into a target.
type setter func(f *frame, v value.Value) error

// target compiles a target; exported is set where the names also go
// into the template's context.
func (c *compiler) target(n node, fr *cframe, exported bool) setter {
	switch n := n.(type) {
	case *nName:
		v := fr.sym.find(n.name)
		slot := v.slot
		if v.fn != fr.sym.fn {
			panic("jinja: a target outside of its function")
		}
		if !exported {
			return func(f *frame, v value.Value) error {
				f.slots[slot] = v
				return nil
			}
		}
		name, export := n.name, !strings.HasPrefix(n.name, "_")
		return func(f *frame, v value.Value) error {
			f.slots[slot] = v
			f.st.set(name, v, export)
			return nil
		}
	case *nNSRef:
		ref, attr := getterOf(fr.sym.find(n.name), fr.sym.fn), n.attr
		check := c.checkTarget(n, fr)
		return func(f *frame, v value.Value) error {
			if err := check(f); err != nil {
				return err
			}
			ref.get(f).(*Namespace).Attrs.Set(attr, v)
			return nil
		}
	case *nTuple:
		off, t := n.off, c.t
		sets := make([]setter, len(n.items))
		for i, x := range n.items {
			sets[i] = c.target(x, fr, exported)
		}
		return func(f *frame, v value.Value) error {
			items, err := f.st.unpack(v, len(sets))
			if err != nil {
				return placed(t, off, err)
			}
			for i, set := range sets {
				if err := set(f, items[i]); err != nil {
					return err
				}
			}
			return nil
		}
	}
	panic("jinja: a target that cannot be assigned to")
}

// checkTarget returns what Jinja2 checks of a target before it evaluates what
// is assigned; nil is nothing.
func (c *compiler) checkTarget(target node, fr *cframe) func(f *frame) error {
	n, ok := target.(*nNSRef)
	if !ok {
		return nil
	}
	ref, off, t := getterOf(fr.sym.find(n.name), fr.sym.fn), n.off, c.t
	return func(f *frame) error {
		if _, ok := ref.get(f).(*Namespace); !ok {
			return placed(t, off, value.Raise("TemplateRuntimeError", "cannot assign attribute on non-namespace object"))
		}
		return nil
	}
}

func (c *compiler) assign(n *sAssign, fr *cframe) stmt {
	c.line = n.line
	set, x, mark := c.target(n.target, fr, fr.toplevel), c.expr(n.x, fr), c.marked()
	check := c.checkTarget(n.target, fr)
	return func(f *frame) (ctl, error) {
		if check != nil {
			if err := check(f); err != nil {
				return goOn, mark(err)
			}
		}
		v, err := x(f)
		if err == nil {
			err = set(f, v)
		}
		if err != nil {
			return goOn, mark(err)
		}
		return goOn, nil
	}
}

// capture compiles body so that its output is a text.
func (c *compiler) capture(body stmt) func(f *frame) (string, ctl, error) {
	return func(f *frame) (string, ctl, error) {
		out := f.w
		f.w = f.st.run.writer()
		k, err := body(f)
		s := f.w.done()
		f.w = out
		f.st.run.built += len(s)
		return s, k, err
	}
}

// safe marks a captured text where the output is escaped.
func safe(s string, esc escMode, st *State) value.Value {
	if esc == escOn || esc == escVolatile && st.autoescape {
		return markupsafe.Markup(s)
	}
	return s
}

func (c *compiler) assignBlock(n *sAssignBlock, fr *cframe) stmt {
	in := fr.inner()
	in.check = false
	in.sym.analyzeAll(n.body)
	if n.filter != nil {
		in.sym.analyze(n.filter)
	}
	body := c.capture(c.stmts(n.body, in))
	enter := c.enter(in.sym)
	c.line = n.line
	set, mark, esc := c.target(n.target, fr, fr.toplevel), c.marked(), c.esc
	check := c.checkTarget(n.target, fr)
	var filter func(f *frame, x value.Value) (value.Value, error)
	if n.filter != nil {
		filter = c.filterChain(n.filter, in)
	}
	return func(f *frame) (ctl, error) {
		if enter != nil {
			enter(f)
		}
		s, k, err := body(f)
		if err != nil || k != goOn {
			return k, err
		}
		f.st.run.keep(s)
		v := safe(s, esc, f.st)
		if filter != nil {
			if check != nil {
				err = check(f)
			}
			if err == nil {
				v, err = filter(f, v)
			}
			if s, ok := v.(string); ok && err == nil {
				v = safe(s, esc, f.st)
			}
		}
		if err == nil {
			err = set(f, v)
		}
		if err != nil {
			return goOn, mark(err)
		}
		return goOn, nil
	}
}

func (c *compiler) filterBlock(n *sFilterBlock, fr *cframe) stmt {
	in := fr.inner()
	in.sym.analyzeAll(n.body)
	in.sym.analyze(n.filter)
	body := c.capture(c.stmts(n.body, in))
	enter := c.enter(in.sym)
	c.line = n.line
	filter, mark, esc, t := c.filterChain(n.filter, in), c.marked(), c.esc, c.t
	return func(f *frame) (ctl, error) {
		if enter != nil {
			enter(f)
		}
		s, k, err := body(f)
		if err != nil || k != goOn {
			return k, err
		}
		v, err := filter(f, safe(s, esc, f.st))
		if err == nil {
			err = f.w.raw(v, t, n.pos)
		}
		if err != nil {
			return goOn, mark(err)
		}
		return goOn, nil
	}
}

func (c *compiler) with(n *sWith, fr *cframe) stmt {
	in := fr.inner()
	for _, t := range n.targets {
		in.sym.analyze(t)
	}
	in.sym.analyzeAll(n.body)
	var sets []setter
	var values []eval
	for i, t := range n.targets {
		sets = append(sets, c.target(t, in, false))
		values = append(values, c.expr(n.values[i], fr))
	}
	mark := c.marked()
	body := c.stmts(n.body, in)
	enter := c.enter(in.sym)
	return func(f *frame) (ctl, error) {
		if enter != nil {
			enter(f)
		}
		for i, set := range sets {
			v, err := values[i](f)
			if err == nil {
				err = set(f, v)
			}
			if err != nil {
				return goOn, mark(err)
			}
		}
		return body(f)
	}
}

func (c *compiler) autoescape(n *sAutoescape, fr *cframe) stmt {
	in := fr.inner()
	in.sym.analyze(n.x)
	in.sym.analyzeAll(n.body)
	x, mark := c.cond(n.x, in), c.marked()
	old, oldConst := c.esc, c.constEsc
	if k, ok := n.x.(*nConst); ok {
		c.esc = escOff
		if value.Truth(k.val) {
			c.esc = escOn
		}
		c.constEsc = c.esc
	} else {
		c.esc = escVolatile
	}
	body := c.stmts(n.body, in)
	c.esc, c.constEsc = old, oldConst
	enter := c.enter(in.sym)
	return func(f *frame) (ctl, error) {
		if enter != nil {
			enter(f)
		}
		v, err := x(f)
		if err != nil {
			return goOn, mark(err)
		}
		old := f.st.autoescape
		f.st.autoescape = v == true
		k, err := body(f)
		f.st.autoescape = old
		return k, err
	}
}
