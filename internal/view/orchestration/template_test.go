package orchestration_test

import (
	"errors"
	"path"
	"slices"
	"strings"
	"testing"

	"brine/internal/core/host"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/view/orchestration"
)

// tree returns a fake host with the files of a template.
func tree(t *testing.T, files map[string]string) *host.Fake {
	t.Helper()
	h := host.NewFake()
	for p, text := range files {
		p = "/t/" + p
		if err := errors.Join(h.MkdirAll(path.Dir(p), 0o755), h.WriteFile(p, strings.NewReader(text), host.WriteOptions{})); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// TestMetadata reads bad metadata: each fault has its place.
func TestMetadata(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, meta, want string }{
		{"not a mapping", "- a", "/t/metadata/x/metadata.yml:1:1: must be a mapping, not a list"},
		{"no YAML", "a: [", "/t/metadata/x/metadata.yml:"},
		{"key", "descripton: x", `/t/metadata/x/metadata.yml:1:1: the metadata: unknown key "descripton" (did you mean "description"?)`},
		{"targets", "targets: [a]", "metadata.yml:1:1: targets must be a mapping of names, not a list"},
		{"target", "targets: {a: x}", "metadata.yml:1:11: targets: a must have keys such as description, not text"},
		{"target item", "targets: {a: [x]}", "a: each item must be a key and a value, not text"},
		{"twice", "targets: {a: [{description: x}, {description: y}]}", "a: description is given twice"},
		{"flag", "targets: {a: {multiple: 2}}", "multiple must be True or False, not 2"},
		{"type", "targets: {a: {tgt_type: [glb]}}", `target a: unknown tgt_type "glb" (did you mean "glob"?)`},
		{"default", "targets: {a: {tgt_type: list, default: 'x*'}}", `target a: default: "x*" is a target expression of the type glob; this target takes list`},
		{"step", "steps: {a: {ids: [1]}}", "ids: each item must be text, not a number"},
		{"description", "description: [x]", "description must be text, not a list"},
		{"form", "pillar: {a: {$type: txt}}", `field a: unknown type "txt"`},
		{"form is no form", "pillar: x", "pillar must be a mapping of fields, not text"},
		{"a field called targets", "pillar: {targets: {}}", "a field cannot be called targets"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := orchestration.Find(tree(t, map[string]string{"metadata/x/metadata.yml": tt.meta, "states/x/init.sls": "a"}), []string{"/t"}, "x")
			if err == nil || !strings.Contains(all(err), tt.want) {
				t.Errorf("got %s\nwant %s", all(err), tt.want)
			}
		})
	}
}

// all is an error with all faults.
func all(err error) string {
	if err == nil {
		return "nil"
	}
	texts := []string{err.Error()}
	for _, e := range source.Faults(err) {
		texts = append(texts, e.Error())
	}
	return strings.Join(texts, "\n")
}

// TestFind looks templates up.
func TestFind(t *testing.T) {
	t.Parallel()
	h := tree(t, map[string]string{
		"metadata/web/metadata.yml": "description: first", "states/web/init.sls": "a",
		"more/metadata/web/metadata.yml": "description: second", "more/states/web/init.sls": "a",
		"more/metadata/form/metadata.yml": "", "more/metadata/form/form.yml": "a: {$default: 1}", "more/states/form/init.sls": "a",
		"more/metadata/both/metadata.yml": "pillar: {a: {}}", "more/metadata/both/form.yml": "a: {}", "more/states/both/init.sls": "a",
		"more/states/nometa/init.sls": "a", "more/metadata/nosls/metadata.yml": "", "more/states/README/x": "", "more/states/a.b/init.sls": "",
	})
	roots := []string{"/t", "/t/more", "/t/none"}
	names, err := orchestration.Names(h, roots)
	if got, want := strings.Join(names, " "), "README both form nometa nosls web"; got != want || err != nil {
		t.Errorf("names %q, %v; want %q", got, err, want)
	}
	if x, err := orchestration.Find(h, roots, "web"); err != nil || x.Description != "first" {
		t.Errorf("the first root does not win: %v, %v", x, err)
	}
	if x, err := orchestration.Find(h, roots, "form"); err != nil || value.Repr(x.Form.Defaults()) != "{'a': '1'}" {
		t.Errorf("form.yml: %v, %v", x, err)
	}
	for name, want := range map[string]string{
		"wbe":    `there is no template "wbe" (did you mean "web"?)`,
		"both":   "the fields of the pillar are described here and in /t/more/metadata/both/form.yml; keep one of them",
		"nometa": "/t/more/metadata/nometa/metadata.yml: no such file",
		"nosls":  "template nosls has no orchestration",
		"../web": `"../web" cannot be the name of a template`,
	} {
		if _, err := orchestration.Find(h, roots, name); err == nil || !strings.Contains(all(err), want) {
			t.Errorf("%s: got %s, want %s", name, all(err), want)
		}
	}
	_, err = orchestration.Find(h, []string{"/none"}, "web")
	if nf, ok := errors.AsType[*orchestration.NotFoundError](err); !ok || !strings.Contains(nf.Error(), "no templates were found in /none") {
		t.Errorf("no roots: %v", err)
	}
}

// TestParseExpr tells the types of target expressions.
func TestParseExpr(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]orchestration.Expr{
		"web*": {"web*", "glob"}, "a,b": {"a,b", "list"}, "G@os:Debian": {"os:Debian", "grain"}, "C@a or b": {"a or b", "compound"},
		"X@y": {"X@y", "glob"}, " N@web ": {"web", "nodegroup"}, "L@a": {"a", "list"},
	} {
		if got := orchestration.ParseExpr(text); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
		if again := orchestration.ParseExpr(want.String()); again != want {
			t.Errorf("%v is written as %q", want, want)
		}
	}
}

