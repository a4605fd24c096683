package event_test

import (
	"context"
	"testing"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/states/event"
)

// TestStates has the module's states and what they hand to event.send.
//
// Salt: salt/states/event.py send, wait, mod_watch.
func TestStates(t *testing.T) {
	t.Parallel()
	const change = "{tag: a/tag, data: {k: v}}"
	const sent = "{data: {k: v}, preload: null, with_env: false, with_grains: false, with_pillar: false}"
	for _, tt := range []struct {
		name, fun, args string
		test, answer    bool
		result          value.Value
		comment         string
		changes         string
		sent            string // what event.send was given; "" is no call
	}{
		{"send", "send", "{data: {k: v}}", false, true, true, "Event fired", change, sent},
		{"alias", "fire_master", "{data: {k: v}}", false, true, true, "Event fired", change, sent},
		{"no data", "send", "{}", false, true, true, "Event fired", "{tag: a/tag, data: null}", "{data: null, preload: null, with_env: false, with_grains: false, with_pillar: false}"},
		{"parts", "send", "{data: {k: v}, preload: {p: 1}, with_env: [HOME], with_grains: True, with_pillar: [a], more: 1}", false, true, true, "Event fired", change, "{data: {k: v}, preload: {p: 1}, with_env: [HOME], with_grains: true, with_pillar: [a], more: 1}"},
		{"unsent", "send", "{data: {k: v}}", false, false, false, "Event fired", change, sent},
		{"no change shown", "send", "{data: {k: v}, show_changed: False}", false, true, true, "Event fired", "{}", sent},
		{"test", "send", "{data: {k: v}}", true, true, nil, "Event would have been fired", change, ""},
		{"idle", "wait", "{data: {k: v}}", false, true, true, "", "{}", ""},
		{"watch", "", "{data: {k: v}}", false, true, true, "Event fired", change, sent},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got value.Value
			exec := func() fun.Module {
				return fun.Module{Name: "event", Kind: fun.Exec, Specs: []fun.Spec{{
					Name: "send", VarKw: true, Args: []fun.Arg{{Name: "tag", Type: fun.Str, Required: true}},
					Fn: func(_ context.Context, c *fun.Call) (fun.Result, error) {
						got = c.Kw
						return fun.Result{Value: tt.answer}, nil
					},
				}}}
			}
			env := &fun.Env{Functions: fun.Functions{Table: fun.NewTable([]fun.Entry{{Kind: fun.State, Name: "event", Load: event.States}, {Kind: fun.Exec, Name: "event", Load: exec}})}}
			env.Invoker = dispatch.New(env)
			name := tt.fun
			if name == "" {
				name = "send" // its arguments are those of mod_watch
			}
			mod, spec, ok := env.Table.Lookup(fun.State, "event."+name)
			if !ok {
				t.Fatalf("no event.%s", name)
			}
			kw := calltest.YAML(t, tt.args).(*value.Map)
			kw.Set("name", "a/tag")
			c, err := env.Invoker.Bind(mod, spec, fun.Args{Kw: kw})
			if err != nil {
				t.Fatal(err)
			}
			c.Name, c.Test = "a/tag", tt.test
			run := spec.State
			if tt.fun == "" {
				run = mod.Watch
			}
			ret := run(t.Context(), c)
			if ret.Changes == nil {
				ret.Changes = value.NewMap(0)
			}
			if ret.Result.Value() != tt.result || ret.Comment != tt.comment || !value.Equal(ret.Changes, calltest.YAML(t, tt.changes)) {
				t.Errorf("= %v, %v, %s", ret.Result.Value(), ret.Comment, value.Repr(ret.Changes))
			}
			if tt.sent == "" && got != nil || tt.sent != "" && !value.Equal(got, calltest.YAML(t, tt.sent)) {
				t.Errorf("event.send got %s, want %s", value.Repr(got), tt.sent)
			}
		})
	}
}
