package saltutil_test

import (
	"context"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/states/saltutil"
)

func TestSync(t *testing.T) {
	t.Parallel()
	list := func(context.Context, *fun.Call) (fun.Result, error) { return fun.Value(value.Strings("modules.old")) }
	fail := func(context.Context, *fun.Call) (fun.Result, error) { return fun.Result{}, fun.Errorf("broken") }
	entries := []fun.Entry{
		{Kind: fun.State, Name: "saltutil", Load: saltutil.States},
		{Kind: fun.Exec, Name: "saltutil", Load: func() fun.Module {
			return fun.Module{Name: "saltutil", Kind: fun.Exec, Specs: []fun.Spec{
				{Name: "sync_all", VarKw: true, Fn: list}, {Name: "sync_grains", VarKw: true, Fn: fail}, {Name: "sync_modules", VarKw: true, Fn: list},
			}}
		}},
	}
	r := calltest.New(host.NewFake(), entries...)
	r.Steps(t, []calltest.Step{
		{"test saltutil.sync_all {name: x}", "None: saltutil.sync_all would have been run {}"},
		{"state saltutil.sync_all {name: x, refresh: true}", "True: No updates to sync {}"},
		{"state saltutil.sync_modules {name: x}", "True: No updates to sync {}"},
		{"state saltutil.sync_grains {name: x}", "False: Failed to run sync_grains: broken {}"},
	})
	more := append(entries[:2:2], fun.Entry{Kind: fun.Exec, Name: "mine", Load: func() fun.Module { return fun.Module{Name: "mine"} }})
	r.Env.NewTable = func(context.Context) (*fun.Table, error) { return fun.NewTable(more), nil }
	r.Steps(t, []calltest.Step{
		{"state saltutil.sync_all {name: x}", "True: Sync performed {'modules': ['modules.mine']}"},
		{"state saltutil.sync_modules {name: x}", "True: No updates to sync {}"},
	})
	r.Env.NewTable = func(context.Context) (*fun.Table, error) { return nil, fun.Errorf("no roots") }
	r.Steps(t, []calltest.Step{{"state saltutil.sync_modules {name: x}", "False: Failed to run sync_modules: no roots {}"}})
}
