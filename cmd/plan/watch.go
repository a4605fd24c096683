package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"brine/cmd/app"
	"brine/cmd/internal/progress"
	"brine/cmd/output"
	"brine/internal/core/fun"
	"brine/internal/fleet"
	"brine/internal/py/value"
	"brine/internal/view/plan"
)

// watch shows how the making of a plan goes.
func (pl *planner) watch(p *progress.Progress) {
	pl.shown = p
	p.Mask(pl.s.Secrets.AnyText)
	pl.s.Watch = &planWatch{Watcher: fleet.OnBegin(p.Fleet(), pl.begins), pl: pl}
}

// begins counts the targets of a job.
func (pl *planner) begins(_ fun.Job, targets []string) {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	pl.targeted += len(targets)
}

// A planWatch follows the jobs of a plan. To what shows them they are the
// function that is planned, and not all that its targets are asked.
type planWatch struct {
	fleet.Watcher
	pl *planner
}

// Begin tells of a job.
func (w *planWatch) Begin(job fun.Job, targets []string) {
	job.Fun, _, _ = strings.Cut(job.Fun, ",")
	w.Watcher.Begin(job, targets)
}

// Done tells what a target answered. Of a plan that was interrupted, no target is
// shown as failed.
func (w *planWatch) Done(ret fun.Return) {
	if w.pl.s.App.Intr.Draining() {
		return
	}
	if ret.Stage == fun.Returned {
		w.pl.mu.Lock()
		w.pl.answered++
		moved := w.pl.moved
		w.pl.mu.Unlock()
		if !ret.Success() {
			ret.Body = firstPart(ret.Body)
			if moved && statesOf(ret.Body) {
				ret.Retcode, ret.Body = 0, nil // whether that is certain is said when the step ends
			}
		}
	}
	w.Watcher.Done(ret)
}

// statesOf reports whether a return is that of states, and not of what is wrong with
// their SLS.
func statesOf(b fun.Body) bool {
	if b == nil || b.Size() > maxPart {
		return false
	}
	v, err := fun.Return{Stage: fun.Returned, Body: b}.Value()
	_, ok := v.(*value.Map)
	return err == nil && ok
}

// maxPart bounds the return that is read for why a target would fail.
const maxPart = 1 << 20

// firstPart is what the first of several functions returned.
func firstPart(b fun.Body) fun.Body {
	if b == nil || b.Size() > maxPart {
		return b
	}
	v, err := fun.Return{Stage: fun.Returned, Body: b}.Value()
	if err != nil {
		return b
	}
	switch v := v.(type) {
	case *value.Map:
		if v.Len() > 0 {
			_, first := v.Entry(0)
			return fun.ValueBody{V: first}
		}
	case *value.List:
		if v.Len() > 0 {
			return fun.ValueBody{V: v.Items[0]}
		}
	}
	return b
}

// watchRun returns what the run is told to that the plan is of: the steps of an
// orchestration on pf, or the states of this machine where pf is nil.
func (pl *planner) watchRun(pf *planFleet) fun.RunWatcher {
	w := &planSteps{RunWatcher: pl.shown.Run(pl.o.title(pl.args), pf != nil), pl: pl, pf: pf}
	if w.RunWatcher == nil {
		w.RunWatcher = output.Watchers(nil)
	}
	return w
}

// planSteps counts the steps of a plan, and hands them on to what shows them.
type planSteps struct {
	fun.RunWatcher
	pl *planner
	pf *planFleet
}

// RunBegins takes the steps in.
func (w *planSteps) RunBegins(jid string, chunks []*fun.Chunk) {
	w.pl.mu.Lock()
	w.pl.steps = len(chunks)
	w.pl.mu.Unlock()
	w.RunWatcher.RunBegins(jid, chunks)
}

// StateEnds tells what is known of a step. Of a plan that was interrupted, no step
// is shown as failed.
func (w *planSteps) StateEnds(c *fun.Chunk, ret *value.Map) {
	if w.pl.s.App.Intr.Draining() {
		return
	}
	w.pl.mu.Lock()
	w.pl.done++
	if w.pf != nil {
		ret = w.pf.truth(c, ret)
	}
	w.pl.mu.Unlock()
	w.RunWatcher.StateEnds(c, ret)
}

