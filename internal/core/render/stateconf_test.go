package render_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"brine/internal/core/render"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
)

// TestStateconf renders what testdata/record_stateconf.py has recorded of Salt.
func TestStateconf(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/stateconf.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name  string
		Opts  map[string]string
		Files []struct{ SLS, Args, Text, Want string }
	}
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	for _, tt := range cases {
		t.Run(tt.Name, func(t *testing.T) {
			e := tree(t, nil)
			for k, v := range tt.Opts {
				e.Opts.Set(k, v)
			}
			run := render.For(e).Run()
			for _, f := range tt.Files {
				pipe := "stateconf " + f.Args
				if strings.Contains(f.Args, "-p") {
					pipe = "yaml|" + pipe
				}
				v, err := run.SLS(t.Context(), render.Input{Path: f.SLS + ".sls", SLS: f.SLS, SaltEnv: "base", Pipeline: pipe, Text: []byte(f.Text)})
				got := ""
				var se *source.Error
				switch {
				case err == nil:
					got = calltest.Plain(v)
				case !errors.As(err, &se):
					t.Fatalf("%s: %v has no place", f.SLS, err)
				case render.Handled(err):
					got = "SaltRenderError: " + se.SaltText()
				default:
					got = "GetoptError: " + se.SaltText()
				}
				if got != f.Want {
					t.Errorf("%s:\n got %s\nwant %s", f.SLS, got, f.Want)
				}
				if se != nil && (se.Pos.File == "" || se.Pos.Line == 0) {
					t.Errorf("%s: %v has no line", f.SLS, se)
				}
			}
		})
	}
}

// TestStateconfFaults says where the faults of stateconf are.
func TestStateconfFaults(t *testing.T) {
	const order = "\nhint: -o in the first line orders states as they stand in the file"
	for name, tt := range map[string]struct{ text, want string }{
		"goal":     {"#!stateconf\na: test.nop\n.goal: test.nop\n", "a.sls:3:1: Can't generate goal state(.goal)! The same state id already exists!\nhint: the option stateconf_goal_state names another"},
		"start":    {"#!stateconf -s\n.start: test.nop\n", "a.sls:2:1: Can't generate start state(.start)! The same state id already exists!\nhint: the option stateconf_start_state names another"},
		"no start": {"#!stateconf -s\ninclude: [x]\n", "a.sls:1:1: Can't determine the first state in the sls file!"},
		"rename":   {"#!stateconf\na::x: test.nop\n.x: test.nop\n", "a.sls:3:1: Can't rename state id(.x) into a::x because the later already exists!\nhint: it is also at a.sls:2:1"},
		"include":  {"#!stateconf\ninclude:\n  - x\n  - ..y\n", "a.sls:4:5: Attempted relative include goes beyond top level package"},
		"watch":    {"#!stateconf -o\na:\n  test.nop:\n    - watch:\n      - test: b\nb: test.nop\n", "a.sls:5:9: State(a:test) can't require/watch/listen/onchanges/onfail a state(b:test) defined after it!" + order},
		"names":    {"#!stateconf -o\na:\n  test.nop:\n    - names: [b]\n", "a.sls:4:7: 'names' declaration(found in state id: a) is not supported with implicitly ordered states! You should generate the states in a template for-loop instead." + order},
		"macro":    {"#!stateconf\n{% macro m(id) %}\n\n{{ id }}: test.nop\n{% endmacro %}\n{{ m('.goal') }}\n", "a.sls:4:1: Can't generate goal state(.goal)! The same state id already exists!\nhint: the option stateconf_goal_state names another"},
		"head":     {"#!stateconf\n.p: {stateconf.set: [{a: '{{ b }}'}]}\n# --- end of state config ---\n", "a.sls:2:30: 'b' is undefined"},
		"yaml":     {"#!stateconf\na: 1\n# --- end of state config ---\nb: [\n", "a.sls:5:1: did not find expected node content (while parsing a flow node)"},
		"renderer": {"#!stateconf yam . jinja\na: 1\n", "a.sls:1:1: the renderer \"yam\" is not available (did you mean \"yaml\"?)\nhint: there are gpg, jinja, json, mako, pongo2, py, pydsl, pyobjects, stateconf, toml, yaml, yamlex"},
		"python":   {"#!stateconf yaml . wempy\na: 1\n", "a.sls:1:1: the renderer \"wempy\" is not supported\nhint: Salt has it, brine does not: the package that it needs is no longer maintained; write it as \"#!jinja|yaml\", or as \"#!py\" with a function run()"},
		"order":    {"#!stateconf jinja . yaml\na: 1\n", "a.sls:1:1: renderer \"jinja\" comes after one that gives data, not text: the data format stands before the dot"},
		"text":     {"#!stateconf jinja . jinja\na: 1\n", "a.sls:1:1: renderer \"jinja\" gives text, not data"},
		"data":     {"#!yaml|stateconf\na: 1\n", "a.sls:1:1: stateconf comes after what gives data, not text"},
		"-p":       {"#!jinja|stateconf -p\na: 1\n", "a.sls:1:1: stateconf comes after what gives text, not data"},
		"blocked":  {"#!stateconf json . jinja\n{}\n", "a.sls:1:1: the renderer \"json\" is not available\nhint: there are gpg, jinja, json, mako, pongo2, py, pydsl, pyobjects, stateconf, toml, yaml, yamlex"},
		"argument": {"#!stateconf yaml . jinja -x\na: 1\n", "a.sls:1:1: Unknown renderer option: -x"},
	} {
		e := tree(t, map[string]string{"a.sls": tt.text})
		limit(e, "renderer_blacklist", "json")
		_, err := sls(t, e, "a")
		var se *source.Error
		if !errors.As(err, &se) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, hint, ok := strings.Cut(se.Trace(), "\nhint: ")
		if ok && !strings.HasPrefix(hint, `write "#!stateconf`) {
			got += "\nhint: " + hint
		}
		if got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, tt.want)
		}
	}
	e := tree(t, map[string]string{"a.sls": "#!stateconf\na: 1\n"})
	e.Opts.Set("stateconf_end_marker", "(")
	if _, err := sls(t, e, "a"); err == nil || !strings.Contains(err.Error(), "a.sls:1:1: stateconf_end_marker: ") {
		t.Errorf("a marker that is none: %v", err)
	}
}

