package jinja

import (
	"errors"
	"strings"

	"brine/internal/py/jinja/markupsafe"
	"brine/internal/py/jinja/pymethod"
	"brine/internal/py/pyformat"
	"brine/internal/py/value"
)

// expr compiles an expression. Errors that come out of it have a place.
func (c *compiler) expr(n node, fr *cframe) eval {
	switch n := n.(type) {
	case *nConst:
		v := n.val
		return func(*frame) (value.Value, error) { return v, nil }
	case *nName:
		return c.name(n, fr)
	case *nTuple:
		items := c.exprs(n.items, fr)
		return func(f *frame) (value.Value, error) {
			t := make(value.Tuple, len(items))
			f.st.run.built += 16 * len(items)
			return t, fill(f, t, items)
		}
	case *nList:
		items := c.exprs(n.items, fr)
		return func(f *frame) (value.Value, error) {
			l := &value.List{Items: make([]value.Value, len(items))}
			f.st.run.built += 16 * len(items)
			return l, fill(f, l.Items, items)
		}
	case *nDict:
		return c.dict(n, fr)
	case *nCond:
		return c.condExpr(n, fr)
	case *nLogic:
		return c.logic(n, fr)
	case *nNot:
		x := c.cond(n.x, fr)
		return func(f *frame) (value.Value, error) {
			v, err := x(f)
			if err != nil {
				return nil, err
			}
			return v == false, nil
		}
	case *nBin:
		return c.binary(n, fr)
	case *nUnary:
		x, t, off, op := c.expr(n.x, fr), c.t, n.off, value.Pos
		if n.neg {
			op = value.Neg
		}
		return func(f *frame) (value.Value, error) {
			v, err := x(f)
			if err == nil {
				if v, err = op(v); err == nil {
					return v, nil
				}
			}
			return nil, placed(t, off, err)
		}
	case *nConcat:
		return c.concat(n, fr)
	case *nCompare:
		return c.compare(n, fr)
	case *nGetattr:
		x, t, off, name := c.expr(n.x, fr), c.t, n.x.at().off, n.name
		return func(f *frame) (value.Value, error) {
			v, err := x(f)
			if err == nil {
				if v, err = f.st.GetAttr(v, name); err == nil {
					return v, nil
				}
			}
			return nil, placed(t, off, err)
		}
	case *nGetitem:
		return c.getitem(n, fr)
	case *nCall:
		call := c.call(n, fr, false)
		return func(f *frame) (value.Value, error) { return call(f, nil) }
	case *nFilter:
		filter := c.filter(n, fr)
		x := c.expr(n.x, fr)
		return func(f *frame) (value.Value, error) {
			v, err := x(f)
			if err != nil {
				return nil, err
			}
			return filter(f, v)
		}
	case *nTest:
		return c.test(n, fr)
	}
	// A slice among other things in brackets is not valid in Python.
	at := n.at()
	panic(newError(c.t.Name, c.t.text, at.off, at.line, "SyntaxError", "invalid syntax", ""))
}

func (c *compiler) exprs(ns []node, fr *cframe) []eval {
	evs := make([]eval, len(ns))
	for i, n := range ns {
		evs[i] = c.expr(n, fr)
	}
	return evs
}

func fill(f *frame, out []value.Value, items []eval) error {
	for i, ev := range items {
		v, err := ev(f)
		if err != nil {
			return err
		}
		out[i] = v
	}
	return nil
}

func (c *compiler) name(n *nName, fr *cframe) eval {
	v := fr.sym.find(n.name)
	if v == nil {
		// Jinja2 misses the names of some arguments of block filters.
		name := n.name
		return func(f *frame) (value.Value, error) {
			if v, ok := f.st.Resolve(name); ok {
				return v, nil
			}
			return f.st.Undefined(name), nil
		}
	}
	g, name := getterOf(v, fr.sym.fn), n.name
	scope := fr.sym
	undefined := func(f *frame) value.Value {
		return &Undefined{Kind: f.st.run.env.opts.Undefined, Name: name, candidates: func() []string {
			return append(scope.names(), f.st.known()...)
		}}
	}
	slot := g.slot
	switch g.hops {
	case 0:
		return func(f *frame) (value.Value, error) {
			v := f.slots[slot]
			if _, ok := v.(missing); ok {
				v = undefined(f)
			}
			return v, nil
		}
	case 1:
		return func(f *frame) (value.Value, error) {
			v := f.up.slots[slot]
			if _, ok := v.(missing); ok {
				v = undefined(f)
			}
			return v, nil
		}
	}
	return func(f *frame) (value.Value, error) {
		v := g.get(f)
		if _, ok := v.(missing); ok {
			v = undefined(f)
		}
		return v, nil
	}
}

