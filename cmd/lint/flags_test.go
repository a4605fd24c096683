package lint

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"brine/cmd/app"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
	"brine/internal/testkit/cmdtest"
)

// TestFlags has what flags and arguments mean, without a run.
func TestFlags(t *testing.T) {
	t.Parallel()
	cmdtest.Flags(t, func(a *app.App, runF func(context.Context, *options, []string) error) *cobra.Command {
		return New(a, runF)
	}, []cmdtest.Case[options]{
		{Args: "lint"},
		{Args: "lint tree --select a,b --ignore c --fix", Set: func(o *options) { o.selected, o.ignore, o.fix = []string{"a", "b"}, []string{"c"}, true }, Rest: "tree"},
		{Args: "lint --level error --out json -c conf", Set: func(o *options) { o.level, o.Out, o.ConfigDir = "error", "json", "conf" }},
		{Args: "lint a b", Err: "one tree is checked at a time, 2 were given"},
		{Args: "lint --fxi", Err: "unknown flag: --fxi (did you mean --fix?)"},
	})
}

// TestUsage has command lines that are refused before anything runs.
func TestUsage(t *testing.T) {
	t.Parallel()
	cmdtest.Refuses(t, func(a *app.App) *cobra.Command { return New(a, nil) }, map[string]string{
		"lint --out xml":    `--out: "xml" is not one of text, json, sarif, github`,
		"lint --level loud": `--level: "loud" is not one of info, warning, error`,
	})
}

// TestPage: the page about lint has a row for every flag.
func TestPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/lint.md")
	if err != nil {
		t.Fatal(err)
	}
	New(&app.App{}, nil).Flags().VisitAll(func(f *pflag.Flag) {
		row := false
		for line := range strings.Lines(string(page)) {
			row = row || strings.HasPrefix(line, "| ") && (strings.Contains(line, "`--"+f.Name+" ") || strings.Contains(line, "`--"+f.Name+"`"))
		}
		if !row {
			t.Errorf("docs/lint.md has no row of --%s", f.Name)
		}
	})
}

// TestHooks: the hooks for pre-commit are command lines of brine lint.
func TestHooks(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../.pre-commit-hooks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	v, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: "hooks"}, text)
	if err != nil {
		t.Fatal(err)
	}
	list, _ := v.(*value.List)
	if list.Len() == 0 {
		t.Fatal("no hooks")
	}
	for _, item := range list.Items {
		hook, _ := item.(*value.Map)
		args, ok := strings.CutPrefix(hook.Str("entry"), "brine lint")
		if err := New(&app.App{}, nil).ParseFlags(strings.Fields(args)); !ok || err != nil || hook.At("pass_filenames") != false || hook.Str("id") == "" {
			t.Errorf("the hook %s runs %q: %v", hook.Str("id"), hook.Str("entry"), err)
		}
	}
}
