package environ_test

import (
	"slices"
	"testing"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	exec "brine/modules/environ"
	states "brine/states/environ"
)

func newEnv(h host.Host) *fun.Env {
	env := &fun.Env{Machine: fun.Machine{Host: h}}
	env.Table = fun.NewTable([]fun.Entry{{Kind: fun.State, Name: "environ", Load: states.States}, {Kind: fun.Exec, Name: "environ", Load: exec.Module}})
	env.Invoker = dispatch.New(env)
	return env
}

func TestSetenv(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, args string
		test       bool
		result     value.Value
		comment    string
		changes    string
		after      []string
	}{
		{"text", "{name: new, value: x}", false, true, "Environ values were set", "{new: x}", []string{"A=1", "E=", "new=x"}},
		{"same", "{name: A, value: '1'}", false, true, "Environ values were already set with the correct values", "{}", nil},
		{"dict", "{name: any, value: {A: '2', new: x}}", false, true, "Environ values were set", "{A: '2', new: x}", []string{"A=2", "E=", "new=x"}},
		{"False", "{name: A, value: False}", false, true, "Environ values were set", "{A: ''}", []string{"A=", "E="}},
		{"False unsets", "{name: A, value: False, false_unsets: True}", false, true, "Environ values were set", "{A: null}", []string{"E="}},
		{"False of none", "{name: N, value: False, false_unsets: True}", false, true, "Environ values were already set with the correct values", "{}", nil},
		{"empty already", "{name: E, value: False}", false, true, "Environ values were already set with the correct values", "{}", nil},
		{"clear all", "{name: A, value: '1', clear_all: True, false_unsets: True}", false, true, "Environ values were set", "{A: '1', E: null}", []string{"A=1"}},
		{"clear all again", "{name: A, value: '1', clear_all: True}", true, true, "Environ values will be changed", "{E: ''}", nil},
		{"number", "{name: A, value: 5}", false, false, "Environ value must be string, dict or False", "{}", nil},
		{"number in a dict", "{name: any, value: {P: 80}}", false, false, "Failed to set environ variables", "{P: 80}", nil},
		{"bad name", "{name: any, value: {'x=y': z}}", false, false, "Failed to set environ variables", "{'x=y': False}", nil},
		{"test", "{name: A, value: '2'}", true, true, "Environ values will be changed", "{A: '2'}", nil},
		{"test same", "{name: A, value: '1'}", true, true, "Environ values are already set with the correct values", "{}", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := host.NewFake()
			h.Env = []string{"A=1", "E="}
			env := newEnv(h)
			mod, spec, _ := env.Table.Lookup(fun.State, "environ.setenv")
			c, err := env.Invoker.Bind(mod, spec, fun.Args{Kw: calltest.YAML(t, tt.args).(*value.Map)})
			if err != nil {
				t.Fatal(err)
			}
			c.Test = tt.test
			ret := spec.State(t.Context(), c)
			if ret.Changes == nil {
				ret.Changes = value.NewMap(0)
			}
			if ret.Result.Value() != tt.result || ret.Comment != tt.comment || !value.Equal(ret.Changes, calltest.YAML(t, tt.changes)) {
				t.Errorf("= %v, %v, %s", ret.Result.Value(), ret.Comment, value.Repr(ret.Changes))
			}
			after := tt.after
			if after == nil {
				after = []string{"A=1", "E="}
			}
			if got := h.Environ(); !slices.Equal(got, after) {
				t.Errorf("the environment is %q, want %q", got, after)
			}
		})
	}
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.Env = []string{"A=1", "PATH=/bin"}
	env := newEnv(h)
	for _, tt := range []struct{ fun, args, want string }{
		{"get", "{key: NOPE, default: dflt}", "dflt"},
		{"get", "{key: NOPE}", "''"},
		{"get", "{key: 5}", "False"},
		{"has_value", "{key: PATH}", "True"},
		{"has_value", "{key: PATH, value: /usr}", "False"},
		{"item", "{keys: [A, N], default: d}", "{A: '1', N: d}"},
		{"item", "{keys: A}", "{A: '1'}"},
		{"items", "{}", "{A: '1', PATH: /bin}"},
		{"setval", "{key: B, val: b}", "b"},
		{"setval", "{key: B, val: 5}", "False"},
		{"setval", "{key: B, val: False}", "''"},
		{"setval", "{key: B, val: False, false_unsets: True}", "null"},
		{"setenv", "{environ: {C: c}}", "{C: c}"},
		{"setenv", "{environ: x}", "False"},
		{"setenv", "{environ: {D: 5}}", "False"},
		{"items", "{}", "{A: '1', PATH: /bin, C: c}"},
	} {
		res, err := env.Invoker.Invoke(t.Context(), fun.Exec, "environ."+tt.fun, fun.Args{Kw: calltest.YAML(t, tt.args).(*value.Map)})
		if err != nil || !value.Equal(res.Value, calltest.YAML(t, tt.want)) {
			t.Errorf("environ.%s %s = %s, %v, want %s", tt.fun, tt.args, value.Repr(res.Value), err, tt.want)
		}
	}
}
