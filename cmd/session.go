package cmd

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
	"brine/cmd/internal/trace"
	"brine/internal/core/config"
	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/printable"
	"brine/internal/core/redact"
	"brine/internal/core/schedule"
	"brine/internal/core/sdb"
	"brine/internal/fleet"
	"brine/internal/fleet/history"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/shared"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/view/lint"
	"brine/internal/view/plan"
	"brine/outputter/report"
)

// A session is one command's run: its configuration, its Env, its messages.
type session struct {
	leaves  bool     // the command starts jobs that another process goes on with (--async)
	process fun.Memo // what the runs of the session share
	app     *app.App
	flags   *app.RunFlags
	cfg     *config.Config
	table   *fun.Table
	bus     *event.Ring
	peers   *event.Peers
	// listening says that events of others reach bus.
	listening bool
	jids      jobs.JIDs
	nextJID   string        // the job id to begin with, where it is free; "": any
	files     *jobs.Files   // the job cache; nil where nothing is recorded
	jobs      jobs.Recorder // nil where nothing is recorded
	// history is told of orchestrations; nil where nothing is recorded. subject is
	// what the command runs, where that is more than an SLS.
	history *history.Recorder
	subject *history.Subject
	// shared is this process among the controllers that share a database; held are the
	// locks that it took, and parents the orchestrations of those that are steps.
	shared  *shared.Controller
	held    []*shared.Held
	parents map[string]string
	// queued says that the orchestration is one of a queue, and putBack with which
	// status the worker is told to put it back; 0: not.
	queued  bool
	putBack atomic.Int32
	// resume is the orchestration that --resume names, and claims are the runs that no
	// other run is to go on with.
	resume *jobs.Job
	claims []string
	// runner says that returns are those of runner functions, whose own
	// outputter --out=highstate replaces as any other does.
	runner bool
	// metadata is what the command line has the job kept with; nil: nothing.
	metadata value.Value
	// secrets are what records, events and logs do not have; nil: they have all.
	secrets *redact.Set
	maskAll bool   // and neither has the report
	again   string // the command that --resume goes with; "": brine orchestrate
	log     *slog.Logger
	level   slog.Level          // of stderr
	ssh     assembly.SSHOptions // of machines that are reached over SSH
	watch   fleet.Watcher       // of the jobs on targets; nil: nobody
	live    *liveReport         // the report that is printed while states run; nil: it is not

	staying staying
	job     *schedule.Job // the scheduled job that a call is; nil: it is none

	info     report.Info  // of the run that reports are about
	reportTo []reportFile // what --report and --metrics ask for
	reported bool         // they are written
	steps    stepResults

	rec      *trace.Recorder // of where the time goes; nil: nobody asks
	exporter *trace.Exporter // of traces; nil: none

	planKey *plan.Key // of the hashes of a plan; nil where none is made

	git     *assembly.Git // shared by the Envs
	sources *value.List   // commits of git repositories, as records have them

	mu    sync.Mutex
	said  said            // warnings and faults that were shown
	down  map[string]bool // stores that are told to be down
	slips int             // warnings so far, which --strict makes errors
	close []func()
}