// truth is the return of a step by what its targets answered: it was handed on as
// one that would change something. pl.mu is held.
func (f *planFleet) truth(c *fun.Chunk, ret *value.Map) *value.Map {
	out := ret.Copy()
	i := f.index(c.ID)
	if c.State+"."+c.Fun != "salt.state" || i < 0 {
		if c.State != "salt" && ret.At("result") == false && f.pl.moved {
			out.Set("result", nil)
			out.Set("comment", "may fail: "+value.Str(ret.At("comment")))
		}
		return out
	}
	pj := f.jobs[i]
	out.Set("changes", value.NewMap(0))
	effect, worst := pj.outcome(f.pl.moved)
	switch {
	case len(pj.faults) > 0:
		out.Set("result", false)
		out.Set("comment", fmt.Sprintf("no plan of %s: %s", pj.faults[0].Host, pj.faults[0].Reason))
	case effect == plan.Fail:
		out.Set("result", false)
		out.Set("comment", "would fail on "+worst)
	case effect == plan.MayFail:
		out.Set("comment", "may fail on "+worst)
	case effect == "":
		out.Set("result", true)
		out.Set("comment", "nothing to change")
	}
	return out
}

// outcome returns the worst effect of a job's states, "" where there is none, and
// names the first that has it. moved says that steps before it change something.
func (pj *planJob) outcome(moved bool) (effect, worst string) {
	rank := []string{"", plan.Unknown, plan.Change, plan.MayFail, plan.Fail}
	for _, id := range pj.targets {
		for _, st := range pj.states[id] {
			is := st.Effect
			if is == plan.Fail && !st.Certain && moved {
				is = plan.MayFail
			}
			if slices.Index(rank, is) > slices.Index(rank, effect) {
				effect, worst = is, fmt.Sprintf("%s: %s (%s)", id, st.ID, st.Fun)
			}
		}
	}
	return effect, worst
}

// A planRun keeps the chunks of an orchestration that is planned.
type planRun struct {
	fun.RunWatcher
	pl       *planner
	pf       *planFleet
	chunks   map[string]*value.Map
	rendered string // the keyed hash of all
}

// RunBegins keeps the chunks as they are before any of them runs.
func (w *planRun) RunBegins(jid string, chunks []*fun.Chunk) {
	all := &value.List{}
	for _, c := range chunks {
		low := c.Low.Copy()
		w.chunks[c.Tag()] = low
		all.Append(low)
	}
	w.rendered = w.pl.key.Hash(value.EncodeJSON(all))
	w.RunWatcher.RunBegins(jid, chunks)
}

// StateEnds notes whether a step would change something: what fails behind it may
// not fail then.
func (w *planRun) StateEnds(c *fun.Chunk, ret *value.Map) {
	w.RunWatcher.StateEnds(c, ret)
	w.pl.mu.Lock()
	defer w.pl.mu.Unlock()
	if ret.At("result") == nil && w.moves(c) {
		w.pl.moved = true
	}
}

// moves reports whether a step that would do something changes anything, as far as
// is known. The steps of an orchestration tell that themselves. pl.mu is held.
func (w *planRun) moves(c *fun.Chunk) bool {
	full := c.State + "." + c.Fun
	switch {
	case full == "salt.state":
		i := w.pf.index(c.ID)
		if i < 0 {
			return false
		}
		effect, _ := w.pf.jobs[i].outcome(false)
		return effect == plan.Change || effect == plan.Unknown
	case full == "salt.runner" && slices.Contains(orchestrations[:], c.Name):
		return false
	}
	return !plan.Looks(full, c.Name)
}

// low returns the chunks of all steps.
func (w *planRun) low() *value.List {
	all := &value.List{}
	for _, chunk := range w.chunks {
		all.Append(chunk)
	}
	return all
}

// chunk returns the low chunk of a step; an empty one for a step that was added when
// the orchestration ran.
func (w *planRun) chunk(tag string) *value.Map {
	if low := w.chunks[tag]; low != nil {
		return low
	}
	return value.NewMap(0)
}

// title is what the progress of a plan calls it.
func (o *options) title(args []string) string { return "plan of " + args[0] }

// interrupted says how far a plan came that was interrupted.
func (pl *planner) interrupted() error {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	text := "interrupted: no plan was made, and nothing was changed"
	unit := "states"
	if pl.p.Command.HasSteps() {
		unit = "steps"
	}
	var parts []string
	if pl.steps > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d %s were looked at", pl.done, pl.steps, unit))
	}
	if pl.targeted > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d targets answered", pl.answered, pl.targeted))
	}
	if len(parts) > 0 {
		text += "; " + strings.Join(parts, ", ")
	}
	return &app.StatusError{Status: app.ExitInterrupted, Err: errors.New(text)}
}
