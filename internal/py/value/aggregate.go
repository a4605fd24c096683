package value

// IsAggregate reports whether v is a dict or list that yamlex's !aggregate
// marks.
func IsAggregate(v Value) bool {
	switch v := v.(type) {
	case *Map:
		return v != nil && v.Aggregate
	case *List:
		return v != nil && v.src != nil && v.src.aggregate
	}
	return false
}

// NewAggregate returns a list that !aggregate marks.
func NewAggregate(items ...Value) *List {
	return &List{Items: items, src: &positions{aggregate: true}}
}

// MergeAggregate returns b merged into a where marks of !aggregate say so: two
// dicts both of which are marked are joined, of others only b's keys remain,
// lists that are both marked are joined, and else b's value holds. Neither is
// changed.
//
// Salt: salt/serializers/yamlex.py merge_recursive, salt/utils/aggregation.py.
func MergeAggregate(a, b Value) Value { return mergeMarked(a, b, 0) }

// mergeMarked is MergeAggregate that takes the first levels as marked.
func mergeMarked(a, b Value, levels int) Value {
	var u updater
	return u.marked(a, b, levels)
}

func (u *updater) marked(a, b Value, levels int) Value {
	marked := levels > 0
	switch b := b.(type) {
	case *Map:
		am, ok := a.(*Map)
		if !ok || u.again(am, b) {
			break
		}
		u.depth++
		m := b.Copy()
		if marked || am.Aggregate && b.Aggregate {
			m = am.Copy()
		}
		for k, v := range b.All() {
			if av, ok := am.Get(k); ok {
				v = u.marked(av, v, max(0, levels-1))
			}
			m.Set(k, v)
			if p := b.Pos(k); !p.IsZero() {
				m.SetPos(k, p)
			}
		}
		u.depth--
		return m
	case *List:
		al, ok := a.(*List)
		if !ok || !marked && (!IsAggregate(al) || !IsAggregate(b)) {
			break
		}
		l := NewAggregate()
		for i, x := range al.Items {
			l.Append(x)
			l.SetPosAt(i, al.PosAt(i))
		}
		for i, x := range b.Items {
			if !containsValue(al.Items, x) {
				l.Append(x)
				l.SetPosAt(l.Len()-1, b.PosAt(i))
			}
		}
		return l
	}
	return b
}
