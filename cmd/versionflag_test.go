package cmd

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/internal/core/host"
)

// Every command says its version, and -V is that, or Salt's report of versions where
// the command has it so.
func TestVersionOfEveryCommand(t *testing.T) {
	t.Parallel()
	var names [][]string
	var walk func(c *cobra.Command, path []string)
	walk = func(c *cobra.Command, path []string) {
		names = append(names, path)
		for _, sub := range c.Commands() {
			if sub.Name() != "help" && !sub.DisableFlagParsing {
				walk(sub, append(slices.Clip(path), sub.Name()))
			}
		}
	}
	walk(Commands(), nil)
	for _, program := range app.SaltPrograms {
		names = append(names, []string{program})
	}
	if len(names) < 40 {
		t.Fatalf("only %d commands are looked at", len(names))
	}
	for _, path := range names {
		for _, flag := range []string{"--version", "-V"} {
			var out, errs bytes.Buffer
			a := &app.App{
				In: strings.NewReader(""), Out: &out, Err: &errs, Args: append(slices.Clip(path), flag),
				Getenv: func(string) string { return "" }, Host: host.NewLocal(), Program: "brine",
			}
			status := execute(a)
			first, _, _ := strings.Cut(out.String(), "\n")
			if status != app.ExitOK || !strings.Contains(first, "brine ") && first != "Salt Version:" {
				t.Errorf("brine %s %s: status %d, %q, %s", strings.Join(path, " "), flag, status, first, errs.String())
			}
		}
	}
}
