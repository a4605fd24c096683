package salt

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/dispatch"
	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// cast is a fleet of machines that answer as their parts say.
type cast struct {
	parts []fun.Return // in the order in which they answer
	job   fun.Job      // the last one
}

func (f *cast) Match(context.Context, value.Value, string) ([]string, error) { return nil, nil }

func (f *cast) Run(_ context.Context, job fun.Job, each func(fun.Return) error) (fun.Summary, error) {
	f.job = job
	var sum fun.Summary
	sum.JID = "20260102030405000000"
	for _, r := range f.parts {
		sum.Targets = append(sum.Targets, r.ID)
		if err := each(r); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

// says is the return of a machine, a value in YAML.
func says(t *testing.T, id string, retcode int, text string) fun.Return {
	t.Helper()
	v, err := yamlsalt.LoadString(text)
	if err != nil {
		t.Fatal(err)
	}
	return fun.Return{ID: id, Retcode: retcode, Body: fun.ValueBody{V: v}}
}

const (
	changedRun = "{test_|-a_|-a_|-nop: {result: true, changes: {x: 1}, comment: ''}}"
	quietRun   = "{test_|-a_|-a_|-nop: {result: true, changes: {}, comment: ''}}"
	failedRun  = "{test_|-a_|-a_|-nop: {result: false, changes: {}, comment: ''}}"
)

// stage returns the environment of an orchestration over fleet, and what it
// warned of.
func stage(t *testing.T, fleet fun.Fleet, opts ...value.Value) (*fun.Env, *[]string) {
	t.Helper()
	var warned []string
	env := &fun.Env{
		Identity:  fun.Identity{ID: "orch", JID: "20260102030405000000", SaltEnv: "base"},
		Data:      fun.Data{Opts: value.MapOf(opts...), Grains: value.NewMap(0), Pillar: value.NewMap(0), Memo: &fun.Memo{}},
		Machine:   fun.Machine{Host: host.NewLocal()},
		Network:   fun.Network{Fleet: fleet, Bus: event.NewRing(0, time.Now)},
		Functions: fun.Functions{NewInvoker: func(e *fun.Env) fun.Invoker { return dispatch.New(e) }},
		UI:        fun.UI{OnWarn: func(w fun.Warning) { warned = append(warned, w.Text) }},
	}
	env.Table = fun.NewTable([]fun.Entry{
		{Kind: fun.State, Name: "salt", Load: States},
		{Kind: fun.Runner, Name: "play", Load: plays},
		{Kind: fun.Exec, Name: "judge", Load: judges},
	})
	env.Invoker = dispatch.New(env)
	return env, &warned
}

// plays is a runner module.
func plays() fun.Module {
	return fun.Module{Name: "play", Kind: fun.Runner, Specs: []fun.Spec{
		{Name: "arg", VarArg: true, VarKw: true, Fn: func(_ context.Context, c *fun.Call) (fun.Result, error) {
			return fun.Value(value.MapOf("args", value.NewList(c.Pos...), "kwargs", c.Kw))
		}},
		{Name: "bad", VarKw: true, Fn: func(context.Context, *fun.Call) (fun.Result, error) { return fun.Result{}, fun.Errorf("boo") }},
		{Name: "code", VarKw: true, Fn: func(context.Context, *fun.Call) (fun.Result, error) {
			return fun.Result{Value: "x", Retcode: 3}, nil
		}},
		{Name: "error", VarKw: true, Fn: func(context.Context, *fun.Call) (fun.Result, error) {
			return fun.Value(value.MapOf("Error", "it is late"))
		}},
		{Name: "says", Args: []fun.Arg{{Name: "v"}}, Fn: func(_ context.Context, c *fun.Call) (fun.Result, error) { return fun.Value(c.Args.At("v")) }},
		{Name: "where", Args: []fun.Arg{{Name: "sls"}, {Name: "saltenv", Default: "base"}}, Fn: func(_ context.Context, c *fun.Call) (fun.Result, error) {
			return fun.Value(value.MapOf("Error", c.Args.At("saltenv")))
		}},
		{Name: "orch", VarKw: true, Fn: func(context.Context, *fun.Call) (fun.Result, error) {
			return fun.Value(value.MapOf("data", value.NewMap(0), "outputter", "highstate", "retcode", int64(1)))
		}},
	}}
}

// judges has fail functions.
func judges() fun.Module {
	return fun.Module{Name: "judge", Kind: fun.Exec, Specs: []fun.Spec{
		{Name: "is_one", Args: []fun.Arg{{Name: "v", Required: true}}, Fn: func(_ context.Context, c *fun.Call) (fun.Result, error) {
			return fun.Value(value.Equal(c.Args.At("v"), int64(1)))
		}},
	}}
}

// step runs a step written as in an SLS, "salt.FUNCTION: {arguments}", and
// returns "result: comment | changes".
func step(t *testing.T, env *fun.Env, text string) string {
	t.Helper()
	v, err := yamlsalt.LoadString(text)
	if err != nil {
		t.Fatal(err)
	}
	k, args := v.(*value.Map).Entry(0)
	kw := args.(*value.Map)
	if !kw.Has("name") {
		kw.Set("name", "step")
	}
	mod, spec, ok := env.Table.Lookup(fun.State, k.(string))
	if !ok {
		t.Fatalf("there is no %s", k)
	}
	c, err := env.Invoker.Bind(mod, spec, fun.Args{Kw: kw})
	if err != nil {
		t.Fatal(err)
	}
	low := kw.Copy()
	c.Name, c.Env, c.Test = kw.Str("name"), env, value.Truth(env.Opts.At("test"))
	c.Low = &fun.Chunk{ID: "step", Name: c.Name, SaltEnv: "base", Low: low}
	ret := spec.State(t.Context(), c)
	out := fmt.Sprintf("%s: %s", value.Str(ret.Result.Value()), value.Str(ret.Comment))
	if value.Truth(ret.Changes) {
		out += " | " + strings.Join(sketch(ret.Changes), " ")
	}
	if w := ret.Extra.At("warnings"); w != nil {
		out += " | " + value.Str(w.(*value.List).Items[0])
	}
	return out
}

// sketch names what changes have: the targets, else the keys.
func sketch(v value.Value) []string {
	m, ok := v.(*value.Map)
	if !ok {
		return []string{value.Repr(v)}
	}
	if ret := m.Map("ret"); ret != nil {
		m = ret
	}
	var out []string
	for k, x := range m.All() {
		if _, isMap := x.(*value.Map); isMap {
			out = append(out, value.Str(k))
		} else {
			out = append(out, value.Str(k)+"="+value.Repr(x))
		}
	}
	return out
}

// The results and comments are those of salt/states/saltmod.py state.
func TestState(t *testing.T) {
	t.Parallel()
	web1 := func(run string) []fun.Return { return []fun.Return{says(t, "web1", 0, run)} }
	both := []fun.Return{says(t, "web2", 0, changedRun), says(t, "db1", 2, failedRun), says(t, "web1", 0, quietRun)}
	silent := []fun.Return{{ID: "web1", Stage: fun.TimedOut}}
	left := []fun.Return{says(t, "web1", 2, failedRun), {ID: "web2", Stage: fun.Refused, Err: fun.ErrNotBegun}}
	for _, tt := range []struct {
		text  string
		parts []fun.Return
		test  bool
		want  string
	}{
		{"salt.state: {tgt: '*'}", nil, false, "False: No highstate or sls specified, no execution made"},
		{"salt.state: {tgt: '*', sls: s, allow_fail: some}", nil, false, "False: Passed invalid value for 'allow_fail', must be an int"},
		{"salt.state: {tgt: '*', sls: s, concurrent: 1}", nil, false, "False: Must pass in boolean for value of 'concurrent'"},
		{"salt.state: {tgt: '*', sls: s}", nil, false, "False: No minions returned"},
		{"salt.state: {tgt: '*', sls: s, expect_minions: false}", nil, false, "True: States ran successfully."},
		{"salt.state: {tgt: '*', sls: s}", web1(changedRun), false, "True: States ran successfully. Updating web1. | web1"},
		{"salt.state: {tgt: '*', sls: s}", web1(quietRun), false, "True: States ran successfully. No changes made to web1."},
		{"salt.state: {tgt: '*', sls: s}", web1(changedRun), true, "None: States ran successfully. Updating web1. | web1"},
		{"salt.state: {tgt: '*', sls: s}", web1(quietRun), true, "True: States ran successfully. No changes made to web1."},
		{"salt.state: {tgt: '*', sls: s, test: true}", web1(changedRun), false, "None: States ran successfully. Updating web1. | web1"},
		{"salt.state: {tgt: '*', sls: s}", web1(failedRun), true, "False: Run failed on minions: web1 | web1"},
		{"salt.state: {tgt: '*', sls: s}", web1("[compile error]"), false, "False: Run failed on minions: web1 | web1=['compile error']"},
		{"salt.state: {tgt: '*', sls: s}", both, false, "False: Run failed on minions: db1 | db1 web2"},
		{"salt.state: {tgt: '*', sls: s, allow_fail: 1}", both, false, "True: States ran successfully. Updating db1, web2. No changes made to web1. | db1 web2"},
		{"salt.state: {tgt: '*', sls: s, fail_minions: 'db1, x'}", both, false, "True: States ran successfully. Updating db1, web2. No changes made to web1. | db1 web2"},
		{"salt.state: {tgt: '*', sls: s, fail_minions: [db1]}", both, false, "True: States ran successfully. Updating db1, web2. No changes made to web1. | db1 web2"},
		{
			"salt.state: {tgt: '*', sls: s, fail_minions: {a: b}}", both, false,
			"False: Run failed on minions: db1 | db1 web2 | 'fail_minions' needs to be a list or a comma separated string. Ignored.",
		},
		// An empty dict is no return of states; what is no dict within one is none.
		{"salt.state: {tgt: '*', sls: s}", web1("{}"), false, "False: Run failed on minions: web1 | web1"},
		{"salt.state: {tgt: '*', sls: s}", web1("{a: b}"), false, "True: States ran successfully. No changes made to web1."},
		{"salt.state: {tgt: '*', sls: s}", web1("{a: {b: {}}}"), false, "False: Run failed on minions: web1 | web1"},
		{"salt.state: {tgt: '*', sls: s}", silent, false, "False: Run failed on minions: web1 | web1=False"},
		// What failhard left out is no part of the return, unless a failure that
		// is tolerated would hide it.
		{"salt.state: {tgt: '*', sls: s, batch: 1, failhard: true}", left, false, "False: Run failed on minions: web1 | web1"},
		{"salt.state: {tgt: '*', sls: s, batch: 1, failhard: true, allow_fail: 1}", left, false, "False: Run failed on minions: web1, web2 | web1"},
	} {
		env, _ := stage(t, &cast{parts: tt.parts}, "test", tt.test)
		if d := cmp.Diff(tt.want, step(t, env, tt.text)); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.text, d)
		}
	}
}

