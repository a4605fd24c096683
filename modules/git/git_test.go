package git_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/modules/git"
)

// rig returns a machine whose git prints what said has for its arguments, without
// the -c options; calls are the arguments of all runs.
func rig(said map[string]string) (*calltest.Rig, *host.Fake, *[]host.Cmd) {
	h := host.NewFake()
	h.PutExe("/usr/bin/git")
	h.PutUser(host.Account{Name: "ann", UID: 1000, GID: 65534, Home: "/home/ann"})
	for _, d := range []string{"/r", "/tmp", "/home/ann", "/root"} {
		_ = h.MkdirAll(d, 0o755)
	}
	calls := &[]host.Cmd{}
	h.HandleCommand("/usr/bin/git *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		*calls = append(*calls, c)
		argv := c.Argv[1:]
		for len(argv) > 1 && argv[0] == "-c" {
			argv = argv[2:]
		}
		key := strings.Join(argv, " ")
		if out, ok := said[key]; ok {
			if msg, bad := strings.CutPrefix(out, "!"); bad {
				return host.Output{Status: 128, Stderr: []byte(msg)}, nil
			}
			return host.Output{Stdout: []byte(out)}, nil
		}
		return host.Output{Status: 1, Stderr: []byte("unexpected: " + key)}, nil
	})
	return calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "git", Load: git.Module}), h, calls
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	r, _, _ := rig(map[string]string{
		"add --verbose -n -- -x":                               "add '-x'\n",
		"archive --prefix r/ --output /tmp/a.tar HEAD":         "",
		"branch -d topic":                                      "",
		"checkout --force main":                                "ok\n",
		"clone --depth 1 -- https://h/r.git /r/x":              "",
		"config --get-all user.name":                           "",
		"config --local --get-all user.name":                   "a\nb\n",
		"config --local --get-regexp user.*":                   "user.name a\nuser.name b\nuser.email\n",
		"config --global --unset-all user.name":                "",
		"config --add a.b v":                                   "",
		"config --local --get-all a.b":                         "v\n",
		"diff HEAD -- p":                                       "diff\n",
		"fetch --force origin +a:b":                            "From x\n * [new branch]      dev -> origin/dev\n * [new tag]  v1 -> v1\n   1234567..89abcde  main -> origin/main\n",
		"for-each-ref --format %(refname:short) refs/remotes/": "origin/main\n",
		"init --bare --shared=0660 -- /r/i":                    "Initialized\n",
		"ls-remote --tags https://h/r.git":                     "sha\trefs/tags/v1\n",
		"merge-base --is-ancestor a b":                         "",
		"merge-base a b":                                       "base\n",
		"merge-tree base a b":                                  "tree\n",
		"remote --verbose":                                     "origin\thttps://u:p@h/r.git (fetch)\norigin\thttps://u:p@h/r.git (push)\n",
		"status -z --porcelain":                                " M f\x00?? new file\x00",
		"symbolic-ref HEAD refs/heads/x":                       "",
		"tag -a -m why v1 HEAD":                                "",
		"--version":                                            "git version 2.39.5 (Apple Git-1)\n",
		"worktree add -b x /r/x":                               "",
		"worktree list --porcelain":                            "worktree /r\nHEAD abc\nbranch refs/heads/main\n\nworktree /gone\nHEAD def\ndetached\nprunable gone\n",
		"tag --points-at def":                                  "v1\n",
	})
	r.Steps(t, []calltest.Step{
		{"call git.add {cwd: /r, filename: -x, opts: -v -n}", `"add '-x'"`},
		{"call git.archive [/r, /tmp/a.tar]", "True"},
		{"call git.branch [/r, topic, -d]", "True"},
		{"call git.checkout {cwd: /r, rev: main, force: true}", "'ok'"},
		{"call git.checkout {cwd: /r}", "error: 'rev' argument is required unless -b or -B in opts"},
		{"call git.checkout {cwd: /r, rev: --orphan}", "error: invalid rev '--orphan': it must not start with a dash"},
		{"call git.clone {cwd: /r/x, url: 'https://h/r.git', opts: --depth 1}", "True"},
		{"call git.clone {cwd: /r/x, url: '--upload-pack=x'}", "error: invalid url '--upload-pack=x': it must not start with a dash"},
		{"call git.clone {cwd: /r/x, url: 'http://h/r.git', https_user: a}", "error: Basic Auth only supported for HTTPS"},
		{"call git.config_get {key: user.name, cwd: /r}", "'b'"},
		{"call git.config_get {key: user.name, cwd: /r, all: true}", "['a', 'b']"},
		{"call git.config_get {key: user.name}", "error: 'cwd' argument required unless global=True"},
		{"call git.config_get {key: none, cwd: /r}", "None"},
		{"call git.config_get_regexp ['user.*', null, /r]", "{'user.name': ['a', 'b']}"},
		{"call git.config_set {key: a.b, value: v, cwd: /r, add: true}", "['v']"},
		{"call git.config_set {key: a.b, value: v, multivar: x, cwd: /r}", "error: Only one of 'value' and 'multivar' is permitted"},
		{"call git.config_unset {key: user.name, global: true, all: true}", "True"},
		{"call git.config_unset {key: a.x, cwd: /r}", "error: Section or key is invalid"},
		{"call git.diff {cwd: /r, item1: HEAD, paths: p}", "'diff'"},
		{"call git.diff {cwd: /r, no_index: true, cached: true}", "error: The 'no_index' and 'cached' options cannot be used together"},
		{"call git.fetch {cwd: /r, remote: origin, force: true, refspecs: '+a:b'}", "{'new branches': ['dev'], 'new tags': ['v1'], 'updated branches': {'main': {'old': '1234567', 'new': '89abcde'}}}"},
		{"call git.list_branches [/r, true]", "['origin/main']"},
		{"call git.init {cwd: /r/i, bare: true, shared: 660}", "'Initialized'"},
		{"call git.ls_remote {remote: 'https://u:p@h/r.git', opts: --tags}", "{'refs/tags/v1': 'sha'}"},
		{"call git.merge_base {cwd: /r, refs: 'a, b', is_ancestor: true}", "True"},
		{"call git.merge_base {cwd: /r, refs: a, is_ancestor: true}", "error: Two refs/commits are required if 'is_ancestor' is True"},
		{"call git.merge_base {cwd: /r, refs: [a, b]}", "'base'"},
		{"call git.merge_tree [/r, a, b]", "'tree'"},
		{"call git.rebase {cwd: /r, opts: -i}", "error: Interactive rebases are not supported"},
		{"call git.remote_get [/r]", "{'fetch': 'https://<redacted>@h/r.git', 'push': 'https://<redacted>@h/r.git'}"},
		{"call git.remote_get [/r, other]", "error: Remote 'other' not present in git checkout located at /r"},
		{"call git.status [/r]", "{'modified': ['f'], 'untracked': ['new file']}"},
		{"call git.symbolic_ref [/r, HEAD, refs/heads/x]", "''"},
		{"call git.symbolic_ref {cwd: /r, ref: HEAD, value: x, opts: -d}", "error: Value cannot be set for symbolic ref if -d/--delete is included in opts"},
		{"call git.tag {cwd: /r, name: v1, message: why}", "''"},
		{"call git.tag {cwd: /r, name: v1, opts: -m x}", `error: Tag messages must be passed in the "message" argument`},
		{"call git.submodule {cwd: /r, command: update, init: true}", "error: The 'init' argument is no longer supported. Either set 'command' to 'init', or include '--init' in the 'opts' argument and set 'command' to 'update'."},
		{"call git.version []", "'2.39.5'"},
		{"call git.version [true]", "[2, 39, 5]"},
		{"call git.worktree_add [/r, /r/x]", "''"},
		{"call git.list_worktrees [/r]", "{'/r': {'stale': False, 'HEAD': 'abc', 'detached': False, 'branch': 'main'}}"},
		{"call git.list_worktrees {cwd: /r, stale: true}", "{'/gone': {'stale': True, 'HEAD': 'def', 'detached': True, 'branch': None, 'tags': ['v1']}}"},
		{"call git.worktree_rm [/nowhere]", "error: /nowhere does not exist"},
		{"call git.revision [/r, nosuch]", "error: Command 'git rev-parse nosuch' failed: unexpected: rev-parse nosuch"},
	})
}

