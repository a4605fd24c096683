package cmd

import (
	"strings"

	"github.com/spf13/cobra"

	"brine/internal/config"
	"brine/internal/fun"
)

// completeSLS offers the names of SLS files to the shell.
func (a *App) completeSLS(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	f := &runFlags{}
	f.configDir, _ = c.Flags().GetString("config-dir")
	f.fileRoots, _ = c.Flags().GetStringArray("file-root")
	s, err := a.newSession(config.Master, "salt-run", f, nil)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	defer s.end()
	env := s.env(c.Context(), "")
	names, err := fun.ListSLS(c.Context(), env.Up, env.SaltEnv)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var out []string
	for _, n := range names {
		if strings.HasPrefix(n, prefix) {
			out = append(out, n)
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// completeCall offers functions first, then SLS names where the function takes
// them.
func (a *App) completeCall(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return completeFunctions(c, args, prefix)
	}
	switch args[0] {
	case "state.apply", "state.sls", "state.show_sls", "state.show_low_sls", "state.orchestrate", "state.orch":
		return a.completeSLS(c, args[1:], prefix)
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}
