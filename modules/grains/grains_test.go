package grains_test

import (
	"testing"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/internal/testkit/grainstest"
	"brine/modules/grains"
)

// TestFunctions has the recorded calls.
func TestFunctions(t *testing.T) {
	t.Parallel()
	env, h := grainstest.NewEnv(t, "role: web\nnet: {zone: inner}\ntags: [a, b]\nc: {1: one}\n", fun.Entry{Kind: fun.Exec, Name: "grains", Load: grains.Module})
	for _, tt := range []struct{ fun, pos, kw, want string }{
		{"get", "[role]", "{}", "web"},
		{"get", "['net:zone']", "{}", "inner"},
		{"get", "['net:none', dflt]", "{}", "dflt"},
		{"get", "[missing]", "{}", "''"},
		{"get", "['net|zone']", "{delimiter: '|'}", "inner"},
		{"get", "['c:1']", "{}", "one"},
		{"get", "[c]", "{ordered: False}", "{'1': one}"},
		{"item", "[role, tags, nope]", "{}", "{role: web, tags: [a, b], nope: ''}"},
		{"item", "[nope]", "{default: d}", "{nope: d}"},
		{"item", "[host]", "{sanitize: True}", "{host: MINION}"},
		{"has_value", "[role]", "{}", "True"},
		{"has_value", "[nope]", "{}", "False"},
		{"equals", "[role, web]", "{}", "True"},
		{"equals", "['c:1', two]", "{}", "False"},
		{"fetch", "['tags:0']", "{}", "a"},
		{"setval", "[colour, blue]", "{}", "{colour: blue}"},
		{"get", "[colour]", "{}", "blue"},
		{"append", "[tags, c]", "{}", "{tags: [a, b, c]}"},
		{"append", "[tags, c]", "{}", "The val c was already in the list tags"},
		{"append", "[role, c]", "{}", "The key role is not a valid list"},
		{"remove", "[tags, a]", "{}", "{tags: [b, c]}"},
		{"remove", "[tags, a]", "{}", "The val a was not in the list tags"},
		{"set", "['net:extra', 5]", "{}", "{comment: '', changes: {net: {zone: inner, extra: 5}}, result: True}"},
		{"delval", "[colour]", "{}", "{comment: '', changes: {colour: null}, result: True}"},
		{"delkey", "[role]", "{}", "{comment: '', changes: {role: null}, result: True}"},
		{"has_value", "[role]", "{}", "False"},
		{"get", "[tags]", "{}", "[b, c]"},
		{"filter_by", "[{web: {p: 1}, default: {p: 2}}]", "{grain: role, default: default}", "{p: 2}"},
		{"filter_by", "[{b*: {p: 1, q: {r: 1}}}]", "{grain: tags, merge: {q: {s: 2}}}", "{p: 1, q: {r: 1, s: 2}}"},
		{"filter_by", "[{base: {x: 1, p: 0}, c: {p: 1}}]", "{grain: tags, base: base}", "{x: 1, p: 1}"},
		// Keys keep their types, as in Salt: 1, 1.0 and true are one, 3 and '3' are two.
		{"filter_by", "[{2: two, 3: three}]", "{grain: none, default: 3}", "three"},
		{"filter_by", "[{2: two, 3: three}]", "{grain: none, default: '3'}", "null"},
		{"filter_by", "[{'3': three}]", "{grain: none, default: 3}", "null"},
		{"filter_by", "[{true: yes-, false: no-}]", "{grain: none, default: false}", "no-"},
		{"filter_by", "[{1: one}]", "{grain: none, default: 1.0}", "one"},
		{"filter_by", "[{1.5: f}]", "{grain: none, default: 1.5}", "f"},
		{"filter_by", "[{null: n}]", "{grain: none, default: null}", "n"},
		{"filter_by", "[{1: {a: 1}, 2: {b: 1}}]", "{grain: none, default: 2, base: 1}", "{a: 1, b: 1}"},
		{"filter_by", "[{1: {a: 1}, 2: {b: 1}}]", "{grain: none, default: 2, base: '1'}", "{b: 1}"},
		{"setvals", "[{x: 1, colour: null}]", "{destructive: True}", "{x: 1, colour: null}"},
	} {
		res, err := env.Invoker.Invoke(t.Context(), fun.Exec, "grains."+tt.fun, fun.Args{Pos: calltest.YAML(t, tt.pos).(*value.List).Items, Kw: calltest.YAML(t, tt.kw).(*value.Map)})
		if err != nil || !value.Equal(res.Value, calltest.YAML(t, tt.want)) {
			t.Errorf("grains.%s %s %s = %s, %v, want %s", tt.fun, tt.pos, tt.kw, value.Repr(res.Value), err, tt.want)
		}
	}
	for range 2 { // the second time it is there
		res, err := env.Invoker.Invoke(t.Context(), fun.Exec, "grains.get_or_set_hash", fun.Args{Pos: []value.Value{"net:secret", int64(3), "x"}})
		if err != nil || res.Value != "xxx" {
			t.Errorf("get_or_set_hash = %v, %v, want xxx", res.Value, err)
		}
	}
	if got, want := h.Text(grainstest.File), "c:\n  1: one\nnet:\n  extra: 5\n  secret: xxx\n  zone: inner\ntags:\n- b\n- c\nx: 1\n"; got != want {
		t.Errorf("the grains file has\n%s\nwant\n%s", got, want)
	}
	if _, err := env.Invoker.Invoke(t.Context(), fun.Exec, "grains.setvals", fun.Args{Pos: []value.Value{"x"}}); err == nil {
		t.Error("setvals took a string")
	}
}
