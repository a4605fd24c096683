package test_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/py/value"
	statestest "brine/states/test"
)

// call calls a state function the way a run does, and shows its return.
func call(t *testing.T, env *fun.Env, fn string, test bool, kv ...value.Value) (string, fun.Ret) {
	t.Helper()
	mod := statestest.States().Loaded()
	for i := range mod.Specs {
		if mod.Specs[i].Name != fn {
			continue
		}
		low := value.MapOf(kv...)
		low.Set("name", "x")
		c, err := dispatch.New(env).Bind(&mod, &mod.Specs[i], fun.Args{Kw: low})
		if err != nil {
			t.Fatal(err)
		}
		c.Name, c.Test, c.Env, c.Low = "x", test, env, &fun.Chunk{State: "test", Fun: fn, ID: "x", Name: "x", Low: low}
		ret := mod.Specs[i].State(context.Background(), c)
		return show(ret), ret
	}
	t.Fatalf("no function %q", fn)
	return "", fun.Ret{}
}

func show(ret fun.Ret) string {
	if ret.Err != nil {
		return "raises " + ret.Err.Error()
	}
	s := value.Str(ret.Result.Value()) + " " + value.Str(ret.Comment)
	if ret.Changes != nil {
		s += " " + value.Str(ret.Changes)
	}
	return s
}

const pretended = " {'testing': {'old': 'Unchanged', 'new': 'Something pretended to change'}}"

// TestStates has what Salt's own tests and the recordings say.
func TestStates(t *testing.T) {
	t.Parallel()
	bad := func(opt string) string {
		return "raises You have specified the state option '" + opt + "' with invalid arguments. It must be either True, False, or 'Random'"
	}
	for _, tt := range []struct {
		fn         string
		kv         []value.Value
		want, test string
	}{
		{"nop", []value.Value{"comment", "ignored", "any", "thing"}, "True Success!", "True Success!"},
		{"succeed_without_changes", nil, "True Success!", "True Success!"},
		{"succeed_without_changes", []value.Value{"comment", "mine"}, "True mine", "True mine"},
		{"fail_without_changes", nil, "False Failure!", "False If we weren't testing, this would be a failure!"},
		{"succeed_with_changes", nil, "True Success!" + pretended, "None If we weren't testing, this would be successful with changes" + pretended},
		{"fail_with_changes", []value.Value{"comment", "c"}, "False c" + pretended, "None If we weren't testing, this would be failed with changes" + pretended},
		{"configurable_test_state", nil, "True " + pretended, "None This is a test" + pretended},
		{"configurable_test_state", []value.Value{"changes", false, "result", false}, "False ", "True This is a test"},
		{"configurable_test_state", []value.Value{"changes", false, "comment", "c"}, "True c", "True c"},
		{"configurable_test_state", []value.Value{"changes", "maybe"}, bad("changes"), bad("changes")},
		{"configurable_test_state", []value.Value{"result", int64(1)}, bad("result"), bad("result")},
		{
			"configurable_test_state",
			[]value.Value{"warnings", int64(1)},
			"raises You have specified the state option 'warnings' with invalid arguments. It must be a string or a list of strings",
			"raises You have specified the state option 'warnings' with invalid arguments. It must be a string or a list of strings",
		},
		{"show_notification", []value.Value{"text", "look here"}, "True look here", "True look here"},
		{"show_notification", nil, "raises Missing required argument text.", "raises Missing required argument text."},
	} {
		env := &fun.Env{Data: fun.Data{Opts: value.NewMap(0)}}
		if got, _ := call(t, env, tt.fn, false, tt.kv...); got != tt.want {
			t.Errorf("%s(%v) = %q, want %q", tt.fn, tt.kv, got, tt.want)
		}
		if got, _ := call(t, env, tt.fn, true, tt.kv...); got != tt.test {
			t.Errorf("%s(%v) in test mode = %q, want %q", tt.fn, tt.kv, got, tt.test)
		}
	}
	env := &fun.Env{Data: fun.Data{Opts: value.NewMap(0)}}
	if _, ret := call(t, env, "configurable_test_state", false, "warnings", "w"); value.Str(ret.Extra) != "{'warnings': ['w']}" {
		t.Errorf("warnings = %v", value.Str(ret.Extra))
	}
	seen := map[string]bool{}
	for range 200 {
		got, _ := call(t, env, "configurable_test_state", false, "changes", "Random", "result", "random")
		seen[strings.TrimSpace(got)] = true
	}
	if len(seen) != 4 {
		t.Errorf("Random gave %d of 4 outcomes", len(seen))
	}
}

