package hg_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	mod "brine/modules/hg"
	"brine/states/hg"
)

// rig returns a machine whose hg prints what said has for its directory and
// arguments; what is not there fails.
func rig(said map[string]string) (*calltest.Rig, *host.Fake) {
	h := host.NewFake()
	h.PutExe("/usr/bin/hg")
	for _, d := range []string{"/c/.hg", "/full/x", "/empty", "/root"} {
		_ = h.MkdirAll(d, 0o755)
	}
	h.HandleCommand("/usr/bin/hg *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		key := strings.Join(c.Argv[1:], " ")
		if c.Dir != "/root" && c.Dir != "/" {
			key = c.Dir + ": " + key
		}
		if out, ok := said[key]; ok {
			if strings.HasPrefix(key, "clone") {
				_ = h.MkdirAll(c.Argv[len(c.Argv)-1]+"/.hg", 0o755)
			}
			return host.Output{Stdout: []byte(out)}, nil
		}
		return host.Output{Status: 255, Stderr: []byte("abort: no " + key)}, nil
	})
	return calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "hg", Load: mod.Module}, fun.Entry{Kind: fun.State, Name: "hg", Load: hg.States}), h
}

func TestLatest(t *testing.T) {
	t.Parallel()
	said := map[string]string{
		"/c: id -i -r . --debug":                     "aaa",
		"/c: id -i --debug -r tip -- /same":          "aaa",
		"/c: id -i --debug -r v1 -- /up":             "bbb",
		"/c: pull -- /same":                          "no changes found",
		"/c: pull -- /up":                            "added 1 changesets",
		"/c: update tip":                             "",
		"clone -q --ssh ssh -i '/a key' -- /up /new": "",
		"clone -- https://u:secret@h/r /empty":       "",
		"clone -- /up /full":                         "",
		"/new: id -i -r tip --debug":                 "ccc",
		"/empty: id -i -r tip --debug":               "ccc",
		"/full: id -i -r tip --debug":                "ccc",
		"/c: status":                                 "M f\n? new file\n  old\n",
		"/c: log -r tip --template {latesttag}-{latesttagdistance}-{node|short}": "v1-2-aaa",
	}
	r, h := rig(said)
	r.Steps(t, []calltest.Step{
		{"state hg.latest {name: /up}", "False: \"target option is required {}"},
		{"state hg.latest {name: /up, target: rel}", "False: target 'rel' is not an absolute path {}"},
		{"test hg.latest {name: /same, target: /c}", "True: Repository /c is up to date (current revision is aaa) {}"},
		{"test hg.latest {name: /up, rev: v1, target: /c}", "None: Repository /c update is probably required (current revision is aaa) {}"},
		{"test hg.latest {name: /up, target: /c, update_head: false}", "True: The head would not be updated because update_head=False. {}"},
		{"state hg.latest {name: /same, target: /c}", "True:  {}"},
		{"state hg.latest {name: /up, target: /c, update_head: false}", "True: Update is probably required but update_head=False so we will skip updating. {}"},
		{"state hg.latest {name: /same, target: /c, update_head: false}", "True: No changes found and update_head=False so will skip updating. {}"},
		{"state hg.latest {name: /up, target: /c, rev: nope}", "False: Hg command failed: abort: no /c: update nope {}"},
		{"state hg.latest {name: /up, target: /c, rev: --debugger}", "False: invalid rev '--debugger': it must not be empty or start with a dash {}"},
		{"state hg.latest {name: /up, target: /full}", "False: Directory exists, and is not empty {}"},
		{"test hg.latest {name: /up, target: /full, force: true}", "None: Repository /up is about to be cloned to /full {}"},
		{"state hg.latest {name: /up, target: /full, force: true}", "True: Repository /up cloned to /full {'new': '/up', 'revision': 'ccc'}"},
		{"state hg.latest {name: /up, target: /new, opts: -q, identity: /a key}", "True: Repository /up cloned to /new {'new': '/up', 'revision': 'ccc'}"},
		{"state hg.latest {name: 'https://u:secret@h/r', target: /empty}", "True: Repository https://<redacted>@h/r cloned to /empty {'new': 'https://<redacted>@h/r', 'revision': 'ccc'}"},
		{"call hg.status {cwd: /c}", "{'modified': ['f'], 'not tracked': ['new file'], 'origin of the previous file': ['old']}"},
		{"call hg.status {cwd: [/c]}", "{'/c': {'modified': ['f'], 'not tracked': ['new file'], 'origin of the previous file': ['old']}}"},
		{"call hg.status {cwd: /full}", "error: Hg command failed: abort: no /full: status"},
		{"call hg.describe {cwd: /c}", "'v1-2-aaa'"},
		{"call hg.revision {cwd: /c, rev: nope}", "''"},
		{"call hg.archive {cwd: /c, output: -x}", "error: invalid output '-x': it must not be empty or start with a dash"},
		{"call hg.pull {cwd: /c, opts: \"'\"}", "error: invalid opts \"'\": No closing quotation"},
	})
	if _, err := h.Stat("/full/x"); !errors.Is(err, fs.ErrNotExist) {
		t.Error("force left what was in the target", err)
	}
}