// TestStateconfMalformed says that what is malformed is left to the compiler,
// which has words for it.
func TestStateconfMalformed(t *testing.T) {
	for text, want := range map[string]string{
		"- a\n":                              "['a']",
		"text\n":                             "'text'",
		"include: .x\n":                      "{'include': {'.x': []}}",
		"include: [1, {}, {dev: 1}, [.x]]\n": "{'include': [1, {}, {'dev': 1}, ['.x']]}",
		"include: [{dev: x}]\n":              "{'include': [{'dev': 'x'}]}",
		"exclude: [.x, {}, 1, {sls: 1}, {id: 1}]\n": "{'exclude': ['.x', {}, 1, {'sls': 1}, {'id': 1}]}",
		"exclude: .x\nextend: [.x]\n":               "{'exclude': {'.x': []}, 'extend': ['.x']}",
		"extend: {.x: 1, .y: {test: 2}, 3: 4}\n":    "{'extend': {3: 4, 'a::x': 1, 'a::y': {'test': 2}}}",
		"1: {test.nop: []}\n.x:\n.y: 1\n.z: []\n":   "{1: {'test.nop': []}, 'a::x': None, 'a::y': 1, 'a::z': []}",
		".x: {1: [], test.nop: }\n":                 "{'a::x': {1: [], 'test.nop': None}}",
		".x: {test.nop: {name: 1}}\n":               "{'a::x': {'test.nop': {'name': 1}}}",
		".x: {test.nop: [{}, 1, {2: 3}]}\n":         "{'a::x': {'test.nop': [{'name': 'x'}, {}, 1, {2: 3}]}}",
		"x: {test.nop: [{require: .y}, {watch: [1, {}, {test: 1}, {2: .y}, {test: }]}]}\ny: {test.nop: [{require: x}]}\n":  "{'x': {'test.nop': [{'require': '.y'}, {'watch': [1, {}, {'test': 1}, {2: '.y'}, {'test': None}]}]}, 'y': {'test.nop': [{'require': 'x'}]}}",
		".x: {stateconf.set: 1}\n.y: {stateconf.set: [1, {require: 2}]}\nextend: {.y: {stateconf.set: [{require: []}]}}\n": "{'extend': {'a::y': {'stateconf.set': [{'require': []}]}}, 'a::x': {'stateconf.set': 1}, 'a::y': {'stateconf.set': [1, {'require': 2}]}}",
	} {
		e := tree(t, nil)
		in := render.Input{Path: "a.sls", SLS: "a", Pipeline: "stateconf -G", Text: []byte(text)}
		if v, err := render.For(e).SLS(t.Context(), in); err != nil || calltest.Plain(v) != want {
			t.Errorf("%q = %s, %v; want %s", text, value.Repr(v), err, want)
		}
		in.Pipeline = "stateconf -os"
		if _, err := render.For(e).SLS(t.Context(), in); err != nil && !strings.Contains(err.Error(), "first state") {
			t.Errorf("%q with -os: %v", text, err)
		}
	}
}

