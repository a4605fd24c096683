package low

import (
	"fmt"
	"strings"

	"brine/internal/py/source"
	"brine/internal/py/value"
)

// An extension adds to or replaces arguments of states of one ID.
type extension struct {
	id     string
	states []stateArgs
	// Where it was written, for messages.
	env, sls string
	hasSLS   bool // sls is what it says, not Salt's word for none
	pos      source.Pos
}

type stateArgs struct {
	state string
	args  *value.List
	byKey map[string]*value.List // requisites among args, by name
}

// requisites are the arguments whose lists are joined where others are
// replaced.
// Salt: STATE_REQUISITE_KEYWORDS.
var requisites = map[string]bool{
	"onchanges": true, "onchanges_any": true, "onfail": true, "onfail_any": true, "onfail_all": true, "onfail_stop": true,
	"prereq": true, "prerequired": true, "watch": true, "watch_any": true, "require": true, "require_any": true, "listen": true,
}

// takeExtend returns the extend declarations and takes them out of the data.
func (w *work) takeExtend() []*extension {
	list, _ := w.data.At("__extend__").(*value.List)
	if !w.data.Delete("__extend__") {
		return nil
	}
	var out []*extension
	for i := range list.Len() {
		m, ok := list.Items[i].(*value.Map)
		if !ok {
			continue
		}
		for k, v := range m.All() {
			body, ok := v.(*value.Map)
			if !ok {
				continue
			}
			e := &extension{id: value.Str(k), env: text(body, "__env__"), sls: text(body, "__sls__"), hasSLS: body.Has("__sls__"), pos: m.Pos(k)}
			for k, v := range body.All() {
				state, ok := k.(string)
				if !ok || strings.HasPrefix(state, "__") {
					continue
				}
				args, ok := v.(*value.List)
				if !ok {
					w.fault(body, body.Pos(k), `begin each argument with "-", such as "- name: value"`,
						fmt.Sprintf("State '%s' in the extend declaration of ID '%s' in SLS '%s' is not formed as a list", state, e.id, e.sls))
					continue
				}
				e.states = append(e.states, stateArgs{state: state, args: args})
			}
			switch {
			case len(e.states) > 0:
				out = append(out, e)
			case body.Len() <= 2:
				w.fault(body, e.pos, "name the state that is extended", fmt.Sprintf("Extension name '%s' in SLS '%s' names no state", e.id, e.sls))
			}
		}
	}
	return out
}

// text returns the text at key, or "base", which Salt shows where there is none.
func text(m *value.Map, key string) string {
	if s, ok := m.At(key).(string); ok {
		return s
	}
	return "base"
}

// extend applies extensions in order. What an excluded SLS extends stays as it
// is. strict is for what the _in requisites make: they cannot give an ID a state
// that it has not, as an extend declaration does.
// Salt: State.reconcile_extend, find_name.
func (w *work) extend(exts []*extension, strict bool) {
	excluded := w.excludedSLS()
	for _, e := range exts {
		id := e.id
		if body := w.body(id); body == nil || strict && !body.Has(e.states[0].state) {
			refs := w.find(id, e.states[0].state)
			if len(refs) != 1 {
				w.missing(e, len(refs))
				continue
			}
			id = refs[0].id
		}
		if e.hasSLS && excluded[e.sls] {
			continue
		}
		for _, s := range e.states {
			if !w.body(id).Has(s.state) {
				w.ownBody(id).Set(s.state, s.args)
				w.ownBody(id).SetPos(s.state, e.pos)
				for _, a := range s.args.Items {
					w.note(id, s.state, a)
				}
				continue
			}
			args := w.args(id, s.state)
			if args == nil {
				continue // no list: verify says so
			}
			for i, arg := range s.args.Items {
				w.extendArg(id, s.state, args, arg, s.args.PosAt(i))
			}
		}
	}
}

// extendArg puts one argument into args: a function replaces the function, a
// requisite joins the one of its name, others replace theirs.
func (w *work) extendArg(id, state string, args *value.List, arg value.Value, pos source.Pos) {
	w.note(id, state, arg)
	if _, ok := arg.(string); ok {
		done := false
		for i, x := range args.Items {
			if _, ok := x.(string); ok {
				args.Items[i] = arg
				done = true
			}
		}
		if done {
			return
		}
		args.Append(arg)
		return
	}
	key := first(arg)
	done := false
	for i, x := range args.Items {
		have := first(x)
		switch {
		case key == "" || have == "":
		case key == have && requisites[key]:
			w.join(args, i, x.(*value.Map), arg.(*value.Map), key)
			done = true
		case key == have, key == "name" && have == "names":
			args.Items[i] = arg
			done = true
		}
	}
	if !done {
		args.Append(arg)
		args.SetPosAt(args.Len()-1, pos)
	}
}

// join adds the requisites of arg to those of x, item i of args.
func (w *work) join(args *value.List, i int, x, arg *value.Map, key string) {
	to, ok := x.At(key).(*value.List)
	from, ok2 := arg.At(key).(*value.List)
	if !ok || !ok2 {
		args.Items[i] = arg // onfail_stop, or no list: verify says so
		return
	}
	to = w.ownList(to, func(l *value.List) {
		m := x.Copy()
		m.Set(key, l)
		args.Items[i] = m
	})
	to.Append(from.Items...)
}

// missing reports an extension of what is not there.
func (w *work) missing(e *extension, found int) {
	hint := ""
	if found > 1 {
		hint = fmt.Sprintf("%d states match %s: %s", found, e.states[0].state, e.id)
	} else if n, ok := source.Nearest(e.id, w.ids()); ok {
		hint = `did you mean "` + n + `"?`
	} else if b := w.body(e.id); b != nil {
		hint = fmt.Sprintf("%s has no state of %q, but of %q", e.id, e.states[0].state, firstState(b))
	}
	body := value.MapOf("__env__", e.env, "__sls__", e.sls)
	w.fault(body, e.pos, hint, fmt.Sprintf("Cannot extend ID '%s' in '%s:%s'. It is not part of the high state.\n"+
		"This is likely due to a missing include statement or an incorrectly typed ID.\n"+
		"Ensure that a state with an ID of '%s' is available\nin environment '%s' and to SLS '%s'", e.id, e.env, e.sls, e.id, e.env, e.sls))
}
