package match_test

import (
	"testing"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
	"brine/modules/match"
)

// The returns are those of salt/modules/match.py.
func TestModule(t *testing.T) {
	t.Parallel()
	env := &fun.Env{Identity: fun.Identity{ID: "web1"}, Data: fun.Data{Grains: value.MapOf("role", "web"), Pillar: value.NewMap(0), Opts: value.NewMap(0)}}
	env.Table = fun.NewTable([]fun.Entry{{Kind: fun.Exec, Name: "match", Load: match.Module}})
	env.Invoker = dispatch.New(env)
	for _, tt := range []struct{ fun, args, want string }{
		{"search_by", "{lookup: {a: ['G@role:db'], b: [web*, 'G@role:web'], c: [web1]}}", "[b, b, c]"},
		{"search_by", "{lookup: {a: ['G@role:db']}}", "null"},
		{"search_by", "{lookup: {a: [db*]}, minion_id: db1}", "[a]"},
		{"search_by", "{lookup: {a: ['role:web']}, tgt_type: grain}", "[a]"},
		{"filter_by", "{lookup: {'db*': 1, 'G@role:web': 2, default: 3}}", "2"},
		{"filter_by", "{lookup: {'db*': 1, default: 3}}", "3"},
		{"filter_by", "{lookup: {'web*': {a: 1}}, merge: {b: 2}}", "{a: 1, b: 2}"},
		{"filter_by", "{lookup: {'db*': {a: 1}, default: {c: 3}}, merge: {b: 2}}", "{c: 3}"},
		{"filter_by", "{lookup: {'web*': null}, merge: {b: 2}}", "{b: 2}"},
		{"filter_by", "{lookup: {2: two, 3: three}, default: 3}", "three"},
		{"filter_by", "{lookup: {'3': three}, default: 3}", "null"},
		{"compound", "{tgt: 'web* and not G@role:db'}", "true"},
		{"glob", "{tgt: 'db*', minion_id: db3}", "true"},
		{"ipcidr", "{tgt: 10.0.0.1}", "false"},
		{"ipcidr", "{tgt: 300.0.0.1}", "[]"},
	} {
		args, err := yamlsalt.LoadString(tt.args)
		if err != nil {
			t.Fatal(err)
		}
		want, err := yamlsalt.LoadString(tt.want)
		if err != nil {
			t.Fatal(err)
		}
		res, err := env.Invoker.Invoke(t.Context(), fun.Exec, "match."+tt.fun, fun.Args{Kw: args.(*value.Map)})
		if err != nil || !value.Equal(res.Value, want) {
			t.Errorf("match.%s %s = %s, %v, want %s", tt.fun, tt.args, value.Repr(res.Value), err, tt.want)
		}
	}
}

// TestIfElse picks from pairs, as salt/modules/match.py ifelse does.
func TestIfElse(t *testing.T) {
	t.Parallel()
	env := &fun.Env{Identity: fun.Identity{ID: "web1"}, Data: fun.Data{Grains: value.MapOf("role", "web"), Pillar: value.NewMap(0), Opts: value.NewMap(0)}}
	env.Table = fun.NewTable([]fun.Entry{{Kind: fun.Exec, Name: "match", Load: match.Module}})
	env.Invoker = dispatch.New(env)
	for _, tt := range []struct {
		pos  []value.Value
		kw   *value.Map
		want string
	}{
		{[]value.Value{"db*", "1", "web*", "2", "3"}, nil, "'2'"},
		{[]value.Value{"db*", "1", "3"}, nil, "'3'"},
		{[]value.Value{"db*", "1", "3"}, value.MapOf("minion_id", "db7"), "'1'"},
		{[]value.Value{false, "1", true, "2", "3"}, nil, "'2'"},
		{[]value.Value{"role:web", "1", "3"}, value.MapOf("tgt_type", "grain"), "'1'"},
		{[]value.Value{"web*", value.MapOf("a", "1"), nil}, value.MapOf("merge", value.MapOf("b", "2")), "{'a': '1', 'b': '2'}"},
		{[]value.Value{"3"}, nil, "'3'"},
		{[]value.Value{"web*", "1"}, nil, "The ifelse function must have an odd number of arguments!"},
	} {
		res, err := env.Invoker.Invoke(t.Context(), fun.Exec, "match.ifelse", fun.Args{Pos: tt.pos, Kw: tt.kw})
		got := value.Repr(res.Value)
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%v: %s, want %s", tt.pos, got, tt.want)
		}
	}
}
