package exec_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/runner/exec"
)

func keys(m *value.Map) []string {
	var out []string
	for _, k := range m.Keys() {
		out = append(out, k.(string))
	}
	return out
}

// TestReturnKeys has the keys of returns as recorded.
func TestReturnKeys(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.codes["false"] = 1
	got := r.run(exec.Options{},
		chunk("a: test.configurable_test_state", "warnings", value.Strings("w")),
		chunk("b: test.nop", "require", req("test: no")),
		chunk("c: nope.nothing"),
		chunk("d: test.nop", "unless", "true"),
		chunk("e: test.nop", "onchanges", req("test: d")),
		chunk("f: rec.lists"),
		chunk("g: cmd.run", "parallel", true),
		chunk("h: rec.panics"),
	)
	want := map[string][]string{
		"a": {"name", "changes", "result", "comment", "warnings", "__sls__", "__run_num__", "start_time", "duration", "__id__"},
		"b": {"changes", "result", "duration", "start_time", "comment", "__run_num__", "__sls__", "__id__", "name"},
		"c": {"result", "name", "changes", "comment", "__run_num__"},
		"d": {"result", "name", "changes", "comment", "skip_watch", "__sls__", "__run_num__", "start_time", "duration", "__id__"},
		"e": {"changes", "result", "duration", "start_time", "comment", "__state_ran__", "__run_num__", "__sls__", "__id__", "name"},
		"f": {"name", "changes", "result", "comment", "warnings", "__sls__", "__run_num__", "start_time", "duration", "__id__"},
		"g": {"name", "changes", "result", "comment", "__sls__", "__run_num__", "start_time", "duration", "__id__", "__parallel__"},
		"h": {"result", "name", "changes", "comment", "__sls__", "__run_num__", "start_time", "duration", "__id__"},
	}
	for k, v := range got.Returns.All() {
		id := strings.Split(k.(string), "_|-")[1]
		if d := cmp.Diff(want[id], keys(v.(*value.Map))); d != "" {
			t.Errorf("%s (-want +got):\n%s", id, d)
		}
	}
	a := got.Return("test_|-a_|-a_|-configurable_test_state")
	if s := a.Str("start_time"); s != "03:04:05.000000" {
		t.Errorf("start_time = %q", s)
	}
	if d, ok := a.At("duration").(float64); !ok || d != 0 {
		t.Errorf("duration = %v", a.At("duration"))
	}
	if got.Return("rec_|-f_|-f_|-lists").Str("comment") != "one\n2" {
		t.Error("a list comment is joined by lines")
	}
	if got.OK() {
		t.Error("OK() = true for failed states")
	}
}

func TestFaultyStates(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const raised = "An exception occurred in this state: Traceback (most recent call last):\n"
	got := r.run(exec.Options{},
		chunk("mod: nope.nothing"), chunk("fn: test.nopp"), chunk("arg: rec.echo"), chunk("noname: test.nop", "name", value.NewList("x")),
		chunk("panics: rec.panics"), chunk("changes: rec.badchanges"), chunk("raises: test.configurable_test_state", "changes", "maybe"),
		chunk("after: test.nop"),
	)
	check(t, got, true,
		"0 mod False State 'nope.nothing' was not found in SLS 's'\nReason: 'nope.nothing' is not available.\n",
		"1 fn False State 'test.nopp' was not found in SLS 's'\nReason: 'test.nopp' is not available.\n",
		"2 arg False Missing parameter text for state rec.echo\n",
		"3 noname False ID '['x']' in SLS 's' is not formed as a string, but is a list\n",
		"4 panics False "+raised+"RuntimeError: a state that is broken\n",
		"5 changes False An exception occurred in this state: 'Changes' should be a dictionary.",
		"6 raises False "+raised+"salt.exceptions.SaltInvocationError: You have specified the state option 'changes' with invalid arguments. It must be either True, False, or 'Random'\n",
		"7 after True Success!",
	)
	if len(r.warns) > 0 {
		t.Errorf("warnings: %q", r.warns)
	}
}

func TestUnavailable(t *testing.T) {
	t.Parallel()
	state := func(context.Context, *fun.Call) fun.Ret { return fun.Ret{Result: fun.OK} }
	mod := func(name, why string) fun.Module {
		return fun.Module{
			Name: name, Kind: fun.State, Specs: []fun.Spec{{Name: "f", State: state}},
			Avail: func(*fun.Env) (bool, string) { return false, why },
		}
	}
	r := newRig(t, mod("a", "systemctl is missing"), mod("b", ""))
	check(t, r.run(exec.Options{}, chunk("x: a.f"), chunk("y: b.f")), false,
		"x False State 'a.f' was not found in SLS 's'\nReason: 'a' __virtual__ returned False: systemctl is missing\n",
		"y False State 'b.f' was not found in SLS 's'\nReason: 'b' __virtual__ returned False\n")
	c := chunk("x: a.f")
	c.Low.Delete("__sls__")
	if d := cmp.Diff([]string{"Specified state 'a.f' was not found"}, exec.Verify(r.env, c)); d != "" {
		t.Error(d)
	}
	c.Low.Delete("fun")
	if d := cmp.Diff([]string{`Missing "fun" data`}, exec.Verify(r.env, c)); d != "" {
		t.Error(d)
	}
}

