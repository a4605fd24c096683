package cmd

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestOverview compares the help of brine with its commands, and its size with a screen.
func TestOverview(t *testing.T) {
	t.Parallel()
	root := Commands()
	var want, got []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() || c.Name() == "help" {
			want = append(want, c.Name())
		}
	}
	for _, g := range overview {
		for _, l := range g.lines {
			got = append(got, strings.Split(l.names, ", ")...)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the overview has %q, brine has %q", got, want)
	}
	var out bytes.Buffer
	root.SetOut(&out)
	if err := root.Help(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) > 25 {
		t.Errorf("the help of brine has %d lines, want 25 at most", len(lines))
	}
	for _, line := range lines {
		if utf8.RuneCountInString(line) > 80 {
			t.Errorf("a line is wider than 80 columns: %q", line)
		}
	}
	for _, c := range root.Commands() {
		var out bytes.Buffer
		c.SetOut(&out)
		if err := c.Help(); err != nil || strings.Contains(out.String(), "Begin with") {
			t.Errorf("the help of brine %s: %v, %s", c.Name(), err, out.String())
		}
	}
}
