package ui

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/internal/testkit/cmdtest"
)

// TestHookFlags has the flags of the commands for hooks.
func TestHookFlags(t *testing.T) {
	t.Parallel()
	cmdtest.Flags(t, func(a *app.App, runF func(context.Context, *hookOptions, []string) error) *cobra.Command {
		return newHookAdd(a, runF)
	}, []cmdtest.Case[hookOptions]{
		{Args: "add d chain c", Rest: "d chain c"},
		{Args: "add d --hooks f --kind github --queue q --key-file k --only a:b,c:d --pillar x:y orchestration o", Set: func(o *hookOptions) {
			o.hooks, o.kind, o.queue, o.keyFile, o.only, o.pillar = "f", "github", "q", "k", []string{"a:b", "c:d"}, []string{"x:y"}
		}, Rest: "d orchestration o"},
		{Args: "add d --kin x", Err: "unknown flag: --kin (did you mean --kind?)"},
	})
	const given = " --hooks f --queue q --kind github"
	cmdtest.Refuses(t, command, map[string]string{
		"ui hook":                                    "no command was given",
		"ui hook add d":                              "give a name, chain, orchestration or template, and the name of that",
		"ui hook add d chain c":                      "give the file with --hooks",
		"ui hook add d chian c" + given:              `"chian" is none of chain, orchestration and template (did you mean "chain"?)`,
		"ui hook add d chain c --hooks f":            `kind: "" is none of github, gitlab, hmac`,
		"ui hook add a/b chain c" + given:            `invalid hook name "a/b": letters, digits and . _ - are allowed, 64 at most`,
		"ui hook add d chain c --only x" + given:     `--only: "x" is not two words with a colon between them, without spaces and commas`,
		"ui hook add d chain c --pillar x:y" + given: "pillar: a chain or a template takes no values; an orchestration does",
		"ui hook list x --hooks f":                   "no arguments are taken",
		"ui hook show --hooks f":                     "give the name of a hook",
		"ui hook remove --hooks f":                   "give the name of a hook",
	})
}

// TestHooks adds, lists, shows and removes hooks of a file, and never shows a key again.
func TestHooks(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/ui.hooks"
	run := func(want int, args ...string) (out, errs string) {
		t.Helper()
		status, out, errs := cmdtest.Run(t, nil, command, append([]string{"ui", "hook"}, append(args, "--hooks", file)...)...)
		if status != want {
			t.Errorf("%v: exit status %d: %s", args, status, errs)
		}
		return out, errs
	}
	if _, errs := run(1, "remove", "push"); !strings.Contains(errs, "no such file") {
		t.Errorf("there is no file: %s", errs)
	}
	key, _ := run(0, "add", "push", "--kind", "github", "--queue", "ops", "--only", "ref:refs/heads/main", "--pillar", "commit:after", "orchestration", "deploy")
	key = strings.TrimSpace(key)
	if _, errs := run(1, "add", "push", "--kind", "gitlab", "--queue", "ops", "chain", "c"); !strings.Contains(errs, "there is a hook push already") {
		t.Errorf("add it again: %s", errs)
	}
	if err := os.WriteFile(file+".key", []byte("0123456789abcdef\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, _ := run(0, "add", "lab", "--kind", "gitlab", "--queue", "ops", "--key-file", file+".key", "chain", "c"); out != "" {
		t.Errorf("add a key that is there: %s", out)
	}
	st, err := os.Stat(file)
	text, rerr := os.ReadFile(file)
	if err != nil || rerr != nil || st.Mode().Perm() != 0o600 || len(key) < 32 || !strings.Contains(string(text), "key="+key+"\n") || !strings.Contains(string(text), "key=0123456789abcdef\n") {
		t.Errorf("%v, %v, %v: %s", err, rerr, st.Mode(), text)
	}
	list, _ := run(0, "list")
	show, _ := run(0, "show", "push")
	if !strings.Contains(list, "orchestration deploy") || !strings.Contains(list, "chain c") || !strings.Contains(show, "only=ref:refs/heads/main pillar=commit:after ") || strings.Contains(list+show, key) {
		t.Errorf("%s%s", list, show)
	}
	if _, errs := run(1, "show", "pus"); !strings.Contains(errs, `there is no hook "pus" (did you mean "push"?)`) {
		t.Errorf("show pus: %s", errs)
	}
	run(0, "remove", "push")
	if list, _ = run(0, "list"); strings.Contains(list, "push") {
		t.Errorf("after its removal: %s", list)
	}
}
