package statefn

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/testkit/memtree"
)

const corpus = "../../../testdata/conformance"

// testStates is enough of the state module test for these tests.
func testStates() fun.Module {
	ret := func(outcome fun.Outcome, comment string, changes value.Value) fun.StateFn {
		return func(_ context.Context, c *fun.Call) fun.Ret {
			if c.Test && changes != nil {
				return fun.Ret{Result: fun.WouldChange, Comment: comment, Changes: changes}
			}
			return fun.Ret{Result: outcome, Comment: comment, Changes: changes}
		}
	}
	pretend := value.MapOf("testing", value.MapOf("old", "Unchanged", "new", "Something pretended to change"))
	return fun.Module{Name: "test", Kind: fun.State, Specs: []fun.Spec{
		{Name: "fail_without_changes", VarKw: true, State: ret(fun.Failed, "Failure!", nil)},
		{Name: "nop", VarKw: true, State: ret(fun.OK, "Success!", nil)},
		{Name: "succeed_with_changes", VarKw: true, State: ret(fun.OK, "Success!", pretend)},
	}}
}

// newEnv returns an environment with the functions of this package and the
// states above.
func newEnv(t *testing.T, tree memtree.Tree, opts ...value.Value) *fun.Env {
	t.Helper()
	env := tree.Env(t, opts...)
	env.Table = fun.NewTable([]fun.Entry{
		{Kind: fun.Exec, Name: "state", Load: Module},
		{Kind: fun.State, Name: "test", Load: testStates},
	})
	env.Host = host.NewLocal()
	env.CacheDir = t.TempDir()
	env.NewInvoker = func(e *fun.Env) fun.Invoker { return dispatch.New(e) }
	env.Invoker = dispatch.New(env)
	return env
}

func call(t *testing.T, env *fun.Env, name string, kw *value.Map, pos ...value.Value) (fun.Result, error) {
	t.Helper()
	if kw == nil {
		kw = value.NewMap(0)
	}
	return env.Invoker.Invoke(context.Background(), fun.Exec, name, fun.Args{Pos: pos, Kw: kw})
}

func mustCall(t *testing.T, env *fun.Env, name string, kw *value.Map, pos ...value.Value) fun.Result {
	t.Helper()
	res, err := call(t, env, name, kw, pos...)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return res
}

// masked is v in JSON, with times masked as in the recordings.
func masked(t *testing.T, v value.Value) any {
	t.Helper()
	var mask func(any) any
	mask = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for k, x := range v {
				switch k {
				case "duration":
					v[k] = "<duration>"
				case "start_time":
					v[k] = "<time>"
				default:
					v[k] = mask(x)
				}
			}
		case []any:
			for i := range v {
				v[i] = mask(v[i])
			}
		}
		return v
	}
	return mask(memtree.JSON(t, v))
}

