package fun

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"brine/internal/core/absent"
	"brine/internal/core/saltnames"
	"brine/internal/py/source"
)

// An Entry names a module and how to get it, so that a table of all modules
// costs nothing until one is used.
type Entry struct {
	Kind Kind
	Name string // as Salt names the file: "test", "aptpkg"
	Also []string
	// Virtual is the name under which the module serves, where that is another
	// than Name: "pkg" for aptpkg and yumpkg. Several entries may have the same;
	// which of them serves a run, [Env.Provider] decides.
	Virtual string
	// Custom says that the module is of the tree: its functions are added to those
	// of brine's own modules of the same name, and come before them.
	Custom bool
	Load   func() Module
}

func (e *Entry) serves() string {
	if e.Virtual != "" {
		return e.Virtual
	}
	return e.Name
}

// A Table is all functions that a run may call. It is read-only and safe for
// concurrent use.
type Table struct {
	// More than one: the custom modules of a name, then the providers of a virtual
	// module, in order.
	byName map[tableKey][]*loaded
	merged sync.Map // of mergedKey to *loaded
}

type tableKey struct {
	kind Kind
	name string
}

// A loaded module. Its rows are bound one by one, when they are asked for: those of a
// module with a hundred functions, of which a run calls two, cost more than the calls.
type loaded struct {
	Entry
	once   sync.Once
	mod    Module    // with the rows as they are declared; spec and whole return bound ones
	rows   sync.Map  // of the name of a function to its *Spec
	bound  sync.Once // of all
	all    Module
	layers []*loaded // of what merge returns: the modules, the first before the others
}

func (l *loaded) get() *loaded {
	l.once.Do(func() {
		l.mod = l.Load()
		l.mod.Provider = l.Name
	})
	return l
}

// whole returns the module with all of its rows bound.
func (l *loaded) whole() *Module {
	l.get()
	l.bound.Do(func() { l.all = l.mod.Loaded() })
	return &l.all
}

// Loaded returns a copy of the module whose rows have what a table sets: the arguments
// and the function of each. A room's own tests use it.
func (m Module) Loaded() Module {
	m.Specs = slices.Clone(m.Specs) // static data that other tables share
	for i := range m.Specs {
		m.Specs[i].bind(m.Kind)
	}
	return m
}

func (l *loaded) spec(name string) *Spec {
	for i, layer := range l.layers {
		if s := layer.spec(name); s != nil {
			return orBelow(s, l.layers[i+1:])
		}
	}
	if l.layers != nil {
		return nil
	}
	if s, ok := l.rows.Load(name); ok {
		return s.(*Spec)
	}
	specs := l.get().mod.Specs
	for i := range slices.Backward(specs) { // of two rows of one name the last
		if specs[i].Name == name {
			s := specs[i]
			s.bind(l.mod.Kind)
			kept, _ := l.rows.LoadOrStore(name, &s)
			return kept.(*Spec)
		}
	}
	if l.mod.Dynamic != nil {
		return l.mod.Dynamic(name)
	}
	return nil
}

// NewTable returns a table of entries; it panics where two have one name and
// are not providers of one virtual module.
func NewTable(entries []Entry) *Table {
	t := &Table{byName: make(map[tableKey][]*loaded, len(entries))}
	for _, e := range entries {
		l := &loaded{Entry: e}
		for _, name := range append([]string{e.serves()}, e.Also...) {
			k := tableKey{e.Kind, name}
			if before := t.byName[k]; before != nil && (e.Virtual == "" || before[0].Virtual == "") {
				panic("two modules are named " + name)
			}
			t.byName[k] = append(t.byName[k], l)
		}
	}
	return t
}

// With returns a table in which entries replace t's own of the same name. Custom ones
// are put before t's own, in their order, and so is one with a virtual name, which
// t's own serve where it does not.
func (t *Table) With(entries []Entry) *Table {
	n := &Table{byName: make(map[tableKey][]*loaded, len(t.byName)+len(entries))}
	maps.Copy(n.byName, t.byName)
	custom := map[tableKey][]*loaded{}
	for _, e := range entries {
		l := &loaded{Entry: e}
		for _, name := range append([]string{e.serves()}, e.Also...) {
			k := tableKey{e.Kind, name}
			switch {
			case e.Custom:
				custom[k] = append(custom[k], l)
			case e.Virtual != "":
				n.byName[k] = append([]*loaded{l}, n.byName[k]...)
			default:
				n.byName[k] = []*loaded{l}
			}
		}
	}
	for k, ls := range custom {
		n.byName[k] = append(ls, n.byName[k]...)
	}
	return n
}

