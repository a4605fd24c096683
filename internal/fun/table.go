package fun

import (
	"sort"
	"strings"
	"sync"

	"brine/internal/source"
)

// An Entry names a module and how to get it, so that a table of all modules
// costs nothing until one is used.
type Entry struct {
	Kind Kind
	Name string // with its aliases, the names that Load's Module has
	Also []string
	Load func() Module
}

// A Table is all functions that a run may call. It is read-only and safe for
// concurrent use.
type Table struct {
	entries []*loaded
	byName  map[tableKey]*loaded
}

type tableKey struct {
	kind Kind
	name string
}

type loaded struct {
	Entry
	once  sync.Once
	mod   Module
	index map[string]*Spec
}

func (l *loaded) get() *loaded {
	l.once.Do(func() {
		l.mod = l.Load()
		l.index = make(map[string]*Spec, len(l.mod.Specs))
		for i := range l.mod.Specs {
			l.index[l.mod.Specs[i].Name] = &l.mod.Specs[i]
		}
	})
	return l
}

// NewTable returns a table of entries; it panics where two have one name.
func NewTable(entries []Entry) *Table {
	t := &Table{byName: make(map[tableKey]*loaded, len(entries))}
	for _, e := range entries {
		t.add(e, false)
	}
	return t
}

func (t *Table) add(e Entry, replace bool) {
	l := &loaded{Entry: e}
	for _, name := range append([]string{e.Name}, e.Also...) {
		k := tableKey{e.Kind, name}
		if t.byName[k] != nil && !replace {
			panic("two modules are named " + name)
		}
		t.byName[k] = l
	}
	t.entries = append(t.entries, l)
}

// With returns a table in which entries come before t's own of the same name.
func (t *Table) With(entries []Entry) *Table {
	n := &Table{entries: t.entries[:len(t.entries):len(t.entries)], byName: make(map[tableKey]*loaded, len(t.byName)+len(entries))}
	for k, l := range t.byName {
		n.byName[k] = l
	}
	for _, e := range entries {
		n.add(e, true)
	}
	return n
}

// Module returns the module of a name.
func (t *Table) Module(kind Kind, name string) (*Module, bool) {
	l := t.byName[tableKey{kind, name}]
	if l == nil {
		return nil, false
	}
	return &l.get().mod, true
}

// Lookup returns the function "module.function".
func (t *Table) Lookup(kind Kind, name string) (*Module, *Spec, bool) {
	mod, fn, ok := strings.Cut(name, ".")
	if !ok {
		return nil, nil, false
	}
	l := t.byName[tableKey{kind, mod}]
	if l == nil {
		return nil, nil, false
	}
	s := l.get().index[fn]
	if s == nil && l.mod.Dynamic != nil {
		s = l.mod.Dynamic(fn)
	}
	return &l.mod, s, s != nil
}

// Spec returns the row of a function; nil where there is none, or no table.
func (t *Table) Spec(kind Kind, name string) *Spec {
	if t == nil {
		return nil
	}
	_, spec, _ := t.Lookup(kind, name)
	return spec
}

// ArgNames returns the names of the arguments in their order; none for the nil
// spec of an unknown function.
func (s *Spec) ArgNames() []string {
	if s == nil {
		return nil
	}
	names := make([]string, len(s.Args))
	for i, a := range s.Args {
		names[i] = a.Name
	}
	return names
}

// Modules returns the names of a kind's modules, sorted, aliases included.
func (t *Table) Modules(kind Kind) []string {
	var names []string
	for k := range t.byName {
		if k.kind == kind {
			names = append(names, k.name)
		}
	}
	sort.Strings(names)
	return names
}

// Names returns all of a kind's functions as "module.function", sorted.
func (t *Table) Names(kind Kind) []string {
	var names []string
	for _, m := range t.Modules(kind) {
		for fn := range t.byName[tableKey{kind, m}].get().index {
			names = append(names, m+"."+fn)
		}
	}
	sort.Strings(names)
	return names
}

// Nearest returns the function of a kind that a user most likely meant.
func (t *Table) Nearest(kind Kind, name string) string {
	n, _ := source.Nearest(name, t.Names(kind))
	return n
}