func TestRecorded(t *testing.T) {
	kw := func(kv ...value.Value) *value.Map { return value.MapOf(kv...) }
	for _, tt := range []struct {
		name, fun string
		pos       []value.Value
		kw        *value.Map
		retcode   int
		file      string
	}{
		{"compile-dup-id-two-sls", "state.sls", []value.Value{"a,b"}, nil, 1, "expected.json"},
		{"compile-err-missing-sls", "state.apply", []value.Value{"some.deep.path"}, nil, 1, "expected.4.json"},
		{"compile-err-not-dict", "state.sls", []value.Value{"blank"}, nil, 2, "expected.3.json"},
		{"compile-err-not-dict", "state.sls", []value.Value{"comment"}, nil, 2, "expected.4.json"},
		{"compile-err-not-dict", "state.show_sls", []value.Value{"blank"}, nil, 0, "expected.5.json"},
		{"compile-err-structure", "state.sls", []value.Value{"a"}, nil, 2, "expected.json"},
		{"compile-exclude", "state.sls", []value.Value{"main"}, nil, 0, "expected.2.json"},
		{"compile-extend-missing", "state.sls", []value.Value{"main"}, nil, 1, "expected.2.json"},
		{"compile-multi-sls", "state.sls_exists", []value.Value{"b"}, nil, 0, "expected.4.json"},
		{"compile-multi-sls", "state.sls_exists", []value.Value{"missing"}, nil, 1, "expected.5.json"},
		{"compile-multi-sls", "state.id_exists", []value.Value{"in_a", "a"}, nil, 0, "expected.6.json"},
		{"compile-top-highstate", "state.show_highstate", nil, nil, 0, "expected.json"},
		{"compile-top-highstate", "state.show_lowstate", nil, nil, 0, "expected.2.json"},
		{"compile-top-highstate", "state.show_states", nil, nil, 0, "expected.3.json"},
		{"compile-top-none", "state.show_top", nil, nil, 0, "expected.json"},
		{"compile-top-none", "state.highstate", nil, nil, 2, "expected.2.json"},
		{"compile-top-none", "state.show_highstate", nil, nil, 2, "expected.3.json"},
		{"ex-state-single", "state.single", []value.Value{"test.nop"}, kw("name", "x", "test", true), 0, "expected.3.json"},
		{"ex-state-single", "state.single", []value.Value{"nope.nothing"}, kw("name", "x"), 1, "expected.5.json"},
		{"ex-state-single", "state.single", []value.Value{"test"}, kw("name", "x"), 1, "expected.6.json"},
		{"ex-state-single", "state.low", []value.Value{kw("state", "test", "name", "lo")}, nil, 1, "expected.8.json"},
		{"ex-state-single", "state.high", []value.Value{kw("hi", kw("test", value.NewList("nop", kw("order", int64(1)))))}, nil, 0, "expected.9.json"},
		{"ex-state-single", "state.template_str", []value.Value{"t:\n  test.nop: []\n"}, nil, 0, "expected.10.json"},
		{"ex-state-single", "state.single", []value.Value{"test.fail_without_changes"}, kw("name", "bad"), 2, "expected.11.json"},
		{"req-onchanges-in", "state.sls", []value.Value{"s"}, nil, 0, "expected.json"},
		{"req-recursive", "state.sls", []value.Value{"s"}, nil, 1, "expected.json"},
		{"req-require-in", "state.sls", []value.Value{"s"}, nil, 2, "expected.json"},
		{"req-unknown-state-fun", "state.sls", []value.Value{"s"}, nil, 2, "expected.json"},
	} {
		t.Run(tt.name+"/"+tt.fun+"/"+tt.file, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(corpus, tt.name)
			env := newEnv(t, memtree.Recorded(t, dir))
			res := mustCall(t, env, tt.fun, tt.kw, tt.pos...)
			if diff := cmp.Diff(memtree.Answer(t, dir, tt.file), masked(t, res.Value)); diff != "" {
				t.Errorf("-Salt +brine:\n%s", diff)
			}
			if res.Retcode != tt.retcode {
				t.Errorf("retcode %d, want %d", res.Retcode, tt.retcode)
			}
		})
	}
}

func result(t *testing.T, res fun.Result, tag string) *value.Map {
	t.Helper()
	m, _ := res.Value.(*value.Map)
	r := m.Map(tag)
	if r == nil {
		t.Fatalf("no return %s in %s", tag, value.Repr(res.Value))
	}
	return r
}

func tags(t *testing.T, res fun.Result) []string {
	t.Helper()
	m, ok := res.Value.(*value.Map)
	if !ok {
		t.Fatalf("no returns: %s", value.Repr(res.Value))
	}
	var out []string
	for k := range m.All() {
		out = append(out, strings.Split(k.(string), "_|-")[1])
	}
	return out
}

var tree = memtree.Parse(`
-- top.sls --
base:
  '*':
    - web
    - db
-- web.sls --
web_one: {test.nop: []}
web_two:
  test.succeed_with_changes:
    - require: [{test: web_one}]
web_three: {test.nop: []}
-- db.sls --
db_one: {test.fail_without_changes: []}
-- dev:web.sls --
dev_web: {test.nop: []}
-- other.sls --
other: {test.nop: []}
-- ids.sls --
one: {test.succeed_with_changes: []}
two: {test.nop: []}
needs:
  test.nop:
    - require: [{test: two}, {test: one}]
    - listen: [{test: one}, {test: nothing}]
before: {test.nop: [{prereq: [{test: one}]}]}
-- other_top.sls --
base:
  'minion1': [other]
`)

