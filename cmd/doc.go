package cmd

import (
	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/funcdoc"
)

func newDocCmd(a *app.App) *cobra.Command {
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
