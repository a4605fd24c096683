package module_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/py/value"
	modulestates "brine/states/module"
)

// mine is a module to call.
func mine() fun.Module {
	give := func(v value.Value, rc int) fun.ExecFn {
		return func(context.Context, *fun.Call) (fun.Result, error) { return fun.Result{Value: v, Retcode: rc}, nil }
	}
	fault := func(err error) fun.ExecFn {
		return func(context.Context, *fun.Call) (fun.Result, error) { return fun.Result{}, err }
	}
	return fun.Module{Name: "mine", Kind: fun.Exec, Specs: []fun.Spec{
		{Name: "args", VarArg: true, VarKw: true, Args: []fun.Arg{{Name: "first", Default: "dflt"}}, Fn: func(_ context.Context, c *fun.Call) (fun.Result, error) {
			return fun.Value(fmt.Sprintf("%s %s %s", value.Repr(c.Args), value.Repr(value.Tuple(c.Pos)), value.Repr(c.Kw)))
		}},
		{Name: "breaks", Fn: fault(fmt.Errorf("boom"))},
		{Name: "deep", Fn: give(value.MapOf("a", value.MapOf("b", value.MapOf("result", false))), 0)},
		{Name: "echo", Args: []fun.Arg{{Name: "text", Required: true}}, Fn: func(_ context.Context, c *fun.Call) (fun.Result, error) { return fun.Value(c.Args.At("text")) }},
		{Name: "named", Args: []fun.Arg{{Name: "name", Required: true}, {Name: "timeout"}, {Name: "saltenv", Default: "base"}}, Fn: func(_ context.Context, c *fun.Call) (fun.Result, error) {
			return fun.Value(c.Args.Copy())
		}},
		{Name: "no", Fn: give(false, 0)},
		{Name: "none", Fn: give(nil, 0)},
		{Name: "refuses", Fn: fault(fun.Errorf("Unable to do it"))},
		{Name: "status", Fn: give(value.MapOf("retcode", int64(3), "comment", "third"), 3)},
		{Name: "text", Fn: give("out", 3)},
		{Name: "verdict", Fn: give(value.MapOf("result", false, "comment", "said no"), 0)},
		{Name: "wary", Fn: fault(&fun.InvocationError{Msg: "not so"})},
		{Name: "yes", Fn: give(true, 0)},
	}}
}

func apply(t *testing.T, fn, name string, kw *value.Map, test bool) (fun.Ret, []string) {
	t.Helper()
	var warned []string
	e := &fun.Env{
		Identity:  fun.Identity{ID: "minion1", SaltEnv: "base"},
		Data:      fun.Data{Opts: value.NewMap(0), Memo: &fun.Memo{}},
		UI:        fun.UI{Logger: slog.New(slog.DiscardHandler), OnWarn: func(w fun.Warning) { warned = append(warned, w.Text) }},
		Functions: fun.Functions{Table: fun.NewTable([]fun.Entry{{Kind: fun.Exec, Name: "mine", Load: mine}, {Kind: fun.State, Name: "module", Load: modulestates.States}})},
	}
	e.Invoker = dispatch.New(e)
	mod, spec, _ := e.Table.Lookup(fun.State, "module."+fn)
	low := value.MapOf("state", "module", "fun", fn, "name", name, "__id__", "lbl", "order", int64(10000))
	low.Update(kw)
	c, err := e.Invoker.Bind(mod, spec, fun.Args{Kw: low})
	if err != nil {
		t.Fatal(err)
	}
	c.Test, c.Low = test, &fun.Chunk{State: "module", Fun: fn, ID: "lbl", Name: name, Low: low}
	if low.Has("sfun") {
		return mod.Watch(t.Context(), c), warned
	}
	return spec.State(t.Context(), c), warned
}

func repr(m *value.Map) string { return value.Repr(m.Copy()) }

func short(r fun.Ret) string {
	if r.Err != nil {
		return "raises " + r.Err.Error()
	}
	ch := r.Changes
	if ch == nil {
		ch = value.NewMap(0)
	}
	return value.Repr(r.Result.Value()) + " " + value.Repr(r.Comment) + " " + value.Repr(ch)
}