func (c *compiler) dict(n *nDict, fr *cframe) eval {
	keys, vals, t := c.exprs(n.keys, fr), c.exprs(n.vals, fr), c.t
	return func(f *frame) (value.Value, error) {
		m := value.NewMap(len(keys))
		f.st.run.built += 64 * len(keys)
		for i := range keys {
			k, err := keys[i](f)
			if err != nil {
				return nil, err
			}
			v, err := vals[i](f)
			if err != nil {
				return nil, err
			}
			if _, ok := k.(string); !ok {
				if err := value.CheckHash(k); err != nil {
					return nil, placed(t, n.keys[i].at().off, err)
				}
			}
			m.Set(k, v)
		}
		return m, nil
	}
}

func (c *compiler) condExpr(n *nCond, fr *cframe) eval {
	fr = fr.softened()
	yes, test := c.expr(n.yes, fr), c.cond(n.test, fr)
	var no eval
	if n.no != nil {
		no = c.expr(n.no, fr)
	} else {
		hint := "the inline if-expression on " + c.position(n.line) + " evaluated to false and no else section was defined."
		no = func(*frame) (value.Value, error) { return &Undefined{Kind: Plain, Hint: hint}, nil }
	}
	reached := c.branch(n.test.at().off, true, nil)
	if missed := c.branch(n.test.at().off, false, nil); missed != nil {
		whenYes, whenNo := yes, no
		yes = func(f *frame) (value.Value, error) { _, _ = reached(f); return whenYes(f) }
		no = func(f *frame) (value.Value, error) { _, _ = missed(f); return whenNo(f) }
	}
	return func(f *frame) (value.Value, error) {
		v, err := test(f)
		if err != nil {
			return nil, err
		}
		if v == true {
			return yes(f)
		}
		return no(f)
	}
}

func (c *compiler) logic(n *nLogic, fr *cframe) eval {
	l, r, t, off, or := c.expr(n.l, fr), c.expr(n.r, fr), c.t, n.l.at().off, n.or
	return func(f *frame) (value.Value, error) {
		v, err := l(f)
		if err != nil {
			return nil, err
		}
		b, err := f.st.Truth(v)
		if err != nil {
			return nil, placed(t, off, err)
		}
		if b == or {
			return v, nil
		}
		return r(f)
	}
}

func (c *compiler) binary(n *nBin, fr *cframe) eval {
	l, r, t, off := c.expr(n.l, fr), c.expr(n.r, fr), c.t, n.off
	op := map[tokKind]func(a, b value.Value) (value.Value, error){
		tAdd: value.Add, tSub: value.Sub, tMul: value.Mul, tDiv: value.TrueDiv,
		tFloorDiv: value.FloorDiv, tMod: pyformat.Mod, tPow: value.Pow,
	}[n.op]
	return func(f *frame) (value.Value, error) {
		a, err := l(f)
		if err != nil {
			return nil, err
		}
		b, err := r(f)
		if err != nil {
			return nil, err
		}
		v, err := op(a, b)
		if err == nil {
			err = f.st.run.made(v)
		}
		if err != nil {
			return nil, placed(t, off, err)
		}
		return v, nil
	}
}

func (c *compiler) concat(n *nConcat, fr *cframe) eval {
	items, t, esc := c.exprs(n.items, fr), c.t, c.esc
	if esc == escOn && foldable(n) {
		esc = escOff // Jinja2 joins constants while compiling, and as plain text
	}
	return func(f *frame) (value.Value, error) {
		vals := make([]value.Value, len(items))
		if err := fill(f, vals, items); err != nil {
			return nil, err
		}
		parts := make([]string, len(items))
		size, markup := 0, false
		for i, v := range vals {
			s, err := f.st.Str(v)
			if err != nil {
				return nil, placed(t, n.items[i].at().off, err)
			}
			_, m := v.(markupsafe.Markup)
			markup = markup || m
			parts[i] = s
			size += len(s)
			if err := value.CheckSize(size); err != nil {
				return nil, placed(t, n.off, err)
			}
		}
		if err := f.st.run.madeBytes(size); err != nil {
			return nil, placed(t, n.off, err)
		}
		if markup && (esc == escOn || esc == escVolatile) {
			for i, v := range vals {
				if _, ok := v.(markupsafe.Markup); !ok {
					parts[i] = markupsafe.Escape(parts[i])
				}
			}
			return markupsafe.Markup(strings.Join(parts, "")), nil
		}
		return strings.Join(parts, ""), nil
	}
}

