// Package session is one run of a command: its configuration, the Env of its functions,
// its fleet, its records and its messages. Start at [New].
package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/internal/core/config"
	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/printable"
	"brine/internal/core/redact"
	"brine/internal/core/schedule"
	"brine/internal/core/sdb"
	"brine/internal/core/tee"
	"brine/internal/fleet"
	"brine/internal/fleet/bus"
	"brine/internal/fleet/history"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/shared"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// A Session is one command's run: its configuration, its Env, its messages.
type Session struct {
	Leaves  bool     // the command starts jobs that another process goes on with (--async)
	process fun.Memo // what the runs of the session share
	App     *app.App
	Flags   *app.RunFlags
	Cfg     *config.Config
	Table   *fun.Table
	bus     *event.Ring
	shared  *bus.Bus // between controllers; nil: there is none
	peers   *event.Peers
	// listening says that events of others reach bus.
	listening bool
	JIDs      jobs.JIDs
	NextJID   string        // the job id to begin with, where it is free; "": any
	Files     *jobs.Files   // the job cache; nil where nothing is recorded
	Jobs      jobs.Recorder // nil where nothing is recorded
	// history records orchestrations; nil where nothing is recorded. subject is
	// what the command runs, where that is more than an SLS.
	history *history.Recorder
	teller  *teller
	Subject *history.Subject
	// Approvals are the points at which the run asks a second person; nil: it does not.
	Approvals *Approvals
	// Shared is this process among the controllers that share a database; held are the
	// locks that it took, and parents the orchestrations of those that are steps.
	Shared  *shared.Controller
	held    []*shared.Held
	parents map[string]string
	// Queued says that the orchestration is one of a queue, and PutBack with which
	// status the worker is told to put it back; 0: not.
	Queued  bool
	Entry   string // its entry
	PutBack atomic.Int32
	// resume is the orchestration that --resume names, and claims are the runs that no
	// other run is to go on with.
	resume *jobs.Job
	claims []string
	// Metadata is what the command line has the job kept with; nil: nothing.
	Metadata value.Value
	// Secrets are what records, events and logs do not have; nil: they have all.
	Secrets *redact.Set
	MaskAll bool   // and neither has the report
	Again   string // the command that --resume goes with; "": brine orchestrate
	Log     *slog.Logger
	Level   slog.Level          // of stderr
	SSH     assembly.SSHOptions // of machines that are reached over SSH
	Watch   fleet.Watcher       // of the jobs on targets; nil: nobody
	Output  *tee.Hub            // who listens to what programs print

	staying staying
	Job     *schedule.Job // the scheduled job that a call is; nil: it is none

	steps stepResults

	limitTexts []string // of --limit
	limits     []*Limit // what they mean; none: all targets
	verbose    bool
	Group      app.GroupMode // of equal results

	// OnFault and OnTook get faults, and how long parts of a run took, from
	// whoever reports the run.
	OnFault func(error)
	OnTook  func(part, of string, began time.Time)

	Planning bool // the run makes a plan: nothing changes

	Git     *assembly.Git // shared by the Envs
	Sources *value.List   // commits of git repositories, as records have them

	mu     sync.Mutex
	Shown  shown           // warnings and faults that were shown
	down   map[string]bool // stores that are told to be down
	warned int             // warnings so far, which --strict makes errors
	ends   []func()
}

// overrides are the options that the flags of a command set; those of override go before.
func overrides(f *app.RunFlags, override *value.Map) (*value.Map, error) {
	over := value.NewMap(8)
	set := func(key, v string) {
		if v != "" {
			over.Set(key, v)
		}
	}
	set("id", f.ID)
	set("saltenv", f.Saltenv)
	set("pillarenv", f.Pillarenv)
	set("log_level", f.LogLevel)
	set("log_file", f.LogFile)
	set("log_level_logfile", f.FileLevel)
	set("cachedir", f.CacheDir)
	set("state_output", f.Output.StateOutput)
	set("output", f.Output.Out)
	if f.Output.StateVerbose != "" {
		v, err := parseBool(f.Output.StateVerbose)
		if err != nil {
			return nil, &app.StatusError{Status: app.ExitUsage, Err: fmt.Errorf("--state-verbose: %w", err)}
		}
		over.Set("state_verbose", v)
	}
	if f.Undo {
		over.Set("undo", true)
	}
	if f.Output.Diff {
		over.Set("state_output_diff", true)
	}
	if len(f.At) > 0 {
		over.Set("gitfs_at", value.Strings(f.At...))
	}
	if override != nil {
		over.Update(override)
	}
	return over, nil
}

