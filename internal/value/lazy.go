package value

import (
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
