package cmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/spf13/pflag"

	"brine/cmd/assembly"
	"brine/cmd/internal/progress"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/printable"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// fleetFlags say which machines there are and how they are reached.
type fleetFlags struct {
	roster     string
	rosterFile string
	maxProcs   int
	timeout    int

	user, priv    string
	ignoreKeys    bool
	hostKeys      string
	askpass       bool
	retries       int
	wipe          bool
	refreshGrains bool
	unreachable   bool // is allowed
	agentDir      string
	fleets        string // their names
	progress      progress.Flags
}

// registerAs registers the flags with the shorthands of --timeout and
// --progress, which Salt's programs differ in.
func (f *fleetFlags) registerAs(fs *pflag.FlagSet, timeoutShort, progressShort string) {
	f.progress.Register(fs, progressShort)
	fs.StringVar(&f.roster, "roster", "", "type of the roster: flat, dir, sshconfig, ansible, ... (default: flat)")
	fs.StringVar(&f.fleets, "fleet", "", "use only these fleets (comma-separated); \"roster\" means the roster (default: all)")
	fs.StringVar(&f.rosterFile, "roster-file", "", "file with the targets, - for standard input (default: roster in the configuration directory)")
	fs.IntVar(&f.maxProcs, "max-procs", 0, "how many targets to work on at once (default: 64)")
	fs.IntVarP(&f.timeout, "timeout", timeoutShort, 0, "seconds until a silent target is asked whether its job is still running")
	fs.StringVar(&f.user, "user", "", "user to log in as, if the roster does not name one")
	fs.StringVar(&f.priv, "priv", "", "private key to log in with, if the roster does not name one")
	fs.BoolVarP(&f.ignoreKeys, "ignore-host-keys", "i", false, "accept any host key: insecure, the host could be an impostor")
	fs.StringVar(&f.hostKeys, "host-keys", "", "which host keys to accept: strict (only known ones), ask (about unknown ones, on a terminal), accept-new, off (default: as in ssh_config, else ask)")
	fs.BoolVar(&f.askpass, "askpass", false, "ask for a password, once for all targets without one in the roster; further questions, such as codes, are asked once per account")
	fs.BoolVar(&f.askpass, "ask-pass", false, "same as --askpass")
	_ = fs.MarkHidden("ask-pass") // it is defined in the line above
	fs.IntVar(&f.retries, "retries", -1, "how often to retry a connection (default: 3, only after a reset)")
	fs.Lookup("retries").DefValue = "0" // so that help shows no -1
	fs.BoolVarP(&f.wipe, "wipe", "w", false, "remove the agent from the targets after the run")
	fs.BoolVar(&f.refreshGrains, "refresh-grains", false, "ask targets for their grains whatever ssh_grains_age says")
	fs.BoolVar(&f.unreachable, "allow-unreachable", false, "skip targets that cannot be reached to find out whether they match")
	fs.StringVar(&f.agentDir, "agent-dir", "", "directory of agents for other platforms: brine-<os>-<arch>")
}

// stdinPath is the roster file of --roster-file -.
const stdinPath = "/dev/stdin"

// override returns what the flags put over the configuration.
func (f *fleetFlags) override() *value.Map {
	m := value.NewMap(4)
	if f.roster != "" {
		m.Set("roster", f.roster)
	}
	switch f.rosterFile {
	case "":
	case "-":
		m.Set("roster_file", stdinPath)
	default:
		m.Set("roster_file", f.rosterFile)
	}
	if f.maxProcs > 0 {
		m.Set("ssh_max_procs", int64(f.maxProcs))
	}
	if f.timeout > 0 {
		m.Set("timeout", int64(f.timeout))
	}
	text := func(key, v string) {
		if v != "" {
			m.Set(key, v)
		}
	}
	yes := func(key string, on bool) {
		if on {
			m.Set(key, true)
		}
	}
	text("fleet", f.fleets)
	text("ssh_host_keys", f.hostKeys)
	text("ssh_agent_dir", f.agentDir)
	yes("ignore_host_keys", f.ignoreKeys)
	yes("ssh_wipe", f.wipe)
	yes("ssh_refresh_grains", f.refreshGrains)
	yes("ssh_allow_unreachable", f.unreachable)
	if f.retries >= 0 {
		m.Set("ssh_retries", int64(f.retries))
	}
	return m
}