func TestRuns(t *testing.T) {
	list := func(v ...value.Value) *value.List { return value.NewList(v...) }
	for _, tt := range []struct {
		name, fun string
		kw        *value.Map
		want      []string
		retcode   int
	}{
		{"sls", "state.sls", value.MapOf("mods", "web"), []string{"web_one", "web_two", "web_three"}, 0},
		{"list", "state.sls", value.MapOf("mods", list("other", "web")), []string{"other", "web_one", "web_two", "web_three"}, 0},
		{"commas", "state.apply", value.MapOf("mods", "other, db"), []string{"other", "db_one"}, 2},
		{"glob", "state.apply", value.MapOf("mods", "oth?r"), []string{"other"}, 0},
		{"exclude", "state.sls", value.MapOf("mods", "web,db", "exclude", "db"), []string{"web_one", "web_two", "web_three"}, 0},
		{"exclude glob", "state.sls", value.MapOf("mods", "web,db,other", "exclude", "w*,d*"), []string{"other"}, 0},
		{"exclude id", "state.sls", value.MapOf("mods", "web", "exclude", list(value.MapOf("id", "web_two"))), []string{"web_one", "web_three"}, 0},
		{"saltenv", "state.sls", value.MapOf("mods", "web", "saltenv", "dev"), []string{"dev_web"}, 0},
		{"apply", "state.apply", nil, []string{"web_one", "web_two", "web_three", "db_one"}, 2},
		{"highstate", "state.highstate", value.MapOf("exclude", list(value.MapOf("sls", "db"))), []string{"web_one", "web_two", "web_three"}, 0},
		{"whitelist", "state.highstate", value.MapOf("whitelist", "web"), []string{"web_one", "web_two", "web_three"}, 0},
		{"top", "state.top", value.MapOf("topfn", "other_top.sls"), []string{"other"}, 0},
		{"sls_id", "state.sls_id", value.MapOf("id_", "web_two", "mods", "web"), []string{"web_one", "web_two"}, 0},
		{"sls_id in the order of its requisites, without listeners", "state.sls_id", value.MapOf("id_", "needs", "mods", "ids"), []string{"two", "before", "one", "needs"}, 0},
		{"sls_id looks at what a prereq names", "state.sls_id", value.MapOf("id_", "before", "mods", "ids"), []string{"before"}, 0},
		{"single without its requisites", "state.single", value.MapOf("fun", "test.nop", "name", "alone", "require", list(value.MapOf("test", "zz")), "listen", list("zz")), []string{"alone"}, 0},
		{"terse", "state.sls", value.MapOf("mods", "web", "terse", true), []string{"web_two"}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			res := mustCall(t, newEnv(t, tree), tt.fun, tt.kw)
			if diff := cmp.Diff(tt.want, tags(t, res)); diff != "" {
				t.Errorf("states: -want +got:\n%s", diff)
			}
			if res.Retcode != tt.retcode {
				t.Errorf("retcode %d, want %d", res.Retcode, tt.retcode)
			}
			if res.Out != "highstate" {
				t.Errorf("out %q", res.Out)
			}
		})
	}
}

func TestTestMode(t *testing.T) {
	const tag = "test_|-web_two_|-web_two_|-succeed_with_changes"
	for _, tt := range []struct {
		name string
		fun  string
		kw   *value.Map
		opts []value.Value
		pil  *value.Map
		want value.Value
	}{
		{"default", "state.sls", value.MapOf("mods", "web"), nil, nil, true},
		{"argument", "state.sls", value.MapOf("mods", "web", "test", true), nil, nil, nil},
		{"configured", "state.sls", value.MapOf("mods", "web"), []value.Value{"test", true}, nil, nil},
		{"argument over configuration", "state.sls", value.MapOf("mods", "web", "test", false), []value.Value{"test", true}, nil, true},
		{"other case", "state.sls", value.MapOf("mods", "web", "Test", "True"), nil, nil, nil},
		{"pillar", "state.sls", value.MapOf("mods", "web"), nil, value.MapOf("test", true), nil},
		{"state.test", "state.test", value.MapOf("mods", "web"), nil, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			env := newEnv(t, tree, tt.opts...)
			if tt.pil != nil {
				env.Pillar = tt.pil
			}
			got := result(t, mustCall(t, env, tt.fun, tt.kw), tag).At("result")
			if got != tt.want {
				t.Errorf("result %v, want %v", got, tt.want)
			}
		})
	}
}

