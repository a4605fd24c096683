package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"brine/cmd/assembly"
	"brine/internal/chain"
	"brine/internal/config"
	"brine/internal/fun"
	"brine/internal/host"
	"brine/internal/printable"
	"brine/internal/value"
)

// chainSLS is the directory of the SLS of a chain, apart from those of the tree
// that its steps apply.
const chainSLS = "chains"

type chainRunOpts struct {
	runOpts
	yes, test bool
}

// flags adds the flags of a command that looks at the targets of a chain; register
// adds those of the configuration, and of reports where there is one.
func (o *chainRunOpts) flags(c *cobra.Command, register func(*pflag.FlagSet)) {
	c.SilenceUsage, c.SilenceErrors = true, true
	c.SetFlagErrorFunc(flagError)
	register(c.Flags())
	o.registerAs(c.Flags(), "t", "")
	completeFlags(c)
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usagef(c, "give the name of one chain")
		}
		return nil
	}
}

func newChainRunCmd(a *App) *cobra.Command {
	o := &chainRunOpts{}
	c := &cobra.Command{
		Use:   "run <chain>",
		Short: "Run a chain",
		Long: `Run a chain: each action runs if the one before succeeded on all its targets. On a
terminal, brine shows the steps with their targets and asks once.

The targets are those that the expressions match when the run begins. The
definition is not changed by a run; its hash is in the record of the run.

Exit status: 0 all steps went well; 1 a step failed, or the chain is not right;
64 the command line is invalid; 130 interrupted.`,
		Example: `  brine chain run deploy-friday
  brine chain run deploy-friday --yes --report friday.html
  brine chain run deploy-friday --resume 20261127020000123456`,
		ValidArgsFunction: a.completeChain,
		RunE:              func(c *cobra.Command, args []string) error { return a.runChain(c.Context(), c, o, args[0]) },
	}
	o.flags(c, o.registerRun)
	f := c.Flags()
	f.StringVar(&o.resume, "resume", "", "go on with this run, a jid, at the first step that did not succeed")
	a.completeResume(c)
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask before the run")
	f.BoolVar(&o.test, "test", false, "change nothing: show what would change")
	return c
}

// runChain renders a chain to an orchestration and runs it.
func (a *App) runChain(ctx context.Context, c *cobra.Command, o *chainRunOpts, name string) error {
	if err := a.saltfile(c, "salt-run", &o.runFlags); err != nil {
		return err
	}
	var ch *chain.Chain
	var dir string
	prepare := func(s *session) (err error) {
		if ch, _, err = readChain(chainStore(s), name); err != nil {
			return err
		}
		if len(ch.Steps) == 0 {
			return fmt.Errorf("chain %s has no steps: 'brine chain add' adds some", name)
		}
		if err := a.Host.MkdirAll(s.cfg.CacheDir, 0o755); err != nil {
			return err
		}
		if dir, err = a.Host.MkdirTemp(s.cfg.CacheDir, "chain-"); err != nil {
			return err
		}
		s.close = append(s.close, func() { _ = a.Host.RemoveAll(dir) })
		s.cfg.Opts.Set(assembly.TemplateRoots, value.Strings(dir))
		s.cfg.Opts.Set("orchestrate_no_targets", true)
		s.again = "brine chain run " + name
		s.subject = chainSubject(ch)
		if s.metadata == nil {
			s.metadata = value.MapOf("chain", name, "definition", ch.Hash())
		}
		return nil
	}
	return a.runner(ctx, c, &o.runOpts, "state.orchestrate", prepare, func(s *session, env *fun.Env) (fun.Args, error) {
		ids, err := resolve(ctx, env, ch)
		if err != nil {
			return fun.Args{}, err
		}
		if in := a.terminal(); in != nil && !o.yes {
			if err := a.confirm(ctx, in, describeChain(ch, ids), o.test); err != nil {
				return fun.Args{}, err
			}
		}
		sls, err := ch.Render(ids)
		if err != nil {
			return fun.Args{}, err
		}
		path := filepath.Join(dir, chainSLS, name+".sls")
		if err := errors.Join(a.Host.MkdirAll(filepath.Dir(path), 0o755), a.Host.WriteFile(path, strings.NewReader(sls), host.WriteOptions{})); err != nil {
			return fun.Args{}, err
		}
		in := fun.Args{Pos: []value.Value{chainSLS + "." + name}, Kw: value.NewMap(1)}
		if o.test {
			in.Kw.Set("test", true)
		}
		if o.resume != "" {
			in, err = s.resumed(ctx, o.resume, in)
		}
		return in, err
	})
}