// Credentials reach git by its environment, and a repository by the standard
// input of git credential-store.
func TestCredentials(t *testing.T) {
	t.Parallel()
	r, _, calls := rig(map[string]string{
		"clone -- https://h/r.git /r/x":                             "",
		"rev-parse --git-dir":                                       ".git\n",
		"credential-store --file=/r/x/.git/brine-credentials store": "",
		"config --local --replace-all credential.https://h.helper store --file=/r/x/.git/brine-credentials": "",
		"ls-remote https://h/r.git": "!fatal: bad https://u:s3cret@h/r.git\n",
	})
	h := r.Env.Host.(*host.Fake)
	_ = h.MkdirAll("/r/x", 0o755)
	if got := r.Fn(t, "git.clone", "{cwd: /r/x, url: 'https://old@h/r.git', https_user: u, https_pass: 's3cret'}"); got != "True" {
		t.Fatal(got)
	}
	got := r.Fn(t, "git.remote_refs", "['https://u:s3cret@h/r.git']")
	if want := "error: Command 'git ls-remote https://h/r.git' failed: fatal: bad https://<redacted>@h/r.git"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, c := range *calls {
		if strings.Contains(strings.Join(c.Argv, " "), "s3cret") {
			t.Errorf("password among the arguments: %q", c.Argv)
		}
	}
	if !slices.Contains((*calls)[0].Env, "BRINE_GIT_PASSWORD=s3cret") {
		t.Error("git clone does not get the password")
	}
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	r, h, calls := rig(map[string]string{"ls-remote git@h:r": "!denied\n"})
	h.PutFile("/srv/salt/keys/id", "KEY\n", 0o644)
	h.PutFile("/k/locked", "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n", 0o600)
	got := r.Fn(t, "git.remote_refs", "{url: 'git@h:r', user: ann, identity: ['salt://keys/id', /k/locked, /k/none]}")
	want := "error: Unable to authenticate using identity file:\n\ndenied\nIdentity file /k/locked is passphrase-protected and cannot be used in a non-interactive command.\n\n" +
		"The following identity file(s) were not found: /k/none"
	if got != want {
		t.Errorf("got %s", got)
	}
	id := ""
	for _, kv := range (*calls)[0].Env {
		if v, ok := strings.CutPrefix(kv, "GIT_IDENTITY="); ok {
			id = v
		}
	}
	if _, err := h.Stat(id); id == "" || err == nil {
		t.Errorf("the copy of the identity file %q is still there", id)
	}
	if u := (*calls)[0].User; u == nil || u.Name != "ann" {
		t.Errorf("git ran as %v", u)
	}
}