func TestConditions(t *testing.T) {
	t.Parallel()
	list := func(xs ...value.Value) *value.List { return value.NewList(xs...) }
	fn := func(kv ...value.Value) *value.Map { return value.MapOf(kv...) }
	raised := "An exception occurred in this state: Traceback (most recent call last):\n"
	for _, tt := range []struct {
		name string
		kv   []value.Value
		want string
		warn bool
	}{
		{"unless holds", []value.Value{"unless", "true"}, "True unless condition is true", false},
		{"unless does not", []value.Value{"unless", "false"}, "True Success!", false},
		{"unless mixed", []value.Value{"unless", list("true", "false")}, "True Success!", false},
		{"unless all", []value.Value{"unless", list("true", "true")}, "True unless condition is true", false},
		{"unless cannot run", []value.Value{"unless", "cannot"}, "True unless condition is true", false},
		{"onlyif holds", []value.Value{"onlyif", "true"}, "True Success!", false},
		{"onlyif does not", []value.Value{"onlyif", "false"}, "True onlyif condition is false", false},
		{"onlyif mixed", []value.Value{"onlyif", list("true", "false")}, "True onlyif condition is false", false},
		{"onlyif cannot run", []value.Value{"onlyif", "cannot"}, "True onlyif condition is false", false},
		{"both", []value.Value{"onlyif", "true", "unless", "true"}, "True onlyif condition is true\nunless condition is true", false},
		{"both not", []value.Value{"onlyif", "false", "unless", "false"}, "True onlyif condition is false\nunless condition is false", false},
		{"bool", []value.Value{"unless", true}, "True Success!", true},
		{"bool onlyif", []value.Value{"onlyif", false}, "True Success!", true},
		{"empty", []value.Value{"unless", list()}, "True Success!", true},
		{"creates", []value.Value{"creates", "/made"}, "True /made exists", false},
		{"creates relative", []value.Value{"creates", "rel"}, "True rel exists", false},
		{"creates not", []value.Value{"creates", "/other"}, "True Success!", false},
		{"creates all", []value.Value{"creates", list("/made", "rel")}, "True All files in creates exist", false},
		{"creates some", []value.Value{"creates", list("/made", "/other")}, "True Success!", false},
		{"creates and unless", []value.Value{"unless", "false", "creates", "/made"}, "True unless condition is false\n/made exists", false},
		{"creates odd", []value.Value{"creates", int64(3)}, "True Success!", true},
		{"function", []value.Value{"unless", list(fn("fun", "test.echo", "text", "x"))}, "True unless condition is true", false},
		{"function alone", []value.Value{"unless", fn("fun", "test.echo", "args", list("x"))}, "True unless condition is true", false},
		{"function false", []value.Value{"onlyif", list(fn("fun", "test.echo", "args", list("")))}, "True onlyif condition is false", false},
		{"function retcode", []value.Value{"onlyif", list(fn("fun", "test.retcode"))}, "True onlyif condition is false", false},
		{"function retcode unless", []value.Value{"unless", list(fn("fun", "test.retcode"))}, "True Success!", false},
		{"get_return", []value.Value{"onlyif", list(fn("fun", "test.arg", "a", fn("b", true), "get_return", "kwargs:a:b"))}, "True Success!", false},
		{"get_return missing", []value.Value{"onlyif", list(fn("fun", "test.arg", "a", int64(1), "get_return", "kwargs:z"))}, "True onlyif condition is false", false},
		{"slot in function", []value.Value{"onlyif", list(fn("fun", "test.echo", "text", "__slot__:salt:test.echo('')"))}, "True onlyif condition is false", false},
		{"no fun", []value.Value{"onlyif", list(fn("func", "test.echo"))}, "True Success!", true},
		{"unknown function", []value.Value{"onlyif", list(fn("fun", "test.nope"))}, "False " + raised + "KeyError: 'test.nope' is not available.\n", false},
		{"raising function", []value.Value{"unless", list(fn("fun", "test.boom"))}, "False " + raised + "salt.exceptions.CommandExecutionError: boom\n", false},
		{"check_cmd good", []value.Value{"check_cmd", list("true")}, "True check_cmd determined the state succeeded", false},
		{"check_cmd bad", []value.Value{"check_cmd", list("true", "false")}, "False check_cmd determined the state failed", false},
		{"check_cmd text", []value.Value{"check_cmd", "true"}, "True check_cmd determined the state succeeded", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.clock.files = map[string]bool{"/made": true, "/srv/rel": true}
			check(t, r.run(exec.Options{}, chunk("x: test.nop", tt.kv...)), false, "x "+tt.want)
			if (len(r.warns) > 0) != tt.warn {
				t.Errorf("warnings: %q", r.warns)
			}
		})
	}
}