// A keyword argument that is nearly test does not change the machine.
func TestMisspelt(t *testing.T) {
	for _, tt := range []struct {
		fun string
		kw  *value.Map
		bad bool
	}{
		{"state.apply", value.MapOf("tset", true), true},
		{"state.sls", value.MapOf("mods", "web", "tset", true), true},
		{"state.highstate", value.MapOf("tset", true), true},
		{"state.sls", value.MapOf("mods", "web", "surely_unknown", true), false},
		{"state.single", value.MapOf("fun", "test.succeed_with_changes", "name", "x", "tset", true), true},
		{"state.single", value.MapOf("fun", "test.succeed_with_changes", "name", "x", "comment", "c"), false},
	} {
		_, err := call(t, newEnv(t, tree), tt.fun, tt.kw)
		var wrong *fun.ArgError
		if bad := errors.As(err, &wrong) && wrong.Nearest == "test"; bad != tt.bad {
			t.Errorf("%s %s: %v", tt.fun, value.Repr(tt.kw), err)
		}
	}
}

func TestPillar(t *testing.T) {
	env := newEnv(t, tree)
	env.Pillar = value.MapOf("_errors", value.NewList("Rendering SLS 'bad' failed."))
	res := mustCall(t, env, "state.sls", nil, "web")
	want := []any{"Pillar failed to render with the following messages:", "Rendering SLS 'bad' failed."}
	if diff := cmp.Diff(any(want), masked(t, res.Value)); diff != "" || res.Retcode != 5 {
		t.Errorf("retcode %d; -want +got:\n%s", res.Retcode, diff)
	}
	if _, err := call(t, env, "state.show_sls", nil, "web"); err == nil || !strings.Contains(err.Error(), "Pillar failed to render") {
		t.Errorf("show_sls: %v", err)
	}
	if res := mustCall(t, env, "state.sls", value.MapOf("force", true), "web"); res.Retcode != 0 {
		t.Errorf("force: retcode %d", res.Retcode)
	}
	if _, err := call(t, env, "state.sls", value.MapOf("pillar", "notadict"), "web"); err == nil ||
		!strings.Contains(err.Error(), "Pillar data must be formatted as a dictionary, unless pillar_enc is specified.") {
		t.Errorf("text as pillar: %v", err)
	}
	// The pillar of the call goes before what was there, and errors with it.
	if res := mustCall(t, env, "state.sls", value.MapOf("pillar", value.MapOf("a", int64(1))), "web"); res.Retcode != 0 {
		t.Errorf("pillar: retcode %d: %s", res.Retcode, value.Repr(res.Value))
	}
	if env.PillarOverride != nil || env.Opts.Has("saltenv") {
		t.Error("the caller's Env was changed")
	}
}

func TestFaultsGoToStderr(t *testing.T) {
	env := newEnv(t, memtree.Tree{"bad.sls": "x:\n  test.nop:\n    - sls\n      - other\n"})
	var shown []string
	env.OnFault = func(e *source.Error) { shown = append(shown, e.Trace()) }
	res := mustCall(t, env, "state.sls", nil, "bad")
	if res.Retcode != 1 || len(shown) != 2 || !strings.HasPrefix(shown[0], "bad.sls:3:7: ") || !strings.Contains(shown[0], `"- sls" lacks its colon`) {
		t.Errorf("retcode %d, faults:\n%s", res.Retcode, strings.Join(shown, "\n"))
	}
	shown = nil
	mustCall(t, env, "state.single", value.MapOf("name", "x"), "test.nopp")
	if len(shown) != 1 || !strings.Contains(shown[0], "test.nop") {
		t.Errorf("unknown function: %q", shown)
	}
}