// New reads the configuration for a command. section names the part of
// a Saltfile that holds for it.
func New(a *app.App, kind config.Kind, section string, f *app.RunFlags, override *value.Map) (*Session, error) {
	over, err := overrides(f, override)
	if err != nil {
		return nil, err
	}
	cfg, err := config.Load(config.Options{
		Kind: kind, Host: a.Host, Dir: f.ConfigDir, Section: section, Saltfile: f.Saltfile, Upwards: a.Upwards(),
		FileRoots: f.FileRoots, PillarRoots: f.PillarRoots, Override: over,
	})
	if err != nil {
		return nil, err
	}
	if value.Truth(cfg.Opts.At("undo")) && value.Truth(cfg.Opts.At("ssh_wipe")) {
		return nil, &app.StatusError{Status: app.ExitUsage, Err: errors.New("undo and --wipe do not go together: what is kept for undo would be removed with the agent"), Hint: "leave out one of them; their options are undo and ssh_wipe"}
	}
	if f.Output.Stream && !f.CanStream {
		return nil, &app.StatusError{Status: app.ExitUsage, Err: errors.New("--out=stream: this command runs nothing whose output could be shown"), Hint: "brine call, ssh, run, orchestrate, chain run and template run have it"}
	}
	a.JSON = a.JSON || cfg.Opts.Str("output") == "json"
	s := &Session{App: a, Flags: f, Cfg: cfg, Table: assembly.Table(), NextJID: a.JID}
	if err := s.knowSecrets(); err != nil {
		return nil, err
	}
	s.Output = &tee.Hub{Mask: s.Secrets.LineOf}
	if s.Secrets != nil && a.Getenv(app.OnBehalf) != "" {
		a.Err = app.Masker{W: a.Err, Secrets: s.Secrets} // pages show it, also to those who may only look
	}
	s.bus = event.NewRing(0, a.Host.Now)
	if s.Secrets != nil {
		s.bus.Mask(s.Secrets.Mask)
	}
	if n, ok := value.AsInt(cfg.Opts.At("max_event_size")); ok && n > 0 {
		s.bus.Bound(int(min(n, math.MaxInt32)))
	}
	s.peers = event.UserPeers(a.Getenv, a.Host.Geteuid())
	s.peers.OnWarn = func(text string) { s.Warn(fun.Warning{Text: text}) }
	var closeLog func()
	file, named := f.LogFile, true
	if file == "" {
		file, named = app.ConfiguredLog(cfg, section), false
	}
	s.Log, s.Level, closeLog, err = app.OpenLog(a.Err, cfg.Opts, file, s.Secrets)
	if app.IsNoLog(err) && !named {
		// Salt's configuration names a file that root writes: a user has no log then.
		s.Warn(fun.Warning{Text: err.Error()})
		s.Log, s.Level, _, err = app.OpenLog(a.Err, cfg.Opts, "", s.Secrets)
	}
	if err != nil {
		if bad, ok := errors.AsType[*app.StatusError](err); ok && f.LogLevel == "" && !cfg.Place("log_level").IsZero() {
			bad.Err, bad.Hint = &source.Error{Pos: cfg.Place("log_level"), Err: bad.Err}, ""
		}
		return nil, err
	}
	if closeLog != nil {
		s.OnEnd(closeLog)
	}
	if cfg.Saltfile != "" {
		s.Log.Info("the configuration is that of a Saltfile above this directory", "file", cfg.Saltfile)
	}
	s.Log.Debug("configuration", "dir", cfg.Dir, "files", cfg.Files, "id", cfg.Opts.Str("id"), "cachedir", cfg.CacheDir,
		"file_roots", value.Repr(cfg.Opts.At("file_roots")), "pillar_roots", value.Repr(cfg.Opts.At("pillar_roots")))
	if kind == config.Master {
		s.OpenJobs()
	}
	for _, w := range cfg.Warnings {
		where := ""
		if !w.Pos.IsZero() {
			where = w.Pos.String()
		}
		s.Warn(fun.Warning{Where: where, Text: w.Text})
	}
	if err := s.obey(); err != nil {
		s.End()
		return nil, err
	}
	return s, nil
}

