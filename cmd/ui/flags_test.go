package ui

import (
	"context"
	"testing"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/internal/testkit/cmdtest"
)

// TestFlags has what flags and arguments mean, without a run.
func TestFlags(t *testing.T) {
	t.Parallel()
	cmdtest.Flags(t, func(a *app.App, runF func(context.Context, *options, []string) error) *cobra.Command {
		return New(a, runF)
	}, []cmdtest.Case[options]{
		{Args: "ui"},
		{Args: "ui --listen 127.0.0.1:8080 --open", Set: func(o *options) { o.listen, o.open = "127.0.0.1:8080", true }},
		{Args: "ui --tls-cert c --tls-key k --users u --origin https://x.example", Set: func(o *options) { o.cert, o.key, o.users, o.origin = "c", "k", "u", "https://x.example" }},
		{Args: "ui --trusted-proxy 192.0.2.1,192.0.2.2 --user-header X-User", Set: func(o *options) { o.proxies, o.userHeader = []string{"192.0.2.1", "192.0.2.2"}, "X-User" }},
		{Args: "ui --tokens t --open-metrics", Set: func(o *options) { o.tokens, o.openMetrics = "t", true }},
		{Args: "ui x", Err: `unknown command "x"`},
		{Args: "ui --lisen x", Err: "unknown flag: --lisen (did you mean --listen?)"},
	})
}

// TestPasswdFlags has the flags of brine ui passwd.
func TestPasswdFlags(t *testing.T) {
	t.Parallel()
	cmdtest.Flags(t, func(a *app.App, runF func(context.Context, *passwdOptions, []string) error) *cobra.Command {
		return newPasswd(a, runF)
	}, []cmdtest.Case[passwdOptions]{
		{Args: "passwd ann", Rest: "ann"},
		{Args: "passwd ann --users u --role editor --no-password", Set: func(o *passwdOptions) { o.users, o.role, o.proxied = "u", "editor", true }, Rest: "ann"},
		{Args: "passwd ann --rol x", Err: "unknown flag: --rol (did you mean --role?)"},
	})
	cmdtest.Refuses(t, command, map[string]string{
		"ui openapi x":                     "no arguments are taken",
		"ui passwd":                        "give the name of a user, and the file with --users",
		"ui passwd ann":                    "give the name of a user, and the file with --users",
		"ui passwd ann --users x --role y": `--role: unknown role "y"; there are viewer, operator, editor`,
	})
}
