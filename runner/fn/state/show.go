package statefn

import (
	"context"

	"brine/internal/core/fun"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/runner/high"
	"brine/runner/low"
)

// openShow opens a function that only shows; errors of the pillar are its own.
func openShow(ctx context.Context, c *fun.Call, a options) (*session, error) {
	s, err := open(ctx, c, a, "")
	if err != nil {
		return nil, err
	}
	if errs := s.pillarErrors(); len(errs) > 0 {
		return nil, refusedShow(errs)
	}
	return s, nil
}

// highOf renders and verifies SLS files.
func (s *session) highOf(ctx context.Context, mods value.Value) *high.High {
	h := s.compiler().Render(ctx, []high.Match{{SaltEnv: s.base(), SLS: splitText(mods)}})
	h.Faults = append(h.Faults, h.Verify()...)
	return h
}

// showSLS shows the high data of SLS files.
// Salt: show_sls.
func showSLS(ctx context.Context, c *fun.Call, a *showSLSArgs) (fun.Result, error) {
	s, err := openShow(ctx, c, a.options())
	if err != nil {
		return fun.Result{}, err
	}
	h := s.highOf(ctx, a.Mods)
	if len(h.Faults) > 0 {
		return s.failed(h.Faults)
	}
	return fun.Value(h.Data)
}

// showLowSLS shows the low chunks of SLS files as they stand.
// Salt: show_low_sls.
func showLowSLS(ctx context.Context, c *fun.Call, a *showSLSArgs) (fun.Result, error) {
	s, err := openShow(ctx, c, a.options())
	if err != nil {
		return fun.Result{}, err
	}
	h := s.highOf(ctx, a.Mods)
	if len(h.Faults) > 0 {
		return s.failed(h.Faults)
	}
	chunks, err := low.Show(h)
	if err != nil {
		return s.failed(source.Faults(err))
	}
	return fun.Value(lows(chunks))
}

func lows(chunks []*fun.Chunk) *value.List {
	l := &value.List{Items: make([]value.Value, len(chunks))}
	for i, c := range chunks {
		l.Items[i] = c.Low
	}
	return l
}

// slsExists tells whether show_sls shows SLS files; where it does not, the
// retcode is that of states that do not compile.
// Salt: sls_exists.
func slsExists(ctx context.Context, c *fun.Call, a *showSLSArgs) (fun.Result, error) {
	res, err := showSLS(ctx, c, a)
	_, ok := res.Value.(*value.Map)
	res.Value = ok
	return res, err
}

type idExistsArgs struct {
	IDs value.Value `arg:"ids,required,str|list[str]" doc:"IDs, as a list or a comma-separated string"`
	showSLSArgs
}

// idExists tells whether all given IDs have a state in SLS files.
// Salt: id_exists.
func idExists(ctx context.Context, c *fun.Call, a *idExistsArgs) (fun.Result, error) {
	res, err := showLowSLS(ctx, c, &a.showSLSArgs)
	if err != nil {
		return res, err
	}
	have := map[value.Value]bool{}
	if res.Retcode == 0 {
		for _, low := range res.Value.(*value.List).Items {
			have[low.(*value.Map).At("__id__")] = true
		}
	}
	all := true
	for _, id := range splitText(a.IDs) {
		all = all && have[id]
	}
	res.Value = all && res.Retcode == 0
	return res, nil
}

// fromTop reads the top file. A fault that keeps Salt from rendering one goes to
// stderr, and the top data is empty, as in Salt.
func (s *session) fromTop(ctx context.Context, comp *high.Compiler) (*high.Top, []high.Match, error) {
	top, err := comp.Top(ctx, high.TopRequest{SaltEnv: s.saltenv})
	if err != nil {
		faults := source.Faults(err)
		s.show(faults)
		return nil, nil, fun.Errorf("Unable to render top file: %s", faults[0].SaltText())
	}
	s.show(top.Faults)
	s.broken = len(top.Faults) > 0
	matches, err := comp.Matches(ctx, top, s.saltenv)
	return top, matches, err
}

// shown is the return of a show function. Difference: a top file that does not
// render is retcode 1, in Salt 0.
func (s *session) shown(v value.Value) (fun.Result, error) {
	res := fun.Result{Value: v}
	if s.broken {
		res.Retcode = retCompile
	}
	return res, nil
}