func TestCache(t *testing.T) {
	env := newEnv(t, memtree.Tree{"a.sls": "one: {test.nop: []}\n"})
	mustCall(t, env, "state.sls", nil, "a")
	if res := mustCall(t, env, "state.clear_cache", nil); value.Truth(res.Value) {
		t.Errorf("kept without cache: %s", value.Repr(res.Value))
	}
	mustCall(t, env, "state.sls", value.MapOf("cache", true), "a")
	env.Up = memtree.Tree{"a.sls": "two: {test.nop: []}\n"}
	if got := tags(t, mustCall(t, env, "state.sls", value.MapOf("cache", true), "a")); got[0] != "one" {
		t.Errorf("cached run: %v", got)
	}
	if got := tags(t, mustCall(t, env, "state.sls", nil, "a")); got[0] != "two" {
		t.Errorf("run without cache: %v", got)
	}
	if res := mustCall(t, env, "state.clear_cache", nil); value.Repr(res.Value) != "['highstate.cache.p']" {
		t.Errorf("clear_cache: %s", value.Repr(res.Value))
	}
	if _, err := call(t, env, "state.sls", value.MapOf("cache", true, "cache_name", "../x"), "a"); err == nil {
		t.Error("a cache outside of its directory")
	}
}

func TestRequest(t *testing.T) {
	env := newEnv(t, tree)
	mustCall(t, env, "state.request", value.MapOf("exclude", "db"), "web,db")
	got := mustCall(t, env, "state.check_request", nil).Value.(*value.Map).Map("default")
	if got.Str("mods") != "web,db" || got.Map("test_run").Map("test_|-web_two_|-web_two_|-succeed_with_changes").At("result") != nil {
		t.Errorf("check_request: %s", value.Repr(got))
	}
	res := mustCall(t, env, "state.run_request", nil)
	if result(t, res, "test_|-web_two_|-web_two_|-succeed_with_changes").At("result") != true {
		t.Errorf("run_request: %s", value.Repr(res.Value))
	}
	if res := mustCall(t, env, "state.run_request", nil); value.Truth(res.Value) {
		t.Errorf("a second run_request: %s", value.Repr(res.Value))
	}
	mustCall(t, env, "state.request", value.MapOf("name", "mine"), "web")
	got = mustCall(t, env, "state.check_request", nil, "mine").Value.(*value.Map).Map("kwargs")
	if want := "{'name': 'mine', 'test': True}"; value.Repr(got) != want {
		t.Errorf("check_request: %s, want %s", value.Repr(got), want)
	}
	res = mustCall(t, env, "state.run_request", nil, "mine")
	if result(t, res, "test_|-web_two_|-web_two_|-succeed_with_changes").At("result") != true {
		t.Errorf("run_request: %s", value.Repr(res.Value))
	}
	mustCall(t, env, "state.request", nil, "web")
	if res := mustCall(t, env, "state.clear_request", nil); res.Value != true {
		t.Errorf("clear_request: %v", res.Value)
	}
}

