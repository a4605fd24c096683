package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"brine/cmd/assembly"
	"brine/internal/config"
	"brine/internal/event"
	"brine/internal/fleet"
	"brine/internal/fun"
	"brine/internal/jobs"
	"brine/internal/source"
	"brine/internal/value"
	"brine/outputter"
)

// A session is one command's run: its configuration, its Env, its messages.
type session struct {
	app   *App
	flags *runFlags
	cfg   *config.Config
	table *fun.Table
	bus   *event.Ring
	peers *event.Peers
	jids  jobs.JIDs
	files *jobs.Files   // the job cache; nil where nothing is recorded
	jobs  jobs.Recorder // nil where nothing is recorded
	// resume is the orchestration that --resume names.
	resume *jobs.Job
	// runner says that returns are those of runner functions, whose own
	// outputter --out=highstate replaces as any other does.
	runner bool
	log    *slog.Logger
	level  slog.Level          // of stderr
	ssh    assembly.SSHOptions // of machines that are reached over SSH
	watch  fleet.Watcher       // of the jobs on targets; nil: nobody

	staying staying

	mu     sync.Mutex
	warned map[fun.Warning]bool
	slips  int // warnings so far, which --strict makes errors
	close  []func()
}

// newSession reads the configuration for a command. section names the part of
// a Saltfile that holds for it.
func (a *App) newSession(kind config.Kind, section string, f *runFlags, override *value.Map) (*session, error) {
	over := value.NewMap(8)
	set := func(key, v string) {
		if v != "" {
			over.Set(key, v)
		}
	}
	set("id", f.id)
	set("saltenv", f.saltenv)
	set("pillarenv", f.pillarenv)
	set("log_level", f.logLevel)
	set("log_file", f.logFile)
	set("log_level_logfile", f.fileLevel)
	set("cachedir", f.cacheDir)
	set("state_output", f.output.stateOutput)
	set("output", f.output.out)
	if f.output.stateVerbose != "" {
		v, err := parseBool(f.output.stateVerbose)
		if err != nil {
			return nil, &statusError{status: exitUsage, err: fmt.Errorf("--state-verbose: %w", err)}
		}
		over.Set("state_verbose", v)
	}
	if f.output.diff {
		over.Set("state_output_diff", true)
	}
	if override != nil {
		over.Update(override)
	}
	cfg, err := config.Load(config.Options{
		Kind: kind, Host: a.Host, Dir: f.configDir, Section: section, Saltfile: f.saltfile,
		FileRoots: f.fileRoots, PillarRoots: f.pillarRoots, Override: over,
	})
	if err != nil {
		return nil, err
	}
	a.json = a.json || cfg.Opts.Str("output") == "json"
	s := &session{app: a, flags: f, cfg: cfg, table: assembly.Table(), warned: map[fun.Warning]bool{}}
	s.bus = event.NewRing(0, a.Host.Now)
	s.peers = event.UserPeers(a.Getenv, os.TempDir(), a.Host.Geteuid())
	if err := s.openLog(); err != nil {
		return nil, err
	}
	s.log.Debug("configuration", "dir", cfg.Dir, "files", cfg.Files, "id", cfg.Opts.Str("id"), "cachedir", cfg.CacheDir,
		"file_roots", value.Repr(cfg.Opts.At("file_roots")), "pillar_roots", value.Repr(cfg.Opts.At("pillar_roots")))
	if kind == config.Master {
		s.openJobs()
	}
	for _, w := range cfg.Warnings {
		where := ""
		if !w.Pos.IsZero() {
			where = w.Pos.String()
		}
		s.warn(fun.Warning{Where: where, Text: w.Text})
	}
	return s, nil
}

func parseBool(s string) (bool, error) {
	switch strings.ToLower(s) {
	case "true", "yes", "on", "1":
		return true, nil
	case "false", "no", "off", "0":
		return false, nil
	}
	return false, fmt.Errorf("%q is neither true nor false", s)
}

// end closes what the session opened.
func (s *session) end() {
	for i := len(s.close) - 1; i >= 0; i-- {
		s.close[i]()
	}
}

