package casefile_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"brine/internal/core/host"
	"brine/internal/py/source"
	"brine/internal/view/casefile"
)

// find reads a tree with one file.
func find(name, text string) (*casefile.Suite, error) {
	h := host.NewFake()
	h.PutDir("/tree/tests", 0o755)
	h.PutDir("/tree/other", 0o755)
	h.PutFile("/tree/"+name, text, 0o644)
	return casefile.Find(h, "/tree", func(p string) string { return p })
}

// TestMerge: what a case says goes over what its file says.
func TestMerge(t *testing.T) {
	t.Parallel()
	s, err := find("tests/a.yml", "systems: [a, b]\npillar: {x: {p: 1, q: 1}}\nroots: other\ncases:\n  one: {sls: web, systems: c, pillar: {x: {q: 2}}}\n  two: {highstate: true}\n")
	if err != nil {
		t.Fatal(err)
	}
	one, two := s.Cases[0], s.Cases[1]
	if len(one.Systems) != 1 || one.Systems[0] != "c" || len(two.Systems) != 2 || one.Roots[0] != "/tree/other" {
		t.Errorf("systems %v and %v, roots %v", one.Systems, two.Systems, one.Roots)
	}
	if len(one.Pillar) != 1 || len(two.Pillar) != 1 || len(two.SLS) != 0 {
		t.Fatalf("pillars %v and %v", one.Pillar, two.Pillar)
	}
}

// TestNoEffect: keys without a value, and what no case has a use for, are not passed over.
func TestNoEffect(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"cases:\n  one: {sls: web, prepare: }\n":                                                        "/tree/tests/a.yml:2:19: prepare has no value: write one, or leave it away",
		"driver:\ncases:\n  one: {sls: web}\n":                                                          "/tree/tests/a.yml:1:1: driver has no value",
		"cases:\n  one: {sls: web, top: , grains: , hosts: , always_changes: }\n":                       "always_changes has no value",
		"cases:\n  one: {orchestrate: }\n":                                                              "/tree/tests/a.yml:2:9: orchestrate has no value",
		"roots: nowhere\ncases:\n  one: {sls: web}\n":                                                   "/tree/tests/a.yml:1:1: roots: nowhere: ",
		"roots: [other, tests/a.yml]\ncases:\n  one: {sls: web}\n":                                      "roots: tests/a.yml is not a directory",
		"cases:\n  one: {sls: web, systems: debian-12, images: {debain-12: /x}}\n":                      `images: the case one has no system "debain-12" (did you mean "debian-12"?): there are debian-12`,
		"cases:\n  one: {sls: web, hosts: {ubuntu: {target: a, may_be_changed: true, reset: false}}}\n": `hosts: the case one has no system "ubuntu"`,
		"images: {debian-11: /x}\ncases:\n  one: {sls: web, pillar: {}, roots: [], grains: {}}\n":       "",
	} {
		_, err := find("tests/a.yml", text)
		if got := fmt.Sprint(err); want == "" && err != nil || !strings.Contains(got, want) || strings.Contains(got, "has machines and no orchestration") {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestNotLookedAt: what would not be looked at is refused, and not passed over.
func TestNotLookedAt(t *testing.T) {
	t.Parallel()
	for expect, want := range map[string]string{
		"{}":           "expect has nothing in it",
		"":             "expect has nothing in it",
		"{ports: []}":  "ports has nothing in it",
		"{files: }":    "files has nothing in it",
		"{script: ''}": "script has nothing in it",
		"{functions: [{test.ping: {match: ''}}]}":          "match has nothing in it",
		"{functions: [{test.ping: {has: {}}}]}":            "has has nothing in it",
		"{files: {/a: {user: ''}}}":                        "user has nothing in it",
		"{files: {/a: {target: /b}}}":                      "/a: target is not looked at where the type is file",
		"{files: {/a: {type: absent, mode: '0600'}}}":      "/a: mode is not looked at where the type is absent",
		"{files: {/a: {type: directory, match: x}}}":       "/a: match is not looked at where the type is directory",
		"{files: {/a: {mode: '0000'}, /b: {content: ''}}}": "",
	} {
		s, err := find("tests/a.yml", "cases:\n  one: {sls: web, expect: "+expect+"}\n")
		if got := fmt.Sprint(err); want == "" && err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", expect, got, want)
		}
		if want == "" && (s.Cases[0].Expect.Files[0].Mode != "0" || s.Cases[0].Expect.Files[1].Content == nil) {
			t.Errorf("%s: %v", expect, s.Cases[0].Expect)
		}
	}
}

// FuzzFind reads case files and kitchen.yml: each fault has a place.
func FuzzFind(f *testing.F) {
	f.Add(true, "cases:\n  a: {sls: web, expect: {files: {/a: {mode: '0644'}}, ports: [80]}}\n")
	f.Add(true, "cases: {a: {highstate: true, systems: [a], expect: {functions: [{test.ping: []}], states: [{a.b: {}}]}}}\n")
	f.Add(true, "cases: {a: {orchestrate: o, machines: {web1: {system: debian, pillar: {a: 1}, expect: {ports: [80]}}, Web_2: [x]}}}\n")
	f.Add(false, "platforms: [{name: debian-12}]\nprovisioner: {formula: a, pillars: {top.sls: {base: {}}}}\nsuites: [{name: a}]\n")
	f.Fuzz(func(t *testing.T, cases bool, text string) {
		name := "kitchen.yml"
		if cases {
			name = "tests/a.yml"
		}
		_, err := find(name, text)
		if err == nil || errors.Is(err, casefile.ErrNone) {
			return
		}
		for _, fault := range source.Faults(err) {
			if fault.Pos.File == "" {
				t.Errorf("no place: %v", err)
			}
		}
	})
}