// foldable reports whether Jinja2 evaluates n while compiling, if that does not
// fail: literals, and filters that need no context on them.
func foldable(n node) bool {
	switch n := n.(type) {
	case *nName, *nCall:
		return false
	case *nFilter:
		switch n.name {
		case "map", "select", "reject", "selectattr", "rejectattr", "random":
			return false
		}
	case *nCond:
		if n.no == nil {
			return false
		}
	}
	all := true
	children(n, func(c node) { all = all && foldable(c) })
	return all
}

func (c *compiler) compare(n *nCompare, fr *cframe) eval {
	x := c.expr(n.x, fr)
	ops := make([]eval, len(n.ops))
	for i, o := range n.ops {
		ops[i] = c.expr(o.x, fr)
	}
	t, off := c.t, n.off
	if len(ops) == 1 {
		op, y := n.ops[0].op, ops[0]
		return func(f *frame) (value.Value, error) {
			a, err := x(f)
			if err != nil {
				return nil, err
			}
			b, err := y(f)
			if err != nil {
				return nil, err
			}
			v, err := f.st.compare(op, a, b)
			if err != nil {
				return nil, placed(t, off, err)
			}
			return v, nil
		}
	}
	return func(f *frame) (value.Value, error) {
		a, err := x(f)
		if err != nil {
			return nil, err
		}
		for i, y := range ops {
			b, err := y(f)
			if err != nil {
				return nil, err
			}
			v, err := f.st.compare(n.ops[i].op, a, b)
			if err != nil {
				return nil, placed(t, off, err)
			}
			if !v {
				return false, nil
			}
			a = b
		}
		return true, nil
	}
}

func (c *compiler) getitem(n *nGetitem, fr *cframe) eval {
	x, t, off := c.expr(n.x, fr), c.t, n.x.at().off
	if s, ok := n.arg.(*nSlice); ok {
		part := func(n node) eval {
			if n == nil {
				return func(*frame) (value.Value, error) { return nil, nil }
			}
			return c.expr(n, fr)
		}
		lo, hi, step := part(s.lo), part(s.hi), part(s.step)
		return func(f *frame) (value.Value, error) {
			v, err := x(f)
			if err != nil {
				return nil, err
			}
			var b [3]value.Value
			if err := fill(f, b[:], []eval{lo, hi, step}); err != nil {
				return nil, err
			}
			if v, err = value.Slice(v, b[0], b[1], b[2]); err == nil {
				err = f.st.run.made(v)
			}
			if err != nil {
				return nil, placed(t, off, err)
			}
			return v, nil
		}
	}
	arg := c.expr(n.arg, fr)
	return func(f *frame) (value.Value, error) {
		v, err := x(f)
		if err != nil {
			return nil, err
		}
		k, err := arg(f)
		if err != nil {
			return nil, err
		}
		if v, err = f.st.GetItem(v, k); err != nil {
			return nil, placed(t, off, err)
		}
		return v, nil
	}
}

// arguments compiles the arguments of a call; first is their first, where it
// is not among them.
func (c *compiler) arguments(a *args, fr *cframe) func(f *frame, first []value.Value) ([]value.Value, *value.Map, error) {
	pos, t := c.exprs(a.pos, fr), c.t
	kw := make([]eval, len(a.kw))
	for i, k := range a.kw {
		kw[i] = c.expr(k.x, fr)
	}
	var dyn, dynKw eval
	if a.dyn != nil {
		dyn = c.expr(a.dyn, fr)
	}
	if a.dynKw != nil {
		dynKw = c.expr(a.dynKw, fr)
	}
	if len(kw) == 0 && dyn == nil && dynKw == nil {
		return func(f *frame, first []value.Value) ([]value.Value, *value.Map, error) {
			n := len(first)
			if n+len(pos) == 0 {
				return nil, nil, nil
			}
			out := make([]value.Value, n+len(pos))
			copy(out, first)
			return out, nil, fill(f, out[n:], pos)
		}
	}
	e := &argEval{t: t, args: a, pos: pos, kw: kw, dyn: dyn, dynKw: dynKw}
	return e.eval
}

// An argEval evaluates the arguments of a call.
type argEval struct {
	t          *Template
	args       *args
	pos, kw    []eval
	dyn, dynKw eval // of * and **; may be nil
}

