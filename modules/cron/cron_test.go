package cron_test

import (
	"context"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	"brine/modules/cron"
)

// machine has a crontab(1) that keeps crontabs in memory.
func machine(tabs map[string]string) *host.Fake {
	h := host.NewFake()
	h.PutExe("/usr/bin/crontab")
	h.PutUser(host.Account{Name: "ann", UID: 1000, GID: 1000})
	h.HandleCommand("crontab *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		user, argv := "root", c.Argv[1:]
		if argv[0] == "-u" {
			user, argv = argv[1], argv[2:]
		}
		if user == "nobody2" {
			return host.Output{Status: 1, Stderr: []byte("crontab:  user `nobody2' unknown\n")}, nil
		}
		if argv[0] == "-l" {
			if text, ok := tabs[user]; ok {
				return host.Output{Stdout: []byte(text)}, nil
			}
			return host.Output{Status: 1, Stderr: []byte("no crontab for " + user + "\n")}, nil
		}
		text := h.Text(argv[0])
		if strings.Contains(text, "99 ") {
			return host.Output{Status: 1, Stderr: []byte("\"-\":1: bad minute\nerrors in crontab file, can't install.\n")}, nil
		}
		tabs[user] = text
		return host.Output{}, nil
	})
	return h
}

func rig(h host.Host) *calltest.Rig {
	return calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "cron", Load: cron.Module})
}

const byHand = "# mine\nA=b\n\n1 2 * * * /bin/hand\n"

func TestFunctions(t *testing.T) {
	t.Parallel()
	tabs := map[string]string{"root": byHand}
	h := machine(tabs)
	rig(h).Steps(t, []calltest.Step{
		{"call cron.list_tab [root]", "{'pre': ['# mine', 'A=b', '', '1 2 * * * /bin/hand'], 'crons': [], 'special': [], 'env': []}"},
		{"call cron.raw_cron [ann]", "''"},
		{"call cron.raw_cron [nobody2]", "''"},
		{"call cron.raw_cron ['-r']", `error: invalid user name "-r"`},
		{"call cron.set_job {user: root, minute: 5, hour: '*', daymonth: '*', month: JAN, dayweek: '*', cmd: /bin/a, identifier: A, comment: note}", "'new'"},
		{"call cron.set_job {user: root, minute: 5, hour: '*', daymonth: '*', month: jan, dayweek: '*', cmd: /bin/a, identifier: A}", "'present'"},
		{"call cron.set_job {user: root, minute: 6, hour: '*', daymonth: '*', month: jan, dayweek: '*', cmd: /bin/a, identifier: A}", "'updated'"},
		{"call cron.set_job {user: root, minute: 99, hour: '*', daymonth: '*', month: jan, dayweek: '*', cmd: /bin/a, identifier: A}", `'"-":1: bad minute\nerrors in crontab file, can\'t install.'`},
		{"call cron.set_job {user: root, minute: '1 2', hour: '*', daymonth: '*', month: jan, dayweek: '*', cmd: /bin/a}", `error: minute must be a single field such as 5, */10 or mon-fri, not "1 2"`},
		{`call cron.set_job {user: root, minute: '1', hour: '*', daymonth: '*', month: jan, dayweek: '*', cmd: "a\nb"}`, `error: name must be a single line`},
		{"call cron.set_job {user: root, minute: 'a:b', hour: '*', daymonth: '*', month: jan, dayweek: '*', cmd: /bin/a}", `error: a random time between two bounds is written as two numbers, not "a:b"`},
		{"call cron.set_special [root, '@daily', /bin/s]", "'new'"},
		{"call cron.set_special [root, '@daily', /bin/s]", "'updated'"},
		{"call cron.set_special [root, '@daily x', /bin/s]", `error: special must be a single word such as @daily, not "@daily x"`},
		{"call cron.set_env [root, X, 'y z']", "'new'"},
		{"call cron.set_env [root, X, 'y z']", "'present'"},
		{"call cron.set_env [root, X]", "'updated'"},
		{"call cron.set_env [root, X, '']", "'present'"},
		{"call cron.set_env [root, 'X Y', 'z']", `error: "X Y" is not a name of an environment variable`},
		{"call cron.get_entry {user: root, identifier: A}", "{'minute': '6', 'hour': '*', 'daymonth': '*', 'month': 'jan', 'dayweek': '*', 'identifier': 'A', 'cmd': '/bin/a', 'comment': 'note', 'commented': False}"},
		{"call cron.get_entry {user: root, cmd: /bin/s}", "{'spec': '@daily', 'cmd': '/bin/s', 'identifier': None, 'comment': None, 'commented': False}"},
		{"call cron.get_entry {user: root, identifier: none}", "False"},
	})
	want := byHand + "# Lines below here are managed by Salt, do not edit\nX=\"\"\n# note SALT_CRON_IDENTIFIER:A\n6 * * jan * /bin/a\n@daily /bin/s\n"
	if tabs["root"] != want {
		t.Errorf("crontab:\n%s\nwant:\n%s", tabs["root"], want)
	}
	rig(h).Steps(t, []calltest.Step{
		{"call cron.rm_job {user: root, cmd: /bin/a, minute: 7, identifier: A}", "'absent'"},
		{"call cron.rm {user: root, cmd: /bin/a}", "'absent'"},
		{"call cron.rm {user: root, cmd: /bin/a, minute: random, identifier: A}", "'removed'"},
		{"call cron.rm_special [root, /bin/s, '@hourly']", "'absent'"},
		{"call cron.rm_special [root, /bin/s]", "'removed'"},
		{"call cron.rm_env [root, X]", "'removed'"},
		{"call cron.rm_env [root, X]", "'absent'"},
		{"call cron.write_cron_file [ann, '-x']", `error: invalid path "-x"`},
	})
	if want := byHand + "# Lines below here are managed by Salt, do not edit\n"; tabs["root"] != want {
		t.Errorf("crontab after removal: %q", tabs["root"])
	}
	h.PutFile("/tmp/tab", "1 1 1 1 1 /x\n", 0o644)
	rig(h).Steps(t, []calltest.Step{
		{"call cron.write_cron_file [ann, /tmp/tab]", "True"},
		{"call cron.ls [ann]", "{'pre': ['1 1 1 1 1 /x'], 'crons': [], 'special': [], 'env': []}"},
	})
}

