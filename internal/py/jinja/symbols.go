package jinja

import (
	"sort"
)

// Jinja2 decides while compiling which variable a name means: each template,
// block and macro is a Python function, within it each for, with, call, filter
// and set block is a frame, and a name is a local variable of the frame that
// loads or stores it first. A frame on its start loads its variables: from the
// context, from the variable of the same name outside, or as missing. What a
// template sees of its own sets, what a loop leaves behind and what a macro
// closes over all follow from that, so it is done the same way here.

// A fnScope is one function: its variables live in one slice of slots.
type fnScope struct {
	up *fnScope
	n  int
}

// A variable is a slot of a function.
type variable struct {
	fn   *fnScope
	slot int
}

type loadKind uint8

const (
	loadParam     loadKind = iota // given by the caller
	loadResolve                   // looked up in the context
	loadAlias                     // copied from the variable outside
	loadUndefined                 // missing
)

type varLoad struct {
	kind loadKind
	name string
	from *variable
}

// symbols are the names of one frame. The branches of an if are layers on top
// of it, which are merged into it in the end.
type symbols struct {
	up     *symbols // of the frame around it
	base   *symbols // of the frame that this is a layer on, or nil
	fn     *fnScope
	own    map[string]*variable // the frame's variables, shared by its layers
	refs   map[string]*variable
	loads  map[*variable]varLoad
	stores map[string]bool
}

func newSymbols(up *symbols, fn *fnScope) *symbols {
	return &symbols{up: up, fn: fn, own: map[string]*variable{}}
}

// layer returns symbols that see those of s and leave them as they are.
func (s *symbols) layer() *symbols {
	return &symbols{up: s.up, base: s, fn: s.fn, own: s.own}
}

// ref returns the frame's own variable of that name, or nil.
func (s *symbols) ref(name string) *variable {
	for ; s != nil; s = s.base {
		if v := s.refs[name]; v != nil {
			return v
		}
	}
	return nil
}

// isStored reports whether the frame stores the name.
func (s *symbols) isStored(name string) bool {
	for ; s != nil; s = s.base {
		if s.stores[name] {
			return true
		}
	}
	return false
}

// find returns the variable that name means here, or nil.
func (s *symbols) find(name string) *variable {
	for ; s != nil; s = s.up {
		if v := s.ref(name); v != nil {
			return v
		}
	}
	return nil
}

func (s *symbols) define(name string, l varLoad) *variable {
	v := s.own[name]
	if v == nil {
		v = &variable{s.fn, s.fn.n}
		s.fn.n++
		s.own[name] = v
	}
	if s.refs == nil {
		s.refs, s.loads = map[string]*variable{}, map[*variable]varLoad{}
	}
	s.refs[name] = v
	s.loads[v] = l
	return v
}

func (s *symbols) noteStore(name string) {
	if s.stores == nil {
		s.stores = map[string]bool{}
	}
	s.stores[name] = true
}

func (s *symbols) store(name string) {
	s.noteStore(name)
	if s.ref(name) != nil {
		return
	}
	if outer := s.up.find(name); outer != nil {
		s.define(name, varLoad{kind: loadAlias, from: outer})
		return
	}
	s.define(name, varLoad{kind: loadUndefined})
}

func (s *symbols) param(name string) *variable {
	s.noteStore(name)
	return s.define(name, varLoad{kind: loadParam})
}

func (s *symbols) load(name string) {
	if s.find(name) == nil {
		s.define(name, varLoad{kind: loadResolve, name: name})
	}
}

