package value

import (
	"iter"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"brine/internal/py/source"
)

// A Map is Python's dict: keys are scalars or tuples, order is that of
// insertion, and 1, 1.0 and True are one key.
//
// The zero Map is empty and ready; a nil *Map reads as empty. It is not safe
// for writing from several goroutines.
type Map struct {
	// Ordered marks an OrderedDict: it prints as one and the YAML outputs of
	// templates keep its order.
	Ordered bool
	// Aggregate marks a dict that yamlex's !aggregate merges.
	Aggregate bool

	ents  []entry
	index map[any]int // nil while the map is small
	src   *positions
}

type entry struct{ key, val Value }

// smallMap is the size up to which a linear search beats the index.
const smallMap = 16

// NewMap returns an empty map with room for n entries.
func NewMap(n int) *Map { return &Map{ents: make([]entry, 0, n)} }

// MapOf returns a map of alternating keys and values.
func MapOf(kv ...Value) *Map {
	m := NewMap(len(kv) / 2)
	for i := 0; i+1 < len(kv); i += 2 {
		m.Set(kv[i], kv[i+1])
	}
	return m
}

// tupleKey stands for a tuple among the keys of an index.
type tupleKey string

// Hashable reports whether v may be a key, as Python's hash would.
func Hashable(v Value) bool { return hashable(v, 0) }

func hashable(v Value, depth int) bool {
	if depth > maxOpen { // no key is that deep
		return false
	}
	switch v := v.(type) {
	case *List, *Map, *Set:
		return false
	case Tuple:
		for _, x := range v {
			if !hashable(x, depth+1) {
				return false
			}
		}
	case Mapping:
		return false
	}
	return true
}

// normKey returns what stands for k in comparisons: equal Python keys give
// equal Go values.
func normKey(k Value) any {
	switch k := k.(type) {
	case string, int64, nil:
		return k
	case bool:
		if k {
			return int64(1)
		}
		return int64(0)
	case float64:
		if k == math.Trunc(k) && math.Abs(k) < 1<<62 {
			return int64(k)
		}
		return k
	case *big.Int:
		return tupleKey("big " + k.String())
	case time.Time:
		return tupleKey("time " + k.Format(time.RFC3339Nano))
	case Tuple:
		return normTuple(k)
	case Tupler:
		return normTuple(k.AsTuple())
	case *List, *Map, *Set:
		return tupleKey(Repr(k))
	case Texter:
		return k.Text()
	}
	return k
}

// normTuple makes one key of tuples whose items are equal: (1,) is (1.0,).
func normTuple(t Tuple) tupleKey {
	var b strings.Builder
	for _, x := range t {
		switch n := normKey(x).(type) {
		case int64:
			b.WriteString(strconv.FormatInt(n, 10))
		case string:
			b.WriteString(strconv.Quote(n))
		case tupleKey:
			b.WriteString("(" + string(n) + ")")
		default:
			b.WriteString(Repr(x))
		}
		b.WriteByte(',')
	}
	return tupleKey(b.String())
}

func (m *Map) find(k Value) int {
	if m == nil {
		return -1
	}
	if m.index != nil {
		if i, ok := m.index[normKey(k)]; ok {
			return i
		}
		return -1
	}
	if s, ok := k.(string); ok {
		for i := range m.ents {
			switch t := m.ents[i].key.(type) {
			case string:
				if s == t {
					return i
				}
			case Texter:
				if s == t.Text() {
					return i
				}
			}
		}
		return -1
	}
	nk := normKey(k)
	for i := range m.ents {
		if normKey(m.ents[i].key) == nk {
			return i
		}
	}
	return -1
}

// Len returns the number of entries.
func (m *Map) Len() int {
	if m == nil {
		return 0
	}
	return len(m.ents)
}

// Get returns the value at key, and whether the key is there.
func (m *Map) Get(key Value) (Value, bool) {
	if i := m.find(key); i >= 0 {
		return m.ents[i].val, true
	}
	return nil, false
}

// Near returns what Get does, and finds it at once where the entry is the i-th.
func (m *Map) Near(i int, key Value) (Value, bool) {
	if k, ok := key.(string); ok && i < m.Len() {
		if s, ok := m.ents[i].key.(string); ok && s == k {
			return m.ents[i].val, true
		}
	}
	return m.Get(key)
}

// At returns the value at key, or nil.
func (m *Map) At(key Value) Value {
	v, _ := m.Get(key)
	return v
}

// Has reports whether key is there.
func (m *Map) Has(key Value) bool { return m.find(key) >= 0 }

// Str returns the string at key, or "" where there is none.
func (m *Map) Str(key Value) string {
	s, _ := m.At(key).(string)
	return s
}

// Map returns the map at key, or nil where there is none.
func (m *Map) Map(key Value) *Map {
	x, _ := m.At(key).(*Map)
	return x
}

// List returns the list at key, or nil where there is none.
func (m *Map) List(key Value) *List {
	x, _ := m.At(key).(*List)
	return x
}

