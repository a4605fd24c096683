package cron_test

import (
	"context"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	mod "brine/modules/cron"
	"brine/states/cron"
)

func rig(tabs map[string]string) (*calltest.Rig, *host.Fake) {
	h := host.NewFake()
	h.PutExe("/usr/bin/crontab")
	h.PutUser(host.Account{Name: "ann", UID: 1000, GID: 65534})
	h.HandleCommand("crontab *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		user, argv := "root", c.Argv[1:]
		if argv[0] == "-u" {
			user, argv = argv[1], argv[2:]
		}
		if argv[0] == "-l" {
			if text, ok := tabs[user]; ok {
				return host.Output{Stdout: []byte(text)}, nil
			}
			return host.Output{Status: 1, Stderr: []byte("no crontab for " + user + "\n")}, nil
		}
		if user == "bad" {
			return host.Output{Status: 1, Stderr: []byte("no\n")}, nil
		}
		tabs[user] = h.Text(argv[0])
		return host.Output{}, nil
	})
	return calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "cron", Load: mod.Module}, fun.Entry{Kind: fun.State, Name: "cron", Load: cron.States}), h
}

const tag = "# Lines below here are managed by Salt, do not edit\n"

func TestJobs(t *testing.T) {
	t.Parallel()
	tabs := map[string]string{}
	r, _ := rig(tabs)
	r.Steps(t, []calltest.Step{
		{"test cron.present {name: /bin/a, minute: random}", "None: Cron /bin/a is set to be added {}"},
		{"state cron.present {name: ' /bin/a ', minute: 7}", "True: Cron /bin/a added to root's crontab {'root': '/bin/a'}"},
		{"state cron.present {name: /bin/a, minute: random}", "True: Cron /bin/a already present {}"},
		{"test cron.present {name: /bin/a, minute: 8}", "None: Cron /bin/a is set to be updated {}"},
		{"state cron.present {name: /bin/a, minute: 8, comment: 'why '}", "True: Cron /bin/a updated {'root': '/bin/a'}"},
		{"state cron.present {name: /bin/a, minute: 8, comment: 'why '}", "True: Cron /bin/a already present {}"},
		{"state cron.present {name: /bin/a, minute: 8, identifier: A}", "True: Cron /bin/a updated {'root': '/bin/a'}"},
		{"state cron.present {name: /bin/b, special: '@daily', identifier: null, comment: \"two\\nlines\\n\"}", "True: Cron /bin/b added to root's crontab {'root': '/bin/b'}"},
		{"state cron.present {name: /bin/b, special: '@daily', identifier: null, comment: \"two\\nlines\\n\"}", "True: Cron /bin/b already present {}"},
		{`state cron.present {name: "a\nb"}`, "False: Cron a\nb is not valid: name must be a single line {}"},
		{"state cron.present {name: /bin/c, user: bad}", "False: Cron /bin/c for user bad failed to commit with error \nno {}"},
		{"test cron.absent {name: /bin/b}", "None: Cron /bin/b is set to be removed {}"},
	})
	want := tag + "# why SALT_CRON_IDENTIFIER:A\n8 * * * * /bin/a\n# two\n# lines\n@daily /bin/b\n"
	if tabs["root"] != want {
		t.Errorf("crontab:\n%s\nwant:\n%s", tabs["root"], want)
	}
	r.Steps(t, []calltest.Step{
		{"test cron.absent {name: /bin/b, special: '@hourly'}", "True: Cron /bin/b is absent {}"},
		{"state cron.absent {name: /bin/b, special: '@hourly'}", "True: Cron /bin/b already absent {}"},
		{"state cron.absent {name: /bin/b}", "True: Cron /bin/b removed from root's crontab {'root': '/bin/b'}"},
		{"state cron.absent {name: x, identifier: A, minute: 1}", "True: Cron x removed from root's crontab {'root': 'x'}"},
		{"state cron.absent {name: x, identifier: A}", "True: Cron x already absent {}"},
	})
	if tabs["root"] != tag {
		t.Errorf("crontab after removal: %q", tabs["root"])
	}
}

