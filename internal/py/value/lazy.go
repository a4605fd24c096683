package value

import (
	"slices"
	"sync"
	"sync/atomic"
)

// A LazyMap is a dict that is made on first use, such as a run's pillar. It
// reads and prints as the *Map that it makes; whoever wants to change it takes
// that by [LazyMap.Map]. It is safe for concurrent use as far as the map is.
type LazyMap struct {
	once   sync.Once
	load   func() *Map
	m      *Map
	loaded atomic.Bool
}

// NewLazyMap returns a map that load makes when it is first read. A nil result
// is an empty map.
func NewLazyMap(load func() *Map) *LazyMap { return &LazyMap{load: load} }

// Map returns the map, loading it if it was not.
func (l *LazyMap) Map() *Map {
	l.once.Do(func() {
		l.m = l.load()
		if l.m == nil {
			l.m = NewMap(0)
		}
		l.load = nil
		l.loaded.Store(true)
	})
	return l.m
}

// Loaded reports whether the map was read.
func (l *LazyMap) Loaded() bool { return l.loaded.Load() }

// Get returns the value at key, and whether the key is there.
func (l *LazyMap) Get(key Value) (Value, bool) { return l.Map().Get(key) }

// Keys returns the keys in order.
func (l *LazyMap) Keys() []Value { return l.Map().Keys() }

// Len returns the number of entries.
func (l *LazyMap) Len() int { return l.Map().Len() }

// Repr prints as the dict.
func (l *LazyMap) Repr() string { return Repr(l) }

// TypeName is "dict".
func (l *LazyMap) TypeName() string { return "dict" }

// A Row is a dict of a long list that is read when it is looked at, each time
// again: a list of rows takes little memory however large they are.
type Row struct{ read func() *Map }

// NewRow returns a row that read makes.
func NewRow(read func() *Map) *Row { return &Row{read} }

// Get returns the value at key, and whether the key is there.
func (r *Row) Get(key Value) (Value, bool) { return r.read().Get(key) }

// Keys returns the keys in order.
func (r *Row) Keys() []Value { return r.read().Keys() }

// Len returns the number of entries.
func (r *Row) Len() int { return r.read().Len() }

// Repr prints as the dict.
func (r *Row) Repr() string { return Repr(r.read()) }

// TypeName is "dict".
func (r *Row) TypeName() string { return "dict" }

// Solid returns v with all rows in it read: a dict that can be changed in the
// place of each.
func Solid(v Value) Value {
	v, _ = solid(v)
	return v
}

func solid(v Value) (Value, bool) {
	switch v := v.(type) {
	case *Row:
		return v.read(), true
	case *List:
		if v == nil || !slices.ContainsFunc(v.Items, isRow) {
			return v, false
		}
		out := v.Copy(0)
		for i, x := range out.Items {
			out.Items[i], _ = solid(x)
		}
		return out, true
	case *Map:
		var out *Map
		for k, x := range v.All() {
			y, changed := solid(x)
			if !changed {
				continue
			}
			if out == nil {
				out = v.Copy()
			}
			out.Set(k, y)
		}
		if out != nil {
			return out, true
		}
	}
	return v, false
}

func isRow(v Value) bool { _, ok := v.(*Row); return ok }