func TestMisuse(t *testing.T) {
	env := newEnv(t, tree, "lock_saltenv", true)
	for _, tt := range []struct {
		name, fun string
		kw        *value.Map
		want      string
	}{
		{"locked", "state.sls", value.MapOf("mods", "web", "saltenv", "dev"), "lock_saltenv is enabled, saltenv cannot be changed"},
		{"no such id", "state.sls_id", value.MapOf("id_", "web_tow", "mods", "web"), "No matches for ID 'web_tow' found in SLS 'web' within saltenv 'base' (did you mean \"web_two\"?)"},
		{"no name", "state.single", value.MapOf("fun", "test.nop"), "missing 1 required positional argument: 'name'"},
		{"low without id", "state.low", value.MapOf("data", value.MapOf("state", "test", "fun", "nop", "name", "x")), "__id__"},
		{"encrypted", "state.sls", value.MapOf("mods", "web", "pillar", value.NewMap(0), "pillar_enc", "nacl"), "Failed to decrypt pillar override: 'nacl' is not a valid decryption renderer"},
	} {
		if _, err := call(t, env, tt.fun, tt.kw); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestDisabled(t *testing.T) {
	env := newEnv(t, tree)
	env.Grains = value.MapOf("state_runs_disabled", value.NewList("highstate", "web.*", "db"))
	res := mustCall(t, env, "state.sls", nil, "db")
	if res.Retcode != 1 || !strings.Contains(value.Repr(res.Value), `The state file "db" is currently disabled, to re-enable, run state.enable db.`) {
		t.Errorf("sls: %d %s", res.Retcode, value.Repr(res.Value))
	}
	res = mustCall(t, env, "state.sls", nil, "web.x")
	if !strings.Contains(value.Repr(res.Value), `The state file "web.x" is currently disabled by "web.*", to re-enable, run state.enable web.*.`) {
		t.Errorf("glob: %s", value.Repr(res.Value))
	}
	if res = mustCall(t, env, "state.highstate", nil); res.Value.(*value.Map).At("comment") != "Disabled" {
		t.Errorf("highstate: %s", value.Repr(res.Value))
	}
	// What names its function or ID is not asked; high data is.
	env.Grains = value.MapOf("state_runs_disabled", value.NewList("test.*"))
	single := mustCall(t, env, "state.single", nil, "test.nop", "x")
	id := mustCall(t, env, "state.sls_id", nil, "web_two", "web")
	low := mustCall(t, env, "state.low", nil, value.MapOf("state", "test", "fun", "nop", "name", "x", "__id__", "x"))
	high := mustCall(t, env, "state.high", nil, value.MapOf("x", value.MapOf("test", value.NewList("nop"))))
	for _, tt := range []struct {
		name string
		ret  *value.Map
		want value.Value
	}{
		{"single", result(t, single, "test_|-x_|-x_|-nop"), true},
		{"sls_id", result(t, id, "test_|-web_two_|-web_two_|-succeed_with_changes"), true},
		{"low", low.Value.(*value.Map), true},
		{"high", result(t, high, "test_|-x_|-x_|-nop"), false},
	} {
		if tt.ret.At("result") != tt.want {
			t.Errorf("%s: %s", tt.name, value.Repr(tt.ret))
		}
	}
}

// TestShowFaulty: what shows high data checks its structure after all that went
// wrong in rendering, and finds there what the faults left in it. A run stops
// before.
// Salt: BaseHighState.render_state, State.verify_high.
func TestShowFaulty(t *testing.T) {
	env := newEnv(t, memtree.Tree{
		"inc.sls":  "include: two\nextend: [x]\na: test.nop\n",
		"inc2.sls": "include: two\nb: test.nop\n",
		"map.sls":  "include: {two: one}\n",
		"none.sls": "include:\n",
		"two.sls":  "a:\n  test.succeed_with_changes:\n    - require: x\n  test.nop:\n    - watch: x\n    - names: y\n",
	})
	const noList, noDict = "Include Declaration in SLS %s is not formed as a list", "ID include in SLS %s is not a dictionary"
	for _, tt := range []struct {
		mods       string
		run, shown []string
	}{
		{"inc", []string{fmt.Sprintf(noList, "inc"), "Extension value in SLS 'inc' is not a dictionary", fmt.Sprintf(noDict, "inc")}, []string{"The type include in two is not formatted as a dictionary"}},
		{"inc,inc2", []string{
			fmt.Sprintf(noList, "inc"), "Extension value in SLS 'inc' is not a dictionary", fmt.Sprintf(noDict, "inc"), fmt.Sprintf(noList, "inc2"), fmt.Sprintf(noDict, "inc2"),
		}, []string{"The type include in two is not formatted as a dictionary"}},
		{"map", []string{fmt.Sprintf(noList, "map")}, []string{"State 'include' in SLS 'map' is not formed as a list"}},
		{"none", []string{fmt.Sprintf(noList, "none"), fmt.Sprintf(noDict, "none")}, []string{"The type include in None is not formatted as a dictionary"}},
		{"two", []string{"ID 'a' in SLS 'two' contains multiple state declarations of the same type"}, []string{
			"The watch statement in state 'a' in SLS 'two' needs to be formed as a list", "The 'names' argument in state 'a' in SLS 'two' needs to be formed as a list",
			"The require statement in state 'a' in SLS 'two' needs to be formed as a list",
		}},
	} {
		for name, want := range map[string][]string{"state.sls": tt.run, "state.show_sls": append(tt.run, tt.shown...), "state.show_low_sls": append(tt.run, tt.shown...)} {
			res := mustCall(t, env, name, nil, tt.mods)
			if diff := cmp.Diff(value.Repr(value.Strings(want...)), value.Repr(res.Value)); diff != "" || res.Retcode != 1 {
				t.Errorf("%s %s: retcode %d, -want +got:\n%s", name, tt.mods, res.Retcode, diff)
			}
		}
	}
}

func TestShowStateUsage(t *testing.T) {
	res := mustCall(t, newEnv(t, memtree.Tree{"top.sls": "base: {'*': [a]}", "a.sls": "", "b.sls": ""}), "state.show_state_usage", nil)
	want := map[string]any{"base": map[string]any{
		"used": []any{"a"}, "unused": []any{"b", "top"}, "count_all": 3.0, "count_used": 1.0, "count_unused": 2.0,
	}}
	if diff := cmp.Diff(any(want), masked(t, res.Value)); diff != "" {
		t.Error(diff)
	}
}

func TestMock(t *testing.T) {
	res := mustCall(t, newEnv(t, tree), "state.sls", value.MapOf("mock", true), "db")
	if r := result(t, res, "test_|-db_one_|-db_one_|-fail_without_changes"); r.At("comment") != "Not called, mocked" || r.At("result") != true {
		t.Errorf("mocked: %s", value.Repr(r))
	}
}

func TestTemplate(t *testing.T) {
	env := newEnv(t, memtree.Tree{"a.sls": "from_a: {test.nop: []}\n"})
	path := filepath.Join(t.TempDir(), "x.sls")
	if err := os.WriteFile(path, []byte("include: [a]\nown: {test.nop: []}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"from_a", "own"}, tags(t, mustCall(t, env, "state.template", nil, strings.TrimSuffix(path, ".sls")))); diff != "" {
		t.Error(diff)
	}
	res := mustCall(t, env, "state.template", nil, "/nowhere/x")
	if res.Retcode != 1 || value.Repr(res.Value) != "['Specified SLS /nowhere/x.sls on local filesystem cannot be found.']" {
		t.Errorf("missing: %d %s", res.Retcode, value.Repr(res.Value))
	}
	text := filepath.Join(t.TempDir(), "t.sls")
	if err := os.WriteFile(text, []byte("hello\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	res = mustCall(t, env, "state.template", nil, text)
	if want := "['SLS " + text + " does not render to a dictionary']"; res.Retcode != 1 || value.Repr(res.Value) != want {
		t.Errorf("text: %d %s, want %s", res.Retcode, value.Repr(res.Value), want)
	}
	broken := filepath.Join(t.TempDir(), "b.sls")
	if err := os.WriteFile(broken, []byte("x: {{ nope.x }}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		kw   *value.Map
		want string
	}{{nil, "Rendering SLS ':" + broken + "' failed: "}, {value.MapOf("saltenv", "base"), "Rendering SLS 'base:" + broken + "' failed: "}} {
		if got := value.Repr(mustCall(t, env, "state.template", tt.kw, broken).Value); !strings.Contains(got, tt.want) {
			t.Errorf("broken: %s, want %s", got, tt.want)
		}
	}
	// Without an order states come in that of their names.
	got := tags(t, mustCall(t, env, "state.template_str", nil, "b: test.nop\na: {test.nop: []}\n"))
	if diff := cmp.Diff([]string{"a", "b"}, got); diff != "" {
		t.Error(diff)
	}
	res = mustCall(t, env, "state.template_str", nil, "include: [a]\n")
	if !strings.Contains(value.Repr(res.Value), "The 'include' declaration found on '<template-str>' is invalid when rendering single templates") {
		t.Errorf("include: %s", value.Repr(res.Value))
	}
}
