package jobsrun

import (
	"context"
	"slices"
	"sort"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// report sums up the jobs of a time.
func (m *module) report(ctx context.Context, c *fun.Call, a *reportArgs) (fun.Result, error) {
	f, err := newFilter(nil, a.Function, a.Target, span{a.Since, a.Until, "since", "until"})
	if err != nil {
		return fun.Result{}, err
	}
	f.noFindJob = true
	users := globs(a.User)
	s, done, err := m.store(ctx, c, origin{source: a.ExtSource})
	if err != nil {
		return fun.Result{}, err
	}
	defer done()
	list, err := search(ctx, c, s, f, -1)
	if err != nil {
		return fun.Result{}, err
	}
	if _, local := s.(*jobs.Files); !local && a.ExtSource == "" {
		if list, err = withLocal(ctx, c, f, list); err != nil {
			return fun.Result{}, err
		}
	}
	var failed, ok []found
	for _, x := range slices.Backward(list) {
		if x.lookup() || users != nil && !anyGlob(users, []string{x.brief().Load.Str("user")}) {
			continue
		}
		if x, good, err := m.judge(ctx, c, a, s, x); err != nil {
			return fun.Result{}, err
		} else if x.jid == "" {
			continue // removed meanwhile
		} else if good {
			ok = append(ok, x)
		} else {
			failed = append(failed, x)
		}
	}
	bad := rows(failed, func(x found) *value.Map { return x.auditRow() })
	out := value.MapOf("failed", value.NewList(bad...))
	if !a.Failed {
		out.Set("succeeded", value.NewList(rows(ok, func(x found) *value.Map { return x.auditRow() })...))
	}
	out.Set("summary", value.MapOf("failed", int64(len(failed)), "succeeded", int64(len(ok))))
	return fun.Value(out)
}

// withLocal adds the jobs of this machine that a store does not have: a process
// that was killed may not have sent its job there.
func withLocal(ctx context.Context, c *fun.Call, f filter, list []found) ([]found, error) {
	mine, err := search(ctx, c, files(c.Env), f, -1)
	if err != nil {
		return nil, err
	}
	known := make(map[string]bool, len(list))
	for _, x := range list {
		known[x.jid] = true
	}
	for _, x := range mine {
		if !known[x.jid] {
			x.mine = true
			list = append(list, x)
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].jid > list[j].jid })
	return list, nil
}

// lookup reports whether the job only looked other jobs up.
func (x found) lookup() bool {
	if x.row != nil {
		return x.row.Lookup()
	}
	name := x.load.Str("fun")
	return strings.HasPrefix(name, "runner.jobs.") || strings.HasPrefix(name, "runner.audit.")
}

// judge finds out whether a job went well. Of one that may not be complete, the
// targets are asked.
func (m *module) judge(ctx context.Context, c *fun.Call, a *reportArgs, s jobs.Store, x found) (_ found, good bool, err error) {
	if x.row != nil && !x.row.Open() {
		return x, x.row.Succeeded(), nil
	}
	if x.mine {
		s = files(c.Env)
	}
	j, err := s.Job(ctx, x.jid)
	if err != nil || j == nil {
		return found{}, false, err
	}
	if _, local := s.(*jobs.Files); !local && a.ExtSource == "" {
		if mine, err := files(c.Env).Job(ctx, x.jid); err == nil && mine != nil {
			adopt(j, mine)
		}
	}
	if j.State != jobs.Complete {
		if err := settle(ctx, c, j, false); err != nil {
			return found{}, false, err
		}
	}
	x.job, x.row = j, nil
	b := j.Brief()
	return x, b.Bad.Len() == 0 && b.State != jobs.Interrupted, nil
}

// auditRow is a job in the report.
func (x found) auditRow() *value.Map {
	b := (*jobs.Brief)(nil)
	if x.job != nil {
		b = x.job.Brief()
	} else {
		b = x.row.Brief(!x.row.Succeeded())
	}
	row := value.MapOf(
		"jid", x.jid, "when", jobs.JIDTime(x.jid), "user", b.Load.At("user"), "function", b.Load.At("fun"), "arguments", b.Load.At("arg"), "target", b.Load.At("tgt"),
	)
	for _, k := range [][2]string{{"orchestration_jid", "orchestration"}, {"metadata", "metadata"}} {
		if v, ok := b.Load.Get(k[0]); ok {
			row.Set(k[1], v)
		}
	}
	row.Set("succeeded", int64(max(0, b.Targets-b.Bad.Len())))
	switch {
	case b.Damage != "":
		row.Set("status", "damaged")
	case b.State != jobs.Complete:
		row.Set("status", b.Status())
	}
	if b.Bad.Len() == 0 && b.State != jobs.Interrupted && b.Damage == "" {
		return row
	}
	bad := value.NewMap(b.Bad.Len())
	for id, why := range b.Bad.All() {
		bad.Set(id, x.reason(value.Str(id), value.Str(why), b))
	}
	row.Set("failed", bad)
	if b.Damage != "" {
		row.Set("damage", b.Damage)
	}
	return row
}

// reason says why a target did not succeed.
func (x found) reason(id, why string, b *jobs.Brief) string {
	if x.job != nil {
		if _, runs := x.job.Running[id]; runs {
			return "still running"
		}
		if silent := x.job.Silent[id]; silent != "" {
			return "cannot be asked: " + silent
		}
	}
	switch {
	case why != "":
		return why
	case b.State == jobs.Active:
		return "still running"
	}
	return "did not return"
}