func TestCheckPillar(t *testing.T) {
	t.Parallel()
	env := &fun.Env{Data: fun.Data{Opts: value.NewMap(0), Pillar: value.MapOf("b", true, "i", int64(3), "s", "text", "l", value.NewList(), "d", value.MapOf("in", nil, "x", "y"))}}
	l := func(xs ...string) *value.List { return value.Strings(xs...) }
	for _, tt := range []struct {
		kv   []value.Value
		want string
	}{
		{[]value.Value{"present", l("b", "d:x")}, "True "},
		{[]value.Value{"present", "s"}, "True "},
		{[]value.Value{"present", l("nope", "d:in")}, "False Pillar key \"nope\" is missing.\nPillar key \"d:in\" is missing.\n"},
		{[]value.Value{"boolean", "b", "integer", l("i", "b"), "string", "s", "listing", "l", "dictionary", "d"}, "True "},
		{
			[]value.Value{"boolean", "i", "integer", "s", "string", "l", "listing", "d", "dictionary", "b"},
			"False Pillar key \"i\" is not <class 'bool'>.\nPillar key \"s\" is not <class 'int'>.\nPillar key \"l\" is not (<class 'str'>,).\n" +
				"Pillar key \"d\" is not <class 'list'>.\nPillar key \"b\" is not <class 'dict'>.\n",
		},
		{[]value.Value{"present", "s", "boolean", "i", "verbose", true}, "False Pillar key \"i\" is not <class 'bool'>.\nThose keys passed the check:\n- s (None)\n"},
		{nil, "raises Missing required argument text."},
		{[]value.Value{"present", int64(3)}, "False Pillar key \"3\" is missing.\n"},
	} {
		if got, _ := call(t, env, "check_pillar", false, tt.kv...); got != tt.want {
			t.Errorf("check_pillar(%v) = %q, want %q", tt.kv, got, tt.want)
		}
	}
	if got, _ := call(t, &fun.Env{}, "check_pillar", false, "present", "x"); got != "False Pillar key \"x\" is missing.\n" {
		t.Errorf("without a pillar: %q", got)
	}
}

type view struct{ fun.RunView }

func (view) Return(tag string) *value.Map {
	if tag == "test_|-a_|-a_|-nop" {
		return value.MapOf("changes", value.MapOf("x", "y"))
	}
	return value.MapOf("changes", value.NewMap(0))
}

func TestModWatch(t *testing.T) {
	t.Parallel()
	req := func(id string) *value.Map {
		return value.MapOf("state", "test", "__id__", id, "name", id, "fun", "nop")
	}
	reqs := value.MapOf("watch", value.NewList(req("a"), req("b")))
	for _, tt := range []struct {
		low  *value.Map
		want string
	}{
		{value.MapOf("__reqs__", reqs), "True Watch statement fired. {'Requisites with changes': ['test: a']}"},
		{value.MapOf(), "True Watch statement fired. {'Requisites with changes': []}"},
		{value.MapOf("result", false, "comment", "c", "changes", value.MapOf("k", "v")), "False c {'k': 'v'}"},
		{value.MapOf("changes", false, "result", nil), "None Watch statement fired. False"},
	} {
		c := &fun.Call{Env: &fun.Env{Jobs: fun.Jobs{Run: view{}}}, Low: &fun.Chunk{Low: tt.low}}
		if got := show(statestest.States().Loaded().Watch(context.Background(), c)); got != tt.want {
			t.Errorf("mod_watch(%s) = %q, want %q", value.Repr(tt.low), got, tt.want)
		}
	}
}

// TestRows: the rows are in alphabetical order and say what they are.
func TestRows(t *testing.T) {
	t.Parallel()
	last := ""
	for _, s := range statestest.States().Loaded().Specs {
		if s.Name <= last || s.Doc == "" || s.Src == "" || s.State == nil {
			t.Errorf("row %q: order, doc, source or function", s.Name)
		}
		last = s.Name
	}
	if d := cmp.Diff("test", statestest.States().Name); d != "" {
		t.Error(d)
	}
}
