package star

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/lib/json"
	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"brine/internal/py/value"
)

func jsonModule() starlark.Value { return json.Module }

// retcode takes what a function has set as its return code. What a function that
// this one calls sets counts for this one, too.
func (c *child) retcode(answer *value.Map) error {
	ctx := c.context()
	const key = starlark.String("retcode")
	v, found, err := ctx.Get(key)
	if err != nil || !found {
		return err
	}
	if len(c.running) == 0 {
		if _, _, err := ctx.Delete(key); err != nil {
			return err
		}
	}
	if n, ok := v.(starlark.Int); ok {
		code, _ := n.Int64()
		answer.Set("retcode", code)
	} else if v.Truth() {
		answer.Set("retcode", int64(1))
	}
	return nil
}

// adopt takes over the return code of a function of brine.
func (c *child) adopt(answer *value.Map) {
	if code, ok := value.AsInt(answer.At("retcode")); ok {
		// A key that is a string is hashable, and the dict is not frozen; while it
		// is walked through, it keeps what it has.
		_ = c.context().SetKey(starlark.String("retcode"), starlark.MakeInt64(code))
	}
}

// functions are those of brine and of the tree by name, as __salt__ is.
type functions struct {
	c     *child
	kind  string
	known map[string]starlark.Value
}

func (f *functions) String() string        { return "<functions>" }
func (f *functions) Type() string          { return "functions" }
func (f *functions) Freeze()               {}
func (f *functions) Truth() starlark.Bool  { return true }
func (f *functions) Hash() (uint32, error) { return 0, errors.New("unhashable type: functions") }

// Get returns a function.
func (f *functions) Get(k starlark.Value) (starlark.Value, bool, error) {
	name, ok := starlark.AsString(k)
	if !ok {
		return nil, false, fmt.Errorf("the name of a function is a string, not %s", k.Type())
	}
	fn, err := f.find(name)
	if err == nil && fn == nil {
		err = &raised{"KeyError", "unknown function " + name}
	}
	return fn, err == nil, err
}

// find returns a function, nil where there is none.
func (f *functions) find(name string) (starlark.Value, error) {
	if fn := f.known[name]; fn != nil {
		return fn, nil
	}
	there, err := f.c.ask(value.MapOf("op", "has", "kind", f.kind, "name", name))
	if err != nil || !value.Truth(there) {
		return nil, err
	}
	fn := starlark.NewBuiltin(name, f.call)
	f.known[name] = fn
	return fn, nil
}

// call calls a function of brine or of the tree.
func (f *functions) call(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	pos, kw := &value.List{}, value.NewMap(len(kwargs))
	for _, a := range args {
		v, err := fromStarlark(a)
		if err != nil {
			return nil, err
		}
		pos.Append(v)
	}
	for _, a := range kwargs {
		v, err := fromStarlark(a[1])
		if err != nil {
			return nil, err
		}
		kw.Set(text(a[0]), v)
	}
	answer, err := f.c.ask(value.MapOf("op", "invoke", "kind", f.kind, "name", b.Name(), "args", pos, "kwargs", kw, "test", f.c.test))
	if err != nil {
		return nil, err
	}
	return toStarlark(answer)
}

// Attr returns get, keys, or the functions of a module: salt.test.ping().
func (f *functions) Attr(name string) (starlark.Value, error) {
	switch name {
	case "get":
		return starlark.NewBuiltin("get", f.get), nil
	case "keys":
		return starlark.NewBuiltin("keys", f.keys), nil
	}
	if strings.HasPrefix(name, "_") {
		return nil, nil
	}
	return &functionsOf{f, name}, nil
}

// AttrNames returns the attributes that are not modules.
func (f *functions) AttrNames() []string { return []string{"get", "keys"} }

func (f *functions) get(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var name string
	var otherwise starlark.Value = starlark.None
	if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 1, &name, &otherwise); err != nil {
		return nil, err
	}
	fn, err := f.find(name)
	if fn == nil {
		fn = otherwise
	}
	return fn, err
}

func (f *functions) keys(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 0); err != nil {
		return nil, err
	}
	answer, err := f.c.ask(value.MapOf("op", "names", "kind", f.kind))
	if err != nil {
		return nil, err
	}
	return toStarlark(answer)
}

// functionsOf are the functions of one module.
type functionsOf struct {
	f    *functions
	name string
}

func (m *functionsOf) String() string        { return "<module " + m.name + ">" }
func (m *functionsOf) Type() string          { return "module" }
func (m *functionsOf) Freeze()               {}
func (m *functionsOf) Truth() starlark.Bool  { return true }
func (m *functionsOf) Hash() (uint32, error) { return 0, errors.New("unhashable type: module") }
func (m *functionsOf) AttrNames() []string   { return nil }

// Attr returns a function of the module.
func (m *functionsOf) Attr(name string) (starlark.Value, error) {
	fn, _, err := m.f.Get(starlark.String(m.name + "." + name))
	return fn, err
}

// A raised is an error of brine's function, or of fail, as an exception.
type raised struct{ typ, msg string }

func (r *raised) Error() string { return r.msg }

// fail ends a function with an error.
func fail(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	sep := " "
	if err := starlark.UnpackArgs("fail", nil, kwargs, "sep?", &sep); err != nil {
		return nil, err
	}
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = text(a)
	}
	return nil, &raised{"salt.exceptions.CommandExecutionError", strings.Join(words, sep)}
}

// failure is the answer that tells an error.
func failure(err error) *value.Map {
	const maxText, maxFrames = 1 << 20, 12
	out := value.MapOf("op", "err", "type", "StarlarkError")
	msg := err.Error()
	var (
		ee *starlark.EvalError
		se syntax.Error
		re resolve.ErrorList
		r  *raised
		pe *value.PyError
	)
	switch {
	case errors.As(err, &se):
		msg = se.Msg
		out.Set("type", "SyntaxError")
		out.Set("place", se.Pos.String())
	case errors.As(err, &re) && len(re) > 0:
		out.Set("type", "NameError")
		out.Set("place", re[0].Pos.String())
		msgs := make([]string, 0, 4)
		for i, e := range re {
			if i == 3 {
				msgs = append(msgs, fmt.Sprintf("and %d more", len(re)-i))
				break
			}
			msgs = append(msgs, e.Msg)
		}
		msg = strings.Join(msgs, "; ")
	case errors.As(err, &r):
		msg = r.msg
		out.Set("type", r.typ)
	case errors.As(err, &pe):
		out.Set("type", pe.Type)
	}
	if errors.As(err, &ee) {
		var lines []string
		callers := &value.List{}
		for _, f := range ee.CallStack {
			if f.Pos.Line == 0 { // a builtin function
				continue
			}
			if len(lines) > 0 {
				callers.Append(out.At("place"))
			}
			out.Set("place", f.Pos.String())
			lines = append(lines, fmt.Sprintf("  %s: in %s", f.Pos, f.Name))
		}
		slices.Reverse(callers.Items)
		callers.Items = callers.Items[:min(maxFrames, callers.Len())]
		out.Set("callers", callers)
		out.Set("tb", strings.Join(lines[max(0, len(lines)-maxFrames):], "\n"))
		msg = strings.TrimPrefix(msg, "Starlark computation cancelled: ")
	}
	if len(msg) > maxText {
		msg = msg[:maxText]
	}
	out.Set("msg", msg)
	return out
}
