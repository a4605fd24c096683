package git_test

import (
	"context"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	mod "brine/modules/git"
	"brine/states/git"
)

const (
	old   = "1111111111111111111111111111111111111111"
	fresh = "2222222222222222222222222222222222222222"
)

// rig returns a machine whose git prints what said has for its arguments; what
// is not there fails with the text "no".
func rig(said map[string]string) (*calltest.Rig, *host.Fake, *[]string) {
	h := host.NewFake()
	h.PutExe("/usr/bin/git")
	for _, d := range []string{"/w/.git", "/tmp", "/root", "/full", "/b/refs"} {
		_ = h.MkdirAll(d, 0o755)
	}
	h.PutFile("/full/x", "", 0o644)
	h.PutFile("/file", "", 0o644)
	calls := &[]string{}
	h.HandleCommand("/usr/bin/git *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		key := strings.Join(c.Argv[1:], " ")
		*calls = append(*calls, key)
		if out, ok := said[key]; ok {
			return host.Output{Stdout: []byte(out)}, nil
		}
		return host.Output{Status: 1, Stderr: []byte("no")}, nil
	})
	return calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "git", Load: mod.Module}, fun.Entry{Kind: fun.State, Name: "git", Load: git.States}), h, calls
}

func clone(local string) map[string]string {
	return map[string]string{
		"ls-remote -- /up": fresh + "\tHEAD\n" + fresh + "\trefs/heads/main\n" + old + "\trefs/tags/v1\n",
		"for-each-ref --format %(refname:short) refs/heads/": "main\n",
		"for-each-ref --format %(refname:short) refs/tags/":  "v1\n",
		"rev-parse HEAD":                         local + "\n",
		"rev-parse --abbrev-ref HEAD":            "main\n",
		"remote --verbose":                       "origin\t/up (fetch)\norigin\t/up (push)\n",
		"diff HEAD --":                           "",
		"rev-parse --abbrev-ref main@{upstream}": "origin/main\n",
		"rev-parse " + fresh + "^{commit}":       fresh,
		"rev-parse origin/main":                  fresh,
		"rev-parse v1^{commit}":                  old,
		"rev-parse " + old + "^{commit}":         old,
		"ls-remote --tags origin":                old + "\trefs/tags/v1\n",
	}
}

