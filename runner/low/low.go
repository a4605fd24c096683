// Package low turns high data into low chunks: the calls of a run, in order.
//
// [Compiler.Compile] is the way to a run: extend, checks, the requisites that
// states hand to others (require_in, use and so on), exclude, then one [fun.Chunk]
// a state and name, sorted. [Show] makes chunks of high data as it stands, as
// state.show_low_sls does, and [Compiler.Lowstate] those of state.show_lowstate.
//
// Every step is linear in the states and requisites: what names a state is
// found by index.
//
// Salt: salt/state.py State.call_high, compile_high_data.
package low

import (
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/runner/high"
)

// A Compiler compiles high data. The zero one is ready.
type Compiler struct {
	OrchJID  string   // jid of the orchestration that the run is a step of
	Disabled []string // requisites that are ignored (disabled_requisites)
	// Warn, if not nil, is called with what Salt accepts silently.
	Warn func(fun.Warning)
}

// Compile returns the chunks of a run in the order of their execution. h is
// left as it is. The error is a source.List of all faults of the first step
// that found some: extend and structure, then requisites of others.
func (c *Compiler) Compile(h *high.High) ([]*fun.Chunk, error) {
	w := c.open(h)
	w.defaultCalls()
	w.extend(w.takeExtend(), false)
	w.faults = append(w.faults, w.high.Verify()...)
	if len(w.faults) > 0 {
		return nil, w.faults
	}
	w.requisitesIn()
	w.exclude()
	if len(w.faults) > 0 {
		return nil, w.faults
	}
	return w.chunks()
}

// Lowstate returns the chunks as state.show_lowstate shows them; the error has
// the faults of all steps. rendering is the faults there were before.
func (c *Compiler) Lowstate(h *high.High, rendering source.Errors) ([]*fun.Chunk, error) {
	w := c.open(h)
	w.faults = append(w.faults, rendering...)
	w.extend(w.takeExtend(), false)
	w.faults = append(w.faults, w.high.Verify()...)
	w.requisitesIn()
	w.exclude()
	if len(w.faults) > 0 {
		return nil, w.faults
	}
	return w.chunks()
}

// Show returns the chunks of high data before extend, exclude, use and the _in
// requisites are applied, as state.show_low_sls shows them. h must have been
// verified.
func Show(h *high.High) ([]*fun.Chunk, error) {
	w := (&Compiler{}).open(h)
	return w.chunks()
}

// work is high data under change: what is changed is copied first.
type work struct {
	c      *Compiler
	high   *high.High
	data   *value.Map
	faults source.Errors
	bodies map[string]bool      // IDs whose map is ours
	lists  map[*value.List]bool // lists that are ours
	index  *index
}

func (c *Compiler) open(h *high.High) *work {
	own := h.Copy()
	return &work{c: c, high: own, data: own.Data, bodies: map[string]bool{}, lists: map[*value.List]bool{}}
}

func (w *work) fault(body *value.Map, pos source.Pos, hint, salt string) {
	w.faults = append(w.faults, w.high.Fault(body, pos, hint, salt))
}

func (w *work) warn(pos source.Pos, text string) {
	if w.c.Warn != nil {
		w.c.Warn(fun.Warning{Where: pos.String(), Text: text})
	}
}

// body returns the map of an ID, or nil.
func (w *work) body(id string) *value.Map { return w.data.Map(id) }

// ownBody returns the map of an ID for changing.
func (w *work) ownBody(id string) *value.Map {
	b := w.body(id)
	if b != nil && !w.bodies[id] {
		b = b.Copy()
		w.data.Set(id, b)
		w.bodies[id] = true
	}
	return b
}

// ownList returns l, or a copy of it that set puts in l's place.
func (w *work) ownList(l *value.List, set func(*value.List)) *value.List {
	if w.lists[l] {
		return l
	}
	l = l.Copy(4)
	w.lists[l] = true
	set(l)
	return l
}

// args returns the arguments of a state for changing.
func (w *work) args(id, state string) *value.List {
	l, _ := w.body(id).At(state).(*value.List)
	if l == nil {
		return nil
	}
	return w.ownList(l, func(l *value.List) { w.ownBody(id).Set(state, l) })
}

