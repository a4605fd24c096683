package pillar

import (
	"context"
	"fmt"
	"strings"

	"brine/internal/fun"
	"brine/internal/source"
	"brine/internal/value"
)

// An include is one item of include: in a pillar SLS.
type include struct {
	ref      slsRef
	key      string     // where the included data goes, "a:b"; "" is the top
	defaults *value.Map // variables of the included file; nil: as before
}

// includes renders what d includes and merges it: under d, or with
// pillar_includes_override_sls over it.
func (j *job) includes(ctx context.Context, d *value.Map, fi fun.FileInfo, sls, saltenv string, mods map[string]value.Value, defaults *value.Map, via []source.Pos) value.Value {
	where := d.Pos("include")
	if where.IsZero() {
		where.File = fi.Abs
	}
	inc := d.At("include")
	list, ok := inc.(*value.List)
	if !ok {
		j.fail(fmt.Sprintf("Include Declaration in SLS '%s' is not formed as a list", sls),
			withVia(at(where, "include is no list but a %s", value.TypeName(inc)), via))
		return d
	}
	d.Delete("include")
	over := value.Truth(j.opts.At("pillar_includes_override_sls"))
	var under *value.Map // what is included, merged
	state := d
	if over {
		state = value.Clone(d).(*value.Map)
	}
	for i, item := range list.Items {
		pos := list.PosAt(i)
		if pos.IsZero() {
			pos = where
		}
		in, err := parseInclude(item, pos)
		if err != nil {
			j.fail(fmt.Sprintf("Include Declaration in SLS '%s' is not formed as a list", sls), withVia(err, via))
			continue
		}
		if in.defaults != nil {
			// As in Salt, what one include sets holds for those after it.
			defaults = in.defaults
		}
		in.ref.name = absolute(in.ref.name, sls, strings.HasSuffix(fi.Path, "/init.sls"))
		for _, ref := range j.expand(ctx, saltenv, []slsRef{in.ref}) {
			sub, done := mods[fun.PlainSLS(ref.name)]
			if !done {
				sub = j.sls(ctx, ref, saltenv, mods, defaults, append([]source.Pos{pos}, via...))
			}
			m, ok := sub.(*value.Map)
			if !ok || m.Len() == 0 {
				continue
			}
			m = nest(m, in.key)
			own := !done && sub != mods[fun.PlainSLS(ref.name)] // no other include can get it
			switch {
			case over:
				state = j.merge(state, m)
			case under != nil:
				under = j.merge(under, m)
			case own:
				under = m
			default:
				under = value.Clone(m).(*value.Map)
			}
		}
	}
	if over || under == nil {
		return state
	}
	return j.merge(under, state)
}

// parseInclude reads an item of include: a name, or {name: {key:, defaults:}}.
func parseInclude(item value.Value, pos source.Pos) (include, error) {
	m, ok := item.(*value.Map)
	if !ok {
		return include{ref: slsRef{value.Str(item), pos}}, nil
	}
	if m.Len() == 0 {
		return include{}, at(pos, "an include is an empty dict")
	}
	k, v := m.Entry(0)
	in := include{ref: slsRef{value.Str(k), pos}, defaults: value.NewMap(0)}
	args, ok := v.(*value.Map)
	if v != nil && !ok {
		return include{}, at(pos, "include of %q takes a dict of key and defaults, not a %s", in.ref.name, value.TypeName(v))
	}
	if key := args.At("key"); key != nil {
		in.key = value.Str(key)
	}
	switch def := args.At("defaults").(type) {
	case nil:
	case *value.Map:
		in.defaults = def
	default:
		return include{}, at(pos, "defaults of the include of %q is no dict but a %s", in.ref.name, value.TypeName(def))
	}
	return in, nil
}

// absolute returns the SLS that name means within sls: a leading dot is its
// directory. Slashes are dots.
func absolute(name, sls string, isInit bool) string {
	if !strings.HasPrefix(name, ".") {
		return strings.ReplaceAll(name, "/", ".")
	}
	parts := strings.Split(sls, ".")
	if !isInit {
		parts = parts[:len(parts)-1]
	}
	return strings.Join(append(parts, strings.ReplaceAll(name[1:], "/", ".")), ".")
}

// nest puts m at a key "a:b" of a new dict.
func nest(m *value.Map, key string) *value.Map {
	if key == "" {
		return m
	}
	parts := strings.Split(key, ":")
	for i := len(parts) - 1; i >= 0; i-- {
		m = value.MapOf(parts[i], m)
	}
	return m
}