func (e *argEval) eval(f *frame, first []value.Value) ([]value.Value, *value.Map, error) {
	n := len(first)
	out := make([]value.Value, n+len(e.pos))
	copy(out, first)
	if err := fill(f, out[n:], e.pos); err != nil {
		return nil, nil, err
	}
	if e.dyn != nil {
		items, err := e.spread(f)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, items...)
	}
	m, err := e.keywords(f)
	return out, m, err
}

// spread evaluates what follows *.
func (e *argEval) spread(f *frame) ([]value.Value, error) {
	v, err := e.dyn(f)
	if err != nil {
		return nil, err
	}
	items, err := value.Items(v)
	if err != nil {
		if pymethod.Raised(err, "TypeError") {
			err = value.Raise("TypeError", "Value after * must be an iterable, not %s", value.TypeName(v))
		}
		return nil, placed(e.t, e.args.dyn.at().off, err)
	}
	return items, nil
}

// keywords evaluates the keyword arguments and what follows **.
func (e *argEval) keywords(f *frame) (*value.Map, error) {
	var m *value.Map
	if len(e.kw) > 0 {
		m = value.NewMap(len(e.kw))
	}
	for i, ev := range e.kw {
		v, err := ev(f)
		if err != nil {
			return nil, err
		}
		m.Set(e.args.kw[i].name, v)
	}
	if e.dynKw == nil {
		return m, nil
	}
	v, err := e.dynKw(f)
	if err == nil {
		m, err = mergeKw(m, v)
	}
	if err != nil {
		return nil, placed(e.t, e.args.dynKw.at().off, err)
	}
	return m, nil
}

// mergeKw adds the entries of v, the operand of **.
func mergeKw(m *value.Map, v value.Value) (*value.Map, error) {
	d, ok := v.(value.Mapping)
	if !ok {
		if u, ok := v.(*Undefined); ok {
			return nil, u.Err()
		}
		return nil, value.Raise("TypeError", "jinja2.sandbox.SandboxedEnvironment.call() argument after ** must be a mapping, not %s", value.TypeName(v))
	}
	if m == nil {
		m = value.NewMap(d.Len())
	}
	for _, k := range d.Keys() {
		name, ok := value.AsText(k)
		if !ok {
			return nil, value.Raise("TypeError", "keywords must be strings")
		}
		if m.Has(name) {
			return nil, value.Raise("TypeError", "jinja2.sandbox.SandboxedEnvironment.call() got multiple values for keyword argument %s", value.QuoteStr(name))
		}
		x, _ := d.Get(k)
		m.Set(name, x)
	}
	return m, nil
}

// call compiles a call; where forward is set, the function gets a caller too.
func (c *compiler) call(n *nCall, fr *cframe, forward bool) func(f *frame, caller value.Value) (value.Value, error) {
	args, t, off := c.arguments(&n.args, fr), c.t, n.fn.at().off
	target := c.callee(n.fn, fr)
	return func(f *frame, caller value.Value) (value.Value, error) {
		callee, bound, err := target(f)
		if err != nil {
			return nil, err
		}
		call := &Call{State: f.st}
		if call.Args, call.Kw, err = args(f, nil); err != nil {
			return nil, err
		}
		if forward {
			if call.Kw == nil {
				call.Kw = value.NewMap(1)
			}
			call.Kw.Set("caller", caller)
		}
		r := f.st.run
		r.at, r.off = t, off
		if err := r.tick(); err != nil {
			return nil, placed(t, off, err)
		}
		var v value.Value
		if bound != nil {
			v, err = bound(call.python())
		} else {
			v, err = callValue(callee, call)
		}
		if err == nil {
			err = r.gave(call.Args, v)
		}
		if err == nil {
			return v, nil
		}
		e, ok := errors.AsType[*Error](err)
		if !ok {
			return nil, placed(t, off, err)
		}
		switch callee.(type) {
		case *Macro, *blockRef, *LoopContext:
			e.Via = append(e.Via, place(t.Name, t.text, off))
		}
		return nil, e
	}
}

