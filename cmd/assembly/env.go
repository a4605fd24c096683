package assembly

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"brine/internal/core/config"
	"brine/internal/core/dispatch"
	"brine/internal/core/event"
	"brine/internal/core/fileserver"
	"brine/internal/core/fun"
	"brine/internal/core/grains"
	"brine/internal/core/host"
	"brine/internal/core/python"
	"brine/internal/core/redact"
	"brine/internal/core/render"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/pillar"
	"brine/internal/py/value"
)

// EnvOptions are what an Env is made of.
type EnvOptions struct {
	Host   host.Host
	Config *config.Config
	Table  *fun.Table
	Bus    event.Bus
	Peers  event.Sender
	Log    *slog.Logger
	JID    string
	Exe    string // path of the running program
	// Behalf is for whom the process runs, where that is somebody else: see fleet.Permit.
	Behalf string
	// Secrets gets the secrets of pillars that are rendered.
	Secrets *redact.Set
	// PillarOverride is pillar= of the command line or of salt.state.
	PillarOverride *value.Map
	SSH            SSHOptions
	// Git is what the Envs of the process share of git repositories; nil: this Env
	// has its own.
	Git     *Git
	Process *fun.Memo // see fun.Env; nil: a new one

	Warn func(fun.Warning)
	// TargetWarn is Warn for what a target found.
	TargetWarn func(id string, w fun.Warning)
	Fault      func(e error)
	Took       func(part, of string, began time.Time) // as fun.UI has it; nil: nobody asks
	Strict     bool
	Gate       func(context.Context, *fun.Chunk) bool
	// Stopped says why Gate lets nothing begin; "" and nil: it was not asked to.
	Stopped func() string
	// Draining reports whether the run was asked to begin nothing new; nil: it was not.
	Draining func() bool
	Mine     fun.Mine // nil: there is none
	// Publisher calls functions on other machines; nil: there are none.
	Publisher fun.Publisher
	// CoreGrains leaves out the grains of the tree's modules: an agent is asked for
	// grains before it has the tree.
	CoreGrains bool
	builtIn    bool // leave out the modules of the tree
}

// NewEnv returns the Env of this machine: its grains and pillar are worked out
// when they are first read, its files are those of file_roots.
func NewEnv(ctx context.Context, o EnvOptions) *fun.Env {
	opts := o.Config.Opts
	o.Host = traced(ctx, o.Host, o.Log, o.Secrets)
	env := &fun.Env{
		Identity:  fun.Identity{ID: opts.Str("id"), JID: o.JID, SaltEnv: saltEnv(opts)},
		Data:      fun.Data{Opts: opts, PillarOverride: o.PillarOverride, Secrets: o.Secrets, Memo: &fun.Memo{}, Process: cmp.Or(o.Process, &fun.Memo{})},
		Network:   fun.Network{Peers: o.Peers, Bus: o.Bus, Mine: o.Mine, Publisher: o.Publisher},
		Machine:   fun.Machine{Host: o.Host, CacheDir: o.Config.CacheDir},
		Functions: fun.Functions{Table: o.Table, NewInvoker: func(e *fun.Env) fun.Invoker { return dispatch.New(e) }, CheckReturner: CheckReturner},
		UI:        fun.UI{Logger: o.Log, OnWarn: o.Warn, Strict: o.Strict, OnTook: o.Took},
		Jobs:      fun.Jobs{OnStart: o.Gate, OnStopped: stopped(o)},
	}
	// What is wrong with these options ends a run before this; here it forbids all.
	env.Limits, _ = fun.LimitsAt(opts, o.Config.Place)
	env.OnFault = sourceFault(o.Fault)
	env.Grains = machineGrains(env, o)
	if o.Git == nil {
		o.Git = NewGit(o)
	}
	up := newUpstream(env, o.Git)
	up.attach(ctx, env, nil)
	shared := sync.OnceValue(render.NewShared)
	env.Table = o.Table
	if !o.builtIn {
		env.Table = withCustom(ctx, ctx, env, o.Table)
	}
	env.NewGrains = func(context.Context) (value.Mapping, error) { return machineGrains(env, o), nil }
	env.OnRenew = func(e *fun.Env) {
		e.Grains = machineGrains(e, o)
		up.attach(ctx, e, shared())
	}
	env.NewTable = func(now context.Context) (*fun.Table, error) { return withCustom(now, ctx, env, o.Table), nil }
	env.Invoker = dispatch.New(env)
	return env
}

// stopped says what ended a run that OnStart did not let go on.
func stopped(o EnvOptions) func(string, *fun.Chunk) string {
	return func(jid string, c *fun.Chunk) string {
		if o.Stopped != nil {
			if why := o.Stopped(); why != "" {
				return why
			}
		}
		return jobs.NewPauses(o.Config.CacheDir).Why(jid, c.ID, o.Host.Now)
	}
}