// newSession reads the configuration for a command. section names the part of
// a Saltfile that holds for it.
func newSession(a *app.App, kind config.Kind, section string, f *app.RunFlags, override *value.Map) (*session, error) {
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
	if f.Output.Diff {
		over.Set("state_output_diff", true)
	}
	if len(f.At) > 0 {
		over.Set("gitfs_at", value.Strings(f.At...))
	}
	if override != nil {
		over.Update(override)
	}
	cfg, err := config.Load(config.Options{
		Kind: kind, Host: a.Host, Dir: f.ConfigDir, Section: section, Saltfile: f.Saltfile,
		FileRoots: f.FileRoots, PillarRoots: f.PillarRoots, Override: over,
	})
	if err != nil {
		return nil, err
	}
	a.JSON = a.JSON || cfg.Opts.Str("output") == "json"
	s := &session{app: a, flags: f, cfg: cfg, table: assembly.Table()}
	if err := s.knowSecrets(); err != nil {
		return nil, err
	}
	if s.secrets != nil && a.Getenv(app.OnBehalf) != "" {
		a.Err = app.Masker{W: a.Err, Secrets: s.secrets} // pages show it, also to those who may only look
	}
	s.bus = event.NewRing(0, a.Host.Now)
	if s.secrets != nil {
		s.bus.Mask(s.secrets.Mask)
	}
	if n, ok := value.AsInt(cfg.Opts.At("max_event_size")); ok && n > 0 {
		s.bus.Bound(int(min(n, math.MaxInt32)))
	}
	s.peers = event.UserPeers(a.Getenv, a.Host.Geteuid())
	s.peers.OnWarn = func(text string) { s.warn(fun.Warning{Text: text}) }
	var closeLog func()
	file, named := f.LogFile, true
	if file == "" {
		file, named = app.ConfiguredLog(cfg, section), false
	}
	s.log, s.level, closeLog, err = app.OpenLog(a.Err, cfg.Opts, file, s.secrets)
	if app.IsNoLog(err) && !named {
		// Salt's configuration names a file that root writes: a user has no log then.
		s.warn(fun.Warning{Text: err.Error()})
		s.log, s.level, _, err = app.OpenLog(a.Err, cfg.Opts, "", s.secrets)
	}
	if err != nil {
		return nil, err
	}
	if closeLog != nil {
		s.close = append(s.close, closeLog)
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
	if err := s.obey(); err != nil {
		s.end()
		return nil, err
	}
	return s, nil
}

// knowSecrets reads what is masked: the option mask_secrets is records (the
// default: the job cache, returners, events and logs), all (the report, too) or
// off; mask_pillar_keys are further globs of pillar keys.
func (s *session) knowSecrets() error {
	mode := value.Str(s.cfg.Opts.At("mask_secrets"))
	switch mode {
	case "None", "", "records", "True":
	case "all":
		s.maskAll = true
	case "off", "False":
		return nil
	default:
		return &app.StatusError{Status: app.ExitUsage, Err: fmt.Errorf("mask_secrets: %q is none of records, all and off", mode)}
	}
	s.secrets = redact.SetOf(s.cfg.Opts)
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

// end closes what the session opened.
func (s *session) end() {
	for _, v := range slices.Backward(s.close) {
		v()
	}
	s.sayAlso()
}

// abandoned reports whether a plan was interrupted: what ends it is no fault.
func (s *session) abandoned() bool { return s.planKey != nil && s.app.Intr.Draining() }

// strictStatus returns status, or a failure where --strict was given and
// something was warned of.
func (s *session) strictStatus(status int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if status == app.ExitOK && s.flags.Strict && s.slips > 0 {
		fmt.Fprintf(s.app.Err, "brine: --strict: %d warning(s) above\n", s.slips)
		return app.ExitGeneric
	}
	return status
}

// note prints a line about the progress of a function, unless the log level is
// higher than that of warnings.
func (s *session) note(text string) {
	if s.level <= slog.LevelWarn {
		fmt.Fprintln(s.app.Err, "brine: "+printable.Text(text))
	}
}

// envOptions are what the Envs of the session are made of.
func (s *session) envOptions(jid string) assembly.EnvOptions {
	exe, _ := host.Executable()
	return assembly.EnvOptions{
		Host: s.app.Host, Config: s.cfg, Table: s.table, Bus: s.bus, Peers: s.peers, Log: s.log, JID: jid, Exe: exe,
		Warn: s.warn, TargetWarn: s.warnOf, Fault: s.fault, Strict: s.flags.Strict, Gate: s.gate, Draining: s.app.Intr.Draining, SSH: s.ssh, Secrets: s.secrets, Git: s.git, Process: &s.process, Behalf: s.app.Getenv(app.OnBehalf), Took: s.took, Stopped: s.lockLost,
	}
}

// openGit looks at the git repositories that files come from: a run begins only
// where it can have them.
func (s *session) openGit(ctx context.Context) (err error) {
	if err := s.applySDB(ctx); err != nil {
		return err
	}
	s.git = assembly.NewGit(s.envOptions(""))
	s.sources, err = s.git.Sources(ctx, s.cfg.Opts)
	return err
}

// applySDB puts the values of sdb:// URIs into the configuration. A store that does
// not answer ends the run: without its values, options would not be what they say.
func (s *session) applySDB(ctx context.Context) error {
	if !sdb.Uses(s.cfg.Opts) {
		return nil
	}
	s.cfg.Opts = s.cfg.Opts.Copy()
	env := assembly.NewEnv(ctx, s.envOptions(""))
	env.Pillar = value.NewMap(0)
	return sdb.Apply(ctx, env, func(pos source.Pos, format string, args ...any) {
		s.warn(fun.Warning{Where: pos.String(), Text: fmt.Sprintf(format, args...)})
	})
}

// stillEnv is env for looking at the tree: nothing is run or changed, and no other
// machine is asked.
func (s *session) stillEnv(ctx context.Context, jid string) *fun.Env {
	return assembly.NewStillEnv(ctx, s.envOptions(jid), lint.IsPure)
}

// env returns the Env of this machine for a job, the machine its only target.
func (s *session) env(ctx context.Context, jid string) *fun.Env {
	env := assembly.NewEnv(ctx, s.envOptions(jid))
	self := fleet.NewSelf(env, s.newJID)
	self.Jobs, self.User, self.Warn = s, s.userName(), s.warn
	self.AskJID = func() string { return s.jids.Next(s.app.Host.Now()) }
	env.Fleet = self
	if m, err := assembly.NewMine(env, self.Fleet); err != nil {
		s.warn(fun.Warning{Text: err.Error()})
	} else {
		m.Alone = true
		env.Mine = m
	}
	env.OnNote = s.note
	env.OnPrint = func(line string) { fmt.Fprintln(s.app.Out, printable.Text(line)) }
	return env
}

// newJID returns a job id that no other job of the session has.
func (s *session) newJID() string {
	next := func() string {
		if jid := s.nextJID; jid != "" {
			s.nextJID = ""
			return jid
		}
		return s.jids.Next(s.app.Host.Now())
	}
	if s.files == nil {
		return next()
	}
	return s.files.Reserve(next)
}

// userName is who runs brine, or for whom it is run.
func (s *session) userName() string {
	if name := s.app.Getenv(app.OnBehalf); name != "" {
		return name
	}
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
	s.listening = true
	stop, err := s.peers.Listen(s.bus)
	if err != nil {
		s.warn(fun.Warning{Text: fmt.Sprintf("events of other processes do not reach this run: %v", err)})
		return
	}
	s.close = append(s.close, stop)
}

// openJobs has the session record what it runs. Nothing is opened before the
// first job.
func (s *session) openJobs() {
	s.files = jobs.NewFiles(s.cfg.CacheDir, assembly.Keep(s.cfg.Opts, "keep_jobs_seconds"), s.app.Host.Now)
	s.files.NoReturns = s.noReturns()
	s.jobs = s.files
	s.app.Intr.Recorded.Store(true)
	s.close = append(s.close, s.files.Close)
}

// noReturns reports whether the job cache keeps no returns. Commands that do not wait
// are refused then: nobody could look up what their jobs returned.
// Salt: salt/utils/job.py store_job.
func (s *session) noReturns() bool { return value.Equal(s.cfg.Opts.At("job_cache"), false) }

// Begin records that a job begins: the session is the jobs.Recorder of its
// fleets, which are made before it is known where jobs are recorded.
func (s *session) Begin(l jobs.Load) (jobs.Record, error) {
	if s.jobs == nil {
		return s.steps.watch(l, jobs.Nothing{}), nil
	}
	if l.Arg != nil && !isOrchestrate(l.Fun) { // what --resume needs stays
		l.Arg, _ = s.mask(l.Arg).(*value.List)
	}
	if l.Sources == nil {
		l.Sources = s.sources
	}
	rec, err := s.jobs.Begin(l)
	return s.steps.watch(l, s.masked(s.shared.Record(l, s.chronicled(l, rec)))), err
}

// masked returns a record that no secrets get into.
func (s *session) masked(rec jobs.Record) jobs.Record {
	if s.secrets == nil || rec == nil {
		return rec
	}
	return jobs.Masked(rec, s.secrets.MaskOf)
}

// mask returns what records, events and logs have of a value.
func (s *session) mask(v value.Value) value.Value { return s.secrets.Mask(v) }

// Reopen returns the record of a job that goes on without the process that
// began it; see jobs.Log.
func (s *session) Reopen(j *jobs.Job) (jobs.Record, error) {
	if r, ok := s.jobs.(interface {
		Reopen(j *jobs.Job) (jobs.Record, error)
	}); ok {
		rec, err := r.Reopen(j)
		return s.masked(rec), err
	}
	return nil, errors.New("jobs are not recorded here")
}

// gate is the fun.Jobs.OnStart of the session: Ctrl-C closes it, and before a state
// state.pause and state.soft_kill are heard. A run of a queue waits until the steps so
// far are in the database of the job cache: a worker elsewhere would repeat the others.
func (s *session) gate(ctx context.Context, c *fun.Chunk) bool {
	open := func() bool { return s.app.Intr.Gate(ctx, c) && s.lockLost() == "" }
	jid := fun.JIDFrom(ctx)
	if c == nil || jid == "" {
		return open()
	}
	pauses := jobs.NewPauses(s.cfg.CacheDir)
	for s.queued && s.shared.Behind() {
		if !open() || pauses.Why(jid, c.ID, s.app.Host.Now) != "" {
			return false
		}
		select {
		case <-ctx.Done():
		case <-time.After(behindPoll):
		}
	}
	return pauses.Wait(ctx, jid, c.ID, s.app.Host.Now, open)
}

// behindPoll is how often a run that waits for its record to be stored looks at that.
const behindPoll = 50 * time.Millisecond

// doubt warns of what could not be recorded.
func (s *session) doubt(err error) {
	if err != nil {
		s.warn(fun.Warning{Text: err.Error()})
	}
}
