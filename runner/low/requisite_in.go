package low

import (
	"fmt"
	"slices"
	"strings"

	"brine/internal/py/source"
	"brine/internal/py/value"
)

// givingArgs are the arguments by which a state gives something to others, or
// takes from them, while the run is compiled.
var givingArgs = map[string]bool{
	"require_in": true, "watch_in": true, "onfail_in": true, "onchanges_in": true,
	"use": true, "use_in": true, "prereq": true, "prereq_in": true,
}

// notUsed are the arguments that use and use_in do not copy.
func notUsed(key string) bool {
	switch key {
	case "name", "names", "require", "watch", "onfail", "onfail_stop", "onchanges":
		return true
	}
	return givingArgs[key]
}

// A handover collects what states get from others.
type handover struct {
	order []*extension
	byID  map[string]*extension
}

// to returns the arguments that a state will get.
func (h *handover) to(id, state string, body *value.Map, pos source.Pos) *stateArgs {
	e := h.byID[id]
	if e == nil {
		e = &extension{id: id, env: "base", sls: "base", pos: pos}
		h.byID[id] = e
		h.order = append(h.order, e)
	}
	if body != nil {
		e.env, e.sls, e.pos = text(body, "__env__"), text(body, "__sls__"), pos
		e.hasSLS = body.Has("__sls__")
	}
	for i := range e.states {
		if e.states[i].state == state {
			return &e.states[i]
		}
	}
	e.states = append(e.states, stateArgs{state: state, args: &value.List{}, byKey: map[string]*value.List{}})
	return &e.states[len(e.states)-1]
}

// require adds the requisite "key: [{state: id}]".
func (s *stateArgs) require(key, state, id string) {
	l := s.byKey[key]
	if l == nil {
		l = &value.List{}
		s.byKey[key] = l
		s.args.Append(value.MapOf(key, l))
	}
	l.Append(value.MapOf(state, id))
}

// requisitesIn applies the _in requisites and use, and notes on the targets of
// prereq that they are prerequired.
//
// What an item of a list hands over is handed over again with each item after
// it, as in Salt: reports show it (state.show_lowstate, the changes of
// test.mod_watch).
// Salt: State.requisite_in.
func (w *work) requisitesIn() {
	h := &handover{byID: map[string]*extension{}}
	w.states(func(id string, body *value.Map, state string, args *value.List) {
		for i, a := range args.Items {
			key := first(a)
			if !givingArgs[key] {
				continue
			}
			arg := a.(*value.Map)
			pos := arg.Pos(key)
			if pos.IsZero() {
				pos = args.PosAt(i)
			}
			if slices.Contains(w.c.Disabled, key) {
				w.warn(pos, fmt.Sprintf("The %s requisite has been disabled, Ignoring.", key))
				continue
			}
			g := giver{w: w, h: h, ref: ref{id, state}, body: body, key: key}
			g.rkey, _, _ = strings.Cut(key, "_")
			switch items := arg.At(key).(type) {
			case *value.Map:
				for k, v := range items.All() {
					g.pos = items.Pos(k)
					g.single(value.Str(k), value.Str(v))
				}
			case *value.List:
				g.once = items.Len() > maxRepeated || key == "use" || key == "use_in" // copied arguments show no difference
				for j, item := range items.Items {
					g.pos = items.PosAt(j)
					if g.pos.IsZero() {
						g.pos = pos
					}
					g.item(item)
				}
			default:
				w.warn(pos, fmt.Sprintf("%s of %q is not a list, so it says nothing", key, id))
			}
		}
	})
	w.extend(h.order, true)
}

// maxRepeated is the length of lists beyond which each item hands over once, or
// the work would grow with the square of the length.
const maxRepeated = 100

// A givenRef is a state that an item of a list names.
type givenRef struct {
	ref
	pos source.Pos
}

// A giver is a state with an argument that hands over.
type giver struct {
	w    *work
	h    *handover
	ref  ref
	body *value.Map
	key  string // require_in
	rkey string // require
	pos  source.Pos

	given []givenRef // of the items so far
	once  bool
}

// dotted reports a target that names a function, and returns its module.
func (g *giver) dotted(state, name string) string {
	mod, _, ok := strings.Cut(state, ".")
	if ok {
		g.w.fault(g.body, g.pos, "", fmt.Sprintf("Invalid requisite in %s: %s for %s, in SLS '%s'. Requisites must not contain dots, did you mean '%s'?",
			g.rkey, state, name, text(g.body, "__sls__"), mod))
	}
	return mod
}

