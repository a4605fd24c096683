package pillar_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
	"brine/internal/testkit/calltest"
	"brine/internal/testkit/pillartest"
	configmod "brine/modules/config"
	pillarmod "brine/modules/pillar"
	testmod "brine/modules/test"
)

// newEnv returns an Env over a tree as the recordings have it: salt, pillar,
// etc/minion and etc/grains.
func newEnv(t testing.TB, tree, conf string) *fun.Env {
	t.Helper()
	h := host.NewLocal()
	opts, grains := pillartest.Config(t, h, tree, conf)
	e, _ := pillartest.Env(t, h, opts, grains,
		fun.Entry{Kind: fun.Exec, Name: "test", Load: testmod.Module},
		fun.Entry{Kind: fun.Exec, Name: "pillar", Load: pillarmod.Module},
		fun.Entry{Kind: fun.Exec, Name: "config", Load: configmod.Module})
	return e
}

var kwarg = regexp.MustCompile(`(?s)^([A-Za-z_]\w*)=(.*)$`)

// call calls a function with arguments as the command line has them.
func call(t testing.TB, e *fun.Env, argv []string) (value.Value, error) {
	t.Helper()
	args := fun.Args{Kw: value.NewMap(0)}
	for _, a := range argv[1:] {
		text, key := a, ""
		if m := kwarg.FindStringSubmatch(a); m != nil {
			key, text = m[1], m[2]
		}
		v, err := yamlsalt.LoadString(text)
		if _, isMap := v.(*value.Map); err != nil || isMap && !strings.HasPrefix(text, "{") || v == "" {
			v = text
		}
		if key != "" {
			args.Kw.Set(key, v)
		} else {
			args.Pos = append(args.Pos, v)
		}
	}
	r, err := e.Invoker.Invoke(t.Context(), fun.Exec, argv[0], args)
	return r.Value, err
}

