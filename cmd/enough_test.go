package cmd

import (
	"slices"
	"testing"

	"brine/cmd/app"
)

// TestCommandsNames has each command made under its own name: a start by that name makes
// no other.
func TestCommandsNames(t *testing.T) {
	t.Parallel()
	whole := Commands()
	for _, k := range commands() {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			only := enough([]string{k.name, "--help"})
			if !slices.Contains(only, k.name) {
				t.Fatalf("brine %s makes %q", k.name, only)
			}
			root := newRootWith(&app.App{Getenv: func(string) string { return "" }}, only)
			c, rest, err := root.Find([]string{k.name})
			if err != nil || c == root || len(rest) > 0 || c.Name() != k.name {
				t.Fatalf("brine %s is %q, %q, %v", k.name, c.Name(), rest, err)
			}
			same, _, err := whole.Find([]string{k.name})
			if err != nil || same.UseLine() != c.UseLine() || same.Flags().FlagUsages() != c.Flags().FlagUsages() {
				t.Errorf("brine %s is another command beside the others", k.name)
			}
		})
	}
}

// TestEnough has all commands made where the first word is not exactly one of them.
func TestEnough(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"--help"}, {"help", "call"}, {"completion", "bash"}, {"__complete", "ca"}, {"cal"}, {"-c", "x", "call"}, {"test.ping"}} {
		if only := enough(args); only != nil {
			t.Errorf("brine %q makes only %q", args, only)
		}
	}
	if only := enough([]string{"chain", "list"}); !slices.Equal(only, []string{"chain"}) {
		t.Errorf("brine chain list makes %q", only)
	}
	if only := enough([]string{"call", "test.ping"}); !slices.Contains(only, "ssh") {
		t.Errorf("brine call makes %q: a mistake in it may be meant for brine ssh", only)
	}
}
