package session

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"brine/cmd/app"
	"brine/internal/core/config"
)

// TreeCommand finishes a command that looks at the files of a tree and runs nothing.
// register adds its flags, and wants says which arguments it takes; a negative
// most is any number of them.
func TreeCommand(a *app.App, c *cobra.Command, register func(*app.RunFlags, *pflag.FlagSet), least, most int, wants string,
	run func(ctx context.Context, s *Session, args []string) error,
) *cobra.Command {
	o := &app.RunFlags{}
	c.SilenceUsage, c.SilenceErrors = true, true
	c.SetFlagErrorFunc(app.FlagError)
	register(o, c.Flags())
	c.Args = func(c *cobra.Command, args []string) error {
		return app.Arguments(c, args, least, most, wants)
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		s, err := New(a, config.Master, "salt-run", o, nil)
		if err != nil {
			return err
		}
		defer s.End()
		return run(c.Context(), s, args)
	}
	return c
}

// CompleteNames offers the names of what a tree has to the shell, for the first
// argument.
func CompleteNames(a *app.App, c *cobra.Command, args []string, prefix string, names func(*Session) ([]string, error)) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	f := &app.RunFlags{LogLevel: "quiet"}
	f.ConfigDir, _ = c.Flags().GetString("config-dir")
	f.FileRoots = app.Repeated(c.Flags(), "file-root")
	s, err := New(a, config.Master, "salt-run", f, nil)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	defer s.End()
	all, err := names(s)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return app.Begins(all, prefix), cobra.ShellCompDirectiveNoFileComp
}
