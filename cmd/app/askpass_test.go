package app

import (
	"os"
	"path/filepath"
	"testing"

	"brine/internal/core/host"
)

func TestAskpassProgram(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		env     map[string]string
		program string
		prefer  bool
	}{
		{"nothing", nil, "", false},
		{"no display", map[string]string{"SSH_ASKPASS": "/x"}, "", false},
		{"a display", map[string]string{"SSH_ASKPASS": "/x", "DISPLAY": ":0"}, "/x", false},
		{"a display, no program", map[string]string{"WAYLAND_DISPLAY": "w"}, askpassDefault, false},
		{"prefer", map[string]string{"SSH_ASKPASS": "/x", "DISPLAY": ":0", "SSH_ASKPASS_REQUIRE": "prefer"}, "/x", true},
		{"prefer, no display", map[string]string{"SSH_ASKPASS": "/x", "SSH_ASKPASS_REQUIRE": "prefer"}, "", false},
		{"force", map[string]string{"SSH_ASKPASS": "/x", "SSH_ASKPASS_REQUIRE": "FORCE"}, "/x", true},
		{"never", map[string]string{"SSH_ASKPASS": "/x", "DISPLAY": ":0", "SSH_ASKPASS_REQUIRE": "never"}, "", false},
	} {
		program, prefer := askpass(func(k string) string { return tt.env[k] })
		if program != tt.program || prefer != tt.prefer {
			t.Errorf("%s: %q, %t", tt.name, program, prefer)
		}
	}
}

func TestRunAskpass(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for text, want := range map[string]string{"echo \"$1 s3cret\"; echo more": "Password: s3cret", "exit 1": "!"} {
		p := filepath.Join(dir, "ask")
		if err := os.WriteFile(p, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		a := &App{Host: host.NewLocal(), In: os.Stdin, Getenv: func(k string) string {
			return map[string]string{"SSH_ASKPASS": p, "SSH_ASKPASS_REQUIRE": "force"}[k]
		}}
		s, err := a.Asker()("Password:", false)
		got := s.Reveal()
		if err != nil {
			got = "!"
		}
		if got != want {
			t.Errorf("%s: %q, %v", text, got, err)
		}
		if err := os.Remove(p); err != nil {
			t.Fatal(err)
		}
	}
}
