package jobsrun

import (
	"context"

	"brine/internal/fun"
	"brine/internal/jobs"
	"brine/internal/value"
)

// jobReport returns a job as reports need it: what ran, when, and the returns of
// its targets as the command itself had them.
func (m *module) jobReport(ctx context.Context, c *fun.Call) (fun.Result, error) {
	jid, j, err := m.named(ctx, c)
	if err != nil {
		return fun.Result{}, err
	}
	if j == nil {
		return fun.Result{}, fun.Errorf("no job %s: %s", jid, unknown)
	}
	m.tell(c, j)
	ret := value.MapOf(
		"jid", jid, "fun", j.Load.At("fun"), "arg", j.Load.At("arg"), "tgt", "", "end", j.EndTime,
		"missing", value.NewMap(0), "data", value.NewMap(0),
	)
	if r, ok := orchestration(j); ok {
		ret.Set("data", r.At("data"))
	} else {
		ret.Set("tgt", j.Load.At("tgt"))
		data, lost := value.NewMap(j.Returns.Len()), value.NewMap(0)
		for id, v := range j.Returns.All() {
			r, _ := v.(*value.Map)
			data.Set(id, r.At("return"))
			if !jobs.Succeeded(r) {
				lost.Set(id, "return code "+value.Str(r.At("retcode")))
			}
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
		ret.Set("missing", lost)
	}
	return fun.Result{Value: ret, Out: "report"}, nil
}
