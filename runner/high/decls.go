package high

import (
	"strings"

	"brine/internal/py/source"
	"brine/internal/py/value"
)

// declarations sorts what a file rendered to into n: includes (returned),
// extend, exclude, and the IDs with their states in long form.
func (c *Compiler) declarations(n *node, state *value.Map) *value.List {
	n.ids = value.NewMap(state.Len())
	incs := &value.List{}
	var extend, exclude value.Value
	var extendPos, excludePos source.Pos
	for k, v := range state.All() {
		switch k {
		case "include":
			l, ok := v.(*value.List)
			if !ok {
				n.fault(state.Pos(k), listHint("include", v), "Include Declaration in SLS %s is not formed as a list", n.sls)
				n.ids.Set(k, v) // Salt goes on, and takes it for an ID of that name
				continue
			}
			incs = l
		case "extend":
			extend, extendPos = v, state.Pos(k)
		case "exclude":
			exclude, excludePos = v, state.Pos(k)
		case "__extend__":
			if l, ok := v.(*value.List); ok {
				for _, x := range l.Items {
					if m, ok := x.(*value.Map); ok {
						n.extend = append(n.extend, m)
					}
				}
			}
		case "__exclude__":
			if l, ok := v.(*value.List); ok {
				n.exclude = append(n.exclude, l.Items...)
			}
		default:
			n.ids.Set(k, v)
		}
	}
	if state.Has("extend") {
		n.setExtend(extend, extendPos)
	}
	if state.Has("exclude") {
		n.setExclude(exclude, excludePos)
	}
	n.expand(state)
	return incs
}

// expand gives the IDs of a file their long form.
func (n *node) expand(state *value.Map) {
	long := map[*value.Map]*value.Map{} // an alias is what its anchor is, order and all
	for i := range n.ids.Len() {
		k, v := n.ids.Entry(i)
		pos := state.Pos(k)
		if body, ok := v.(*value.Map); ok {
			if long[body] == nil {
				long[body] = n.longForm(k, body)
			}
			n.ids.Set(k, long[body])
			n.ids.SetPos(k, pos)
			continue
		}
		if s, ok := v.(string); ok && strings.Contains(s, ".") {
			comps := strings.Split(s, ".")
			args := value.NewList(comps[1])
			args.SetPosAt(0, pos)
			body := value.MapOf("__sls__", n.sls, "__env__", n.saltenv, comps[0], args)
			body.SetPos(comps[0], pos)
			n.ids.Set(k, body)
			n.ids.SetPos(k, pos)
			continue
		}
		n.ids.SetPos(k, pos)
		n.fault(pos, bodyHint(v), "ID %s in SLS %s is not a dictionary", value.Str(k), n.sls)
	}
}

// longForm returns body with "mod.fun: [...]" as "mod: [..., fun]" and with the
// SLS that it comes from. The lists are copies, so that a YAML alias cannot
// make two states of one list.
// Salt: BaseHighState._handle_state_decls.
func (n *node) longForm(id value.Value, body *value.Map) *value.Map {
	out := value.NewMap(body.Len() + 2)
	put := func(key string, v value.Value, pos source.Pos) {
		out.Set(key, v)
		out.SetPos(key, pos)
	}
	type split struct {
		mod, fun string
		args     *value.List
		pos      source.Pos
	}
	var last []split // states that are split go last
	seen := map[string]bool{}
	for k, v := range body.All() {
		pos := body.Pos(k)
		key, ok := k.(string)
		if !ok {
			n.fault(pos, "quote it if it is meant", "State '%s' of ID '%s' in SLS '%s' is not formed as a string, but is a %s", value.Str(k), value.Str(id), n.sls, value.TypeName(k))
			continue
		}
		args, isList := v.(*value.List)
		mod, fn, dotted := strings.Cut(key, ".")
		switch {
		case !isList || strings.HasPrefix(key, "_"):
			put(key, v, pos)
		case !dotted:
			seen[key] = true
			put(key, args.Copy(1), pos)
		case seen[mod]:
			n.fault(pos, `give "`+key+`" an ID of its own`, "ID '%s' in SLS '%s' contains multiple state declarations of the same type", value.Str(id), n.sls)
			put(key, args.Copy(1), pos)
		default:
			seen[mod] = true
			fn, _, _ = strings.Cut(fn, ".")
			last = append(last, split{mod, fn, args.Copy(2), pos})
		}
	}
	for _, s := range last {
		s.args.Append(s.fun)
		s.args.SetPosAt(s.args.Len()-1, s.pos)
		put(s.mod, s.args, s.pos)
	}
	if !out.Has("__sls__") {
		out.Set("__sls__", n.sls)
	}
	if !out.Has("__env__") {
		out.Set("__env__", n.saltenv)
	}
	return out
}

// setExtend takes the extend declaration.
// Salt: BaseHighState._handle_extend.
func (n *node) setExtend(v value.Value, pos source.Pos) {
	ext, ok := v.(*value.Map)
	if !ok {
		n.fault(pos, "", "Extension value in SLS '%s' is not a dictionary", n.sls)
		return
	}
	out := value.NewMap(ext.Len())
	for id, v := range ext.All() {
		body, ok := v.(*value.Map)
		if !ok {
			n.fault(ext.Pos(id), "", "Extension name '%s' in SLS '%s' is not a dictionary", value.Str(id), n.sls)
			continue
		}
		out.Set(id, n.extension(body))
		out.SetPos(id, ext.Pos(id))
	}
	n.extend = append(n.extend, out)
}

func (n *node) extension(body *value.Map) *value.Map {
	out := value.NewMap(body.Len() + 2)
	var split []int
	for i := range body.Len() {
		k, v := body.Entry(i)
		key, _ := k.(string)
		if args, ok := v.(*value.List); ok && !strings.HasPrefix(key, "_") {
			if strings.Contains(key, ".") {
				split = append(split, i)
				continue
			}
			v = args.Copy(0)
		}
		out.Set(k, v)
		out.SetPos(k, body.Pos(k))
	}
	if !out.Has("__sls__") {
		out.Set("__sls__", n.sls)
	}
	if !out.Has("__env__") {
		out.Set("__env__", n.saltenv)
	}
	for _, i := range split {
		k, v := body.Entry(i)
		comps := strings.Split(k.(string), ".")
		args := v.(*value.List).Copy(1)
		args.Append(comps[1])
		args.SetPosAt(args.Len()-1, body.Pos(k))
		out.Set(comps[0], args)
		out.SetPos(comps[0], body.Pos(k))
	}
	return out
}

// setExclude takes the exclude declaration.
// Salt: BaseHighState._handle_exclude.
func (n *node) setExclude(v value.Value, pos source.Pos) {
	l, ok := v.(*value.List)
	if !ok {
		n.fault(pos, listHint("exclude", v), "Exclude Declaration in SLS %s is not formed as a list", n.sls)
		return
	}
	n.exclude = append(n.exclude, l.Items...)
}
