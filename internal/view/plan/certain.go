package plan

import (
	"fmt"
	"slices"
	"strings"

	"brine/internal/py/value"
)

// A Basis is what states rest on that no run of a plan changes.
type Basis struct {
	// Served reports whether the tree serves a file, or files below it as a
	// directory.
	Served func(path string) bool
	// Required returns the arguments that a state function cannot do without. known
	// is false where there is no such function.
	Required func(name string) (args []string, known bool)
}

// Low are the low chunks of a run. The nil Low has none.
type Low struct {
	basis  Basis
	chunks map[string]*value.Map // by tag
	named  map[string]bool       // "mod: ID" and "mod: name"
}

// NewLow returns the low chunks of a list; of what is none, no chunks.
func NewLow(list value.Value, basis Basis) *Low {
	l, ok := list.(*value.List)
	if !ok {
		return nil
	}
	out := &Low{basis: basis, chunks: make(map[string]*value.Map, len(l.Items)), named: map[string]bool{}}
	for _, x := range l.Items {
		chunk, ok := x.(*value.Map)
		if !ok {
			continue
		}
		out.chunks[Tag(chunk)] = chunk
		for _, key := range [...]string{"__id__", "name"} {
			name := value.Str(chunk.At(key))
			out.named[value.Str(chunk.At("state"))+": "+name], out.named["id: "+name] = true, true
		}
	}
	return out
}

// requisites returns what the chunk of a tag names as its requisites of kinds, as
// "mod: ID".
func (l *Low) requisites(tag string, kinds []string) []string {
	if l == nil || l.chunks[tag] == nil {
		return nil
	}
	var out []string
	for _, kind := range kinds {
		out = append(out, Requisites(l.chunks[tag], kind)...)
	}
	return out
}

// ordering are the requisites that have a state run after another, and only if
// that did not fail.
var ordering = []string{"require", "require_any", "watch", "watch_any", "onchanges", "onchanges_any"}

// certain reports whether a state that fails does so whatever ran before it: it
// looks at nothing that a run could change, or its own SLS is at fault.
func (l *Low) certain(st *State, tag string) bool {
	if mod, _, _ := strings.Cut(st.Fun, "."); mod == "test" {
		return true // it looks at its arguments and the pillar alone
	}
	if l == nil || l.chunks[tag] == nil {
		return false
	}
	chunk := l.chunks[tag]
	if l.basis.Required != nil {
		args, known := l.basis.Required(st.Fun)
		if !known || slices.ContainsFunc(args, func(name string) bool { return !chunk.Has(name) }) {
			return true
		}
	}
	if slices.ContainsFunc(l.requisites(tag, ordering), l.missing) {
		return true
	}
	return l.basis.Served != nil && l.unserved(chunk.At("source"))
}

// missing reports whether a requisite names no chunk. Of what names chunks by a
// pattern, a file or a function it is not known.
func (l *Low) missing(req string) bool {
	mod, id, _ := strings.Cut(req, ": ")
	if mod == "sls" || strings.Contains(mod, ".") || strings.ContainsAny(id, "*?[") {
		return false
	}
	return !l.named[req]
}

// unserved reports whether all that a state may take its source from is of the
// tree, and none of it is there.
func (l *Low) unserved(source value.Value) bool {
	list, ok := source.(*value.List)
	if !ok {
		list = value.NewList(source)
	}
	for _, x := range list.Items {
		if m, ok := x.(*value.Map); ok && m.Len() == 1 { // a source with its hash
			x, _ = m.Entry(0)
		}
		text, _ := x.(string)
		path, ok := strings.CutPrefix(text, "salt://")
		path, _, _ = strings.Cut(path, "?") // ?saltenv=
		if !ok || l.basis.Served(strings.Trim(path, "/")) {
			return false
		}
	}
	return len(list.Items) > 0
}

// doubts tells which failures of a run are certain.
type doubts struct {
	low    *Low
	moved  bool              // a state so far would do something
	failed map[string]*State // those so far, by "mod: ID" and "mod: name"
}

// take judges a state that would do something or fail. They are taken in their
// order.
func (d *doubts) take(st *State, mod, tag string) {
	if st.Effect != Fail {
		d.moved = true
		return
	}
	switch before := d.behind(tag); {
	case before != nil:
		st.behind, st.Certain = before, before.Certain
		st.follow()
	case d.low.certain(st, tag):
		st.Certain = true
	case d.moved:
		st.Effect, st.Unknown = MayFail, "may fail, unless a state before it mends that"
	}
	for _, name := range [...]string{st.ID, st.Name} {
		d.failed[mod+": "+name], d.failed["id: "+name] = st, st
	}
}

// follow has a state that requires one that fails be not known, where that is not
// certain to fail.
func (st *State) follow() {
	if st.behind.Effect == Fail {
		return
	}
	st.Effect, st.Comment, st.Changes = Unknown, "", nil
	st.Unknown = "not known until " + st.behind.ID + " ran: it runs if that does not fail"
}

// behind returns the state that failed and that the one of a tag requires; nil for
// none.
func (d *doubts) behind(tag string) *State {
	for _, req := range d.low.requisites(tag, ordering) {
		if st := d.failed[req]; st != nil {
			return st
		}
	}
	return nil
}

// doubt has the failures of a step be uncertain where steps that run before it
// change something.
func (s *Step) doubt(last []string, all int) {
	if all == 0 {
		return
	}
	for _, g := range s.Groups {
		for _, st := range g.States {
			switch {
			case st.Effect != Fail || st.Certain:
			case st.behind != nil:
				st.follow()
			default:
				st.Effect = MayFail
				st.Unknown = "may fail, unless these steps mend that: " + strings.Join(names(last, all), ", ")
			}
		}
	}
}

// names are the last names of a list, behind how many others there are.
func names(last []string, all int) []string {
	if n := all - len(last); n > 0 {
		return append([]string{fmt.Sprintf("%d steps", n)}, last...)
	}
	return last
}

// looking are functions that only look, beside those of the modules pillar, status
// and test.
var looking = [...]string{"grains.get", "grains.item", "grains.items", "grains.ls"}

// Looks reports whether a step calls a function that only looks: nothing changes,
// or no longer fails, because of it. step is the function of the step, and name the
// function that it calls.
func Looks(step, name string) bool {
	if step != "salt.function" && step != "salt.runner" {
		return false
	}
	mod, _, _ := strings.Cut(name, ".")
	return mod == "pillar" || mod == "status" || mod == "test" || slices.Contains(looking[:], name)
}
