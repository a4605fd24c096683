package pillar_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/config"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/fleet/pillar"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
	"brine/internal/testkit/calltest"
	"brine/internal/testkit/pillartest"
	pillarmod "brine/modules/pillar"
	testmod "brine/modules/test"
)

// A run is a pillar with what it told its user.
type run struct {
	env      *fun.Env
	comp     *pillar.Compiler
	warnings []string
	faults   []string
}

// newRun returns the pillar of minion1 over pillar files by path below
// /srv/pillar, with opts set.
func newRun(t testing.TB, h host.Host, opts *value.Map, grains value.Mapping) *run {
	t.Helper()
	r := &run{}
	r.env, r.comp = pillartest.Env(t, h, opts, grains,
		fun.Entry{Kind: fun.Exec, Name: "test", Load: testmod.Module},
		fun.Entry{Kind: fun.Exec, Name: "pillar", Load: pillarmod.Module})
	r.env.OnWarn = func(w fun.Warning) { r.warnings = append(r.warnings, strings.TrimPrefix(w.Where+": "+w.Text, ": ")) }
	r.env.OnFault = func(f *source.Error) { r.faults = append(r.faults, f.Trace()) }
	return r
}

func fake(t testing.TB, files map[string]string, conf string) *run {
	t.Helper()
	h := host.NewFake()
	h.PutDir("/srv/pillar", 0o755)
	for p, text := range files {
		if !strings.HasPrefix(p, "/") {
			p = "/srv/pillar/" + p
		}
		h.PutFile(p, text, 0o644)
	}
	if !strings.Contains(conf, "pillar_roots") {
		conf += "\npillar_roots: {base: [/srv/pillar]}\n"
	}
	h.PutFile("/c/minion", "id: minion1\n"+conf, 0o644)
	c, err := config.Load(config.Options{Kind: config.Minion, Host: h, Dir: "/c"})
	if err != nil {
		t.Fatal(err)
	}
	return newRun(t, h, c.Opts, value.MapOf("id", "minion1", "role", "web", "saltversion", "3006.0"))
}

func (r *run) lazy() string { return calltest.Plain(value.ToMap(r.env.Pillar)) }