// merge takes in what the branches of an if did, which are layers on s. A name
// that only some of them store starts with its value from outside.
func (s *symbols) merge(branches ...*symbols) {
	var count map[string]int
	for _, b := range branches {
		for name := range b.stores {
			if !s.isStored(name) {
				if count == nil {
					count = map[string]int{}
				}
				count[name]++
			}
		}
	}
	for _, b := range branches {
		for k, v := range b.refs {
			s.define(k, b.loads[v])
		}
		for k := range b.stores {
			s.noteStore(k)
		}
	}
	for name, n := range count {
		if n == len(branches) {
			continue
		}
		if outer := s.up.find(name); outer != nil {
			s.define(name, varLoad{kind: loadAlias, from: outer})
		} else {
			s.define(name, varLoad{kind: loadResolve, name: name})
		}
	}
}

// stored returns the names that the frame and those around it store, with
// their variables: what an include or a scoped block sees of them.
func (s *symbols) stored() (names []string, vars []*variable) {
	seen := map[string]bool{}
	for f := s; f != nil; f = f.up {
		var own []string
		for name := range f.stores {
			if !seen[name] {
				seen[name] = true
				own = append(own, name)
			}
		}
		sort.Strings(own)
		names = append(names, own...)
	}
	for _, name := range names {
		vars = append(vars, s.find(name))
	}
	return names, vars
}

// names returns all names that mean something here, for hints.
func (s *symbols) names() []string {
	var names []string
	for ; s != nil; s = s.up {
		for name, v := range s.refs {
			if s.isStored(name) || s.loads[v].kind != loadResolve {
				names = append(names, name)
			}
		}
	}
	sort.Strings(names)
	return names
}

// analyzeAll notes the names of nodes.
func (s *symbols) analyzeAll(ns []node) {
	for _, n := range ns {
		s.analyze(n)
	}
}

// analyze notes the names that n loads and stores in its frame.
func (s *symbols) analyze(n node) {
	switch n := n.(type) {
	case *nName:
		switch n.ctx {
		case load:
			s.load(n.name)
		case store:
			s.store(n.name)
		case param:
			s.param(n.name)
		}
	case *nNSRef:
		s.load(n.name)
	case *sIf:
		s.analyze(n.test)
		body, elifs, els := s.layer(), s.layer(), s.layer()
		body.analyzeAll(n.body)
		for _, e := range n.elifs {
			elifs.analyze(e)
		}
		els.analyzeAll(n.els)
		s.merge(body, elifs, els)
	case *sMacro:
		s.store(n.name)
	case *sImport:
		s.analyze(n.x)
		s.store(n.target)
	case *sFromImport:
		s.analyze(n.x)
		for _, name := range n.names {
			s.store(name.as)
		}
	case *sAssign:
		s.analyze(n.x)
		s.analyze(n.target)
	case *sFor:
		s.analyze(n.iter)
	case *sCallBlock:
		s.analyze(n.call)
	case *sFilterBlock:
		s.analyze(n.filter)
	case *sWith:
		s.analyzeAll(n.values)
	case *sAssignBlock:
		s.analyze(n.target)
	case *sAutoescape, *sBlock:
	default:
		children(n, s.analyze)
	}
}

// params notes the names of a loop's target as given.
func (s *symbols) params(target node) {
	if n, ok := target.(*nName); ok {
		s.param(n.name)
	}
	children(target, s.params)
}

// undeclared returns which of names the nodes load before they store them.
func undeclared(ns []node, names ...string) map[string]bool {
	left := map[string]bool{}
	for _, n := range names {
		left[n] = true
	}
	found := map[string]bool{}
	var visit func(node)
	visit = func(n node) {
		switch n := n.(type) {
		case *nName:
			if n.ctx == load && left[n.name] {
				found[n.name] = true
			} else {
				delete(left, n.name)
			}
			return
		case *sBlock:
			return
		}
		children(n, visit)
	}
	for _, n := range ns {
		visit(n)
	}
	return found
}

// anyNode reports whether f holds for a node within the nodes; it stops there.
func anyNode(ns []node, f func(node) bool) bool {
	found := false
	var visit func(node)
	visit = func(n node) {
		if !found {
			if found = f(n); !found {
				children(n, visit)
			}
		}
	}
	for _, n := range ns {
		visit(n)
	}
	return found
}
