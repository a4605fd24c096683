package fun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"sync"
	"time"

	"brine/internal/core/event"
	"brine/internal/core/host"
	"brine/internal/core/redact"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// An Env is what the functions of one run on one target share, in groups by what
// they serve. Its methods do nothing, or what is the default, where a group has no
// hook for them.
type Env struct {
	Identity
	Data
	Machine
	Functions
	Network
	Jobs
	UI
}

// Identity says whose run this is.
type Identity struct {
	ID      string // minion id
	JID     string
	OrchJID string // jid of the orchestration that this run is a step of, or ""
	SaltEnv string // "base" by default
}

// Data is what templates and functions read.
type Data struct {
	// Opts are Salt's __opts__: configuration with defaults.
	Opts *value.Map
	// Grains and Pillar are lazy; reload_grains and reload_pillar replace
	// them. Read them through the Env on each use.
	Grains value.Mapping
	Pillar value.Mapping
	// Subject are the grains of another machine that this Env renders data for,
	// such as the pillar of a target on the controller; nil: there is none. They
	// are what that machine says of itself: templates and targeting read them, by
	// [Env.SubjectGrains]. What a function executes, opens or loads follows
	// Grains, which are always those of the machine it runs on.
	Subject value.Mapping
	// PillarOverride is what pillar= on the command line or in salt.state gave;
	// it is merged over every rendering of the pillar.
	PillarOverride *value.Map
	// Secrets knows the values that records and logs must not have; nil: none.
	Secrets *redact.Set
	// Memo is Salt's __context__.
	Memo *Memo
	// Process keeps what a process has once, whatever it runs: forks share it. nil:
	// each run has its own.
	Process *Memo
	// NewGrains collects the grains again; nil: they stay as they are.
	NewGrains func(context.Context) (value.Mapping, error)
	// OnRenew gives a copy of the Env grains and pillar that are worked out again when
	// they are read; nil: those of NewGrains, and the pillar stays. Call Renew.
	OnRenew func(*Env)
}

// Machine is the machine that functions act on, and where files and pillar come from.
type Machine struct {
	Host host.Host
	Up   Upstream
	// PillarTrees returns the trees of the remotes of ext_pillar git, in their order.
	// It is nil where pillars come from elsewhere.
	PillarTrees func(ctx context.Context, name string, opts *value.Map, args *value.List) ([]PillarTree, error)
	CacheDir    string
	// ProcDir is the directory under which running jobs are noted; "" is CacheDir.
	ProcDir string
}

// Functions are what a run can call.
type Functions struct {
	Table   *Table
	Invoker Invoker
	// NewInvoker makes the Invoker of a fork; nil: a fork shares this Env's.
	NewInvoker func(*Env) Invoker
	// NewTable makes the table again, with the custom modules that exist
	// now; nil: it stays as it is.
	NewTable func(context.Context) (*Table, error)
	// Limits are what the configuration forbids; nil: nothing.
	Limits *Limits
	// CheckReturner returns an error for a name that no returner has; nil: it is not
	// known here which there are.
	CheckReturner func(env *Env, name string) error
}

// Network is what a run reaches beyond this machine.
type Network struct {
	Fleet Fleet // nil where this Env cannot reach other machines
	Mine  Mine  // nil where there is none
	// Publisher calls functions on other machines for this one; nil: there are none.
	Publisher Publisher
	Bus       event.Bus
	Peers     event.Sender // the other runs that events reach; nil: none
	// Post sends an event of this machine to a controller that it has a token of; nil: there is
	// none.
	Post func(ctx context.Context, tag string, data *value.Map) error
}

// Jobs is what a run of states is part of.
type Jobs struct {
	// Plan says that a plan is made of the run: what states return in test mode may
	// have more, under [PlanKey], than what Salt returns.
	Plan bool
	// NoSlots has states fail that have a slot, rather than call its function.
	NoSlots bool
	// Run is the run in progress, nil outside of state runs.
	Run RunView
	// OnStart is asked before a state or a step starts. It waits while the run is
	// paused, and returns false where nothing new may start (Ctrl-C, soft_kill).
	// The ctx of a state has the jid of its run: see JIDFrom. Call MayStart.
	OnStart func(ctx context.Context, c *Chunk) bool
	// OnStopped says why OnStart had the run of a job end before a state; "" is an
	// interrupt. Call WhyStopped.
	OnStopped func(jid string, c *Chunk) string
	// Journal records the run of states that this Env is made for: the steps
	// of an orchestration, not what a step runs in turn. nil: none.
	Journal Journal
	// Targets knows on which targets steps of that run have succeeded that go in
	// waves; nil: nobody does.
	Targets TargetJournal
	// Watch sees how that run goes, to show it; nil: nobody.
	Watch RunWatcher
	// OnRunner calls a runner function as a job of its own and returns its jid.
	// Call CallRunner.
	OnRunner func(ctx context.Context, env *Env, name string, args Args) (jid string, res Result, err error)
}