// TestStateconfRuns says that runs know nothing of each other's parameters, and
// what is no run knows one SLS alone.
func TestStateconfRuns(t *testing.T) {
	e := tree(t, nil)
	show := func(r *render.Engine, text string) string {
		v, err := r.SLS(t.Context(), render.Input{Path: "a.sls", SLS: "a", Pipeline: "stateconf -G", Text: []byte(text)})
		if err != nil {
			t.Fatal(err)
		}
		return calltest.Plain(v)
	}
	const set, get = "p: {stateconf.set: [{k: 1}]}\n", "x: {test.nop: [{name: '{{ p.k if p is defined else 0 }}'}]}\n"
	one, other := render.For(e).Run(), render.For(e).Run()
	show(one, set)
	show(render.For(e), set)
	for i, r := range []*render.Engine{one, other, render.For(e)} {
		want := "{'x': {'test.nop': [{'name': '" + [...]string{"1", "0", "0"}[i] + "'}]}}"
		if got := show(r, get); got != want {
			t.Errorf("%d: %s, want %s", i, got, want)
		}
	}
}

// TestStateconfPongo renders with another template engine.
func TestStateconfPongo(t *testing.T) {
	e := tree(t, nil)
	run := render.For(e).Run()
	for _, f := range []struct{ sls, text, want string }{
		{"b", ".p: {stateconf.set: [{k: 1}]}\nmy-id: {stateconf.set: [{k: 1}]}\n", "{'my-id': {'stateconf.set': [{'k': 1}]}, 'b::p': {'stateconf.set': [{'k': 1}]}}"},
		{"a", ".p: {stateconf.set: [{k: 2}]}\n# --- end of state config ---\nx: {test.nop: [{name: '{{ p.k }} {{ sls_dir }}'}]}\n", "{'x': {'test.nop': [{'name': '2 a'}]}, 'a::p': {'stateconf.set': [{'k': 2}]}}"},
	} {
		v, err := run.SLS(t.Context(), render.Input{Path: f.sls + ".sls", SLS: f.sls, Pipeline: "stateconf -G yaml . pongo2", Text: []byte(f.text)})
		if err != nil || calltest.Plain(v) != f.want {
			t.Errorf("%s = %s, %v; want %s", f.sls, value.Repr(v), err, f.want)
		}
	}
}

// FuzzStateconf looks for what stateconf cannot bear.
func FuzzStateconf(f *testing.F) {
	for _, args := range []string{"", "-oGs", "-s yaml . jinja"} {
		for _, text := range []string{
			"include: [.x, {dev: ..y}]\nexclude: [{sls: .z}]\nextend:\n  .x::y: {stateconf.set: [{a: 1}]}\n",
			".p: {stateconf.set: [{a: [1]}, {require: [{test: .x}]}]}\n# --- end of state config ---\n.x:\n  test.nop:\n    - watch_in: [{test: .y}]\n.y: test.nop\n",
		} {
			f.Add("a.b", args, text)
		}
	}
	f.Fuzz(func(t *testing.T, sls, args, text string) {
		e := tree(t, nil)
		run := render.For(e).Run()
		for range 2 {
			_, err := run.SLS(t.Context(), render.Input{Path: "a.sls", SLS: sls, Pipeline: "stateconf " + args, Text: []byte(text)})
			var se *source.Error
			if err != nil && !errors.As(err, &se) {
				t.Errorf("%v has no place", err)
			}
		}
	})
}
