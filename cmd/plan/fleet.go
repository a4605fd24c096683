package plan

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"brine/cmd/session"
	"brine/internal/core/fun"
	"brine/internal/fleet"
	"brine/internal/py/value"
	"brine/internal/view/plan"
)

// A planFleet is a fleet on which nothing is changed: it runs states in test
// mode, whatever a step says, and refuses all else. It keeps what the targets
// answer. A step that would fail is handed over as one that would change
// something, so that the steps behind it are planned, too. It looks into the
// orchestrations that steps would run: it is a fun.Rehearser.
type planFleet struct {
	fun.Fleet
	pl    *planner
	chain []link // the orchestrations that led here

	jobs  []*planJob              // behind pl.mu: steps may run in parallel
	inner map[string][]*plan.Step // by the tag of a step: what it would run
}

// A planJob is what the targets of a step answered.
type planJob struct {
	step    string
	env     string // the environments that the step names, behind ids
	targets []string
	outside bool // --limit leaves out all of them
	subset  int
	waves   [][]string // of a job that goes in waves
	states  map[string][]*plan.State
	same    map[string]int
	hashes  map[string]plan.Hashes
	faults  []plan.Fault
}

func newPlanJob(step string) *planJob {
	return &planJob{step: step, states: map[string][]*plan.State{}, same: map[string]int{}, hashes: map[string]plan.Hashes{}}
}

// Run runs a job in test mode.
func (f *planFleet) Run(ctx context.Context, job fun.Job, each func(fun.Return) error) (fun.Summary, error) {
	names, calls := planCalls(job.Fun, job.Args)
	if names == nil {
		return fun.Summary{}, fmt.Errorf("a plan only runs states, in test mode; %s is not one of their functions", job.Fun)
	}
	pj := newPlanJob(job.Step)
	pj.subset, pj.env = job.Subset, envLabel(job.Args.Kw)
	pj.waves = f.waves(ctx, pj, job)
	f.pl.s.Secrets.AddPillar(job.Args.Kw.At("pillar"))
	job.Fun, job.Args = strings.Join(names, ","), fun.Args{Kw: value.NewMap(0)}
	for _, args := range calls {
		list := value.NewList(args.Pos...)
		if args.Kw.Len() > 0 {
			kw := args.Kw.Copy()
			kw.Set("__kwarg__", true)
			list.Append(kw)
		}
		job.Args.Pos = append(job.Args.Pos, list)
	}
	if len(f.chain) > 1 {
		job.Step = f.chain[1].step // of the steps that are shown while the plan is made
	}
	job.Plan, job.NoSlots = true, f.pl.o.noSlots
	job.Async, job.Subset, job.Batch, job.FailHard = false, 0, "", false
	job.Waves, job.WaveWait, job.WaveCheck, job.MaxFailures, job.Judge, job.Passed = nil, 0, nil, nil, nil, nil
	job.Returner, job.RetConfig, job.RetKwargs = "", "", nil
	sum, err := f.Fleet.Run(ctx, job, func(r fun.Return) error {
		f.pl.mu.Lock()
		pj.add(f.pl, r, names)
		f.pl.mu.Unlock()
		r.Stage, r.Err, r.Retcode, r.Raised, r.Partial = fun.Returned, nil, 0, false, nil
		r.Body = fun.ValueBody{V: value.MapOf("test_|-planned_|-planned_|-nop", value.MapOf(
			"name", "planned", "result", nil, "comment", "", "changes", value.MapOf("planned", true), "__run_num__", int64(0),
		))}
		return each(r)
	})
	pj.targets = sum.Targets
	switch {
	case err != nil:
		pj.faults = append(pj.faults, plan.Fault{Host: value.Str(job.Tgt), Reason: err.Error()})
	case len(sum.Targets) == 0 && len(sum.Outside) > 0:
		pj.outside = true
	case len(sum.Targets) == 0:
		pj.faults = append(pj.faults, plan.Fault{Host: value.Str(job.Tgt), Reason: errNoMatch.Error(), Unmatched: true})
	}
	f.pl.mu.Lock()
	f.jobs = append(f.jobs, pj)
	f.pl.mu.Unlock()
	return sum, err
}

// waves returns the targets of each wave of a job, nil where that is not known
// before it runs.
func (f *planFleet) waves(ctx context.Context, pj *planJob, job fun.Job) [][]string {
	all, ok := f.Fleet.(*fleet.Fleet)
	if !ok || job.Subset > 0 {
		return nil
	}
	waves, err := all.Waves(ctx, job)
	if err != nil {
		pj.faults = append(pj.faults, plan.Fault{Host: value.Str(job.Tgt), Reason: err.Error()})
	}
	return waves
}

// Cut returns those of ids that are within --limit, and the others.
func (f *planFleet) Cut(ids []string) (kept, outside []string) {
	if all, ok := f.Fleet.(fun.Limited); ok {
		return all.Cut(ids)
	}
	return ids, nil
}

// take returns the job of a step and forgets it: an ID may have several.
func (f *planFleet) take(step string) *planJob {
	f.pl.mu.Lock()
	defer f.pl.mu.Unlock()
	if i := f.index(step); i >= 0 {
		pj := f.jobs[i]
		f.jobs = slices.Delete(f.jobs, i, i+1)
		return pj
	}
	return nil
}

// index returns where the job of a step is; -1 for nowhere.
func (f *planFleet) index(step string) int {
	return slices.IndexFunc(f.jobs, func(pj *planJob) bool { return pj.step == step })
}