// single hands over to "require_in: {state: name}".
func (g *giver) single(state, name string) {
	state = g.dotted(state, name)
	if g.rkey == "use" || g.rkey == "prereq" {
		g.give(name, state)
		return
	}
	g.h.to(name, state, g.body, g.pos).require(g.rkey, g.ref.state, g.ref.id)
}

// item hands over to one item of a list: "state: name", "sls: name", "id: name"
// or a bare ID or name.
func (g *giver) item(item value.Value) {
	var state, name string
	switch item := item.(type) {
	case *value.Map:
		if item.Len() == 0 {
			return
		}
		k, v := item.Entry(0)
		state, name = value.Str(k), value.Str(v)
	case string:
		r, ok := g.bare(item)
		if !ok {
			g.w.warn(g.pos, fmt.Sprintf("%s names %q, which is not a state of this run%s", g.key, item, source.DidYouMean(item, g.w.ids())))
			return
		}
		g.giveAll(r)
		return
	default:
		g.w.warn(g.pos, fmt.Sprintf("%s names %s, which is not a state", g.key, value.Str(item)))
		return
	}
	switch state {
	case "sls":
		refs := g.w.ix().bySLS[name]
		g.given = nil // an SLS is not joined to the items before it
		g.giveAll(refs...)
		if len(refs) == 0 {
			g.w.warn(g.pos, fmt.Sprintf("%s names SLS %q, which has no state in this run", g.key, name))
		}
	case "id":
		if body := g.w.body(name); body != nil {
			var refs []ref
			for k, v := range body.All() {
				state, ok := k.(string)
				if _, isList := v.(*value.List); ok && isList && !strings.HasPrefix(state, "__") {
					refs = append(refs, ref{name, state})
				}
			}
			g.giveAll(refs...)
			return
		}
		g.item(name)
	default:
		g.dotted(state, name)
		g.giveAll(ref{name, state})
	}
}

// giveAll hands over to the states of an item, and again to those of the items
// before it.
func (g *giver) giveAll(refs ...ref) {
	if g.once {
		g.given = nil
	}
	for _, r := range refs {
		g.given = append(g.given, givenRef{r, g.pos})
	}
	for _, h := range g.given {
		g.pos = h.pos
		g.give(h.id, h.state)
	}
}

// bare returns the state that a bare ID or name means.
func (g *giver) bare(name string) (ref, bool) {
	if body := g.w.body(name); body != nil {
		state := firstState(body)
		return ref{name, state}, state != ""
	}
	r, ok := g.w.ix().byName[name]
	return r, ok
}

// give hands over to the state called name.
func (g *giver) give(name, state string) {
	me := g.ref
	switch g.key {
	case "prereq_in":
		g.h.to(me.id, me.state, nil, g.pos).require("prerequired", state, name)
	case "prereq":
		for _, r := range g.w.find(name, state) {
			g.h.to(r.id, r.state, nil, g.pos).require("prerequired", me.state, me.id)
		}
		return
	case "use_in":
		for _, r := range g.w.find(name, state) {
			g.copyArgs(me, r)
		}
		return
	case "use":
		for _, r := range g.w.find(name, state) {
			g.copyArgs(r, me)
		}
		return
	}
	g.h.to(name, state, g.body, g.pos).require(g.rkey, me.state, me.id)
}

// copyArgs gives to the state "to" the arguments of "from" that it has not.
func (g *giver) copyArgs(from, to ref) {
	src, _ := g.w.body(from.id).At(from.state).(*value.List)
	dst, _ := g.w.body(to.id).At(to.state).(*value.List)
	if src == nil || dst == nil {
		return
	}
	has := map[string]bool{}
	for _, a := range dst.Items {
		if k, _, ok := single(a); ok {
			has[k] = true
		}
	}
	out := g.h.to(to.id, to.state, nil, g.pos)
	for i, a := range src.Items {
		if k, _, ok := single(a); ok && !notUsed(k) && !has[k] {
			out.args.Append(a)
			out.args.SetPosAt(out.args.Len()-1, src.PosAt(i))
		}
	}
}