// TestOwnCheckCmd has a module that handles check_cmd in some of its functions.
func TestOwnCheckCmd(t *testing.T) {
	t.Parallel()
	good := func(context.Context, *fun.Call) fun.Ret { return fun.Ret{Result: fun.OK, Comment: "good"} }
	r := newRig(t, fun.Module{Name: "own", Kind: fun.State, OwnCheckCmd: true, Specs: []fun.Spec{
		{Name: "with", Args: []fun.Arg{{Name: "check_cmd"}}, State: good},
		{Name: "without", State: good},
	}})
	check(t, r.run(exec.Options{}, chunk("a: own.with", "check_cmd", "false"), chunk("b: own.without", "check_cmd", "false")), false,
		"a True good", "b False check_cmd determined the state failed")
}

func TestUmask(t *testing.T) {
	t.Parallel()
	check(t, newRig(t).run(exec.Options{},
		chunk("a: test.nop", "umask", "077"), chunk("b: test.nop", "umask", int64(22)), chunk("c: test.nop", "umask", "0o27"),
		chunk("d: test.nop", "umask", "abc"), chunk("e: test.nop", "umask", int64(980)), chunk("f: test.nop", "umask", nil)), false,
		"a True Success!", "b True Success!", "c True Success!",
		"d False Invalid umask: abc\n", "e False Invalid umask: 980\n", "f False Invalid umask: None\n")
}

// TestGlobalConditions has machines that global_state_conditions names and that
// it does not.
func TestGlobalConditions(t *testing.T) {
	t.Parallel()
	match := fun.Module{Name: "match", Kind: fun.Exec, Specs: []fun.Spec{{
		Name: "compound", Args: []fun.Arg{{Name: "tgt", Required: true}},
		Fn: func(_ context.Context, c *fun.Call) (fun.Result, error) { return fun.Value(c.Args.Str("tgt") == "me") },
	}}}
	const refused = "None Failed to meet global state conditions. State not called."
	for _, tt := range []struct {
		name  string
		conds value.Value
		want  string
	}{
		{"none", nil, "True Success!"},
		{"all", value.MapOf("*", value.NewList("other")), refused},
		{"module", value.MapOf("test", "other"), refused},
		{"function", value.MapOf("test.nop", value.NewList("other")), refused},
		{"another function", value.MapOf("test.succeed", value.NewList("other"), "cmd", value.NewList("other")), "True Success!"},
		{"one of several", value.MapOf("*", value.NewList("other"), "test", value.NewList("other", "me")), "True Success!"},
		{"odd", value.MapOf("*", value.MapOf("a", "b")), "True Success!"},
	} {
		r := newRig(t, match)
		r.env.Opts.Set("global_state_conditions", tt.conds)
		check(t, r.run(exec.Options{}, chunk("x: test.nop")), false, "x "+tt.want)
		// They are asked before a parallel state starts.
		got := r.run(exec.Options{}, chunk("x: test.nop", "parallel", true))
		check(t, got, false, "x "+tt.want)
		if started := got.Return("test_|-x_|-x_|-nop").Has("__parallel__"); started != (tt.want != refused) {
			t.Errorf("%s: parallel state started: %v", tt.name, started)
		}
		check(t, r.run(exec.Options{Mock: true}, chunk("x: test.nop")), false, "x True Not called, mocked")
	}
}

// TestMock has what is done with a state that is not called.
func TestMock(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	got := r.run(exec.Options{Mock: true},
		chunk("a: test.fail_without_changes", "retry", true), chunk("b: cmd.run", "unless", "true"),
		chunk("c: cmd.run", "name", "__slot__:salt:cmd.retcode(slotted)", "parallel", true),
		chunk("d: cmd.run", "check_cmd", "false"), chunk("e: test.nope"),
		chunk("w: cmd.wait", "watch", req("test: a")), chunk("lost: cmd.wait", "watch", req("test: zz")),
	)
	check(t, got, false, "a True Not called, mocked", "b True unless condition is true", "c True Not called, mocked",
		"d False check_cmd determined the state failed", "e False State 'test.nope' was not found in SLS 's'\nReason: 'test.nope' is not available.\n",
		"w True Not called, mocked", "lost False The following requisites were not found:\n"+strings.Repeat(" ", 19)+"watch:\n"+strings.Repeat(" ", 23)+"test: zz\n")
	if slices.Contains(r.cmds, "slotted") {
		t.Error("a slot of a state that is not called was filled")
	}
}

func TestNoneRequisite(t *testing.T) {
	t.Parallel()
	check(t, newRig(t).run(exec.Options{}, chunk("a: test.nop", "require", value.NewList(value.MapOf("test", nil)))), false, "a True Success!")
}

