// Package formula is brine formula: formulas of known versions.
package formula

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/cmd/session"
	"brine/internal/core/config"
	"brine/internal/core/formula"
	"brine/internal/core/printable"
)

type options struct {
	app.RunFlags
	formula formula.Formula // of add
	frozen  bool
}

// New returns "brine formula".
func New(a *app.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "formula <command>",
		Short: "Add formulas of known versions to a tree",
		Long: `Add formulas, which are git repositories with SLS files, to a tree.

formulas.yaml has their URLs and versions, formulas.lock the commits in use and
the hashes of their files. Both are in the first directory of file_roots for the
environment base. Runs use the formulas as additional roots, in their order, after
all others.`,
		Example: `  brine formula add https://github.com/saltstack-formulas/nginx-formula.git@v2.8.1
  brine formula list`,
		SilenceUsage: true, SilenceErrors: true,
		RunE: func(c *cobra.Command, _ []string) error { return app.Usagef(c, "no command was given") },
	}
	c.AddCommand(newAdd(a), newList(a), newRemove(a), newUpdate(a), newVerify(a))
	return c
}

// command finishes a command that works on the formulas of a tree.
func command(a *app.App, o *options, c *cobra.Command, run func(ctx context.Context, t *formula.Tree, args []string) error) *cobra.Command {
	c.SilenceUsage, c.SilenceErrors = true, true
	c.SetFlagErrorFunc(app.FlagError)
	o.RegisterPlaces(c.Flags())
	c.RunE = func(c *cobra.Command, args []string) error {
		s, err := session.New(a, config.Master, "salt-run", &o.RunFlags, nil)
		if err != nil {
			return err
		}
		defer s.End()
		t, err := assembly.NewGit(s.EnvOptions("")).Formulas(s.Cfg.Opts)
		if err != nil {
			return err
		}
		return run(c.Context(), t, args)
	}
	return c
}

// printLocked prints formulas, one a line.
func printLocked(a *app.App, ls ...formula.Locked) error {
	w := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	for _, l := range ls {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", l.Name, printable.Line(l.Ref), l.Commit[:12], printable.Line(l.URL))
	}
	return w.Flush()
}

func newAdd(a *app.App) *cobra.Command {
	o := &options{}
	c := &cobra.Command{
		Use:   "add <url>@<version>",
		Short: "Add a formula",
		Long: `Add a formula to formulas.yaml and formulas.lock. The version is a tag, a commit
or a branch. For a branch, the lock has the commit that it points to now.

Exit status: 0 success; 1 failure; 64 usage error.`,
		Example: `  brine formula add https://github.com/saltstack-formulas/nginx-formula.git@v2.8.1
  brine formula add git@example.com:states.git@main --name states --root salt`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return app.Usagef(c, "give one URL with a version: URL@VERSION")
			}
			return nil
		},
	}
	c.Flags().StringVar(&o.formula.Name, "name", "", "name of the formula (default: the last part of the URL)")
	c.Flags().StringVar(&o.formula.Ref, "ref", "", "version, if it contains a slash")
	c.Flags().StringVar(&o.formula.Root, "root", "", "directory of the repository to serve")
	c.Flags().StringVar(&o.formula.Mountpoint, "mountpoint", "", "directory under salt:// for its files")
	return command(a, o, c, func(ctx context.Context, t *formula.Tree, args []string) error {
		f := o.formula
		if f.URL = args[0]; f.Ref == "" {
			f.URL, f.Ref = formula.SplitURL(args[0])
		}
		l, err := t.Add(ctx, f)
		if err != nil {
			return err
		}
		return printLocked(a, l)
	})
}

func newList(a *app.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "list",
		Short: "List the formulas of a tree",
		Long: `List the formulas of formulas.lock: name, version, commit and URL. A warning tells
where formulas.yaml differs.

Exit status: 0 success; 1 a file cannot be read; 64 usage error.`,
		Args: app.NoArgs,
	}
	return command(a, &options{}, c, func(_ context.Context, t *formula.Tree, _ []string) error {
		fs, err := t.Manifest()
		if err != nil {
			return err
		}
		ls, err := t.Lock()
		if err != nil {
			return err
		}
		for _, d := range formula.Differences(fs, ls) {
			fmt.Fprintf(a.Err, "brine: warning: %s; run 'brine formula update'\n", printable.Line(d))
		}
		return printLocked(a, ls...)
	})
}

func newRemove(a *app.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "remove <name>...",
		Short: "Remove formulas",
		Long: `Remove formulas from formulas.yaml and formulas.lock.

Exit status: 0 success; 1 failure; 64 usage error.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return app.Usagef(c, "no formula was given")
			}
			return nil
		},
	}
	return command(a, &options{}, c, func(_ context.Context, t *formula.Tree, args []string) error { return t.Remove(args) })
}

func newUpdate(a *app.App) *cobra.Command {
	o := &options{}
	c := &cobra.Command{
		Use:   "update [<name>[@<version>]...]",
		Short: "Fetch formulas and update the lock",
		Long: `Fetch the formulas of formulas.yaml, or the named ones, and write their commits
and hashes to formulas.lock. NAME@VERSION changes the version first.

With --frozen nothing is written: the commits in the lock are fetched, and it is
an error if formulas.yaml and formulas.lock differ or a hash does not match.

Exit status: 0 success; 1 a formula cannot be fetched, or does not match the lock;
64 usage error.`,
		Example: `  brine formula update
  brine formula update nginx-formula@v2.9.0
  brine formula update --frozen`,
	}
	c.Flags().BoolVar(&o.frozen, "frozen", false, "use the commits in formulas.lock, and fail if they do not match")
	return command(a, o, c, func(ctx context.Context, t *formula.Tree, args []string) error {
		if o.frozen {
			if len(args) > 0 {
				return app.Usagef(c, "--frozen takes no names")
			}
			return t.Verify(ctx)
		}
		ls, err := t.Update(ctx, args)
		if err != nil {
			return err
		}
		return printLocked(a, ls...)
	})
}

func newVerify(a *app.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "verify",
		Short: "Check formulas against the lock",
		Long: `Check that formulas.yaml and formulas.lock agree, and that the files of each
formula have the hash in the lock. Missing commits are fetched.

Exit status: 0 everything matches the lock; 1 something does not; 64 usage error.`,
		Args: app.NoArgs,
	}
	return command(a, &options{}, c, func(ctx context.Context, t *formula.Tree, _ []string) error { return t.Verify(ctx) })
}
