// Package version is brine version.
package version

import (
	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/serve"
	"brine/internal/core/licenses"
)

// New returns "brine version".
func New(a *app.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "version",
		Short: "Print brine's version and the Salt version it follows",
		Example: `  brine version
  brine version --licenses`,
		Args: app.NoArgs,
	}
	all := c.Flags().Bool("licenses", false, "print the licences of brine and of all modules in it")
	c.RunE = func(*cobra.Command, []string) error {
		if *all {
			return licenses.Write(a.Out)
		}
		return serve.Version(a.Out)
	}
	return c
}
