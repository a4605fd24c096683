package exec

import (
	"context"
	"fmt"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// refresh applies reload_grains, reload_pillar and reload_modules, and has modules
// asked again whether they may serve where c may have changed that.
//
// Salt: salt/state.py State.check_refresh.
func (r *run) refresh(ctx context.Context, c *fun.Chunk, ret *value.Map) {
	low := c.Low
	again := false
	if value.Truth(low.At("reload_grains")) {
		again = true
		if err := r.env.ReloadGrains(ctx); err != nil {
			r.warnOnce(c, "reload_grains", fmt.Sprintf("grains cannot be reloaded: %v", err))
		}
	}
	if value.Truth(low.At("reload_pillar")) {
		again = true
		if r.env.Up != nil {
			p, err := r.env.Up.Pillar(ctx, fun.PillarRequest{
				SaltEnv: r.env.SaltEnv, PillarEnv: r.env.Opts.Str("pillarenv"),
				Override: r.env.PillarOverride, Grains: r.env.Grains, Base: r.env.Pillar,
			})
			if err != nil {
				r.warnOnce(c, "reload_pillar", fmt.Sprintf("pillar cannot be reloaded: %v", err))
			} else {
				r.env.Pillar = p
			}
		}
	}
	if !value.Truth(ret.At("changes")) {
		if value.Truth(low.At("force_reload_modules")) {
			r.reloadModules(ctx, c, true)
		}
		return
	}
	switch {
	case value.Truth(low.At("reload_modules")):
		r.reloadModules(ctx, c, true)
	case again || r.bringsModules(c):
		r.reloadModules(ctx, c, false)
	}
}

// reloadModules forgets which modules may serve; with all set, the table itself
// is made again.
func (r *run) reloadModules(ctx context.Context, c *fun.Chunk, all bool) {
	if !all {
		r.env.ForgetAvailable()
		return
	}
	if err := r.env.ReloadModules(ctx); err != nil {
		r.warnOnce(c, "reload_modules", fmt.Sprintf("modules cannot be reloaded: %v", err))
	}
}

// bringsModules reports whether a state that changed something may have brought
// modules, or programs that modules need.
func (r *run) bringsModules(c *fun.Chunk) bool {
	mod, _ := r.env.Provider(fun.State, c.State)
	return mod != nil && mod.Brings != nil && mod.Brings(c)
}

// warned is what has been warned of, so that a state that is called again does
// not warn again.
type warned struct {
	mu  sync.Mutex
	set map[[2]string]bool
}

// warnOnce warns of c, at the place of its argument key where that is known.
func (r *run) warnOnce(c *fun.Chunk, key, text string) {
	r.warnings.mu.Lock()
	defer r.warnings.mu.Unlock()
	k := [2]string{c.Tag(), text}
	if r.warnings.set[k] {
		return
	}
	if r.warnings.set == nil {
		r.warnings.set = map[[2]string]bool{}
	}
	r.warnings.set[k] = true
	p := c.Pos
	if key != "" {
		if at := c.Low.Pos(key); !at.IsZero() {
			p = at
		}
	}
	r.env.Warnf(p, "%s", text)
}
