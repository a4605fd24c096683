package plan

import (
	"cmp"
	"context"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/internal/view/plan"
)

// function plans a step that runs a function of states by salt.function: it does not
// run in test mode, so that its targets are asked here.
func (pl *planner) function(ctx context.Context, pf *planFleet, st *plan.Step, chunk *value.Map) error {
	job := fun.Job{
		Tgt: chunk.At("tgt"), TgtType: cmp.Or(chunk.Str("tgt_type"), "glob"), Fleet: chunk.Str("fleet"), Roster: chunk.Str("roster"),
		Published: !value.Truth(chunk.At("ssh")), Fun: st.Name, Step: st.ID, Args: functionArgs(chunk),
	}
	if n, ok := value.AsInt(chunk.At("subset")); ok && n > 0 {
		job.Subset = int(n)
	}
	if v := chunk.At("waves"); v != nil && job.Subset == 0 {
		waves, err := fun.ParseWaves(v)
		if err != nil {
			st.Faults = []plan.Fault{{Host: value.Str(job.Tgt), Reason: err.Error()}}
			return nil
		}
		job.Waves = waves
	}
	_, err := pf.Run(ctx, job, func(fun.Return) error { return nil })
	if ctx.Err() != nil {
		return ctx.Err()
	}
	pj := pf.take(st.ID)
	if pj == nil { // Run refuses the function
		return err
	}
	pj.fill(st)
	st.Unknown = ""
	return nil
}

// functionArgs are the arguments that a step of salt.function gives its function.
func functionArgs(chunk *value.Map) fun.Args {
	args := fun.Args{Kw: value.NewMap(2)}
	switch arg := chunk.At("arg").(type) {
	case string:
		for w := range strings.FieldsSeq(arg) {
			args.Pos = append(args.Pos, w)
		}
	default:
		args.Pos = fun.ItemsOf(arg)
	}
	if kw, ok := chunk.At("kwarg").(*value.Map); ok {
		args.Kw = kw.Copy()
	}
	return args
}
