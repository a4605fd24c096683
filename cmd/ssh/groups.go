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
	"brine/outputter"
)

// A group is the targets with one result.
type group struct {
	ids     []string
	v       value.Value
	out     string
	retcode int
	bad     bool
}

// Size is how many targets there are.
func (g *group) Size() int { return len(g.ids) }

// Failed reports whether the targets failed.
func (g *group) Failed() bool { return g.bad }

// Result is what the targets returned.
func (g *group) Result() value.Value { return g.v }

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
	return outputter.Timeless(v)
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

// groups reports whether equal results are printed together: in reports for people of
// several targets, and for programs that read what people do.
func (r *jobReport) groups() bool {
	if r.o.Prog != target.BrineSSH || !r.prose() {
		return false
	}
	above := r.o.Group.Above(r.rep.OutAsked() != "", 0)
	return above > 0 && r.o.Count.Targets.Load() > int64(above)
}

// prose reports whether the report is text for people, and no document.
func (r *jobReport) prose() bool {
	switch r.rep.OutAsked() {
	case "", "nested", "highstate":
		return r.s.Flags.Output.File == ""
	}
	return false
}

// printGroups prints what was collected. Of targets whose states are nearly those of a
// larger group, it prints what differs, below that group or, where something failed, at the
// end.
func (r *jobReport) printGroups() error {
	all := r.same.sorted()
	near := outputter.Nearest(all)
	show := func(g *group) error {
		name, v := summary.FoldSome(g.ids, output.GroupNames), g.v
		if n, ok := near[g]; ok {
			v = n.Differs(v)
			name += n.Text(summary.FoldSome(n.Base.ids, output.GroupNames))
		}
		return r.rep.Print(value.MapOf(name, v), g.out, g.retcode)
	}
	for _, g := range all {
		if _, ok := near[g]; ok && !g.bad {
			continue // below its group
		}
		if err := show(g); err != nil {
			return err
		}
		for _, x := range all {
			if n, ok := near[x]; ok && n.Base == g && !x.bad {
				if err := show(x); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// tail ends a report on a terminal: how many targets there were, and who failed.
func (r *jobReport) tail() {
	if r.o.Prog != target.BrineSSH || !r.s.App.Terminal || r.recaps() || r.count < 2 {
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