func TestOldStyle(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		kw   *value.Map
		test bool
		want string
	}{
		{"mine.echo", value.MapOf("text", "hi"), false, "True 'Module function mine.echo executed' {'ret': 'hi'}"},
		{"mine.echo", value.MapOf("text", "hi"), true, "None 'Module function mine.echo is set to execute' {}"},
		{"mine.echo", nil, false, "False 'The following arguments are missing: text' {}"},
		{"mine.gone", nil, true, "False 'Module function mine.gone is not available' {}"},
		{"label", nil, false, "False 'Module function label is not available' {}"},
		{"mine.named", value.MapOf("m_name", "n", "timeout", int64(5)), false, "True 'Module function mine.named executed' {'ret': {'name': 'n', 'timeout': 5, 'saltenv': 'base'}}"},
		{"mine.named", value.MapOf("m_name", "n", "m_saltenv", "dev"), false, "True 'Module function mine.named executed' {'ret': {'name': 'n', 'timeout': None, 'saltenv': 'dev'}}"},
		{"mine.named", nil, false, "False 'The following arguments are missing: m_name' {}"},
		{"mine.args", value.MapOf("args", value.NewList(int64(1), "two"), "kwargs", value.MapOf("k", "v")), false, "True 'Module function mine.args executed' {'ret': \"{'first': 'dflt'} (1, 'two') {'k': 'v'}\"}"},
		{"mine.args", value.MapOf("first", "f", "lost", int64(1)), false, "True 'Module function mine.args executed' {'ret': \"{'first': 'f'} () {}\"}"},
		{"mine.args", value.MapOf("args", "x"), false, "False \"'args' must be a list.\" {}"},
		{"mine.args", value.MapOf("kwargs", "x"), false, "False \"'kwargs' must be a dict.\" {}"},
		{"mine.no", nil, false, "False 'Module function mine.no executed' {'ret': False}"},
		{"mine.none", nil, false, "True 'Module function mine.none executed' {'ret': None}"},
		{"mine.status", nil, false, "False 'Module function mine.status executed' {'ret': {'retcode': 3, 'comment': 'third'}}"},
		{"mine.verdict", nil, false, "False 'Module function mine.verdict executed' {'ret': {'result': False, 'comment': 'said no'}}"},
		{"mine.deep", nil, false, "False 'Module function mine.deep executed' {'ret': {'a': {'b': {'result': False}}}}"},
		{"mine.text", nil, false, "True 'Module function mine.text executed' {'ret': 'out'}"},
		{"mine.breaks", nil, false, "False 'Module function mine.breaks threw an exception. Exception: boom' {}"},
		{"mine.refuses", nil, false, "False 'Module function mine.refuses threw an exception. Exception: Unable to do it' {}"},
	} {
		got, _ := apply(t, "run", tt.name, tt.kw, tt.test)
		if d := cmp.Diff(tt.want, short(got)); d != "" {
			t.Errorf("%s %s (-want +got):\n%s", tt.name, repr(tt.kw), d)
		}
	}
}

