package cmd

import (
	"bytes"
	"strings"
	"testing"

	"brine/cmd/app"
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// Statuses are those of salt/cli/caller.py, of which a process keeps eight bits;
// what failed is never 0.
func TestCallStatus(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		res                  fun.Result
		want, wantPassedThru int
	}{
		{fun.Result{}, 0, 0},
		{fun.Result{Value: false}, 0, 0},
		{fun.Result{Retcode: 2}, 1, 2},
		{fun.Result{Retcode: 300}, 1, 44},
		{fun.Result{Retcode: 256}, 1, 1},
		{fun.Result{Retcode: -9}, 1, 247},
		{fun.Result{Value: value.MapOf("result", false)}, 1, 1},
		{fun.Result{Value: value.MapOf("success", nil)}, 1, 1},
		{fun.Result{Value: value.MapOf("result", true, "success", true)}, 0, 0},
		{fun.Result{Value: value.MapOf("retcode", int64(3))}, 0, 0}, // a value like others
		{fun.Result{Value: value.MapOf("outputter", "highstate", "retcode", int64(1))}, 1, 1},
	} {
		if got := callStatus(tt.res.ExitCode(fun.Exec), false); got != tt.want {
			t.Errorf("callStatus(%d, %s, false) = %d, want %d", tt.res.Retcode, value.Repr(tt.res.Value), got, tt.want)
		}
		if got := callStatus(tt.res.ExitCode(fun.Exec), true); got != tt.wantPassedThru {
			t.Errorf("callStatus(%d, %s, true) = %d, want %d", tt.res.Retcode, value.Repr(tt.res.Value), got, tt.wantPassedThru)
		}
	}
}

func TestExpandFlags(t *testing.T) {
	t.Parallel()
	a := &app.App{Program: "salt-call"}
	f := rootOf(a).Flags()
	for _, tt := range []struct{ in, want string }{
		{"--state-out=terse", "--state-output=terse"},
		{"--state_o", "--state-output"},
		{"--output-i", "--out-indent"},
		{"--retcode", "--retcode-passthrough"},
		{"--state", "--state"}, // could be several
		{"--out", "--out"},     // is one itself
		{"--nonsense=1", "--nonsense=1"},
		{"word", "word"},
		{"-l", "-l"},
		{"--=", "--="},
	} {
		if got := app.ExpandFlags(f, []string{tt.in})[0]; got != tt.want {
			t.Errorf("expandFlags(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
	if got := app.ExpandFlags(f, []string{"--", "--retcode"})[1]; got != "--retcode" {
		t.Errorf("behind --, --retcode became %q", got)
	}
}

func TestOtherPrograms(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	a := &app.App{Program: "salt-key", Args: []string{"-L", "--out=json"}, Out: &out, Err: &errs, Getenv: func(string) string { return "" }}
	if status := Run(a); status != app.ExitUsage {
		t.Errorf("salt-key: status %d, want %d", status, app.ExitUsage)
	}
	if want := "brine: brine cannot be salt-key: it has no masters, minions and keys\nhint: it can be salt, salt-call, salt-run, salt-ssh\n"; errs.String() != want {
		t.Errorf("salt-key: stderr %q, want %q", errs.String(), want)
	}
	if !strings.Contains(out.String(), `"retcode": 64`) {
		t.Errorf("salt-key: stdout %q", out.String())
	}
}

// Text that is no YAML, or that YAML would fold, stays text, as by
// salt/utils/args.py yamlify_arg.
func TestTyped(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{a: 1}": "{'a': 1}", "7": "7", "a: 1\nb: 2": "'a: 1\\nb: 2'", "=x": "'=x'", "a=b": "'a=b'", "": "''",
	} {
		if got := value.Repr(app.Typed(text)); got != want {
			t.Errorf("typed(%q) = %s, want %s", text, got, want)
		}
	}
}
