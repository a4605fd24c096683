package lint_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"brine/cmd/assembly"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit"
	"brine/internal/view/lint"
)

// write makes a tree and returns its options.
func write(t testing.TB, files map[string]string) (dir string, o lint.Options) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir, lint.Options{
		Table: assembly.Table(), Disk: host.NewLocal(),
		Opts: value.MapOf("renderer", "jinja|yaml", "state_top", "top.sls", "cachedir", "/var/cache/salt", "file_roots", value.MapOf("base", value.NewList(dir+"/salt")),
			"pillar_roots", value.MapOf("base", value.NewList(dir+"/pillar"))),
	}
}

// found runs lint and returns what it finds as "file:line:col rule".
func found(t *testing.T, dir string, o lint.Options) []string {
	t.Helper()
	r, err := lint.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range r.Findings {
		f.Pos.File = strings.TrimPrefix(f.Pos.File, dir+"/")
		out = append(out, f.Pos.String()+" "+f.Rule)
	}
	return out
}

// TestRules: each rule finds its fault, at its place, and nothing else is found.
func TestRules(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rule  string
		files map[string]string
		want  []string
	}{
		{"bad-reaction", map[string]string{
			"salt/a.sls": "x:\n  locl.test.ping:\n    - tgt: {{ data.id }}\ny:\n  local.test.pign:\n    - tgt: {{ data.id }}\n    - timeout: {{ data.t }}\nz:\n  caller.test.pign:\n    - args: [{text: {{ tag }}}]\n",
			"salt/b.sls": "x:\n  test.nop:\n    - text: {{ data.id }}\n", "salt/t.sls": "x:\n  reg.list:\n    - add: id\n",
			"salt/args.sls": "send:\n  runner.event.send:\n    - args: [{data: {n: {{ data.n }}}}]\norch:\n  runner.state.orchestrate:\n    - args: [{mod: x}]\ntype:\n  local.test.ping: [{tgt: {{ data.id }}}, {tgt_type: globs}]\n" +
				"right:\n  runner.event.send:\n    - args: [{tag: {{ data.next }}}, {data: {{ data.all }}}]\n",
		}, []string{"salt/a.sls:1:1 bad-reaction", "salt/a.sls:4:1 not-judged", "salt/a.sls:8:1 unknown-function", "salt/args.sls:1:1 bad-reaction", "salt/args.sls:4:1 bad-reaction", "salt/args.sls:7:1 bad-reaction", "salt/b.sls:3:16 undefined-variable", "salt/t.sls:1:1 not-judged"}},
		{"compile-warning", map[string]string{"salt/a.sls": "a:\n  test.nop:\n    - require_in: b\n"}, []string{"salt/a.sls:3:7 compile-warning"}},
		{"dangerous-path", map[string]string{"salt/a.sls": "a:\n  file.absent:\n    - name: /etc\nb:\n  cmd.run:\n    - name: rm -rf /{{ pillar.get('x', '') }}\n"}, []string{
			"salt/a.sls:3:7 dangerous-path", "salt/a.sls:6:7 dangerous-path",
		}},
		{"deprecated", map[string]string{"salt/a.sls": "a:\n  cmd.wait:\n    - name: 'true'\n"}, []string{"salt/a.sls:1:1 deprecated"}},
		{"duplicate-id", map[string]string{"salt/a.sls": "include:\n  - b\na:\n  test.nop: []\n", "salt/b.sls": "a:\n  test.nop: []\n"}, []string{"salt/b.sls:1:1 duplicate-id"}},
		{"duplicate-key", map[string]string{"salt/a.sls": "a:\n  test.nop: []\na:\n  cmd.run: []\n"}, []string{"salt/a.sls:3:1 duplicate-key"}},
		{"empty-path", map[string]string{"salt/a.sls": "a:\n  file.touch:\n    - name: /srv/{{ '' }}/x\n"}, []string{"salt/a.sls:3:7 empty-path"}},
		{"missing-argument", map[string]string{"salt/a.sls": "/tmp/x:\n  file.symlink: []\n"}, []string{"salt/a.sls:1:1 missing-argument"}},
		{"missing-file", map[string]string{"salt/a.sls": "/tmp/x:\n  file.managed:\n    - source: salt://b/c.txt\n", "salt/b/d.txt": ""}, []string{"salt/a.sls:3:7 missing-file"}},
		{"missing-include", map[string]string{
			"salt/a.sls": "include:\n  - nope\n", "salt/top.sls": "base:\n  '*':\n    - gone\n", "pillar/top.sls": "base:\n  '*':\n    - none\n",
		}, []string{"pillar/top.sls:3:7 missing-include", "salt/a.sls:2:5 missing-include", "salt/top.sls:3:7 missing-include"}},
		{"missing-requisite", map[string]string{"salt/a.sls": "a:\n  test.nop:\n    - require:\n      - test: b\n", "salt/b.sls": "b:\n  test.nop:\n    - require_in:\n      - test: c\n"}, []string{"salt/a.sls:4:9 missing-requisite", "salt/b.sls:4:9 missing-requisite"}},
		{"not-in-brine", map[string]string{"salt/a.sls": "a:\n  test.nop:\n    - name: {{ salt['consul.get']('x') }}\n"}, []string{"salt/a.sls:3:22 not-in-brine"}},
		{"not-judged", map[string]string{
			"salt/a.sls": "{% for i in range(grains.n) %}\na:\n  pkg.instaled: []\n{% endfor %}\n", "salt/b.sls": "#!py\n\ndef run():\n  return {}\n",
			"salt/c.sls": "c:\n  test.nop:\n    - require:\n      - test: {{ grains.x }}\n      - test: d\n{{ grains.x }}:\n  test.nop: []\n",
			"salt/e.sls": "e:\n  {{ grains.x }}: []\n", "pillar/p.sls": "#!py\n\ndef run():\n  return {}\n",
		}, []string{"pillar/p.sls:1:1 not-judged", "salt/a.sls:1:13 not-judged", "salt/b.sls:1:1 not-judged", "salt/c.sls:5:9 not-judged", "salt/e.sls:1:1 not-judged"}},
		{"pillar-colon", map[string]string{"salt/a.sls": "a:\n  test.nop:\n    - name: '{{ pillar.get('a:b') }}'\n"}, []string{"salt/a.sls:3:29 pillar-colon"}},
		{"render-error", map[string]string{"salt/a.sls": "{% if %}\n"}, []string{"salt/a.sls:1:7 render-error"}},
		{"requisite-cycle", map[string]string{"salt/a.sls": "a:\n  test.nop:\n    - require:\n      - test: b\nb:\n  test.nop:\n    - require:\n      - test: a\n"}, []string{"salt/a.sls:8:9 requisite-cycle"}},
		{"secret", map[string]string{"salt/a.sls": "a:\n  test.nop: []\n", "pillar/a.sls": "a:\n  password: hunter22\n  other_token: '{{ 1 }}'\n"}, []string{"pillar/a.sls:2:13 secret"}},
		{"starlark", map[string]string{
			"salt/_modules/shop.star": "def price(x):\n    \"\"\"The price.\"\"\"\n    return x\ndef _own(): pass\n", "salt/_modules/bad.star": "def f(:\n  pass\n",
			"salt/_states/shop.star": "def open(name):\n    return {'é': pirce(name)}\n", "salt/_modules/test.star": "def more(): pass\n",
			"salt/_modules/loose.star": "f = make  # brine: ignore starlark\n", "salt/lib/x.star": "def g(): return nope\n",
			"salt/a.sls": "a:\n  shop.open:\n    - name: {{ salt['shop.price'](1) }}{{ salt['bad.f']() }}{{ salt['loose.x']() }}{{ salt['test.echo']('x') }}\n",
		}, []string{"salt/_modules/bad.star:1:8 starlark", "salt/_states/shop.star:2:18 starlark", "salt/lib/x.star:1:17 starlark"}},
		{"unknown-function of Starlark", map[string]string{
			"salt/_modules/shop.star": "def price(x): return x\n", "salt/_states/shop.star": "def open(name): return {}\n",
			"salt/a.sls": "a:\n  test.nop:\n    - name: {{ salt['shop.pirce'](1) }}\n", "salt/b.sls": "b:\n  shop.opened: []\n",
		}, []string{"salt/a.sls:3:22 unknown-function", "salt/b.sls:1:1 unknown-state"}},
		{"structure", map[string]string{"salt/a.sls": "a: 1\n"}, []string{"salt/a.sls:1:1 structure"}},
		{"tab", map[string]string{"salt/a.sls": "a: # \tx\n  test.nop: []\n"}, []string{"salt/a.sls:1:6 tab"}},
		{"trailing-space", map[string]string{"salt/a.sls": "a:  \n  test.nop: []\n"}, []string{"salt/a.sls:1:3 trailing-space"}},
		{"undefined-variable", map[string]string{"salt/a.sls": "{{ nope }}\n"}, []string{"salt/a.sls:1:4 undefined-variable"}},
		{"unknown-argument", map[string]string{"salt/a.sls": "/tmp/x:\n  file.managed:\n    - contens: x\n/tmp/y:\n  cron.present:\n    - zzz: 1\n/tmp/z:\n  test.nop:\n    - requires: [{file: /tmp/x}]\n"}, []string{"salt/a.sls:3:7 unknown-argument", "salt/a.sls:6:7 unknown-argument", "salt/a.sls:9:7 unknown-argument"}},
		{"unknown-function", map[string]string{"salt/a.sls": "a:\n  test.nop:\n    - name: {{ salt['test.ecoh']('x') }}\nb:\n  module.run:\n    - test.pong: []\n"}, []string{"salt/a.sls:3:22 unknown-function"}},
		{"unknown-rule", map[string]string{"salt/a.sls": "a:  # brine: ignore secrt\n  test.nop: []\n"}, []string{"salt/a.sls:1:21 unknown-rule"}},
		{"unknown-state", map[string]string{"salt/a.sls": "a:\n  file.manged: []\n"}, []string{"salt/a.sls:1:1 unknown-state"}},
		{"unused-import", map[string]string{"salt/m.jinja": "{% set a = 1 %}{% set b = 2 %}", "salt/a.sls": "{% from 'm.jinja' import a, b %}\na:\n  test.nop:\n    - name: {{ a }}x\n"}, []string{"salt/a.sls:1:29 unused-import"}},
		{"unused-include", map[string]string{"salt/a.sls": "include:\n  - b\n  - b\n  - c\n", "salt/b.sls": "b:\n  test.nop: []\n", "salt/c.sls": ""}, []string{
			"salt/a.sls:3:5 unused-include", "salt/a.sls:4:5 unused-include",
		}},
		{"unused-pillar", map[string]string{"salt/a.sls": "a:\n  test.nop: []\n", "pillar/p.sls": "leftover: 1\n"}, []string{"pillar/p.sls:1:1 unused-pillar"}},
		{"yaml-boolean", map[string]string{"salt/a.sls": "a:\n  test.nop:\n    - names:\n      - one\n      - no\n"}, []string{"salt/a.sls:5:9 yaml-boolean"}},
		{"yaml-octal", map[string]string{"salt/a.sls": "/tmp/x:\n  file.managed:\n    - mode: 0644\n"}, []string{"salt/a.sls:3:13 yaml-octal"}},
		{"yaml-tab", map[string]string{"salt/a.sls": "a:\n\ttest.nop: []\n"}, []string{"salt/a.sls:2:1 yaml-tab"}},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			dir, o := write(t, tt.files)
			if tt.rule == "tab" || tt.rule == "trailing-space" {
				o.Config.Select = []string{tt.rule}
			}
			if got := found(t, dir, o); !slices.Equal(got, tt.want) {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
	if !slices.IsSortedFunc(lint.Rules(), func(a, b lint.Rule) int { return strings.Compare(a.ID, b.ID) }) {
		t.Error("the rules are not sorted")
	}
}

// TestExamples: of each rule, every bad example has it and nothing else, once, and no
// good one has a finding.
func TestExamples(t *testing.T) {
	t.Parallel()
	for _, rule := range lint.Rules() {
		e := lint.TreesOf(rule.ID)
		if len(e.Bad()) == 0 || len(e.Good()) == 0 {
			t.Errorf("the rule %s lacks examples", rule.ID)
		}
		for n, tree := range append(e.Bad(), e.Good()...) {
			bad := n < len(e.Bad())
			t.Run(fmt.Sprintf("%s_%t_%d", rule.ID, bad, n), func(t *testing.T) {
				t.Parallel()
				dir, o := write(t, tree)
				if rule.Off {
					o.Config.Select, o.Config.Only = []string{rule.ID}, true
				}
				o.Systems = lint.Systems()[2:4]
				got := found(t, dir, o)
				switch {
				case bad && (len(got) != 1 || !strings.HasSuffix(got[0], " "+rule.ID)):
					t.Errorf("found %q, want one %s in\n%s", got, rule.ID, tree)
				case !bad && len(got) > 0:
					t.Errorf("found %q, want nothing in\n%s", got, tree)
				}
			})
		}
	}
}

// TestUnknown: no function that looks at a machine is called, and what depends on
// one is not judged.
func TestUnknown(t *testing.T) {
	t.Parallel()
	canary := filepath.Join(t.TempDir(), "canary")
	dir, o := write(t, map[string]string{
		"salt/a.sls": fmt.Sprintf(`
{%% set out = salt['cmd.run']('touch %s') %%}
{%% set disks = salt['disk.usage']() %%}
{%% do salt['file.touch']('%s') %%}
{{ out }}:
  test.nop:
    - name: {{ out.split('\n')[0] | upper }} {{ disks['/'].used }} {{ out | int + 3 }}
    - require:
      - test: {{ salt['cmd.run']('hostname') }}
      - sls: elsewhere
{%% for d in disks %%}
{{ d }}:
  nope.nope: []
{%% endfor %%}
{%% if out > 5 %%}{%% endif %%}
/x/{{ out }}//y:
  file.absent: []
`, canary, canary),
		"salt/b.sls":                 "{% set role = grains['role'] %}\nb:\n  test.nop:\n    - name: {{ role.nested }}\n",
		"salt/py.sls":                "#!py\ndef run():\n    open('" + canary + "', 'w')\n    return {}\n",
		"salt/c.sls":                 "{% if 'custom.fn' in salt %}{% do salt['custom.fn']() %}{% endif %}\nc:\n  mine.present:\n    - a: {{ salt['ours.thing'](1) }}\n    - b: {{ salt['virt.x']() }}\n",
		"salt/_states/mine.py":       "def present(name, a): pass\n",
		"salt/_modules/ours.py":      "def thing(x): pass\n",
		"salt/_modules/virt_impl.py": "__virtualname__ = 'virt'\n",
		"salt/reactor/r.sls":         "r:\n  local.state.apply:\n    - tgt: {{ data['id'] }}\n",
		"salt/d.sls":                 "d:\n  test.nop:\n    - require:\n      - test: e\n",
		"salt/orch/o.sls":            "o:\n  salt.state:\n    - tgt: '*'\n    - sls: given\n    - pillar:\n        flags: {a: 1}\n",
		"salt/given.sls":             "g:\n  test.nop:\n    - name: {{ pillar.flags.a }}\n",
		"pillar/p.sls":               "include:\n  - q:\n      defaults:\n        flavour: x\n",
		"pillar/q.sls":               "given: {{ flavour }}\n",
		"salt/at.sls":                "{% set x = '@' %}\nat:\n  test.nop: []\n",
		"salt/e.sls":                 "e:\n  test.nop: []\n",
		"salt/top.sls":               "base:\n  '*':\n    - d\n    - e\n    - w\n",
		"salt/w.sls":                 "w:\n  test.nop:\n    - watch_in:\n      - test: e\n    - require_in:\n      - e\n",
	})
	want := []string{"salt/a.sls:10:9 not-judged", "salt/a.sls:12:1 unknown-state", "salt/py.sls:1:1 not-judged"}
	if got := found(t, dir, o); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	if _, err := os.Stat(canary); err == nil {
		t.Error("a template acted on this machine")
	}
}

// TestUnknownList: the items of a list that a loop over an unknown value makes are not known:
// that the list is empty without them is no error. What is wrong in any world is one.
func TestUnknownList(t *testing.T) {
	t.Parallel()
	dir, o := write(t, map[string]string{
		"salt/a.sls": `{% set names = pillar['names'] %}
a:
  cmd.run:
    - name: ls
    - onchanges:
{%- for name in names %}
      - file: f_{{ name }}
{%- endfor %}
{% for name in names %}
f_{{ name }}:
  file.managed:
    - name: /x/{{ name }}
    - contents: x
{% endfor %}
b:
  cmd.run:
    - name: ls
    - onchanges:
    - runas: x
`,
	})
	if got, want := found(t, dir, o), []string{"salt/a.sls:5:7 not-judged", "salt/a.sls:18:7 structure"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// TestIgnore: comments silence rules on their line, the next line or in the file.
func TestIgnore(t *testing.T) {
	t.Parallel()
	dir, o := write(t, map[string]string{
		"salt/a.sls": "# brine: ignore unknown-state\na:\n  file.manged: []\nb:  # brine: ignore unknown-state, secret\n  file.manged: []\n{# brine: ignore unknown-state #}\nc:\n  file.manged: []\nd:\n  file.manged: []\n",
		"salt/b.sls": "x:\n  file.manged: []\n# brine: ignore-file unknown-state\n",
	})
	if got, want := found(t, dir, o), []string{"salt/a.sls:9:1 unknown-state"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// TestSystems: what some systems only have is said so.
func TestSystems(t *testing.T) {
	t.Parallel()
	_, o := write(t, map[string]string{
		"salt/a.sls": "{% set p = {'Debian': {'n': 'x'}}.get(grains['os_family']) %}\na:\n  test.nop:\n    - name: {{ p.n }}\n",
		"salt/b.sls": "b:\n  {% if grains['os_family'] == 'RedHat' %}\n  pkg.instaled: []\n  {% else %}\n  pkg.installed: []\n  {% endif %}\n",
	})
	r, err := lint.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range r.Findings {
		got = append(got, fmt.Sprint(f.Rule, " ", f.Severity, " ", f.Systems))
	}
	want := []string{"undefined-variable warning [alpine arch rhel suse]", "unknown-state error [rhel]"}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// TestPillarFault: a pillar that does not render is one fault; the keys that it
// lacks for that are no further ones.
func TestPillarFault(t *testing.T) {
	t.Parallel()
	dir, o := write(t, map[string]string{
		"pillar/p.sls": "web:\n  port: {{ nope }}\n",
		"salt/a.sls":   "a:\n  test.nop:\n    - name: {{ pillar.web.port }}\n",
	})
	if got, want := found(t, dir, o), []string{"pillar/p.sls:2:12 undefined-variable"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// TestConfig: the configuration of a tree is checked, with the nearest name.
func TestConfig(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"ignore: [secrt]", `c.yaml: unknown rule "secrt" (did you mean "secret"?)`},
		{"ignor: [secret]", `c.yaml:1:1: unknown option "ignor" (did you mean "ignore"?)`},
		{"systems: debain", `c.yaml: unknown system "debain" (did you mean "debian"?): there are alpine, arch, debian, rhel, suse, ubuntu`},
		{"severity: {secret: fatal}", `c.yaml:1:1: severity of secret: "fatal" is not info, warning or error`},
		{"severity: 1", "c.yaml:1:1: severity must be a mapping from rules to info, warning or error"},
		{"select: {a: b}", "c.yaml:1:1: select must be a list"},
		{"- a", "c.yaml: the configuration must be a mapping"},
		{"", ""},
		{"ignore: secret\nexclude: [test/**]\nseverity: {secret: error}\n", ""},
	} {
		_, err := lint.ParseConfig("c.yaml", []byte(tt.text))
		if got := fmt.Sprint(err); got != tt.want && (err != nil || tt.want != "") {
			t.Errorf("%q: %v, want %s", tt.text, got, tt.want)
		}
	}
	c, err := lint.ParseConfig("c.yaml", []byte("ignore: [unknown-state]\nexclude: [test]\nseverity: {missing-argument: info}\n"))
	if err != nil {
		t.Fatal(err)
	}
	_, o := write(t, map[string]string{"salt/a.sls": "a:\n  file.manged: []\nb:\n  file.symlink: []\n", "salt/test/x/b.sls": "{{ nope }}"})
	o.Config = c
	r, err := lint.Run(t.Context(), o)
	if err != nil || len(r.Findings) != 1 || r.Findings[0].Severity != lint.Info {
		t.Errorf("findings %v, %v", r.Findings, err)
	}
}

// TestFix: what is corrected means the same, and is found no longer.
func TestFix(t *testing.T) {
	t.Parallel()
	const text = "a:   \n  file.managed:\n    - mode: 0644  \n    - uid: 0100\n"
	dir, o := write(t, map[string]string{"salt/a.sls": text})
	o.Config.Select = []string{"trailing-space"}
	r, err := lint.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	got, n := lint.Fix(text, r.Findings)
	if want := "a:\n  file.managed:\n    - mode: '0644'\n    - uid: 0100\n"; got != want || n != 3 {
		t.Errorf("Fix made %q of it by %d edits, want %q", got, n, want)
	}
	if err := os.WriteFile(filepath.Join(dir, "salt/a.sls"), []byte(got), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := found(t, dir, o); slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "a.sls:1:") || strings.Contains(s, "a.sls:3:") }) {
		t.Errorf("found %q after the fix", got)
	}
}

// TestFixes: what each rule corrects means the same and has no finding any more. Of
// corrections that overlap, one is made at a time.
func TestFixes(t *testing.T) {
	t.Parallel()
	const managed, rest = "/a:\n  file.managed:\n    - contents: x\n", "x:\n  test.nop:\n    - text: {{ b }}\n"
	const m = "{% set a = 1 %}{% set b = 1 %}{% set c = 1 %}"
	for _, tt := range []struct{ rules, text, want string }{
		{"jinja-comment-space", "{#one-#}{#- two#}\n" + managed, "{# one -#}{#- two #}\n" + managed},
		{"jinja-statement-space", "{%if 1%}\n" + managed + "{%-endif-%}\n", "{% if 1 %}\n" + managed + "{%- endif -%}\n"},
		{"jinja-variable-space", managed + "    - mode: '{{'0644'}}' # {{{'a': '}}'}}}\n", managed + "    - mode: '{{ '0644' }}' # {{{'a': '}}'}}}\n"},
		{"mode-zero", managed + "    - mode: '644'\n    - dir_mode: 755\r\n", managed + "    - mode: '0644'\n    - dir_mode: '0755'\r\n"},
		{"mode-zero unquoted-mode", managed + "    - mode: 644\n", managed + "    - mode: '0644'\n"},
		{"trailing-space", managed + "  \n", managed + "\n"},
		{"unquoted-mode", managed + "    - mode: 0644 # x\n", managed + "    - mode: '0644' # x\n"},
		{"unused-import", "{% from 'm.jinja' import a, b with context %}\n" + rest, "{% from 'm.jinja' import b with context %}\n" + rest},
		{"unused-import", "{% from 'm.jinja' import b, a %}\n" + rest, "{% from 'm.jinja' import b %}\n" + rest},
		{"unused-import", "{% from 'm.jinja' import a, b,c -%}\n" + rest, "{% from 'm.jinja' import b -%}\n" + rest},
		{"unused-import", "{% from 'm.jinja' import b, a,  c %}\n" + rest, "{% from 'm.jinja' import b %}\n" + rest},
		{"yaml-octal", "/a:\n  file.managed: [{contents: x}, {mode: 0644}]\n", "/a:\n  file.managed: [{contents: x}, {mode: '0644'}]\n"},
	} {
		text := tt.text
		for range 4 {
			_, o := write(t, map[string]string{"salt/a.sls": text, "salt/m.jinja": m})
			o.Config.Select, o.Config.Only, o.Systems = strings.Fields(tt.rules), true, lint.Systems()[:1]
			r, err := lint.Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			after, n := lint.Fix(text, r.Findings)
			if n == 0 && len(r.Findings) > 0 {
				t.Errorf("%s: %v is left in %q", tt.rules, r.Findings, text)
			}
			if text = after; n == 0 {
				break
			}
			if same, _ := lint.Fix("\n"+tt.text, r.Findings); same != "\n"+tt.text {
				t.Errorf("%s: lines that moved were changed to %q", tt.rules, same)
			}
		}
		if text != tt.want {
			t.Errorf("%s of %q is %q, want %q", tt.rules, tt.text, text, tt.want)
		}
	}
	for _, rule := range lint.Rules() {
		if !rule.Fix {
			continue
		}
		_, o := write(t, lint.TreesOf(rule.ID).Bad()[0])
		o.Config.Select, o.Config.Only = []string{rule.ID}, true
		r, err := lint.Run(t.Context(), o)
		if err != nil || len(r.Findings) != 1 || r.Findings[0].Fix == nil {
			t.Errorf("%s corrects nothing: %v, %v", rule.ID, r, err)
		}
	}
}

// TestWrite: every format holds every finding.
func TestWrite(t *testing.T) {
	t.Parallel()
	dir, o := write(t, map[string]string{"salt/a b.sls": "a:\n  file.manged: []\n", "salt/c.sls": "{{ nope }}"})
	r, err := lint.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	name := func(p string) string { return strings.TrimPrefix(p, dir+"/") }
	texts := map[string]string{}
	for _, format := range lint.Formats() {
		var b bytes.Buffer
		if err := r.Write(&b, lint.Output{Format: format, Version: "1.0", Name: name}); err != nil {
			t.Fatal(err)
		}
		texts[format] = b.String()
	}
	if want := "salt/a b.sls:1:1: error: unknown state function \"file.manged\" [unknown-state]\n\thint: did you mean \"file.managed\"?\n" +
		"salt/c.sls:1:4: error: 'nope' is undefined [undefined-variable]\n2 SLS: 2 errors, 0 warnings, 0 notes\n"; texts["text"] != want {
		t.Errorf("text is %q, want %q", texts["text"], want)
	}
	if want := "::error file=salt/a b.sls,line=1,col=1,title=unknown-state::unknown state function \"file.manged\"%0Adid you mean \"file.managed\"?\n"; !strings.HasPrefix(texts["github"], want) {
		t.Errorf("github is %q", texts["github"])
	}
	for _, format := range []string{"json", "sarif"} {
		var doc map[string]any
		if err := json.Unmarshal([]byte(texts[format]), &doc); err != nil {
			t.Errorf("%s: %v", format, err)
		}
	}
	testkit.CheckSchema(t, "../../../testdata/schemas/sarif-2.1.0.json", []byte(texts["sarif"]))
	if !strings.Contains(texts["sarif"], `"uri": "salt/a%20b.sls"`) {
		t.Errorf("sarif does not escape the path: %s", texts["sarif"])
	}
}

// TestCancel: a run that is cancelled ends.
func TestCancel(t *testing.T) {
	t.Parallel()
	_, o := write(t, map[string]string{"salt/a.sls": "a:\n  test.nop: []\n"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := lint.Run(ctx, o); err == nil {
		t.Error("a cancelled run gave no error")
	}
}

// TestCleanTrees: no fault is invented in the trees that the project shows.
func TestCleanTrees(t *testing.T) {
	t.Parallel()
	trees, err := filepath.Glob("../../../examples/*/salt")
	if err != nil || len(trees) < 3 {
		t.Fatalf("examples %v, %v", trees, err)
	}
	for _, salt := range append(trees, "../../../testdata/demo/salt", "../../../cmd/scaffold/tree/salt") {
		t.Run(filepath.Base(filepath.Dir(salt)), func(t *testing.T) {
			t.Parallel()
			root, err := filepath.Abs(filepath.Dir(salt))
			if err != nil {
				t.Fatal(err)
			}
			_, o := write(t, nil)
			o.Opts.Set("file_roots", value.MapOf("base", value.NewList(root+"/salt")))
			o.Opts.Set("pillar_roots", value.MapOf("base", value.NewList(root+"/pillar")))
			r, err := lint.Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if r.SLS == 0 {
				t.Error("no SLS was compiled")
			}
			for _, f := range r.Findings {
				if f.Severity > lint.Info {
					t.Errorf("%s: %s [%s]", f.Pos, f.Message, f.Rule)
				}
			}
		})
	}
}

// TestBounds: what is read of a tree is bounded, and what was not read is counted.
func TestBounds(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"salt/web.sls": "web:\n  test.nop: []\n", "salt/files/a.conf": strings.Repeat("mentions\n", 20), "salt/files/b.conf": "x",
		"pillar/top.sls": "base:\n  '*': [app]\n", "pillar/app.sls": "mentions: 1\nother: 2\n",
	}
	_, o := write(t, files)
	if r, err := lint.Run(t.Context(), o); err != nil || r.Unread != 0 || len(r.Findings) != 1 {
		t.Fatalf("without bounds: %+v, %v", r, err)
	}
	few := o
	few.MaxFiles = 3
	if _, err := lint.Run(t.Context(), few); err == nil || !strings.HasSuffix(err.Error(), "salt has more than 3 files") {
		t.Errorf("3 files: %v", err)
	}
	o.MaxText = 100
	if r, err := lint.Run(t.Context(), o); err != nil || r.Unread != 1 || len(r.Findings) != 0 {
		t.Errorf("100 bytes: %+v, %v, want a file that is not read, and no finding about keys that it may mention", r, err)
	}
	files["salt/web.sls"] += "# " + strings.Repeat("x", 250) + "\n"
	_, both := write(t, files)
	both.MaxText = 190
	if r, err := lint.Run(t.Context(), both); err != nil || r.Unread != 0 {
		t.Errorf("190 bytes of other files, and less than twice as much of SLS files: %+v, %v", r, err)
	}
	o.MaxText = 10
	if _, err := lint.Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "have more than") {
		t.Errorf("10 bytes: %v", err)
	}
}

// readCounter counts the files that are read.
type readCounter struct {
	host.Files
	n int
}

func (c *readCounter) ReadFile(name string) ([]byte, error) {
	c.n++
	return c.Files.ReadFile(name)
}

// TestLargeText: of a tree with too much text, no more is read than the bound.
func TestLargeText(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 50 {
		files[fmt.Sprintf("salt/s%d.sls", i)] = "# " + strings.Repeat("x", 97) + "\n"
	}
	_, o := write(t, files)
	disk := &readCounter{Files: o.Disk}
	o.Disk, o.MaxText = disk, 100
	if _, err := lint.Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "have more than") {
		t.Errorf("5,000 bytes: %v", err)
	}
	if disk.n > 3 {
		t.Errorf("%d files were read", disk.n)
	}
}

// TestBranches: both branches of a condition on an unknown value are checked, and the
// bodies of loops over one, in every way that templates ask.
func TestBranches(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, sls, want string }{
		{"a grain", "{% if grains.role == 'db' %}\na:\n  no.one: []\n{% elif grains['role'] == 'web' %}\nb:\n  no.two: []\n{% else %}\nc:\n  no.three: []\n{% endif %}\n", "2 5 8"},
		{"get", "{% if grains.get('role', 'x') == 'x' %}\na:\n  no.one: []\n{% else %}\nb:\n  no.two: []\n{% endif %}\n", "2 5"},
		{"defined", "{% if pillar.x is defined %}\na:\n  no.one: []\n{% else %}\nb:\n  no.two: []\n{% endif %}\n", "2 5"},
		{"not defined", "{% if pillar['x'] is not defined %}\na:\n  no.one: []\n{% endif %}\nb:\n  no.two: []\n", "2 5"},
		{"in", "{% if 'x' in pillar %}\na:\n  no.one: []\n{% endif %}\n{% if grains.role in ['a', 'b'] %}\nb:\n  no.two: []\n{% endif %}\n", "2 6"},
		{"a function", "{% if salt['file.file_exists']('/x') %}\na:\n  no.one: []\n{% else %}\nb:\n  no.two: []\n{% endif %}\n", "2 5"},
		{"pillar.get", "{% if salt['pillar.get']('a:b', False) %}\na:\n  no.one: []\n{% endif %}\nb:\n  no.two: []\n", "2 5"},
		{"a loop", "{% for u in pillar.users %}\n{{ u }}:\n  no.one: []\n{% else %}\nb:\n  no.two: []\n{% endfor %}\n", "2 5"},
		{"a loop over items", "{% for u, v in pillar.get('users', {}).items() %}\n{{ u }}:\n  no.one:\n    - x: {{ v.y | default('z') }}\n{% endfor %}\n", "2"},
		{"nested", "{% if grains.a %}\n{% if grains.b %}\na:\n  no.one: []\n{% else %}\nb:\n  no.two: []\n{% endif %}\n{% endif %}\n", "3 6"},
		{"compared", "{% if grains.mem_total | int > 1000 or grains.num_cpus > 4 %}\na:\n  no.one: []\n{% endif %}\n", "2"},
		{"no contradiction", "{% if grains.a %}{% set x = 1 %}{% endif %}\n{% if grains.a and grains.b %}\na:\n  test.nop:\n    - name: {{ x }}\n{% endif %}\n", ""},
		{"one value", "{% if grains.a == 'x' %}{% set x = 1 %}{% elif grains.a == 'y' %}{% set y = 1 %}{% endif %}\n{% if grains.a == 'y' %}\na:\n  test.nop:\n    - name: {{ y }}\n{% endif %}\n", ""},
		{"the rest", "a:\n  test.nop:\n    - name: {{ grains.role }}{{ pillar['app']['port'] + 1 }}{{ pillar.host | default('x') }}\nb:\n  no.one: []\n", "4"},
		{"an include", "{% if grains.a %}\ninclude:\n  - nope\n{% endif %}\na:\n  test.nop: []\n", "missing"},
		{"a requisite to nothing", "a:\n  test.nop:\n    - text: {{ grains.id }}\n    - require:\n      - test: b\n", "missing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, o := write(t, map[string]string{"salt/a.sls": tt.sls})
			r, err := lint.Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			var lines []string
			for _, f := range r.Findings {
				switch {
				case strings.HasPrefix(f.Rule, "missing-"):
					lines = append(lines, "missing")
				case f.Rule == "unknown-state":
					lines = append(lines, strconv.Itoa(f.Pos.Line))
				default:
					t.Errorf("%s: %s %s", f.Pos, f.Rule, f.Message)
				}
			}
			if got := strings.Join(lines, " "); got != tt.want {
				t.Errorf("found in lines %q, want %q", got, tt.want)
			}
		})
	}
}

// TestTopCompany: SLS files are checked in the company that the top file gives them.
func TestTopCompany(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"salt/top.sls":    "base:\n  '*':\n    - common\n  'web*':\n    - app\n  'db*':\n    - db\n",
		"salt/common.sls": "base:\n  test.nop: []\n",
		"salt/app.sls":    "app:\n  test.nop:\n    - require:\n      - test: base\n",
		"salt/db.sls":     "db:\n  test.nop:\n    - require:\n      - test: app\n",
	}
	dir, o := write(t, files)
	if got, want := found(t, dir, o), []string{"salt/db.sls:4:9 missing-requisite"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	files["salt/app.sls"] = "base:\n  test.nop: []\n"
	delete(files, "salt/db.sls")
	files["salt/top.sls"] = "base:\n  '*':\n    - common\n  'web*':\n    - app\n"
	dir, o = write(t, files)
	if got := found(t, dir, o); len(got) != 1 || !strings.Contains(got[0], "duplicate-id") {
		t.Errorf("found %q, want an ID that two SLS files of web* have", got)
	}
}

// TestEveryFile: each SLS of a tree is compiled, or is named as one that is not: also in a
// directory whose name begins with an underscore, and behind links.
func TestEveryFile(t *testing.T) {
	t.Parallel()
	const bad = "a:\n  pkg.instaled: []\n"
	dir, o := write(t, map[string]string{
		"salt/_orch/deploy.sls": bad, "salt/_part.sls": bad, "salt/_modules/x.sls": "not an SLS: [", "salt/real/init.sls": bad,
		"away/init.sls": bad, "away/data": "x",
	})
	for name, to := range map[string]string{"in": "real", "out": "../away", "one.sls": "../away/init.sls", "dead.sls": "none.sls", "deadfile": "none", "data": "../away/data"} {
		if err := os.Symlink(to, filepath.Join(dir, "salt", name)); err != nil {
			t.Fatal(err)
		}
	}
	r, err := lint.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range r.Findings {
		rel, _ := filepath.Rel(filepath.Join(dir, "salt"), f.Pos.File)
		got[rel] = f.Rule
	}
	want := map[string]string{
		"_orch/deploy.sls": "unknown-state", "_part.sls": "unknown-state", "real/init.sls": "unknown-state", "in/init.sls": "unknown-state",
		"out": "not-judged", "one.sls": "not-judged", "dead.sls": "not-judged",
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}