// states ranges over all states that are lists of arguments, in order.
func (w *work) states(yield func(id string, body *value.Map, state string, args *value.List)) {
	for k, v := range w.data.All() {
		id, ok := k.(string)
		body, isMap := v.(*value.Map)
		if !ok || !isMap || strings.HasPrefix(id, "__") {
			continue
		}
		for k, v := range body.All() {
			state, ok := k.(string)
			args, isList := v.(*value.List)
			if ok && isList && !strings.HasPrefix(state, "__") {
				yield(id, body, state, args)
			}
		}
	}
}

// firstState returns the first state of an ID, or "".
func firstState(body *value.Map) string {
	for k, v := range body.All() {
		state, ok := k.(string)
		if _, isList := v.(*value.List); ok && isList && !strings.HasPrefix(state, "__") {
			return state
		}
	}
	return ""
}

// single returns the key and value of an argument, a map of one entry.
func single(arg value.Value) (key string, val value.Value, ok bool) {
	m, ok := arg.(*value.Map)
	if !ok || m.Len() != 1 {
		return "", nil, false
	}
	k, val := m.Entry(0)
	key, ok = k.(string)
	return key, val, ok
}

// first returns the first key of an argument.
func first(arg value.Value) string {
	m, ok := arg.(*value.Map)
	if !ok || m.Len() == 0 {
		return ""
	}
	k, _ := m.Entry(0)
	key, _ := k.(string)
	return key
}

// defaultCall is the function of a state that names none.
const defaultCall = "__call__"

// defaultCalls gives that function to all states without one.
// Salt: State.inject_default_call.
func (w *work) defaultCalls() {
	type ref struct{ id, state string }
	var refs []ref
	w.states(func(id string, _ *value.Map, state string, args *value.List) {
		for _, a := range args.Items {
			if _, ok := a.(string); ok {
				return
			}
		}
		refs = append(refs, ref{id, state})
	})
	for _, r := range refs {
		w.args(r.id, r.state).Append(defaultCall)
	}
}

// exclude takes out the states that __exclude__ names by ID or by SLS.
// Salt: State.apply_exclude.
func (w *work) exclude() {
	list, _ := w.data.At("__exclude__").(*value.List)
	if !w.data.Has("__exclude__") {
		return
	}
	var globs []string
	names, ids := map[string]bool{}, map[string]bool{}
	bySLS := func(s string) {
		if value.HasGlob(s) {
			globs = append(globs, s)
		} else {
			names[s] = true
		}
	}
	for i := range list.Len() {
		if s, ok := list.Items[i].(string); ok {
			bySLS(s)
			continue
		}
		key, v, ok := single(list.Items[i])
		if s, isText := v.(string); ok && isText {
			switch key {
			case "sls":
				bySLS(s)
			case "id":
				ids[s] = true
			}
		}
	}
	out := value.NewMap(w.data.Len())
	for k, v := range w.data.All() {
		id, _ := k.(string)
		if id == "__exclude__" || ids[id] {
			continue
		}
		if body, ok := v.(*value.Map); ok && !strings.HasPrefix(id, "__") {
			sls, _ := body.At("__sls__").(string)
			if sls != "" && (names[sls] || matchAny(globs, sls)) {
				continue
			}
		}
		out.Set(k, v)
	}
	w.data = out
	w.high.Data = out
	w.index = nil
}

// excludedSLS returns the SLS files that __exclude__ names in full.
func (w *work) excludedSLS() map[string]bool {
	list, _ := w.data.At("__exclude__").(*value.List)
	var names map[string]bool
	for i := range list.Len() {
		name, ok := list.Items[i].(string)
		if m, isMap := list.Items[i].(*value.Map); isMap {
			name, ok = m.At("sls").(string)
		}
		if ok {
			if names == nil {
				names = map[string]bool{}
			}
			names[name] = true
		}
	}
	return names
}

func matchAny(globs []string, s string) bool {
	for _, g := range globs {
		if value.Fnmatch(g, s) {
			return true
		}
	}
	return false
}