func TestConditionArguments(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.env.Grains = value.MapOf("shell", "/bin/zsh")
	r.run(exec.Options{},
		chunk("a: test.nop", "unless", "x", "cwd", "/tmp", "runas", "me", "umask", "077", "timeout", int64(3), "env", value.MapOf("A", "b")),
		chunk("b: test.nop", "onlyif", "y", "shell", "/bin/ksh", "cwd", "/tmp", "cmd_opts_exclude", value.Strings("cwd")),
		chunk("c: test.nop", "check_cmd", "z", "shell", "/sbin/nologin"))
	want := []string{"x runas=me cwd=/tmp env={'A': 'b'} shell=/bin/zsh umask=077 timeout=3", "y shell=/bin/ksh", "z shell=/bin/zsh"}
	if d := cmp.Diff(want, r.cmds); d != "" {
		t.Errorf("commands (-want +got):\n%s", d)
	}
}

// TestSkippedStateDoesNotReact: a state that unless keeps from running does not
// react to what it watches either.
func TestSkippedStateDoesNotReact(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	check(t, r.run(exec.Options{}, chunk("c: test.succeed_with_changes"), chunk("w: cmd.wait", "watch", req("test: c"), "unless", "true")), true,
		"0 c True Success! *", "1 w True unless condition is true")
}

func TestRetry(t *testing.T) {
	t.Parallel()
	attempt := func(n, comment string) string {
		return "Attempt " + n + `: Returned a result of "False", with the following comment: "` + comment + "\"\n"
	}
	r := newRig(t)
	got := r.run(exec.Options{},
		chunk("never: test.fail_without_changes", "retry", value.MapOf("attempts", int64(3), "interval", int64(1))),
		chunk("once: test.nop", "retry", value.MapOf("attempts", int64(3), "interval", int64(1))),
		chunk("second: rec.flaky", "good_at", int64(2), "retry", true),
		chunk("until: test.nop", "retry", value.MapOf("until", false, "attempts", int64(2), "interval", int64(0))),
		chunk("not: test.fail_without_changes", "retry", false),
		chunk("bad: test.fail_without_changes", "retry", value.MapOf("attempts", int64(1), "interval", "x")),
	)
	check(t, got, true,
		"2 never False "+attempt("1", "Failure!")+attempt("2", "Failure!")+"Failure!",
		"3 once True Success!",
		"5 second True "+attempt("1", "bad 1")+"good",
		"7 until True "+strings.ReplaceAll(attempt("1", "Success!"), "False", "True")+"Success!",
		"8 not False Failure!", "9 bad False Failure!")
	if d := got.Return("test_|-never_|-never_|-fail_without_changes").At("duration"); d != 2000.0 {
		t.Errorf("duration = %v, want 2000: two waits of 1 s", d)
	}
	if d := got.Return("rec_|-second_|-second_|-flaky").At("duration"); d != 30000.0 {
		t.Errorf("duration = %v, want 30000: the default interval", d)
	}
	if len(r.warns) != 1 || !strings.Contains(r.warns[0], "retry: interval cannot be 'x'") {
		t.Errorf("warnings: %q", r.warns)
	}
	r = newRig(t)
	check(t, r.run(exec.Options{Test: true}, chunk("a: test.fail_without_changes", "retry", true)), true,
		"0 a False If we weren't testing, this would be a failure!  "+wouldRetry)
	// The comments of conditions are a list, which retry shows as it is.
	check(t, r.run(exec.Options{Test: true}, chunk("a: test.nop", "onlyif", "true", "unless", "true", "retry", true)), false,
		"a True ['onlyif condition is true', 'unless condition is true']  "+wouldRetry)
	skipped := chunk("a: test.nop", "unless", "true", "retry", value.MapOf("until", false, "interval", int64(0)))
	check(t, r.run(exec.Options{}, skipped), false,
		"a True Attempt 1: Returned a result of \"True\", with the following comment: \"['unless condition is true']\"\nunless condition is true")
}

const wouldRetry = "The state would be retried every 30 seconds (with a splay of up to 0 seconds) a maximum of 2 times or until a result of True is returned"

func TestTestMode(t *testing.T) {
	t.Parallel()
	chunks := func() []*fun.Chunk {
		return []*fun.Chunk{
			chunk("would: test.succeed_with_changes"), chunk("fails: test.fail_without_changes", "failhard", true), chunk("calm: test.nop"),
			chunk("w: cmd.wait", "watch", req("test: would")), chunk("oc: test.succeed_with_changes", "onchanges", req("test: would")),
			chunk("calm2: test.nop", "onchanges", req("test: calm")), chunk("of: test.nop", "onfail", req("test: fails")),
			chunk("of2: test.nop", "onfail", req("test: would")),
			chunk("gate: rec.changes", "prereq", req("rec: target")), chunk("target: rec.changes"),
		}
	}
	want := []string{
		"would None If we weren't testing, this would be successful with changes *", "fails False If we weren't testing, this would be a failure!", "calm True Success!",
		"w True Command \"w\" run *", "oc None If we weren't testing, this would be successful with changes *", "calm2 True " + skipOnchanges, "of True Success!", "of2 True Success!",
		"gate None would change *", "target None would change *",
	}
	check(t, newRig(t).run(exec.Options{Test: true}, chunks()...), false, want...)
	r := newRig(t)
	r.env.Opts.Set("test", true)
	check(t, r.run(exec.Options{}, chunks()...), false, want...)
	// A single state has no test mode of its own.
	check(t, newRig(t).run(exec.Options{}, chunk("a: test.succeed_with_changes", "test", true)), false, "a True Success! *")
	check(t, newRig(t).run(exec.Options{Test: true}, chunk("a: test.succeed_with_changes", "test", false)), false,
		"a None If we weren't testing, this would be successful with changes *")
}

