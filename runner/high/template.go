package high

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"brine/internal/core/render"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// Available returns the SLS names of all environments.
func (c *Compiler) Available(ctx context.Context) ([]Match, error) {
	envs := c.avail.all(ctx)
	out := make([]Match, len(envs))
	for i, e := range envs {
		out[i] = Match{SaltEnv: e, SLS: c.avail.names(ctx, e)}
	}
	return out, ctx.Err()
}

// stringName is Salt's name for a template that is not a file.
const stringName = "<template-str>"

// TemplateStr compiles a text. It has no SLS name, cannot include, and its
// states get no order. The error is that of the renderer.
// Salt: State.render_template.
func (c *Compiler) TemplateStr(ctx context.Context, saltenv string, text []byte) (*High, error) {
	h := &High{Data: value.NewMap(0), pos: map[string]source.Pos{}}
	data, err := c.render(ctx, render.Input{Path: ":string:", Name: stringName, SaltEnv: saltenv, Text: text})
	if err != nil {
		return nil, err
	}
	fault := func(pos source.Pos, hint, format string, args ...any) {
		if pos.IsZero() {
			pos.File = stringName
		}
		h.Faults = append(h.Faults, newFault(pos, hint, fmt.Sprintf(format, args...)))
	}
	state, ok := data.(*value.Map)
	if !ok {
		if value.Truth(data) {
			fault(source.Pos{}, notDictHint(data), "Template %s does not render to a dictionary", stringName)
		}
		return h, nil
	}
	for _, item := range []string{"include", "exclude", "extends"} {
		if state.Has(item) {
			fault(state.Pos(item), "", "The '%s' declaration found on '%s' is invalid when rendering single templates", item, stringName)
			return h, nil
		}
	}
	for k, v := range state.All() {
		pos := state.Pos(k)
		id := value.Str(k)
		h.pos[id] = pos
		if s, ok := v.(string); ok && strings.Contains(s, ".") {
			comps := strings.Split(s, ".")
			h.Data.Set(k, value.MapOf(comps[0], value.NewList(comps[1])))
			continue
		}
		body, ok := v.(*value.Map)
		if !ok {
			fault(pos, bodyHint(v), "ID %s in template %s is not a dictionary", id, stringName)
			continue
		}
		out := singleBody(id, body, fault)
		h.Data.Set(k, out)
	}
	return h, nil
}

// singleBody returns the body of an ID of a single template, its states with
// their functions as arguments, in the order of their names.
func singleBody(id string, body *value.Map, fault func(pos source.Pos, hint, format string, args ...any)) *value.Map {
	var keys []string
	for k := range body.All() {
		if s, ok := k.(string); ok {
			keys = append(keys, s)
		}
	}
	slices.Sort(keys)
	out := value.NewMap(body.Len())
	for _, key := range keys {
		v, pos := body.At(key), body.Pos(key)
		args, isList := v.(*value.List)
		mod, fn, dotted := strings.Cut(key, ".")
		switch {
		case v == nil && !strings.HasPrefix(key, "_"):
			fault(pos, `write "- `+key+`" or "`+key+`: []"`, "ID '%s' in template %s contains a short declaration (%s) with a trailing colon. When not passing any arguments to a state, the colon must be omitted.", id, stringName, key)
			continue
		case isList && dotted && !strings.HasPrefix(key, "_"):
			if out.Has(mod) {
				fault(pos, `give "`+key+`" an ID of its own`, "ID '%s' in template '%s' contains multiple state declarations of the same type", id, stringName)
				continue
			}
			fn, _, _ = strings.Cut(fn, ".")
			args = args.Copy(1)
			args.Append(fn)
			key, v = mod, args
		case isList:
			v = args.Copy(1)
		}
		out.Set(key, v)
		out.SetPos(key, pos)
	}
	return out
}
