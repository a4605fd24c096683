// Package high makes the high data of a run: it renders the SLS files that a
// caller or the top file names, follows their includes, and merges them into
// one map of id → state → arguments.
//
// Start with [New] and [Compiler.Render]; [Compiler.Top] and
// [Compiler.Matches] say what the top file gives this machine, and
// [High.Verify] checks the structure. Faults carry Salt's own text, the place
// in the SLS file and the chain of includes that led there. Package low goes on
// from here.
//
// Salt: salt/state.py BaseHighState, State.verify_high.
package high

import (
	"context"
	"errors"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/render"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// A Renderer turns an SLS file into data whose maps and lists know their
// places. Its errors are *source.Error (or source.List) with Salt's text.
type Renderer func(ctx context.Context, in render.Input) (value.Value, error)

// A Match is the SLS names (or globs of them) wanted of one environment.
type Match struct {
	SaltEnv string
	SLS     []string
}

// A High is high data.
type High struct {
	// Data is id → {state: [function, {argument: value}, ...], "__sls__",
	// "__env__"}, with "__extend__" and "__exclude__" lists as state.show_sls
	// shows them.
	Data *value.Map
	// Faults are what went wrong, in Salt's order.
	Faults source.Errors

	pos  map[string]source.Pos // of each ID, which may come from many files
	from map[string]*node      // "env:sls" → the file, for include chains
}

// FromData returns high data that did not come from SLS files. Short forms are
// taken, too: {id: "mod.fun"} and {id: {"mod.fun": [...]}}.
// Salt: Compiler.pad_funcs. Difference: state.high ends in a traceback there.
func FromData(data *value.Map) *High {
	out := data
	for i := range data.Len() {
		id, v := data.Entry(i)
		if long := longBody(v); long != v {
			if out == data {
				out = data.Copy()
			}
			out.Set(id, long)
		}
	}
	return &High{Data: out}
}

// longBody returns the body of an ID in long form; a body that already is, or
// is invalid, is returned unchanged.
func longBody(v value.Value) value.Value {
	body, ok := v.(*value.Map)
	if !ok {
		s, isText := v.(string)
		if mod, fn, dotted := strings.Cut(s, "."); isText && dotted {
			return value.MapOf(mod, value.NewList(fn))
		}
		return v
	}
	dotted := false
	out := value.NewMap(body.Len())
	for k, v := range body.All() {
		key, _ := k.(string)
		args, isList := v.(*value.List)
		mod, fn, ok := strings.Cut(key, ".")
		if !isList || !ok || strings.HasPrefix(key, "_") || body.Has(mod) || out.Has(mod) {
			out.Set(k, v)
			continue
		}
		dotted = true
		args = args.Copy(1)
		args.Append(fn)
		out.Set(mod, args)
	}
	if !dotted {
		return v
	}
	return out
}

// Pos returns the place where an ID was written, if it is known.
func (h *High) Pos(id string) source.Pos {
	if p, ok := h.pos[id]; ok {
		return p
	}
	return h.Data.Pos(id)
}

// Fault returns a fault with Salt's text at a place in the SLS of body, the
// map of an ID (it may be nil).
func (h *High) Fault(body *value.Map, pos source.Pos, hint, salt string) *source.Error {
	f := newFault(pos, hint, salt)
	if n := h.from[body.Str("__env__")+":"+body.Str("__sls__")]; n != nil {
		f.Via = n.via()
		if pos.IsZero() {
			f.Pos.File = n.path
		}
	}
	return f
}

// Texts returns Salt's texts of faults, as a list value.
func Texts(faults source.Errors) *value.List {
	l := &value.List{Items: make([]value.Value, len(faults))}
	for i, f := range faults {
		l.Items[i] = f.SaltText()
	}
	return l
}

// newFault returns a fault whose message is the first line of Salt's text.
func newFault(pos source.Pos, hint, salt string) *source.Error {
	msg, _, _ := strings.Cut(strings.TrimRight(salt, " \n"), "\n")
	return &source.Error{Pos: pos, Hint: hint, Salt: salt, Err: errors.New(msg)}
}

// option reads a configuration value.
func option(env *fun.Env, name string) value.Value {
	if env.Opts == nil {
		return nil
	}
	return env.Opts.At(name)
}

// Copy returns high data whose map can be changed without changing h's. The
// bodies of the IDs are shared.
func (h *High) Copy() *High {
	c := *h
	c.Data = h.Data.Copy()
	c.Faults = append(source.Errors(nil), h.Faults...)
	return &c
}