func TestLatest(t *testing.T) {
	t.Parallel()
	said := clone(old)
	r, _, calls := rig(said)
	r.Steps(t, []calltest.Step{
		{"test git.latest {name: /up, target: rel}", "False: target 'rel' is not an absolute path {}"},
		{"test git.latest {name: /up, target: /file}", "False: Target '/file' exists and is a regular file, cannot proceed {}"},
		{"test git.latest {name: --upload-pack=x, target: /w}", "False: '--upload-pack=x' is not a valid value for the 'name' argument: it must not start with a dash {}"},
		{"test git.latest {name: /up, target: /w, rev: -x}", "False: '-x' is not a valid value for the 'rev' argument: it must not start with a dash {}"},
		{"test git.latest {name: /up, target: /w, rev: main, bare: true}", "False: 'rev' is not compatible with the 'mirror' and 'bare' arguments {}"},
		{"test git.latest {name: /up, target: /w, rev: nosuch}", "False: No revision matching 'nosuch' exists in the remote repository {}"},
		{"test git.latest {name: /up, target: /w, depth: 1}", "False: When 'depth' is used, 'rev' must be set to the name of a branch or tag on the remote repository {}"},
		{"test git.latest {name: /none, target: /w}", "False: Failed to check remote refs: no {}"},
		{"test git.latest {name: /up, target: /w, force_reset: maybe}", "False: 'force_reset' must be one of True, False, or 'remote-changes' {}"},
		{"test git.latest {name: /up, target: /w, identity: key}", "False: identity 'key' is not an absolute path {}"},
		{"test git.latest {name: /up, target: /w, identity: 'salt://none'}", "False: identity 'salt://none' does not exist. {}"},
		{"test git.latest {name: /up, target: /w, https_user: u}", "False: Basic Auth only supported for HTTPS {}"},
		{"test git.latest {name: /up, target: /full}", "False: Target '/full' exists, is non-empty and is not a git repository. Set the 'force_clone' option to True to remove this directory's contents and proceed with cloning the remote repository {}"},
		{"test git.latest {name: /up, target: /full, force_clone: true}", "None: Target directory /full exists. Since force_clone=True, the contents of /full would be deleted, and /up would be cloned into this directory. {'forced clone': True, 'new': '/up => /full'}"},
		{"test git.latest {name: /up, target: /new}", "None: Repository /up would be cloned to /new {'new': '/up => /new'}"},
		{"test git.latest {name: /up, target: /w, rev: main}", "False: Repository would be updated to 2222222, but this is not a fast-forward merge. Set 'force_reset' to True to force this update. {}"},
	})
	said["merge-base --is-ancestor "+old+" "+fresh] = ""
	r.Steps(t, []calltest.Step{
		{"test git.latest {name: /up, target: /w, rev: main}", "None: Repository would be fast-forwarded from 1111111 to 2222222 {'revision': {'old': '" + old + "', 'new': '" + fresh + "'}}"},
		{"test git.latest {name: /up, target: /w, rev: main, update_head: false}", "True: origin/main (2222222) is already present and local HEAD (1111111) does not match, but update_head=False. HEAD has not been updated locally. {}"},
		{"test git.latest {name: /up, target: /w, rev: v1}", "True: Repository /w is up-to-date\n\nChanges that would be made: Tracking branch would be unset {}"},
		{"test git.latest {name: /up, target: /w, rev: main, branch: other}", "None: New branch 'other' would be checked out, with origin/main (2222222) as a starting point. Tracking branch would be set to origin/main. {'revision': {'old': '" + old + "', 'new': '" + fresh + "'}}"},
		{"test git.latest {name: /up, target: /b, bare: true}", "True: Repository /b is up-to-date\n\nChanges that would be made: Bare repository at /b would be fetched {}"},
	})
	for _, c := range *calls {
		for _, verb := range []string{"clone", "fetch", "merge ", "reset", "checkout", "branch"} {
			if strings.HasPrefix(c, verb) {
				t.Errorf("test mode ran git %s", c)
			}
		}
	}
	said["diff HEAD --"] = "changes"
	said["symbolic-ref --quiet HEAD"] = "refs/heads/main"
	said["checkout -- ."] = ""
	r.Steps(t, []calltest.Step{
		{"state git.latest {name: /up, target: /w, rev: main}", "False: Repository would be updated from 1111111 to 2222222, but there are uncommitted changes. Set 'force_reset' to True (or 'remote-changes') to force this update and discard these changes. {}"},
		{"state git.latest {name: /up, target: /w, rev: main, force_reset: remote-changes}", "False: no\n\nChanges already made: Uncommitted changes were discarded {}"},
	})
	said["rev-parse HEAD"] = fresh
	r.Steps(t, []calltest.Step{
		{"state git.latest {name: /up, target: /w, rev: main}", "True: Repository /w is up-to-date, but with uncommitted changes. Set 'force_reset' to True to purge uncommitted changes. {}"},
		{"test git.latest {name: /up, target: /w, rev: main, force_reset: true}", "None: /w is up-to-date, but with uncommitted changes. Since 'force_reset' is set to True, these local changes would be reset. To only reset when there are changes in the remote repository, set 'force_reset' to 'remote-changes'. {'forced update': True}"},
	})
}

