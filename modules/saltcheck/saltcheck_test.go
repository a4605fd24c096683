package saltcheck_test

import (
	"context"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/modules/config"
	"brine/modules/cp"
	"brine/modules/saltcheck"
	"brine/modules/slsutil"
)

// stub is a module whose functions return what they are given.
func stub() fun.Module {
	return fun.Module{Name: "stub", Kind: fun.Exec, Specs: []fun.Spec{
		{Name: "echo", Args: []fun.Arg{{Name: "text"}}, Fn: func(_ context.Context, c *fun.Call) (fun.Result, error) { return fun.Value(c.Args.At("text")) }},
		{Name: "fails", Fn: func(context.Context, *fun.Call) (fun.Result, error) { return fun.Result{}, fun.Errorf("broken") }},
		{Name: "kw", VarKw: true, Fn: func(_ context.Context, c *fun.Call) (fun.Result, error) { return fun.Value(c.Kw) }},
	}}
}

// states stands for the execution module "state": the state web includes web.sub,
// and the top file has both and db.
func states() fun.Module {
	low := func(names ...string) value.Value {
		l := value.NewList()
		for _, n := range names {
			l.Append(value.MapOf("__sls__", n))
		}
		return l
	}
	return fun.Module{Name: "state", Kind: fun.Exec, Specs: []fun.Spec{
		{Name: "apply", VarArg: true, VarKw: true, Fn: func(_ context.Context, c *fun.Call) (fun.Result, error) {
			return fun.Value(value.MapOf("applied", value.NewList(c.Pos...), "kw", c.Kw))
		}},
		{Name: "show_low_sls", VarKw: true, Args: []fun.Arg{{Name: "mods", Type: fun.Str}}, Fn: func(_ context.Context, c *fun.Call) (fun.Result, error) {
			switch c.Args.Str("mods") {
			case "web":
				return fun.Value(low("web.sub", "web.sub", "web"))
			case "bad":
				return fun.Value(value.Strings("an error"))
			}
			return fun.Value(low(c.Args.Str("mods")))
		}},
		{Name: "show_top", VarKw: true, Fn: func(context.Context, *fun.Call) (fun.Result, error) {
			return fun.Value(value.MapOf("base", value.Strings("web", "db")))
		}},
	}}
}

func rig() *calltest.Rig {
	h := host.NewFake()
	h.PutDir("/var/cache/brine", 0o755)
	for name, text := range map[string]string{
		"web/init.sls": "", "web/sub.sls": "", "db.sls": "", "bad.sls": "",
		"web/saltcheck-tests/init.tst":  "one: {module_and_function: stub.echo, args: [1], assertion: assertEqual, expected_return: '1'}\n",
		"web/saltcheck-tests/sub.tst":   "{% for x in 'ab' %}\n{{ x }}: {module_and_function: stub.echo, args: [{{ x }}], assertion: assertEqual, expected_return: a}\n{% endfor %}\n",
		"web/saltcheck-tests/extra.tst": "extra: {module_and_function: stub.fails, assertion: assertTrue}\nodd: 1\n",
		"list/saltcheck-tests/init.tst": "- a\n",
		"only/saltcheck-tests/deep.tst": "deep: {module_and_function: stub.echo, args: [x], assertion: assertNotEmpty, skip: true}\n",
	} {
		h.PutFile("/srv/salt/"+name, text, 0o644)
	}
	return calltest.New(h,
		fun.Entry{Kind: fun.Exec, Name: "config", Load: config.Module},
		fun.Entry{Kind: fun.Exec, Name: "cp", Load: cp.Module},
		fun.Entry{Kind: fun.Exec, Name: "saltcheck", Load: saltcheck.Module},
		fun.Entry{Kind: fun.Exec, Name: "slsutil", Load: slsutil.Module},
		fun.Entry{Kind: fun.Exec, Name: "state", Load: states},
		fun.Entry{Kind: fun.Exec, Name: "stub", Load: stub})
}

