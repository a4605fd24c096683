// Package saltcheck is Salt's execution module "saltcheck": tests of states. A test
// calls an execution function and compares what it returns. Tests are files that
// end in .tst, in a directory beside the states that they are about.
package saltcheck

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// Module returns the execution module "saltcheck".
func Module() fun.Module {
	return fun.Module{Name: "saltcheck", Kind: fun.Exec, Doc: "Run tests of states.", Specs: specs}
}

// environment returns the environment of a call: the argument, the option, base.
func environment(c *fun.Call, a *envArg) string {
	if env := a.Saltenv; env != "" {
		return env
	}
	if c.Env.Opts != nil {
		if env := c.Env.Opts.At("saltenv"); value.Truth(env) {
			return value.Str(env)
		}
	}
	return "base"
}

// option returns a setting of the configuration.
func option(ctx context.Context, env *fun.Env, name string, def value.Value) value.Value {
	v, err := env.Exec(ctx, "config.get", value.MapOf("default", def), name)
	if err != nil || v == nil {
		return def
	}
	return v
}

type runTestArgs struct {
	Test value.Value `arg:"test,kw" doc:"the test, a mapping"`
	_    fun.Kwargs
}

func runTest(ctx context.Context, c *fun.Call, a *runTestArgs) (fun.Result, error) {
	test, ok := a.Test.(*value.Map)
	if !ok || test.Len() == 0 {
		return fun.Value("Test argument must be a dictionary")
	}
	ret, err := newChecker(ctx, c.Env).run(ctx, test)
	return fun.Result{Value: ret}, err
}

type parallelScheckArgs struct {
	_    fun.Arguments
	Data []value.Value `arg:"data,required" doc:"list of the name and the test"`
}

// parallelScheck runs a test that has a name: the pair of both.
func parallelScheck(ctx context.Context, c *fun.Call, a *parallelScheckArgs) (fun.Result, error) {
	pair := a.Data
	if len(pair) == 2 {
		if test, ok := pair[1].(*value.Map); ok {
			ret, err := newChecker(ctx, c.Env).run(ctx, test)
			return fun.Result{Value: value.MapOf(pair[0], ret)}, err
		}
	}
	return fun.Result{}, &fun.InvocationError{Msg: "data must be a list of a name and a test", Arg: "data"}
}

type stateApplyArgs struct {
	StateName string `arg:"state_name,required" doc:"names of states, with commas between them"`
	Rest      fun.Kwargs
}

func stateApply(ctx context.Context, c *fun.Call, a *stateApplyArgs) (fun.Result, error) {
	return c.Env.Invoker.Invoke(ctx, fun.Exec, "state.apply", fun.Args{Pos: []value.Value{a.StateName}, Kw: a.Rest.Copy()})
}

type runStateTestsArgs struct {
	State []string `arg:"state,required,comma[str]" doc:"names of states, or of tests without a state"`
	envArg
	CheckAll bool `arg:"check_all" default:"False" doc:"run all tests of the directories"`
	failsArg
}

func runStateTests(ctx context.Context, c *fun.Call, a *runStateTestsArgs) (fun.Result, error) {
	return runTests(ctx, c, &a.failsArg, environment(c, &a.envArg), a.State, a.CheckAll)
}

type runHighstateTestsArgs struct {
	envArg
	failsArg
}

func runHighstateTests(ctx context.Context, c *fun.Call, a *runHighstateTestsArgs) (fun.Result, error) {
	env := environment(c, &a.envArg)
	states, err := topStates(ctx, c, env)
	if err != nil {
		return fun.Result{}, err
	}
	return runTests(ctx, c, &a.failsArg, env, states, false)
}

// topStates returns the states that the top file assigns to this machine.
func topStates(ctx context.Context, c *fun.Call, env string) ([]string, error) {
	v, err := c.Env.Exec(ctx, "state.show_top", value.MapOf("saltenv", env))
	if err != nil {
		return nil, err
	}
	top, ok := v.(*value.Map)
	if !ok {
		return nil, fun.Errorf("the top file cannot be read: %s", value.Str(v))
	}
	var states []string
	if list := top.List(env); list != nil {
		for _, s := range list.Items {
			states = append(states, value.Str(s))
		}
	}
	return states, nil
}

