package cmd

import (
	"bytes"
	"strings"
	"testing"

	"brine/cmd/app"
)

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
	if status := execute(a); status != app.ExitUsage {
		t.Errorf("salt-key: status %d, want %d", status, app.ExitUsage)
	}
	if want := "brine: brine cannot be salt-key: it has no masters, minions and keys\nhint: targets are reached over SSH: ~/.ssh/known_hosts has their keys, and --host-keys says which are accepted\n"; errs.String() != want {
		t.Errorf("salt-key: stderr %q, want %q", errs.String(), want)
	}
	if !strings.Contains(out.String(), `"retcode": 64`) {
		t.Errorf("salt-key: stdout %q", out.String())
	}
}

func TestAsksJSON(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args []string
		want bool
	}{
		{[]string{"call", "--out=json", "test.ping"}, true},
		{[]string{"call", "--out", "json", "test.ping"}, true},
		{[]string{"call", "test.ping", "--output=json"}, true},
		{[]string{"call", "test.echo", "--", "--out=json"}, false},
		{[]string{"call", "--out"}, false},
		{[]string{"call", "--out=json", "--out=yaml", "test.ping"}, false},
		{[]string{"call", "--out=yaml", "--out", "json", "test.ping"}, true},
		{[]string{"call", "test.ping"}, false},
	} {
		if got := asksJSON(tt.args); got != tt.want {
			t.Errorf("asksJSON(%q) = %v", tt.args, got)
		}
	}
}