// describeChain is a chain with its targets, in words.
func describeChain(c *chain.Chain, ids map[int][]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", c.Name)
	for i := range c.Steps {
		fmt.Fprintf(&b, "  %d. %s\n", i+1, c.Steps[i].Says())
		if c.Steps[i].On != "" {
			fmt.Fprintf(&b, "     %s\n", counted(ids[i+1]))
		}
	}
	return b.String()
}

func newChainRenderCmd(a *App) *cobra.Command {
	o := &chainRunOpts{}
	c := &cobra.Command{
		Use:   "render <chain>",
		Short: "Print the orchestration that a chain is run as",
		Long: `Print the orchestration that a chain is run as, an SLS file with the targets that
match now.

Exit status: 0 it was printed; 1 the chain is not right, or a step has no
targets; 64 the command line is invalid.`,
		Example:           "  brine chain render deploy-friday",
		ValidArgsFunction: a.completeChain,
	}
	o.flags(c, o.registerConfig)
	c.RunE = func(c *cobra.Command, args []string) error {
		ctx := c.Context()
		s, err := a.newSession(config.Master, "salt-run", &o.runFlags, o.override())
		if err != nil {
			return err
		}
		defer s.end()
		ch, _, err := readChain(chainStore(s), args[0])
		if err != nil {
			return err
		}
		if s.ssh, err = a.sshOptions(&o.fleetFlags); err != nil {
			return err
		}
		if err := s.openGit(ctx); err != nil {
			return err
		}
		env, err := s.controller(ctx, s.newJID())
		if err != nil {
			return err
		}
		ids, err := resolve(ctx, env, ch)
		if err != nil {
			return err
		}
		sls, err := ch.Render(ids)
		if err != nil {
			return err
		}
		_, err = fmt.Fprint(a.Out, printable.Text(sls))
		return err
	}
	return c
}

func newChainEditCmd(a *App) *cobra.Command {
	c := &cobra.Command{
		Use:   "edit <chain>",
		Short: "Edit the file of a chain",
		Long: `Edit the file of a chain with the program of VISUAL or EDITOR (default: vi). What
is not right is shown with its line, and nothing is written; so is a chain that
somebody else changed in the meantime. Your text is kept in a file then.` + chainStatus,
	}
	return chainCmd(a, c, 1, 1, "give the name of one chain", func(ctx context.Context, st *chain.Store, args []string) error {
		_, old, err := readChain(st, args[0])
		if old == nil { // a chain that is not right can be edited, too
			return err
		}
		dir, err := a.Host.MkdirTemp(os.TempDir(), "brine-chain-")
		if err != nil {
			return err
		}
		path := filepath.Join(dir, args[0]+".yml")
		if err := a.Host.WriteFile(path, strings.NewReader(string(old)), host.WriteOptions{}); err != nil {
			return err
		}
		editor := cmp.Or(a.Getenv("VISUAL"), a.Getenv("EDITOR"), "vi")
		out, err := a.Host.Run(ctx, host.Cmd{Argv: []string{"sh", "-c", editor + ` "$1"`, "sh", path}, Foreground: true, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr})
		if err == nil && out.Status != 0 {
			err = fmt.Errorf("%s: exit status %d", editor, out.Status)
		}
		var text []byte
		if err == nil {
			text, err = a.Host.ReadFile(path)
		}
		if err == nil && string(text) != string(old) {
			if _, err = chain.Parse(args[0], path, text); err == nil {
				err = st.Write(args[0], old, text)
			}
			if err != nil {
				return &statusError{status: exitGeneric, err: err, hint: "nothing was changed; your text is in " + path}
			}
		}
		_ = a.Host.RemoveAll(dir)
		return err
	})
}

