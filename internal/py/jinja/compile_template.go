package jinja

import (
	"errors"
	"fmt"
	"strings"

	"brine/internal/py/jinja/markupsafe"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

func (c *compiler) block(n *sBlock, fr *cframe) stmt {
	if fr.toplevel && c.knownExtends {
		return nil
	}
	check := fr.toplevel && c.extends > 0
	c.line = n.line
	mark, t, names, get := c.marked(), c.t, []string(nil), []getter(nil)
	if n.scoped {
		names, get = c.locals(fr)
	}
	return func(f *frame) (ctl, error) {
		if check && f.root.parent != nil {
			return goOn, nil
		}
		st := f.st
		if n.scoped {
			st = st.derived(f, names, get)
		}
		stack := st.blocks[n.name]
		if n.required && len(stack) <= 1 {
			err := value.Raise("TemplateRuntimeError", "Required block %s not found", value.QuoteStr(n.name))
			return goOn, mark(placed(t, n.off, err))
		}
		if err := stack[0].run(st, f.w, t, n.off); err != nil {
			return goOn, mark(err)
		}
		return goOn, nil
	}
}

// run renders a block or the body of a template. t and off are where it was
// asked for; t may be nil.
func (k *code) run(st *State, w *writer, t *Template, off int32) error {
	if err := st.run.enter(); err != nil {
		if t == nil {
			t = k.t
		}
		return placed(t, off, err)
	}
	defer st.run.leave()
	f := newFrame(k.fn, nil, st, w)
	f.root = &rootState{}
	if k.self != nil {
		f.slots[k.self.slot] = &selfRef{st}
	}
	if k.super != nil {
		f.slots[k.super.slot] = st.super(k)
	}
	if k.enter != nil {
		k.enter(f)
	}
	if _, err := k.body(f); err != nil {
		if t != nil {
			via(err, place(t.Name, t.text, off))
		}
		return err
	}
	if p := f.root.parent; p != nil {
		return p.root.run(st, w, k.t, f.root.off)
	}
	return nil
}

// via notes a statement that led to the fault.
func via(err error, at source.Pos) {
	if e, ok := errors.AsType[*Error](err); ok {
		e.Via = append(e.Via, at)
	}
}

// locals returns the names that a frame and those around it store.
func (c *compiler) locals(fr *cframe) ([]string, []getter) {
	names, vars := fr.sym.stored()
	get := make([]getter, len(vars))
	for i, v := range vars {
		get[i] = getterOf(v, fr.sym.fn)
	}
	return names, get
}

func (c *compiler) extend(n *sExtends, fr *cframe) stmt {
	if !fr.toplevel {
		c.fail(n.pos, "cannot use extend from a non top-level scope", "")
	}
	again := c.extends > 0
	t, off := c.t, n.off
	multiple := func() error {
		return placed(t, off, value.Raise("TemplateRuntimeError", "extended multiple times"))
	}
	if again && c.knownExtends {
		mark := c.marked()
		c.stop = true
		return func(*frame) (ctl, error) { return goOn, mark(multiple()) }
	}
	c.line = n.line
	x, mark := c.expr(n.x, fr), c.marked()
	if fr.rootlevel {
		c.knownExtends = true
	}
	c.extends++
	return func(f *frame) (ctl, error) {
		if again && f.root.parent != nil {
			return goOn, mark(multiple())
		}
		v, err := x(f)
		if err != nil {
			return goOn, mark(err)
		}
		parent, err := f.st.template(v, t)
		if err != nil {
			return goOn, mark(placed(t, off, err))
		}
		if f.st.blocks == nil {
			f.st.blocks = make(map[string][]*code, len(parent.blocks))
		}
		for name, k := range parent.blocks {
			f.st.blocks[name] = append(f.st.blocks[name], k)
		}
		f.root.parent, f.root.off = parent, off
		return goOn, nil
	}
}

func (c *compiler) include(n *sInclude, fr *cframe) stmt {
	c.line = n.line
	x, mark, t, off := c.expr(n.x, fr), c.marked(), c.t, n.off
	names, get := c.locals(fr)
	return func(f *frame) (ctl, error) {
		v, err := x(f)
		if err != nil {
			return goOn, mark(err)
		}
		inc, err := f.st.selectTemplate(v, t)
		if err != nil {
			var e *Error
			if n.ignoreMissing && isNotFound(err) && !errors.As(err, &e) {
				return goOn, nil
			}
			via(err, place(t.Name, t.text, off))
			return goOn, mark(placed(t, off, err))
		}
		if !n.withContext {
			m, err := f.st.module(inc, t, off)
			if err == nil {
				err = f.w.value(m.body, t, n.line)
			}
			if err != nil {
				return goOn, mark(placed(t, off, err))
			}
			return goOn, nil
		}
		st := newState(f.st.run, inc, f.st.snapshot(f, names, get))
		from := len(f.w.marks)
		if err := inc.root.run(st, f.w, t, off); err != nil {
			return goOn, mark(err)
		}
		f.w.includedFrom(from, t, n.line)
		return goOn, nil
	}
}

// importer compiles what import and from have in common.
func (c *compiler) importer(x node, withContext bool, at pos, fr *cframe) func(f *frame) (*Module, error) {
	ev, t, off := c.expr(x, fr), c.t, at.off
	names, get := c.locals(fr)
	return func(f *frame) (*Module, error) {
		v, err := ev(f)
		if err != nil {
			return nil, err
		}
		imp, err := f.st.template(v, t)
		if err != nil {
			via(err, place(t.Name, t.text, off))
			return nil, placed(t, off, err)
		}
		if !withContext {
			m, err := f.st.module(imp, t, off)
			if err != nil {
				return nil, placed(t, off, err)
			}
			return m, nil
		}
		return newModule(newState(f.st.run, imp, f.st.snapshot(f, names, get)), t, off)
	}
}

func (c *compiler) importAs(n *sImport, fr *cframe) stmt {
	c.line = n.line
	slot := fr.sym.find(n.target).slot
	get, mark, toplevel := c.importer(n.x, n.withContext, n.pos, fr), c.marked(), fr.toplevel
	return func(f *frame) (ctl, error) {
		m, err := get(f)
		if err != nil {
			return goOn, mark(err)
		}
		f.slots[slot] = m
		if toplevel {
			f.st.setPrivate(n.target, m)
		}
		return goOn, nil
	}
}

func (c *compiler) fromImport(n *sFromImport, fr *cframe) stmt {
	c.line = n.line
	get, mark, toplevel := c.importer(n.x, n.withContext, n.pos, fr), c.marked(), fr.toplevel
	slots := make([]int, len(n.names))
	for i, name := range n.names {
		slots[i] = fr.sym.find(name.as).slot
	}
	at := c.position(n.line)
	return func(f *frame) (ctl, error) {
		m, err := get(f)
		if err != nil {
			return goOn, mark(err)
		}
		for i, name := range n.names {
			v, ok := m.Attrs.Get(name.name)
			if !ok {
				u := f.st.Undefined(name.name, fmt.Sprintf("the template %s (imported on %s) does not export the requested name %s",
					m.reprName(), at, value.QuoteStr(name.name))).(*Undefined)
				u.candidates = m.exported
				v = u
			}
			f.slots[slots[i]] = v
			if toplevel {
				f.st.setPrivate(name.as, v)
			}
		}
		return goOn, nil
	}
}

// position is how Jinja2's messages name a line of the template.
func (c *compiler) position(line int32) string {
	s := fmt.Sprintf("line %d", line)
	if !c.t.anonymous {
		s += " in " + value.QuoteStr(c.t.Name)
	}
	return s
}

func (c *compiler) profile(n *sProfile, fr *cframe) stmt {
	c.line = n.line
	label, mark := c.expr(n.label, fr), c.marked()
	body := c.stmts(n.body, fr)
	hook := c.env.opts.Profile
	return func(f *frame) (ctl, error) {
		l, err := label(f)
		if err != nil {
			return goOn, mark(err)
		}
		if hook == nil {
			return body(f)
		}
		stop := hook(value.Str(l), n.source)
		k, err := body(f)
		if err == nil {
			stop()
		}
		return k, err
	}
}

// A selfRef is the "self" of a template: its blocks.
type selfRef struct{ st *State }

// GetItem returns the block of a name.
func (s *selfRef) GetItem(_ *State, key value.Value) (value.Value, bool, error) {
	name, _ := value.AsText(key)
	stack, ok := s.st.blocks[name]
	if !ok {
		return nil, false, nil
	}
	return &blockRef{name, s.st, stack, 0}, true, nil
}

// Repr prints the template's name.
func (s *selfRef) Repr() string { return "<TemplateReference " + s.st.tmpl.reprName() + ">" }

// TypeName is "TemplateReference".
func (s *selfRef) TypeName() string { return "TemplateReference" }

// ObjectTypeRepr names the type as undefined messages do.
func (s *selfRef) ObjectTypeRepr() string { return "jinja2.runtime.TemplateReference object" }

// A blockRef is a block that can be called: self.name or super.
type blockRef struct {
	name  string
	st    *State
	stack []*code
	i     int
}

// Call renders the block.
func (b *blockRef) Call(c *Call) (value.Value, error) {
	if len(c.Args)+c.Kw.Len() > 0 {
		return nil, value.Raise("TypeError", "BlockReference.__call__() takes 1 positional argument but %d were given", 1+len(c.Args)+c.Kw.Len())
	}
	w := b.st.run.writer()
	err := b.stack[b.i].run(b.st, w, nil, 0)
	s := w.done()
	if err != nil {
		return nil, err
	}
	if b.st.autoescape {
		return markupsafe.Markup(s), nil
	}
	return s, nil
}

// GetAttr returns super, the block that this one overrides.
func (b *blockRef) GetAttr(s *State, name string) (value.Value, bool, error) {
	switch name {
	case "super":
		if b.i+1 >= len(b.stack) {
			return noParent(s, b.name), true, nil
		}
		return &blockRef{b.name, b.st, b.stack, b.i + 1}, true, nil
	case "name":
		return b.name, true, nil
	}
	return nil, false, nil
}

// Truth is true.
func (b *blockRef) Truth() bool { return true }

// TypeName is "BlockReference".
func (b *blockRef) TypeName() string { return "BlockReference" }

// ObjectTypeRepr names the type as undefined messages do.
func (b *blockRef) ObjectTypeRepr() string { return "jinja2.runtime.BlockReference object" }

func noParent(s *State, name string) value.Value {
	return s.Undefined("super", "there is no parent block called "+value.QuoteStr(name)+".")
}

// A Module is what import binds: the exported names of a template.
type Module struct {
	Attrs *value.Map
	tmpl  *Template
	body  string
}

// newModule renders a template for its names.
func newModule(st *State, t *Template, off int32) (*Module, error) {
	w := st.run.writer()
	err := st.tmpl.root.run(st, w, t, off)
	body := w.done()
	st.run.keep(body)
	if err != nil {
		return nil, err
	}
	m := &Module{Attrs: value.NewMap(len(st.exported)), tmpl: st.tmpl, body: body}
	for _, name := range st.exported {
		m.Attrs.Set(name, st.vars[name])
	}
	return m, nil
}

func (m *Module) reprName() string { return m.tmpl.reprName() }

func (m *Module) exported() []string {
	var names []string
	for _, k := range m.Attrs.Keys() {
		names = append(names, k.(string))
	}
	return names
}

// GetAttr returns an exported name.
func (m *Module) GetAttr(_ *State, name string) (value.Value, bool, error) {
	v, ok := m.Attrs.Get(name)
	return v, ok, nil
}

// PyStr returns what the template rendered to.
func (m *Module) PyStr() string { return m.body }

// HTML returns what the template rendered to: it counts as escaped.
func (m *Module) HTML() string { return m.body }

// Repr prints the name.
func (m *Module) Repr() string { return "<TemplateModule " + m.reprName() + ">" }

// Truth is true.
func (m *Module) Truth() bool { return true }

// TypeName is "TemplateModule".
func (m *Module) TypeName() string { return "TemplateModule" }

// ObjectTypeRepr names the type as undefined messages do.
func (m *Module) ObjectTypeRepr() string { return "jinja2.environment.TemplateModule object" }

// A Namespace is what namespace() returns: an object whose attributes set can
// assign.
type Namespace struct{ Attrs *value.Map }

// GetAttr returns an attribute; a namespace has no others.
func (n *Namespace) GetAttr(_ *State, name string) (value.Value, bool, error) {
	v, ok := n.Attrs.Get(name)
	return v, ok, nil
}

// ReprParts prints the attributes.
func (n *Namespace) ReprParts(repr func(value.Value) string) string {
	return "<Namespace " + repr(n.Attrs) + ">"
}

// Truth is true.
func (n *Namespace) Truth() bool { return true }

// TypeName is "Namespace".
func (n *Namespace) TypeName() string { return "Namespace" }

// ObjectTypeRepr names the type as undefined messages do.
func (n *Namespace) ObjectTypeRepr() string { return "jinja2.utils.Namespace object" }

// private reports whether a name is not exported.
func private(name string) bool { return strings.HasPrefix(name, "_") }
