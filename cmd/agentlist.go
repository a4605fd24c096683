package cmd

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"brine/cmd/assembly"
	"brine/internal/core/config"
	"brine/internal/py/value"
)

// agentDirFlags say where agents of other platforms lie.
type agentDirFlags struct {
	runFlags
	dir string
}

func (f *agentDirFlags) register(c *cobra.Command) {
	c.Flags().StringVarP(&f.configDir, "config-dir", "c", "", "configuration directory (default: $BRINE_CONFIG_DIR, $SALT_CONFIG_DIR, /etc/brine, /etc/salt)")
	c.Flags().StringVar(&f.dir, "agent-dir", "", "directory of agents (default: ssh_agent_dir of the configuration, else brine/agents in $XDG_DATA_HOME or ~/.local/share)")
}

// opts returns the configuration with the flags over it.
func (a *App) agentOptions(f *agentDirFlags) (*value.Map, *session, error) {
	over := value.NewMap(1)
	if f.dir != "" {
		over.Set("ssh_agent_dir", f.dir)
	}
	s, err := a.newSession(config.Master, "salt-ssh", &f.runFlags, over)
	if err != nil {
		return nil, nil, err
	}
	return s.cfg.Opts, s, nil
}

func newAgentListCmd(a *App) *cobra.Command {
	o := &agentDirFlags{}
	verify := false
	c := &cobra.Command{
		Use:   "list",
		Short: "List the platforms that agents are available for",
		Long: `List the agents that this brine can copy to targets: files in the directory of
agents, those in the program, those of the package brine-agents, and this program
itself for its own platform. If a platform has several, the first one is used; it
is marked with a star.

Exit status: 0 all of them can be used; 1 one cannot.`,
		SilenceUsage: true, SilenceErrors: true,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return a.agentList(o, verify) },
	}
	c.SetFlagErrorFunc(flagError)
	o.register(c)
	c.Flags().BoolVar(&verify, "verify", false, "unpack the agents of the release and compare them with their hashes")
	return c
}

// noArguments makes an argument a usage fault.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef(c, "unexpected argument %q", args[0])
	}
	return nil
}

func (a *App) agentList(o *agentDirFlags, verify bool) error {
	opts, s, err := a.agentOptions(o)
	if err != nil {
		return err
	}
	defer s.end()
	images := assembly.Images(s.envOptions(""), a.Getenv, opts)
	bad := 0
	w := tabwriter.NewWriter(a.Out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "  PLATFORM\tVERSION\tSIZE\tSHA-256\tFROM")
	for _, i := range images.List(verify) {
		mark := " "
		if i.Used {
			mark = "*"
		}
		if i.Err != nil {
			bad++
			fmt.Fprintf(w, "! %s\t%s\t%s\t%.12s\t%s: %v\n", i.Platform, dash(i.Version), megabytes(i.Size), dash(i.Hash), i.From, i.Err)
			continue
		}
		fmt.Fprintf(w, "%s %s\t%s\t%s\t%.12s\t%s\n", mark, i.Platform, i.Version, megabytes(i.Size), i.Hash, i.From)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if bad > 0 {
		return silent(exitGeneric)
	}
	return nil
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
