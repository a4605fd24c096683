package match_test

import (
	"testing"

	"brine/internal/dispatch"
	"brine/internal/fun"
	"brine/internal/value"
	"brine/internal/yamlsalt"
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
