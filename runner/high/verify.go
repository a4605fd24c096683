package high

import (
	"fmt"
	"strings"

	"brine/internal/py/source"
	"brine/internal/py/value"
)

// Verify returns what is wrong with the structure of the high data, all of it,
// in Salt's order.
// Salt: State.verify_high.
func (h *High) Verify() source.Errors {
	v := verifier{h: h, at: map[edge]reqAt{}, by: map[string]*reqBy{}}
	for k, b := range h.Data.All() {
		id, isText := k.(string)
		if isText && strings.HasPrefix(id, "__") {
			continue
		}
		body, isMap := b.(*value.Map)
		if !isText {
			id = value.Str(k)
		}
		v.near = h.Pos(id)
		if !isText {
			v.fault(body, h.Pos(id), `quote it: "`+id+`":`, "ID '%s' in SLS '%s' is not formed as a string, but is a %s. It may need to be quoted.", id, sls(body), value.TypeName(k))
		}
		if !isMap {
			v.fault(nil, h.Pos(id), bodyHint(b), "The type %s in %s is not formatted as a dictionary", id, value.Str(b))
			continue
		}
		for k, a := range body.All() {
			state, ok := k.(string)
			if !ok {
				v.fault(body, body.Pos(k), "quote it if it is meant", "State '%s' of ID '%s' in SLS '%s' is not formed as a string, but is a %s", value.Str(k), id, sls(body), value.TypeName(k))
				continue
			}
			if strings.HasPrefix(state, "__") {
				continue
			}
			v.state(id, state, body, a)
		}
	}
	return v.faults
}

func sls(body *value.Map) string { return value.Str(body.At("__sls__")) }

type verifier struct {
	h      *High
	faults source.Errors
	near   source.Pos // of the state that is being read
	at     map[edge]reqAt
	by     map[string]*reqBy
}

// An edge is "from requires to", with what was seen of it.
type edge struct{ from, to string }

type reqAt struct {
	key string // state named in the requisite
	gen int
}

// reqBy is the state of an ID whose requisites were read last; Salt forgets
// those of the requisite argument before it, so gen tells which count.
type reqBy struct {
	state string
	gen   int
}

func (v *verifier) fault(body *value.Map, pos source.Pos, hint, format string, args ...any) {
	if pos.IsZero() {
		pos = v.near
	}
	v.faults = append(v.faults, v.h.Fault(body, pos, hint, fmt.Sprintf(format, args...)))
}

// state checks the arguments of one state.
func (v *verifier) state(id, state string, body *value.Map, a value.Value) {
	pos := body.Pos(state)
	if pos.IsZero() {
		pos = v.h.Pos(id)
	}
	v.near = pos
	if a == nil {
		v.fault(body, pos, `write "- `+state+`" or "`+state+`: []"`, "ID '%s' in SLS '%s' contains a short declaration (%s) with a trailing colon. When not passing any arguments to a state, the colon must be omitted.", id, sls(body), state)
		return
	}
	args, ok := a.(*value.List)
	if !ok {
		v.fault(body, pos, `begin each argument with "-", such as "- name: value"`, "State '%s' in SLS '%s' is not formed as a list", id, sls(body))
		return
	}
	var funs []string
	if _, fn, ok := strings.Cut(state, "."); ok {
		funs = append(funs, fn)
	}
	for i, arg := range args.Items {
		switch arg := arg.(type) {
		case string:
			funs = append(funs, arg)
			if strings.Contains(strings.TrimSpace(arg), " ") {
				v.fault(body, args.PosAt(i), spaceHint(arg, args.PosAt(i)), `The function "%s" in state "%s" in SLS "%s" has whitespace, a function with whitespace is not supported, perhaps this is an argument that is missing a ":"`, arg, id, sls(body))
			}
		case *value.Map:
			v.argument(id, state, body, arg, args.PosAt(i))
		}
	}
	switch {
	case len(funs) == 0 && state != "require" && state != "watch":
		v.fault(body, pos, `name the function: "`+state+`.FUNCTION:"`, "No function declared in state '%s' in SLS '%s'", state, sls(body))
	case len(funs) > 1:
		v.fault(body, pos, twoFunsHint(args, funs), "Too many functions declared in state '%s' in SLS '%s'", state, sls(body))
	}
}

// argument checks the shape of names and of requisites.
func (v *verifier) argument(id, state string, body, arg *value.Map, pos source.Pos) {
	if arg.Len() == 0 {
		v.fault(body, pos, "", "Empty argument in state '%s' in SLS '%s'", id, sls(body))
		return
	}
	k, val := arg.Entry(0)
	first, _ := k.(string)
	if p := arg.Pos(k); !p.IsZero() {
		pos = p
	}
	list, isList := val.(*value.List)
	switch first {
	case "names":
		if !isList {
			v.fault(body, pos, "", "The 'names' argument in state '%s' in SLS '%s' needs to be formed as a list", id, sls(body))
		}
		return
	case "require", "watch", "prereq", "onchanges":
	default:
		return
	}
	if !isList {
		v.fault(body, pos, reqHint(first, val), "The %s statement in state '%s' in SLS '%s' needs to be formed as a list", first, id, sls(body))
	} else {
		by := v.by[id]
		if by == nil {
			by = &reqBy{}
			v.by[id] = by
		}
		by.state = state
		by.gen++
		for i, req := range list.Items {
			v.requisite(id, state, body, by, req, list.PosAt(i))
		}
	}
	if arg.Len() != 1 {
		v.fault(body, pos, `begin each argument with a "-" of its own`, "Multiple dictionaries defined in argument of state '%s' in SLS '%s'", id, sls(body))
	}
}

func (v *verifier) requisite(id, state string, body *value.Map, by *reqBy, req value.Value, pos source.Pos) {
	key, target := "id", req
	if _, ok := req.(string); !ok {
		m, ok := req.(*value.Map)
		if !ok || m.Len() == 0 {
			v.fault(body, pos, `write "- MODULE: ID"`, "Requisite declaration %s in SLS %s is not formed as a single key dictionary", value.Str(req), sls(body))
			return
		}
		var k value.Value
		k, target = m.Entry(0)
		key = value.Str(k)
	}
	if mod, _, ok := strings.Cut(key, "."); ok {
		v.fault(body, pos, "", "Invalid requisite type '%s' in state '%s', in SLS '%s'. Requisite types must not contain dots, did you mean '%s'?", key, id, sls(body), mod)
	}
	if target == nil || !value.Hashable(target) { // Salt raises a TypeError for None
		v.fault(body, pos, `write "- `+key+`: ID"`, "Illegal requisite \"%s\", please check your syntax.\n", value.Str(target))
		return
	}
	to, ok := target.(string)
	if !ok {
		return
	}
	v.at[edge{id, to}] = reqAt{key, by.gen}
	if other := v.by[to]; other != nil {
		if back, ok := v.at[edge{to, id}]; ok && back.gen == other.gen && back.key == state && other.state == key {
			v.fault(body, pos, fmt.Sprintf("%s → %s → %s", id, to, id), `A recursive requisite was found, SLS "%s" ID "%s" ID "%s"`, sls(body), id, to)
		}
	}
}

// reqHint shows a requisite in list form.
func reqHint(name string, v value.Value) string {
	switch v := v.(type) {
	case string:
		return fmt.Sprintf(`write "- %s: [%s]"`, name, v)
	case *value.Map:
		if v.Len() == 1 {
			k, id := v.Entry(0)
			return fmt.Sprintf(`write "- %s:" and below it "- %s: %s"`, name, value.Str(k), value.Str(id))
		}
	}
	return ""
}