func TestFailhard(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	got := r.run(exec.Options{}, chunk("one: test.nop"), chunk("two: test.fail_without_changes", "failhard", true), chunk("three: test.nop"))
	check(t, got, true, "0 one True Success!", "1 two False Failure!")

	// Of a requisite: what requires it does not appear either.
	r = newRig(t)
	check(t, r.run(exec.Options{}, chunk("a: test.nop", "require", req("test: b")), chunk("b: test.fail_without_changes", "failhard", true)), true, "0 b False Failure!")

	// By configuration, with one state excepted; listeners still hear.
	r = newRig(t)
	r.env.Opts.Set("failhard", true)
	check(t, r.run(exec.Options{}, chunk("ex: test.fail_without_changes", "failhard", false), chunk("c: test.succeed_with_changes"),
		chunk("l: cmd.wait", "listen", req("test: c")), chunk("bad: test.fail_without_changes"), chunk("never: test.nop")), true,
		"0 ex False Failure!", "1 c True Success! *", "2 l True ", "3 bad False Failure!", "4 listener_l True Command \"l\" run *")

	// A parallel state counts, too.
	r = newRig(t)
	got = r.run(exec.Options{}, chunk("p: test.fail_without_changes", "failhard", true, "parallel", true), chunk("q: test.nop", "require", req("test: p")), chunk("never: test.nop"))
	check(t, got, true, "0 p False Failure!")
}

func TestParallel(t *testing.T) {
	t.Parallel()
	var most, now atomic.Int64
	both := make(chan struct{})
	slow := fun.Module{Name: "slow", Kind: fun.State, Specs: []fun.Spec{{Name: "meet", State: func(ctx context.Context, c *fun.Call) fun.Ret {
		if now.Add(1) == 2 {
			close(both)
		}
		select {
		case <-both:
			most.Store(2)
		case <-ctx.Done():
		}
		c.Env.Run.Running()
		return fun.Ret{Result: fun.OK, Changes: value.MapOf("met", true), Comment: "met"}
	}}}}
	r := newRig(t, slow)
	got := r.run(exec.Options{},
		chunk("p1: slow.meet", "parallel", true), chunk("p2: slow.meet", "parallel", true),
		chunk("p3: test.fail_without_changes", "parallel", true, "retry", value.MapOf("attempts", int64(2), "interval", int64(1))),
		chunk("skipped: cmd.run", "parallel", true, "unless", "true"), chunk("checked: cmd.run", "parallel", true, "check_cmd", "false"),
		chunk("join: test.nop", "require", req("slow: p1", "slow: p2")), chunk("bad: test.nop", "require", req("test: p3")),
		chunk("on: cmd.wait", "watch", req("slow: p1")), chunk("pw: cmd.wait", "parallel", true, "watch", req("slow: p1")),
		chunk("last: test.nop", "parallel", true),
	)
	if most.Load() != 2 {
		t.Error("parallel states did not run at the same time")
	}
	check(t, got, true,
		"0 p1 True met *", "1 p2 True met *",
		"2 p3 False Attempt 1: Returned a result of \"False\", with the following comment: \"Failure!\"\nFailure!",
		"3 skipped True unless condition is true", "4 checked False check_cmd determined the state failed *",
		"5 join True Success!", "6 bad False One or more requisite failed: s.p3", "8 on True Command \"on\" run *", "9 pw True Command \"pw\" run *", "10 last True Success!")
	for _, tag := range []string{"slow_|-p1_|-p1_|-meet", "test_|-last_|-last_|-nop"} {
		if m := got.Return(tag); m.At("__parallel__") != true {
			t.Errorf("%s has no __parallel__: %s", tag, value.Repr(m))
		}
	}
	if got.Return("cmd_|-skipped_|-skipped_|-run").Has("__parallel__") {
		t.Error("a skipped state has __parallel__")
	}
}

// TestParallelBound: state_max_parallel bounds how many run at once.
func TestParallelBound(t *testing.T) {
	t.Parallel()
	var now, most atomic.Int64
	mod := fun.Module{Name: "p", Kind: fun.State, Specs: []fun.Spec{{Name: "f", State: func(context.Context, *fun.Call) fun.Ret {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		time.Sleep(time.Millisecond)
		now.Add(-1)
		return fun.Ret{Result: fun.OK}
	}}}}
	r := newRig(t, mod)
	r.env.Opts.Set("state_max_parallel", int64(3))
	var chunks []*fun.Chunk
	for id := range strings.FieldsSeq("a b c d e f g h i j k l") {
		chunks = append(chunks, chunk(id+": p.f", "parallel", true))
	}
	got := r.run(exec.Options{}, chunks...)
	if got.Returns.Len() != 12 || most.Load() > 3 {
		t.Errorf("%d returns, %d at once; want 12, at most 3", got.Returns.Len(), most.Load())
	}
}