// TestStateJob shows what a step asks of its targets.
func TestStateJob(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		opts []value.Value
		want string
	}{
		{"salt.state: {tgt: 'web*', sls: s}", nil, "state.sls ['s'] {} web* glob"},
		{"salt.state: {tgt: 'web*', sls: [a, b], saltenv: dev}", nil, "state.sls ['a,b'] {'saltenv': 'dev'} web* glob"},
		{"salt.state: {tgt: 'r:w', tgt_type: grain, highstate: true, sls: s}", nil, "state.highstate [] {} r:w grain"},
		{"salt.state: {tgt: x, top: t.sls, sls: s}", nil, "state.top ['t.sls'] {} x glob"},
		{
			"salt.state: {tgt: x, sls: s, pillar: {a: 1}, exclude: b, queue: true, concurrent: true, pillarenv: p}", nil,
			"state.sls ['s'] {'pillar': {'a': 1}, 'pillarenv': 'p', 'exclude': 'b', 'queue': True, 'concurrent': True} x glob",
		},
		{"salt.state: {tgt: x, sls: s}", []value.Value{"test", true}, "state.sls ['s'] {'test': True} x glob"},
		{"salt.state: {tgt: x, sls: s, test: false}", []value.Value{"test", true}, "state.sls ['s'] {'test': False} x glob"},
		{"salt.state: {tgt: x, sls: s, failhard: true}", nil, "state.sls ['s'] {} x glob"},
		{"salt.state: {tgt: x, sls: s, batch: 25%, failhard: true}", nil, "state.sls ['s'] {} x glob 25% failhard"},
		{"salt.state: {tgt: x, sls: s, batch: 2}", []value.Value{"failhard", true}, "state.sls ['s'] {} x glob 2 failhard"},
		// Targets have environments of their own, but for this machine itself.
		{"salt.state: {tgt: x, sls: s}", []value.Value{"pillarenv", "p"}, "state.sls ['s'] {} x glob"},
		{"salt.state: {tgt: x, sls: s}", []value.Value{"pillarenv", "p", "__role", "minion"}, "state.sls ['s'] {'saltenv': 'base', 'pillarenv': 'p'} x glob"},
		{"salt.state: {tgt: x, sls: s, saltenv: d, pillarenv: e}", []value.Value{"pillarenv", "p", "__role", "minion"}, "state.sls ['s'] {'pillarenv': 'e', 'saltenv': 'd'} x glob"},
		{"salt.function: {tgt: [a, b], tgt_type: list, name: f.g, arg: [1], kwarg: {k: v}}", nil, "f.g [1] {'k': 'v'} ['a', 'b'] list"},
		{"salt.function: {tgt: x, name: f.g, timeout: '1.5', subset: '2'}", nil, "f.g [] {} x glob 1.5s 2 of them"},
		{"salt.function: {tgt: x, name: f.g, timeout: 0, subset: 0}", nil, "f.g [] {} x glob"},
		{"salt.function: {tgt: x, name: f.g, timeout: 99999999999999}", nil, "f.g [] {} x glob 876000h0m0s"},
		{"salt.function: {tgt: x, name: f.g, timeout: -3}", nil, "f.g [] {} x glob"},
		{"salt.function: {tgt: x, name: f.g, timeout: .nan}", nil, "f.g [] {} x glob"},
		{"salt.function: {tgt: x, name: f.g, arg: a b}", nil, "f.g ['a', 'b'] {} x glob"},
		{"salt.function: {tgt: x, name: f.g, kwarg: [k]}", nil, "f.g [] {} x glob"},
	} {
		fleet := &cast{parts: []fun.Return{says(t, "web1", 0, quietRun)}}
		env, _ := stage(t, fleet, tt.opts...)
		step(t, env, tt.text)
		j := fleet.job
		kw := j.Args.Kw
		kw.Ordered = false
		if p := kw.Map("pillar"); p != nil {
			p.Ordered = false
		}
		got := fmt.Sprintf("%s %s %s %s %s", j.Fun, value.Repr(value.NewList(j.Args.Pos...)), value.Repr(kw), value.Str(j.Tgt), j.TgtType)
		if j.Batch != "" {
			got += " " + j.Batch
		}
		if j.FailHard {
			got += " failhard"
		}
		if j.Timeout > 0 {
			got += " " + j.Timeout.String()
		}
		if j.Subset > 0 {
			got += fmt.Sprintf(" %d of them", j.Subset)
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.text, d)
		}
	}
}

