package tool_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/modules/tool"
)

// A program runs in the C locale, whatever that of brine is.
func TestLocale(t *testing.T) {
	h := host.NewFake()
	for _, kv := range []string{"LC_ALL=de_DE.UTF-8", "LANGUAGE=de", "LANG=de_DE.UTF-8", "KEEP=1"} {
		k, v, _ := strings.Cut(kv, "=")
		if err := h.Setenv(k, v); err != nil {
			t.Fatal(err)
		}
	}
	h.HandleCommand("say", func(_ context.Context, c host.Cmd) (host.Output, error) {
		return host.Output{Stdout: []byte(strings.Join(c.Env, "\n"))}, nil
	})
	out, err := tool.Look(t.Context(), h, "say")
	if err != nil {
		t.Fatal(err)
	}
	var locale []string
	for kv := range strings.SplitSeq(out.Text(), "\n") {
		if strings.HasPrefix(kv, "L") || kv == "KEEP=1" {
			locale = append(locale, kv)
		}
	}
	slices.Sort(locale)
	if got, want := strings.Join(locale, " "), "KEEP=1 LANG=C LC_ALL=C"; got != want {
		t.Errorf("the environment has %q, want %q", got, want)
	}
}

// A command that could not be run is named, and the package of a program that is
// missing.
func TestNotRun(t *testing.T) {
	h := host.NewFake()
	for _, tt := range []struct {
		o         tool.Options
		argv      []string
		msg, hint string
	}{
		{tool.Options{}, []string{"getfacl", "/x"}, "Unable to run command 'getfacl /x': ", "getfacl is missing; it is part of the package acl"},
		{tool.Options{Name: "quiet"}, []string{"mdadm", "secret"}, "Unable to run command 'quiet': ", "mdadm is missing"},
	} {
		_, err := tool.RunWith(t.Context(), h, tt.o, tt.argv...)
		ce, ok := errors.AsType[*fun.CommandError](err)
		if !ok || !strings.HasPrefix(ce.Msg, tt.msg) || ce.Hint != tt.hint || strings.Contains(ce.Msg, "secret") {
			t.Errorf("%q: error %#v, want %q with the hint %q", tt.argv, err, tt.msg, tt.hint)
		}
	}
}

// The status and the message of a tool that fails are kept, and the directory to work
// in comes first.
func TestAccounts(t *testing.T) {
	h := host.NewFake()
	h.OnCommand("groupadd -R /srv/root web", host.Output{Status: 9, Stderr: []byte("exists\n")})
	var log strings.Builder
	a := tool.Accounts{Host: h, Root: "/srv/root", Log: slog.New(slog.NewTextHandler(&log, nil))}
	out, err := a.Run(t.Context(), nil, "-R", "groupadd", "web")
	if err != nil {
		t.Fatal(err)
	}
	if res, err := a.Changed(out.OK(), nil); err != nil || res.Value != false || res.Retcode != 9 || a.Status != 9 {
		t.Errorf("Changed = %v, %v; Status = %d, want a failure with status 9", res, err, a.Status)
	}
	if !strings.Contains(log.String(), "message=exists") {
		t.Errorf("the log is %q, without the message of groupadd", log.String())
	}
}
