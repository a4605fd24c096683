package cmd

import "github.com/spf13/cobra"

func newInitCmd(a *App) *cobra.Command {
	return &cobra.Command{Use: "init <directory>", Short: "Make a tree to start from", RunE: func(*cobra.Command, []string) error { return nil }}
}
