package grains_test

import (
	"testing"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/internal/testkit/grainstest"
	"brine/modules/grains"
	states "brine/states/grains"
)

// table is the state module and the execution module that it calls.
var table = []fun.Entry{
	{Kind: fun.State, Name: "grains", Load: states.States},
	{Kind: fun.Exec, Name: "grains", Load: grains.Module},
}

// TestStates has the cases of Salt's own tests of the module.
func TestStates(t *testing.T) {
	t.Parallel()
	const nested = "a: aval\nfoo:\n  is:\n    nested: bar\n"
	const listed = "a: aval\nfoo:\n- order\n- is:\n    nested: bar\n- correct\n"
	const complexOld = "The key 'foo:is' exists but is a dict or a list. Use 'force=True' to overwrite."
	const complexNew = "exists and the given value is a dict or a list. Use 'force=True' to overwrite."
	for _, tt := range []struct {
		name, static, fun, args string
		test                    bool
		result                  value.Value
		comment                 string
		changes                 string
		after                   string // "" is unchanged
	}{
		{"missing", "a: aval\n", "exists", "{name: foo}", false, false, "Grain does not exist", "{}", ""},
		{"found", "foo: bar\n", "exists", "{name: foo}", false, true, "Grain exists", "{}", ""},

		{"add", "a: aval\n", "present", "{name: foo, value: bar}", false, true, "Set grain foo to bar", "{foo: bar}", "a: aval\nfoo: bar\n"},
		{"add nested", "a: aval\n", "present", "{name: 'foo:is:nested', value: bar}", false, true, "Set grain foo:is:nested to bar", "{foo: {is: {nested: bar}}}", nested},
		{"add nested dict", "a: aval\n", "present", "{name: 'foo:is:nested', value: {bar: is a dict}}", false, true, "Set grain foo:is:nested to {'bar': 'is a dict'}", "{foo: {is: {nested: {bar: is a dict}}}}", "a: aval\nfoo:\n  is:\n    nested:\n      bar: is a dict\n"},
		{"add key", "a: aval\nfoo:\n  k1: v1\n", "present", "{name: 'foo:k2', value: v2}", false, true, "Set grain foo:k2 to v2", "{foo: {k1: v1, k2: v2}}", "a: aval\nfoo:\n  k1: v1\n  k2: v2\n"},
		{"already", "foo: bar\n", "present", "{name: foo, value: bar}", false, true, "Grain is already set", "{}", ""},
		{"already nested", nested, "present", "{name: 'foo:is:nested', value: bar}", false, true, "Grain is already set", "{}", ""},
		{"already dict", nested, "present", "{name: 'foo:is', value: {nested: bar}}", false, true, "Grain is already set", "{}", ""},
		{"overwrite", "foo: bar\n", "present", "{name: foo, value: newbar}", false, true, "Set grain foo to newbar", "{foo: newbar}", "foo: newbar\n"},
		{"clear", "a: aval\nfoo: bar\n", "present", "{name: foo, value: null}", false, true, "Set grain foo to None", "{foo: null}", "a: aval\nfoo: null\n"},
		{"clear nested", nested, "present", "{name: 'foo:is:nested', value: null}", false, true, "Set grain foo:is:nested to None", "{foo: {is: {nested: null}}}", "a: aval\nfoo:\n  is:\n    nested: null\n"},
		{"not over a dict", nested, "present", "{name: 'foo:is', value: x}", false, false, complexOld, "{}", ""},
		{"no list over a value", "foo: bar\n", "present", "{name: foo, value: [l1, l2]}", false, false, "The key 'foo' " + complexNew, "{}", ""},
		{"no dict over a nested value", nested, "present", "{name: 'foo,is,nested', value: {k1: v1}, delimiter: ','}", false, false, "The key 'foo:is:nested' " + complexNew, "{}", ""},
		{"force a list", "foo: bar\n", "present", "{name: foo, value: [l1, l2], force: True}", false, true, "Set grain foo to ['l1', 'l2']", "{foo: [l1, l2]}", "foo:\n- l1\n- l2\n"},
		{"force a dict", "a: aval\nfoo: {is: {nested: bar}, and: other}\n", "present", "{name: 'foo:is:nested', value: {k1: v1}, force: True}", false, true, "Set grain foo:is:nested to {'k1': 'v1'}", "{foo: {is: {nested: {k1: v1}}, and: other}}", "a: aval\nfoo:\n  and: other\n  is:\n    nested:\n      k1: v1\n"},
		{"not through a value", "foo: bar\n", "present", "{name: 'foo:is:nested', value: {k1: v1}}", false, false, "The key 'foo' value is 'bar', which is different from the provided key 'is'. Use 'force=True' to overwrite.", "{}", ""},
		{"value becomes key", "a: aval\nfoo: is\n", "present", "{name: 'foo:is:nested', value: {k1: v1}}", false, true, "Set grain foo:is:nested to {'k1': 'v1'}", "{foo: {is: {nested: {k1: v1}}}}", "a: aval\nfoo:\n  is:\n    nested:\n      k1: v1\n"},
		{"item becomes key", "foo: [one, is, correct]\n", "present", "{name: 'foo:is:nested', value: {k1: v1}}", false, true, "Set grain foo:is:nested to {'k1': 'v1'}", "{foo: [one, {is: {nested: {k1: v1}}}, correct]}", "foo:\n- one\n- is:\n    nested:\n      k1: v1\n- correct\n"},
		{"test overwrite", "foo: bar\n", "present", "{name: foo, value: newbar}", true, nil, "Grain foo is set to be changed", "{changed: {foo: newbar}}", ""},
		{"test add", "a: aval\n", "present", "{name: foo, value: newbar}", true, nil, "Grain foo is set to be added", "{new: foo}", ""},

		{"absent already", "a: aval\n", "absent", "{name: 'foo:is:nested'}", false, true, "Grain foo:is:nested does not exist", "{}", ""},
		{"unset", "a: aval\nfoo: bar\n", "absent", "{name: foo}", false, true, "Value for grain foo was set to None", "{grain: foo, value: null}", "a: aval\nfoo: null\n"},
		{"unset False", "foo: False\n", "absent", "{name: foo}", false, true, "Value for grain foo was set to None", "{grain: foo, value: null}", "foo: null\n"},
		{"unset nested", listed, "absent", "{name: 'foo,is,nested', delimiter: ','}", false, true, "Value for grain foo:is:nested was set to None", "{grain: 'foo:is:nested', value: null}", "a: aval\nfoo:\n- order\n- is:\n    nested: null\n- correct\n"},
		{"unset a value's value", "foo: [order, {is: nested}, correct]\n", "absent", "{name: 'foo:is:nested'}", false, true, "Grain foo:is:nested does not exist", "{}", ""},
		{"unset None", "foo: null\n", "absent", "{name: foo}", false, true, "Grain is already set", "{}", ""},
		{"test unset None", "foo: null\n", "absent", "{name: foo}", true, nil, "", "{}", ""},
		{"test delete None", "foo: null\n", "absent", "{name: foo, destructive: True}", true, nil, "Grain foo is set to be deleted", "{deleted: foo}", ""},
		{"test unset", "foo: bar\n", "absent", "{name: foo}", true, nil, "Value for grain foo is set to be deleted (None)", "{grain: foo, value: null}", ""},
		{"unset a dict", listed, "absent", "{name: 'foo:is'}", false, false, complexOld, "{}", ""},
		{"force unset a dict", listed, "absent", "{name: 'foo:is', force: True}", false, true, "Value for grain foo:is was set to None", "{grain: 'foo:is', value: null}", "a: aval\nfoo:\n- order\n- is: null\n- correct\n"},
		{"delete", "a: aval\nfoo: bar\n", "absent", "{name: foo, destructive: True}", false, true, "Grain foo was deleted", "{deleted: foo}", "a: aval\n"},
		{"delete unset", "a: aval\nfoo: null\n", "absent", "{name: foo, destructive: True}", false, true, "Grain foo was deleted", "{deleted: foo}", "a: aval\n"},
		{"delete nested", "foo: [order, {is: {nested: bar, other: value}}, correct]\n", "absent", "{name: 'foo:is:nested', destructive: True}", false, true, "Grain foo:is:nested was deleted", "{deleted: 'foo:is:nested'}", "foo:\n- order\n- is:\n    other: value\n- correct\n"},

		{"append", "foo: [bar]\n", "append", "{name: foo, value: baz}", false, true, "Value baz was added to grain foo", "{added: baz}", "foo:\n- bar\n- baz\n"},
		{"append nested", "foo: {list: [bar]}\n", "append", "{name: 'foo,list', value: baz, delimiter: ','}", false, true, "Value baz was added to grain foo:list", "{added: baz}", "foo:\n  list:\n  - bar\n  - baz\n"},
		{"append again", "foo: [bar]\n", "append", "{name: foo, value: bar}", false, true, "Value bar is already in the list for grain foo", "{}", ""},
		{"append to a dict", "foo: {bar: val}\n", "append", "{name: foo, value: baz}", false, false, "Grain foo is not a valid list", "{}", ""},
		{"append and convert", "foo: {bar: val}\n", "append", "{name: foo, value: baz, convert: True}", false, true, "Value baz was added to grain foo", "{added: baz}", "foo:\n- bar: val\n- baz\n"},
		{"append to None", "foo: null\n", "append", "{name: foo, value: baz, convert: True}", false, true, "Value baz was added to grain foo", "{added: baz}", "foo:\n- baz\n"},
		{"append to nothing", "a: aval\n", "append", "{name: foo, value: bar}", false, false, "Grain foo does not exist", "{}", ""},
		{"test append", "foo: [bar]\n", "append", "{name: foo, value: baz}", true, nil, "Value baz in grain foo is set to be added", "{added: baz}", ""},

		{"list", "foo: [bar]\n", "list_present", "{name: foo, value: baz}", false, true, "Append value baz to grain foo", "{new: {foo: [bar, baz]}}", "foo:\n- bar\n- baz\n"},
		{"list nested", nested[:8] + "foo: {is: {nested: [bar]}}\n", "list_present", "{name: 'foo,is,nested', value: baz, delimiter: ','}", false, true, "Append value baz to grain foo:is:nested", "{new: {foo: {is: {nested: [bar, baz]}}}}", "a: aval\nfoo:\n  is:\n    nested:\n    - bar\n    - baz\n"},
		{"list new", "a: aval\n", "list_present", "{name: 'foo:is:nested', value: baz}", false, true, "Append value baz to grain foo:is:nested", "{new: {foo: {is: {nested: [baz]}}}}", "a: aval\nfoo:\n  is:\n    nested:\n    - baz\n"},
		{"list over a value", "foo: bar\n", "list_present", "{name: foo, value: baz}", false, false, "Grain foo is not a valid list", "{}", ""},
		{"list already", "b: {foo: [bar]}\n", "list_present", "{name: 'b:foo', value: bar}", false, true, "Value bar is already in grain b:foo", "{}", ""},
		{"list of several", "foo: [bar]\n", "list_present", "{name: foo, value: [bar, baz]}", false, true, "Append value ['bar', 'baz'] to grain foo", "{new: {foo: [bar, bar, baz]}}", "foo:\n- bar\n- bar\n- baz\n"},

		{"unlist", "foo: [bar]\n", "list_absent", "{name: foo, value: bar}", false, true, "Value bar was deleted from grain foo", "{deleted: [bar]}", "foo: []\n"},
		{"unlist nested", "foo: {list: [bar]}\n", "list_absent", "{name: 'foo:list', value: bar}", false, true, "Value bar was deleted from grain foo:list", "{deleted: [bar]}", "foo:\n  list: []\n"},
		{"unlist nothing", "a: aval\n", "list_absent", "{name: 'foo:list', value: baz}", false, true, "Grain foo:list does not exist", "{}", ""},
		{"unlist a value", "foo: bar\n", "list_absent", "{name: foo, value: bar}", false, false, "Grain foo is not a valid list", "{}", ""},
		{"unlist some", "foo: [bar]\n", "list_absent", "{name: foo, value: [baz, bar]}", false, true, "Value baz is absent from grain foo\nValue bar was deleted from grain foo", "{deleted: [bar]}", "foo: []\n"},
		{"test unlist", "foo: [bar]\n", "list_absent", "{name: foo, value: bar}", true, nil, "Value bar in grain foo is set to be deleted", "{deleted: [bar]}", ""},
	} {
		t.Run(tt.fun+" "+tt.name, func(t *testing.T) {
			t.Parallel()
			env, h := grainstest.NewEnv(t, tt.static, table...)
			mod, spec, ok := env.Table.Lookup(fun.State, "grains."+tt.fun)
			if !ok {
				t.Fatalf("no grains.%s", tt.fun)
			}
			c, err := env.Invoker.Bind(mod, spec, fun.Args{Kw: calltest.YAML(t, tt.args).(*value.Map)})
			if err != nil {
				t.Fatal(err)
			}
			c.Test = tt.test
			ret := spec.State(t.Context(), c)
			if ret.Changes == nil {
				ret.Changes = value.NewMap(0)
			}
			if ret.Result.Value() != tt.result || !value.Equal(ret.Comment, tt.comment) || !value.Equal(ret.Changes, calltest.YAML(t, tt.changes)) {
				t.Errorf("= %s, %q, %s\nwant %s, %q, %s", value.Repr(ret.Result.Value()), ret.Comment, value.Repr(ret.Changes), value.Repr(tt.result), tt.comment, tt.changes)
			}
			if tt.after == "" {
				if w := h.Writes(); len(w) > 0 {
					t.Errorf("wrote %v", w)
				}
				return
			}
			if got := h.Text(grainstest.File); got != tt.after {
				t.Errorf("the grains file has\n%s\nwant\n%s", got, tt.after)
			}
			c.Test = false
			h.Forget()
			if again := spec.State(t.Context(), c); again.Result != fun.OK && tt.fun != "present" || len(h.Writes()) > 0 {
				t.Errorf("a second time: %+v, wrote %v", again, h.Writes())
			}
		})
	}
}