func TestGate(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.env.OnStart = func(_ context.Context, c *fun.Chunk) bool { return c.ID != "stop" }
	got := r.run(exec.Options{}, chunk("a: test.succeed_with_changes"), chunk("w: cmd.wait", "listen", req("test: a")), chunk("b: test.nop", "require", req("test: stop")), chunk("stop: test.nop"), chunk("c: test.nop"))
	check(t, got, true, "0 a True Success! *", "1 w True ")
	if !got.Stopped {
		t.Error("Stopped = false")
	}

	// Nor does a state appear that would only have been passed over.
	r = newRig(t)
	asked := 0
	r.env.OnStart = func(context.Context, *fun.Chunk) bool { asked++; return asked < 3 }
	got = r.run(exec.Options{}, chunk("n: test.nop"), chunk("lost: test.nop", "require", req("test: no")), chunk("on: test.nop", "onchanges", req("test: n")))
	if n := got.Returns.Len(); n != 2 || asked != 3 {
		t.Errorf("%d returns, gate asked %d times; want 2, 3", n, asked)
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	mod := fun.Module{Name: "c", Kind: fun.State, Specs: []fun.Spec{
		{Name: "cancel", State: func(context.Context, *fun.Call) fun.Ret { cancel(); return fun.Ret{Result: fun.OK, Comment: "last"} }},
		{Name: "wait", State: func(ctx context.Context, _ *fun.Call) fun.Ret { <-ctx.Done(); return fun.Fail("cut off") }},
	}}
	r := newRig(t, mod)
	got, err := exec.Run(ctx, r.env, []*fun.Chunk{chunk("p: c.wait", "parallel", true), chunk("a: c.cancel"), chunk("b: test.nop")}, exec.Options{})
	if !errors.Is(err, context.Canceled) || !got.Stopped {
		t.Errorf("err = %v, Stopped = %v", err, got.Stopped)
	}
	check(t, got, true, "0 p False cut off", "1 a True last")
}

func TestOnfailStop(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		handler *fun.Chunk
		want    bool
	}{
		{"no handler", chunk("h: test.nop"), false},
		{"a handler that does not excuse", chunk("h: test.nop", "onfail", req("test: bad")), false},
		{"excused", chunk("h: test.nop", "onfail", req("test: bad"), "onfail_stop", false), true},
		{"the handler fails", chunk("h: test.fail_without_changes", "onfail", req("test: bad"), "onfail_stop", false), false},
		{"another's handler", chunk("h: test.nop", "onfail", req("test: h2"), "onfail_stop", false), false},
	} {
		got := newRig(t).run(exec.Options{}, chunk("bad: test.fail_without_changes"), chunk("h2: test.nop"), tt.handler)
		if got.OK() != tt.want {
			t.Errorf("%s: OK() = %v", tt.name, got.OK())
		}
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	chunks := []*fun.Chunk{chunk("a: test.nop", "fire_event", true), chunk("b: test.nop", "fire_event", "custom/tag"), chunk("c: test.nop"), chunk("d: test.nop", "require", req("test: no"), "fire_event", true)}
	r.run(exec.Options{}, chunks...)
	tags := func() []string {
		var out []string
		for _, e := range r.fired {
			out = append(out, e.Tag)
		}
		return out
	}
	const pre = "salt/state_result/20260102030405000000/minion1/"
	if d := cmp.Diff([]string{pre + "a", pre + "custom/tag", pre + "d"}, tags()); d != "" {
		t.Errorf("tags (-want +got):\n%s", d)
	}
	if c := r.fired[0].Data.Map("ret").Str("comment"); c != "Success!" {
		t.Errorf("ret.comment = %q", c)
	}
	r = newRig(t)
	r.env.Opts.Set("state_events", true)
	r.run(exec.Options{}, chunk("a: test.nop"), chunk("b: test.nop"))
	if d := cmp.Diff([]string{"salt/job/20260102030405000000/prog/minion1/0", "salt/job/20260102030405000000/prog/minion1/1"}, tags()); d != "" {
		t.Errorf("tags (-want +got):\n%s", d)
	}
	if n := r.fired[0].Data.At("len"); n != int64(2) {
		t.Errorf("len = %v", n)
	}
}

func TestSlots(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in   value.Value
		want string
		warn string
	}{
		{"__slot__:salt:test.echo(text)", "'text'", ""},
		{"__slot__:salt:test.echo(from slot )", "'from slot'", ""},
		{`__slot__:salt:test.echo("a, (b) = \"c\"")`, `'a, (b) = "c"'`, ""},
		{"__slot__:salt:test.echo(text=x y)", "'x y'", ""},
		{"__slot__:salt:test.echo([1, {a: b}])", "'[1, {a: b}]'", ""},
		{"__slot__:salt:test.echo( '' )", "''", ""},
		{"__slot__:salt:test.echo(1)", "'1'", ""},
		{"__slot__:salt:test.echo(x) ~ /more", "'x/more'", ""},
		{"__slot__:salt:test.arg(a, k=v)", "{'args': ['a'], 'kwargs': {'k': 'v'}}", ""},
		{"__slot__:salt:test.arg(k=v).kwargs.k", "'v'", ""},
		{"__slot__:salt:test.arg(k=v).kwargs.k ~ -x ", "'v-x'", ""},
		{"__slot__:salt:test.arg(k=v).no.such", "None", ""},
		{"__slot__:salt:test.arg(k=v) ~ x", "{'args': [], 'kwargs': {'k': 'v'}}", "returned no text"},
		{"__slot__:salt:test.arg()", "{'args': [], 'kwargs': {}}", ""},
		{"__slot__:salt:test.ecko(x)", "'__slot__:salt:test.ecko(x)'", "did you mean \"test.echo\"?"},
		{"__slot__:pillar:x", "'__slot__:pillar:x'", "malformed slot"},
		{"__slot__:salt:test.echo", "'__slot__:salt:test.echo'", "malformed slot"},
		{"__slot__:salt:test.echo(a]", "'__slot__:salt:test.echo(a]'", "malformed slot"},
		{"__slot__:salt:test.echo('a", `"__slot__:salt:test.echo('a"`, "malformed slot"},
		{"no __slot__:salt:test.echo(a)", "'no __slot__:salt:test.echo(a)'", ""},
		{value.MapOf("k", "__slot__:salt:test.echo(a)", "l", value.Strings("__slot__:salt:test.echo(a)")), "{'k': 'a', 'l': ['__slot__:salt:test.echo(a)']}", ""},
		{value.NewList("x", "__slot__:salt:test.echo(a)", value.MapOf("k", "__slot__:salt:test.echo(b)")), "['x', 'a', {'k': 'b'}]", ""},
	} {
		r := newRig(t)
		low := value.Clone(tt.in)
		check(t, r.run(exec.Options{}, chunk("s: rec.echo", "text", low)), false, "s True "+tt.want)
		if !value.Equal(low, tt.in) {
			t.Errorf("%s: the low data was changed", value.Repr(tt.in))
		}
		if got := strings.Join(r.warns, "\n"); (tt.warn == "") != (got == "") || !strings.Contains(got, tt.warn) {
			t.Errorf("%s: warnings %q, want %q", value.Repr(tt.in), got, tt.warn)
		}
	}
	r := newRig(t)
	got := r.run(exec.Options{}, chunk("raises: rec.echo", "text", "__slot__:salt:test.boom()"), chunk("named: rec.changes", "name", "__slot__:salt:test.echo(n)"))
	check(t, got, false, "raises False An exception occurred in this state: Traceback (most recent call last):\nsalt.exceptions.CommandExecutionError: boom\n", "named True changed *")
	if n := got.Return("rec_|-named_|-__slot__:salt:test.echo(n)_|-changes").Str("name"); n != "n" {
		t.Errorf("name = %q", n)
	}
}

