package high_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/testkit/memtree"
	"brine/runner/high"
)

func render(t *testing.T, tree memtree.Tree, sls ...string) *high.High {
	t.Helper()
	return high.New(tree.Env(t), nil).Render(context.Background(), []high.Match{{SaltEnv: "base", SLS: sls}})
}

// ids returns "id env:sls order" of all states.
func ids(h *high.High) []string {
	var out []string
	for id, v := range h.Data.All() {
		body, ok := v.(*value.Map)
		if !ok {
			continue
		}
		out = append(out, fmt.Sprintf("%v %v:%v", id, body.At("__env__"), body.At("__sls__")))
	}
	return out
}

func TestInclude(t *testing.T) {
	for _, tt := range []struct {
		name, tree string
		sls        []string
		want       []string
	}{
		{"diamond", `
-- a.sls --
include: [b, c]
a: test.nop
-- b.sls --
include: [d]
b: test.nop
-- c.sls --
include: [d]
c: test.nop
-- d.sls --
d: test.nop
`, []string{"a"}, []string{"a base:a", "b base:b", "d base:d", "c base:c"}},
		{"relative", `
-- x/y/init.sls --
include: [.z, ..w, ...top]
-- x/y/z.sls --
include: [.v]
z: test.nop
-- x/y/v.sls --
v: test.nop
-- x/w.sls --
w: test.nop
-- top.sls --
top: test.nop
`, []string{"x.y"}, []string{"z base:x.y.z", "v base:x.y.v", "w base:x.w", "top base:top"}},
		{"glob", `
-- a.sls --
include: ['conf.*']
-- conf/one.sls --
one: test.nop
-- conf/two.sls --
two: test.nop
-- config.sls --
no: test.nop
`, []string{"a"}, []string{"one base:conf.one", "two base:conf.two"}},
		{"glob by the caller", `
-- web/a.sls --
a: test.nop
-- web/b.sls --
b: test.nop
`, []string{"web.[ab]"}, []string{"a base:web.a", "b base:web.b"}},
		{"other environment", `
-- a.sls --
include: [{dev: b}]
a: test.nop
-- dev:b.sls --
include: [c]
b: test.nop
-- dev:c.sls --
c: test.nop
-- c.sls --
wrong: test.nop
`, []string{"a"}, []string{"a base:a", "b dev:b", "c dev:c"}},
		{"any matched environment", `
-- a.sls --
include: [{_xenv: b}]
-- b.sls --
b: test.nop
`, []string{"a"}, []string{"b base:b"}},
		{"slashes", `
-- a/b.sls --
b: test.nop
`, []string{"a/b"}, []string{"b base:a/b"}},
		{"a dot alone is the directory's own file, and no way into a loop", `
-- a/init.sls --
include: [.sub]
a: test.nop
-- a/sub.sls --
include: ['.']
s: test.nop
`, []string{"a"}, []string{"a base:a", "s base:a.sub"}},
		{"file before init", `
-- a.sls --
one: test.nop
-- a/init.sls --
two: test.nop
`, []string{"a"}, []string{"one base:a"}},
		{"included again by the caller", `
-- a.sls --
include: [b]
-- b.sls --
b: test.nop
`, []string{"a", "b"}, []string{"b base:b"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := render(t, memtree.Parse(tt.tree), tt.sls...)
			if len(h.Faults) > 0 {
				t.Fatal(h.Faults)
			}
			if diff := cmp.Diff(tt.want, ids(h)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestIncludeFaults checks texts, places and the chain of includes. Salt's
// texts are those of salt/state.py render_state.
func TestIncludeFaults(t *testing.T) {
	for _, tt := range []struct{ name, tree, want string }{
		{"missing", `
-- s.sls --
include:
  - roles.front
-- roles/front.sls --
include:
  - web.ngnix
-- web/nginx.sls --
n: test.nop
`, `roles/front.sls:2:5: Specified SLS web.ngnix in saltenv base is not available on the salt master or through a configured fileserver
	included from s.sls:2:5
hint: did you mean "web.nginx"?`},
		{"too many dots", "-- s.sls --\ninclude: [...x]\n", "s.sls:1:11: Attempted relative include of '...x' within SLS 'base:s' goes beyond top level package"},
		{"no environment", "-- s.sls --\ninclude: [{dve: x}]\n-- dev:x.sls --\n", "s.sls:1:11: Nonexistent saltenv 'dve' found in include of 'x' within SLS 'base:s'\nhint: did you mean saltenv \"dev\"?"},
		{"not in the environment", "-- s.sls --\ninclude: [{dev: webb}]\n-- dev:web.sls --\n", "s.sls:1:11: Unknown include: Specified SLS dev: webb is not available on the salt master in saltenv(s): dev\nhint: did you mean \"web\"?"},
		{"in no matched environment", "-- s.sls --\ninclude: [{_xenv: other}]\n-- dev:x.sls --\n", "s.sls:1:11: Unknown include: Specified SLS _xenv: other is not available on the salt master in saltenv(s): base"},
		{"number", "-- s.sls --\ninclude: [5]\n", "s.sls:1:11: Badly formatted include 5 found in include in SLS 'base:s'\nhint: an include is the name of an SLS"},
		{"no such SLS", "-- web.sls --\n", "No matching sls found for 's' in env 'base'"},
		{"template in an included file", "-- s.sls --\ninclude: [t]\n-- t.sls --\na:\n  test.nop: [\n", `t.sls:3:1: ` + "did not find expected node content (while parsing a flow node)\n\tincluded from s.sls:1:11"},
		{"ID of an included file", "-- s.sls --\ninclude: [t]\nx: test.nop\n-- t.sls --\nx: test.nop\n", `t.sls:1:1: Detected conflicting IDs, SLS IDs need to be globally unique.
	included from s.sls:1:11
hint: it is also at s.sls:2:1`},
		{"dots in a file name", "-- s.sls --\ninclude: [a.b]\n-- a.b.sls --\nx: test.nop\n", "s.sls:1:11: Specified SLS a.b in saltenv base is not available on the salt master or through a configured fileserver\nhint: a file name with a dot cannot be an SLS: dots in \"a.b\" stand for directories"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := render(t, memtree.Parse(tt.tree), "s")
			if len(h.Faults) == 0 {
				t.Fatal("no fault")
			}
			if diff := cmp.Diff(tt.want, h.Faults[0].Trace()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if len(h.Faults) > 1 {
				t.Errorf("further faults: %v", h.Faults[1:])
			}
		})
	}
}

// TestConflicts has the order in which Salt meets IDs that occur twice: at each
// include, before the faults of the included file.
func TestConflicts(t *testing.T) {
	h := render(t, memtree.Parse(`
-- a.sls --
include: [b, c]
x: test.nop
-- b.sls --
include: [d]
x: test.nop
y: test.nop
-- c.sls --
y: test.nop
bad: 5
-- d.sls --
x: test.nop
-- e.sls --
y: test.nop
`), "a", "e")
	conflict := func(id, one, two string) string {
		return "Detected conflicting IDs, SLS IDs need to be globally unique.\n    The conflicting ID is '" + id + "' and is found in SLS '" + one + "' and SLS '" + two + "'"
	}
	want := []string{
		conflict("x", "base:a", "base:d"),
		conflict("x", "base:b", "base:d"),
		conflict("y", "base:b", "base:c"),
		"ID bad in SLS c is not a dictionary",
		conflict("y", "base:c", "base:e"),
	}
	var got []string
	for _, f := range h.Faults {
		got = append(got, f.SaltText())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Salt names the environment that is not there, and then each SLS of it.
// Salt: BaseHighState.render_highstate.
func TestNoEnvironment(t *testing.T) {
	h := high.New(memtree.Tree{"dev:a.sls": ""}.Env(t), nil).Render(context.Background(), []high.Match{{SaltEnv: "prod", SLS: []string{"a"}}})
	var got []string
	for _, f := range h.Faults {
		got = append(got, f.SaltText())
	}
	want := []string{"No matching salt environment for environment 'prod' found", "No matching sls found for 'a' in env 'prod'"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestAliases(t *testing.T) {
	// A list that two states share by an alias stays two lists.
	h := render(t, memtree.Tree{"s.sls": "a:\n  file.managed: &x\n    - mode: '1'\nb:\n  file.absent: *x\n"}, "s")
	if faults := append(h.Faults, h.Verify()...); len(faults) > 0 {
		t.Fatal(faults)
	}
	if got := len(h.Data.Map("b").List("file").Items); got != 3 {
		t.Errorf("%d arguments: %s", got, value.Repr(h.Data))
	}
	// States that are an alias of others have their order, as in Salt, and so
	// run in the order of their names.
	h = render(t, memtree.Tree{"s.sls": "z: &x {test.nop: [w: 1]}\na: *x\nb: test.nop\n"}, "s")
	want := "{'z': {'test': [{'w': 1}, 'nop', {'order': 10000}], '__sls__': 's', '__env__': 'base'}, " +
		"'a': {'test': [{'w': 1}, 'nop', {'order': 10000}], '__sls__': 's', '__env__': 'base'}, " +
		"'b': {'__sls__': 's', '__env__': 'base', 'test': ['nop', {'order': 10001}]}}"
	data, err := value.ParseJSON(string(value.EncodeJSON(h.Data)))
	if err != nil {
		t.Fatal(err)
	}
	if got := value.Repr(data); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAutoOrderOff(t *testing.T) {
	env := memtree.Tree{"s.sls": "a: test.nop\n"}.Env(t, "state_auto_order", false)
	h := high.New(env, nil).Render(context.Background(), []high.Match{{SaltEnv: "base", SLS: []string{"s"}}})
	if got := value.Str(h.Data.Map("a").At("test")); got != "['nop']" {
		t.Errorf("got %s", got)
	}
}

// TestTop has the strategies of merging top files, by the rules of Salt's
// documentation (top_file_merging_strategy).
func TestTop(t *testing.T) {
	tree := memtree.Parse(`
-- top.sls --
base:
  '*': [base_from_base]
dev:
  'minion*': [dev_from_base]
-- dev:top.sls --
base:
  '*': [base_from_dev]
dev:
  'minion*': [dev_from_dev]
qa:
  '*': [qa_from_dev]
-- qa:x.sls --
x: test.nop
`)
	for _, tt := range []struct {
		name string
		opts []value.Value
		tree memtree.Tree
		env  string
		file string
		want []string
	}{
		{"merge", nil, tree, "", "", []string{"base: base_from_base", "dev: dev_from_base"}},
		{"same", []value.Value{"top_file_merging_strategy", "same", "default_top", "dev"}, tree, "", "", []string{"base: base_from_base", "dev: dev_from_dev", "qa: qa_from_dev"}},
		{"same without default", []value.Value{"top_file_merging_strategy", "same"}, tree, "", "", nil},
		{"merge_all", []value.Value{"top_file_merging_strategy", "merge_all"}, tree, "", "", []string{"base: base_from_base base_from_dev", "dev: dev_from_base dev_from_dev", "qa: qa_from_dev"}},
		{"one saltenv", nil, tree, "dev", "", []string{"dev: dev_from_dev"}},
		{"state_top_saltenv", []value.Value{"state_top_saltenv", "dev"}, tree, "", "", []string{"dev: dev_from_dev"}},
		{"env_order", []value.Value{"env_order", value.NewList("dev", "base"), "top_file_merging_strategy", "merge_all"}, tree, "", "", []string{"base: base_from_dev base_from_base", "dev: dev_from_dev dev_from_base", "qa: qa_from_dev"}},
		{"state_top", []value.Value{"state_top", "salt://other.sls"}, memtree.Tree{"other.sls": "base: {'*': [x]}"}, "", "", []string{"base: x"}},
		{"given", nil, memtree.Tree{"tops/a.sls": "base: {'*': [x]}"}, "", "tops/a.sls", []string{"base: x"}},
		{"include", nil, memtree.Tree{"top.sls": "include: ['tops.*']\nbase: {'*': [x]}", "tops/a.sls": "base: {'minion1': [y]}"}, "", "", []string{"base: x y"}},
		{"other env in the list", nil, memtree.Tree{"top.sls": "base:\n  '*':\n    - x\n    - dev: y\n", "dev:y.sls": ""}, "", "", []string{"base: x", "dev: y"}},
		{"subfilter", nil, memtree.Tree{"top.sls": "base:\n  '*':\n    - x\n    - subfilter:\n        'minion1': [y]\n        'minion2': [z]\n"}, "", "", []string{"base: x y"}},
		{"match option", nil, memtree.Tree{"top.sls": "base:\n  'role:web':\n    - match: grain\n    - x\n  'mini.n\\d':\n    - match: pcre\n    - y\n  'E@minion\\d and G@role:web': [z]\n  nobody: [no]\n"}, "", "", []string{"base: x y z"}},
		{"unknown matcher", nil, memtree.Tree{"top.sls": "base:\n  '*':\n    - match: magic\n    - x\n"}, "", "", nil},
		{"empty", nil, memtree.Tree{"top.sls": "# nothing\n"}, "", "", nil},
		{"none", nil, memtree.Tree{}, "", "", nil},
		{"no targets in a list or text of nothing", nil, memtree.Tree{"top.sls": "base: []\ndev: ''\n"}, "", "", nil},
		{"nor in merge_all", []value.Value{"top_file_merging_strategy", "merge_all"}, memtree.Tree{"top.sls": "base: []\n", "dev:top.sls": "dev: {'*': [x]}"}, "", "", []string{"dev: x"}},
		{"twice in the list that joins", []value.Value{"top_file_merging_strategy", "merge_all"}, memtree.Tree{
			"top.sls": "base: {'*': [x, x]}\n", "dev:top.sls": "base: {'*': [y, x, y, {match: glob}]}\n",
		}, "", "", []string{"base: x x y y"}},
		{"a text that joins", []value.Value{"top_file_merging_strategy", "merge_all"}, memtree.Tree{
			"top.sls": "base: {'*': [x]}\n", "dev:top.sls": "base: {'*': ab}\n",
		}, "", "", []string{"base: x a b"}},
		{"broken", nil, memtree.Tree{"top.sls": "base: [\n"}, "", "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := high.New(tt.tree.Env(t, tt.opts...), nil)
			top, err := c.Top(context.Background(), high.TopRequest{SaltEnv: tt.env, File: tt.file})
			if err != nil {
				t.Fatal(err)
			}
			if faults := top.Verify(); len(faults) > 0 {
				t.Fatal(faults)
			}
			matches, err := c.Matches(context.Background(), top, tt.env)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range matches {
				got = append(got, m.SaltEnv+": "+strings.Join(m.SLS, " "))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if broken := tt.name == "broken" || tt.name == "same without default"; broken != (len(top.Faults) > 0) {
				t.Errorf("faults: %v", top.Faults)
			}
		})
	}
}

// TestTopNoTargets has what Salt finds no targets in.
func TestTopNoTargets(t *testing.T) {
	for _, tree := range []memtree.Tree{
		{"top.sls": "base: web\n"},
		{"top.sls": "base: [web]\n"},
		{"top.sls": "base:\n"},
		{"top.sls": "base: {'*': [x]}\n", "dev:top.sls": "base: {'*': }\n"},
	} {
		c := high.New(tree.Env(t, "top_file_merging_strategy", "merge_all"), nil)
		_, err := c.Top(context.Background(), high.TopRequest{})
		if f := source.Faults(err); len(f) != 1 || f[0].SaltText() != "Unable to render top file. No targets found." || !strings.Contains(f[0].Error(), "top.sls:1:") {
			t.Errorf("%v: %v", tree, err)
		}
	}
}

func TestTopFaults(t *testing.T) {
	for _, tt := range []struct{ name, top, want string }{
		{"text", "base:\n  '*': web\n", "top.sls:2:3: Malformed topfile (state declarations not formed as a list)\nhint: write '*': [web]"},
		{"empty matcher", "base:\n  '*':\n    - match:\n    - web\n", "top.sls:3:7: Improperly formatted top file matcher in saltenv OrderedDict([('match', None)]): None file"},
		{"empty name", "base:\n  '*': ['']\n", "top.sls:2:9: Environment base contains an empty sls index"},
	} {
		c := high.New(memtree.Tree{"top.sls": tt.top}.Env(t), nil)
		top, err := c.Top(context.Background(), high.TopRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if faults := top.Verify(); len(faults) != 1 || faults[0].Trace() != tt.want {
			t.Errorf("%s: got %v, want %s", tt.name, faults, tt.want)
		}
	}
	for _, tt := range []struct{ top, want string }{
		{"base:\n  '*':\n    - 1\n", "top.sls:3:7: Malformed topfile (1 is not the name of an SLS)\nhint: put quotes around it where an SLS has that name"},
		{"base:\n  '*': [web, no]\n", "top.sls:2:14: Malformed topfile (False is not the name of an SLS)\nhint: put quotes around it where an SLS has that name"},
		{"base:\n  '*': [web, null]\n", "top.sls:2:14: Malformed topfile (None is not the name of an SLS)\nhint: put quotes around it where an SLS has that name"},
		{"base:\n  nobody: [no]\n", ""}, // Salt looks at the lists of its own targets only
	} {
		c := high.New(memtree.Tree{"top.sls": tt.top}.Env(t), nil)
		top, err := c.Top(context.Background(), high.TopRequest{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if _, err := c.Matches(context.Background(), top, ""); err != nil {
			got = source.Faults(err)[0].Trace()
		}
		if got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.top, got, tt.want)
		}
	}
	c := high.New(memtree.Tree{"top.sls": "base: [x]\n"}.Env(t), nil)
	if _, err := c.Top(context.Background(), high.TopRequest{}); err == nil || err.Error() != "top.sls:1:1: Unable to render top file. No targets found." {
		t.Errorf("no targets: %v", err)
	}
}

func TestFromData(t *testing.T) {
	t.Parallel()
	list := value.NewList
	data := value.MapOf(
		"a", "test.nop",
		"b", value.MapOf("salt.state", list(value.MapOf("tgt", "x")), "__sls__", "s"),
		"c", value.MapOf("test", list("nop"), "test.fail", list()),
		"d", value.MapOf("test", list("nop")),
		"e", "text")
	before := value.Str(data)
	want := "{'a': {'test': ['nop']}, 'b': {'salt': [{'tgt': 'x'}, 'state'], '__sls__': 's'}, 'c': {'test': ['nop'], 'test.fail': []}, " +
		"'d': {'test': ['nop']}, 'e': 'text'}"
	if got := value.Str(high.FromData(data).Data); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if value.Str(data) != before {
		t.Errorf("the data was changed: %s", value.Str(data))
	}
}