// TestListPresentPending: what one state of a run asked for is not asked for
// again by the next (salt/states/grains.py list_present, pending_grains).
func TestListPresentPending(t *testing.T) {
	t.Parallel()
	env, h := grainstest.NewEnv(t, "foo: [x]\n", table...)
	mod, spec, _ := env.Table.Lookup(fun.State, "grains.list_present")
	for _, tt := range []struct{ vals, comment string }{
		{"[a, b]", "Append value ['a', 'b'] to grain foo"},
		{"[b, c]", "Append value ['c'] to grain foo"},
		{"[x, d]", "Append value ['x', 'd'] to grain foo"},
	} {
		c, err := env.Invoker.Bind(mod, spec, fun.Args{Kw: calltest.YAML(t, "{name: foo, value: "+tt.vals+"}").(*value.Map)})
		if err != nil {
			t.Fatal(err)
		}
		if ret := spec.State(t.Context(), c); ret.Comment != tt.comment {
			t.Errorf("%s: %v, want %s", tt.vals, ret.Comment, tt.comment)
		}
	}
	if got, want := h.Text(grainstest.File), "foo:\n- x\n- a\n- b\n- c\n- x\n- d\n"; got != want {
		t.Errorf("the grains file has\n%s\nwant\n%s", got, want)
	}
}