// sshOptions returns what the flags add to the roster; --askpass asks here.
func (a *App) sshOptions(f *fleetFlags) (assembly.SSHOptions, error) {
	o := assembly.SSHOptions{User: f.user, Priv: f.priv, Getenv: a.Getenv}
	in, ok := a.In.(*os.File)
	if ok && f.rosterFile == "-" && isatty.IsTerminal(in.Fd()) {
		return o, &statusError{status: exitUsage, err: errors.New("--roster-file -: standard input is a terminal, and not a roster"), hint: "pipe one into brine, or name a file"}
	}
	o.Ask, o.AskOnce = a.asker(), f.askpass
	if !f.askpass {
		return o, nil
	}
	if o.Ask == nil {
		return o, &statusError{status: exitUsage, err: errors.New("--ask-pass needs a terminal to ask on"), hint: "set SSH_ASKPASS, or passwd in the roster, or use keys"}
	}
	var err error
	o.Password, err = o.Ask("Password: ", false)
	return o, err
}

// controller returns the Env of a runner function: this machine, with the
// fleet of the roster.
func (s *session) controller(ctx context.Context, jid string) (*fun.Env, error) {
	o := s.envOptions(jid)
	env := assembly.NewEnv(ctx, o)
	f, err := assembly.NewFleet(ctx, env, o, s.newJID)
	if err != nil {
		return nil, err
	}
	f.Watch = s.watch
	f.Jobs, f.Warn, f.OldEvents = s, s.warn, value.Truth(s.cfg.Opts.At("old_event_tags"))
	if s.files != nil {
		f.Store = s.files
	}
	if s.leaves {
		f.Background = s.app.background
	} else {
		f.Stay = s.staying.stay(ctx)
	}
	f.Waiting = s.waiting
	f.AskJID = func() string { return s.jids.Next(s.app.Host.Now()) }
	env.Fleet = f
	env.OnRunner = s.runnerJob
	env.OnNote = s.note
	env.OnPrint = func(line string) { fmt.Fprintln(s.app.Out, printable.Text(line)) }
	if err := s.openReturners(env); err != nil {
		return nil, err
	}
	if err := s.openBus(ctx, env, f); err != nil {
		return nil, err
	}
	s.close = append(s.close, func() { _ = f.Close() }, func() { s.staying.wait(s.app.Err) })
	return env, nil
}

// waiting names the targets that a job still waits for.
func (s *session) waiting(jid string, ids []string, since time.Duration) {
	const shown = 10
	names := strings.Join(ids[:min(shown, len(ids))], ", ")
	if len(ids) > shown {
		names += fmt.Sprintf(" and %d more", len(ids)-shown)
	}
	s.app.intr.setWaiting(names)
	if s.level > slog.LevelWarn {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.app.Err, "brine: job %s: still waiting for %s, after %s\n", jid, printable.Line(names), since)
}

// background has another process of brine work on targets that are this machine:
// the same command line, which goes on with the job's record.
func (a *App) background(job fun.Job, ids []string, rec jobs.Record) error {
	file := jobs.FileOf(rec)
	if file == nil {
		return errors.New("the job cannot go on without this process, since it cannot be recorded")
	}
	exe, err := host.Executable()
	if err != nil {
		return fmt.Errorf("the job cannot go on without this process: %w", err)
	}
	argv := []string{exe}
	if slices.Contains(saltPrograms[:], a.Program) {
		argv = append(argv, a.Program)
	}
	flags, args := a.Args, []string(nil) // behind "--" there are no flags
	if i := slices.Index(flags, "--"); i >= 0 {
		flags, args = flags[:i], flags[i:]
	}
	flags = slices.DeleteFunc(slices.Clone(flags), func(x string) bool { return x == "--async" || strings.HasPrefix(x, "--async=") })
	// The command may come behind flags of the whole program, so its own come last.
	own := []string{"--jid", job.JID, "--background", strings.Join(ids, ",")}
	_, err = a.Host.Start(host.Cmd{Argv: slices.Concat(argv, flags, own, args), Stdin: file})
	return err
}