// Module returns the module of a name, with what custom modules add to it; of a virtual
// one its first provider. It is for documentation: a run asks [Env.Provider].
func (t *Table) Module(kind Kind, name string) (*Module, bool) {
	all := t.byName[tableKey{kind, name}]
	if len(all) == 0 {
		return nil, false
	}
	n := 0
	for n < len(all)-1 && all[n].Custom {
		n++
	}
	return t.merge(kind, name, all[:n+1]).whole(), true
}

// Providers returns the modules that may serve under a name, in the order in
// which they are asked; one where the name is not a virtual module's.
func (t *Table) Providers(kind Kind, name string) []*Module {
	all := t.byName[tableKey{kind, name}]
	mods := make([]*Module, len(all))
	for i, l := range all {
		mods[i] = l.whole()
	}
	return mods
}

// Lookup returns the function "module.function"; of a virtual module that of the
// first provider that has it. A run asks [Env.Find].
func (t *Table) Lookup(kind Kind, name string) (*Module, *Spec, bool) {
	mod, fn, ok := strings.Cut(name, ".")
	if !ok {
		return nil, nil, false
	}
	for _, l := range t.byName[tableKey{kind, mod}] {
		if s := l.spec(fn); s != nil {
			return &l.mod, s, true
		}
	}
	return nil, nil, false
}

// Spec returns the row of a function; nil where there is none, or no table.
func (t *Table) Spec(kind Kind, name string) *Spec {
	if t == nil {
		return nil
	}
	_, spec, _ := t.Lookup(kind, name)
	return spec
}

// Declares reports whether the function has the argument name.
func (s *Spec) Declares(name string) bool {
	for i := range s.Args {
		if s.Args[i].Name == name {
			return true
		}
	}
	return false
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

// IsLookup reports whether the function only shows what others returned; none
// that is unknown does.
func (s *Spec) IsLookup() bool { return s != nil && s.Lookup }

// SecretArgs returns the names of the arguments that hold secrets, and "**" where
// further keyword arguments may hold some; none for the nil spec of an unknown function.
func (s *Spec) SecretArgs() []string {
	var names []string
	if s != nil {
		for _, a := range s.Args {
			if a.Secret {
				names = append(names, a.Name)
			}
		}
		if s.HideKw {
			names = append(names, "**")
		}
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
	slices.Sort(names)
	return names
}

// Names returns all of a kind's functions as "module.function", sorted.
func (t *Table) Names(kind Kind) []string {
	var names []string
	for _, m := range t.Modules(kind) {
		for _, l := range t.byName[tableKey{kind, m}] {
			specs := l.get().mod.Specs
			for i := range specs {
				names = append(names, m+"."+specs[i].Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// WhyAbsent returns why Salt's function or module of a name is absent; "" where nothing
// is known, or the table has it.
func (t *Table) WhyAbsent(kind Kind, name string) string {
	mod, _, _ := strings.Cut(name, ".")
	if t.Spec(kind, name) != nil || mod == name && t.byName[tableKey{kind, mod}] != nil {
		return ""
	}
	return absent.Why(kind.Short(), name)
}

// NotFound returns the error for a function that the table does not have: it says
// whether it is a module or of another kind, whether Salt has it, or which name is
// nearest.
func (t *Table) NotFound(kind Kind, name string) *NotFoundError {
	err := &NotFoundError{Kind: kind, Name: name}
	for _, k := range []Kind{kind, State, Exec, Runner, Wheel} {
		if err.IsModule = t.byName[tableKey{k, name}] != nil; err.IsModule {
			return err
		}
		if _, _, ok := t.Lookup(k, name); ok && k != kind {
			err.Other, err.IsOther = k, true
			return err
		}
	}
	for _, k := range []Kind{kind, State, Exec, Runner, Wheel} {
		if saltnames.Has(k.Short(), name) || saltnames.Functions(k.Short(), name) != nil {
			err.InSalt, err.SaltKind = true, k
			err.Why = t.WhyAbsent(k, name)
			return err
		}
	}
	err.Nearest = t.Nearest(kind, name)
	return err
}

// Nearest returns the function of a kind that a user most likely meant, for a name
// without a dot the module; "" where none is near. Both the module and the function
// have to be near.
func (t *Table) Nearest(kind Kind, name string) string {
	mod, fn, ok := strings.Cut(name, ".")
	if !ok {
		near, _ := source.Nearest(name, t.Modules(kind))
		return near
	}
	mods := []string{mod}
	if t.byName[tableKey{kind, mod}] == nil {
		mods = source.Near(mod, t.Modules(kind))
	}
	for _, m := range mods {
		var fns []string
		for _, l := range t.byName[tableKey{kind, m}] {
			specs := l.get().mod.Specs
			for i := range specs {
				f := specs[i].Name
				if f == fn {
					return m + "." + f
				}
				fns = append(fns, f)
			}
		}
		slices.Sort(fns)
		if n, ok := source.Nearest(fn, fns); ok {
			return m + "." + n
		}
	}
	return ""
}