// Two states with the same command and different identifiers are two jobs.
func TestSameCommand(t *testing.T) {
	t.Parallel()
	tabs := map[string]string{}
	r, _ := rig(tabs)
	r.Add(&fun.Chunk{State: "cron", Fun: "present", Name: "/bin/a", Low: value.MapOf("name", "/bin/a")})
	r.Add(&fun.Chunk{State: "cron", Fun: "present", Name: "/bin/a", Low: value.MapOf("name", "/bin/a", "identifier", "B")})
	for range 2 {
		r.State(t, "cron.present", "{name: /bin/a, minute: 1}", false)
		r.State(t, "cron.present", "{name: /bin/a, minute: 2, identifier: B}", false)
	}
	if want := tag + "# SALT_CRON_IDENTIFIER:/bin/a\n1 * * * * /bin/a\n# SALT_CRON_IDENTIFIER:B\n2 * * * * /bin/a\n"; tabs["root"] != want {
		t.Errorf("crontab:\n%s", tabs["root"])
	}
}

func TestEnv(t *testing.T) {
	t.Parallel()
	tabs := map[string]string{}
	r, _ := rig(tabs)
	r.Steps(t, []calltest.Step{
		{"test cron.env_present {name: M, value: a}", "None: Cron env M is set to be added {}"},
		{"state cron.env_present {name: M, value: a}", "True: Cron env M added to root's crontab {'root': 'M'}"},
		{"state cron.env_present {name: M, value: a}", "True: Cron env M already present {}"},
		{"test cron.env_present {name: M}", "None: Cron env M is set to be updated {}"},
		{"state cron.env_present {name: M}", "True: Cron env M updated {'root': 'M'}"},
		{"state cron.env_present {name: M, value: ''}", "True: Cron env M already present {}"},
		{"state cron.env_present {name: 'M N', value: ''}", `False: Cron env M N is not valid: "M N" is not a name of an environment variable {}`},
		{"test cron.env_absent {name: M}", "None: Cron env M is set to be removed {}"},
		{"state cron.env_absent {name: M}", "True: Cron env M removed from root's crontab {'root': 'M'}"},
		{"state cron.env_absent {name: M}", "True: Cron env M already absent {}"},
		{"test cron.env_absent {name: M}", "True: Cron env M is absent {}"},
	})
}

func TestFile(t *testing.T) {
	t.Parallel()
	tabs := map[string]string{"root": "# old\n"}
	r, h := rig(tabs)
	h.PutFile("/srv/salt/tab", "# {{ who }}\n", 0o644)
	const diff = "--- \n+++ \n@@ -1 +1 @@\n-# old\n+# me\n"
	r.Steps(t, []calltest.Step{
		{"test cron.file {name: 'salt://tab', template: jinja, context: {who: me}}", "None: The following values are set to be changed:\ndiff: " + diff + "\n {}"},
		{"state cron.file {name: 'salt://tab', template: jinja, context: {who: me}, replace: False}", "True: User root already has a crontab. No changes made {}"},
		{"state cron.file {name: 'salt://tab', template: jinja, defaults: {who: me}}", "True: Crontab for user root was updated {'diff': '--- \\n+++ \\n@@ -1 +1 @@\\n-# old\\n+# me\\n'}"},
		{"state cron.file {name: 'salt://tab', template: jinja, context: {who: me}}", "True: Crontab for user root is in the correct state {}"},
		{"state cron.file {name: 'salt://none'}", "False: Source file salt://none not found in saltenv 'base' {}"},
		{"state cron.file {name: 'salt://tab', user: none}", "False: Could not identify group for user none {}"},
		{"state cron.file {name: 'salt://tab', user: ann, replace: False}", "True: Crontab for user ann was updated {'diff': '--- \\n+++ \\n@@ -1 +1 @@\\n-\\n+# {{ who }}\\n', 'user': 'ann', 'group': 'nogroup'}"},
	})
}
