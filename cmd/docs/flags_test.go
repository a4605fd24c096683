package docs

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/internal/core/host"
	"brine/internal/testkit/cmdtest"
)

// TestFlags has what flags and arguments mean, without a run.
func TestFlags(t *testing.T) {
	t.Parallel()
	cmdtest.Flags(t, func(a *app.App, runF func(context.Context, *options, []string) error) *cobra.Command {
		return New(a, runF)
	}, []cmdtest.Case[options]{
		{Args: "docs"},
		{Args: "docs requisites --open", Set: func(o *options) { o.open = true }, Rest: "requisites"},
		{Args: "docs ssh --text", Set: func(o *options) { o.text = true }, Rest: "ssh"},
		{Args: "docs ssh --serve", Set: func(o *options) { o.serve = true }, Rest: "ssh"},
		{Args: "docs --list", Set: func(o *options) { o.list = true }},
		{Args: "docs --dir site", Set: func(o *options) { o.dir = "site" }},
		{Args: "docs --lst", Err: "unknown flag: --lst (did you mean --list?)"},
	})
}

// TestUsage has command lines that are refused before anything runs.
func TestUsage(t *testing.T) {
	t.Parallel()
	cmdtest.Refuses(t, func(a *app.App) *cobra.Command { return New(a, nil) }, map[string]string{
		"docs --list --dir x":  "--list and --dir exclude each other",
		"docs --list word":     "--list and --dir are for all pages: they take no words and no --open, --text and --serve",
		"docs --list --text":   "--list and --dir are for all pages: they take no words and no --open, --text and --serve",
		"docs --text":          "--text: which page? 'brine docs --list' lists them",
		"docs x --text --open": "--text excludes --open and --serve",
	})
}

// TestPager: on a terminal a pager shows the text, elsewhere it is printed.
func TestPager(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "shown")
	for _, tt := range []struct {
		pager, term  string
		terminal     bool
		shown, fails string
	}{
		{"tr a-z A-Z >" + file, "xterm", true, "TEXT", ""},
		{"tr a-z A-Z >" + file, "xterm", false, "", ""},
		{"tr a-z A-Z >" + file, "dumb", true, "", ""},
		{"cat", "xterm", true, "", ""},
		{"exit 3;", "xterm", true, "", "PAGER: exit 3;: exit status 3"},
	} {
		var out bytes.Buffer
		_ = os.Remove(file)
		env := map[string]string{"PAGER": tt.pager, "TERM": tt.term}
		a := &app.App{Out: &out, Terminal: tt.terminal, Host: host.NewLocal(), Getenv: func(k string) string { return env[k] }}
		err := show(t.Context(), a, "text")
		shown, _ := os.ReadFile(file)
		if tt.fails != "" {
			if err == nil || err.Error() != tt.fails {
				t.Errorf("%+v: %v", tt, err)
			}
			continue
		}
		if err != nil || string(shown) != tt.shown || (out.String() == "text") != (tt.shown == "") {
			t.Errorf("%+v: %v, shown %q, printed %q", tt, err, shown, out.String())
		}
	}
}

// TestBrowser: a page is served where a person sits at a desktop.
func TestBrowser(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "xdg-open"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for env, want := range map[string]bool{
		"DISPLAY=:0 PATH=" + dir: true, "WAYLAND_DISPLAY=w PATH=" + dir: true, "PATH=" + dir: false, "DISPLAY=:0 PATH=/nonexistent": false,
	} {
		vars := map[string]string{}
		for kv := range strings.FieldsSeq(env) {
			k, v, _ := strings.Cut(kv, "=")
			vars[k] = v
		}
		a := &app.App{Terminal: true, Host: host.NewLocal(), Getenv: func(k string) string { return vars[k] }}
		if got := browser(a); got != want {
			t.Errorf("%s: %v", env, got)
		}
		if a.Terminal = false; browser(a) {
			t.Errorf("%s: a browser for a pipe", env)
		}
	}
}