// callee compiles what is called. What is called may be a method of a Python
// type, which is then bound to callee, its object.
func (c *compiler) callee(n node, fr *cframe) func(f *frame) (callee value.Value, bound pymethod.Func, err error) {
	t, off := c.t, n.at().off
	attr, ok := n.(*nGetattr)
	if !ok || private(attr.name) {
		fn := c.expr(n, fr)
		return func(f *frame) (value.Value, pymethod.Func, error) {
			callee, err := fn(f)
			if err != nil {
				err = placed(t, off, err)
			}
			return callee, nil, err
		}
	}
	obj, objOff, name := c.expr(attr.x, fr), attr.x.at().off, attr.name
	return func(f *frame) (value.Value, pymethod.Func, error) {
		callee, err := obj(f)
		if err != nil {
			return nil, nil, err
		}
		if _, own := callee.(AttrGetter); !own {
			if bound, ok := pymethod.Of(callee, name); ok {
				return callee, bound, nil
			}
		}
		if callee, err = f.st.GetAttr(callee, name); err != nil {
			err = placed(t, objOff, err)
		}
		return callee, nil, err
	}
}

// filterChain compiles the filters of a filter or set block, whose innermost
// one gets the text.
func (c *compiler) filterChain(n *nFilter, fr *cframe) func(f *frame, v value.Value) (value.Value, error) {
	outer := c.filter(n, fr)
	in, ok := n.x.(*nFilter)
	if !ok {
		return outer
	}
	inner := c.filterChain(in, fr)
	return func(f *frame, v value.Value) (value.Value, error) {
		v, err := inner(f, v)
		if err != nil {
			return nil, err
		}
		return outer(f, v)
	}
}

// filter compiles one filter.
func (c *compiler) filter(n *nFilter, fr *cframe) func(f *frame, v value.Value) (value.Value, error) {
	fn, ok := c.env.filter(n.name)
	t, off, name := c.t, n.off, n.name
	if !ok {
		hint := didYouMean(name, c.env.FilterNames())
		if !fr.soft {
			c.fail(n.pos, "No filter named "+value.QuoteStr(name)+".", hint)
		}
		fn = func(*Call) (value.Value, error) { return nil, noSuch("filter", name, hint) }
	}
	args, item := c.arguments(&n.args, fr), takes(n.name)
	return func(f *frame, v value.Value) (value.Value, error) {
		if x, ok := v.(Filtered); ok && item {
			return x.Filtered(name), nil
		}
		a, kw, err := args(f, []value.Value{v})
		if err != nil {
			return nil, err
		}
		r := f.st.run
		r.at, r.off = t, off
		if err := r.tick(); err != nil {
			return nil, placed(t, off, err)
		}
		if v, err = fn(&Call{State: f.st, Args: a, Kw: kw}); err == nil {
			err = r.made(v)
		}
		if err != nil {
			return nil, placed(t, off, err)
		}
		return v, nil
	}
}

// noSuch is the error of an unknown filter or test that is used.
func noSuch(what, name, hint string) error {
	err := &value.PyError{Type: "TemplateRuntimeError", Msg: "No " + what + " named " + value.QuoteStr(name) + " found."}
	if hint == "" {
		return err
	}
	return &hinted{err, hint}
}

func (c *compiler) test(n *nTest, fr *cframe) eval {
	x := c.expr(n.x, fr)
	if len(n.args.pos)+len(n.kw) == 0 && n.dyn == nil && n.dynKw == nil && c.env.opts.Extension.Tests[n.name] == nil {
		// The commonest tests need no call.
		is := func(want bool, f func(value.Value) bool) eval {
			return func(fr *frame) (value.Value, error) {
				v, err := x(fr)
				if err != nil {
					return nil, err
				}
				return f(v) == want, nil
			}
		}
		switch n.name {
		case "defined":
			return is(false, isUndefined)
		case "undefined":
			return is(true, isUndefined)
		case "none":
			return is(true, func(v value.Value) bool { return v == nil })
		}
	}
	fn, ok := c.env.test(n.name)
	t, off, name := c.t, n.off, n.name
	if !ok {
		hint := didYouMean(name, c.env.TestNames())
		if !fr.soft {
			c.fail(n.pos, "No test named "+value.QuoteStr(name)+".", hint)
		}
		fn = func(*Call) (value.Value, error) { return nil, noSuch("test", name, hint) }
	}
	args := c.arguments(&n.args, fr)
	return func(f *frame) (value.Value, error) {
		v, err := x(f)
		if err != nil {
			return nil, err
		}
		a, kw, err := args(f, []value.Value{v})
		if err != nil {
			return nil, err
		}
		r := f.st.run
		r.at, r.off = t, off
		if v, err = fn(&Call{State: f.st, Args: a, Kw: kw}); err != nil {
			return nil, placed(t, off, err)
		}
		return v, nil
	}
}
