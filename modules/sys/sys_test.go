package sys_test

import (
	"context"
	"testing"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/sys"
)

// Every state takes a name, also where its row does not list it.
//
// Salt: salt/states/test.py nop(name, **kwargs), salt/utils/args.py argspec_report.
func TestStateArgspec(t *testing.T) {
	t.Parallel()
	env := &fun.Env{Data: fun.Data{Opts: value.NewMap(0)}}
	states := func() fun.Module {
		return fun.Module{Name: "test", Kind: fun.State, Specs: []fun.Spec{
			{Name: "nop", VarKw: true},
			{Name: "named", Args: []fun.Arg{{Name: "name", Required: true}, {Name: "x", Default: int64(1)}}},
		}}
	}
	env.Table = fun.NewTable([]fun.Entry{{Kind: fun.Exec, Name: "sys", Load: sys.Module}, {Kind: fun.State, Name: "test", Load: states}})
	env.Invoker = dispatch.New(env)
	res, err := env.Invoker.Invoke(t.Context(), fun.Exec, "sys.state_argspec", fun.Args{Pos: []value.Value{"test"}})
	want := "{'test.named': {'args': ['name', 'x'], 'defaults': [1], 'varargs': None, 'kwargs': None}," +
		" 'test.nop': {'args': ['name'], 'defaults': None, 'varargs': None, 'kwargs': True}}"
	if got := value.Repr(res.Value); err != nil || got != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
}

// A state module that can be watched lists mod_watch.
func TestModWatchIsListed(t *testing.T) {
	t.Parallel()
	env := &fun.Env{Data: fun.Data{Opts: value.NewMap(0)}}
	states := func() fun.Module {
		return fun.Module{Name: "test", Kind: fun.State, Watch: func(context.Context, *fun.Call) fun.Ret { return fun.Ret{} }, Specs: []fun.Spec{{Name: "nop", VarKw: true}}}
	}
	env.Table = fun.NewTable([]fun.Entry{{Kind: fun.Exec, Name: "sys", Load: sys.Module}, {Kind: fun.State, Name: "test", Load: states}})
	env.Invoker = dispatch.New(env)
	for name, want := range map[string]string{
		"sys.list_state_functions": "['test.mod_watch', 'test.nop']",
		"sys.state_argspec":        "{'test.mod_watch': {'args': ['name', 'sfun'], 'defaults': [None], 'varargs': None, 'kwargs': True}, 'test.nop': {'args': ['name'], 'defaults': None, 'varargs': None, 'kwargs': True}}",
	} {
		res, err := env.Invoker.Invoke(t.Context(), fun.Exec, name, fun.Args{Pos: []value.Value{"test"}})
		if got := value.Repr(res.Value); err != nil || got != want {
			t.Errorf("%s: got %s, %v\nwant %s", name, got, err, want)
		}
	}
}