// TestTargetExpr reads expressions of targets that take some types alone.
func TestTargetExpr(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		types, text string
		want        orchestration.Expr
	}{
		{"nodegroup", "web", orchestration.Expr{Text: "web", Type: "nodegroup"}},
		{"nodegroup", "N@web", orchestration.Expr{Text: "web", Type: "nodegroup"}},
		{"compound", "web* and G@os:x", orchestration.Expr{Text: "web* and G@os:x", Type: "compound"}},
		{"list", "web1", orchestration.Expr{Text: "web1", Type: "list"}},
		{"list", "web*", orchestration.Expr{Text: "web*", Type: "glob"}}, // refused
		{"list nodegroup", "web1", orchestration.Expr{Text: "web1", Type: "list"}},
		{"glob list", "web1", orchestration.Expr{Text: "web1", Type: "glob"}},
		{"nodegroup", "G@os:x", orchestration.Expr{Text: "os:x", Type: "grain"}}, // refused
		{"", "web", orchestration.Expr{Text: "web", Type: "glob"}},
	} {
		x := &orchestration.Target{Name: "t", Types: strings.Fields(tt.types)}
		a := orchestration.NewAnswers()
		a.Targets["t"] = tt.text
		if got, ok := x.Expr(a); !ok || got != tt.want {
			t.Errorf("%s of %s: %v, want %v", tt.text, tt.types, got, tt.want)
		}
	}
}

// TestStore keeps answers for the user alone, without passwords.
func TestStore(t *testing.T) {
	t.Parallel()
	h := tree(t, map[string]string{
		"metadata/x/metadata.yml": "targets: {b: {}, a: {}}\npillar: {p: {$type: password}, v: {}}", "states/x/init.sls": "a",
		"ids.yml": "targets: {a: [x, y]}\nv: z", "bad.yml": "targets: {c: x}", "worse.yml": "targets: {a: {}}",
	})
	x, err := orchestration.Find(h, []string{"/t"}, "x")
	if err != nil {
		t.Fatal(err)
	}
	s := &orchestration.Store{Files: h, Dir: "/data"}
	if _, err := s.Load(x, "last"); err == nil || !strings.Contains(err.Error(), "no answers are kept for x") {
		t.Errorf("nothing kept: %v", err)
	}
	a := orchestration.NewAnswers()
	a.Targets["a"], a.Targets["b"] = "web*", "db1"
	a.Values.Set("p", "secret")
	a.Values.Set("v", "1")
	for _, label := range []string{"last", "friday"} {
		if err := s.Save(x, label, a); err != nil {
			t.Fatal(err)
		}
	}
	b, _ := h.ReadFile("/data/x@friday.json")
	if st, err := h.Stat("/data/x.json"); err != nil || st.Mode.Perm() != 0o600 || strings.Contains(string(b), "secret") {
		t.Errorf("mode %v, %v: %s", st.Mode, err, b)
	}
	if labels, err := s.Labels("x"); strings.Join(labels, " ") != "friday last" || err != nil {
		t.Errorf("labels %v, %v", labels, err)
	}
	got, err := s.Load(x, "friday")
	if err != nil || got.Targets["a"] != "web*" || value.Repr(got.Values) != "{'v': '1'}" {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := s.Load(x, "frday"); err == nil || err.Error() != `there are no answers "frday" for x (did you mean "friday"?); there are friday, last` {
		t.Errorf("near: %v", err)
	}
	if got, err := orchestration.ReadFile(h, x, "/t/ids.yml"); err != nil || got.Targets["a"] != "L@x,y" {
		t.Errorf("ids: %v, %v", got, err)
	}
	for file, want := range map[string]string{"/t/bad.yml": `no target "c"`, "/t/worse.yml": "target a must be a target expression or a list of ids, not a mapping"} {
		if _, err := orchestration.ReadFile(h, x, file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", file, err)
		}
	}
	_, faults, missing := x.Check(orchestration.NewAnswers())
	if len(faults) != 0 || len(missing) != 4 {
		t.Errorf("faults %v, missing %v", faults, missing)
	}
}

// TestWithout leaves out what was secret where it came from, whatever its keys are.
func TestWithout(t *testing.T) {
	t.Parallel()
	m := value.MapOf(
		"ports", value.MapOf(int64(8080), value.MapOf("token", "s1", "kept", "x")),
		"hosts", value.MapOf("fe80::1", value.MapOf("token", "s2")),
		"plain", value.Strings("s3", "s4"),
		"items", value.NewList(value.MapOf("token", "s5", "kept", "y")),
	)
	a := &orchestration.Answers{Values: m}
	paths := slices.DeleteFunc(orchestration.Leaves(m), func(p orchestration.Path) bool { return strings.HasSuffix(p.String(), ":kept") })
	paths = append(paths, orchestration.PathOf("items:-1"), orchestration.PathOf("none:x"), nil)
	if got, want := value.Repr(a.Without(paths).Values), "{'ports': {8080: {'kept': 'x'}}, 'hosts': {'fe80::1': {}}, 'items': [{'kept': 'y'}]}"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := orchestration.PathOf("items:0:token").String(); got != "items:0:token" {
		t.Errorf("String = %s", got)
	}
	if got := value.Repr(a.Without([]orchestration.Path{orchestration.PathOf("items:0:token")}).Values.At("items")); got != "[{'kept': 'y'}]" {
		t.Errorf("items = %s", got)
	}
}
