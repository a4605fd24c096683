package helm_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	mod "brine/modules/helm"
	"brine/states/helm"
)

// rig returns a machine whose helm prints what said has; what is not there fails.
func rig(said map[string]string) (*calltest.Rig, *[]string) {
	h := host.NewFake()
	h.PutExe("/usr/bin/helm")
	ran := &[]string{}
	h.HandleCommand("*", func(_ context.Context, c host.Cmd) (host.Output, error) {
		line := strings.Join(c.Argv[1:], " ")
		*ran = append(*ran, line)
		out, ok := said[line]
		switch {
		case ok:
			return host.Output{Stdout: []byte(out)}, nil
		case strings.HasPrefix(line, "status gone"):
			return host.Output{Status: 1, Stderr: []byte("Error: release: not found\n")}, nil
		}
		return host.Output{Status: 1, Stderr: []byte("Error: no " + line + "\n")}, nil
	})
	return calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "helm", Load: mod.Module}, fun.Entry{Kind: fun.State, Name: "helm", Load: helm.States}), ran
}

func TestStates(t *testing.T) {
	t.Parallel()
	r, ran := rig(map[string]string{
		"repo list --output json":                   `[{"name":"a","url":"https://a"},{"name":"b","url":"https://b"}]`,
		"repo add c https://c --username u":         "added",
		"repo remove b":                             "removed",
		"repo update --username u":                  "updated",
		"repo update":                               "updated",
		"status web --namespace shop --output json": `{"name":"web","version":2,"manifest":"long"}`,
		"upgrade web a/nginx --version 1.2 --namespace shop --set x=1 --set y=2": "ok",
		"uninstall web --dry-run --namespace shop":                               "gone",
	})
	r.Steps(t, []calltest.Step{
		{"state helm.repo_managed {name: x, present: [{name: a, url: 'https://a'}], absent: [z]}", "True: Helm repo is managed. {}"},
		{"test helm.repo_managed {name: x, present: [{name: a, url: 'https://a'}], prune: true}", "None: Helm repo would have been managed. {}"},
		{"state helm.repo_managed {name: x, present: [{name: a, url: 'https://a'}, {name: c, url: 'https://c'}], absent: [b, z], repo_update: true, kvflags: {username: u}}", "True: Repositories were added or removed. {'present': [{'name': 'a', 'url': 'https://a'}], 'added': [{'name': 'c', 'url': 'https://c'}], 'absent': ['z'], 'removed': ['b'], 'failed': [], 'repo_update': True}"},
		{"state helm.repo_managed {name: x, present: [{name: a, url: 'https://other'}]}", "False: Failed to add or remove some repositories.\nError: no repo add a https://other {'present': [{'name': 'b', 'url': 'https://b'}], 'added': [], 'absent': [], 'removed': [], 'failed': [{'name': 'a', 'url': 'https://other'}]}"},
		{"state helm.repo_managed {name: x, present: [{name: a}]}", "False: Failed to add some repositories: Parameter present have to be formatted like [{'name': '<myRepoName>', 'url': '<myRepoUrl>'}] {}"},
		{"test helm.repo_updated {name: x}", "None: Helm repo would have been updated. {}"},
		{"state helm.repo_updated {name: x}", "True: Helm repo is updated. {}"},
		{"state helm.repo_updated {name: x, flags: [debug]}", "False: Failed to sync some repositories.\nError: no repo update --debug {}"},
		{"test helm.release_present {name: web, chart: a/nginx}", "None: Helm release would have been installed or updated. {}"},
		{"state helm.release_present {name: web, chart: a/nginx, namespace: shop, version: '1.2', set: [x=1, y=2]}", "True: Helm release web is present {'name': 'web', 'version': 2}"},
		{"state helm.release_present {name: gone, chart: a/nginx}", "False: Error: no install gone a/nginx {}"},
		{"state helm.release_present {name: -x, chart: a/nginx}", "False: invalid argument '-x': it must not be empty or start with a dash {}"},
		{"state helm.release_absent {name: gone}", "True: Helm release gone is absent. {}"},
		{"test helm.release_absent {name: web, namespace: shop}", "None: Helm release would have been uninstalled. {}"},
		{"state helm.release_absent {name: web, namespace: shop, flags: [dry-run]}", "True: Helm release web is absent. {'absent': 'web'}"},
		{"state helm.release_absent {name: lost}", "False: Error: no status lost --output json {}"},
	})
	if n := len(slices.DeleteFunc(slices.Clone(*ran), func(l string) bool { return !strings.HasPrefix(l, "repo remove") })); n != 1 {
		t.Errorf("%d repositories were removed: %q", n, *ran)
	}
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	r, ran := rig(map[string]string{
		"version --short":                          "v3.12.0",
		"list --namespace shop --output json":      `[{"name":"web"}]`,
		"list --output yaml":                       "- name: web",
		"rollback web":                             "ok",
		"rollback web 3":                           "ok",
		"search repo nginx --output json":          "[]",
		"template web a/nginx --output-dir /tmp/x": "wrote",
		"help install":                             "usage",
		"get values web --output json":             "{\"a\": 1}",
		"repo list --output json":                  "[]",
		"repo add a https://a":                     "added",
	})
	r.Steps(t, []calltest.Step{
		{"call helm.version {flags: [short]}", "'v3.12.0'"},
		{"call helm.list {namespace: shop}", "[{'name': 'web'}]"},
		{"call helm.list {kvflags: {output: yaml}}", "'- name: web'"},
		{"call helm.rollback {release: web, revision: 3}", "True"},
		{"call helm.search_repo {keyword: nginx}", "[]"},
		{"call helm.template {name: web, chart: a/nginx, output_dir: /tmp/x}", "'wrote'"},
		{"call helm.help {command: install}", "'usage'"},
		{"call helm.get_values {release: web}", "{'a': 1}"},
		{"call helm.uninstall {release: web}", "'Error: no uninstall web'"},
		{"call helm.repo_manage {present: [{name: a, url: 'https://a'}]}", "{'present': [], 'added': [{'name': 'a', 'url': 'https://a'}], 'absent': [], 'removed': [], 'failed': []}"},
		{"call helm.pull {pkg: --help}", "\"invalid argument '--help': it must not be empty or start with a dash\""},
	})
	if slices.ContainsFunc(*ran, func(l string) bool { return strings.HasPrefix(l, "pull") }) {
		t.Error("an option among the words was passed on")
	}
}
