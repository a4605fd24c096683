package cmd

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"brine/internal/assembly"
	"brine/internal/host"
)

type agentOpts struct {
	cacheDir string
}

// newAgentCmd returns the far end of "brine ssh", which the controller starts
// on targets.
func newAgentCmd(a *App) *cobra.Command {
	o := &agentOpts{}
	c := &cobra.Command{
		Use:   "agent",
		Short: "Serve a controller on standard input and output",
		Long: `Serve a controller on standard input and output: what brine ssh starts on a
target. It is of no use by hand.

Files are kept from run to run in the directory cache beside the program, where
that lies in a directory that only its user can enter, or in --cache-dir.

Exit status: 0 the controller closed the channel; 1 the channel broke; 64 it was
started on a terminal.`,
		Hidden:       true,
		SilenceUsage: true, SilenceErrors: true,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.agent(c.Context(), o) },
	}
	c.SetFlagErrorFunc(flagError)
	c.Flags().StringVar(&o.cacheDir, "cache-dir", "", "where files are kept from run to run; it must be the user's alone")
	return c
}

// stdio is the channel of an agent.
type stdio struct {
	io.Reader
	io.Writer
}

// Close closes both ends, so that the controller sees the end.
func (s stdio) Close() error {
	var errs []error
	for _, x := range []any{s.Reader, s.Writer} {
		if c, ok := x.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

func (a *App) agent(ctx context.Context, o *agentOpts) error {
	if isTerminal(a.In) || isTerminal(a.Out) {
		return &statusError{
			status: exitUsage, err: errors.New("agent: standard input or output is a terminal, and a controller was expected there"),
			hint: "'brine ssh' starts the agent on its targets; it is not to be started by hand",
		}
	}
	// A channel that is gone is an error to be returned, not the end of the
	// process: programs of calls must be ended first.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	exe, _ := os.Executable()
	ao := assembly.AgentOptions{Host: a.Host, Table: assembly.Table(), Version: version, Exe: exe, CacheDir: o.cacheDir}
	if ao.CacheDir == "" {
		ao.CacheDir = besideExe(a.Host, exe)
	}
	if l, ok := a.Host.(*host.Local); ok {
		ao.CloseAll = l.CloseAll
	}
	return assembly.ServeAgent(ctx, stdio{a.In, a.Out}, ao)
}

func isTerminal(x any) bool {
	f, ok := x.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// besideExe returns the cache directory of an agent that lies in a directory of
// the user's own; "" where it lies elsewhere.
func besideExe(h host.Host, exe string) string {
	if exe == "" {
		return ""
	}
	dir := filepath.Dir(exe)
	st, err := h.Lstat(dir)
	if err != nil || !st.Mode.IsDir() || st.UID != h.Geteuid() || st.Mode.Perm()&0o077 != 0 {
		return ""
	}
	return filepath.Join(dir, "cache")
}