func TestConfig(t *testing.T) {
	t.Parallel()
	said := map[string]string{
		"config --local --get-all a.b":      "x\n",
		"config --local --get-regexp ^a.b$": "a.b x\na.b y\n",
		"config --global --get-all m.m":     "1\n2\n",
	}
	r, _, _ := rig(said)
	r.Steps(t, []calltest.Step{
		{"state git.config_set {name: a.b, value: x}", "False: Non-global config options require the 'repo' argument to be set {}"},
		{"state git.config_set {name: a.b, repo: /w}", "False: One of 'value' and 'multivar' is required {}"},
		{"state git.config_set {name: a.b, repo: /w, value: x, multivar: y}", "False: Only one of 'value' and 'multivar' is permitted {}"},
		{"state git.config_set {name: a.b, value: x, repo: /w}", "True: 'a.b' is already set to 'x' {}"},
		{"test git.config_set {name: a.b, value: z, repo: /w}", "None: 'a.b' would be set to 'z' {'old': ['x'], 'new': ['z']}"},
		{"test git.config_set {name: n.n, value: z, repo: /w}", "None: 'n.n' would be added as 'z' {'old': None, 'new': ['z']}"},
		{"state git.config_set {name: a.b, value: z, repo: /w}", "False: Failed to set 'a.b' to 'z': no {}"},
		{"state git.config_set {name: m.m, multivar: '1,2', global: true}", "True: Global key 'm.m' is already set to ['1', '2'] {}"},
		{"test git.config_unset {name: a.b, repo: /w}", "False: Multivar(s) matched by the key expression (set 'all' to True to force removal): a.b (x, y) {}"},
		{"test git.config_unset {name: a.b, repo: /w, all: true}", "None: 1 key(s) would have value(s) unset {'a.b': ['x', 'y']}"},
		{"state git.config_unset {name: a.b, repo: /w, all: true}", "False: Error(s) occurred unsetting values for the following keys: a.b (Section or key is invalid) {}"},
		{"state git.config_unset {name: none, repo: /w}", "True: No matching keys are set {}"},
	})
}

func TestOthers(t *testing.T) {
	t.Parallel()
	said := clone(old)
	said["init --bare -- /new"] = "done"
	said["status -z --porcelain"] = ""
	said["ls-remote -- /w"] = fresh + "\trefs/remotes/origin/main\n" + fresh + "\trefs/tags/v2\n" + old + "\trefs/tags/v2^{}\n"
	r, _, _ := rig(said)
	r.Steps(t, []calltest.Step{
		{"test git.present {name: /new}", "None: New bare repository would be created {'new': '/new'}"},
		{"state git.present {name: /new}", "True: Initialized bare repository in /new {'new': '/new'}"},
		{"state git.present {name: /w, bare: false}", "True:  {}"},
		{"state git.present {name: /full}", "False: Target '/full' exists, is non-empty, and is not a git repository. Set the 'force' option to True to remove this directory's contents and proceed with initializing a repository {}"},
		{"test git.present {name: /full, force: true}", "None: Target directory /full exists. Since force=True, the contents of /full would be deleted, and a bare repository would be initialized in its place. {'new': '/full', 'forced init': True}"},
		{"test git.cloned {name: /up, target: /new}", "None: /up would be cloned to /new {'new': '/up => /new'}"},
		{"state git.cloned {name: /up, target: /w}", "True: Repository already exists at /w {}"},
		{"state git.cloned {name: /up, target: /w, branch: main}", "True: Repository already exists at /w and is checked out to branch 'main' {}"},
		{"test git.cloned {name: /up, target: /w, branch: dev}", "None: Branch would be changed to 'dev' {'branch': {'old': 'main', 'new': 'dev'}}"},
		{"state git.cloned {name: /up, target: /w, branch: dev}", "False: Failed to change branch to 'dev': Command 'git checkout -b dev origin/dev' failed: no {}"},
		{"state git.cloned {name: /up, target: w}", "False: 'target' path must be absolute {}"},
		{"test git.detached {name: /up, target: /new, rev: v1}", "None: Repository /up would be cloned to /new {}"},
		{"test git.detached {name: /other, target: /w, rev: v1}", "None: Remote origin would be set to /other {}"},
		{"test git.detached {name: /up, target: /w, rev: v1}", "None: Repository remote origin would be fetched {}"},
		{"test git.detached {name: /up, target: /w, rev: main, fetch_remote: false}", "None: Commit ID " + fresh + " would be checked out at /w {'HEAD': {'old': '" + old + "', 'new': '" + fresh + "'}}"},
		{"state git.detached {name: /up, target: /w, rev: v2, fetch_remote: false}", "True: Already checked out at correct revision {}"},
		{"state git.detached {name: /up, target: /w, rev: v3, fetch_remote: false}", "False: Revision 'v3' does not exist {}"},
	})
}
