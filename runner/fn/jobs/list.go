package jobsrun

import (
	"context"
	"slices"

	"brine/internal/core/fun"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// A found job is one that a search came by.
type found struct {
	jid  string
	row  *jobs.Row  // nil: load is the job's
	load *value.Map // nil: row reads it
	open jobs.State // how far it came, where load is the job's
	job  *jobs.Job  // what an open job was found to be
	mine bool       // of the cache of this machine, where another store is read
}

// brief returns what a listing shows of the job.
func (x found) brief() *jobs.Brief {
	if x.row != nil {
		return x.row.Brief(false)
	}
	return &jobs.Brief{JID: x.jid, Load: x.load, State: x.open}
}

// listed is the job in a listing. A store that several controllers share tells how
// far the jobs of others are.
func (x found) listed() *value.Map {
	m := jobs.FormatBrief(x.brief())
	if x.row == nil && x.open != jobs.Complete {
		m.Set("Status", x.open.String())
	}
	return m
}

// search returns the newest jobs of a store that match, newest first: at most
// most of them, where that is not negative.
func search(ctx context.Context, c *fun.Call, s jobs.Store, f filter, most int) ([]found, error) {
	var out []found
	if w, ok := s.(jobs.Walker); ok {
		err := w.Walk(ctx, f.from, f.to, func(r *jobs.Row) bool {
			if most >= 0 && len(out) >= most {
				return false
			}
			if r.JID != c.Env.JID && f.wants(r) {
				out = append(out, found{jid: r.JID, row: r})
			}
			return true
		})
		return out, err
	}
	all, err := s.Jobs(ctx, f.from, f.to)
	if err != nil {
		return nil, err
	}
	for _, e := range slices.Backward(all) {
		if most >= 0 && len(out) >= most {
			break
		}
		if e.JID != c.Env.JID && f.match(e.JID, e.Load) {
			out = append(out, found{jid: e.JID, load: e.Load, open: e.State})
		}
	}
	return out, nil
}

// list searches the store of a call.
func (m *module) list(ctx context.Context, c *fun.Call, from origin, f filter, most int) ([]found, error) {
	s, done, err := m.store(ctx, c, from)
	if err != nil {
		return nil, err
	}
	defer done()
	out, err := search(ctx, c, s, f, most)
	if err != nil || from.source != "" {
		return out, err
	}
	for i, x := range out {
		if x.row != nil || x.open != jobs.Active {
			continue
		}
		// What this machine works on, or worked on until it was killed, it knows
		// before the heartbeat that the store has tells.
		if mine, err := files(c.Env).Job(ctx, x.jid); err == nil && mine != nil {
			out[i].open = mine.State
		}
	}
	return out, nil
}

// fewRows is up to how many rows a report has them as they are; of more, each is
// read when it is printed.
const fewRows = 200

// rows makes the rows of a report: show is what one looks like.
func rows[T any](items []T, show func(T) *value.Map) []value.Value {
	out := make([]value.Value, len(items))
	if len(items) <= fewRows {
		for i, x := range items {
			out[i] = show(x)
		}
		return out
	}
	// Whoever prints a row asks for its parts one by one.
	last, shown := -1, (*value.Map)(nil)
	for i := range items {
		out[i] = value.NewRow(func() *value.Map {
			if last != i {
				last, shown = i, show(items[i])
			}
			return shown
		})
	}
	return out
}

// filter is what the arguments search for.
func (a *searchArgs) filter() (filter, error) {
	return newFilter(a.SearchMetadata, a.SearchFunction, a.SearchTarget, span{a.StartTime, a.EndTime, "start_time", "end_time"})
}

type listJobsArgs struct {
	sourceArgs
	searchArgs
	progressArgs
}

func (m *module) listJobs(ctx context.Context, c *fun.Call, a *listJobsArgs) (fun.Result, error) {
	f, err := a.filter()
	if err != nil {
		return fun.Result{}, err
	}
	list, err := m.list(ctx, c, origin{a.ExtSource, a.DisplayProgress}, f, -1)
	if err != nil {
		return fun.Result{}, err
	}
	slices.Reverse(list)
	ret := value.NewMap(len(list))
	for i, row := range rows(list, found.listed) {
		ret.Set(list[i].jid, row)
	}
	return fun.Result{Value: ret, Out: a.Outputter}, nil
}

type listFilterArgs struct {
	Count         int64 `arg:"count,required" doc:"maximum number of jobs"`
	FilterFindJob bool  `arg:"filter_find_job" default:"True" doc:"leave out saltutil.find_job"`
	sourceArgs
	progressArgs
	searchArgs
}

func (m *module) listFilter(ctx context.Context, c *fun.Call, a *listFilterArgs) (fun.Result, error) {
	f, err := a.filter()
	if err != nil {
		return fun.Result{}, err
	}
	f.noFindJob = a.FilterFindJob
	if a.Count < 0 {
		return fun.Result{}, fun.Errorf("count must be a number of jobs, not %d", a.Count)
	}
	list, err := m.list(ctx, c, origin{a.ExtSource, a.DisplayProgress}, f, int(a.Count))
	if err != nil {
		return fun.Result{}, err
	}
	slices.Reverse(list)
	ret := value.NewList(rows(list, func(x found) *value.Map {
		m := x.listed()
		start := m.At("StartTime")
		m.Delete("StartTime")
		m.Set("JID", x.jid)
		m.Set("StartTime", start)
		return m
	})...)
	return fun.Result{Value: ret, Out: a.Outputter}, nil
}

type lastRunArgs struct {
	sourceArgs
	Metadata value.Value `arg:"metadata" doc:"only jobs whose metadata has one of these items"`
	Function value.Value `arg:"function,str|list[str]" doc:"only jobs whose function matches one of these globs"`
	Target   value.Value `arg:"target,str|list[str]" doc:"only jobs whose target or one of its IDs matches one of these globs"`
	progressArgs
}

func (m *module) lastRun(ctx context.Context, c *fun.Call, a *lastRunArgs) (fun.Result, error) {
	metadata := fun.MapOf(a.Metadata)
	if metadata == nil && value.Truth(a.Metadata) {
		return fun.Result{}, fun.Errorf("The metadata parameter must be specified as a dictionary")
	}
	f, err := newFilter(metadata, a.Function, a.Target, span{})
	if err != nil {
		return fun.Result{}, err
	}
	from := origin{a.ExtSource, a.DisplayProgress}
	list, err := m.list(ctx, c, from, f, 1)
	if err != nil {
		return fun.Result{}, err
	}
	if len(list) == 0 {
		return fun.Result{Value: false, Retcode: 1}, nil
	}
	jid := list[0].jid
	j, err := m.job(ctx, c, jid, from)
	if err != nil {
		return fun.Result{}, err
	}
	inst := instance(c, jid, j)
	inst.Set("Result", results(j))
	return fun.Result{Value: value.MapOf(jid, inst), Out: a.Outputter}, nil
}

// check reports the damaged records of this machine, and repairs them.
func (m *module) check(ctx context.Context, c *fun.Call, a *checkArgs) (fun.Result, error) {
	n, found, err := files(c.Env).Check(ctx, a.Repair)
	if err != nil {
		return fun.Result{}, err
	}
	damaged := value.NewMap(len(found))
	res := fun.Result{Value: value.MapOf("checked", int64(n), "damaged", damaged)}
	for _, x := range found {
		row := value.MapOf("damage", x.Damage, "returns", value.Strings(x.Returns...), "repaired", x.Repaired)
		if x.Removed {
			row.Set("removed", true)
		}
		if !x.Repaired && !x.Removed {
			res.Retcode = 1
		}
		damaged.Set(x.JID, row)
	}
	return res, nil
}
