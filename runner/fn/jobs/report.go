package jobsrun

import (
	"context"

	"brine/internal/core/fun"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// jobReport returns a job as reports need it: what ran, when, and the returns of
// its targets as the command itself had them.
func (m *module) jobReport(ctx context.Context, c *fun.Call, a *jidArgs) (fun.Result, error) {
	j, err := m.named(ctx, c, a.JID, origin{source: a.ExtSource})
	if err != nil {
		return fun.Result{}, err
	}
	if j == nil {
		return fun.Result{}, fun.Errorf("no job %s: %s", a.JID, unknown)
	}
	m.explain(c, j)
	ret := value.MapOf(
		"jid", a.JID, "fun", j.Load.At("fun"), "arg", j.Load.At("arg"), "tgt", "", "end", j.EndTime,
		"missing", value.NewMap(0), "data", value.NewMap(0),
	)
	lost := value.NewMap(0)
	for id, v := range j.Returns.All() {
		if r, _ := v.(*value.Map); !jobs.Succeeded(r) {
			lost.Set(id, failure(r))
		}
	}
	if r, ok := orchestration(j); ok {
		ret.Set("data", r.At("data"))
		steps := value.NewMap(len(j.Steps))
		for _, s := range j.Steps {
			if job := s.Map("return").Str("__jid__"); job != "" {
				steps.Set(job, value.Strings(jobs.FailedOn(s)...))
			}
		}
		ret.Set("steps", steps)
		if j.Returns.Len() == 0 {
			lost.Set(value.Str(j.Load.At("tgt")), j.Status())
		}
	} else {
		ret.Set("tgt", j.Load.At("tgt"))
		data := value.NewMap(j.Returns.Len())
		for id, v := range j.Returns.All() {
			r, _ := v.(*value.Map)
			data.Set(id, r.At("return"))
		}
		for id, v := range j.Partial.All() {
			if !data.Has(id) {
				data.Set(id, v)
			}
		}
		for _, id := range missing(j) {
			why := j.Missing[id]
			if why == "" {
				why = "no return"
			}
			lost.Set(id, why)
		}
		ret.Set("data", data)
	}
	ret.Set("missing", lost)
	return fun.Result{Value: ret, Out: "report"}, nil
}

// failure says how an answer is a failure, as far as the store tells.
func failure(r *value.Map) string {
	if code, ok := r.Get("retcode"); ok {
		return "return code " + value.Str(code)
	}
	return "failed"
}