// UI is how a run talks to its user.
type UI struct {
	Logger *slog.Logger
	Strict bool // warnings are errors
	// OnWarn shows a warning. Call Warn.
	OnWarn func(Warning)
	// OnPrint prints a line on stdout while the function still runs: what a
	// listener hears. Call Print.
	OnPrint func(line string)
	// OnNote prints a line on stderr that is neither a warning nor part of the
	// report. Call Note.
	OnNote func(line string)
	// OnFault shows a placed fault on stderr: its place, include chain and hint,
	// where the report itself has only Salt's text. Call Fault.
	OnFault func(*source.Error)
	// OnTook gets how long a part of a run took that began at a time and ends
	// now: "grains" and "pillar" of a machine, "render" of an SLS. Call Took.
	OnTook func(part, of string, began time.Time)
	// OnBranch gets the branches of Jinja that templates take, with the paths of their
	// files: see jinja.Options.
	OnBranch func(file string, off int32, yes bool)
}

// Took tells that a part of a run which began at a time has ended.
func (u *UI) Took(part, of string, began time.Time) {
	if u.OnTook != nil {
		u.OnTook(part, of, began)
	}
}

// Warn shows a warning.
func (u *UI) Warn(w Warning) {
	if u.OnWarn != nil {
		u.OnWarn(w)
	}
}

// Warnf shows a warning about the state or the argument written at a place,
// which may be unknown.
func (u *UI) Warnf(at source.Pos, format string, args ...any) {
	w := Warning{Text: fmt.Sprintf(format, args...)}
	if !at.IsZero() {
		w.Where = at.String()
	}
	u.Warn(w)
}

// Print prints a line on stdout while the function still runs.
func (u *UI) Print(line string) {
	if u.OnPrint != nil {
		u.OnPrint(line)
	}
}

// Note prints a line on stderr that is neither a warning nor part of the report.
func (u *UI) Note(format string, args ...any) {
	if u.OnNote != nil {
		u.OnNote(fmt.Sprintf(format, args...))
	}
}

// Fault shows a fault with its place on stderr.
func (u *UI) Fault(f *source.Error) {
	if u.OnFault != nil {
		u.OnFault(f)
	}
}

// Hint shows the hint of a function's error, if it has one.
func (u *UI) Hint(at source.Pos, name string, err error) {
	if ce, ok := errors.AsType[*CommandError](err); ok && ce.Hint != "" {
		u.Fault(&source.Error{Pos: at, Err: fmt.Errorf("%s failed", name), Hint: ce.Hint})
	}
}

// Log returns the logger of the run.
func (u *UI) Log() *slog.Logger {
	if u.Logger != nil {
		return u.Logger
	}
	return slog.New(slog.DiscardHandler)
}

// MayStart waits while the run is paused and reports whether c, or anything where
// it is nil, may start.
func (j *Jobs) MayStart(ctx context.Context, c *Chunk) bool {
	return j.OnStart == nil || j.OnStart(ctx, c)
}

// WhyStopped says why the run of a job ended before c, nil where no state was due.
func (j *Jobs) WhyStopped(jid string, c *Chunk) string {
	if c != nil && j.OnStopped != nil {
		if why := j.OnStopped(jid, c); why != "" {
			return why
		}
	}
	return "interrupted"
}

// Exec calls an execution function by the table, as __salt__ does in Salt's modules.
// Where more than the value of its result is needed, call the Invoker.
func (e *Env) Exec(ctx context.Context, name string, kw *value.Map, pos ...value.Value) (value.Value, error) {
	res, err := e.Invoker.Invoke(ctx, Exec, name, Args{Pos: pos, Kw: kw})
	return res.Value, err
}

