package schedule

import (
	"context"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
)

// others are two other machines, of which one refuses jobs.
type others struct{ got []*value.Map }

func (*others) Match(context.Context, value.Value, string) ([]string, error) {
	return []string{"bad1", "web1"}, nil
}

func (o *others) Run(_ context.Context, job fun.Job, each func(fun.Return) error) (fun.Summary, error) {
	o.got = append(o.got, job.Args.Kw)
	for _, id := range []string{"bad1", "web1"} {
		ok := id == "web1" || job.Args.Kw.Str("name") == "good"
		r := fun.Return{ID: id, Stage: fun.Returned, Body: fun.ValueBody{V: value.MapOf("result", ok, "comment", "it is there")}}
		if err := each(r); err != nil {
			return fun.Summary{}, err
		}
	}
	return fun.Summary{}, nil
}

// TestPostponeAndMove changes single times on a machine with systemd, and hands
// jobs to other machines.
func TestPostponeAndMove(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.PutExe("/usr/bin/systemctl")
	h.PutExe("/usr/bin/brine")
	h.PutDir("/run/systemd/system", 0o755)
	h.PutDir("/etc/systemd/system", 0o755)
	h.OnCommand("systemctl *", host.Output{})
	ping := func(context.Context, *fun.Call) (fun.Result, error) { return fun.Value(true) }
	r := calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "schedule", Load: Module}, fun.Entry{Kind: fun.Exec, Name: "test", Load: func() fun.Module {
		return fun.Module{Name: "test", Kind: fun.Exec, Specs: []fun.Spec{{Name: "ping", Fn: ping}}}
	}})
	r.Env.Opts.Set("config_dir", "/etc/salt")
	fleet := &others{}
	r.Env.Fleet = fleet
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
	for _, name := range []string{"good", "odd", "off"} {
		if got := call("add", "name", name, "function", "test.ping", "cron", "0 12 * * *", "job_args", value.NewList("x"), "enabled", name != "off"); !strings.HasPrefix(got, "True") {
			t.Fatal(got)
		}
	}
	for _, tt := range []struct{ got, want string }{
		{call("postpone_job", "name", "good", "current_time", "2999-11-26T12:00:00", "new_time", "2999-11-26T13:00:00"), "True: Postponed Job good in schedule."},
		{call("postpone_job", "name", "off", "current_time", "2999-11-26T12:00:00", "new_time", "2999-11-26T13:00:00"), "False: Failed to postpone job off in schedule. it is disabled"},
		{call("skip_job", "name", "odd", "current_time", "26.11.2999", "time_fmt", "%d.%m.%Y"), "True: Added Skip Job odd in schedule."},
		{call("copy", "name", "odd", "target", "*"), "False: the following minions return False: bad1: it is there"},
		{call("copy", "name", "good", "target", "*"), "True: Copied Job good from schedule to minion(s)."},
		{call("move", "name", "odd", "target", "*"), "False: the following minions return False: bad1: it is there"},
		{call("move", "name", "good", "target", "*"), "True: Moved Job good from schedule."},
	} {
		if tt.got != tt.want {
			t.Errorf("%s, want %s", tt.got, tt.want)
		}
	}
	if a := fleet.got[1]; a.At("job_args") == nil || a.Has("args") || a.Has("skip_explicit") || a.Str("cron") != "0 12 * * *" {
		t.Errorf("the other machines got %v", value.Repr(a))
	}
	saved := h.Text("/etc/salt/minion.d/_schedule.conf")
	if strings.Contains(saved, "good") || !strings.Contains(saved, "26.11.2999") {
		t.Errorf("saved: %s", saved)
	}
}
