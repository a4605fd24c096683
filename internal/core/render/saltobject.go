package render

import (
	"context"
	"errors"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/jinja"
	"brine/internal/py/jinja/markupsafe"
	"brine/internal/py/value"
)

// saltObject is the variable salt: the execution functions. It is a dict of
// functions, whose modules are attributes too: salt['x.y'], salt.x.y and
// salt.get('x.y') are the same.
type saltObject struct{ env *fun.Env }

var (
	_ value.Mapping    = (*saltObject)(nil)
	_ jinja.AttrGetter = (*saltObject)(nil)
	_ jinja.ItemGetter = (*saltObject)(nil)
)

// TypeName is what messages about missing functions name.
func (o *saltObject) TypeName() string { return "salt.utils.templates.AliasedLoader" }

// Repr prints as Python prints the object, without an address.
func (o *saltObject) Repr() string { return "<salt.utils.templates.AliasedLoader object>" }

// Get returns the function of a name.
func (o *saltObject) Get(key value.Value) (value.Value, bool) {
	name, ok := key.(string)
	if !ok || !strings.Contains(name, ".") {
		return nil, false
	}
	if _, _, err := o.env.Find(fun.Exec, name); err != nil {
		return nil, false
	}
	return o.function(name), true
}

// Keys returns the names of all functions.
func (o *saltObject) Keys() []value.Value {
	names := o.env.Table.Names(fun.Exec)
	keys := make([]value.Value, len(names))
	for i, n := range names {
		keys[i] = n
	}
	return keys
}

// Len returns the number of functions.
func (o *saltObject) Len() int { return len(o.env.Table.Names(fun.Exec)) }

// GetItem returns a function, or false where there is none of the name.
func (o *saltObject) GetItem(s *jinja.State, key value.Value) (value.Value, bool, error) {
	if v, ok := o.Get(key); ok {
		return v, true, nil
	}
	if name, ok := key.(string); ok {
		// Jinja asks for the attribute where there is no item.
		return o.GetAttr(s, name)
	}
	return nil, false, nil
}

// GetAttr returns a module, or one of the methods of a dict.
func (o *saltObject) GetAttr(_ *jinja.State, name string) (value.Value, bool, error) {
	switch name {
	case "get":
		return &jinja.Callable{Name: "get", Fn: func(c *jinja.Call) (value.Value, error) {
			if len(c.Args) == 0 {
				return nil, value.Raise("TypeError", "get() missing 1 required positional argument: 'key'")
			}
			if v, ok := o.Get(plain(c.Args[0])); ok {
				return v, nil
			}
			if len(c.Args) > 1 {
				return c.Args[1], nil
			}
			return c.Kw.At("default"), nil
		}}, true, nil
	case "keys":
		return &jinja.Callable{Name: "keys", Fn: func(*jinja.Call) (value.Value, error) { return value.NewList(o.Keys()...), nil }}, true, nil
	}
	if strings.Contains(name, ".") {
		return nil, false, nil
	}
	if mod, _ := o.env.Provider(fun.Exec, name); mod == nil {
		return nil, false, nil
	}
	return &moduleObject{o, name}, true, nil
}

// AttrNames returns the names of the functions, or of the modules where the
// wrong name has no dot.
func (o *saltObject) AttrNames(wrong string) []string {
	if strings.Contains(wrong, ".") {
		return o.env.Table.Names(fun.Exec)
	}
	return o.env.Table.Modules(fun.Exec)
}

// function returns what calls an execution function.
func (o *saltObject) function(name string) value.Value {
	return &jinja.Callable{Name: name[strings.LastIndexByte(name, '.')+1:], Fn: func(c *jinja.Call) (value.Value, error) {
		return c.State.Untimed(func() (value.Value, error) { return invoke(c.State.Context(), o.env, name, c.Args, c.Kw) })
	}}
}

// moduleObject is salt.x: the functions of one module.
type moduleObject struct {
	salt *saltObject
	name string
}

// TypeName is what messages about missing functions name.
func (m *moduleObject) TypeName() string { return "salt.loader.lazy.LoadedMod" }

// Repr prints as Python prints the object, without an address.
func (m *moduleObject) Repr() string { return "<LoadedMod module='salt.loaded." + m.name + "'>" }

