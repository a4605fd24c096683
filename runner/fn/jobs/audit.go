package jobsrun

import (
	"context"
	"strings"

	"brine/internal/fun"
	"brine/internal/jobs"
	"brine/internal/value"
)

// report sums up the jobs of a time.
func (m *module) report(ctx context.Context, c *fun.Call) (fun.Result, error) {
	f, err := newFilter(nil, c.Value("function"), c.Value("target"), span{c.Value("since"), c.Value("until"), "since", "until"})
	if err != nil {
		return fun.Result{}, err
	}
	f.noFindJob = true
	users := globs(c.Value("user"))
	s, done, err := m.store(ctx, c)
	if err != nil {
		return fun.Result{}, err
	}
	defer done()
	all, err := s.Jobs(ctx, f.from, f.to)
	if err != nil {
		return fun.Result{}, err
	}
	failed, ok := value.NewList(), value.NewList()
	for _, e := range all {
		name := e.Load.Str("fun")
		if e.JID == c.Env.JID || strings.HasPrefix(name, "runner.jobs.") || strings.HasPrefix(name, "runner.audit.") || !f.match(e) {
			continue
		}
		if users != nil && !anyGlob(users, []string{e.Load.Str("user")}) {
			continue
		}
		j, err := s.Job(ctx, e.JID)
		if err != nil {
			return fun.Result{}, err
		}
		if j == nil {
			continue // removed meanwhile
		}
		if j.State != jobs.Complete {
			if err := settle(ctx, c, j); err != nil {
				return fun.Result{}, err
			}
		}
		row, good := auditRow(j)
		if good {
			ok.Append(row)
		} else {
			failed.Append(row)
		}
	}
	out := value.MapOf("failed", failed)
	if !c.Bool("failed") {
		out.Set("succeeded", ok)
	}
	out.Set("summary", value.MapOf("failed", int64(failed.Len()), "succeeded", int64(ok.Len())))
	return fun.Value(out)
}

// auditRow is a job in the report, and whether it went well.
func auditRow(j *jobs.Job) (row *value.Map, good bool) {
	row = value.MapOf(
		"jid", j.JID, "when", jobs.JIDTime(j.JID), "user", j.Load.At("user"), "function", j.Load.At("fun"), "arguments", j.Load.At("arg"), "target", j.Load.At("tgt"),
	)
	if v, ok := j.Load.Get("orchestration_jid"); ok {
		row.Set("orchestration", v)
	}
	if v, ok := j.Load.Get("metadata"); ok {
		row.Set("metadata", v)
	}
	bad := value.NewMap(4)
	for _, id := range j.Failed() {
		_, runs := j.Running[id]
		switch why := j.Missing[id]; {
		case runs:
			bad.Set(id, "still running")
		case j.Silent[id] != "":
			bad.Set(id, "cannot be asked: "+j.Silent[id])
		case j.Returns.Has(id):
			bad.Set(id, "failed")
		case why != "":
			bad.Set(id, why)
		case j.State == jobs.Active:
			bad.Set(id, "still running")
		default:
			bad.Set(id, "did not return")
		}
	}
	row.Set("succeeded", int64(max(0, j.Load.List("Minions").Len()-bad.Len())))
	if j.State != jobs.Complete {
		row.Set("status", j.Status())
	}
	if bad.Len() == 0 && j.State != jobs.Interrupted {
		return row, true
	}
	row.Set("failed", bad)
	return row, false
}