// The results and comments are those of salt/states/saltmod.py function.
func TestFunction(t *testing.T) {
	t.Parallel()
	two := []fun.Return{says(t, "b", 0, "1"), says(t, "a", 0, "2")}
	bad := []fun.Return{says(t, "a", 3, "x"), says(t, "b", 0, "1")}
	for _, tt := range []struct {
		text  string
		parts []fun.Return
		test  bool
		want  string
	}{
		{"salt.function: {name: f.g, tgt: '*'}", nil, false, "False: No minions responded"},
		{"salt.function: {name: f.g, tgt: '*', subset: -1}", two, false, "False: subset must be a number of targets, not -1"},
		{"salt.function: {name: f.g, tgt: '*'}", two, true, "None: Function f.g would be executed on target *"},
		{"salt.function: {name: f.g, tgt: '*', arg: a}", two, true, "None: Function f.g would be executed on target * | Please specify 'arg' as a list of arguments."},
		{"salt.function: {name: f.g, tgt: '*'}", two, false, "True: Function ran successfully. Function f.g ran on a, b. | a=2 b=1"},
		{"salt.function: {name: f.g, tgt: '*'}", bad, false, "False: Running function f.g failed on minions: a Function f.g ran on a, b. | a='x' b=1"},
		{"salt.function: {name: f.g, tgt: '*', fail_minions: a}", bad, false, "True: Function ran successfully. Function f.g ran on a, b. | a='x' b=1"},
		{"salt.function: {name: f.g, tgt: '*', fail_function: judge.is_one}", two, false, "False: Running function f.g failed on minions: a Function f.g ran on a, b. | a=2 b=1"},
		{"salt.function: {name: f.g, tgt: '*'}", []fun.Return{says(t, "a", 0, "false")}, false, "False: Running function f.g failed on minions: a Function f.g ran on a. | a=False"},
		{"salt.function: {name: f.g, tgt: '*', arg: a b}", two[:1], false, "True: Function ran successfully. Function f.g ran on b. | b=1 | Please specify 'arg' as a list of arguments."},
		{"salt.function: {name: f.g, tgt: '*'}", []fun.Return{{ID: "a", Stage: fun.Lost}}, false, "False: Running function f.g failed on minions: a Function f.g ran on a. | a=False"},
	} {
		env, _ := stage(t, &cast{parts: tt.parts}, "test", tt.test)
		if d := cmp.Diff(tt.want, step(t, env, tt.text)); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.text, d)
		}
	}
}

