package cmd

import (
	"slices"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/cmd/funcdoc"
)

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
