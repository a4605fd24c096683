package config_test

import (
	"testing"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/config"
)

// TestMergedIsACopy changes what config.get merged: pillar and grains stay.
//
// Salt: salt/modules/config.py get, salt/utils/dictupdate.py merge_recurse.
func TestMergedIsACopy(t *testing.T) {
	t.Parallel()
	for _, merge := range []string{"recurse", "overwrite"} {
		env := &fun.Env{
			Data: fun.Data{Opts: value.MapOf("pillar_merge_lists", false), Grains: value.MapOf("app", value.MapOf("b", value.MapOf("y", int64(2)))), Pillar: value.MapOf("app", value.MapOf("a", value.MapOf("x", int64(1)), "b", value.MapOf("z", int64(3))))},
		}
		env.Table = fun.NewTable([]fun.Entry{{Kind: fun.Exec, Name: "config", Load: config.Module}})
		env.Invoker = dispatch.New(env)
		res, err := env.Invoker.Invoke(t.Context(), fun.Exec, "config.get", fun.Args{Pos: []value.Value{"app"}, Kw: value.MapOf("merge", merge)})
		if err != nil {
			t.Fatal(err)
		}
		m := res.Value.(*value.Map)
		for k := range m.All() {
			m.Map(value.Str(k)).Set("new", true)
		}
		m.Set("new", true)
		if got, want := value.Repr(env.Pillar), "{'app': {'a': {'x': 1}, 'b': {'z': 3}}}"; got != want {
			t.Errorf("%s: pillar %s, want %s", merge, got, want)
		}
		if got, want := value.Repr(env.Grains), "{'app': {'b': {'y': 2}}}"; got != want {
			t.Errorf("%s: grains %s, want %s", merge, got, want)
		}
	}
}