// The results and comments are those of salt/states/saltmod.py runner and wheel.
func TestRunner(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"salt.runner: {name: play.arg, arg: [1], kwarg: {a: b}, c: d}", "True: Runner function 'play.arg' executed. | return"},
		{"salt.runner: {name: play.bad}", "False: Runner function 'play.bad' failed. | return='Exception occurred in runner play.bad: boo'"},
		{"salt.runner: {name: play.code}", "False: Runner function 'play.code' failed. | return='x'"},
		{"salt.runner: {name: play.error}", "False: Runner function 'play.error' failed. | return"},
		{"salt.runner: {name: play.orch}", "False: Runner function 'play.orch' failed. | return"},
		// A dict is judged by its data, not by its other keys.
		{"salt.runner: {name: play.says, v: {retcode: 1}}", "True: Runner function 'play.says' executed. | return"},
		{"salt.runner: {name: play.says, v: {data: {retcode: 1}}}", "False: Runner function 'play.says' failed. | return"},
		{"salt.runner: {name: play.says, v: {data: {a: {result: false}}}}", "False: Runner function 'play.says' failed. | return"},
		{"salt.runner: {name: play.says, v: {data: {a: {result: true}}}}", "True: Runner function 'play.says' executed. | return"},
		{"salt.runner: {name: play.says, v: false}", "True: Runner function 'play.says' executed. | return=False"},
		{"salt.runner: {name: play.nope}", "False: Runner function 'play.nope' failed. | return=\"'play.nope' is not available.\""},
		{"salt.wheel: {name: key.nope}", "False: Wheel function 'key.nope' failed. | return=\"'key.nope' is not available.\""},
	} {
		env, _ := stage(t, &cast{})
		if d := cmp.Diff(tt.want, step(t, env, tt.text)); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.text, d)
		}
		dry, _ := stage(t, &cast{}, "test", true)
		if got := step(t, dry, tt.text); !strings.HasPrefix(got, "None: ") || !strings.HasSuffix(got, "' would be executed.") {
			t.Errorf("%s in test mode: %s", tt.text, got)
		}
	}
}