// reportHighstateTests lists the states of the top file that have no tests.
// Salt: salt/modules/saltcheck.py report_highstate_tests.
func reportHighstateTests(ctx context.Context, c *fun.Call, a *envArg) (fun.Result, error) {
	env := environment(c, a)
	states, err := topStates(ctx, c, env)
	if err != nil {
		return fun.Result{}, err
	}
	l := newLoader(ctx, c.Env, env)
	missing := value.NewList()
	for _, s := range states {
		if err := l.add(ctx, s, false); err != nil {
			return fun.Result{}, err
		}
		if !slices.Contains(l.found, s) {
			missing.Append(s)
		}
	}
	n := len(missing.Items)
	return fun.Result{Retcode: n, Value: value.MapOf("TEST REPORT RESULTS", value.MapOf(
		"Missing Tests", int64(n), "States missing tests", missing, "States with tests", value.Strings(l.found...)))}, nil
}

// A summary counts tests.
type summary struct {
	passed, failed, skipped, missing int64
	seconds                          float64
}

func (s *summary) count(results *value.Map) {
	if results.Len() == 0 {
		s.missing++
	}
	for _, v := range results.All() {
		ret, _ := v.(*value.Map)
		switch status := ret.Str("status"); {
		case strings.HasPrefix(status, "Pass"):
			s.passed++
		case strings.HasPrefix(status, "Fail"):
			s.failed++
		case strings.HasPrefix(status, "Skip"):
			s.skipped++
		}
		d, _ := value.ToFloat(ret.At("duration"))
		s.seconds += d
	}
}

// runTests runs the tests of states, and of those that they include.
// Salt: salt/modules/saltcheck.py run_state_tests. Difference: one after the other.
func runTests(ctx context.Context, c *fun.Call, a *failsArg, env string, states []string, all bool) (fun.Result, error) {
	check, l := newChecker(ctx, c.Env), newLoader(ctx, c.Env, env)
	results := value.NewMap(len(states))
	for _, state := range states {
		state = strings.TrimSpace(state)
		if err := l.add(ctx, state, all); err != nil {
			return fun.Result{}, err
		}
		tests, err := l.load(ctx)
		if err != nil {
			return fun.Result{}, err
		}
		done := value.NewMap(tests.Len())
		for name, v := range tests.All() {
			test, ok := v.(*value.Map)
			if !ok {
				test = value.NewMap(0)
			}
			ret, err := check.run(ctx, test)
			if err != nil {
				return fun.Result{}, err
			}
			done.Set(name, ret)
		}
		if results.Map(state).Len() == 0 {
			results.Set(state, done)
		}
	}
	return report(results, a.OnlyFails)
}

// report returns the results by state, in the order of their names, and the counts.
func report(results *value.Map, onlyFails bool) (fun.Result, error) {
	var sum summary
	var states []string
	for state, v := range results.All() {
		sum.count(v.(*value.Map))
		states = append(states, value.Str(state))
	}
	slices.Sort(states)
	out := value.NewList()
	for _, state := range states {
		shown := results.Map(state)
		if onlyFails {
			failed := value.NewMap(0)
			for name, v := range shown.All() {
				if ret, _ := v.(*value.Map); strings.HasPrefix(ret.Str("status"), "Fail") {
					failed.Set(name, v)
				}
			}
			if failed.Len() == 0 {
				out.Items = slices.Insert(out.Items, 0, value.Value(value.NewMap(0)))
				continue
			}
			shown = failed
		}
		out.Append(value.MapOf(state, shown))
	}
	out.Append(value.MapOf("TEST RESULTS", value.MapOf("Execution Time", round(sum.seconds), "Passed", sum.passed, "Failed", sum.failed, "Skipped", sum.skipped, "Missing Tests", sum.missing)))
	res := fun.Result{Value: out}
	if sum.failed > 0 {
		res.Retcode = 1
	}
	return res, nil
}

func round(seconds float64) float64 { return math.Round(seconds*1e4) / 1e4 }

func since(now, start time.Time) float64 { return round(now.Sub(start).Seconds()) }
