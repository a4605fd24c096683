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
		out.Set(k, timeless(x))
	}
	return out
}

// timeless is the return of a state without its times, and without the process ID of its
// command: they differ on every target.
func timeless(v value.Value) value.Value {
	st, ok := v.(*value.Map)
	if !ok || !st.Has("__run_num__") {
		return v
	}
	st = st.Copy()
	st.Delete("start_time")
	st.Delete("duration")
	if ch := st.Map("changes"); ch.Has("pid") && ch.Has("retcode") {
		ch = ch.Copy()
		ch.Delete("pid")
		st.Set("changes", ch)
	}
	return st
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
	near := nearest(all)
	show := func(g *group) error {
		name, v := summary.FoldSome(g.ids, output.GroupNames), g.v
		if n, ok := near[g]; ok {
			v = n.differs
			name += fmt.Sprintf(" (%d of %d states as on %s)", n.of-n.differs.Len(), n.of, summary.FoldSome(n.base.ids, output.GroupNames))
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
			if n, ok := near[x]; ok && n.base == g && !x.bad {
				if err := show(x); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// A nearGroup says in which states a group differs from a larger one.
type nearGroup struct {
	base    *group
	differs *value.Map
	of      int // states
}

// nearest returns the groups that are nearly like a larger one, on which all went well:
// they have the same states, and at most a quarter of them differs.
func nearest(all []*group) map[*group]nearGroup {
	bySize := slices.Clone(all)
	slices.SortStableFunc(bySize, func(a, b *group) int { return len(b.ids) - len(a.ids) })
	near := map[*group]nearGroup{}
	var bases []*group
	for _, g := range bySize {
		found := false
		for _, base := range bases {
			if d, ok := difference(base, g); ok {
				near[g], found = nearGroup{base, d, g.v.(*value.Map).Len()}, true
				break
			}
		}
		if !found && !g.bad {
			bases = append(bases, g)
		}
	}
	return near
}

// difference returns the states of a group that differ from those of base; false where
// these are many, or are not the same states.
func difference(base, g *group) (*value.Map, bool) {
	a, ok := base.v.(*value.Map)
	b, isMap := g.v.(*value.Map)
	if !ok || !isMap || a.Len() != b.Len() || a.Len() < 4 || base.out != g.out {
		return nil, false
	}
	out := value.NewMap(4)
	for k, x := range b.All() {
		y, has := a.Get(k)
		st, isState := x.(*value.Map)
		if !has || !isState || !st.Has("__run_num__") {
			return nil, false
		}
		if !value.Equal(timeless(x), timeless(y)) {
			out.Set(k, x)
		}
	}
	return out, out.Len() > 0 && 4*out.Len() <= a.Len()
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
