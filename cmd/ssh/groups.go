package ssh

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"brine/cmd/internal/summary"
	"brine/cmd/output"
	"brine/cmd/target"
	"brine/internal/core/fun"
	"brine/internal/core/printable"
	"brine/internal/py/value"
)

// groupAbove is how many targets a job has at most whose results are printed one
// by one on a terminal.
const groupAbove = 20

// A group is the targets with one result.
type group struct {
	ids     []string
	v       value.Value
	out     string
	retcode int
	bad     bool
}

// A grouping collects the results of targets, equal ones together.
type grouping struct {
	groups map[[sha256.Size]byte]*group // by what the results are
}

// add takes the result of a target as it would be printed.
func (g *grouping) add(ret fun.Return, v value.Value) {
	sum := sha256.New()
	fmt.Fprintf(sum, "%t %d %s ", !ret.Success(), ret.Retcode, ret.Out)
	_ = value.WriteJSON(sum, sameOf(ret, v)) // a hash takes all
	key := [sha256.Size]byte(sum.Sum(nil))
	x := g.groups[key]
	if x == nil {
		x = &group{v: v, out: ret.Out, retcode: ret.Retcode, bad: !ret.Success()}
		if g.groups == nil {
			g.groups = map[[sha256.Size]byte]*group{}
		}
		g.groups[key] = x
	}
	x.ids = append(x.ids, ret.ID)
	if len(x.ids) > 1 {
		x.v = reasonAlone(ret, x.v)
	}
}

// sorted returns the groups: by their first id, failures last.
func (g *grouping) sorted() []*group {
	var all []*group
	for _, x := range g.groups {
		slices.SortFunc(x.ids, summary.CompareIDs)
		all = append(all, x)
	}
	slices.SortFunc(all, func(a, b *group) int {
		if a.bad != b.bad {
			if a.bad {
				return 1
			}
			return -1
		}
		return summary.CompareIDs(a.ids[0], b.ids[0])
	})
	return all
}

// sameOf is what a result is compared by: without the times of states, and of a
// target without a return the reason without its name.
func sameOf(ret fun.Return, v value.Value) value.Value {
	if reason, ok := reasonOf(ret); ok {
		return value.NewList(ret.Stage.String(), reason)
	}
	states, ok := v.(*value.Map)
	if !ok {
		return v
	}
	out := value.NewMap(states.Len())
	for k, x := range states.All() {
		if st, ok := x.(*value.Map); ok && st.Has("__run_num__") {
			st = st.Copy()
			st.Delete("start_time")
			st.Delete("duration")
			x = st
		}
		out.Set(k, x)
	}
	return out
}

// reasonOf is why a target gave no return, in words that do not name it.
func reasonOf(ret fun.Return) (string, bool) {
	var same interface{ Reason() string }
	if ret.Stage == fun.Returned || ret.States() != nil || !errors.As(ret.Err, &same) {
		return "", false
	}
	return same.Reason(), true
}

// reasonAlone is the result of several targets without a return.
func reasonAlone(ret fun.Return, v value.Value) value.Value {
	reason, ok := reasonOf(ret)
	m, isMap := v.(*value.Map)
	if !ok || !isMap {
		return v
	}
	m = m.Copy()
	m.Set("stderr", reason)
	return m
}

// groups reports whether equal results are printed together: where somebody
// reads, and more targets answer than fit on a screen.
func (r *jobReport) groups() bool {
	if r.o.Prog != target.BrineSSH || r.o.NoGroup || !r.prose() {
		return false
	}
	return r.o.Group || r.s.App.Terminal && r.o.Count.Targets.Load() > groupAbove
}

// prose reports whether the report is text for people, and no document.
func (r *jobReport) prose() bool {
	switch r.rep.OutAsked() {
	case "", "nested", "highstate":
		return r.s.Flags.Output.File == ""
	}
	return false
}

// printGroups prints what was collected.
func (r *jobReport) printGroups() error {
	for _, g := range r.same.sorted() {
		if err := r.rep.Print(value.MapOf(summary.FoldSome(g.ids, output.GroupNames), g.v), g.out, g.retcode); err != nil {
			return err
		}
	}
	return nil
}

// tail ends a report on a terminal: how many targets there were, and who failed.
func (r *jobReport) tail() {
	if r.o.Prog != target.BrineSSH || !r.s.App.Terminal || r.o.Summary || r.count < 2 {
		return
	}
	w := r.s.App.Out
	if !r.prose() {
		w = r.s.App.Err
	}
	line := fmt.Sprintf("%d targets, %d failed", r.count, len(r.failed))
	if len(r.failed) > 0 {
		line += ": " + strings.ReplaceAll(summary.FoldSome(r.failed, output.TailNames), ",", ", ")
	}
	fmt.Fprintln(w, printable.Line(line))
}