// CallRunner calls a runner function, as a job of its own where this Env keeps
// jobs, else as part of the job of this run.
func (e *Env) CallRunner(ctx context.Context, name string, args Args) (jid string, res Result, err error) {
	if e.OnRunner != nil {
		return e.OnRunner(ctx, e, name, args)
	}
	res, err = e.Invoker.Invoke(ctx, Runner, name, args)
	return e.JID, res, err
}

// SubjectGrains returns the grains that templates and targeting see: those of
// the machine that data is rendered for. No program, path, key, module or
// address may be taken from them.
func (e *Env) SubjectGrains() value.Mapping {
	if e.Subject != nil {
		return e.Subject
	}
	return e.Grains
}

// ReloadGrains collects the grains again.
func (e *Env) ReloadGrains(ctx context.Context) error {
	if e.NewGrains == nil {
		return nil
	}
	g, err := e.NewGrains(ctx)
	if err == nil {
		e.Grains = g
	}
	return err
}

// Renew has grains and pillar worked out again when they are next read. e is a copy
// that nothing else uses yet.
func (e *Env) Renew(ctx context.Context) {
	if e.OnRenew != nil {
		e.OnRenew(e)
		return
	}
	_ = e.ReloadGrains(ctx) // those that cannot be collected stay as they are
}

// ReloadModules makes the table of functions again.
func (e *Env) ReloadModules(ctx context.Context) error {
	e.ForgetAvailable()
	if e.NewTable == nil {
		return nil
	}
	t, err := e.NewTable(ctx)
	if err == nil {
		e.Table = t
	}
	return err
}

// Fork returns a copy of e for a run of its own, after change has set what
// differs. The copy has an empty Memo, and an Invoker that calls functions with
// the copy.
func (e *Env) Fork(change func(*Env)) *Env {
	return e.copyWith(func(c *Env) {
		c.Memo = &Memo{}
		c.Run = nil
		if change != nil {
			change(c)
		}
	})
}

// With returns a copy of e that is part of the same run, after change has set
// what differs. Its Invoker calls functions with the copy.
func (e *Env) With(change func(*Env)) *Env { return e.copyWith(change) }

func (e *Env) copyWith(change func(*Env)) *Env {
	c := *e
	change(&c)
	if c.NewInvoker != nil {
		c.Invoker = c.NewInvoker(&c)
	}
	return &c
}

// A Warning is a mistake that Salt accepts silently.
type Warning struct {
	Where string // file:line:col, or ""
	Text  string
}

// A RunView is what a state run shows to functions: Salt's __lowstate__ and
// __running__.
type RunView interface {
	// Low returns the low chunks of the run, in order.
	Low() []*Chunk
	// Running returns a copy of the returns so far, by tag.
	Running() *value.Map
	// Return returns the return of one tag so far, which is not to be changed;
	// nil where there is none.
	Return(tag string) *value.Map
}

// A Journal writes down a run of states.
type Journal interface {
	// Begin gets the chunks before the first runs. It returns, by tag, the
	// returns of those that are not to run because an earlier run did them. An
	// error keeps the run from beginning.
	Begin(ctx context.Context, env *Env, chunks []*Chunk) (done map[string]*value.Map, err error)
	// Done gets the return of a chunk.
	Done(c *Chunk, ret *value.Map)
}

// A TargetJournal is a Journal that knows on which targets steps have succeeded. It
// is safe for concurrent use.
type TargetJournal interface {
	// Passed returns the targets on which a step had succeeded in the run that is
	// resumed.
	Passed(tag string) []string
	// Pass records that a step has succeeded on a target.
	Pass(tag, id string)
}

// A RunWatcher sees how a run of states goes, while it goes. It must be quick.
type RunWatcher interface {
	// RunBegins tells of all chunks before the first runs, and the run's jid.
	RunBegins(jid string, chunks []*Chunk)
	// StateBegins tells that a chunk has its turn: its requisites are done.
	StateBegins(c *Chunk)
	// StateEnds tells the return of a chunk, also of one that never had a turn.
	StateEnds(c *Chunk, ret *value.Map)
	// RunEnds tells that nothing more runs.
	RunEnds()
}