func TestWithAuth(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, plain, user, password string }{
		{"https://u:p%40s@h:8443/a/b?c", "https://h:8443/a/b?c", "u", "p@s"},
		{"https://h/a", "https://h/a", "", ""},
		{"https://u@h/a", "https://u@h/a", "", ""},
		{"git@h:a/b", "git@h:a/b", "", ""},
		{"ssh://u:p@h/a", "ssh://u:p@h/a", "", ""},
		{"HTTP://u:@h", "HTTP://h", "u", ""},
	} {
		g, plain, err := (&git.Client{}).WithAuth(tt.in, nil, nil)
		if err != nil || plain != tt.plain {
			t.Errorf("WithAuth(%q) = %q, %v, want %q", tt.in, plain, err, tt.plain)
			continue
		}
		if a := g.Auth; a == nil && tt.user != "" || a != nil && (a.User != tt.user || a.Password != tt.password) {
			t.Errorf("WithAuth(%q): credentials %v", tt.in, a)
		}
	}
}

func TestRedact(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"fatal: https://u:p@h/r not found": "fatal: https://<redacted>@h/r not found",
		"a https://h/r and b@c":            "a https://h/r and b@c",
		"HTTP://x:a@b@h/":                  "HTTP://<redacted>@h/",
	} {
		if got := git.Redact(in); got != want {
			t.Errorf("Redact(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzURL(f *testing.F) {
	f.Add("https://u:p@h/r.git")
	f.Add("http://%zz:@@")
	f.Fuzz(func(t *testing.T, s string) {
		g, plain, err := (&git.Client{}).WithAuth(s, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if again := git.Plain(plain); g.Auth == nil && again != plain {
			t.Errorf("Plain(%q) = %q", plain, again)
		}
		_, _ = git.Words(value.Value(s))
		_ = git.Redact(s)
	})
}