// showTop shows what the top file gives to this machine.
// Salt: show_top.
func showTop(ctx context.Context, c *fun.Call, a *showArgs) (fun.Result, error) {
	s, err := openShow(ctx, c, a.options())
	if err != nil {
		return fun.Result{}, err
	}
	top, matches, err := s.fromTop(ctx, s.compiler())
	if err != nil {
		return fun.Result{}, err
	}
	if faults := top.Verify(); len(faults) > 0 {
		return s.failed(faults)
	}
	out := value.NewMap(len(matches))
	for _, m := range matches {
		out.Set(m.SaltEnv, value.Strings(m.SLS...))
	}
	return s.shown(out)
}

// showHighstate shows the high data of what the top file gives to this machine;
// nothing at all is retcode 2.
// Salt: show_highstate.
func showHighstate(ctx context.Context, c *fun.Call, a *showArgs) (fun.Result, error) {
	s, err := openShow(ctx, c, a.options())
	if err != nil {
		return fun.Result{}, err
	}
	comp := s.compiler()
	top, matches, err := s.fromTop(ctx, comp)
	if err != nil {
		return fun.Result{}, err
	}
	h := comp.Render(ctx, matches)
	if faults := append(top.Verify(), h.Faults...); len(faults) > 0 {
		return s.failed(faults)
	}
	res := fun.Result{Value: h.Data}
	if h.Data.Len() == 0 {
		res.Retcode = retFailed
	}
	return res, nil
}

// lowstate compiles what the top file gives to this machine.
func (s *session) lowstate(ctx context.Context) ([]*fun.Chunk, source.Errors, error) {
	comp := s.compiler()
	top, matches, err := s.fromTop(ctx, comp)
	if err != nil {
		return nil, nil, err
	}
	if faults := top.Verify(); len(faults) > 0 {
		return nil, faults, nil
	}
	h := comp.Render(ctx, matches)
	chunks, err := s.lower().Lowstate(h, h.Faults)
	if err != nil {
		return nil, source.Faults(err), nil
	}
	return chunks, nil, nil
}

// showLowstate shows the low chunks of what the top file gives to this machine.
// Salt: show_lowstate. Difference: faults are retcode 1, in Salt 0.
func showLowstate(ctx context.Context, c *fun.Call, a *showArgs) (fun.Result, error) {
	s, err := openShow(ctx, c, a.options())
	if err != nil {
		return fun.Result{}, err
	}
	chunks, faults, err := s.lowstate(ctx)
	if err != nil {
		return fun.Result{}, err
	}
	if len(faults) > 0 {
		return s.failed(faults)
	}
	return s.shown(lows(chunks))
}

// showStates lists the SLS files whose states the top file gives to this
// machine, in order of execution.
// Salt: show_states.
func showStates(ctx context.Context, c *fun.Call, a *showArgs) (fun.Result, error) {
	s, err := openShow(ctx, c, a.options())
	if err != nil {
		return fun.Result{}, err
	}
	chunks, faults, err := s.lowstate(ctx)
	if err != nil {
		return fun.Result{}, err
	}
	if len(faults) > 0 {
		return s.failed(faults)
	}
	names := value.NewSet()
	for _, c := range chunks {
		names.Add(c.SLS)
	}
	return fun.Value(value.NewList(names.Items()...))
}

// showStateUsage shows which SLS files the top file gives to this machine and
// which not.
// Salt: show_state_usage.
func showStateUsage(ctx context.Context, c *fun.Call, a *showArgs) (fun.Result, error) {
	s, err := openShow(ctx, c, a.options())
	if err != nil {
		return fun.Result{}, err
	}
	comp := s.compiler()
	top, matches, err := s.fromTop(ctx, comp)
	if err != nil {
		return fun.Result{}, err
	}
	if faults := top.Verify(); len(faults) > 0 {
		return s.failed(faults)
	}
	matched := map[[2]string]bool{}
	for _, m := range matches {
		for _, n := range m.SLS {
			matched[[2]string{m.SaltEnv, n}] = true
		}
	}
	envs, err := comp.Available(ctx)
	if err != nil {
		return fun.Result{}, err
	}
	out := value.NewMap(len(envs))
	for _, e := range envs {
		used, unused := &value.List{}, &value.List{}
		for _, n := range e.SLS {
			if matched[[2]string{e.SaltEnv, n}] {
				used.Append(n)
			} else {
				unused.Append(n)
			}
		}
		out.Set(e.SaltEnv, value.MapOf("used", used, "unused", unused,
			"count_all", int64(len(e.SLS)), "count_used", int64(used.Len()), "count_unused", int64(unused.Len())))
	}
	return fun.Value(out)
}