// GetAttr returns a function.
func (m *moduleObject) GetAttr(_ *jinja.State, name string) (value.Value, bool, error) {
	v, ok := m.salt.Get(m.name + "." + name)
	return v, ok, nil
}

// AttrNames returns the names of the functions.
func (m *moduleObject) AttrNames(string) []string {
	mod, _ := m.salt.env.Provider(fun.Exec, m.name)
	if mod == nil {
		return nil
	}
	names := make([]string, len(mod.Specs))
	for i := range mod.Specs {
		names[i] = mod.Specs[i].Name
	}
	return names
}

// GetItem returns a function: Jinja takes an attribute for a missing item.
func (m *moduleObject) GetItem(s *jinja.State, key value.Value) (value.Value, bool, error) {
	if name, ok := key.(string); ok {
		return m.GetAttr(s, name)
	}
	return nil, false, nil
}

// invoke calls an execution function for a template. Its faults become those
// that Python would raise.
func invoke(ctx context.Context, env *fun.Env, name string, args []value.Value, kw *value.Map) (value.Value, error) {
	a := fun.Args{Pos: make([]value.Value, len(args)), Kw: value.NewMap(kw.Len())}
	for i, v := range args {
		a.Pos[i] = plain(v)
	}
	for k, v := range kw.All() {
		a.Kw.Set(k, plain(v))
	}
	res, err := env.Invoker.Invoke(ctx, fun.Exec, name, a)
	if err != nil {
		return nil, pythonError(err)
	}
	return res.Value, nil
}

// A callError is the fault of a function, as Python raises it; the cause stays
// reachable.
type callError struct {
	py    *value.PyError
	cause error
}

func (e *callError) Error() string   { return e.py.Msg }
func (e *callError) Unwrap() []error { return []error{e.py, e.cause} }

func pythonError(err error) error {
	var (
		py  *value.PyError
		cmd *fun.CommandError
		arg *fun.ArgError
		inv *fun.InvocationError
		nf  *fun.NotFoundError
	)
	switch {
	case errors.As(err, &inv):
		return &callError{&value.PyError{Type: "SaltInvocationError", Msg: inv.Msg}, err}
	case errors.As(err, &cmd):
		return &callError{&value.PyError{Type: "CommandExecutionError", Msg: cmd.Error()}, err}
	case errors.As(err, &arg):
		return &callError{&value.PyError{Type: "TypeError", Msg: arg.Error()}, err}
	case errors.As(err, &nf):
		return &callError{&value.PyError{Type: "KeyError", Msg: value.Repr(nf.Name)}, err}
	case errors.As(err, &py):
		return err
	}
	return err
}

// plain makes text that a template marked safe plain text again, in place, so
// that functions see only values. Containers keep their identity: functions
// such as defaults.merge change what they are given.
func plain(v value.Value) value.Value {
	var p plainer
	return p.value(v, 0)
}

// A plainer remembers, below the first levels, what it has been to: data may
// contain itself.
type plainer struct{ seen map[value.Value]bool }

// been reports whether the walk has been to a container.
func (p *plainer) been(v value.Value, depth int) bool {
	if p.seen == nil {
		if depth < 8 {
			return false
		}
		p.seen = map[value.Value]bool{}
	}
	if p.seen[v] {
		return true
	}
	p.seen[v] = true
	return false
}

func (p *plainer) value(v value.Value, depth int) value.Value {
	switch v := v.(type) {
	case markupsafe.Markup:
		return string(v)
	case *value.List:
		if !p.been(v, depth) {
			for i, x := range v.Items {
				if y := p.value(x, depth+1); needsSet(x) {
					v.Items[i] = y
				}
			}
		}
	case value.Tuple:
		for i, x := range v {
			if y := p.value(x, depth+1); needsSet(x) {
				v[i] = y
			}
		}
	case *value.Map:
		if !p.been(v, depth) {
			for k, x := range v.All() {
				if y := p.value(x, depth+1); needsSet(x) {
					v.Set(k, y)
				}
			}
		}
	}
	return v
}

func needsSet(v value.Value) bool {
	_, ok := v.(markupsafe.Markup)
	return ok
}

// Salt returns what templates see as salt: the execution functions.
func (e *Engine) Salt() value.Value { return e.salt }