func TestRunTest(t *testing.T) {
	t.Parallel()
	r := rig()
	for _, tt := range []struct{ test, want string }{
		{"{module_and_function: stub.echo, args: [a], assertion: assertEqual, expected_return: a}", "Pass"},
		{"{module_and_function: stub.echo, args: [a], assertion: assertEqual, expected-return: b}", "Fail: b is not equal to a"},
		{"{module_and_function: stub.echo, args: [a], assertion: assertEqual, expected_return: b, print_result: false}", "Fail: Result is not equal"},
		{"{module_and_function: stub.echo, args: [a], assertion: assertNotEqual, expected_return: a}", "Fail: a is equal to a"},
		{"{module_and_function: stub.echo, args: [true], assertion: assertEqual, expected_return: 'False'}", "Fail: False is not equal to True"},
		{"{module_and_function: stub.echo, args: [1.5], assertion: assertEqual, expected_return: '1.5'}", "Pass"},
		{"{module_and_function: stub.echo, args: [[a, b]], assertion: assertEqual, expected_return: ab}", "Pass"},
		{"{module_and_function: stub.echo, args: [1], assertion: assertTrue}", "Fail: 1 not True"},
		{"{module_and_function: stub.echo, args: [''], assertion: assertFalse}", "Pass"},
		{"{module_and_function: stub.echo, args: [[a]], assertion: assertIn, expected_return: b}", "Fail: b not found in ['a']"},
		{"{module_and_function: stub.echo, args: [1], assertion: assertIn, expected_return: b}", "Fail: argument of type 'int' is not iterable"},
		{"{module_and_function: stub.echo, args: [[a]], assertion: assertNotIn, expected_return: a}", "Fail: a was found in ['a']"},
		{"{module_and_function: stub.echo, args: [3], assertion: assertGreater, expected_return: '4'}", "Pass"},
		{"{module_and_function: stub.echo, args: [3], assertion: assertLessEqual, expected_return: 4}", "Fail: 3 not False"},
		{"{module_and_function: stub.echo, args: [[1]], assertion: assertEmpty}", "Fail: [1] is not empty"},
		{"{module_and_function: stub.echo, args: [[]], assertion: assertNotEmpty}", "Fail: value is empty"},
		{"{module_and_function: stub.kw, kwargs: {a: {b: c}, pillar: x}, assertion: assertEqual, assertion_section: 'a|b', assertion_section_delimiter: '|', expected_return: c}", "Pass"},
		{"{module_and_function: stub.kw, kwargs: {a: 1}, assertion: assertFalse, assertion_section: b}", "Pass"},
		{"{module_and_function: stub.kw, pillar_data: {a: 1}, assertion: assertEqual, assertion_section: 'pillar:a', expected_return: 1}", "Pass"},
		{"{module_and_function: stub.fails, assertion: assertTrue}", "Fail: broken"},
		{"{module_and_function: stub.none, assertion: assertTrue}", "Fail - invalid test"},
		{"{module_and_function: none, assertion: assertTrue}", "Fail - invalid test"},
		{"{assertion: assertTrue}", "Fail - invalid test"},
		{"{module_and_function: stub.echo, assertion: assertOdd}", "Fail - invalid test"},
		{"{module_and_function: stub.echo, assertion: assertEqual}", "Fail - invalid test"},
		{"{module_and_function: stub.echo, assertions: 1}", "Fail - invalid test"},
		{"{module_and_function: stub.echo, assertions: [1]}", "Fail - invalid test"},
		{"{module_and_function: stub.echo, args: [x], assertions: [{assertion: assertOdd}, {assertion: assertTrue}]}", "Fail - invalid test"},
		{"{module_and_function: saltcheck.state_apply, args: prep, pillar_data: {a: 1}}", "Pass"},
	} {
		want := "{'status': " + value.Repr(tt.want) + ", 'duration': 0.0}"
		if got := r.Fn(t, "saltcheck.run_test", "{test: "+tt.test+"}"); got != want {
			t.Errorf("%s: %s, want %s", tt.test, got, want)
		}
	}
	r.Steps(t, []calltest.Step{
		{"call saltcheck.run_test {}", "'Test argument must be a dictionary'"},
		{
			"call saltcheck.run_test {test: {module_and_function: stub.kw, args: [], kwargs: {a: 1}, output_details: true, print_result: false, assertions: [{assertion: assertEqual, assertion_section: a, expected_return: 1}, {assertion: assertEmpty}]}}",
			"{'assertion1': {'status': 'Pass', 'module.function [args] assertion_section': 'stub.kw [] a', 'saltcheck assertion': '1 == hidden'}, " +
				"'assertion2': {'status': \"Fail: {'a': 1} is not empty\", 'module.function [args]': 'stub.kw []', 'saltcheck assertion': 'IS EMPTY hidden'}, 'status': 'Fail', 'duration': 0.0}",
		},
		{"call saltcheck.parallel_scheck [[x, {module_and_function: stub.echo, args: [1], assertion: assertNotEmpty}]]", "{'x': {'status': 'Pass', 'duration': 0.0}}"},
		{"call saltcheck.parallel_scheck [[x]]", "error: data must be a list of a name and a test"},
		{"call saltcheck.state_apply {state_name: prep, test: true}", "{'applied': ['prep'], 'kw': {'test': True}}"},
	})
}

