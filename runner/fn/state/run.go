package statefn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/runner/high"
)

// apply runs SLS files, or the top file where none is named.
// Salt: apply_.
func apply(ctx context.Context, c *fun.Call, a *applyArgs) (fun.Result, error) {
	if value.Truth(a.Mods) {
		return runSLS(ctx, c, a.Mods, &a.fullArgs)
	}
	return fromTop(ctx, c, a.options(), high.TopRequest{})
}

// testRun is apply in test mode.
// Salt: test.
func testRun(ctx context.Context, c *fun.Call, a *applyArgs) (fun.Result, error) {
	a.Test = fun.Opt[bool]{V: true, Given: true}
	return apply(ctx, c, a)
}

type slsArgs struct {
	Mods value.Value `arg:"mods,required,str|list[str]" doc:"names or globs of SLS files, as a list or a comma-separated string"`
	fullArgs
}

// sls runs the states of SLS files.
// Salt: sls.
func sls(ctx context.Context, c *fun.Call, a *slsArgs) (fun.Result, error) {
	return runSLS(ctx, c, a.Mods, &a.fullArgs)
}

// runSLS runs the states of SLS files.
//
// The result is Salt's: the returns by tag, or a list of texts where the states
// do not compile (retcode 1) or the pillar has errors (5). A failed state, and a
// run without any, is retcode 2.
func runSLS(ctx context.Context, c *fun.Call, names value.Value, a *fullArgs) (fun.Result, error) {
	s, err := open(ctx, c, a.options(), highstateOut)
	if err != nil {
		return fun.Result{}, err
	}
	mods := splitText(names)
	if msgs := disabledMessages(s.env, mods); len(msgs) > 0 {
		return fun.Result{Value: value.Strings(msgs...), Retcode: retCompile, Out: s.out}, nil
	}
	saltenv := s.base()
	if err := s.sync(ctx, a.SyncMods, saltenv); err != nil {
		return fun.Result{}, err
	}
	if errs := s.pillarErrors(); len(errs) > 0 {
		return s.refused(errs)
	}
	if h, ok, err := s.cached(); err != nil || ok {
		if err != nil {
			return fun.Result{}, err
		}
		return s.run(ctx, h)
	}
	h := s.compiler().Render(ctx, []high.Match{{SaltEnv: saltenv, SLS: mods}})
	if len(h.Faults) > 0 {
		return s.failed(h.Faults)
	}
	s.exclude(h)
	if err := s.keep(h); err != nil {
		return fun.Result{}, err
	}
	return s.run(ctx, h)
}

