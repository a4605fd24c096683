package cmd

import (
	"strings"

	"github.com/spf13/cobra"

	"brine/cmd/assembly"
	"brine/internal/config"
	"brine/internal/fun"
	"brine/outputter"
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

// completeFlags offers the values that the flags of a command know.
func completeFlags(c *cobra.Command) {
	offer := func(name string, values func() []string) {
		if c.Flags().Lookup(name) == nil {
			return
		}
		_ = c.RegisterFlagCompletionFunc(name, func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
			var out []string
			for _, v := range values() {
				if strings.HasPrefix(v, prefix) {
					out = append(out, v)
				}
			}
			return out, cobra.ShellCompDirectiveNoFileComp
		})
	}
	offer("out", outNames)
	offer("state-output", func() []string {
		names := outputter.StateOutputs()
		for _, n := range outputter.StateOutputs() {
			names = append(names, n+"_id")
		}
		return names
	})
	offer("state-verbose", func() []string { return []string{"True", "False"} })
	offer("log-level", logLevels)
	offer("log-file-level", logLevels)
	offer("kind", func() []string { return []string{"state", "execution", "runner", "wheel"} })
}

// completeFunctions offers the names of functions to the shell.
func completeFunctions(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	t := assembly.Table()
	var names []string
	for _, k := range []fun.Kind{fun.State, fun.Exec, fun.Runner} {
		for _, n := range t.Names(k) {
			if strings.HasPrefix(n, prefix) {
				names = append(names, n)
			}
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