// knowSecrets reads what is masked: the option mask_secrets is records (the
// default: the job cache, returners, events and logs), all (the report, too) or
// off; mask_pillar_keys are further globs of pillar keys.
func (s *Session) knowSecrets() error {
	mode := value.Str(s.Cfg.Opts.At("mask_secrets"))
	switch mode {
	case "None", "", "records", "True":
	case "all":
		s.MaskAll = true
	case "off", "False":
		return nil
	default:
		return &app.StatusError{Status: app.ExitUsage, Err: fmt.Errorf("mask_secrets: %q is none of records, all and off", mode)}
	}
	s.Secrets = redact.SetOf(s.Cfg.Opts)
	return nil
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

// OnEnd has the session call funcs when it ends: the last one first.
func (s *Session) OnEnd(ends ...func()) { s.ends = append(s.ends, ends...) }

// End closes what the session opened.
func (s *Session) End() {
	for _, v := range slices.Backward(s.ends) {
		v()
	}
	s.sayAlso()
}

// abandoned reports whether a plan was interrupted: what ends it is not a fault.
func (s *Session) abandoned() bool { return s.Planning && s.App.Intr.Draining() }

// StrictStatus returns status, or a failure where --strict was given and
// something was warned of.
func (s *Session) StrictStatus(status int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if status == app.ExitOK && s.Flags.Strict && s.warned > 0 {
		fmt.Fprintf(s.App.Err, "brine: --strict: %d warning(s) above\n", s.warned)
		return app.ExitGeneric
	}
	return status
}

// Note prints a line about the progress of a function, unless the log level is
// higher than that of warnings.
func (s *Session) Note(text string) {
	if s.Level <= slog.LevelWarn {
		fmt.Fprintln(s.App.Err, "brine: "+printable.Text(text))
	}
}

// took tells who reports the run how long a part of it took.
func (s *Session) took(part, of string, began time.Time) {
	if s.OnTook != nil {
		s.OnTook(part, of, began)
	}
}

// EnvOptions are what the Envs of the session are made of.
func (s *Session) EnvOptions(jid string) assembly.EnvOptions {
	exe, _ := host.Executable()
	return assembly.EnvOptions{
		Host: s.App.Host, Config: s.Cfg, Table: s.Table, Bus: s.bus, Peers: s.peers, Log: s.Log, JID: jid, Exe: exe,
		Warn: s.Warn, TargetWarn: s.warnOf, Fault: s.Fault, Strict: s.Flags.Strict, Gate: s.gate, Draining: s.App.Intr.Draining, SSH: s.SSH, Secrets: s.Secrets, Git: s.Git, Process: &s.process, Behalf: s.App.Getenv(app.OnBehalf), Took: s.took, Stopped: s.whyStopped,
	}
}

// OpenGit looks at the git repositories that files come from: a run begins only
// where it can have them.
func (s *Session) OpenGit(ctx context.Context) (err error) {
	if err := s.ApplySDB(ctx); err != nil {
		return err
	}
	s.Git = assembly.NewGit(s.EnvOptions(""))
	s.Sources, err = s.Git.Sources(ctx, s.Cfg.Opts)
	return err
}

// ApplySDB puts the values of sdb:// URIs into the configuration. A store that does
// not answer ends the run: without its values, options would not be what they say.
func (s *Session) ApplySDB(ctx context.Context) error {
	if !sdb.Uses(s.Cfg.Opts) {
		return nil
	}
	s.Cfg.Opts = s.Cfg.Opts.Copy()
	env := assembly.NewEnv(ctx, s.EnvOptions(""))
	env.Pillar = value.NewMap(0)
	return sdb.Apply(ctx, env, func(pos source.Pos, format string, args ...any) {
		s.Warn(fun.Warning{Where: pos.String(), Text: fmt.Sprintf(format, args...)})
	})
}

// Env returns the Env of this machine for a job, the machine its only target.
func (s *Session) Env(ctx context.Context, jid string) *fun.Env {
	env := assembly.NewEnv(ctx, s.EnvOptions(jid))
	self := fleet.NewSelf(env, s.NewJID)
	self.Jobs, self.User, self.Warn = s, s.UserName(), s.Warn
	self.AskJID = func() string { return s.JIDs.Next(s.App.Host.Now()) }
	env.Fleet = self
	if m, err := assembly.NewMine(env, self.Fleet); err != nil {
		s.Warn(fun.Warning{Text: err.Error()})
	} else {
		m.Alone = true
		env.Mine = m
	}
	env.OnNote = s.Note
	env.OnPrint = func(line string) { fmt.Fprintln(s.App.Out, printable.Text(line)) }
	return env
}

// NewJID returns a job id that no other job of the session has.
func (s *Session) NewJID() string {
	next := func() string {
		if jid := s.NextJID; jid != "" {
			s.NextJID = ""
			return jid
		}
		return s.JIDs.Next(s.App.Host.Now())
	}
	if s.Files == nil {
		return next()
	}
	return s.Files.Reserve(next)
}

// UserName is who runs brine, or for whom it is run.
func (s *Session) UserName() string {
	if name := s.App.Getenv(app.OnBehalf); name != "" {
		return name
	}
	uid := s.App.Host.Geteuid()
	a, err := s.App.Host.LookupUID(uid)
	if err != nil {
		return fmt.Sprint(uid)
	}
	return a.Name
}

// Listen takes the events of the user's other brine processes while the
// session lasts: what a salt.wait_for_event waits for.
func (s *Session) Listen() {
	s.listening = true
	stop, err := s.peers.Listen(s.bus)
	if err != nil {
		s.Warn(fun.Warning{Text: fmt.Sprintf("events of other processes do not reach this run: %v", err)})
		return
	}
	s.OnEnd(stop)
}

// OpenJobs has the session record what it runs. Nothing is opened before the
// first job.
func (s *Session) OpenJobs() {
	s.Files = jobs.NewFiles(s.Cfg.CacheDir, assembly.Keep(s.Cfg.Opts, "keep_jobs_seconds"), s.App.Host.Now)
	s.Files.NoReturns = s.noReturns()
	s.Jobs = s.Files
	s.App.Intr.Recorded.Store(true)
	s.OnEnd(s.Files.Close)
}

// noReturns reports whether the job cache keeps no returns. Commands that do not wait
// are refused then: nobody could look up what their jobs returned.
// Salt: salt/utils/job.py store_job.
func (s *Session) noReturns() bool { return value.Equal(s.Cfg.Opts.At("job_cache"), false) }

// Begin records that a job begins: the session is the jobs.Recorder of its
// fleets, which are made before it is known where jobs are recorded.
func (s *Session) Begin(l jobs.Load) (jobs.Record, error) {
	if s.Jobs == nil {
		return s.steps.watch(l, jobs.Nothing{}), nil
	}
	if l.Arg != nil && !IsOrchestrate(l.Fun) { // what --resume needs stays
		l.Arg, _ = s.Mask(l.Arg).(*value.List)
	}
	if l.Sources == nil {
		l.Sources = s.Sources
	}
	rec, err := s.Jobs.Begin(l)
	return s.steps.watch(l, s.masked(s.factual(l, s.Shared.Record(l, s.chronicled(l, rec))))), err
}

// masked returns a record that no secrets get into.
func (s *Session) masked(rec jobs.Record) jobs.Record {
	if s.Secrets == nil || rec == nil {
		return rec
	}
	return jobs.Masked(rec, s.Secrets.MaskOf)
}

// Mask returns what records, events and logs have of a value.
func (s *Session) Mask(v value.Value) value.Value { return s.Secrets.Mask(v) }

// Reopen returns the record of a job that goes on without the process that
// began it; see jobs.Log.
func (s *Session) Reopen(j *jobs.Job) (jobs.Record, error) {
	if r, ok := s.Jobs.(interface {
		Reopen(j *jobs.Job) (jobs.Record, error)
	}); ok {
		rec, err := r.Reopen(j)
		return s.masked(rec), err
	}
	return nil, errors.New("jobs are not recorded here")
}

// gate is the fun.Jobs.OnStart of the session: Ctrl-C closes it, and before a state
// state.pause and state.soft_kill are heard, and approvals are waited for. A run of a queue waits until the steps so
// far are in the database of the job cache: a worker elsewhere would repeat the others.
func (s *Session) gate(ctx context.Context, c *fun.Chunk) bool {
	open := func() bool { return s.App.Intr.Gate(ctx, c) && s.LockLost() == "" }
	jid := fun.JIDFrom(ctx)
	if c == nil || jid == "" {
		return open()
	}
	pauses := jobs.NewPauses(s.Cfg.CacheDir)
	if s.teller != nil {
		pauses.OnWait = s.teller.waits
	}
	for s.Queued && s.Shared.Behind() {
		if !open() || pauses.Why(jid, c.ID, s.App.Host.Now) != "" {
			return false
		}
		select {
		case <-ctx.Done():
		case <-time.After(behindPoll):
		}
	}
	return pauses.Wait(ctx, jid, c.ID, s.App.Host.Now, open) && s.approved(ctx, jid, c.ID, open)
}

// behindPoll is how often a run that waits for its record to be stored looks at that.
const behindPoll = 50 * time.Millisecond

// Doubt warns of what could not be recorded.
func (s *Session) Doubt(err error) {
	if err != nil {
		s.Warn(fun.Warning{Text: err.Error()})
	}
}
