package pillar

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/source"
	"brine/internal/py/value"
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
			withVia(at(where, "include must be a list, not %s", value.Kind(inc)), via))
		return d
	}
	d.Delete("include")
	over := value.Truth(j.opts.At("pillar_includes_override_sls"))
	var under *value.Map // what is included, merged
	var said []string    // the faults of the SLS that was rendered last
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
		for _, ref := range j.included(ctx, saltenv, in.ref, sls, strings.HasSuffix(fi.Path, "/init.sls")) {
			sub, done := mods[fun.PlainSLS(ref.name)]
			if done {
				// As in Salt, what was said last is said again.
				j.errs = append(j.errs, said...)
			} else {
				before := len(j.errs)
				sub = j.sls(ctx, ref, saltenv, mods, defaults, append([]source.Pos{pos}, via...))
				said = append(said[:0:0], j.errs[before:]...)
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
		return include{}, at(pos, "include of %q takes a mapping of key and defaults, not %s", in.ref.name, value.Kind(v))
	}
	if key := args.At("key"); key != nil {
		in.key = value.Str(key)
	}
	switch def := args.At("defaults").(type) {
	case nil:
	case *value.Map:
		in.defaults = def
	default:
		return include{}, at(pos, "defaults of the include of %q must be a mapping, not %s", in.ref.name, value.Kind(def))
	}
	return in, nil
}

// included returns the SLS files that a name, which may be a glob, stands for
// within sls: those that have it without its leading dots, then those that it
// means, where a leading dot is the directory of sls. So a name that is not
// relative is there twice, and ".db" is the SLS db of the root, too, where there
// is one. A name without a match stands for itself.
func (j *job) included(ctx context.Context, saltenv string, ref slsRef, sls string, isInit bool) []slsRef {
	out := j.match(ctx, saltenv, slsRef{strings.ReplaceAll(strings.TrimLeft(ref.name, "."), "/", "."), ref.pos})
	if strings.HasPrefix(ref.name, ".") {
		parts := strings.Split(sls, ".")
		if !isInit {
			parts = parts[:len(parts)-1]
		}
		ref.name = strings.Join(append(parts, ref.name[1:]), ".")
	}
	out = append(out, j.match(ctx, saltenv, ref)...)
	if len(out) == 0 {
		out = append(out, ref)
	}
	return out
}

// match returns the existing SLS files of a name, which may be a glob.
func (j *job) match(ctx context.Context, saltenv string, ref slsRef) []slsRef {
	if !value.HasGlob(ref.name) {
		if _, err := fun.FindSLS(ctx, j.c.files, saltenv, ref.name); err != nil ||
			ref.name == "" || strings.Contains(ref.name, "/") || fun.PlainSLS(ref.name) != ref.name {
			return nil
		}
		return []slsRef{ref}
	}
	var out []slsRef
	for _, n := range value.FnmatchFilter(j.available(ctx, saltenv), ref.name) {
		out = append(out, slsRef{n, ref.pos})
	}
	return out
}

// nest puts m at a key "a:b" of a new dict.
func nest(m *value.Map, key string) *value.Map {
	if key == "" {
		return m
	}
	parts := strings.Split(key, ":")
	for _, part := range slices.Backward(parts) {
		m = value.MapOf(part, m)
	}
	return m
}