// TestRecordings calls the functions as the recordings of Salt did.
func TestRecordings(t *testing.T) {
	for _, name := range []string{"pil-get", "ex-config-get"} {
		dir := filepath.Join("../../testdata/conformance", name)
		head, err := os.ReadFile(filepath.Join(dir, "case.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		v, err := yamlsalt.LoadString(string(head))
		if err != nil {
			t.Fatal(err)
		}
		c := v.(*value.Map)
		tree, err := filepath.Abs(filepath.Join(dir, "tree"))
		if err != nil {
			t.Fatal(err)
		}
		steps := append([]value.Value{c}, c.List("then").Items...)
		for i, s := range steps {
			var argv []string
			for _, a := range s.(*value.Map).List("argv").Items {
				argv = append(argv, value.Str(a))
			}
			file := "expected.json"
			if i > 0 {
				file = fmt.Sprintf("expected.%d.json", i+1)
			}
			t.Run(name+"/"+strings.Join(argv, " "), func(t *testing.T) {
				raw, err := os.ReadFile(filepath.Join(dir, file))
				if err != nil {
					t.Fatal(err)
				}
				ret, err := call(t, newEnv(t, tree, ""), argv)
				if err != nil {
					t.Fatal(err)
				}
				var want, got any
				if err := json.Unmarshal(raw, &want); err != nil {
					t.Fatal(err)
				}
				if err := json.Unmarshal(value.EncodeJSON(value.MapOf("local", ret)), &got); err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("(-want +got):\n%s", d)
				}
			})
		}
	}
}

// The expected results are those of salt/modules/pillar.py and config.py.
func TestCalls(t *testing.T) {
	tree := t.TempDir()
	for p, text := range map[string]string{
		"pillar/top.sls": "base: {'*': [p]}\n",
		"pillar/p.sls":   "a: {b: [1, 2], c: {x: [1]}}\nl: [1, 2]\nos: web1\nmaster: {mo: from master, both.x: 1}\nnul: null\nm: {p: 3, l: [1]}\n",
		"etc/minion":     "both.x: 2\nboth.y: 3\nm: {c: 1, l: [2]}\nlst: [1]\n",
		"etc/grains":     "role: web\nm: {g: 2}\n",
	} {
		full := filepath.Join(tree, p)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		argv string
		want string
	}{
		{"pillar.get|l|default=[2, 3]|merge=True", "[2, 3, 1]"},
		{"pillar.get|a|default={c: {x: [2], y: 1}}|merge=True", "{'c': {'x': [1], 'y': 1}, 'b': [1, 2]}"},
		{"pillar.get|a|default={c: {x: [2]}}|merge=True|merge_nested_lists=True", "{'c': {'x': [2, 1]}, 'b': [1, 2]}"},
		{"pillar.get|nope|default={a: 1}|merge=True", "{'a': 1}"},
		{"pillar.get|l|default={a: 1}|merge=True", "[1, 2]"},
		{"pillar.get|l|default=x|merge=True", "[1, 2]"},
		{"pillar.get|nope|pillarenv=base", "''"},
		{"pillar.get|a:b|saltenv=base", "[1, 2]"},
		{"pillar.items|a:b|nope", "{'a:b': [1, 2], 'nope': ''}"},
		{"pillar.item|a/b|delimiter=/", "{'a/b': [1, 2]}"},
		{"pillar.item|nope|default=d", "{'nope': 'd'}"},
		{"pillar.raw|nope", "{}"},
		{"pillar.ls|pillar=text", "['a', 'l', 'os', 'master', 'nul', 'm']"},
		{"pillar.ls|pillar={new: 1}|saltenv=nope", "['new', 'a', 'l', 'os', 'master', 'nul', 'm']"},
		{"pillar.keys|a", "['b', 'c']"},
		{"pillar.keys|nope", "KeyError: 'Pillar key not found: nope'"},
		{"pillar.keys|l", "ValueError: Pillar value in key l is not a dict"},
		{"pillar.filter_by|{'web*': {a: 1}, default: {a: 0}}|os|merge={b: 2}", "{'a': 1, 'b': 2}"},
		{"pillar.filter_by|{2: two, 3: three}|none|default=3", "'three'"},
		{"pillar.filter_by|{'3': three}|none|default=3", "None"},
		{"pillar.filter_by|{1: {a: 1}, 2: {b: 1}}|none|default=2|base=1", "{'a': 1, 'b': 1}"},
		{"pillar.file_exists|top.sls", "True"},
		{"pillar.file_exists|nope", "False"},
		{"pillar.file_exists|top.sls|saltenv=dev", "False"},
		{"pillar.ext|{stack: x}|pillar={a: 1}", "{'a': 1, 'l': [1, 2], 'os': 'web1', 'master': {'mo': 'from master', 'both.x': 1}, 'nul': None, 'm': {'p': 3, 'l': [1]}}"},
		{"config.get|mo", "'from master'"},
		{"config.get|mo|omit_master=True", "''"},
		{"config.get|mongo.port", "27017"},
		{"config.get|m/g|delimiter=/|merge=recurse", "2"},
		{"config.get|m|merge=overwrite", "{'c': 1, 'l': [2]}"},
		{"config.get|m|merge=odd", "{'p': 3, 'l': [2], 'g': 2, 'c': 1}"},
		{"config.option|role", "'web'"},
		{"config.option|nope", "''"},
		{"config.option|nope|d", "'d'"},
		{"config.option|both.*|wildcard=True", "{'both.x': 2, 'both.y': 3}"},
		{"config.option|zz*|wildcard=True", "{}"},
		{"config.option|zz*|d|wildcard=True", "'d'"},
		{"config.option|role|omit_all=True", "''"},
		{"config.merge|m", "{'p': 3, 'l': [2], 'c': 1}"},
		{"config.merge|nope|d", "'d'"},
		{"config.dot_vals|both", "{'both.x': 2, 'both.y': 3}"},
		{"config.manage_mode|'0o755'", "'0755'"},
		{"config.manage_mode|01777", "'1777'"},
		{"config.manage_mode|null", "None"},
		{"config.backup_mode", "''"},
		{"config.backup_mode|minion", "'minion'"},
		{"config.valid_fileproto|gopher://x", "False"},
		{"config.valid_fileproto|5", "False"},
	} {
		t.Run(tt.argv, func(t *testing.T) {
			v, err := call(t, newEnv(t, tree, ""), strings.Split(tt.argv, "|"))
			got := calltest.Plain(v)
			if err != nil {
				got = err.Error()
				if py, ok := errors.AsType[*value.PyError](err); ok {
					got = py.Type + ": " + py.Msg
				}
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
	if _, err := call(t, newEnv(t, tree, "pillar_raise_on_missing: true"), []string{"pillar.get", "nope"}); err == nil {
		t.Error("pillar_raise_on_missing: no error")
	}
	if v, err := call(t, newEnv(t, tree, "pillar_raise_on_missing: true"), []string{"pillar.get", "nope", "d"}); err != nil || v != "d" {
		t.Errorf("pillar_raise_on_missing with a default: %v, %v", v, err)
	}
}
