package loop_test

import (
	"context"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/states/loop"
)

// counter is a module whose functions count their calls.
func counter() fun.Entry {
	n := int64(0)
	return fun.Entry{Kind: fun.Exec, Name: "count", Load: func() fun.Module {
		return fun.Module{Name: "count", Kind: fun.Exec, Specs: []fun.Spec{
			{Name: "fail", Fn: func(context.Context, *fun.Call) (fun.Result, error) { return fun.Result{}, fun.Errorf("broken") }},
			{Name: "near", VarArg: true, Fn: func(_ context.Context, c *fun.Call) (fun.Result, error) {
				return fun.Value(value.Equal(c.Pos[0].(*value.Map).At("n"), int64(3)))
			}},
			{Name: "next", VarArg: true, VarKw: true, Fn: func(_ context.Context, c *fun.Call) (fun.Result, error) {
				if len(c.Pos) > 0 {
					n = 0
				}
				n++
				return fun.Value(value.MapOf("n", n, "list", value.Strings("a", "is True")))
			}},
			{Name: "number", Fn: func(context.Context, *fun.Call) (fun.Result, error) { n++; return fun.Value(n) }},
		}}
	}}
}

func TestLoop(t *testing.T) {
	t.Parallel()
	r := calltest.New(host.NewFake(), counter(), fun.Entry{Kind: fun.State, Name: "loop", Load: loop.States})
	r.Steps(t, []calltest.Step{
		{"test loop.until {name: count.next, condition: 'm_ret[\"n\"] == 3'}", "None: The execution module count.next will be run {}"},
		{"state loop.until {name: count.next, condition: 'm_ret[\"n\"] == 3'}", "True: Condition m_ret[\"n\"] == 3 was met {}"},
		{"state loop.until {name: count.next, m_args: [1], condition: 'm_ret[\"n\"] is not None and len(m_ret) == 2 and \"is True\" in m_ret[\"list\"]'}", "True: Condition m_ret[\"n\"] is not None and len(m_ret) == 2 and \"is True\" in m_ret[\"list\"] was met {}"},
		{"state loop.until {name: count.next, condition: 'm_ret is True', timeout: 2, period: 0.5}", "False: Timed out while waiting for condition m_ret is True {}"},
		{"state loop.until {name: count.none, condition: x}", "False: Cannot find module count.none {}"},
		{"state loop.until {name: count.next}", "False: An exit condition must be specified {}"},
		{"state loop.until {name: count.next, condition: x, period: long}", "False: Period must be specified as a float in seconds {}"},
		{"state loop.until {name: count.next, condition: x, timeout: long}", "False: Timeout must be specified as a float in seconds {}"},
		{"state loop.until {name: count.fail, condition: x}", "error: broken"},
		{"state loop.until_no_eval {name: count.next, expected: x, timeout: 2, period: 1}", "False: Call did not produce the expected result after 2 attempts {}"},
		{"state loop.until_no_eval {name: count.next, expected: n, compare_operator: contains, init_wait: 1}", "True: Call provided the expected results in 1 attempts {}"},
		{"state loop.until_no_eval {name: count.next, args: [1], expected: 3, compare_operator: count.near}", "False: Call did not produce the expected result after 60 attempts {}"},
		{"state loop.until_no_eval {name: count.number, expected: 4, compare_operator: gt}", "True: Call provided the expected results in 4 attempts {}"},
		{"state loop.until_no_eval {name: count.number, expected: 6, compare_operator: ne}", "True: Call provided the expected results in 2 attempts {}"},
		{"state loop.until_no_eval {name: count.number, expected: x, compare_operator: nearly}", "False: Invalid operator \"nearly\" supplied. {}"},
		{"state loop.until_no_eval {name: count.none, expected: x}", "False: Module.function \"count.none\" is unavailable. {}"},
		{"state loop.until_no_eval {name: count.fail, expected: x}", "False: Exception occurred while executing count.fail: broken {}"},
		{"test loop.until_no_eval {name: count.number, expected: x}", "None: Would have waited for \"count.number\" to produce \"x\". {}"},
	})
}
