package low

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// chunks makes the low chunks of all states and sorts them.
// Salt: State.compile_high_data.
func (w *work) chunks() ([]*fun.Chunk, error) {
	out := make([]*fun.Chunk, 0, w.data.Len())
	w.states(func(id string, body *value.Map, state string, args *value.List) {
		pos := w.high.Pos(id)
		low, funs, names := w.parts(id, body, state, args)
		if len(names) == 0 {
			for i, fn := range funs {
				if i > 0 {
					low = low.Copy()
				}
				out = append(out, chunk(low, fn, id, pos))
			}
			return
		}
		for n, entry := range names {
			live := value.Clone(low).(*value.Map)
			w.named(live, entry, body, pos)
			live.Set("name_order", int64(n+1))
			for _, fn := range funs {
				out = append(out, chunk(live, fn, id, pos))
			}
		}
	})
	if len(w.faults) > 0 {
		return nil, w.faults
	}
	sortChunks(out)
	return out, nil
}

// parts returns what the chunks of a state have in common, and the functions
// and names that there is a chunk for each of.
func (w *work) parts(id string, body *value.Map, state string, args *value.List) (low *value.Map, funs []string, names []value.Value) {
	low = value.NewMap(6 + args.Len())
	low.Set("state", state)
	low.Set("name", id)
	if w.c.OrchJID != "" {
		low.Set("__orchestration_jid__", w.c.OrchJID)
	}
	for _, key := range []string{"__sls__", "__env__"} {
		if v, ok := body.Get(key); ok {
			low.Set(key, v)
		}
	}
	low.Set("__id__", id)
	for _, a := range args.Items {
		switch a := a.(type) {
		case string:
			if !slices.Contains(funs, a) {
				funs = append(funs, a)
			}
		case *value.Map:
			for k, v := range a.All() {
				switch {
				case k == "names":
					names = addNames(names, v)
				case k == "state":
					// A state cannot be another one by an argument.
				case k == "name" && !isText(v):
					low.Set(k, id)
					w.warnName(id, state, v, a.Pos(k))
				default:
					low.Set(k, own(k, v))
					low.SetPos(k, a.Pos(k))
				}
			}
		}
	}
	return low, funs, names
}

// warnName warns of a name that is a list or mapping: the ID stands for it, as in Salt.
func (w *work) warnName(id, state string, v value.Value, pos source.Pos) {
	switch v.(type) {
	case *value.List, *value.Map:
		several := "names"
		if state == "pkg" {
			several = "pkgs"
		}
		w.warn(pos, fmt.Sprintf("name is %s, so the ID %q is the name; for several, write a list of %s", value.Kind(v), id, several))
	}
}

// own returns a value that a state may change: a copy, except of requisites,
// which no state sees.
func own(key, v value.Value) value.Value {
	if k, ok := key.(string); ok && (requisites[k] || givingArgs[k]) {
		return v
	}
	return value.Clone(v)
}

func isText(v value.Value) bool {
	_, ok := v.(string)
	return ok
}

func chunk(low *value.Map, fn, id string, pos source.Pos) *fun.Chunk {
	low.Set("fun", fn)
	return &fun.Chunk{
		State: low.Str("state"), Fun: fn, ID: id, Name: value.Str(low.At("name")),
		SLS: low.Str("__sls__"), SaltEnv: low.Str("__env__"), Low: low, Pos: pos,
	}
}

// addNames appends the entries of a names argument that are new.
func addNames(names []value.Value, v value.Value) []value.Value {
	l, ok := v.(*value.List)
	if !ok {
		return names
	}
	seen := make(map[string]bool, len(names)+l.Len())
	for _, x := range names {
		if s, ok := x.(string); ok {
			seen[s] = true
		}
	}
	for _, x := range l.Items {
		if s, ok := x.(string); ok {
			if seen[s] {
				continue
			}
			seen[s] = true
		} else if slices.ContainsFunc(names, func(y value.Value) bool { return !isText(y) && value.Equal(x, y) }) {
			continue
		}
		names = append(names, x)
	}
	return names
}

// named sets the name, and the arguments of its own, that an entry of names
// gives: "name" or "name: [{argument: value}, ...]".
func (w *work) named(live *value.Map, entry value.Value, body *value.Map, pos source.Pos) {
	m, ok := entry.(*value.Map)
	if !ok {
		live.Set("name", entry)
		return
	}
	if m.Len() == 0 {
		return
	}
	name, v := m.Entry(0)
	live.Set("name", name)
	set := func(args *value.Map) {
		for k, v := range args.All() {
			live.Set(k, value.Clone(v))
			live.SetPos(k, args.Pos(k))
		}
	}
	switch args := v.(type) {
	case nil:
	case *value.Map:
		set(args)
	case *value.List:
		for _, a := range args.Items {
			if args, ok := a.(*value.Map); ok {
				set(args)
			}
		}
	default:
		if p := m.Pos(name); !p.IsZero() {
			pos = p
		}
		w.fault(body, pos, `write the arguments of a name as a list: "- `+value.Str(name)+`: [{argument: value}]"`,
			fmt.Sprintf("The arguments of name '%s' in SLS '%s' are not formed as a list", value.Str(name), text(body, "__sls__")))
	}
}

