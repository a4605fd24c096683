package value

import "strings"

// A Strategy is how two dicts are merged: Salt's
// pillar_source_merging_strategy.
type Strategy string

// The strategies. An unknown one merges as Recurse.
const (
	Smart     Strategy = "smart"     // Aggregate for the yamlex renderer, else Recurse
	Recurse   Strategy = "recurse"   // dicts within dicts are merged
	Aggregate Strategy = "aggregate" // the later value wins whole below the first level, save for what !aggregate marks
	Overwrite Strategy = "overwrite" // the later value wins whole
	MergeList Strategy = "list"      // values of both sides become a list of two
	NoMerge   Strategy = "none"      // as Recurse; only one source is there
)

// Known reports whether s is a strategy that Salt knows.
func (s Strategy) Known() bool {
	switch s {
	case Smart, Recurse, Aggregate, Overwrite, MergeList, NoMerge:
		return true
	}
	return false
}

// For returns the strategy that s is where renderer is the configured render
// pipeline: Aggregate or Recurse for Smart, else s itself.
func (s Strategy) For(renderer string) Strategy {
	if s != Smart {
		return s
	}
	if parts := strings.Split(renderer, "|"); parts[len(parts)-1] == "yamlex" || strings.HasPrefix(renderer, "yamlex_") {
		return Aggregate
	}
	return Recurse
}

// Merge returns a and b merged by a strategy. renderer is the configured
// render pipeline, which Smart looks at; mergeLists makes lists of both sides
// one list where the strategy goes into the data. a's values are copied, b's
// may be shared by the result; neither is changed, except that Overwrite
// replaces the keys of a that b has.
//
// Salt: salt/utils/dictupdate.py merge.
func Merge(a, b Mapping, s Strategy, renderer string, mergeLists bool) *Map {
	switch s = s.For(renderer); s {
	case MergeList:
		return mergeList(a, b)
	case Aggregate:
		return ToMap(mergeMarked(ToMap(a), ToMap(b), 1))
	case Overwrite:
		return mergeOverwrite(a, b, mergeLists)
	case NoMerge:
		return MergeRecurse(a, b, false)
	case Recurse:
		return MergeRecurse(a, b, mergeLists)
	default:
		return MergeRecurse(a, b, false)
	}
}

// MergeRecurse returns a deep copy of a, updated by b.
//
// Salt: salt/utils/dictupdate.py merge_recurse.
func MergeRecurse(a, b Mapping, mergeLists bool) *Map {
	return Update(ToMap(Clone(a)), b, true, mergeLists)
}

// Update sets b's entries in a and returns a. With recursive, dicts on both
// sides are merged in place, and with mergeLists the items of b's lists that
// a's list lacks are added to a copy of it.
//
// As in Salt, the levels below take recursive as true, and two dicts without a
// common key are joined flat.
//
// Salt: salt/utils/dictupdate.py update.
func Update(a *Map, b Mapping, recursive, mergeLists bool) *Map {
	u := updater{lists: mergeLists}
	return u.update(a, b, recursive)
}

// An updater sets entries level by level. From a depth that no plain data has
// on it remembers which dicts it merged, so that it ends with those that
// contain themselves.
type updater struct {
	lists bool
	depth int
	seen  map[[2]*Map]bool
}

// again reports whether the two were merged before.
func (u *updater) again(a *Map, b Mapping) bool {
	bm, ok := b.(*Map)
	if !ok || u.seen == nil && u.depth < memoDepth {
		return false
	}
	if u.seen == nil {
		u.seen = map[[2]*Map]bool{}
	}
	pair := [2]*Map{a, bm}
	if u.seen[pair] {
		return true
	}
	u.seen[pair] = true
	return false
}

func (u *updater) update(a *Map, b Mapping, recursive bool) *Map {
	if u.again(a, b) {
		return a
	}
	u.depth++
	defer func() { u.depth-- }()
	for _, k := range b.Keys() {
		bv, _ := b.Get(k)
		if !recursive {
			a.Set(k, bv)
			continue
		}
		av, _ := a.Get(k)
		switch av := av.(type) {
		case *Map:
			if bm, ok := bv.(Mapping); ok {
				u.update(av, bm, true)
				continue
			}
		case *List:
			if bl, ok := bv.(*List); ok && u.lists {
				a.Set(k, joinLists(av, bl))
				continue
			}
		}
		a.Set(k, bv)
	}
	return a
}

// joinLists returns a copy of a with the items of b that it lacks.
func joinLists(a, b *List) *List {
	l := Clone(a).(*List)
	for _, x := range b.Items {
		if !containsValue(l.Items, x) {
			l.Append(x)
		}
	}
	return l
}

func containsValue(items []Value, x Value) bool {
	for _, y := range items {
		if Equal(x, y) {
			return true
		}
	}
	return false
}

// mergeList pairs the values of common keys; keys of b alone are dropped, as
// Salt does.
func mergeList(a, b Mapping) *Map {
	m := NewMap(a.Len())
	for _, k := range a.Keys() {
		av, _ := a.Get(k)
		if bv, ok := b.Get(k); ok {
			m.Set(k, NewList(av, bv))
		} else {
			m.Set(k, av)
		}
	}
	return m
}

// mergeOverwrite sets b's values in a and merges the rest.
func mergeOverwrite(a, b Mapping, mergeLists bool) *Map {
	am := ToMap(a)
	for _, k := range b.Keys() {
		if am.Has(k) {
			bv, _ := b.Get(k)
			am.Set(k, bv)
		}
	}
	return MergeRecurse(am, b, mergeLists)
}

// ToMap returns m as a *Map: itself, what a lazy mapping has loaded, or a
// shallow copy.
func ToMap(v Value) *Map {
	switch v := v.(type) {
	case nil:
		return NewMap(0)
	case *Map:
		if v == nil {
			return NewMap(0)
		}
		return v
	case *LazyMap:
		return v.Map()
	case Mapping:
		m := NewMap(v.Len())
		m.Update(v)
		return m
	}
	return NewMap(0)
}