// Set puts val at key; an existing key keeps its place.
func (m *Map) Set(key, val Value) {
	if i := m.find(key); i >= 0 {
		m.ents[i].val = val
		return
	}
	m.ents = append(m.ents, entry{key, val})
	if m.index != nil {
		m.index[normKey(key)] = len(m.ents) - 1
	} else if len(m.ents) > smallMap {
		m.reindex()
	}
}

// Add puts val at key and notes the place where key was written. It returns
// false, and changes nothing, where key is there.
func (m *Map) Add(key, val Value, p source.Pos) bool {
	if m.find(key) >= 0 {
		return false
	}
	m.ents = append(m.ents, entry{key, val})
	if m.index != nil {
		m.index[normKey(key)] = len(m.ents) - 1
	} else if len(m.ents) > smallMap {
		m.reindex()
	}
	if m.src == nil {
		m.src = newPositions(p.File, cap(m.ents))
	}
	m.src = m.src.set(len(m.ents)-1, p)
	return true
}

func (m *Map) reindex() {
	m.index = make(map[any]int, len(m.ents)*2)
	for i := range m.ents {
		m.index[normKey(m.ents[i].key)] = i
	}
}

// Delete takes key out and reports whether it was there. It is linear.
func (m *Map) Delete(key Value) bool {
	i := m.find(key)
	if i < 0 {
		return false
	}
	m.ents = append(m.ents[:i:i], m.ents[i+1:]...)
	if m.src != nil && i < len(m.src.lc) {
		src := *m.src
		src.lc = append(src.lc[:i:i], src.lc[i+1:]...)
		m.src = &src
	}
	if m.index != nil {
		m.index = nil
		if len(m.ents) > smallMap {
			m.reindex()
		}
	}
	return true
}

// Keys returns the keys in order.
func (m *Map) Keys() []Value {
	if m == nil {
		return nil
	}
	keys := make([]Value, len(m.ents))
	for i := range m.ents {
		keys[i] = m.ents[i].key
	}
	return keys
}

// All ranges over the entries in order. The map must not gain or lose keys
// meanwhile.
func (m *Map) All() iter.Seq2[Value, Value] {
	return func(yield func(Value, Value) bool) {
		if m == nil {
			return
		}
		for i := range m.ents {
			if !yield(m.ents[i].key, m.ents[i].val) {
				return
			}
		}
	}
}

// Entry returns the key and value at place i.
func (m *Map) Entry(i int) (key, val Value) { return m.ents[i].key, m.ents[i].val }

// Update sets every entry of o in m.
func (m *Map) Update(o Mapping) {
	if om, ok := o.(*Map); ok {
		for k, v := range om.All() {
			m.Set(k, v)
		}
		return
	}
	for _, k := range o.Keys() {
		v, _ := o.Get(k)
		m.Set(k, v)
	}
}

// Copy returns a shallow copy.
func (m *Map) Copy() *Map { return m.cloneWith(func(v Value) Value { return v }) }

func (m *Map) cloneWith(f func(Value) Value) *Map {
	if m == nil {
		return NewMap(0)
	}
	c := &Map{Ordered: m.Ordered, Aggregate: m.Aggregate, ents: make([]entry, len(m.ents)), src: m.src}
	for i := range m.ents {
		c.ents[i] = entry{m.ents[i].key, f(m.ents[i].val)}
	}
	if m.index != nil {
		c.reindex()
	}
	if c.src != nil {
		src := *c.src
		src.lc = append([]lineCol(nil), src.lc...)
		c.src = &src
	}
	return c
}

// SetPos notes the place where key was written.
func (m *Map) SetPos(key Value, p source.Pos) {
	if i := m.find(key); i >= 0 {
		m.src = m.src.set(i, p)
	}
}

// Pos returns the place where key was written, if it is known.
func (m *Map) Pos(key Value) source.Pos {
	if m == nil || m.src == nil {
		return source.Pos{}
	}
	return m.src.at(m.find(key))
}

// A Set is Python's set of hashable values. It iterates in order of insertion,
// which is one of the orders Python may give.
type Set struct{ m Map }

// NewSet returns a set of items.
func NewSet(items ...Value) *Set {
	s := &Set{}
	for _, x := range items {
		s.Add(x)
	}
	return s
}

// Add puts x in.
func (s *Set) Add(x Value) { s.m.Set(x, nil) }

// Remove takes x out and reports whether it was there.
func (s *Set) Remove(x Value) bool { return s.m.Delete(x) }

// Has reports whether x is in.
func (s *Set) Has(x Value) bool { return s.m.Has(x) }

// Len returns the number of items.
func (s *Set) Len() int { return s.m.Len() }

// Items returns the items.
func (s *Set) Items() []Value { return s.m.Keys() }

func (s *Set) clone() *Set { return &Set{*s.m.Copy()} }

func (s *Set) equal(o *Set) bool {
	if s.Len() != o.Len() {
		return false
	}
	for _, x := range s.Items() {
		if !o.Has(x) {
			return false
		}
	}
	return true
}
