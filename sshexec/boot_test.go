package sshexec

import (
	"context"
	"errors"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/roster"
	"brine/internal/fleet"
	"brine/internal/py/value"
)

func TestBootsHeld(t *testing.T) {
	t.Parallel()
	type at struct {
		step int64
		id   string // learned in that step
	}
	for _, tt := range []struct {
		name    string
		learned []at
		step    int64 // before the wait
		want    string
	}{
		{"never met", nil, 3, ""},
		{"met long before", []at{{1, "a"}}, 3, "a"},
		{"met in the step before", []at{{3, "a"}}, 3, "a"},
		{"back within the step before", []at{{1, "a"}, {3, "b"}}, 3, "a"},
		{"met and back within the step before", []at{{3, "a"}, {3, "b"}}, 3, "a"},
		{"twice within the step before", []at{{1, "a"}, {3, "b"}, {3, "c"}}, 3, "a"},
		{"back a step earlier", []at{{1, "a"}, {2, "b"}}, 3, "b"},
		{"back a step earlier, and again", []at{{1, "a"}, {2, "b"}, {3, "c"}}, 3, "b"},
		{"the same boot", []at{{1, "a"}, {3, "a"}}, 3, "a"},
		{"an agent that tells none", []at{{1, "a"}, {3, ""}}, 3, "a"},
	} {
		var b boots
		for _, l := range tt.learned {
			b.learn(l.id, l.step)
		}
		if got := b.held(tt.step); got != tt.want {
			t.Errorf("%s: held %q, want %q", tt.name, got, tt.want)
		}
	}
	var b boots
	b.learn("a", 1)
	if b.restarts(1) {
		t.Error("a machine that was only met restarts")
	}
	b.ask("system.reboot")
	b.learn("a", 2)
	if b.askedBy() != "system.reboot" {
		t.Error("the same boot forgot what was asked of it")
	}
	if !b.restarts(2) {
		t.Error("a machine that was asked to go down does not restart")
	}
	b.learn("b", 3)
	if b.askedBy() != "" {
		t.Error("another boot was asked nothing")
	}
	if !b.restarts(3) || b.restarts(4) {
		t.Error("a machine restarts in the step that found it booted again, not later")
	}
}

func job(name string, pos ...value.Value) fun.Job {
	return fun.Job{Fun: name, Args: fun.Args{Pos: pos, Kw: value.NewMap(0)}}
}

func TestAsksDown(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		job  fun.Job
		by   string
		undo bool
	}{
		{job("system.reboot"), "system.reboot", false},
		{job("system.poweroff"), "system.poweroff", false},
		{job("system.init", int64(6)), "system.init", false},
		{job("system.init", int64(3)), "", false},
		{job("system.get_system_time"), "", false},
		{job("cmd.run", "shutdown -r +1"), "shutdown", false},
		{job("cmd.run", "sudo /sbin/shutdown -h now"), "shutdown", false},
		{job("cmd.run", "shutdown -c"), "shutdown", true},
		{job("cmd.run", "shutdown -k +1"), "", false},
		{job("cmd.shell", "/usr/sbin/reboot"), "reboot", false},
		{job("cmd.run_all", "systemctl reboot"), "systemctl reboot", false},
		{job("cmd.run", "systemctl --no-wall poweroff"), "systemctl poweroff", false},
		{job("cmd.run", "systemctl restart reboot-notifier"), "", false},
		{job("cmd.run", "systemctl"), "", false},
		{job("cmd.run", "init 6"), "init", false},
		{job("cmd.run", "telinit q"), "", false},
		{job("cmd.run", "test -f /run/reboot-required && reboot"), "", false},
		{job("cmd.run", "echo reboot"), "", false},
		{job("cmd.run", "reboot 'unclosed"), "", false},
		{job("cmd.run", ""), "", false},
		{job("cmd.run"), "", false},
		{job("cmd.has_exec", "reboot"), "", false},
		{job("state.apply", "reboot"), "", false},
		{fun.Job{Fun: "cmd.run", Args: fun.Args{Kw: value.MapOf("cmd", "reboot")}}, "reboot", false},
		{fun.Job{Fun: "system.init", Args: fun.Args{Kw: value.MapOf("runlevel", int64(0))}}, "system.init", false},
		{fun.Job{Fun: "system.reboot"}, "system.reboot", false},
	} {
		if by, undo, _ := asksDown(tt.job); by != tt.by || undo != tt.undo {
			t.Errorf("%s %v %v: %q, %v; want %q, %v", tt.job.Fun, tt.job.Args.Pos, tt.job.Args.Kw, by, undo, tt.by, tt.undo)
		}
	}
}

func TestDownBy(t *testing.T) {
	t.Parallel()
	lost := fun.Return{Stage: fun.Lost, Err: errors.New("reset")}
	back := func(code int) fun.Return { return fun.Return{Retcode: code, Body: fun.ValueBody{V: ""}} }
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	givenUp, giveUp := context.WithCancelCause(t.Context())
	giveUp(&fleet.NoReturnError{Why: "it was silent"})
	for _, tt := range []struct {
		name  string
		ctx   context.Context
		job   fun.Job
		ret   fun.Return
		stage fun.Stage
		value value.Value
		asked string
	}{
		{"returned", t.Context(), job("system.reboot", int64(1)), back(0), fun.Returned, "", "system.reboot"},
		{"refused", t.Context(), job("system.reboot"), back(1), fun.Returned, "", "before"},
		{"lost", t.Context(), job("system.reboot"), lost, fun.Returned, "", "system.reboot"},
		{"lost, a command", t.Context(), job("cmd.run", "reboot"), lost, fun.Returned, "", "reboot"},
		{"lost, its status", t.Context(), job("cmd.retcode", "reboot"), lost, fun.Returned, int64(0), "reboot"},
		{"lost, all of it", t.Context(), job("cmd.run_all", "reboot"), lost, fun.Lost, nil, "reboot"},
		{"lost, something else", t.Context(), job("cmd.run", "sleep 9"), lost, fun.Lost, nil, "before"},
		{"given up", givenUp, job("system.reboot"), lost, fun.Returned, "", "system.reboot"},
		{"given up, something else", givenUp, job("cmd.run", "sleep 9"), lost, fun.Lost, nil, "before"},
		{"interrupted", ended, job("system.reboot"), lost, fun.Lost, nil, "before"},
		{"taken back", t.Context(), job("cmd.run", "shutdown -c"), back(0), fun.Returned, "", ""},
		{"not reached", t.Context(), job("system.reboot"), fun.Return{Stage: fun.Unreachable}, fun.Unreachable, nil, "before"},
	} {
		m := &machine{e: &roster.Entry{ID: "web1"}}
		m.boot.ask("before")
		got := m.downBy(tt.ctx, tt.job, tt.ret)
		if got.Stage != tt.stage || m.boot.askedBy() != tt.asked {
			t.Errorf("%s: %s, asked %q; want %s, %q", tt.name, got.Stage, m.boot.askedBy(), tt.stage, tt.asked)
		}
		if tt.stage == fun.Returned {
			if v, err := got.Value(); err != nil || !value.Equal(v, tt.value) {
				t.Errorf("%s: the return is %v, %v", tt.name, v, err)
			}
		}
	}
}
