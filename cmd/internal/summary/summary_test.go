package summary

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/fun"
	"brine/internal/fleet"
	"brine/internal/py/value"
	"brine/sshexec"
)

func TestSummary(t *testing.T) {
	t.Parallel()
	state := func(result value.Value, changes *value.Map) *value.Map {
		return value.MapOf("result", result, "changes", changes, "__run_num__", int64(0), "comment", "")
	}
	run := value.MapOf("test_|-a_|-a_|-nop", state(true, value.MapOf("x", int64(1))), "test_|-b_|-b_|-nop", state(true, value.NewMap(0)), "test_|-c_|-c_|-nop", state(nil, value.MapOf("y", int64(1))))
	bad := value.MapOf("test_|-a_|-a_|-nop", state(true, value.NewMap(0)), "cmd_|-b_|-b_|-run", state(false, value.MapOf("retcode", int64(3), "stdout", "", "stderr", "disk is on fire")))
	out := func(id string, v value.Value, code int, stage fun.Stage) Outcome {
		ret := fun.Return{ID: id, Retcode: code, Stage: stage}
		return Of(ret, v, nil)
	}
	var b strings.Builder
	Print(&b, []Outcome{
		out("web2", run, 0, fun.Returned), out("db1", bad, 2, fun.Returned), out("web1", run, 0, fun.Returned),
		out("old", nil, 0, fun.Unreachable), out("x", "a\n  text", 0, fun.Returned), out("y", "no", 3, fun.Returned),
	})
	want := `Summary
-------
web[1-2]: ok=2 changed=1 would_change=1
x: a text
FAILED db1: ok=1 changed=1 failed=1: b (cmd.run): exit status 3: disk is on fire
FAILED old: unreachable
FAILED y: return code 3: no
# of targets: 6, failed: 3
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

// TestOutcomes: what a target's line of the summary says.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	state := func(num int64, result value.Value, comment string) *value.Map {
		return value.MapOf("result", result, "changes", value.NewMap(0), "__run_num__", num, "comment", comment)
	}
	sshErr := func(id string) error {
		return fmt.Errorf("wrapped: %w", &sshexec.Error{ID: id, Addr: id + ":22", Stage: sshexec.Connect, Err: errors.New("refused"), Hint: "do something"})
	}
	for _, tt := range []struct {
		name string
		ret  fun.Return
		v    value.Value
		want string
	}{
		{"a value", fun.Return{}, true, "True"},
		{"a long value", fun.Return{}, strings.Repeat("x", 200), strings.Repeat("x", 100) + "..."},
		{"states", fun.Return{Retcode: 2}, value.MapOf(
			"service_|-nginx_|-nginx_|-running", state(1, false, "The named service nginx is not available\nand more"),
			"file_|-early_|-/x_|-managed", state(0, false, ""),
			"test_|-fine_|-fine_|-nop", state(2, true, ""),
		), "ok=1 changed=0 failed=2: early (file.managed) (and 1 more failed)"},
		{
			"one state",
			fun.Return{Retcode: 2},
			value.MapOf("service_|-nginx_|-nginx_|-running", state(1, false, "The named service nginx is not available\nand more")),
			"ok=0 changed=0 failed=1: nginx (service.running): The named service nginx is not available",
		},
		{"states that do not compile", fun.Return{Retcode: 1}, value.NewList("No matching sls\n found", "more"), "return code 1: No matching sls found more"},
		{"an empty list", fun.Return{Retcode: 1}, value.NewList(), "return code 1"},
		{"a command", fun.Return{Retcode: 3}, "some\noutput", "return code 3: some output"},
		{"a raw command", fun.Return{}, fleet.ShellValue("up 3 days\n", "", 0), "up 3 days"},
		{"a raw command that fails", fun.Return{Retcode: 4}, fleet.ShellValue("out", "no such thing\n", 4), "exit status 4: no such thing"},
		{"a raw command that fails in silence", fun.Return{Retcode: 4}, fleet.ShellValue("", "", 4), "exit status 4"},
		{"unreachable", fun.Return{Stage: fun.Unreachable, Err: sshErr("web1")}, nil, "unreachable: connect: refused; do something"},
		{"interrupted", fun.Return{Stage: fun.Lost, Err: context.Canceled}, nil, "lost: interrupted"},
		{"no word of why", fun.Return{Stage: fun.TimedOut}, nil, "timed out"},
		{
			"lost",
			fun.Return{Stage: fun.Lost, Err: errors.New("gone\nby now"), Total: 5, Partial: value.MapOf("test_|-a_|-a_|-nop", state(0, true, ""), "test_|-b_|-b_|-nop", state(1, true, ""))},
			nil,
			"lost: gone by now (after state 2 of 5: ok=2 changed=0)",
		},
	} {
		if got := outcomeText(tt.ret, tt.v, nil); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	// Those that fail alike stand on one line.
	var b strings.Builder
	var all []Outcome
	for _, id := range []string{"web2", "web1"} {
		all = append(all, Of(fun.Return{ID: id, Stage: fun.Unreachable, Err: sshErr(id)}, nil, nil))
	}
	Print(&b, all)
	if want := "FAILED web[1-2]: unreachable: connect: refused; do something\n"; !strings.Contains(b.String(), want) {
		t.Errorf("%s: no %q", b.String(), want)
	}
}
