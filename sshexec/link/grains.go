package link

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"brine/internal/py/value"
)

// Bounds of what is remembered of grains that pillars look at.
const (
	maxWants = 64
	maxWant  = 64 // bytes of a name
)

// wants are the grains that the pillars of a run look at beyond those that
// agents send anyway: agents that are called later send them at once.
type wants struct {
	mu    sync.Mutex
	begun bool
	keys  []string
}

// list returns the names; first gives those to start from.
func (w *wants) list(first func() []string) []value.Value {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.begun {
		w.begun = true
		if first != nil {
			for _, k := range first() {
				w.put(k)
			}
		}
	}
	out := make([]value.Value, len(w.keys))
	for i, k := range w.keys {
		out[i] = k
	}
	return out
}

func (w *wants) add(k string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.put(k)
}

func (w *wants) put(k string) {
	if len(w.keys) < maxWants && len(k) <= maxWant && !slices.Contains(w.keys, k) {
		w.keys = append(w.keys, k)
	}
}

// Wanted returns the names of the grains that pillars look at, as far as that is
// known.
func (o *Options) Wanted() []value.Value {
	if o.Tree == nil {
		return []value.Value{}
	}
	return o.Tree.wants.list(o.PillarGrains)
}

// Want notes that a pillar looked at grains.
func (o *Options) Want(keys []value.Value) {
	for _, k := range keys {
		if s, ok := k.(string); ok && o.Tree != nil {
			o.Tree.wants.add(s)
		}
	}
}

// reported are the grains of a target while its pillar is rendered: those that
// came with the request, others asked for when they are first read.
//
// The id and the grains of the roster are the controller's word, whatever the
// target says.
type reported struct {
	c   *Conn
	ctx context.Context //nolint:containedctx // the mapping lives as long as one request
	of  int64           // the agent's number for them; 0: these are all
	own *value.Map      // of the roster

	mu       sync.Mutex
	have     *value.Map
	absent   *value.Map // known not to be there
	complete bool       // have is all
	err      error      // the target could not be asked
}

// reportedBy reads the grains of a request.
func (c *Conn) reportedBy(ctx context.Context, head *value.Map) *reported {
	g := &reported{c: c, ctx: ctx, own: c.grains.Load(), have: dict(head.Map("grains")), absent: value.NewMap(0)}
	g.of, _ = head.At("more").(int64)
	g.complete = g.of == 0
	without := head.List("without")
	for i := range without.Len() {
		g.absent.Set(without.Items[i], true)
	}
	return g
}

// Get returns a grain.
func (g *reported) Get(key value.Value) (value.Value, bool) {
	if key == "id" {
		return g.c.id(), true
	}
	own, ours := g.own.Get(key)
	if _, isMap := own.(*value.Map); ours && !isMap {
		return own, true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	v, ok := g.have.Get(key)
	if !ok && !g.complete && !g.absent.Has(key) && g.err == nil {
		v, ok = g.ask(key)
	}
	return overlaid(v, ok, own, ours)
}

// overlaid is a grain of the target with the roster's over it.
func overlaid(v value.Value, has bool, own value.Value, ours bool) (value.Value, bool) {
	if !ours {
		return v, has
	}
	m, ok := v.(*value.Map)
	over, ok2 := own.(*value.Map)
	if !ok || !ok2 {
		return own, true
	}
	return value.Update(value.Clone(m).(*value.Map), value.Clone(over).(*value.Map), true, false), true
}

// ask asks the target for a grain. The lock is held: what two threads of a
// template read is asked for once.
func (g *reported) ask(key value.Value) (value.Value, bool) {
	if s, ok := key.(string); ok {
		g.c.o.Tree.wants.add(s)
	}
	m := g.fetch(value.NewList(key))
	v, ok := m.Get(key)
	if ok {
		g.have.Set(key, v)
	} else {
		g.absent.Set(key, true)
	}
	return v, ok
}

// fetch asks the target for grains; all where keys is empty.
func (g *reported) fetch(keys *value.List) *value.Map {
	v, err := g.c.m.Call(g.ctx, "grains", value.MapOf("keys", keys, "of", g.of), maxSmall)
	m, ok := v.(*value.Map)
	if err == nil && !ok {
		err = fmt.Errorf("they are not a dict")
	}
	if err != nil {
		g.err = fmt.Errorf("the grains of %s: %w", g.c.id(), err)
		return value.NewMap(0)
	}
	return m
}

// all returns all grains of the target.
func (g *reported) all() *value.Map {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.complete && g.err == nil {
		m := g.fetch(value.NewList())
		if g.err == nil {
			g.have, g.complete = m, true
		}
	}
	return g.have
}

// Keys returns the names of all grains.
func (g *reported) Keys() []value.Value {
	m := g.all().Copy()
	m.Set("id", g.c.id())
	for k := range g.own.All() {
		m.Set(k, nil)
	}
	return m.Keys()
}

// Len returns the number of grains.
func (g *reported) Len() int { return len(g.Keys()) }

// Truth is true: there is the id.
func (g *reported) Truth() bool { return true }

// TypeName is the name of Python's type.
func (g *reported) TypeName() string { return "dict" }

// failed returns why the target could not be asked for a grain.
func (g *reported) failed() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}
