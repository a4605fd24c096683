package low

import (
	"strings"

	"brine/internal/py/value"
)

// A ref is a state of an ID.
type ref struct{ id, state string }

// index finds states by what requisites call them. It may name too many after
// changes; find checks each.
type index struct {
	byValue map[stateValue][]string // state and value of an argument → IDs
	bySLS   map[string][]ref
	byName  map[string]ref // name argument → the first state that has it
}

type stateValue struct{ state, val string }

func (w *work) ix() *index {
	if w.index != nil {
		return w.index
	}
	ix := &index{byValue: map[stateValue][]string{}, bySLS: map[string][]ref{}, byName: map[string]ref{}}
	w.index = ix
	w.states(func(id string, body *value.Map, state string, args *value.List) {
		if sls, ok := body.At("__sls__").(string); ok {
			ix.bySLS[sls] = append(ix.bySLS[sls], ref{id, state})
		}
		for _, a := range args.Items {
			ix.add(id, state, a)
			if m, ok := a.(*value.Map); ok {
				if name, ok := m.At("name").(string); ok {
					if _, known := ix.byName[name]; !known {
						ix.byName[name] = ref{id, state}
					}
				}
			}
		}
	})
	return ix
}

// add notes an argument of a state.
func (ix *index) add(id, state string, arg value.Value) {
	_, v, ok := single(arg)
	s, isText := v.(string)
	if !ok || !isText {
		return
	}
	k := stateValue{state, s}
	if ids := ix.byValue[k]; len(ids) == 0 || ids[len(ids)-1] != id {
		ix.byValue[k] = append(ids, id)
	}
}

// note keeps the index right after arg was put into a state.
func (w *work) note(id, state string, arg value.Value) {
	if w.index != nil {
		w.index.add(id, state, arg)
	}
}

// find returns the states that a requisite "state: name" means: the one of that
// ID, else all of that kind that have name as the value of an argument.
// Salt: find_name.
func (w *work) find(name, state string) []ref {
	if b := w.body(name); b != nil && !strings.HasPrefix(name, "__") && b.Has(state) {
		return []ref{{name, state}}
	}
	var refs []ref
	seen := map[string]bool{}
	for _, id := range w.ix().byValue[stateValue{state, name}] {
		if !seen[id] && hasValue(w.body(id), state, name) {
			seen[id] = true
			refs = append(refs, ref{id, state})
		}
	}
	return refs
}

func hasValue(body *value.Map, state, val string) bool {
	args, _ := body.At(state).(*value.List)
	for i := range args.Len() {
		if _, v, ok := single(args.Items[i]); ok && v == val {
			return true
		}
	}
	return false
}

// ids returns the names of all IDs, for hints.
func (w *work) ids() []string {
	names := make([]string, 0, w.data.Len())
	for k := range w.data.All() {
		if id, ok := k.(string); ok && !strings.HasPrefix(id, "__") {
			names = append(names, id)
		}
	}
	return names
}