func TestNewStyle(t *testing.T) {
	t.Parallel()
	list := value.NewList
	for _, tt := range []struct {
		kw    *value.Map
		test  bool
		want  string
		names string
	}{
		{value.MapOf("mine.echo", list("hi"), "mine.yes", list()), false, "True 'mine.echo: hi, mine.yes: True' {'mine.echo': 'hi', 'mine.yes': True}", "['mine.echo', 'mine.yes']"},
		{value.MapOf("mine.echo", list(value.MapOf("text", "hi"))), false, "True 'mine.echo: hi' {'mine.echo': 'hi'}", "['mine.echo']"},
		{value.MapOf("mine.args", list("a", "b", value.MapOf("k", "v"))), false, `True "mine.args: {'first': 'a'} ('b',) {'k': 'v'}" {'mine.args': "{'first': 'a'} ('b',) {'k': 'v'}"}`, "['mine.args']"},
		{value.MapOf("mine.yes:1", nil, "mine.yes:2", nil), false, "True 'mine.yes:1: True, mine.yes:2: True' {'mine.yes:1': True, 'mine.yes:2': True}", "['mine.yes:1', 'mine.yes:2']"},
		{value.MapOf("mine.yes", nil, "mine.no", nil), false, "False \"'mine.no': False, mine.yes: True\" {'mine.yes': True}", "['mine.yes', 'mine.no']"},
		{value.MapOf("mine.status", nil), false, "False \"'mine.status' failed: third\" {}", "['mine.status']"},
		{value.MapOf("mine.verdict", nil), false, "True 'mine.verdict: said no' {'mine.verdict': {'result': False, 'comment': 'said no'}}", "['mine.verdict']"},
		{value.MapOf("mine.deep", nil), false, "True 'mine.deep: Success' {'mine.deep': {'a': {'b': {'result': False}}}}", "['mine.deep']"},
		{value.MapOf("mine.echo", list()), false, "False \"'mine.echo' failed: Missing arguments: text\" {}", "['mine.echo']"},
		{value.MapOf("mine.refuses", nil), false, "raises Unable to do it", ""},
		{value.MapOf("mine.breaks", nil), false, "raises boom", ""},
		{value.MapOf("mine.wary", nil), false, "False \"'mine.wary' failed: not so\" {}", "['mine.wary']"},
		{value.MapOf("mine.yes", list("x")), false, "False \"'mine.yes' failed: yes() takes 0 positional arguments but 1 was given\" {}", "['mine.yes']"},
		{value.MapOf("mine.gone", nil), false, "False 'Unavailable function: mine.gone.' {}", "['mine.gone']"},
		{value.MapOf("mine.gone", nil, "mine.lost", nil), false, "False 'Unavailable functionTrue: mine.gone, mine.lost.' {}", "['mine.gone', 'mine.lost']"},
		{value.MapOf("mine.yes", nil), true, "None 'Function mine.yes to be executed.' {}", "['mine.yes']"},
		{value.MapOf("mine.yes", nil, "mine.no", nil, "mine.gone", nil), true, "False 'Unavailable function: mine.gone. FunctionTrue mine.yes, mine.no to be executed.' {}", "['mine.yes', 'mine.no', 'mine.gone']"},
		{value.MapOf("mine.yes", nil, "sfun", "wait", "__reqs__", value.NewMap(0)), false, "True 'mine.yes: True' {'mine.yes': True}", "['mine.yes', 'sfun', '__reqs__']"},
	} {
		fn := "run"
		if tt.kw.Has("sfun") {
			fn = "wait"
		}
		got, _ := apply(t, fn, "lbl", tt.kw, tt.test)
		if d := cmp.Diff(tt.want, short(got)); d != "" {
			t.Errorf("%s (-want +got):\n%s", repr(tt.kw), d)
		}
		if got.Err == nil && value.Repr(got.Extra.At("name")) != tt.names {
			t.Errorf("%s: the name is %s, want %s", repr(tt.kw), value.Repr(got.Extra.At("name")), tt.names)
		}
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		kw   *value.Map
		want []string
	}{
		{"mine.echo", value.MapOf("text", "x", "returner", "r"), nil},
		{"mine.named", value.MapOf("m_name", "x"), nil},
		{"mine.echo", value.MapOf("text", "x", "txt", "y"), []string{`"txt" is not passed to mine.echo (did you mean "text"?)`}},
		{"mine.args", value.MapOf("other", "y"), []string{`"other" is not passed to mine.args; give it in kwargs`}},
		{"mine.ech", nil, []string{`did you mean "mine.echo"?`}},
	} {
		_, warned := apply(t, "run", tt.name, tt.kw, false)
		if len(warned) != len(tt.want) {
			t.Errorf("%s %s: warnings %q, want %q", tt.name, repr(tt.kw), warned, tt.want)
			continue
		}
		for i, w := range tt.want {
			if !strings.Contains(warned[i], w) {
				t.Errorf("%s %s: warning %q, want %q", tt.name, repr(tt.kw), warned[i], w)
			}
		}
	}
}

func TestWaitIsIdle(t *testing.T) {
	t.Parallel()
	for _, fn := range []string{"wait", "watch"} {
		got, _ := apply(t, fn, "mine.no", nil, false)
		if s := short(got); s != "True '' {}" {
			t.Errorf("%s = %s", fn, s)
		}
	}
}