// Steps tell the bus what they call, but for the pillar and what is secret.
// Salt: salt/modules/saltutil.py runner, wheel.
func TestRunnerEvents(t *testing.T) {
	t.Parallel()
	env, _ := stage(t, &cast{})
	env.Table = env.Table.With([]fun.Entry{{Kind: fun.Wheel, Name: "key", Load: func() fun.Module {
		return fun.Module{Name: "key", Kind: fun.Wheel, Specs: []fun.Spec{{Name: "list", VarKw: true, Fn: func(context.Context, *fun.Call) (fun.Result, error) { return fun.Value(1) }}}}
	}}})
	step(t, env, "salt.runner: {name: play.arg, arg: [1], k: v, pillar: {a: b}, password: x}")
	step(t, env, "salt.wheel: {name: key.list, match: acc}")
	var got []string
	after := uint64(0)
	for range 2 {
		e, _, err := env.Bus.Next(t.Context(), after, nil)
		if err != nil {
			t.Fatal(err)
		}
		after = e.Seq
		b, _ := value.AppendJSON(nil, e.Data, value.JSONOptions{SortKeys: true})
		got = append(got, e.Tag+" "+string(b))
	}
	tag := "salt/run/" + env.JID + "/args "
	want := []string{
		tag + `{"args": [1], "kwargs": {"k": "v", "password": "XXX-REDACTED-XXX"}, "name": "play.arg", "type": "runner"}`,
		tag + `{"args": {"match": "acc"}, "name": "key.list", "type": "wheel"}`,
	}
	for i := range got {
		got[i] = regexp.MustCompile(`"_stamp": "[^"]*", `).ReplaceAllString(got[i], "")
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// A function that takes an environment gets that of the step, unless it was
// given one.
func TestRunnerEnvironment(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{name: play.where}": "dev", "{name: play.where, saltenv: x}": "x", "{name: play.where, arg: [a]}": "dev", "{name: play.where, arg: [a, b]}": "b",
	} {
		env, _ := stage(t, &cast{})
		v, err := yamlsalt.LoadString(text)
		if err != nil {
			t.Fatal(err)
		}
		_, spec, _ := env.Table.Lookup(fun.State, "salt.runner")
		kw := v.(*value.Map)
		mod, _ := env.Table.Module(fun.State, "salt")
		c, err := env.Invoker.Bind(mod, spec, fun.Args{Kw: kw})
		if err != nil {
			t.Fatal(err)
		}
		c.Name, c.Env, c.Low = kw.Str("name"), env, &fun.Chunk{ID: "step", SaltEnv: "dev", Low: kw.Copy()}
		if got := spec.State(t.Context(), c).Changes.(*value.Map).Map("return").Str("Error"); got != want {
			t.Errorf("%s: in %q, want %q", text, got, want)
		}
	}
}
