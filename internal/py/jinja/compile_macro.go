package jinja

import (
	"brine/internal/py/jinja/markupsafe"
	"brine/internal/py/value"
)

// macroDef is a compiled macro or call block.
type macroDef struct {
	t          *Template
	pos        pos
	name       string
	anonymous  bool // a call block
	params     []string
	slots      []int
	defaults   []eval // of the last params
	fn         *fnScope
	enter      func(*frame)
	body       stmt
	mark       func(error) error
	autoescape escMode

	caller, kwargs, varargs int // slots, or -1 where the body uses none
	usesCaller              bool
	explicitCaller          bool
}

func (c *compiler) macroDef(n node, name string, sig *signature, body []node, fr *cframe) *macroDef {
	in := fr.innerFn()
	in.check = false
	analyze := func() {
		for _, p := range sig.params {
			in.sym.analyze(p)
		}
		in.sym.analyzeAll(sig.defaults)
		in.sym.analyzeAll(body)
	}
	analyze()
	d := &macroDef{t: c.t, pos: n.at(), name: name, fn: in.sym.fn, autoescape: c.esc, caller: -1, kwargs: -1, varargs: -1}
	explicit, own := -1, map[string]bool{}
	for i, p := range sig.params {
		if p.name == "caller" {
			explicit = i
		}
		own[p.name] = true
		d.params = append(d.params, p.name)
		d.slots = append(d.slots, in.sym.find(p.name).slot)
	}
	d.explicitCaller = explicit >= 0
	used := undeclared(body, "caller", "kwargs", "varargs")
	d.usesCaller = used["caller"]
	if d.usesCaller {
		if explicit >= 0 {
			if len(sig.params)-explicit > len(sig.defaults) {
				c.fail(n.at(), `When defining macros or call blocks the special "caller" argument must be omitted or be given a default.`, "")
			}
		} else {
			d.caller = in.sym.param("caller").slot
		}
	}
	if used["kwargs"] && !own["kwargs"] {
		d.kwargs = in.sym.param("kwargs").slot
	}
	if used["varargs"] && !own["varargs"] {
		d.varargs = in.sym.param("varargs").slot
	}
	analyze()
	inBlock := c.inBlock
	c.inBlock = false
	c.line = n.at().line
	d.mark = c.marked()
	for _, x := range sig.defaults {
		d.defaults = append(d.defaults, c.expr(x, in))
	}
	d.body = c.stmts(body, in)
	d.enter = c.enter(in.sym)
	c.inBlock = inBlock
	return d
}

// bound makes the macro of a definition in f.
func (d *macroDef) bound(f *frame) *Macro {
	m := &Macro{def: d, up: f, st: f.st}
	m.autoescape = d.autoescape == escOn || d.autoescape == escVolatile && f.st.autoescape
	return m
}

func (c *compiler) macro(n *sMacro, fr *cframe) stmt {
	d := c.macroDef(n, n.name, &n.signature, n.body, fr)
	d.body = c.branch(n.off, true, d.body)
	set := c.target(&nName{n.pos, n.name, store}, fr, fr.toplevel)
	return func(f *frame) (ctl, error) { return goOn, set(f, d.bound(f)) }
}

func (c *compiler) callBlock(n *sCallBlock, fr *cframe) stmt {
	d := c.macroDef(n, "", &n.signature, n.body, fr)
	d.anonymous = true
	c.line = n.line
	call := c.call(n.call, fr, true)
	mark, t := c.marked(), c.t
	return func(f *frame) (ctl, error) {
		v, err := call(f, d.bound(f))
		if err == nil {
			err = f.w.raw(v, t, n.pos)
		}
		if err != nil {
			return goOn, mark(err)
		}
		return goOn, nil
	}
}

// A Macro is a macro of a template, or the caller of a call block.
type Macro struct {
	def        *macroDef
	up         *frame
	st         *State
	autoescape bool
}

