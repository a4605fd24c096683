package ui

import (
	"context"
	"strconv"
	"strings"
	"time"

	"brine/internal/core/printable"
	"brine/internal/py/value"
	"brine/internal/view/graph"
)

// Bounds of the picture of a run.
const (
	drawnSteps = 100         // more are not drawn
	lowPace    = time.Second // between two looks for the definition
)

// stateMarks stand before the steps in the picture, for who does not see its colours.
var stateMarks = map[string]string{"running": "\u25b8 ", "ok": "\u2713 ", "changed": "\u2713 ", "would_change": "\u2248 ", "failed": "\u2717 ", "not_run": "\u2013 "}

// addGraph adds the picture of the steps to a view, as soon as the record of the run has
// their definition, if it is another one than in the revision after.
func (s *Server) addGraph(ctx context.Context, x *run, v *runView, after int) {
	if v.JID == "" || v.Spec.single() {
		return
	}
	low, fresh := x.definition(s.opts.Now(), func() *value.List {
		job, err := s.readJob(ctx, v.JID)
		if err != nil {
			return nil // a run has a picture when it has a record
		}
		low, _ := job.Definition.At("low").(*value.List)
		return low
	})
	if low.Len() == 0 || low.Len() > drawnSteps || !fresh && after > 0 && x.drawnIn() <= after {
		return
	}
	var b strings.Builder
	if g := x.graph(low); g.Inline(&b) == nil {
		v.Graph = printable.Text(b.String())
	}
}

// definition returns the steps of the run; fresh says that they were not known before.
func (r *run) definition(now time.Time, find func() *value.List) (low *value.List, fresh bool) {
	r.mu.Lock()
	low = r.low
	wait := low == nil && now.Sub(r.lowTried) < lowPace
	if !wait {
		r.lowTried = now
	}
	r.mu.Unlock()
	if low != nil || wait {
		return low, false
	}
	low = find()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.low = low
	return low, low != nil
}

func (r *run) drawnIn() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.drawn
}

// graph is the steps as a picture, in the colours of their states.
func (r *run) graph(low *value.List) *graph.Graph {
	r.mu.Lock()
	defer r.mu.Unlock()
	numbers := map[string]int{}
	for i, s := range r.steps {
		numbers[s.ID] = i + 1
	}
	g := graph.Of(low)
	for i := range g.Nodes {
		n := &g.Nodes[i]
		state, number := "waiting", numbers[n.ID]
		if number > 0 {
			state, n.Link = r.steps[number-1].State, "#step-"+strconv.Itoa(number)
		}
		n.Class, n.Mark = "is-"+state, stateMarks[state]
		n.ID = r.Spec.label(n.ID)
	}
	return g
}