// withCustom adds the custom modules of the tree to a table. run is the context of
// the run, in which they are loaded later.
func withCustom(ctx, run context.Context, env *fun.Env, t *fun.Table) *fun.Table {
	customs, err := dispatch.FindCustom(ctx, env)
	if err != nil {
		env.Warn(fun.Warning{Text: fmt.Sprintf("custom modules cannot be listed: %v", err)})
	}
	if len(customs) == 0 {
		return t
	}
	var files []python.File
	for _, c := range customs {
		if c.Script {
			files = append(files, python.File{Kind: c.Kind, Name: c.Name, FileInfo: c.File})
		}
	}
	return t.With(append(dispatch.Entries(customs), python.NewTree(env, files).Entries(run)...))
}

func saltEnv(opts *value.Map) string {
	if s := opts.Str("saltenv"); s != "" {
		return s
	}
	return "base"
}

func machineGrains(env *fun.Env, o EnvOptions) value.Mapping {
	of := grains.Options{
		Host: o.Host, ID: env.ID, Opts: env.Opts, Exe: o.Exe,
		Skip: func(module string) bool { return env.Limits.GrainModule(module) != "" },
		Warn: func(err error) {
			if o.Fault != nil {
				o.Fault(err)
			}
		},
		Loaded: func(names []string, took time.Duration) {
			env.Log().Debug("grains gathered", "id", env.ID, "grains", names, "time", took)
			env.Took("grains", env.ID, time.Now().Add(-took))
		},
	}
	if o.CoreGrains {
		return grains.Collect(of)
	}
	core := of
	of.Custom = func() *value.Map {
		files := dispatch.FindGrains(context.Background(), env)
		if len(files) == 0 {
			return nil
		}
		defer func(began time.Time) {
			env.Log().Debug("grains gathered by the modules of the tree", "id", env.ID, "time", time.Since(began))
		}(time.Now())
		// The modules see the grains and the functions without those of the tree,
		// which may be what waits for these grains.
		return python.Grains(context.Background(), env.Fork(func(e *fun.Env) { e.Grains, e.Table = grains.Collect(core), o.Table }), files)
	}
	return grains.Collect(of)
}

// TemplateRoots is the option with the directories of the orchestration template
// that a run executes: its SLS files are found before those of all roots.
const TemplateRoots = "__template_roots"

// templateBackend serves the directories of an orchestration template in each
// saltenv of the roots.
type templateBackend struct {
	dirs []fileserver.Dir
	envs []string
}

// Name is that of no backend of the configuration.
func (templateBackend) Name() string { return "template" }

// Envs returns the saltenvs of the roots.
func (b templateBackend) Envs(context.Context) ([]string, error) { return b.envs, nil }

// Dirs returns the directories of the template.
func (b templateBackend) Dirs(_ context.Context, env string) ([]fileserver.Dir, bool, error) {
	return b.dirs, slices.Contains(b.envs, env), nil
}

func newTemplateBackend(l *value.List, roots *fileserver.Roots) templateBackend {
	b := templateBackend{envs: roots.Envs}
	if len(b.envs) == 0 {
		b.envs = []string{"base"}
	}
	for _, v := range l.Items {
		dir := value.Str(v)
		b.dirs = append(b.dirs, fileserver.Dir{Path: dir, Within: dir, Own: true})
	}
	return b
}

// An upstream is where the files of an Env come from.
type upstream struct{ files *fileserver.Server }

// newUpstream returns that of env. Without git the files come from directories only.
func newUpstream(env *fun.Env, git *Git) *upstream {
	roots := fileserver.RootsOf(env.Opts, "file_roots")
	backends := git.Backends(env.Opts, roots)
	if l := env.Opts.List(TemplateRoots); l.Len() > 0 {
		backends = append([]fileserver.Backend{newTemplateBackend(l, roots)}, backends...)
	}
	if b, ok := moduleDirs(env.Opts, env.CacheDir, roots); ok {
		backends = append(backends, b)
	}
	if git != nil {
		env.PillarTrees = git.pillarTrees
	}
	return &upstream{files: fileserver.Over(env.Host, roots, backends...)}
}

// attach gives an Env its files and its pillar, which is rendered by the grains that
// the Env has. shared is what several renderings share; nil: there is one.
func (u *upstream) attach(ctx context.Context, env *fun.Env, shared *render.Shared) {
	comp := pillar.New(env).Share(shared)
	env.Up = &fileserver.Local{Server: u.files, Render: comp.Render}
	env.Pillar = comp.Lazy(ctx)
}
