package ui

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/internal/core/host"
	"brine/internal/testkit/cmdtest"
	"brine/internal/view/ui"
)

// TestTokenFlags has the flags of the commands for tokens.
func TestTokenFlags(t *testing.T) {
	t.Parallel()
	cmdtest.Flags(t, func(a *app.App, runF func(context.Context, *tokenOptions, []string) error) *cobra.Command {
		return newTokenAdd(a, runF)
	}, []cmdtest.Case[tokenOptions]{
		{Args: "add ci", Rest: "ci"},
		{Args: "add ci --tokens f --role operator --expires 8w --chains a,b* --templates t", Set: func(o *tokenOptions) {
			o.tokens, o.role, o.expires, o.scope.Chains, o.scope.Templates = "f", "operator", "8w", []string{"a", "b*"}, []string{"t"}
		}, Rest: "ci"},
		{Args: "add ci --chain x", Err: "unknown flag: --chain (did you mean --chains?)"},
	})
	cmdtest.Refuses(t, command, map[string]string{
		"ui token":                                        "no command was given",
		"ui token add":                                    "give the name of a token",
		"ui token add ci":                                 "give the file with --tokens",
		"ui token add a:b --tokens f":                     `invalid token name "a:b": it must have 1 to 64 characters, no spaces, colons and equals signs`,
		"ui token add a=b --tokens f":                     `invalid token name "a=b": it must have 1 to 64 characters, no spaces, colons and equals signs`,
		"ui token add ci --tokens f --role root":          `--role: unknown role "root"; there are viewer, operator, editor`,
		"ui token add ci --tokens f --expires soon":       `--expires: "soon" is not 12h, 30d, 8w, a date such as 2027-06-30, or never`,
		"ui token add ci --tokens f --expires 2020-01-01": `--expires: 2020-01-01 is over`,
		"ui token add ci --tokens f --chains [":           `--chains: invalid glob "["`,
		"ui token add ci --tokens f --chains=":            `--chains: give at least one name`,
		"ui token list x --tokens f":                      "no arguments are taken",
		"ui token revoke --tokens f":                      "give the name of a token",
	})
}

// TestTokens adds, lists and revokes tokens of a file.
func TestTokens(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/ui.tokens"
	run := func(want int, args ...string) (out, errs string) {
		t.Helper()
		status, out, errs := cmdtest.Run(t, nil, command, append([]string{"ui", "token"}, args...)...)
		if status != want {
			t.Errorf("%v: exit status %d: %s", args, status, errs)
		}
		return out, errs
	}
	if _, errs := run(1, "revoke", "ci", "--tokens", file); !strings.Contains(errs, "no such file") {
		t.Errorf("there is no file: %s", errs)
	}
	secret, _ := run(0, "add", "ci", "--tokens", file, "--role", "operator", "--chains", "deploy-*,friday")
	if !regexp.MustCompile(`^brine_[\w-]{43}\n$`).MatchString(secret) {
		t.Errorf("secret %q", secret)
	}
	run(0, "add", "grafana", "--tokens", file, "--expires", "never")
	text, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(text), strings.TrimSpace(secret)) || !regexp.MustCompile(`(?m)^ci role=operator created=\S+ expires=\S+ chains=deploy-\*,friday sha256=[0-9a-f]{64}$`).Match(text) {
		t.Errorf("file: %v\n%s", err, text)
	}
	if st, err := os.Stat(file); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("mode: %v, %v", st, err)
	}
	if _, errs := run(1, "add", "ci", "--tokens", file); !strings.Contains(errs, "there is a token ci already") || !strings.Contains(errs, "hint: brine ui token revoke ci") {
		t.Errorf("a name twice: %s", errs)
	}
	(&useLog{app: &app.App{Host: host.NewLocal(), Err: os.Stderr}, file: file}).used("grafana")
	out, _ := run(0, "list", "--tokens", file)
	if !regexp.MustCompile(`(?m)^ci +operator +\S+ \S+ +\S+ \S+ +never +chains=deploy-\*,friday$`).MatchString(out) || !regexp.MustCompile(`(?m)^grafana +viewer +\S+ \S+ +never +20\S+ \S+ +-$`).MatchString(out) {
		t.Errorf("list:\n%s", out)
	}
	if _, errs := run(1, "revoke", "cii", "--tokens", file); !strings.Contains(errs, `there is no token "cii" (did you mean "ci"?)`) {
		t.Errorf("a wrong name: %s", errs)
	}
	run(0, "revoke", "ci", "--tokens", file)
	if out, _ := run(0, "list", "--tokens", file); strings.Contains(out, "ci ") {
		t.Errorf("a token that was revoked:\n%s", out)
	}
	run(0, "revoke", "grafana", "--tokens", file)
	if out, errs := run(0, "list", "--tokens", file); out != "" || !strings.Contains(errs, "there are no tokens") {
		t.Errorf("no tokens: %s%s", out, errs)
	}
}

// TestUseLog writes uses at most once a minute, and those of other tokens stay.
func TestUseLog(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	var errs strings.Builder
	u := &useLog{app: &app.App{Host: h, Err: &errs}, file: "/etc/tokens"}
	u.used("a")
	u.written = nil
	u.used("a")
	if strings.Count(errs.String(), "cannot be kept") != 1 {
		t.Errorf("printed: %s", errs.String())
	}
	h.PutFile("/etc/tokens", string(ui.AddToken(nil, tokenOf(t, h, "a")))+tokenOf(t, h, "b").String()+"\n", 0o600)
	at := func(name string) time.Time {
		uses, err := readUses(u.app, "/etc/tokens")
		if err != nil {
			t.Fatal(err)
		}
		return uses[name]
	}
	h.SetNow(h.Now().Add(useEvery))
	first := h.Now().Truncate(time.Second)
	u.used("a")
	h.SetNow(h.Now().Add(useEvery / 2))
	u.used("a")
	u.used("b")
	if !at("a").Equal(first) || !at("b").After(first) {
		t.Errorf("a %v, want %v; b %v", at("a"), first, at("b"))
	}
	h.SetNow(h.Now().Add(useEvery))
	u.used("a")
	if !at("a").After(at("b")) {
		t.Errorf("a %v, b %v", at("a"), at("b"))
	}
}

func tokenOf(t *testing.T, h host.Host, name string) *ui.Token {
	t.Helper()
	_, hash := ui.NewToken()
	return &ui.Token{Name: name, Role: ui.Viewer, Created: h.Now(), Hash: hash}
}
