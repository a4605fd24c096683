package ui

import (
	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/internal/view/ui"
)

// newOpenAPI returns "brine ui openapi".
func newOpenAPI(a *app.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "openapi",
		Short: "Print the OpenAPI document of the API",
		Long: `Print the OpenAPI 3.1 document of the API of brine ui, of which tools generate
clients. A server has it at /api/v1/openapi.json.

Exit status: 0 success; 1 failure; 64 usage error.`,
		Example:      `  brine ui openapi > openapi.json`,
		SilenceUsage: true, SilenceErrors: true, ValidArgsFunction: app.NoCompletion,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return app.Usagef(c, "no arguments are taken")
			}
			_, err := a.Out.Write(ui.Document())
			return err
		},
	}
	c.SetFlagErrorFunc(app.FlagError)
	return c
}