func TestRunas(t *testing.T) {
	t.Parallel()
	check(t, newRig(t).run(exec.Options{}, chunk("a: rec.runas", "runas", "me", "runas_password", "pw"), chunk("b: rec.runas")), false, "a True me/pw", "b True /")
}

func TestInitAndAggregate(t *testing.T) {
	t.Parallel()
	var inits, joined []string
	fails := true
	mod := fun.Module{
		Name: "pkg", Kind: fun.State,
		Init: func(_ context.Context, c *fun.Call) fun.Ret {
			inits = append(inits, c.Name)
			if fails {
				fails = false
				return fun.Ret{}
			}
			return fun.Ret{Result: fun.OK}
		},
		Aggregate: func(_ context.Context, c *fun.Call, chunks []*fun.Chunk, running *value.Map) *fun.Chunk {
			pkgs := value.NewList()
			for _, o := range chunks {
				if o.State == "pkg" && !running.Has(o.Tag()) {
					pkgs.Append(o.Name)
					if o != c.Low {
						o.Low.Set("__agg__", true)
					}
				}
			}
			n := *c.Low
			n.Low = n.Low.Copy()
			n.Low.Set("pkgs", pkgs)
			return &n
		},
		Specs: []fun.Spec{{Name: "installed", VarKw: true, State: func(_ context.Context, c *fun.Call) fun.Ret {
			joined = append(joined, c.Name+"="+value.Repr(c.Kw.At("pkgs")))
			return fun.Ret{Result: fun.OK}
		}}},
	}
	r := newRig(t, mod)
	got := r.run(exec.Options{}, chunk("a: pkg.installed", "aggregate", true), chunk("b: pkg.installed"))
	check(t, got, true, "0 a True ", "1 b True ")
	if d := cmp.Diff([]string{"a=['a', 'b']", "b=None"}, joined); d != "" {
		t.Errorf("joined (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"a", "b"}, inits); d != "" {
		t.Errorf("inits (-want +got):\n%s", d)
	}
	for _, tt := range []struct {
		opt  value.Value
		want string
	}{{true, "a=['a', 'b']"}, {value.Strings("pkg"), "a=['a', 'b']"}, {value.Strings("file"), "a=None"}, {false, "a=None"}, {"yes", "a=None"}} {
		joined = nil
		r := newRig(t, mod)
		r.env.Opts.Set("state_aggregate", tt.opt)
		r.run(exec.Options{}, chunk("a: pkg.installed"), chunk("b: pkg.installed"))
		if len(joined) != 2 || joined[0] != tt.want {
			t.Errorf("state_aggregate %v: %v, want %s first", tt.opt, joined, tt.want)
		}
	}
}

type upstream struct{ fun.Upstream }

func (upstream) Pillar(_ context.Context, q fun.PillarRequest) (*value.Map, error) {
	return value.MapOf("fresh", true, "over", q.Override.At("k")), nil
}

func TestReload(t *testing.T) {
	t.Parallel()
	ready := false
	mod := fun.Module{
		Name: "late", Kind: fun.State, Avail: func(*fun.Env) (bool, string) { return ready, "not yet" },
		Specs: []fun.Spec{{Name: "f", State: func(context.Context, *fun.Call) fun.Ret { return fun.Ret{Result: fun.OK, Comment: "here"} }}},
	}
	setter := fun.Module{Name: "set", Kind: fun.State, Specs: []fun.Spec{{Name: "up", VarKw: true, State: func(context.Context, *fun.Call) fun.Ret {
		ready = true
		return fun.Ret{Result: fun.OK, Changes: value.MapOf("up", true)}
	}}}}
	r := newRig(t, mod, setter)
	r.env.Up, r.env.PillarOverride = upstream{}, value.MapOf("k", "v")
	tables := 0
	r.env.NewGrains = func(context.Context) (value.Mapping, error) { return value.MapOf("fresh", "grain"), nil }
	r.env.NewTable = func(context.Context) (*fun.Table, error) { tables++; return r.env.Table, nil }
	got := r.run(exec.Options{}, chunk("a: late.f"), chunk("b: set.up", "reload_modules", true), chunk("c: late.f"),
		chunk("g: test.nop", "reload_grains", true), chunk("p: test.nop", "reload_pillar", true), chunk("cp: test.check_pillar", "present", value.Strings("fresh", "over")))
	check(t, got, false, "a False State 'late.f' was not found in SLS 's'\nReason: 'late' __virtual__ returned False: not yet\n", "b True  *", "c True here",
		"g True Success!", "p True Success!", "cp True ")
	if g, _ := r.env.Grains.Get("fresh"); g != "grain" || tables != 1 {
		t.Errorf("grain fresh = %v, %d tables; want grain, 1", g, tables)
	}
}

func TestDisabled(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.env.Grains = value.MapOf("state_runs_disabled", value.Strings("cmd.*"))
	check(t, r.run(exec.Options{}, chunk("a: test.nop"), chunk("b: cmd.run")), false,
		`b False The state function "cmd.run" is currently disabled by "cmd.*", to re-enable, run state.enable cmd.*.`, "a True Success!")
	check(t, r.run(exec.Options{Direct: true}, chunk("b: cmd.run")), false, "b True Command \"b\" run *")
	r = newRig(t)
	r.env.Opts.Set("disabled_requisites", value.Strings("require"))
	check(t, r.run(exec.Options{}, chunk("a: test.nop", "require", req("test: nothing"))), false, "a True Success!")
}

func TestCycleIsShown(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.run(exec.Options{}, chunk("a: test.nop", "require", req("test: b")), chunk("b: test.nop", "watch", req("rec: c")), chunk("c: rec.changes", "require", req("test: a")))
	want := []string{"s.sls:1: requisites form a cycle: test: a (s.sls:1) -> test: b (s.sls:1) -> rec: c (s.sls:1) -> test: a (s.sls:1)"}
	if d := cmp.Diff(want, r.warns); d != "" {
		t.Errorf("warnings (-want +got):\n%s", d)
	}
}

func TestSubStates(t *testing.T) {
	t.Parallel()
	sub := value.MapOf("low", value.MapOf("state", "x", "__id__", "part", "name", "part", "fun", "y"), "changes", value.NewMap(0), "result", true, "comment", "a part")
	mod := fun.Module{Name: "whole", Kind: fun.State, Specs: []fun.Spec{{Name: "f", State: func(context.Context, *fun.Call) fun.Ret {
		return fun.Ret{Result: fun.OK, Comment: "all", Extra: value.MapOf("sub_state_run", value.NewList(sub))}
	}}}}
	got := newRig(t, mod).run(exec.Options{}, chunk("w: whole.f"))
	check(t, got, false, "w True all", "part True a part")
	if got.Return("whole_|-w_|-w_|-f").Has("sub_state_run") {
		t.Error("the return still has sub_state_run")
	}
}