func TestRender(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files map[string]string
		conf  string
		want  string
	}{
		{"no top", nil, "", "{}"},
		{"empty top", map[string]string{"top.sls": ""}, "", "{}"},
		{"one", map[string]string{"top.sls": "base: {'*': [a]}", "a.sls": "x: 1\n"}, "", "{'x': 1}"},
		{
			"top includes",
			map[string]string{"top.sls": "{include: [nope, more], base: {'*': [a]}}", "more.sls": "{include: [most], base: {'m*': [b]}}", "most.sls": "base: {'mi*': [c]}", "a.sls": "a: 1", "b.sls": "b: 1", "c.sls": "c: 1"},
			"",
			"{'a': 1, 'b': 1}",
		},
		{
			"relative include is one of the root, too",
			map[string]string{"top.sls": "base: {'*': [w]}", "w/init.sls": "include: [.db]\nw: 1", "w/db.sls": "a: {w: 1}", "db.sls": "a: {db: 1}"},
			"",
			"{'a': {'db': 1, 'w': 1}, 'w': 1}",
		},
		{
			"an include of an include is overridden by the second sight of it",
			map[string]string{"top.sls": "base: {'*': [a]}", "a.sls": "include: [b]\nv: a\nw: a", "b.sls": "include: [c]\nv: b", "c.sls": "v: c\nw: c"},
			"pillar_includes_override_sls: true",
			"{'v': 'b', 'w': 'c'}",
		},
		{
			"two ext_pillars in one dict",
			map[string]string{"/t/hosts/minion1/f": "x", "/u/hosts/minion1/g": "x", "/s/stack.cfg": "a.yml", "/s/a.yml": "s: 1"},
			"ext_pillar: [{stack: /s/stack.cfg, file_tree: {root_dir: /t}}, {file_tree: {root_dir: /u}, odd: 1}, {cmd_yaml: x, stack: /s/stack.cfg}]\nexclude_ext_pillar: [cmd_yaml]",
			"{'f': 'x', 'g': 'x'}",
		},
		{"empty SLS", map[string]string{"top.sls": "base: {'*': [a, b]}", "a.sls": "", "b.sls": "# only\n"}, "", "{}"},
		{
			"merge",
			map[string]string{"top.sls": "base: {'*': [a, b]}", "a.sls": "d: {x: 1, y: {z: 1}}\nl: [1]\ns: a\n", "b.sls": "d: {y: {q: 2}}\nl: [2]\ns: b\n"},
			"",
			"{'d': {'x': 1, 'y': {'z': 1, 'q': 2}}, 'l': [2], 's': 'b'}",
		},
		{
			"merge lists",
			map[string]string{"top.sls": "base: {'*': [a, b]}", "a.sls": "l: [1, 2]\n", "b.sls": "l: [2, 3]\n"},
			"pillar_merge_lists: true",
			"{'l': [1, 2, 3]}",
		},
		{
			"overwrite",
			map[string]string{"top.sls": "base: {'*': [a, b]}", "a.sls": "d: {x: 1}\n", "b.sls": "d: {y: 2}\n"},
			"pillar_source_merging_strategy: overwrite",
			"{'d': {'y': 2}}",
		},
		{
			"recurse",
			map[string]string{"top.sls": "base: {'*': [a, b]}", "a.sls": "d: {x: 1}\n", "b.sls": "d: {y: 2}\n"},
			"pillar_source_merging_strategy: recurse",
			"{'d': {'x': 1, 'y': 2}}",
		},
		{
			"aggregate",
			map[string]string{"top.sls": "base: {'*': [a, b]}", "a.sls": "d: {x: 1}\nk: 1\n", "b.sls": "d: {y: 2}\n"},
			"pillar_source_merging_strategy: aggregate",
			"{'d': {'y': 2}, 'k': 1}",
		},
		{
			"order",
			map[string]string{"top.sls": "base:\n  '*': [{order: 2}, a]\n  'minion1': [{order: 1}, b]\n", "a.sls": "v: a", "b.sls": "v: b"},
			"",
			"{'v': 'a'}",
		},
		{
			"globs",
			map[string]string{"top.sls": "base: {'*': ['w.*']}", "w/a.sls": "a: 1", "w/b/init.sls": "b: 1", "x.sls": "x: 1"},
			"",
			"{'a': 1, 'b': 1}",
		},
		{
			"nodegroup",
			map[string]string{"top.sls": "base:\n  g:\n    - match: nodegroup\n    - a\n  h: [{match: nodegroup}, b]\n", "a.sls": "a: 1", "b.sls": "b: 1"},
			"nodegroups: {g: 'G@role:web', h: 'G@role:db'}",
			"{'a': 1}",
		},
		{
			"include glob",
			map[string]string{"top.sls": "base: {'*': [a]}", "a.sls": "include: ['w.*']\nown: 1", "w/a.sls": "a: 1", "w/b.sls": "b: 1"},
			"",
			"{'a': 1, 'b': 1, 'own': 1}",
		},
		{
			"include override",
			map[string]string{"top.sls": "base: {'*': [a]}", "a.sls": "include: [b]\nv: own\n", "b.sls": "v: included\n"},
			"pillar_includes_override_sls: true",
			"{'v': 'included'}",
		},
		{
			"include loop",
			map[string]string{"top.sls": "base: {'*': [a]}", "a.sls": "include: [b]\na: 1\n", "b.sls": "include: [a]\nb: 1\n"},
			"",
			"{'a': 1, 'b': 1}",
		},
		{
			"include relative",
			map[string]string{"top.sls": "base: {'*': [p, p.q]}", "p/init.sls": "include: [.one]\n", "p/one.sls": "one: 1", "p/q.sls": "include: [.two]", "p/two.sls": "two: 2"},
			"",
			"{'one': 1, 'two': 2}",
		},
		{
			"include with defaults",
			map[string]string{"top.sls": "base: {'*': [a]}", "a.sls": "include:\n  - b: {key: 'x:y', defaults: {v: 5}}\n", "b.sls": "w: {{ v }}\n"},
			"",
			"{'x': {'y': {'w': 5}}}",
		},
		{
			"environments",
			map[string]string{"/srv/dev/d.sls": "d: 1", "top.sls": "base: {'*': [a]}\ndev: {'*': [d]}\n", "a.sls": "a: 1"},
			"pillar_roots: {base: [/srv/pillar], dev: [/srv/dev]}\nx: 1",
			"{'a': 1, 'd': 1}",
		},
		{
			"pillarenv",
			map[string]string{"/srv/dev/top.sls": "dev: {'*': [d]}", "/srv/dev/d.sls": "d: 1", "top.sls": "base: {'*': [a]}\n", "a.sls": "a: 1"},
			"pillarenv: dev\npillar_roots: {base: [/srv/pillar], dev: [/srv/dev]}\n",
			"{'d': 1}",
		},
		{
			"__env__",
			map[string]string{"/srv/any/qa/top.sls": "qa: {'*': [d]}", "/srv/any/qa/d.sls": "d: {{ saltenv }}"},
			"pillarenv: qa\npillar_roots: {base: [/srv/pillar], __env__: [/srv/any/__env__]}\n",
			"{'d': 'qa'}",
		},
		{
			"ignore_missing",
			map[string]string{"top.sls": "base: {'*': [{ignore_missing: true}, a, nope]}", "a.sls": "a: 1"},
			"",
			"{'a': 1}",
		},
		{
			"top include",
			map[string]string{"top.sls": "include: [more]\nbase: {'*': [a]}", "more.sls": "base: {'minion1': [b]}", "a.sls": "a: 1", "b.sls": "b: 1"},
			"",
			"{'a': 1, 'b': 1}",
		},
		{
			"its own pillar is empty",
			map[string]string{"top.sls": "base: {'*': [a, b]}", "a.sls": "a: 1", "b.sls": "b: '{{ pillar.get('a', 'none') }}{{ salt['pillar.get']('a', 'none') }}'"},
			"",
			"{'a': 1, 'b': 'nonenone'}",
		},
		{
			"file_tree",
			map[string]string{"/t/hosts/minion1/d/f": "text\n", "/t/hosts/minion1/b": "\xff\x00", "/t/nodegroups/g/n": "group", "/t/hosts/other/x": "x"},
			"nodegroups: {g: 'minion*'}\next_pillar: [{file_tree: {root_dir: /t}}]",
			"{'n': 'group', 'b': b'\\xff\\x00', 'd': {'f': 'text'}}",
		},
		{
			"file_tree keeps newlines",
			map[string]string{"/t/hosts/minion1/d/f": "text\n", "/t/hosts/minion1/g": "text\n"},
			"ext_pillar: [{file_tree: {root_dir: /t, keep_newline: ['d/*']}}]",
			"{'d': {'f': 'text\\n'}, 'g': 'text'}",
		},
		{
			"file_tree templates",
			map[string]string{"/t/hosts/minion1/f": "{{ grains.role }}\n"},
			"ext_pillar: [{file_tree: {root_dir: /t, template: true, render_default: jinja}}]",
			"{'f': 'web'}",
		},
		{
			"ext_pillar_first",
			map[string]string{"/t/hosts/minion1/f": "ext", "top.sls": "base: {'f:ext': [{match: pillar}, a]}", "a.sls": "seen: {{ pillar.f }}\nf: sls"},
			"ext_pillar_first: true\next_pillar: [{file_tree: {root_dir: /t}}]",
			"{'f': 'sls', 'seen': 'ext'}",
		},
		{
			"stack",
			map[string]string{
				"/s/stack.cfg": "core.yml\n\nroles/{{ __grains__['role'] }}.yml\nnope/*.yml\nminions/*.yml\n",
				"/s/core.yml":  "users: {tom: {uid: 500, roles: [sysadmin]}, root: {uid: 0}}\nl: [a, b]\nm: {x: 1, y: 2}\n{{ missing }}",
				"/s/roles/web.yml": "users: {__: merge-first, tom: {uid: 1000, roles: [developer]}, mat: {uid: 1001}}\n" +
					"l: [{__: remove}, a]\nm: {__: remove, x: null}\nseen: {{ stack.l | length }}\n",
				"/s/minions/minion1.yml": "top: {{ minion_id }}\n" +
					"t: {{ __stack__['traverse'](stack, 'users:tom:uid') }} {{ __stack__.traverse(stack, 'no|e', 'dflt', delimiter='|') }} {{ __stack__.traverse(data=stack, key='l:0') }} {{ __stack__.traverse({}, 'x') }}",
			},
			"ext_pillar: [{stack: /s/stack.cfg}]",
			"{'users': {'tom': {'uid': 500, 'roles': ['developer', 'sysadmin']}, 'root': {'uid': 0}, 'mat': {'uid': 1001}}, 'l': ['b'], 'm': {'y': 2}, 'seen': 2, 'top': 'minion1', 't': '500 dflt b None'}",
		},
		{
			"stack by grain",
			map[string]string{"/s/web.cfg": "a.yml", "/s/a.yml": "a: 1"},
			"ext_pillar: [{stack: {'grains:role': {web: '/s/web.cfg:under', db: /s/db.cfg}}}]",
			"{'under': {'a': 1}}",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := fake(t, tt.files, tt.conf)
			if got := r.lazy(); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if len(r.faults) > 0 {
				t.Errorf("faults: %s", r.faults)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	const top = "base:\n  '*':\n    - good\n    - bad\n"
	for _, tt := range []struct {
		name   string
		files  map[string]string
		conf   string
		want   []string
		faults string
	}{
		{
			"missing",
			map[string]string{"top.sls": "base:\n  '*': [good, godd]\n", "good.sls": "x: 1"},
			"",
			[]string{"Specified SLS 'godd' in environment 'base' is not available on the salt master"},
			"/srv/pillar/top.sls:2:15: there is no pillar SLS \"godd\" in saltenv base (did you mean \"good\"?)",
		},
		{
			"safe",
			map[string]string{"top.sls": top, "good.sls": "x: 1", "bad.sls": "a: 1\nb: {{ nope.x }}\n"},
			"",
			[]string{"Rendering SLS 'bad' failed. Please see master log for details."},
			"/srv/pillar/bad.sls:2:7: 'nope' is undefined",
		},
		{
			"unsafe",
			map[string]string{"top.sls": top, "good.sls": "x: 1", "bad.sls": "a: {{ nope.x }}\n"},
			"pillar_safe_render_error: false",
			[]string{"Rendering SLS 'bad' failed, render error:\nJinja variable 'nope' is undefined; line 1\n\n---\na: {{ nope.x }}    <======================\n---"},
			"/srv/pillar/bad.sls:1:7: 'nope' is undefined",
		},
		{
			"no dict",
			map[string]string{"top.sls": top, "good.sls": "", "bad.sls": "- a\n"},
			"",
			[]string{"SLS 'bad' does not render to a dictionary"},
			"must render to a mapping, not to a list",
		},
		{
			"include is no list",
			map[string]string{"top.sls": top, "good.sls": "", "bad.sls": "x: 1\ninclude: good\n"},
			"",
			[]string{"Include Declaration in SLS 'bad' is not formed as a list"},
			"/srv/pillar/bad.sls:2:1: include must be a list, not text",
		},
		{
			"included error",
			map[string]string{"top.sls": top, "good.sls": "", "bad.sls": "include:\n  - worse\n", "worse.sls": "a: [\n"},
			"",
			[]string{"Rendering SLS 'worse' failed. Please see master log for details.", "Rendering SLS 'worse' failed. Please see master log for details."},
			"included from /srv/pillar/bad.sls:2:5",
		},
		{
			"included errors",
			map[string]string{"top.sls": top, "good.sls": "", "bad.sls": "include: [d/worse, .d.worse, no/pe, .nope, good]\n", "d/worse.sls": "a: [\n"},
			"",
			[]string{
				"Rendering SLS 'd.worse' failed. Please see master log for details.",
				"Rendering SLS 'd.worse' failed. Please see master log for details.",
				"Rendering SLS 'd.worse' failed. Please see master log for details.",
				"Specified SLS 'no/pe' in environment 'base' is not available on the salt master",
				"Specified SLS 'nope' in environment 'base' is not available on the salt master",
				"Specified SLS 'nope' in environment 'base' is not available on the salt master",
				"Specified SLS 'nope' in environment 'base' is not available on the salt master",
			},
			"/srv/pillar/bad.sls:1:30: there is no pillar SLS \"no/pe\"",
		},
		{
			"saltenv without roots",
			map[string]string{"top.sls": "dev: {'*': [a, b]}\n", "a.sls": "a: 1"},
			"",
			[]string{"No matching pillar environment for environment 'dev' found", "No matching pillar environment for environment 'dev' found"},
			"/srv/pillar/top.sls:1:16: pillar SLS \"b\": there is no saltenv \"dev\" in pillar_roots",
		},
		{
			"top",
			map[string]string{"top.sls": "base: {{ x.y }}\n"},
			"",
			[]string{"Rendering Primary Top file failed, render error:\nJinja variable 'x' is undefined; line 1\n\n---\nbase: {{ x.y }}    <======================\n---"},
			"/srv/pillar/top.sls:1:10",
		},
		{
			"top is no dict",
			map[string]string{"top.sls": "base:\n  '*':\n"},
			"",
			[]string{"Error encountered while rendering pillar top file."},
			"/srv/pillar/top.sls:2:3: target \"*\" of the top file must have a list",
		},
		{
			"text is read letter by letter",
			map[string]string{"top.sls": "base:\n  '*': ab\n  'no*': zz\n", "a.sls": "a: 1"},
			"",
			[]string{"Specified SLS 'b' in environment 'base' is not available on the salt master"},
			"there is no pillar SLS \"b\" in saltenv base",
		},
		{"saltenv of nothing", map[string]string{"top.sls": "base: []\n"}, "", []string{}, ""},
		{
			"saltenv of a list",
			map[string]string{"top.sls": "base: [a]\n"},
			"",
			[]string{"Error encountered while rendering pillar top file."},
			"saltenv \"base\" of the top file must be a mapping of targets, not a list",
		},
		{
			"include of the directory's own file",
			map[string]string{"top.sls": "base: {'*': [a, b]}", "a/init.sls": "include: [.sub]\na: 1\n", "a/sub.sls": "include: ['.']\n", "b.sls": "- x"},
			"",
			[]string{"SLS 'b' does not render to a dictionary"},
			"",
		},
		{"ext_pillar", nil, "ext_pillar: {a: b}", []string{`The "ext_pillar" option is malformed`}, "must be a list, not a mapping"},
		{"stack", nil, "ext_pillar: [{stack: {'garins:x': {}}}]", []string{`Failed to load ext_pillar stack: Unknown traverse option "garins", should be one of [pillar, grains, opts] (did you mean "grains"?)`}, ""},
		{
			"stack with a slip",
			map[string]string{"/s/stack.cfg": "a.yml", "/s/a.yml": "a: {{ __stack__.traverse({}, 'x', defualt=1) }}"},
			"ext_pillar: [{stack: /s/stack.cfg}]",
			[]string{"Failed to load ext_pillar stack: Jinja error: traverse_dict_and_list() got an unexpected keyword argument 'defualt'\n; line 1\n\n---\na: {{ __stack__.traverse({}, 'x', defualt=1) }}    <======================\n---"},
			"traverse_dict_and_list() got an unexpected keyword argument 'defualt'",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := fake(t, tt.files, tt.conf)
			if d := cmp.Diff(tt.want, faults(r.env.Pillar)); d != "" {
				t.Errorf("_errors (-want +got):\n%s", d)
			}
			if got := strings.Join(r.faults, "\n"); !strings.Contains(got, tt.faults) {
				t.Errorf("faults:\n%s\nwant %q", got, tt.faults)
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	for _, tt := range []struct{ name, conf, want string }{
		{"strategy", "pillar_source_merging_strategy: recures", `(did you mean "recurse"?)`},
		{"ext", "ext_pillar: [{cobbler: x}]", `ext_pillar "cobbler" is not in brine`},
		{"matcher", "", `target "x" of the pillar top file matches nothing`},
		{"text", "", `the SLS files of target "*" are text, which is read letter by letter; write a list: [a]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := fake(t, map[string]string{"top.sls": "base: {x: [{match: gorb}, a], '*': a}"}, tt.conf)
			r.lazy()
			if got := strings.Join(r.warnings, "\n"); !strings.Contains(got, tt.want) {
				t.Errorf("warnings %q, want %q", got, tt.want)
			}
		})
	}
}

func TestOverride(t *testing.T) {
	r := fake(t, map[string]string{"top.sls": "base: {'*': [a]}", "a.sls": "a: {old: 1}\nl: [1]\nsee: {{ pillar.get('a', {}).get('old', 'none') }}\n"}, "")
	r.env.PillarOverride = value.MapOf("a", value.MapOf("new", int64(1)), "l", value.NewList(int64(9)))
	if got, want := r.lazy(), "{'a': {'new': 1, 'old': 1}, 'l': [9], 'see': 'none'}"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	// Anew, as pillar.items: the files see the pillar of the run.
	m, err := r.comp.Render(t.Context(), fun.PillarRequest{})
	if got, want := calltest.Plain(m), "{'a': {'new': 1, 'old': 1}, 'l': [1], 'see': 1}"; err != nil || got != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
}

// Without a master the pillar in effect stays below the one that is rendered.
//
// Salt: ssh_merge_pillar in salt/config DEFAULT_MINION_OPTS, salt/pillar/__init__.py compile_pillar.
func TestMergesPillarInEffect(t *testing.T) {
	files := map[string]string{
		"top.sls": "base: {'*': [a]}", "a.sls": "{who: base, only: 1, l: [1, 2]}",
		"/srv/dev/top.sls": "dev: {'*': [a]}", "/srv/dev/a.sls": "{who: dev, l: [3]}",
	}
	const roots = "pillar_roots: {base: [/srv/pillar], dev: [/srv/dev]}\n"
	for _, tt := range []struct {
		name, conf string
		req        fun.PillarRequest
		want       string
	}{
		{"other environment", "pillarenv: base", fun.PillarRequest{PillarEnv: "dev"}, "{'who': 'dev', 'only': 1, 'l': [3]}"},
		{"off", "pillarenv: base\nssh_merge_pillar: false", fun.PillarRequest{PillarEnv: "dev"}, "{'who': 'dev', 'l': [3]}"},
		{"lists", "pillarenv: base\npillar_merge_lists: true", fun.PillarRequest{Override: value.MapOf("l", value.NewList(int64(9)))}, "{'who': 'base', 'only': 1, 'l': [1, 2, 9]}"},
		{
			"that of a state run", "pillarenv: base",
			fun.PillarRequest{Override: value.MapOf("new", true), Base: value.MapOf("outer", int64(1), "who", "outer")},
			"{'outer': 1, 'who': 'base', 'new': True, 'only': 1, 'l': [1, 2]}",
		},
	} {
		r := fake(t, files, roots+tt.conf)
		m, err := r.comp.Render(t.Context(), tt.req)
		if got := calltest.Plain(m); err != nil || got != tt.want {
			t.Errorf("%s: got  %s, %v\nwant %s", tt.name, got, err, tt.want)
		}
	}
}

// Salt: salt/pillar/cmd_yamlex.py, whose parser is that of the renderer yamlex.
func TestYamlexCommand(t *testing.T) {
	const text = "l: !aggregate [1]\nl: !aggregate [2]\n"
	h := host.NewFake()
	h.PutFile("/c/minion", "id: minion1\npillar_roots: {base: []}\next_pillar: [{cmd_yamlex: a}, {cmd_yaml: b}]\n", 0o644)
	h.OnCommand("/bin/sh -c a", host.Output{Stdout: []byte(text)})
	h.OnCommand("/bin/sh -c b", host.Output{Stdout: []byte("x: 1")})
	c, err := config.Load(config.Options{Kind: config.Minion, Host: h, Dir: "/c"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := newRun(t, h, c.Opts, value.NewMap(0)).lazy(), "{'l': [1, 2], 'x': 1}"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestPillarOpts(t *testing.T) {
	r := fake(t, nil, "pillar_opts: true\nmine: 7\n")
	m, _ := r.env.Pillar.Get("master")
	if master, _ := m.(*value.Map); master.At("mine") != int64(7) || master.Has("grains") || master.Str("saltversion") != "3006.0" {
		t.Errorf("master = %s", value.Repr(m))
	}
}

func TestOnDemand(t *testing.T) {
	r := fake(t, map[string]string{"/t/hosts/minion1/f": "x"}, "on_demand_ext_pillar: [file_tree]")
	m, err := r.comp.Render(t.Context(), fun.PillarRequest{Ext: value.MapOf("file_tree", value.MapOf("root_dir", "/t"))})
	if err != nil || value.Repr(m) != "{'f': 'x'}" {
		t.Errorf("got %s, %v", value.Repr(m), err)
	}
	// As in Salt, what is not allowed is passed over.
	m, err = r.comp.Render(t.Context(), fun.PillarRequest{Ext: value.MapOf("cmd_yaml", "echo a: 1")})
	if err != nil || value.Repr(m) != "{}" || len(r.warnings) != 1 || !strings.Contains(r.warnings[0], "ext_pillar cmd_yaml is not allowed on demand") {
		t.Errorf("what is not allowed: %s, %v, warnings %q", value.Repr(m), err, r.warnings)
	}
}

func TestCancelled(t *testing.T) {
	r := fake(t, map[string]string{"top.sls": "base: {'*': [a]}", "a.sls": "a: 1"}, "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.comp.Render(ctx, fun.PillarRequest{}); err == nil {
		t.Error("no error after the end of the context")
	}
}

// TestRecordings renders the pillars of the recordings and compares with what
// real Salt gave for pillar.items.
func TestRecordings(t *testing.T) {
	cases, err := filepath.Glob("../../../testdata/conformance/pil-*")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no recordings (%v)", err)
	}
	h := host.NewLocal()
	for _, dir := range cases {
		head, err := os.ReadFile(filepath.Join(dir, "case.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		v, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: "case.yaml"}, head)
		if err != nil {
			t.Fatal(err)
		}
		c := v.(*value.Map)
		if argv := c.List("argv"); c.Str("program") != "salt-call --local" || argv.Len() != 1 || argv.Items[0] != "pillar.items" {
			continue
		}
		t.Run(filepath.Base(dir), func(t *testing.T) {
			tree, err := filepath.Abs(filepath.Join(dir, "tree"))
			if err != nil {
				t.Fatal(err)
			}
			opts, grains := pillartest.Config(t, h, tree, "")
			r := newRun(t, h, opts, grains)
			m, err := r.comp.Render(t.Context(), fun.PillarRequest{})
			if err != nil {
				t.Fatal(err)
			}
			var got, want any
			if err := json.Unmarshal(value.EncodeJSON(value.MapOf("local", m)), &got); err != nil {
				t.Fatal(err)
			}
			raw, err := os.ReadFile(filepath.Join(dir, "expected.json"))
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(raw, &want); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// BenchmarkRender is what a controller pays for each target.
func BenchmarkRender(b *testing.B) {
	files := map[string]string{"top.sls": "base:\n  '*': [a, b, c]\n  'G@role:web': [d]\n"}
	for _, n := range []string{"a", "b", "c", "d"} {
		files[n+".sls"] = "{% set x = grains.role %}\n" + n + ": {role: {{ x }}, list: [1, 2, 3]}\ncommon: {" + n + ": 1}\n"
	}
	r := fake(b, files, "")
	for b.Loop() {
		if _, err := r.comp.Render(b.Context(), fun.PillarRequest{}); err != nil {
			b.Fatal(err)
		}
	}
}

// faults is what a pillar says went wrong.
func faults(p value.Mapping) []string {
	if p == nil {
		return nil
	}
	v, _ := p.Get(pillar.ErrorsKey)
	l, _ := v.(*value.List)
	out := make([]string, l.Len())
	for i := range out {
		out[i] = value.Str(l.Items[i])
	}
	return out
}