// planCalls returns what a target is asked instead of a function of states: that
// function in test mode, its pillar, and where there is a function for it the
// low chunks. It returns nil for functions that cannot be planned.
func planCalls(name string, args fun.Args) (names []string, calls []fun.Args) {
	if !slices.Contains(session.Plannable[:], name) {
		return nil, nil
	}
	kw := args.Kw.Copy()
	kw.Set("test", true)
	names = append(names, name, "pillar.items")
	calls = append(calls, fun.Args{Pos: args.Pos, Kw: kw}, fun.Args{Kw: some(args.Kw, "pillarenv", "saltenv")})
	show, mods := "state.show_low_sls", args.Kw.At("mods")
	at := 0
	if name == "state.sls_id" {
		at = 1
	}
	if len(args.Pos) > at {
		mods = args.Pos[at]
	}
	switch {
	case name == "state.single" || name == "state.top":
		return names, calls
	case name == "state.highstate" || mods == nil:
		show = "state.show_lowstate"
	}
	low := fun.Args{Kw: some(args.Kw, "pillar", "pillarenv", "pillar_enc", "saltenv")}
	if show == "state.show_low_sls" {
		low.Pos = []value.Value{mods}
	}
	return append(names, show), append(calls, low)
}

// envLabel names the environments that arguments name; "" where they name none.
func envLabel(kw *value.Map) string {
	var parts []string
	for _, name := range [...]string{"saltenv", "pillarenv"} {
		if v := kw.At(name); v != nil {
			parts = append(parts, name+" "+value.Str(v))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// some returns the named items of a mapping, those that it has.
func some(m *value.Map, names ...string) *value.Map {
	out := value.NewMap(len(names))
	for _, n := range names {
		if v, ok := m.Get(n); ok {
			out.Set(n, v)
		}
	}
	return out
}

// add takes what a target answered to the functions of planCalls.
func (pj *planJob) add(pl *planner, r fun.Return, names []string) {
	s := pl.s
	if r.Stage != fun.Returned {
		why := r.Stage.String()
		if r.Err != nil {
			why = r.Err.Error()
		}
		pj.fault(s, r.ID, why, true)
		return
	}
	v, err := r.Value()
	if err != nil {
		pj.fault(s, r.ID, err.Error(), true)
		return
	}
	parts := make([]value.Value, 3)
	switch v := v.(type) {
	case *value.Map:
		for i, name := range names {
			parts[i] = v.At(name)
		}
	case *value.List: // the option multifunc_ordered
		copy(parts, v.Items)
	default:
		pj.fault(s, r.ID, value.Str(v), false)
		return
	}
	pj.answer(pl, r.ID, parts)
}

// answer takes the answers of a machine: the states in test mode, its pillar, its
// low chunks.
func (pj *planJob) answer(pl *planner, id string, parts []value.Value) {
	s := pl.s
	states, ok := parts[0].(*value.Map)
	if ok {
		for _, st := range states.All() {
			if _, isMap := st.(*value.Map); !isMap {
				ok = false
			}
		}
	}
	if !ok {
		pj.fault(s, id, faultText(parts[0]), false)
		return
	}
	s.Secrets.AddPillar(parts[1])
	if p, ok := parts[1].(*value.Map); ok {
		if errs := p.At("_errors"); value.Truth(errs) {
			pj.fault(s, id, faultText(errs), false)
			return
		}
		pl.p.Inputs.Pillar[id+pj.env] = pl.key.Hash(value.EncodeJSON(p))
	}
	states = plan.KeyLeaves(states, pl.key.Hash)
	pj.hashes[id] = plan.Hashes{
		Low: pl.key.Hash(value.EncodeJSON(parts[2])), Answer: pl.key.Hash(value.EncodeJSON(plan.Settled(states))),
	}
	masked, _ := s.Mask(states).(*value.Map)
	pj.states[id], pj.same[id] = plan.States(masked, plan.NewLow(parts[2], pl.basis))
}

// faultText is what a run says that has no returns of states.
func faultText(v value.Value) string {
	l, ok := v.(*value.List)
	if !ok {
		return value.Str(v)
	}
	var lines []string
	for _, x := range l.Items {
		lines = append(lines, value.Str(x))
	}
	return strings.Join(lines, "; ")
}

func (pj *planJob) fault(s *session.Session, id, why string, unreached bool) {
	pj.faults = append(pj.faults, plan.Fault{Host: id, Reason: s.Secrets.AnyText(why), Unreached: unreached})
}

// fill puts what was answered into a step.
func (pj *planJob) fill(st *plan.Step) {
	st.Targets = append([]string{}, pj.targets...)
	sortIDs(st.Targets)
	st.Groups, st.Leaves = plan.Groups(st.Targets, pj.states, pj.same), plan.LeavesOf(pj.states)
	slices.SortFunc(pj.faults, func(a, b plan.Fault) int { return compareIDs(a.Host, b.Host) })
	st.Faults, st.Hosts, st.Subset = pj.faults, pj.hashes, pj.subset
	st.Waves = planWaves(pj.waves)
	if pj.outside {
		st.Skipped = plan.NoneWithin
	}
}

// planWaves are the waves of a step as a plan has them.
func planWaves(waves [][]string) [][]string {
	for i, ids := range waves {
		waves[i] = slices.Clone(ids)
		sortIDs(waves[i])
	}
	return waves
}