// A RunAs is the account of a state's global arguments runas and
// runas_password: commands that the state runs and that name no account of
// their own run as this one.
type RunAs struct{ User, Password string }

type jidKey struct{}

// WithJID returns the context of a question about the run of a job.
func WithJID(ctx context.Context, jid string) context.Context {
	return context.WithValue(ctx, jidKey{}, jid)
}

// JIDFrom returns the job that a question is about; "" where it is not known.
func JIDFrom(ctx context.Context) string {
	jid, _ := ctx.Value(jidKey{}).(string)
	return jid
}

type runAsKey struct{}

// WithRunAs returns a context for the functions of a state that has runas.
func WithRunAs(ctx context.Context, as RunAs) context.Context {
	return context.WithValue(ctx, runAsKey{}, as)
}

// RunAsFrom returns the RunAs of the state in progress; the zero one where it
// has none.
func RunAsFrom(ctx context.Context) RunAs {
	as, _ := ctx.Value(runAsKey{}).(RunAs)
	return as
}

// A Memo is Salt's __context__: values that functions keep for the length of a
// run. It is safe for parallel states. The zero Memo is ready.
type Memo struct{ m sync.Map }

// Load returns the value of key.
func (m *Memo) Load(key any) (any, bool) { return m.m.Load(key) }

// Store keeps v at key.
func (m *Memo) Store(key, v any) { m.m.Store(key, v) }

// Delete forgets key.
func (m *Memo) Delete(key any) { m.m.Delete(key) }

// Once returns the value of key, made by make on first use. Concurrent first
// users may each run make; all get the same value.
func (m *Memo) Once(key any, make func() any) any {
	if v, ok := m.m.Load(key); ok {
		return v
	}
	v, _ := m.m.LoadOrStore(key, make())
	return v
}

// A FileInfo is a file below file_roots.
type FileInfo struct {
	Path    string // relative to its root, slashes
	SaltEnv string
	Abs     string // where it lies on this machine; "" where it is elsewhere
	Mode    fs.FileMode
	Size    int64
	Link    string // target, for a symbolic link
}

// A PillarTree is a directory of pillar files that was fetched.
type PillarTree struct {
	Env    string // its saltenv
	Path   string
	Mount  string // where its files are, below the roots
	Within string // no link may leave this directory
}

// An Upstream is where a run's files and pillar come from: the local roots, or
// the controller over the wire. Paths are relative to the roots, with slashes,
// without salt://. A missing file is fs.ErrNotExist (wrapped).
type Upstream interface {
	// Envs returns the saltenvs that have roots.
	Envs(ctx context.Context) ([]string, error)
	// Stat returns the file or directory at path, looked for in every root of
	// saltenv, first one wins.
	Stat(ctx context.Context, saltenv, path string) (FileInfo, error)
	// List returns all files (and links) below prefix ("" is all), sorted.
	List(ctx context.Context, saltenv, prefix string) ([]FileInfo, error)
	// Dirs returns all directories below prefix, sorted.
	Dirs(ctx context.Context, saltenv, prefix string) ([]string, error)
	// Open opens a file.
	Open(ctx context.Context, saltenv, path string) (io.ReadCloser, error)
	// Hash returns the hex digest of a file: md5, sha1, sha224, sha256, sha384, sha512.
	Hash(ctx context.Context, saltenv, path, algo string) (string, error)
	// Pillar renders the pillar of this target again.
	Pillar(ctx context.Context, req PillarRequest) (*value.Map, error)
}

// A PillarRequest asks for a target's pillar.
type PillarRequest struct {
	SaltEnv   string // "" is base
	PillarEnv string // "" follows configuration
	Override  *value.Map
	Grains    value.Mapping // nil: the Env's
	// Base is the pillar in effect, which stays below the new one where the option
	// ssh_merge_pillar says so; nil: the Env's.
	Base value.Mapping
	// Ext is an ext_pillar asked for on demand: a dict of one interface and its
	// arguments, or nil.
	Ext value.Value
	// Tops asks for what master_tops gives to the target, SLS by environment, instead
	// of the pillar.
	Tops bool
	// Foreign says that a target made the request. What it gives is not decrypted,
	// and where configuration sets a pillarenv, it gets that or one of Named.
	Foreign bool
	// Named are the saltenvs and pillarenvs that the controller's own calls to the
	// target named.
	Named []string
}
