package outputter

import (
	"fmt"
	"slices"

	"brine/internal/py/value"
)

// A Group is targets with equal results.
type Group interface {
	comparable
	Size() int    // how many targets there are
	Failed() bool // something failed on them
	// Result is what they returned, in a form that can be compared.
	Result() value.Value
}

// Near says in which states a group differs from a larger one.
type Near[G Group] struct {
	Base   G
	states []int // the positions of those that differ
	of     int   // how many states there are
}

// Differs returns of the states of the group those that differ.
func (n Near[G]) Differs(states value.Value) *value.Map {
	out, m := value.NewMap(len(n.states)), states.(*value.Map)
	keys := m.Keys()
	for _, i := range n.states {
		out.Set(keys[i], m.At(keys[i]))
	}
	return out
}

// Text is what the name of the group has behind it.
func (n Near[G]) Text(base string) string {
	return fmt.Sprintf(" (%d of %d states as on %s)", n.of-len(n.states), n.of, base)
}

// Groups that are nearly like a larger one have the same states, at least nearFrom of
// them, of which at most one in nearPart differs. Each is compared with the nearMost
// largest groups only: where more differ, none of them is what targets usually are.
const (
	nearFrom = 4
	nearPart = 4
	nearMost = 20
)

// Nearest returns the groups that are nearly like a larger one, on which all went well.
func Nearest[G Group](all []G) map[G]Near[G] {
	bySize := slices.Clone(all)
	slices.SortStableFunc(bySize, func(a, b G) int { return b.Size() - a.Size() })
	near := map[G]Near[G]{}
	var bases []G
	var results []*value.Map // of bases
	for _, g := range bySize {
		own, ok := Timeless(g.Result()).(*value.Map)
		if !ok || own.Len() < nearFrom {
			continue
		}
		found := false
		for i, base := range bases {
			var states []int
			if states, found = differing(results[i], own); found {
				near[g] = Near[G]{base, states, own.Len()}
				break
			}
		}
		if !found && !g.Failed() && len(bases) < nearMost {
			bases, results = append(bases, g), append(results, own)
		}
	}
	return near
}

// differing returns the positions of the states that differ; false where these are many,
// or where the two are not the same states.
func differing(base, own *value.Map) (states []int, ok bool) {
	if base.Len() != own.Len() {
		return nil, false
	}
	i := -1
	for tag, x := range own.All() {
		i++
		y, has := base.Get(tag)
		st, isState := x.(*value.Map)
		if !has || !isState || !st.Has("__run_num__") {
			return nil, false
		}
		if value.Equal(x, y) {
			continue
		}
		if states = append(states, i); nearPart*len(states) > own.Len() {
			return nil, false
		}
	}
	return states, len(states) > 0
}

// Timeless is a result without what differs between equal results: when states ran, for
// how long, and the process IDs of their commands.
func Timeless(v value.Value) value.Value {
	states, ok := v.(*value.Map)
	if !ok {
		return v
	}
	out := value.NewMap(states.Len())
	for k, x := range states.All() {
		if st, ok := x.(*value.Map); ok && st.Has("__run_num__") {
			st = st.Copy()
			st.Delete("start_time")
			st.Delete("duration")
			if ch := st.Map("changes"); ch.Has("pid") && ch.Has("retcode") {
				ch = ch.Copy()
				ch.Delete("pid")
				st.Set("changes", ch)
			}
			x = st
		}
		out.Set(k, x)
	}
	return out
}
