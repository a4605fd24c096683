package cmd

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/internal/columns"
	"brine/internal/core/host"
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

// everyCommand calls f with brine and all its commands, and with the programs of Salt.
func everyCommand(f func(*cobra.Command)) {
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		f(c)
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(Commands())
	for _, name := range app.SaltPrograms {
		walk(rootOf(&app.App{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Program: name, Getenv: func(string) string { return "" }, Host: host.NewLocal()}))
	}
}

// TestHelpFitsTheTerminal: no line of any help is wider than the terminal, unless it is one
// word, and none loses a word.
func TestHelpFitsTheTerminal(t *testing.T) {
	t.Parallel()
	words := func(text string) string {
		return strings.Join(slices.DeleteFunc(strings.Fields(text), func(w string) bool { return w == "\\" }), " ")
	}
	everyCommand(func(c *cobra.Command) {
		c.InitDefaultHelpFlag()
		all := words(helpText(c, 10000))
		for _, width := range []int{60, 80, 120} {
			var out bytes.Buffer
			c.SetOut(&out)
			text := helpText(c, width)
			for line := range strings.Lines(text) {
				line = strings.TrimRight(line, "\n")
				if columns.Len(line) > width && len(columns.ShellWords(strings.TrimSuffix(line, " \\"))) > 1 {
					t.Errorf("%s, %d columns: a line is too wide: %q", c.CommandPath(), width, line)
				}
			}
			if words(text) != all {
				t.Errorf("%s, %d columns: words are missing:\n%s", c.CommandPath(), width, text)
			}
		}
	})
}

// TestHelpUsesColumns: what a pipe gets is as wide as COLUMNS says.
func TestHelpUsesColumns(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"ssh", "--help"}, {"help", "ssh"}, {"ssh", "-h"}, {"salt-ssh", "--help"}} {
		for _, width := range []string{"60", "120"} {
			var out, errs bytes.Buffer
			a := &app.App{In: strings.NewReader(""), Out: &out, Err: &errs, Args: args, Program: "brine", Host: host.NewLocal(), Getenv: func(name string) string {
				if name == "COLUMNS" {
					return width
				}
				return ""
			}}
			status := execute(a)
			widest := 0
			for line := range strings.Lines(out.String()) {
				widest = max(widest, columns.Len(strings.TrimRight(line, "\n")))
			}
			if ok := widest <= 60 || width == "120" && widest <= 120 && widest > 110; !ok || status != 0 {
				t.Errorf("%q with %s columns: status %d, the widest line has %d", args, width, status, widest)
			}
		}
	}
}

// TestHelpTopics: topics are printed as wide as the terminal; a misspelt one names the
// nearest.
func TestHelpTopics(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args      string
		status    int
		out, errs string
	}{
		{"help environment", 0, "  BRINE_CONFIG_DIR   ", ""},
		{"help files", 0, "  /etc/brine   ", ""},
		{"help exit-status", 0, "  130   interrupted", ""},
		{"help", 0, "environment, files, exit-status", ""},
		{"help help", 0, "  exit-status   what the exit status", ""},
		{"help enviroment", 64, "", `unknown command or topic "enviroment" (did you mean "environment"?)`},
		{"help exit-state", 64, "", `(did you mean "exit-status"?)`},
		{"help shh", 64, "", `unknown command "shh" (did you mean "ssh"?)`},
		{"help files ssh", 64, "", `unexpected argument "ssh": files is a topic`},
	} {
		var out, errs bytes.Buffer
		a := &app.App{In: strings.NewReader(""), Out: &out, Err: &errs, Args: strings.Fields(tt.args), Program: "brine", Host: host.NewLocal(), Getenv: func(string) string { return "" }}
		if status := execute(a); status != tt.status || !strings.Contains(out.String(), tt.out) || !strings.Contains(errs.String(), tt.errs) {
			t.Errorf("brine %s: status %d, %s%s", tt.args, status, out.String(), errs.String())
		}
	}
}

// TestHelpCitesPages: a person who has the program alone can read what the help names.
func TestHelpCitesPages(t *testing.T) {
	t.Parallel()
	file, page := regexp.MustCompile(`docs/[a-z/-]+\.md`), regexp.MustCompile(`'brine docs ([a-z/-]+)`)
	everyCommand(func(c *cobra.Command) {
		text := helpText(c, 10000)
		if m := file.FindString(text); m != "" {
			t.Errorf("%s names %s: write 'brine docs PAGE'", c.CommandPath(), m)
		}
		for _, m := range page.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join("../docs", m[1]+".md")); err != nil {
				t.Errorf("%s names a page that does not exist: %s", c.CommandPath(), m[1])
			}
		}
	})
}