// sync has the custom modules synced that mods, the argument sync_mods, names.
func (s *session) sync(ctx context.Context, mods value.Value, saltenv string) error {
	var kinds []string
	switch mods {
	case nil, false:
		return nil
	case true:
		kinds = []string{"all"}
	default:
		kinds = splitText(mods)
	}
	if slices.Contains(kinds, "all") {
		kinds = []string{"all"}
	}
	for _, k := range kinds {
		_, err := s.env.Exec(ctx, "saltutil.sync_"+k, value.MapOf("saltenv", saltenv))
		if _, ok := errors.AsType[*fun.NotFoundError](err); ok {
			s.env.Log().Warn("invalid custom module type, ignoring", "type", k)
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// exclude adds the argument exclude to the exclude declarations.
func (s *session) exclude(h *high.High) {
	if !value.Truth(s.a.Exclude) {
		return
	}
	l := h.Data.List("__exclude__")
	if l == nil {
		l = &value.List{}
		h.Data.Set("__exclude__", l)
	}
	l.Append(split(s.a.Exclude)...)
}

// noStates is the return of a highstate that has nothing to run.
func (s *session) noStates(comment string) (fun.Result, error) {
	ret := value.MapOf("no_|-states_|-states_|-None", value.MapOf(
		"result", false, "comment", comment, "name", "No States", "changes", value.NewMap(0), "__run_num__", int64(0)))
	return fun.Result{Value: ret, Retcode: retFailed, Out: s.out}, nil
}

// reportNoMatch says on stderr why the top files give this machine nothing.
func (s *session) reportNoMatch(top *high.Top) {
	saltenv := s.saltenv
	if saltenv == "" {
		saltenv = "base"
	}
	fault := &source.Error{Err: errors.New("there is no top file"), Hint: high.Where(s.env, saltenv)}
	switch {
	case top.Data.Len() > 0:
		fault = &source.Error{Err: fmt.Errorf("no target of the top file matches %s", s.env.ID), Hint: "'brine call state.show_top' shows what it gives this machine"}
	case len(top.Faults) > 0:
		return // they say why
	case top.Found:
		fault = &source.Error{Err: errors.New("the top file has no targets"), Hint: "below an environment, a top file has targets with lists of SLS: '*': [web]"}
	}
	s.env.Fault(fault)
}

// highstate runs all states that the top file gives to this machine.
// Salt: highstate.
func highstate(ctx context.Context, c *fun.Call, a *highstateArgs) (fun.Result, error) {
	return fromTop(ctx, c, a.options(), high.TopRequest{})
}

type topArgs struct {
	TopFn string `arg:"topfn,required" doc:"path of the top file in the file roots, such as \"prod_top.sls\""`
	highstateArgs
}

// runTop runs all states that a given top file gives to this machine.
// Salt: top.
func runTop(ctx context.Context, c *fun.Call, a *topArgs) (fun.Result, error) {
	return fromTop(ctx, c, a.options(), high.TopRequest{File: a.TopFn})
}

// fromTop runs what a top file gives.
// Salt: BaseHighState.call_highstate.
func fromTop(ctx context.Context, c *fun.Call, a options, req high.TopRequest) (fun.Result, error) {
	if disabled(c.Env, "highstate") {
		return fun.Result{Value: value.MapOf(
			"name", "Salt highstate run is disabled. To re-enable, run state.enable highstate",
			"result", "False", "comment", "Disabled"), Retcode: retFailed}, nil
	}
	s, err := open(ctx, c, a, highstateOut)
	if err != nil {
		return fun.Result{}, err
	}
	if errs := s.pillarErrors(); len(errs) > 0 {
		return s.refused(errs)
	}
	if h, ok, err := s.cached(); err != nil || ok {
		if err != nil {
			return fun.Result{}, err
		}
		return s.run(ctx, h)
	}
	req.SaltEnv = s.saltenv
	comp := s.compiler()
	top, err := comp.Top(ctx, req)
	if err != nil {
		faults := source.Faults(err)
		s.show(faults)
		return s.noStates("Unable to render top file: " + faults[0].SaltText())
	}
	s.show(top.Faults)
	matches, err := comp.Matches(ctx, top, s.saltenv)
	if err != nil {
		return fun.Result{}, err
	}
	if len(matches) == 0 {
		s.reportNoMatch(top)
		return s.noStates("No Top file or master_tops data matches found. Please see master log for details.")
	}
	h := comp.Render(ctx, whitelisted(matches, a.Whitelist))
	if faults := append(top.Verify(), h.Faults...); len(faults) > 0 {
		return s.failed(faults)
	}
	s.exclude(h)
	if h.Data.Len() == 0 {
		return s.noStates("No states found for this minion")
	}
	if err := s.keep(h); err != nil {
		return fun.Result{}, err
	}
	return s.run(ctx, h)
}

// whitelisted returns the matches whose SLS are in a whitelist, where there is
// one.
func whitelisted(matches []high.Match, list value.Value) []high.Match {
	if !value.Truth(list) {
		return matches
	}
	allowed := map[string]bool{}
	for _, n := range splitText(list) {
		allowed[n] = true
	}
	var out []high.Match
	for _, m := range matches {
		kept := high.Match{SaltEnv: m.SaltEnv}
		for _, n := range m.SLS {
			if allowed[n] {
				kept.SLS = append(kept.SLS, n)
			}
		}
		if len(kept.SLS) > 0 {
			out = append(out, kept)
		}
	}
	return out
}

type slsIDArgs struct {
	ID   string      `arg:"id_,required" doc:"ID to run"`
	Mods value.Value `arg:"mods,required,str|list[str]" doc:"names or globs of SLS files, as a list or a comma-separated string"`
	testArgs
	queueArgs
	eventArgs
	pillarArgs
	forceArgs
}

func (a *slsIDArgs) options() options {
	return options{testArgs: a.testArgs, queueArgs: a.queueArgs, eventArgs: a.eventArgs, pillarArgs: a.pillarArgs, forceArgs: a.forceArgs}
}

// slsID runs one ID of SLS files with what it requires, in the order in which it
// requires it. Listeners are not called.
// Salt: sls_id. Differences: extend and exclude of the files are applied; what
// several states of the ID require runs once.
func slsID(ctx context.Context, c *fun.Call, a *slsIDArgs) (fun.Result, error) {
	s, err := open(ctx, c, a.options(), highstateOut)
	if err != nil {
		return fun.Result{}, err
	}
	mods, saltenv := splitText(a.Mods), s.base()
	if errs := s.pillarErrors(); len(errs) > 0 {
		return s.refused(errs)
	}
	h := s.compiler().Render(ctx, []high.Match{{SaltEnv: saltenv, SLS: mods}})
	if len(h.Faults) > 0 {
		return s.failed(h.Faults)
	}
	chunks, err := s.lower().Compile(h)
	if err != nil {
		return s.failed(source.Faults(err))
	}
	chosen := closure(chunks, a.ID)
	if len(chosen) == 0 {
		var ids []string
		for _, c := range chunks {
			ids = append(ids, c.ID)
		}
		return fun.Result{}, fun.Errorf("No matches for ID '%s' found in SLS '%s' within saltenv '%s'%s", a.ID, strings.Join(mods, ","), saltenv, source.DidYouMean(a.ID, ids))
	}
	s.only, s.direct = a.ID, true
	return s.runChunks(ctx, h, chosen)
}

// disabled reports whether state.disable forbids name.
func disabled(env *fun.Env, name string) bool {
	return len(disabledMessages(env, []string{name})) > 0
}

// disabledMessages returns Salt's texts for SLS names that state.disable
// forbids, one by one or as "prefix.*".
// Salt: _disabled.
func disabledMessages(env *fun.Env, names []string) []string {
	var out []string
	for _, name := range names {
		for _, rule := range disabledRules(env) {
			if mod, _, ok := strings.Cut(rule, "."); ok && strings.Contains(rule, ".*") {
				if strings.HasPrefix(name, mod+".") {
					out = append(out, fmt.Sprintf(`The state file "%s" is currently disabled by "%s", to re-enable, run state.enable %s.`, name, rule, rule))
				}
			} else if rule == name {
				out = append(out, fmt.Sprintf(`The state file "%s" is currently disabled, to re-enable, run state.enable %s.`, rule, rule))
			}
		}
	}
	return out
}

const disabledGrain = "state_runs_disabled"

func disabledRules(env *fun.Env) []string {
	if env.Grains == nil {
		return nil
	}
	v, _ := env.Grains.Get(disabledGrain)
	l, ok := v.(*value.List)
	if !ok {
		return nil
	}
	return splitText(l)
}
