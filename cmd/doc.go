package cmd

import (
	"github.com/spf13/cobra"
)

func newDocCmd(a *App) *cobra.Command {
	tree := &treeFlags{}
	c := &cobra.Command{
		Use:   "doc <function | module>...",
		Short: "Print the documentation of functions",
		Long: `Print what functions do and their arguments. A module's name lists its
functions. A name may be a state function, an execution function and a runner
function at once: all are shown.

Exit status: 0; 64 nothing was named; 255 there is no such function.`,
		Example: `  brine doc file.managed
  brine doc cmd`,
		ValidArgsFunction: completeFunctions,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef(c, "no function was named")
			}
			t, err := tree.table(c.Context(), a)
			if err != nil {
				return err
			}
			return a.printDocs(t, args)
		},
	}
	tree.register(c.Flags())
	return c
}