// A crontab that cannot be read is not replaced.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.PutExe("/usr/bin/crontab")
	h.OnCommand("crontab *", host.Output{Status: 1, Stderr: []byte("crontabs: Permission denied\n")})
	rig(h).Steps(t, []calltest.Step{
		{"call cron.set_special [root, '@daily', /bin/s]", "'crontabs: Permission denied'"},
	})
	if w := h.Writes(); len(w) != 0 {
		t.Errorf("it wrote: %v", w)
	}
}

// What others wrote stays as and where it is, also between the jobs.
func TestKeeps(t *testing.T) {
	t.Parallel()
	const text = "# head\n# Lines below here are managed by Salt, do not edit\nPATH = /bin\n\n# a note\n\n1\t2 * *  * /bin/tabs  x\nnonsense\n# SALT_CRON_IDENTIFIER:B\n#DISABLED#@daily /bin/b\n# tail\n"
	tab := cron.Parse(text)
	if got := tab.String(); got != text {
		t.Errorf("printed again: %q", got)
	}
	w := &cron.Want{}
	w.Special, w.Cmd, w.Identifier, w.HasIdentifier = "@daily", "/bin/b2", "B", true
	have := tab.Find(w.Cmd, "B")
	if have == nil || !have.Commented || have.Cmd != "/bin/b" || !w.Due(have) {
		t.Fatalf("found %+v", have)
	}
	w.Put(tab, have)
	if j := tab.Find("/bin/tabs  x", ""); j == nil || j.Minute != "1" || j.Hour != "2" || j.HasComment {
		t.Errorf("job with tabs: %+v", j)
	}
	want := strings.Replace(text, "# SALT_CRON_IDENTIFIER:B\n#DISABLED#@daily /bin/b\n# tail\n", "# tail\n# SALT_CRON_IDENTIFIER:B\n@daily /bin/b2\n", 1)
	if got := tab.String(); got != want {
		t.Errorf("changed: %q, want %q", got, want)
	}
}

// Random times are picked once, inside their bounds.
func TestRandom(t *testing.T) {
	t.Parallel()
	for range 50 {
		w := &cron.Want{}
		w.Minute, w.Hour, w.DayMonth, w.Month, w.DayWeek, w.Cmd = "random", "10:9", "random", "2", "random", "/bin/x"
		if err := w.Check(); err != nil {
			t.Fatal(err)
		}
		tab := cron.Parse("")
		w.Put(tab, nil)
		j := tab.Find("/bin/x", "")
		if j.Hour != "9" && j.Hour != "10" || j.Minute == "random" || len(j.DayMonth) > 2 || j.DayMonth > "28" && len(j.DayMonth) == 2 || w.Due(j) {
			t.Fatalf("picked %+v", j)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(byHand)
	f.Add("# Lines below here are managed by Salt, do not edit\n# c SALT_CRON_IDENTIFIER:x\n1 2 3 4 5 x\n@daily y\nA = b\n#DISABLED#1 1 1 1 1 z\n")
	f.Fuzz(func(t *testing.T, text string) {
		const tag = "# Lines below here are managed by Salt, do not edit\n"
		tab := cron.Parse(text)
		got := tab.String()
		want := text
		if want != "" && !strings.HasSuffix(want, "\n") {
			want += "\n"
		}
		if strings.Count(want, tag) < 2 && got != want {
			t.Errorf("printed again: %q, was %q", got, want)
		}
		if again := cron.Parse(got).String(); again != got {
			t.Errorf("not stable: %q, then %q", got, again)
		}
		_ = tab.Value()
		w := &cron.Want{}
		w.Minute, w.Hour, w.DayMonth, w.Month, w.DayWeek, w.Cmd, w.Identifier, w.HasIdentifier = "1", "1", "1", "1", "1", "/bin/new", "FUZZ", true
		w.Put(tab, tab.Find(w.Cmd, w.Identifier))
		back := cron.Parse(tab.String())
		if j := back.Find(w.Cmd, w.Identifier); j == nil || w.Due(j) {
			t.Errorf("the job does not settle in %q", tab.String())
		}
	})
}
