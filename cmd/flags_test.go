package cmd

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"brine/cmd/app"
)

// notRunners are commands that reach machines and have no flags of [app.FleetFlags] that
// say which of them a run is for, with the reason.
var notRunners = map[string]string{
	"brine ui":           "each run that is started there has its own",
	"brine worker":       "the entries of a queue say what they are for",
	"brine undo":         "its targets are arguments, of those of the job",
	"brine chain check":  "it runs nothing",
	"brine chain render": "it runs nothing",
}

// TestTargetFlags: commands with targets have the same flags for which targets they are
// for, for how these are reached and for what is said of them, with the same meaning.
func TestTargetFlags(t *testing.T) {
	t.Parallel()
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	f := &app.FleetFlags{}
	f.RegisterTargets(fs)
	f.RegisterAs(fs, "", "")
	seen := map[string]bool{}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		if c.Flags().Lookup("roster-file") == nil {
			return
		}
		path := c.CommandPath()
		seen[path] = true
		lean := strings.HasSuffix(path, " salt") // Salt has no flags of SSH there
		fs.VisitAll(func(want *pflag.Flag) {
			got := c.Flags().Lookup(want.Name)
			switch of := "limit summary verbose"; {
			case got == nil && notRunners[path] != "" && strings.Contains(of, want.Name):
			case got == nil && lean && strings.Contains("sudo identities-only ssh-option", want.Name):
			case got == nil:
				t.Errorf("%s has no --%s", path, want.Name)
			case got.Usage != want.Usage || got.Value.Type() != want.Value.Type():
				t.Errorf("%s: --%s means something else: %s", path, want.Name, got.Usage)
			}
		})
	}
	walk(rootOf(&app.App{Program: "brine"}))
	for path, why := range notRunners {
		if !seen[path] {
			t.Errorf("%s (%s) is no command with a roster", path, why)
		}
	}
	for _, path := range []string{"brine ssh", "brine orchestrate", "brine plan", "brine run", "brine chain run", "brine template run"} {
		if !seen[path] || notRunners[path] != "" {
			t.Errorf("%s has no targets", path)
		}
	}
}
