// Package loop is Salt's state module "loop": calls of an execution function until
// its answer is the one that is waited for.
package loop

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/render"
	"brine/internal/py/value"
)

// States returns the rows of the state module "loop".
func States() fun.Module {
	return fun.Module{Name: "loop", Kind: fun.State, Doc: "Call a function until its answer is as expected.", Specs: specs}
}

type nameArg struct {
	_ fun.Arguments
	_ string `arg:"name,required" doc:"the execution function"`
}

type periodArg struct {
	_      fun.Arguments
	Period value.Value `arg:"period" default:"1" unit:"s" doc:"how long to wait between two calls"`
}

type timeoutArg struct {
	_       fun.Arguments
	Timeout value.Value `arg:"timeout" default:"60" unit:"s" doc:"how long to go on"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "until", Src: "states/loop.py until", Do: until, Always: true,
		Doc: "Call a function until a condition holds.\n\nThe condition is an expression of Jinja, in which m_ret is what the function\nreturned.",
	},
	{
		Name: "until_no_eval", Doc: "Call a function until its answer compares with the expected one.", Src: "states/loop.py until_no_eval", Do: untilNoEval, Always: true,
	},
}

// isThere reports whether there is an execution function of a name.
func isThere(c *fun.Call, name string) bool {
	_, _, err := c.Env.Find(fun.Exec, name)
	return err == nil
}

// times reads period and timeout; text is what is wrong with them.
func times(givenPeriod, givenTimeout value.Value) (period, timeout time.Duration, text string) {
	for _, a := range []struct {
		given value.Value
		title string
		to    *time.Duration
	}{{givenPeriod, "Period", &period}, {givenTimeout, "Timeout", &timeout}} {
		switch a.given.(type) {
		case int64, float64, bool:
		default:
			return 0, 0, a.title + " must be specified as a float in seconds"
		}
		*a.to, _ = value.Seconds(a.given)
	}
	return period, timeout, ""
}

// repeat calls try until it is done, or the time is over. It returns how often it
// called.
func repeat(ctx context.Context, c *fun.Call, period, timeout time.Duration, try func() (done bool, err error)) (n int, done bool, err error) {
	h := c.Env.Host
	for end := h.Now().Add(timeout); h.Now().Before(end); {
		n++
		if done, err = try(); done || err != nil {
			return n, done, err
		}
		// At least a moment, so that a period of 0 does not keep a processor busy.
		if err := h.Sleep(ctx, max(period, 10*time.Millisecond)); err != nil {
			return n, false, err
		}
	}
	return n, false, nil
}

type untilArgs struct {
	nameArg
	MArgs     []value.Value   `arg:"m_args" doc:"its arguments by position"`
	MKwargs   *value.Map      `arg:"m_kwargs" doc:"its arguments by name"`
	Condition fun.Opt[string] `arg:"condition" doc:"the condition: m_ret['state'] == 'up', 'ready' in m_ret"`
	periodArg
	timeoutArg
}

// until waits for a condition. Salt: salt/states/loop.py until. Difference: the
// condition is an expression of Jinja, not of Python.
func until(ctx context.Context, c *fun.Call, a *untilArgs) fun.Ret {
	period, timeout, text := times(a.Period, a.Timeout)
	switch {
	case !isThere(c, c.Name):
		return fun.Fail("Cannot find module %s", c.Name)
	case !a.Condition.Given:
		return fun.Fail("An exit condition must be specified")
	case text != "":
		return fun.Fail("%s", text)
	case c.Test:
		return fun.Due("The execution module %s will be run", c.Name)
	}
	condition := a.Condition.V
	_, done, err := repeat(ctx, c, period, timeout, func() (bool, error) {
		res, err := c.Env.Exec(ctx, c.Name, a.MKwargs, a.MArgs...)
		if err != nil {
			return false, err
		}
		return holds(ctx, c, condition, res)
	})
	switch {
	case err != nil:
		return fun.Raise(err)
	case done:
		return fun.Same("Condition %s was met", condition)
	}
	return fun.Fail("Timed out while waiting for condition %s", condition)
}

// constants are Python's tests for identity that Jinja writes otherwise.
var constants = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`'[^']*'|"[^"]*"|\bis(\s+not)?\s+(True|False|None)\b|\blen\((\w+)\)`)
})