func TestStates(t *testing.T) {
	t.Parallel()
	const (
		pass = "{'status': 'Pass', 'duration': 0.0}"
		fail = "{'status': 'Fail: a is not equal to b', 'duration': 0.0}"
		sub  = "'a': " + pass + ", 'b': " + fail
		web  = "{'web': {'one': " + pass + ", " + sub + "}}"
	)
	counts := func(pass, fail, skip, missing string) string {
		return "{'TEST RESULTS': {'Execution Time': 0.0, 'Passed': " + pass + ", 'Failed': " + fail + ", 'Skipped': " + skip + ", 'Missing Tests': " + missing + "}}"
	}
	rig().Steps(t, []calltest.Step{
		{"call saltcheck.run_state_tests [web]", "[" + web + ", " + counts("2", "1", "0", "0") + "]"},
		{"call saltcheck.run_state_tests ['web.sub, db']", "[{'db': {}}, {'web.sub': {" + sub + "}}, " + counts("1", "1", "0", "1") + "]"},
		{"call saltcheck.run_state_tests {state: 'web,only.deep', only_fails: true}", "[{}, {'web': {'b': " + fail + "}}, " + counts("2", "1", "1", "0") + "]"},
		{"call saltcheck.run_state_tests {state: web.sub, check_all: true}", "[{'web.sub': {'extra': {'status': 'Fail: broken', 'duration': 0.0}, 'odd': {'status': 'Fail - invalid test', 'duration': 0.0}, 'one': " + pass + ", " + sub + "}}, " + counts("2", "3", "0", "0") + "]"},
		{"call saltcheck.run_state_tests [only.deep]", "[{'only.deep': {'deep': {'status': 'Skip', 'duration': 0.0}}}, " + counts("0", "0", "1", "0") + "]"},
		{"call saltcheck.run_state_tests [bad]", "[{'bad': {}}, " + counts("0", "0", "0", "1") + "]"},
		{"call saltcheck.run_highstate_tests {}", "[{'db': {}}, " + web + ", " + counts("2", "1", "0", "1") + "]"},
		{"call saltcheck.report_highstate_tests {}", "{'TEST REPORT RESULTS': {'Missing Tests': 1, 'States missing tests': ['db'], 'States with tests': ['web.sub', 'web']}}"},
	})
	if got := rig().Fn(t, "saltcheck.run_state_tests", "[list]"); !strings.HasSuffix(got, "does not have tests: it is not a mapping") {
		t.Error(got)
	}
}
