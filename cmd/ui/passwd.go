package ui

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/internal/view/ui"
)

type passwdOptions struct {
	users, role string
	proxied     bool
}

func newPasswd(a *app.App, runF func(context.Context, *passwdOptions, []string) error) *cobra.Command {
	o := &passwdOptions{}
	c := &cobra.Command{
		Use:   "passwd <user>",
		Short: "Add a user of brine ui, or change a password",
		Long: `Add a user to a file of users for 'brine ui --users', or change the password or
role of a user. brine asks for the password twice; without a terminal, it reads it
from the first line of standard input. The file has hashes (argon2id), and only you
can read it.

Roles: viewer (look), operator (also run), editor (also create and edit).

Exit status: 0 success; 1 failure; 64 usage error.`,
		Example: `  brine ui passwd ann --users ui.users --role operator
  brine ui passwd bob --users ui.users --role viewer --no-password`,
		SilenceUsage: true, SilenceErrors: true, ValidArgsFunction: app.NoCompletion,
		RunE: func(c *cobra.Command, args []string) error {
			if runF != nil {
				return runF(c.Context(), o, args)
			}
			return setPassword(c.Context(), a, c, o, args)
		},
	}
	c.SetFlagErrorFunc(app.FlagError)
	f := c.Flags()
	f.StringVar(&o.users, "users", "", "file of users; created if it does not exist")
	f.StringVar(&o.role, "role", "", "role: "+strings.Join(ui.RoleNames(), ", ")+" (default: as before, else viewer)")
	f.BoolVar(&o.proxied, "no-password", false, "the user has no password: a proxy authenticates")
	_ = c.RegisterFlagCompletionFunc("role", cobra.FixedCompletions(ui.RoleNames(), cobra.ShellCompDirectiveNoFileComp))
	return c
}

func setPassword(ctx context.Context, a *app.App, c *cobra.Command, o *passwdOptions, args []string) error {
	if len(args) != 1 || o.users == "" {
		return app.Usagef(c, "give the name of a user, and the file with --users")
	}
	if err := ui.CheckUser(args[0]); err != nil {
		return app.Usagef(c, "%s", err)
	}
	if o.role != "" {
		if _, err := ui.ParseRole(o.role); err != nil {
			return app.Usagef(c, "--role: %s", err)
		}
	}
	unlock, err := a.Host.Lock(o.users + ".lock")
	if err != nil {
		return err
	}
	defer unlock() // the file of the lock stays: others may wait for it
	text, err := a.Host.ReadFile(o.users)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := ui.ParseUsers(o.users, text); err != nil {
		return err
	}
	hash := "-"
	if !o.proxied {
		password, err := newPassword(a)
		if err != nil {
			return err
		}
		if hash, err = ui.Hash(password); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return app.ErrInterrupted
	}
	return writePrivate(a, o.users, ui.SetUser(text, args[0], o.role, hash))
}

// newPassword asks for a new password: twice on a terminal, else it is a line.
func newPassword(a *app.App) (string, error) {
	if a.TTY() == nil {
		line, err := bufio.NewReader(io.LimitReader(a.In, 4096)).ReadString('\n')
		if err != nil && (err != io.EOF || line == "") {
			return "", errors.New("no password was given on standard input")
		}
		return strings.TrimRight(line, "\r\n"), nil
	}
	first, err := a.AskStdin("New password: ")
	if err != nil {
		return "", err
	}
	again, err := a.AskStdin("Again: ")
	if err != nil {
		return "", err
	}
	if first.Reveal() != again.Reveal() {
		return "", errors.New("the passwords differ; nothing was changed")
	}
	return first.Reveal(), nil
}