// lastOrder is added to the order of what is to come last.
const lastOrder = 1000000

// sortChunks turns the order of each chunk into a number and sorts by it, then
// by state, name and function.
//
// A chunk without an order comes after all that have a positive whole one, as
// does "last", far after; "first" is 0, and a negative order counts from the
// end.
// Salt: State.order_chunks.
func sortChunks(chunks []*fun.Chunk) {
	limit := int64(1)
	for _, c := range chunks {
		if n, ok := value.AsInt(c.Low.At("order")); ok && n > limit-1 && n > 0 {
			limit = n + 100
		}
	}
	keys := make([]sortKey, len(chunks))
	for i, c := range chunks {
		keys[i] = sortKey{setOrder(c.Low, limit), strings.Join([]string{c.State, c.Name, c.Fun}, ""), c}
	}
	slices.SortStableFunc(keys, func(a, b sortKey) int {
		return cmp.Or(cmp.Compare(a.order, b.order), strings.Compare(a.text, b.text))
	})
	for i := range keys {
		chunks[i] = keys[i].chunk
	}
}

type sortKey struct {
	order float64
	text  string
	chunk *fun.Chunk
}

// setOrder makes the order of a chunk a number and returns it.
func setOrder(low *value.Map, limit int64) float64 {
	v, ok := low.Get("order")
	if !ok {
		low.Set("order", limit)
		return float64(limit)
	}
	if b, ok := v.(bool); ok {
		v, _ = value.AsInt(b)
	}
	switch x := v.(type) {
	case int64, float64:
	case string:
		switch x {
		case "last":
			v = limit + lastOrder
		case "first":
			v = int64(0)
		default:
			v = limit
		}
	default:
		v = limit
	}
	if n, ok := low.At("name_order").(int64); ok {
		low.Delete("name_order")
		part := float64(n) / 10000
		if i, ok := v.(int64); ok {
			v = float64(i) + part
		} else {
			v = v.(float64) + part
		}
	}
	f := 0.0
	switch x := v.(type) {
	case int64:
		if x < 0 {
			x += limit + lastOrder
		}
		v, f = x, float64(x)
	case float64:
		if x < 0 {
			x += float64(limit + lastOrder)
		}
		v, f = x, x
	}
	low.Set("order", v)
	return f
}

// Unknown returns a fault for each chunk whose state function is not in the
// table, with the nearest name. Salt finds out when it runs the chunk, and so
// does a run here; these say where it was written.
func Unknown(t *fun.Table, h interface {
	Fault(*value.Map, source.Pos, string, string) *source.Error
}, chunks []*fun.Chunk,
) source.Errors {
	var faults source.Errors
	known := map[string]bool{}
	for _, c := range chunks {
		name := c.State + "." + c.Fun
		ok, seen := known[name]
		if !seen {
			_, _, ok = t.Lookup(fun.State, name)
			if !ok && c.Fun == "mod_watch" {
				mod, has := t.Module(fun.State, c.State)
				ok = has && mod.Watch != nil
			}
			known[name] = ok
		}
		if ok {
			continue
		}
		missing := t.NotFound(fun.State, name)
		text := fmt.Sprintf("unknown state function %q", name)
		if missing.InSalt {
			text = fmt.Sprintf("state function %q of Salt is not available in brine", name)
		}
		faults = append(faults, h.Fault(c.Low, c.Pos, missing.Hint(), text))
	}
	return faults
}

// Invalid returns a fault for each chunk with arguments that its state function
// does not have and does not take either. Salt refuses such a run.
// Salt: salt/utils/args.py format_call.
func Invalid(t *fun.Table, h interface {
	Fault(*value.Map, source.Pos, string, string) *source.Error
}, chunks []*fun.Chunk,
) source.Errors {
	var faults source.Errors
	for _, c := range chunks {
		spec := t.Spec(fun.State, c.State+"."+c.Fun)
		if spec == nil {
			continue
		}
		names := dispatch.Unknown(spec, c.Low)
		if len(names) == 0 {
			continue
		}
		pos := c.Low.Pos(names[0])
		if pos.IsZero() {
			pos = c.Pos
		}
		hint := fmt.Sprintf("'brine doc %s.%s' lists its arguments", c.State, c.Fun)
		if near := dispatch.Suggest(spec, names[0]); near != "" {
			hint = fmt.Sprintf("did you mean %q? %s", near, hint)
		}
		faults = append(faults, h.Fault(c.Low, pos, hint, dispatch.InvalidKeywords(names, c.State+"."+c.Fun)))
	}
	return faults
}
