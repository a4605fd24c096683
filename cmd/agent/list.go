package agent

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/cmd/session"
	"brine/internal/core/config"
	"brine/internal/py/value"
)

// agentDirFlags say where agents of other platforms lie.
type agentDirFlags struct {
	app.RunFlags
	dir string
}

func (f *agentDirFlags) register(c *cobra.Command) {
	c.Flags().StringVarP(&f.ConfigDir, "config-dir", "c", "", "configuration directory (default: $BRINE_CONFIG_DIR, $SALT_CONFIG_DIR, /etc/brine, /etc/salt)")
	c.Flags().StringVar(&f.dir, "agent-dir", "", "directory of agents (default: ssh_agent_dir of the configuration, else brine/agents in $XDG_DATA_HOME or ~/.local/share)")
}

// opts returns the configuration with the flags over it.
func agentOptions(a *app.App, f *agentDirFlags) (*value.Map, *session.Session, error) {
	over := value.NewMap(1)
	if f.dir != "" {
		over.Set("ssh_agent_dir", f.dir)
	}
	s, err := session.New(a, config.Master, "salt-ssh", &f.RunFlags, over)
	if err != nil {
		return nil, nil, err
	}
	return s.Cfg.Opts, s, nil
}

func newList(a *app.App) *cobra.Command {
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
		Args: app.NoArguments,
		RunE: func(*cobra.Command, []string) error { return list(a, o, verify) },
	}
	c.SetFlagErrorFunc(app.FlagError)
	o.register(c)
	c.Flags().BoolVar(&verify, "verify", false, "unpack the agents of the release and compare them with their hashes")
	return c
}

func list(a *app.App, o *agentDirFlags, verify bool) error {
	opts, s, err := agentOptions(a, o)
	if err != nil {
		return err
	}
	defer s.End()
	images := assembly.Images(s.EnvOptions(""), a.Getenv, opts)
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
		return app.Silent(app.ExitGeneric)
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