// warn shows a slip once, where the log level does not hide warnings; --strict
// makes the command fail for it.
func (s *session) warn(w fun.Warning) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.warned[w] {
		return
	}
	s.warned[w] = true
	s.slips++
	if s.level > slog.LevelWarn && !s.flags.strict {
		return
	}
	if w.Where != "" {
		fmt.Fprintf(s.app.Err, "brine: warning: %s: %s\n", w.Where, w.Text)
		return
	}
	fmt.Fprintf(s.app.Err, "brine: warning: %s\n", w.Text)
}

// fault shows where a fault is that the report only names.
func (s *session) fault(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	printError(s.app.Err, err, "")
}

// strictStatus returns status, or a failure where --strict was given and
// something was warned of.
func (s *session) strictStatus(status int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if status == exitOK && s.flags.strict && s.slips > 0 {
		fmt.Fprintf(s.app.Err, "brine: --strict: %d warning(s) above\n", s.slips)
		return exitGeneric
	}
	return status
}

// envOptions are what the Envs of the session are made of.
func (s *session) envOptions(jid string) assembly.EnvOptions {
	exe, _ := os.Executable()
	return assembly.EnvOptions{
		Host: s.app.Host, Config: s.cfg, Table: s.table, Bus: s.bus, Peers: s.peers, Log: s.log, JID: jid, Exe: exe,
		Warn: s.warn, Fault: s.fault, Strict: s.flags.strict, Gate: s.gate, SSH: s.ssh,
	}
}

// env returns the Env of this machine for a job, the machine its only target.
func (s *session) env(ctx context.Context, jid string) *fun.Env {
	env := assembly.NewEnv(ctx, s.envOptions(jid))
	self := fleet.NewSelf(env, s.newJID)
	self.Jobs, self.User, self.Warn = s, s.userName(), s.warn
	env.Fleet = self
	env.Print = func(line string) { fmt.Fprintln(s.app.Out, line) }
	return env
}

// newJID returns a job id that no other job of the session has.
func (s *session) newJID() string {
	next := func() string { return s.jids.Next(s.app.Host.Now()) }
	if s.files == nil {
		return next()
	}
	return s.files.Reserve(next)
}

// userName is who runs brine.
func (s *session) userName() string {
	uid := s.app.Host.Geteuid()
	a, err := s.app.Host.LookupUID(uid)
	if err != nil {
		return fmt.Sprint(uid)
	}
	return a.Name
}

// listen takes the events of the user's other brine processes while the
// session lasts: what a salt.wait_for_event waits for.
func (s *session) listen() {
	stop, err := s.peers.Listen(s.bus)
	if err != nil {
		s.log.Info("events of other processes do not reach this run", "err", err)
		return
	}
	s.close = append(s.close, stop)
}

// maxIndent is the widest indentation of a level.
const maxIndent = 1000

// outputOptions joins configuration and command line.
func (s *session) outputOptions(retcode int) (*outputter.Options, error) {
	o := &outputter.Options{Opts: s.cfg.Opts, Retcode: retcode, StateOutput: s.cfg.Opts.Str("state_output")}
	if v, ok := s.cfg.Opts.Get("state_verbose"); ok {
		o.HideClean = !value.Truth(v)
	}
	if v, ok := s.cfg.Opts.Get("state_output_profile"); ok {
		o.HideProfile = !value.Truth(v)
	}
	o.Color = s.color()
	indent := s.flags.output.indent
	if indent == "" {
		indent = value.Str(s.cfg.Opts.At("output_indent"))
	}
	switch {
	case indent == "" || indent == "None":
	case indent == "pretty":
		o.Pretty = true
	default:
		var n int
		if _, err := fmt.Sscanf(indent, "%d", &n); err != nil || fmt.Sprint(n) != strings.TrimPrefix(indent, "+") {
			return nil, &statusError{status: exitUsage, err: fmt.Errorf("--out-indent: %q is neither a number nor \"pretty\"", indent)}
		}
		if n > maxIndent {
			return nil, &statusError{status: exitUsage, err: fmt.Errorf("--out-indent: at most %d", maxIndent)}
		}
		o.Indent = &n
	}
	return o, nil
}

