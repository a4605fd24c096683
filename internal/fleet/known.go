package fleet

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/core/target"
	"brine/internal/py/value"
)

// A keeper is a Provider that knows something of its machines without connecting to
// them.
type keeper interface {
	Kept(id string) target.Minion
}

// Known is Match for who may not have anything reached: the ids that an expression
// names among the machines that are listed, by what is known of them here. No machine
// and no master is connected to, no pillar is looked at, and no machine is made of the
// name of a target. maybe are ids that may be meant, and elsewhere the names of fleets
// that have no list.
func (f *Fleet) Known(ctx context.Context, tgt value.Value, tgtType string) (ids, maybe, elsewhere []string, err error) {
	return f.KnownBy(ctx, tgt, tgtType, nil)
}

// KnownBy is Known by grains that facts has of a machine, where it has some: all of those
// that the machine once had. The roster's count as well, and before them.
func (f *Fleet) KnownBy(ctx context.Context, tgt value.Value, tgtType string, facts func(id string) *value.Map) (ids, maybe, elsewhere []string, err error) {
	m, err := target.Compile(tgt, tgtType, f.Nodegroups)
	if err != nil {
		return nil, nil, nil, &fun.TargetError{Err: err}
	}
	if _, pillar := m.Needs(); pillar {
		return nil, nil, nil, &fun.TargetError{Err: ErrPillar}
	}
	all, owner, err := f.listed(ctx, "")
	if err != nil {
		return nil, nil, nil, err
	}
	for _, id := range all {
		minion := target.Minion{ID: id}
		if k, ok := owner[id].(keeper); ok {
			minion = k.Kept(id)
		} else {
			minion.Unknown = func() error { return fmt.Errorf("nothing of %s is known here", id) }
		}
		if facts != nil {
			minion = withFacts(minion, facts)
		}
		ok, err := m.Match(minion)
		if err != nil {
			return nil, nil, nil, fmt.Errorf("match %s: %w", id, err)
		}
		// A grain that is not known may be one that must not be there.
		unknown := minion.Unknown != nil && minion.Unknown() != nil
		switch {
		case unknown:
			maybe = append(maybe, id)
		case ok:
			ids = append(ids, id)
		}
	}
	for _, name := range f.fleets() {
		if name != RosterFleet {
			elsewhere = append(elsewhere, name)
		}
	}
	return ids, maybe, elsewhere, ctx.Err()
}

// withFacts returns a machine with the grains that facts has of it, if something asks for
// grains that are not known.
func withFacts(known target.Minion, facts func(id string) *value.Map) target.Minion {
	kept := sync.OnceValue(func() *value.Map { return facts(known.ID) })
	g := &factGrains{known: known, kept: kept}
	out := known
	out.Grains = func() value.Mapping { return g }
	out.Unknown = func() error {
		if known.Unknown == nil || g.asked && kept() != nil {
			return nil
		}
		return known.Unknown()
	}
	return out
}

// factGrains are what is known of a machine, and then its facts.
type factGrains struct {
	known target.Minion
	kept  func() *value.Map
	asked bool
}

// Get returns a grain.
func (g *factGrains) Get(key value.Value) (value.Value, bool) {
	if g.known.Grains != nil {
		if v, ok := g.known.Grains().Get(key); ok {
			return v, true
		}
	}
	g.asked = true
	return g.kept().Get(key)
}

// Len returns the number of grains.
func (g *factGrains) Len() int { return len(g.Keys()) }

// Keys returns the names of the grains.
func (g *factGrains) Keys() []value.Value {
	g.asked = true
	all := value.NewMap(0)
	if kept := g.kept(); kept != nil {
		all = kept.Copy()
	}
	if g.known.Grains != nil {
		for _, k := range g.known.Grains().Keys() {
			all.Set(k, true)
		}
	}
	return all.Keys()
}

// ErrPillar says that a target looks at pillar, of which [Fleet.Known] knows nothing.
var ErrPillar = fmt.Errorf("the target is matched by pillar, which is not looked at here")

// CheckExactPillar returns a *fun.TargetError if a target searches pillar by a pattern; see
// [target.Whole].
func CheckExactPillar(tgt value.Value, tgtType string) error {
	if err := target.CheckExactPillar(tgt, tgtType); err != nil {
		return &fun.TargetError{Err: err}
	}
	return nil
}

// KnownText says in words what Known returns besides the ids; "" if that is nothing.
func KnownText(maybe, elsewhere []string) string {
	var parts []string
	const shown = 5
	if len(maybe) > 0 {
		names := strings.Join(maybe[:min(shown, len(maybe))], ", ")
		if len(maybe) > shown {
			names += fmt.Sprintf(" and %d more", len(maybe)-shown)
		}
		parts = append(parts, "Whether these hosts are meant is not known, since their grains are not kept here: "+names+".")
	}
	if len(elsewhere) > 0 {
		parts = append(parts, "Masters are not asked which of their minions are meant: "+strings.Join(elsewhere, ", ")+".")
	}
	return strings.Join(parts, " ")
}