func newChainScheduleCmd(a *App) *cobra.Command {
	o, at, print := &runFlags{}, "", false
	c := &cobra.Command{
		Use:   "schedule <chain>",
		Short: "Have a chain run once, later",
		Long: `Have systemd, or at where systemd does not run, run a chain once at a time. The
chain is run as it is then. Nobody can be asked: keys must not need passphrases.

Exit status: 0 it is scheduled; 1 it cannot be; 64 the command line is invalid.`,
		Example:      "  brine chain schedule deploy-friday --at '2026-12-01 02:00'",
		SilenceUsage: true, SilenceErrors: true, ValidArgsFunction: a.completeChain,
	}
	c.SetFlagErrorFunc(flagError)
	o.registerPlaces(c.Flags())
	c.Flags().StringVar(&at, "at", "", "when: a date and time such as '2026-12-01 02:00', in the time zone of this machine")
	c.Flags().BoolVar(&print, "print", false, "print the command that would schedule it, and do nothing")
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usagef(c, "give the name of one chain")
		}
		when, err := parseWhen(at, a.Host.Now())
		if err != nil {
			return usagef(c, "--at: %s", err)
		}
		s, err := a.newSession(config.Master, "salt-run", o, nil)
		if err != nil {
			return err
		}
		defer s.end()
		if _, _, err := readChain(chainStore(s), args[0]); err != nil {
			return err
		}
		argv, err := runLater(o, args[0])
		if err != nil {
			return err
		}
		return a.schedule(c.Context(), args[0], when, argv, print)
	}
	return c
}

// parseWhen reads the time of --at, which must be ahead, and returns it in the time
// zone of now.
func parseWhen(text string, now time.Time) (time.Time, error) {
	for _, layout := range []string{"2006-01-02 15:04", time.DateTime, "2006-01-02T15:04", "2006-01-02T15:04:05", time.RFC3339} {
		when, err := time.ParseInLocation(layout, text, now.Location())
		if err != nil {
			continue
		}
		if !when.After(now) {
			return when, fmt.Errorf("%s is over; it is %s", text, now.Format("2006-01-02 15:04"))
		}
		return when.In(now.Location()), nil
	}
	return time.Time{}, fmt.Errorf("%q is not a date and time such as 2026-12-01 02:00", text)
}

// runLater is the command line that runs a chain, with absolute paths.
func runLater(o *runFlags, name string) ([]string, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	argv := []string{exe, "chain", "run", name, "--yes"}
	for _, x := range []struct {
		flag   string
		values []string
	}{{"--config-dir", []string{o.configDir}}, {"--cachedir", []string{o.cacheDir}}, {"--file-root", o.fileRoots}} {
		for _, v := range x.values {
			if v == "" {
				continue
			}
			if v, err = filepath.Abs(v); err != nil {
				return nil, err
			}
			argv = append(argv, x.flag, v)
		}
	}
	return argv, nil
}

// schedule hands a command to systemd, as a timer that ends with its run, or to
// at.
func (a *App) schedule(ctx context.Context, name string, when time.Time, argv []string, print bool) error {
	unit := fmt.Sprintf("brine-chain-%s-%s", name, when.Format("20060102-150405"))
	cmd := host.Cmd{Argv: []string{"systemd-run", "--unit=" + unit, "--on-calendar=" + when.Format(time.DateTime), "--timer-property=AccuracySec=1s", "--collect"}}
	undo := "systemctl stop " + unit + ".timer"
	st, err := a.Host.Stat("/run/systemd/system")
	switch systemd := err == nil && st.Mode.IsDir(); {
	case systemd && a.Host.Geteuid() == 0:
		cmd.Argv = append(cmd.Argv, argv...)
	case systemd:
		undo = "systemctl --user stop " + unit + ".timer"
		cmd.Argv = append(append(cmd.Argv, "--user"), argv...)
	default:
		quoted := make([]string, len(argv))
		for i, x := range argv {
			quoted[i] = shellWord(x)
		}
		cmd = host.Cmd{Argv: []string{"at", "-t", when.Format("200601021504.05")}, Stdin: strings.NewReader(strings.Join(quoted, " ") + "\n")}
		undo = "atrm, with the number that atq shows"
	}
	if print {
		fmt.Fprintln(a.Out, printable.Line(strings.Join(cmd.Argv, " ")))
		return nil
	}
	out, err := a.Host.Run(ctx, cmd)
	if err != nil {
		return fmt.Errorf("schedule chain %s: systemd does not run here, and at cannot be used: %w", name, err)
	}
	if out.Status != 0 {
		return fmt.Errorf("schedule chain %s: %s: exit status %s: %s", name, cmd.Argv[0], strconv.Itoa(out.Status), printable.Line(strings.TrimSpace(string(out.Stderr))))
	}
	fmt.Fprintf(a.Out, "%s runs at %s; to cancel it: %s\n", name, when.Format("2006-01-02 15:04:05"), undo)
	return nil
}