// Call runs the macro.
func (m *Macro) Call(c *Call) (value.Value, error) {
	d := m.def
	r := m.st.run
	if err := r.enter(); err != nil {
		return nil, err
	}
	defer r.leave()
	f := newFrame(d.fn, m.up, m.st, nil)
	kw := c.Kw
	if kw.Len() > 0 {
		kw = kw.Copy()
	}
	n := min(len(d.slots), len(c.Args))
	for i := range n {
		f.slots[d.slots[i]] = c.Args[i]
	}
	found := false
	if n == len(d.slots) {
		found = d.explicitCaller
	}
	for i := n; i < len(d.slots); i++ {
		f.slots[d.slots[i]] = missing{}
		if d.params[i] == "caller" {
			found = true
		}
		if v, ok := kw.Get(d.params[i]); ok {
			kw.Delete(d.params[i])
			f.slots[d.slots[i]] = v
		}
	}
	if d.caller >= 0 && !found {
		caller, ok := kw.Get("caller")
		if ok {
			kw.Delete("caller")
		}
		if caller == nil {
			caller = m.st.Undefined("caller", "No caller defined")
		}
		f.slots[d.caller] = caller
	}
	if d.kwargs >= 0 {
		if kw == nil {
			kw = value.NewMap(0)
		}
		f.slots[d.kwargs] = kw
	} else if kw.Len() > 0 {
		if kw.Has("caller") {
			return nil, value.Raise("TypeError", "macro %s was invoked with two values for the special caller argument. This is most likely a bug.", m.reprName())
		}
		k, _ := kw.Entry(0)
		return nil, value.Raise("TypeError", "macro %s takes no keyword argument %s", m.reprName(), value.Repr(k))
	}
	if d.varargs >= 0 {
		f.slots[d.varargs] = append(value.Tuple{}, c.Args[n:]...)
	} else if len(c.Args) > len(d.slots) {
		return nil, value.Raise("TypeError", "macro %s takes not more than %d argument(s)", m.reprName(), len(d.slots))
	}
	return m.invoke(f, c.State)
}

func (m *Macro) invoke(f *frame, from *State) (value.Value, error) {
	d := m.def
	f.w = m.st.run.writer()
	if d.enter != nil {
		d.enter(f)
	}
	for i, slot := range d.slots {
		if _, ok := f.slots[slot].(missing); !ok {
			continue
		}
		k := i - len(d.slots) + len(d.defaults)
		if k < 0 {
			name := d.params[i]
			f.slots[slot] = m.st.Undefined(name, "parameter "+value.QuoteStr(name)+" was not provided")
			continue
		}
		v, err := d.defaults[k](f)
		if err != nil {
			return nil, d.mark(err)
		}
		f.slots[slot] = v
	}
	_, err := d.body(f)
	s := f.w.done()
	if err != nil {
		return nil, err
	}
	if from.autoescape {
		return markupsafe.Markup(s), nil
	}
	return s, nil
}

func (m *Macro) nameValue() value.Value {
	if m.def.anonymous {
		return nil
	}
	return m.def.name
}

func (m *Macro) reprName() string { return value.Repr(m.nameValue()) }

// GetAttr returns name, arguments, defaults and what the macro catches.
func (m *Macro) GetAttr(_ *State, name string) (value.Value, bool, error) {
	d := m.def
	switch name {
	case "name":
		return m.nameValue(), true, nil
	case "arguments":
		t := make(value.Tuple, len(d.params))
		for i, p := range d.params {
			t[i] = p
		}
		return t, true, nil
	case "catch_kwargs":
		return d.kwargs >= 0, true, nil
	case "catch_varargs":
		return d.varargs >= 0, true, nil
	case "caller":
		return d.usesCaller, true, nil
	case "explicit_caller":
		return d.explicitCaller, true, nil
	}
	return nil, false, nil
}

// Repr prints the name.
func (m *Macro) Repr() string {
	if m.def.anonymous {
		return "<Macro anonymous>"
	}
	return "<Macro " + m.reprName() + ">"
}

// Truth is true.
func (m *Macro) Truth() bool { return true }

// TypeName is "Macro".
func (m *Macro) TypeName() string { return "Macro" }

// ObjectTypeRepr names the type as undefined messages do.
func (m *Macro) ObjectTypeRepr() string { return "jinja2.runtime.Macro object" }
