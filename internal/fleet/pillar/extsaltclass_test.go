package pillar_test

import (
	"strings"
	"testing"
)

// classFiles are a tree of saltclass, compared with Salt's own module on the same files
// but for its two bugs: see docs/compatibility/bugs.md.
var classFiles = map[string]string{
	"/sc/nodes/a/minion1.yml": `
environment: prod
classes: [roles.web, default.*, missing.one]
states: [own]
pillars:
  name: node
  l: [n]
  deep: {a: 1}
  ref: "x-${default:domain}-${name}-${nope}"
  esc: '\${name}'
  refl: ["${name}", b, 5]
`,
	"/sc/nodes/other.yml": "classes: [roles.core]",
	"/sc/classes/roles/web.yml": `
classes: [roles.base, default.users]
states: [nginx]
pillars: {l: [w], deep: {b: 2}, seen: '{{ __pillar__.name }}-{{ minion_id }}-{{ __grains__.role }}{{ nope }}'}
`,
	"/sc/classes/roles/base.yml":    "classes: [roles.core]\nstates:\npillars: {l: [b], over: [1, 2]}",
	"/sc/classes/roles/core.yml":    "{% include 'part.txt' %}\npillars: {l: [c], over: [z]}",
	"/sc/classes/roles/part.txt":    "states: [core]",
	"/sc/classes/default/init.yml":  "classes: [roles.core, roles.web]\npillars: {default: {domain: example.com}, over: ['^', 9]}\nstates: [default]",
	"/sc/classes/default/users.yml": "pillars: {users: [{name: 'u-${name}'}], l: [u]}",
	"/sc/classes/empty.yml":         "",
	"/bad/nodes/minion1.yml":        "classes: [a]",
	"/bad/classes/a.yml":            "pillars: {x: '${y}', y: '${x}'}",
	"/kind/nodes/minion1.yml":       "classes: [a]",
	"/kind/classes/a.yml":           "pillars: {x: '${y}', y: 5}",
	"/text/nodes/minion1.yml":       "x: 1\npillars: [a]",
	"/twice/nodes/a/minion1.yml":    "{}",
	"/twice/nodes/b/minion1.yml":    "{}",
	"/out/nodes/minion1.yml":        "classes: ['../nodes/minion1', '...nodes.minion1']",
	"/out/classes/x.yml":            "",
}

func TestExtSaltclass(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ conf, pillar, wrong string }{
		{
			"{saltclass: [path: /sc]}",
			"{'__saltclass__': {'states': ['core', 'nginx', 'default', 'own'], 'classes': ['roles.core', 'roles.base', 'default.users', 'roles.web', 'default'], " +
				"'environment': 'prod', 'nodename': 'minion1'}, 'l': ['c', 'b', 'u', 'w', 'n'], 'over': [9], 'users': [{'name': 'u-node'}], " +
				"'deep': {'b': 2, 'a': 1}, 'seen': 'node-minion1-web', 'default': {'domain': 'example.com'}, 'name': 'node', " +
				"'ref': 'x-example.com-node-${nope}', 'esc': '${name}', 'refl': ['node', 'b', 5]}",
			"saltclass: there is no class missing.one",
		},
		{"{saltclass: {path: /nope}}", "{}", "/c/minion:"},
		{"{saltclass: {path: nope}}", "{}", `the path "nope" is not absolute`},
		{"{saltclass: {path: /bad}}", "{}", "references of the pillar lead to themselves"},
		{"{saltclass: {path: /kind}}", "{}", "the reference ${y} is to a number; only text can be put into text"},
		{"{saltclass: {path: /text}}", "{}", "/text/nodes/minion1.yml:2: pillars must be a mapping, not a list"},
		{"{saltclass: {path: /twice}}", "{}", "is in the nodes twice: nodes/a/minion1.yml and nodes/b/minion1.yml"},
		{"{saltclass: {path: /out}}", "{'__saltclass__': {'states': [], 'classes': [], 'environment': '', 'nodename': 'minion1'}}", "there is no class ../nodes/minion1"},
	} {
		pillar, wrong := rendered(t, fake(t, classFiles, "ext_pillar:\n- "+tt.conf))
		errors := strings.Contains(pillar, "'_errors'")
		if tt.pillar != "{}" && pillar != tt.pillar || tt.pillar == "{}" && !errors || !strings.Contains(wrong, tt.wrong) {
			t.Errorf("%s:\n%s, %s\nwant\n%s, %s", tt.conf, pillar, wrong, tt.pillar, tt.wrong)
		}
	}
}
