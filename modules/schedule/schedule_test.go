package schedule

import (
	"context"
	"io"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
)

// TestSavedIsInstalled adds, changes and removes jobs on a machine with cron.
func TestSavedIsInstalled(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.PutExe("/usr/bin/crontab")
	h.PutExe("/usr/bin/brine")
	tab := "1 2 * * * own\n"
	h.HandleCommand("crontab *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		if c.Argv[1] == "-l" {
			return host.Output{Stdout: []byte(tab)}, nil
		}
		b, err := io.ReadAll(c.Stdin)
		tab = string(b)
		return host.Output{}, err
	})
	ping := func(context.Context, *fun.Call) (fun.Result, error) { return fun.Value(true) }
	r := calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "schedule", Load: Module}, fun.Entry{Kind: fun.Exec, Name: "test", Load: func() fun.Module {
		return fun.Module{Name: "test", Kind: fun.Exec, Specs: []fun.Spec{{Name: "ping", Fn: ping}}}
	}})
	r.Env.Opts.Set("config_dir", "/etc/salt")
	var warned []string
	r.Env.OnWarn = func(w fun.Warning) { warned = append(warned, w.Text) }
	call := func(name string, kv ...value.Value) string {
		t.Helper()
		res, err := r.Env.Invoker.Invoke(t.Context(), fun.Exec, "schedule."+name, fun.Args{Kw: value.MapOf(kv...)})
		if err != nil {
			return "error: " + err.Error()
		}
		if m, ok := res.Value.(*value.Map); ok && m.Has("comment") {
			return value.Str(m.At("result")) + ": " + value.Str(m.At("comment"))
		}
		return value.Repr(res.Value)
	}
	for _, tt := range []struct{ name, got, want string }{
		{"add", call("add", "name", "a", "function", "test.ping", "minutes", int64(5)), "True: Added job: a to schedule."},
		{"test", call("add", "name", "b", "function", "test.ping", "minutes", int64(5), "test", true), "True: Job: b would be added to schedule."},
		{"odd", call("add", "name", "b", "function", "test.ping", "seconds", int64(7)), "True: Added job: b to schedule."},
		{"none", call("add", "name", "c", "function", "test.pong", "minutes", int64(5)), `False: scheduled job "c": unknown function test.pong (did you mean "test.ping"?)`},
		{"modify", call("modify", "name", "a", "minutes", int64(10)), "True: Modified job: a in schedule."},
		{"same", call("modify", "name", "a", "minutes", int64(10)), "True: Job a in correct state"},
		{"delete", call("delete", "name", "c"), "False: Job c does not exist."},
		{"skip", call("skip_job", "name", "a", "current_time", "2026-11-26T12:00:00"), "True: Added Skip Job a in schedule."},
		{"skip none", call("skip_job", "name", "c", "current_time", "2026-11-26T12:00:00"), "False: Job c does not exist."},
		{"skip odd", call("skip_job", "name", "a", "current_time", "noon"), `False: Date string could not be parsed: "noon" is not of the form %Y-%m-%dT%H:%M:%S`},
		{"postpone past", call("postpone_job", "name", "a", "current_time", "2000-01-01T12:00:00", "new_time", "2000-01-01T13:00:00"), "False: new_time, 2000-01-01T13:00:00, has passed."},
		{"postpone", call("postpone_job", "name", "a", "current_time", "2999-11-26T12:00:00", "new_time", "2999-11-26T13:00:00"), "False: Failed to postpone job a in schedule. A crontab has no years: use schedule.skip_job, and 'at' for the new time"},
		{"copy", call("copy", "name", "a", "target", "web*"), "False: This run reaches no machine \"web*\". On the controller, run: brine ssh 'web*' schedule.add name=a function=test.ping minutes=10 maxrunning=1 enabled=true jid_include=true"},
		{"add secret", call("add", "name", "s", "function", "test.ping", "hours", int64(1), "job_args", value.Strings("x"), "job_kwargs", value.MapOf("password", "hunter2", "env", value.MapOf("A", "hunter2"), "stdin", "hunter2", "pillar", value.MapOf("a", "hunter2"), "plain", "x"), "return_kwargs", value.MapOf("password", "hunter2")), "True: Added job: s to schedule."},
		{"copy secret", call("copy", "name", "s", "target", "web*"), "False: This run reaches no machine \"web*\". On the controller, run: brine ssh 'web*' schedule.add name=s function=test.ping hours=1 'job_args=[\"x\"]' " +
			`'job_kwargs={"password":"XXX-REDACTED-XXX","env":{"A":"XXX-REDACTED-XXX"},"stdin":"XXX-REDACTED-XXX","plain":"x","pillar":"XXX-REDACTED-XXX"}' maxrunning=1 enabled=true jid_include=true 'return_kwargs={"password":"XXX-REDACTED-XXX"}'`},
		{"delete secret", call("delete", "name", "s"), "True: Deleted Job s from schedule."},
		{"copy none", call("copy", "name", "c", "target", "web*"), "False: Job c does not exist."},
		{"move", call("move", "name", "a", "target", "web*", "test", true), "True: Job: a would be moved from schedule."},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, tt.got, tt.want)
		}
	}
	if want := "1 2 * * * own\n# brine schedule: a\n*/10 * * * * /usr/bin/brine call --local -c /etc/salt --schedule a\n"; tab != want {
		t.Errorf("the crontab is %q", tab)
	}
	if len(warned) == 0 || !strings.Contains(warned[0], `"b": seconds: a crontab has no interval of 7s`) {
		t.Errorf("warnings: %q", warned)
	}
	if got := h.Text("/etc/salt/minion.d/_schedule.conf"); !strings.HasPrefix(got, "schedule:\n  a:\n    enabled: true\n    function: test.ping\n") {
		t.Errorf("saved: %q", got)
	}
	if got := call("purge"); !strings.HasPrefix(got, "True") || tab != "1 2 * * * own\n" {
		t.Errorf("purge: %s, the crontab is %q", got, tab)
	}
	h.PutFile("/etc/salt/minion.d/_schedule.conf", "schedule: [", 0o600)
	r.Env.Memo = &fun.Memo{}
	if got := call("list"); !strings.Contains(got, "cannot be read") {
		t.Errorf("a damaged file: %s", got)
	}
}