// color reports whether the report has colours: as the flags ask, then NO_COLOR,
// then as the configuration asks, else where stdout is a terminal.
// Salt: salt/output/__init__.py get_printout.
func (s *session) color() bool {
	f := s.flags.output
	opt := func(name string) bool { return value.Truth(s.cfg.Opts.At(name)) }
	switch {
	case f.forceColor:
		return true
	case f.noColor || s.app.Getenv("NO_COLOR") != "":
		return false
	case opt("force_color"):
		return true
	case opt("no_color"):
		return false
	}
	if v, ok := s.cfg.Opts.Get("color"); ok && v != nil {
		return value.Truth(v)
	}
	return s.app.Terminal && s.app.Getenv("TERM") != "dumb" && f.file == ""
}

// outAsked returns the outputter that the command line or the configuration
// asks for, "" where they leave it open.
func (s *session) outAsked() string {
	return cmp.Or(s.flags.output.out, s.cfg.Opts.Str("output"))
}

// out returns the outputter asked for, else the one that the function wishes,
// else nested, which also stands for a wish that is unknown. highstate leaves
// what the function wishes, since only states can be printed so.
// Salt: salt/output/__init__.py get_printout.
func (s *session) out(wish string) outputter.Func {
	name := s.outAsked()
	if name == "" || name == "highstate" && !s.runner {
		name = wish
	}
	if name == "" {
		name = "nested"
	}
	f, err := outputter.Lookup(name)
	if err != nil {
		s.warn(fun.Warning{Text: err.Error() + "; nested is used"})
		return outputter.Nested
	}
	return f
}

// checkOutput finds faults in the output flags before anything runs.
func (s *session) checkOutput() error {
	if name := s.outAsked(); name != "" {
		if _, err := outputter.Lookup(name); err != nil {
			return &statusError{status: exitUsage, err: err}
		}
	}
	if mode := strings.ToLower(s.cfg.Opts.Str("state_output")); mode != "" && !outputter.IsStateOutput(mode) {
		s.warn(fun.Warning{Text: fmt.Sprintf("unknown state output %q%s; full is used", mode, source.DidYouMean(mode, outputter.StateOutputs()))})
	}
	_, err := s.outputOptions(0)
	return err
}

// print prints the report.
func (s *session) print(data value.Value, wish string, retcode int) error {
	f := s.out(wish)
	o, err := s.outputOptions(retcode)
	if err != nil {
		return err
	}
	w, done, err := s.reportWriter()
	if err != nil {
		return err
	}
	s.app.printed = true
	if err := f(w, data, o); err != nil {
		_ = done()
		return fmt.Errorf("print the report: %w", err)
	}
	return done()
}

// reportWriter returns stdout or --out-file.
func (s *session) reportWriter() (io.Writer, func() error, error) {
	f := s.flags.output
	path := f.file
	if path == "" {
		return s.app.Out, func() error { return nil }, nil
	}
	mode := os.O_CREATE | os.O_WRONLY | os.O_TRUNC
	if f.fileAppend {
		mode = os.O_CREATE | os.O_WRONLY | os.O_APPEND
	}
	file, err := os.OpenFile(path, mode, 0o666)
	if err != nil {
		return nil, nil, fmt.Errorf("open the output file: %w", err)
	}
	return file, func() error {
		if err := file.Close(); err != nil {
			return fmt.Errorf("write the output file: %w", err)
		}
		return nil
	}, nil
}

// usageOf makes an argument fault name the function's signature.
func usageOf(c *cobra.Command, s *session, name string, err error) error {
	hint := fmt.Sprintf("'brine doc %s' shows the arguments", name)
	var arg *fun.ArgError
	if errors.As(err, &arg) && arg.Nearest != "" {
		hint = fmt.Sprintf("did you mean %q? %s", arg.Nearest, hint)
	}
	return &statusError{status: exitGeneric, err: fmt.Errorf("%s: %w", name, err), hint: hint}
}
