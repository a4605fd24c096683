// Package doc is brine doc and brine functions: which functions there are, and their
// documentation.
package doc

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/cmd/funcdoc"
)

// New returns "brine doc". runF, which may be nil, replaces what runs it.
func New(a *app.App, runF func(context.Context, *funcdoc.Flags, []string) error) *cobra.Command {
	tree := &funcdoc.Flags{}
	c := &cobra.Command{
		Use:   "doc <function | module>...",
		Short: "Print the documentation of functions",
		Long: `Print what functions do, with their arguments and an example. The name of a
module lists its functions. If several kinds of functions (state, execution,
runner) have the same name, all of them are shown.

With --config-dir or --file-root, Python and Starlark modules of the tree are loaded,
which runs their code; --no-run leaves them out.

Exit status: 0 success; 64 usage error; 255 unknown function.`,
		Example: `  brine doc file.managed
  brine doc cmd`,
		ValidArgsFunction: completeFunctions,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return app.Usagef(c, "no function was named")
			}
			if runF != nil {
				return runF(c.Context(), tree, args)
			}
			t, err := tree.Table(c.Context(), a)
			if err != nil {
				return err
			}
			return funcdoc.Print(a, t, args)
		},
	}
	tree.Register(c.Flags())
	return c
}

// completeFunctions offers the names of functions and modules of all kinds to the
// shell, for documentation.
func completeFunctions(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	t := assembly.Table()
	var names []string
	for _, k := range funcdoc.Kinds {
		names = append(names, app.Begins(t.Names(k), prefix)...)
	}
	slices.Sort(names)
	return slices.Compact(names), cobra.ShellCompDirectiveNoFileComp
}