// jinja returns a condition of Python's as Jinja reads it.
func jinja(condition string) string {
	return constants().ReplaceAllStringFunc(condition, func(s string) string {
		switch {
		case s[0] == '\'' || s[0] == '"':
			return s
		case strings.HasPrefix(s, "len("):
			return "(" + s[len("len("):len(s)-1] + "|length)"
		}
		return strings.ToLower(s)
	})
}

// holds reports whether a condition holds for an answer.
func holds(ctx context.Context, c *fun.Call, condition string, answer value.Value) (bool, error) {
	text, err := render.For(c.Env).Template(ctx, "jinja", render.Input{
		Path: "condition", SaltEnv: c.Env.SaltEnv, Text: []byte("{% if " + jinja(condition) + " %}True{% endif %}"), Vars: value.MapOf("m_ret", answer),
	})
	if err != nil {
		return false, fmt.Errorf("the condition %s cannot be read: %w", value.Repr(condition), err)
	}
	return strings.TrimSpace(text) == "True", nil
}

// compare compares as a function of Python's module operator does; ok is false for
// one that there is not.
func compare(name string, a, b value.Value) (holds, ok bool, err error) {
	switch name {
	case "eq":
		return value.Equal(a, b), true, nil
	case "ne":
		return !value.Equal(a, b), true, nil
	case "is_":
		return value.Is(a, b), true, nil
	case "is_not":
		return !value.Is(a, b), true, nil
	case "contains":
		holds, err = value.Contains(a, b)
		return holds, true, err
	case "and_":
		return value.Truth(a) && value.Truth(b), true, nil
	case "or_":
		return value.Truth(a) || value.Truth(b), true, nil
	case "lt", "le", "gt", "ge":
		op := map[string]string{"lt": "<", "le": "<=", "gt": ">", "ge": ">="}[name]
		holds, err = value.Compare(op, a, b)
		return holds, true, err
	}
	return false, false, nil
}

type untilNoEvalArgs struct {
	nameArg
	Expected        value.Value `arg:"expected,required" doc:"the answer"`
	CompareOperator string      `arg:"compare_operator" default:"eq" doc:"eq, ne, lt, le, gt, ge, contains, is_, is_not; or an execution function that takes the answer and the expected one"`
	timeoutArg
	periodArg
	InitWait time.Duration `arg:"init_wait" default:"0" unit:"s" doc:"how long to wait before the first call"`
	Args     []value.Value `arg:"args" doc:"its arguments by position"`
	Kwargs   *value.Map    `arg:"kwargs" doc:"its arguments by name"`
}

// untilNoEval waits for an answer. Salt: salt/states/loop.py until_no_eval.
func untilNoEval(ctx context.Context, c *fun.Call, a *untilNoEvalArgs) fun.Ret {
	op, expected := a.CompareOperator, a.Expected
	byFunction := strings.Contains(op, ".") && isThere(c, op)
	_, known, _ := compare(op, int64(0), int64(0))
	period, timeout, text := times(a.Period, a.Timeout)
	switch {
	case !isThere(c, c.Name):
		return fun.Fail("Module.function \"%s\" is unavailable.", c.Name)
	case text != "":
		return fun.Fail("%s", text)
	case !byFunction && !known:
		return fun.Fail("Invalid operator \"%s\" supplied.", op)
	case c.Test:
		return fun.Due("Would have waited for \"%s\" to produce \"%s\".", c.Name, value.Str(expected))
	}
	if wait := a.InitWait; wait > 0 {
		if err := c.Env.Host.Sleep(ctx, wait); err != nil {
			return fun.Raise(err)
		}
	}
	var failed error
	n, done, err := repeat(ctx, c, period, timeout, func() (bool, error) {
		res, err := c.Env.Invoker.Invoke(ctx, fun.Exec, c.Name, fun.Args{Pos: a.Args, Kw: a.Kwargs})
		if err != nil {
			failed = err
			return true, nil
		}
		if byFunction {
			res, err = c.Env.Invoker.Invoke(ctx, fun.Exec, op, fun.Args{Pos: []value.Value{res.Value, expected}})
			return value.Truth(res.Value), err
		}
		holds, _, err := compare(op, res.Value, expected)
		return holds, err
	})
	switch {
	case err != nil:
		return fun.Raise(err)
	case failed != nil:
		return fun.Fail("Exception occurred while executing %s: %s", c.Name, failed)
	case done:
		return fun.Same("Call provided the expected results in %d attempts", n)
	}
	return fun.Fail("Call did not produce the expected result after %d attempts", n)
}
