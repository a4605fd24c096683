package exec

import (
	"fmt"

	"brine/internal/py/source"
	"brine/internal/py/value"
)

// maxPlaced bounds how many requisites are shown with their places: where an
// include is missing, every one may be lost.
const maxPlaced = 20

// placeLost shows where the requisites of n that name nothing were written, and
// what was likely meant. The report has Salt's text alone.
func (r *run) placeLost(n *node) {
	for _, l := range n.lost {
		if r.placed >= maxPlaced {
			return
		}
		r.placed++
		pos := l.ref.pos
		if pos.IsZero() {
			pos = n.c.Pos
		}
		r.env.Fault(&source.Error{
			Pos: pos, Hint: r.suggestion(l.ref),
			Err: fmt.Errorf("%s of %s: there is no %s in this run", kindNames[l.kind], n.c.ID, l.ref.written(l.ref.state, value.Str(l.ref.val))),
		})
	}
}

// written returns a reference in the form of rf.
func (rf ref) written(state, text string) string {
	if rf.bare {
		return text
	}
	return state + ": " + text
}

// suggestion returns a hint at the state that a reference to nothing was likely to
// name.
func (r *run) suggestion(rf ref) string {
	if !rf.ok {
		return "a requisite names an ID or a name, which is text"
	}
	var names []string
	for _, n := range r.nodes {
		switch rf.state {
		case "sls":
			names = append(names, n.c.SLS)
		case "id", n.c.State:
			names = append(names, n.c.ID, n.c.Name)
		}
	}
	if rf.state != "sls" {
		if ns := r.index.named(rf.text); len(ns) > 0 {
			return `did you mean "` + rf.written(ns[0].c.State, rf.text) + `"?`
		}
	}
	if near, ok := source.Nearest(rf.text, names); ok {
		return `did you mean "` + rf.written(rf.state, near) + `"?`
	}
	if rf.state == "sls" {
		return "an SLS can be required if it is included and has states of its own"
	}
	return ""
}
