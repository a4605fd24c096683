package lint

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/render"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// A variant is another rendering of an SLS: in another world.
type variant struct {
	key string // of the SLS in the cache
	got *rendered
}

// maxVariants bounds the renderings of an SLS whose conditions depend on unknown
// values.
const maxVariants = 24

// saltRenderers are the renderers of Salt.
var saltRenderers = words(`aws_kms cheetah dson genshi gpg hjson jinja json json5 mako msgpack nacl pass pongo2 py pydsl pyobjects
	stateconf toml tomlmod wempy yaml yamlex`)

// variants compiles a unit again, with its SLS rendered in other worlds, so that both
// branches of a condition are checked, and the bodies of loops.
func (r *run) variants(ctx context.Context, u *unit) {
	base := r.cache[u.own]
	if base == nil || base.choices == 0 {
		return
	}
	yes := r.variant(ctx, u, base, world{yes: true})
	u.many = true
	if !r.explores || yes <= 1 && base.choices <= 1 {
		return
	}
	// Nested conditions, and those of elif, are reached by one answer that differs.
	r.within(&u.explored, func() {
		for i, left := 1, maxVariants; i <= max(yes, base.choices) && left > 0 && ctx.Err() == nil; i++ {
			if i <= base.choices && base.choices > 1 {
				left--
				r.variant(ctx, u, base, world{flip: i})
			}
			if i <= yes && yes > 1 {
				left--
				r.variant(ctx, u, base, world{yes: true, flip: i})
			}
		}
	})
}

// variant compiles a unit with its SLS rendered in a world, if it then is another than
// base. It returns how many questions the SLS asked.
func (r *run) variant(ctx context.Context, u *unit, base *rendered, w world) int {
	got := &rendered{pass: *newPass(), in: base.in, name: base.name}
	r.engine = render.For(r.env).Run()
	r.within(&got.pass, func() { r.rendered(ctx, base.in, w, got) })
	maps.Copy(r.at.deps, got.deps)
	r.at.found = append(r.at.found, got.found...)
	if got.err != nil || !value.Equal(got.data, base.data) {
		r.vary = &variant{u.own, got}
		r.unit(ctx, u.matches...)
		r.vary = nil
	}
	return got.choices
}

func (r *run) rendered(ctx context.Context, in render.Input, w world, got *rendered) {
	if r.l.unreadable(false, in.SaltEnv, in.Path) {
		got.data, got.asked, got.dropped = value.NewMap(0), true, true // see [linter.readable]
		return
	}
	if name, line := r.l.notRendered(in.Text); name != "" {
		got.data, got.asked, got.dropped = value.NewMap(0), true, true
		if !saltRenderers[name] && !r.l.renderers[name] {
			all := slices.Sorted(maps.Keys(saltRenderers))
			r.add(Finding{Rule: unknownRenderer, Pos: source.Pos{File: in.Path, Line: 1, Col: 1}, Message: fmt.Sprintf("unknown renderer %q%s", name, source.DidYouMean(name, all))})
			return
		}
		r.unjudged(source.Pos{File: in.Path, Line: line, Col: 1}, "the renderer %s does not run here", name)
		return
	}
	if in.Vars == nil && reactsText().Match(in.Text) { // an event is known when it comes
		in.Vars = value.MapOf("tag", unknown{p: r.probe, path: "tag"}, "data", unknown{p: r.probe, path: "data"})
	}
	r.probe.begin(w)
	got.data, got.err = r.engine.SLS(ctx, in)
	if got.err != nil && !r.probe.asked && r.isPillarMissing(got.err) {
		r.faults(source.Faults(got.err))
		r.probe.begin(w)
		got.data, got.err = r.tolerant(ctx, in)
	}
	got.asked, got.choices = r.probe.asked, r.probe.choices
	if bytes.Contains(in.Text, []byte(pgpMessage)) {
		got.data, got.asked = r.probe.hide(got.data, in.SLS), true
	}
	if got.err == nil && r.reactions(ctx, in.Path, got.data) {
		got.data = value.NewMap(0)
	}
	if got.err != nil && got.asked && !isSyntax(got.err) {
		r.unjudgedFaults(in.Path, got.err)
		got.data, got.err, got.dropped = value.NewMap(0), nil, true
	}
}

// isPillarMissing reports whether a template fails for a key that no file of the pillar
// has.
func (r *run) isPillarMissing(err error) bool {
	if _, ok := r.env.Pillar.(knownMap); ok {
		return false
	}
	return slices.ContainsFunc(source.Faults(err), func(f *source.Error) bool {
		return faultRule(f) == undefinedVariable && strings.Contains(f.Error(), "has no attribute")
	})
}

// tolerant renders an SLS with a pillar of which not all is known, to judge the rest.
func (r *run) tolerant(ctx context.Context, in render.Input) (value.Value, error) {
	env := r.env.Fork(func(e *fun.Env) { e.Pillar = knownMap{r.env.Pillar, "pillar", r.probe} })
	return render.For(env).Run().SLS(ctx, in)
}
