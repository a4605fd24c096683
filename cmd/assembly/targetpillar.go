//go:build !slim

package assembly

import (
	"context"
	"io"
	"regexp"
	"slices"
	"sync"

	"brine/internal/core/dispatch"
	"brine/internal/core/fileserver"
	"brine/internal/core/fun"
	"brine/internal/core/render"
	"brine/internal/core/roster"
	"brine/internal/fleet/pillar"
	"brine/internal/py/value"
)

// targetPillars renders the pillar of targets on the controller: each by its
// own options and grains, out of files that are parsed once for all.
type targetPillars struct {
	o EnvOptions
	r *roster.Roster

	own func() value.Mapping // grains of the controller

	mu     sync.Mutex
	shared map[string]*render.Shared // by the options of the roster entry
}

// maxShared is how many sets of options have what their pillars share kept.
const maxShared = 64

func newTargetPillars(o EnvOptions, r *roster.Roster) *targetPillars {
	return &targetPillars{
		o: o, r: r, shared: map[string]*render.Shared{},
		own: sync.OnceValue(func() value.Mapping { return NewEnv(context.Background(), o).Grains }),
	}
}

// render renders the pillar of id with the grains that the target reports. What
// its files call runs on the controller, by the controller's own grains.
func (t *targetPillars) render(ctx context.Context, id string, g value.Mapping, req fun.PillarRequest) (*value.Map, error) {
	env := targetEnv(ctx, t.o, t.r, id)
	env.Grains, env.Subject = t.own(), defused{g}
	req.Grains = env.Subject
	env.NewGrains, env.OnRenew = nil, nil
	env.Invoker = dispatch.New(env)
	return pillar.New(env).Share(t.share(id)).Render(ctx, req)
}

// defused are the grains of a target without PGP messages: a template that puts
// a grain into a text which the renderer gpg decrypts must not decrypt what the
// target sent.
type defused struct{ value.Mapping }

// Get returns a grain.
func (d defused) Get(key value.Value) (value.Value, bool) {
	v, ok := d.Mapping.Get(key)
	if ok && render.Encrypted(v) {
		return "(a PGP message, which a grain must not be)", true
	}
	return v, ok
}

// Truth is true: there is the id.
func (d defused) Truth() bool { return true }

// TypeName is the name of Python's type.
func (d defused) TypeName() string { return "dict" }

// share returns what the pillar of id shares with those of targets that have
// the same options. minion_opts may name other roots and renderers.
func (t *targetPillars) share(id string) *render.Shared {
	key := ""
	if e, ok := t.r.Get(id); ok && e.MinionOpts.Len() > 0 {
		opts := e.MinionOpts.Copy()
		opts.Delete("grains")
		if opts.Len() > 0 {
			key = value.Repr(opts)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.shared[key]
	if s == nil && len(t.shared) < maxShared {
		s = render.NewShared()
		t.shared[key] = s
	}
	return s
}

// grainNames returns the grains that the pillar's files name: targets send them
// with the request for their pillar, which saves a round trip each.
func (t *targetPillars) grainNames(ctx context.Context) []string {
	env := NewEnv(ctx, t.o)
	files := fileserver.New(env.Host, fileserver.RootsOf(env.Opts, "pillar_roots"))
	envs, err := files.Envs(ctx)
	if err != nil {
		return nil
	}
	var out []string
	room := int64(maxScan)
	for _, saltenv := range envs {
		list, err := fun.ListFiles(ctx, files, saltenv, "")
		if err != nil {
			continue
		}
		for _, fi := range list {
			if room -= fi.Size; room < 0 {
				return out
			}
			f, err := files.Open(ctx, saltenv, fi.Path)
			if err != nil {
				continue
			}
			b, err := io.ReadAll(io.LimitReader(f, maxScan))
			f.Close()
			if err == nil {
				out = namesOfGrains(out, string(b))
			}
		}
	}
	return out
}

// maxScan is how many bytes of pillar files are looked through for grains.
const maxScan = 4 << 20

// grainUse finds grains['x'], grains.x, grains.get('x', salt['grains.get']('x',
// salt.grains.get('x' and, of targets, G@x: and P@x:.
var grainUse = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\bgrains(?:\.get['"]?\]?\(\s*['"]|\[['"]|\.)([A-Za-z_][A-Za-z0-9_-]*)|\b[GP]@([A-Za-z_][A-Za-z0-9_-]*)`)
})

// namesOfGrains adds the grains that a text names to out.
func namesOfGrains(out []string, text string) []string {
	for _, m := range grainUse().FindAllStringSubmatch(text, -1) {
		name := m[1] + m[2]
		switch name {
		case "get", "items", "item", "keys", "values", "filter_by", "has_value", "fetch", "equals", "match", "ls":
			continue
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
