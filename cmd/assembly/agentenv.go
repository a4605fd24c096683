package assembly

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"brine/internal/core/config"
	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/redact"
	"brine/internal/fleet"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
	"brine/modules/system"
	"brine/sshexec/agent"
	"brine/sshexec/relay"
)

// AgentOptions are what an agent is made of.
type AgentOptions struct {
	Host      host.Host
	Table     *fun.Table
	Version   string // of brine
	Exe       string // path of the running program
	CacheDir  string // see agent.Options
	Wipe      bool   // see agent.Options
	Heartbeat time.Duration
	// CloseAll ends the programs that calls still run.
	CloseAll func(context.Context)
	Wake     <-chan os.Signal // see agent.Options
	Log      *slog.Logger
}

// ServeAgent serves the controller at the other end of rw; see agent.Serve.
func ServeAgent(ctx context.Context, rw io.ReadWriteCloser, o AgentOptions) error {
	a := &agentRoom{o: o}
	defer a.end()
	return agent.Serve(ctx, rw, a.options(ctx))
}

// ResumeAgent carries the channel of a controller that came back; see agent.Resume.
func ResumeAgent(in io.Reader, out io.Writer, dir, token string) error {
	return agent.Resume(in, out, dir, token)
}

// ServeRelay carries connections to other machines for the controller at the other
// end of rw, and keeps files that they share in a cache directory ("" is nowhere);
// see relay.Serve.
func ServeRelay(ctx context.Context, rw io.ReadWriteCloser, cacheDir string) error {
	if cacheDir != "" {
		cacheDir = filepath.Join(cacheDir, "relay")
	}
	return relay.Serve(ctx, rw, cacheDir)
}

// RunDetached runs the job that is read from in, without a controller; see
// agent.ServeDetached.
func RunDetached(ctx context.Context, in io.Reader, out io.WriteCloser, o AgentOptions) error {
	a := &agentRoom{o: o}
	defer a.end()
	return agent.ServeDetached(ctx, in, out, a.options(ctx))
}

func (a *agentRoom) options(ctx context.Context) agent.Options {
	o := a.o
	return agent.Options{
		Hello: agentFacts(ctx, o), Build: a.env, Refresh: a.refresh, Call: a.call, Host: o.Host, CloseAll: o.CloseAll,
		PendingShutdown: func(ctx context.Context) *value.Map { return going(ctx, o.Host) },
		CacheDir:        o.CacheDir, Wipe: o.Wipe, Heartbeat: o.Heartbeat, Log: o.Log, Exe: o.Exe, Fork: a.fork, Wake: o.Wake,
	}
}

// fork returns the machine for one call: what environ.setenv does in one is not
// for the next, and its programs can be signalled alone.
func (a *agentRoom) fork() (host.Host, func(sig int)) {
	h := a.o.Host.Fork()
	return h, h.SignalGroups
}

// agentFacts is what an agent says of itself in its hello.
func agentFacts(ctx context.Context, o AgentOptions) *value.Map {
	m := value.MapOf(
		"version", o.Version, "os", runtime.GOOS, "arch", runtime.GOARCH,
		"pid", int64(o.Host.Getpid()), "uid", int64(o.Host.Geteuid()), "boot_id", bootID(ctx, o.Host),
	)
	if name, err := o.Host.Hostname(); err == nil {
		m.Set("hostname", name)
	}
	return m
}

// going is what the agent tells of a shutdown that its machine was asked for.
func going(ctx context.Context, h host.Host) *value.Map {
	s, ok := system.Going(ctx, h)
	if !ok {
		return value.NewMap(0)
	}
	m := value.MapOf("mode", s.Mode, "by", s.By)
	if !s.At.IsZero() {
		m.Set("at", s.At.UnixMicro())
	}
	return m
}

// bootID returns a text that is another one after each boot; "" where the
// system tells none.
func bootID(ctx context.Context, h host.Host) string {
	if b, err := h.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		// A container has the id of the machine that it runs on; what starts
		// again with it is its first process.
		return strings.TrimSpace(string(b)) + startOfInit(h)
	}
	if runtime.GOOS == "linux" {
		return ""
	}
	for _, name := range []string{"kern.bootsessionuuid", "kern.boot_id", "kern.boottime"} {
		out, err := h.Run(ctx, host.Cmd{Argv: []string{"sysctl", "-n", name}, Timeout: 2 * time.Second})
		if err == nil && out.Status == 0 && len(out.Stdout) > 0 {
			return strings.TrimSpace(string(out.Stdout))
		}
	}
	return ""
}

// startOfInit returns when the first process began, in ticks since the machine
// booted; "" where that cannot be seen.
func startOfInit(h host.Host) string {
	b, err := h.ReadFile("/proc/1/stat")
	if err != nil {
		return ""
	}
	// The second field, a name in parentheses, may have blanks.
	text := string(b)
	f := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	const started = 19 // the 22nd field is the 20th behind the name
	if len(f) <= started {
		return ""
	}
	return "+" + f[started]
}

// An agentRoom makes the Envs of an agent.
type agentRoom struct {
	o    AgentOptions
	jids jobs.JIDs

	collect func() value.Mapping

	mu  sync.Mutex
	tmp string // stands in for a cache that cannot be kept
}

// end removes what the agent must not leave.
func (a *agentRoom) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.tmp != "" {
		_ = a.o.Host.RemoveAll(a.tmp)
	}
}

// env returns the Env of a session: the configuration is brine's defaults with
// what the controller sent, none of the target's own; files and pillar are the
// controller's.
func (a *agentRoom) env(_ context.Context, s agent.Session) (*fun.Env, error) {
	cfg, err := a.config(s)
	if err != nil {
		return nil, fmt.Errorf("the configuration of %s: %w", s.ID, err)
	}
	opts := cfg.Opts
	known := redact.SetOf(opts)
	if s.Secret != nil {
		known.OnAdd(s.Secret)
	}
	env := &fun.Env{
		Identity:  fun.Identity{ID: s.ID, SaltEnv: saltEnv(opts)},
		Data:      fun.Data{Opts: opts, Secrets: known, Memo: &fun.Memo{}, Process: &fun.Memo{}},
		Machine:   fun.Machine{Host: a.o.Host, Up: s.Up, CacheDir: cfg.CacheDir},
		Network:   fun.Network{Bus: s.Bus},
		Functions: fun.Functions{Table: a.o.Table, NewInvoker: func(e *fun.Env) fun.Invoker { return dispatch.New(e) }},
		UI:        fun.UI{Logger: a.log(), OnWarn: s.Warn},
	}
	if env.Limits, err = fun.NewLimits(opts); err != nil {
		return nil, fmt.Errorf("the configuration of %s: %w", s.ID, err)
	}
	env.OnFault = sourceFault(s.Fault)
	eo := EnvOptions{Host: a.o.Host, Exe: a.o.Exe, Fault: s.Fault, CoreGrains: true}
	a.collect = func() value.Mapping { return machineGrains(env, eo) }
	env.Grains = a.collect()
	env.NewGrains = func(context.Context) (value.Mapping, error) { return a.collect(), nil }
	env.Invoker = dispatch.New(env)
	return env, nil
}

// refresh has the grains collected again where they are read: a later step sees
// what an earlier one, or somebody else, has done to the machine.
func (a *agentRoom) refresh(env *fun.Env) { env.Grains = a.collect() }

func (a *agentRoom) log() *slog.Logger {
	if a.o.Log != nil {
		return a.o.Log
	}
	return slog.New(slog.DiscardHandler)
}

// config makes the options of a session.
//
// Salt: salt/client/ssh/__init__.py Single.__init__ (minion_opts).
func (a *agentRoom) config(s agent.Session) (*config.Config, error) {
	over := value.NewMap(16)
	if s.Opts != nil {
		over.Update(s.Opts)
	}
	over.Delete("grains")
	if s.Grains.Len() > 0 {
		over.Set("grains", s.Grains)
	}
	over.Set("id", s.ID)
	over.Set("__role", "minion")
	over.Set("file_client", "local")
	if !over.Has("schedule_conf_dir") {
		// What the machine itself reads when a scheduled job runs there.
		over.Set("schedule_conf_dir", config.DefaultDir)
	}
	h := a.o.Host
	// An empty directory stands for the configuration: the target's own does
	// not count.
	var dir string
	if a.o.CacheDir != "" {
		dir = filepath.Join(a.o.CacheDir, "conf")
		if h.MkdirAll(dir, 0o700) != nil {
			dir = ""
		}
	}
	if dir == "" {
		tmp, err := h.MkdirTemp("", "brine-conf-")
		if err != nil {
			return nil, err
		}
		a.mu.Lock()
		a.tmp = tmp
		a.mu.Unlock()
		dir = tmp
		if !over.Has("cachedir") {
			over.Set("cachedir", filepath.Join(tmp, "cache"))
		}
	}
	if !over.Has("cachedir") {
		over.Set("cachedir", filepath.Join(a.o.CacheDir, "minion"))
	}
	return config.Load(config.Options{Kind: config.Minion, Host: h, Dir: dir, NoSaltfile: true, Override: over})
}

// addGrains adds the grains of the tree's modules, and has the pillar rendered with
// them.
func (a *agentRoom) addGrains(ctx context.Context, env *fun.Env) {
	if len(dispatch.FindGrains(ctx, env)) == 0 {
		return
	}
	with := func() value.Mapping {
		return machineGrains(env, EnvOptions{Host: a.o.Host, Exe: a.o.Exe, Table: a.o.Table})
	}
	env.Grains = with()
	env.NewGrains = func(context.Context) (value.Mapping, error) { return with(), nil }
	before := env.Pillar
	env.Pillar = value.NewLazyMap(func() *value.Map {
		m, err := env.Up.Pillar(ctx, fun.PillarRequest{Override: env.PillarOverride, Grains: env.Grains})
		if err != nil {
			return value.ToMap(before)
		}
		return m
	})
}

// call calls a job's function. The custom modules of the tree are looked for
// where they may matter: a plain call costs no look at the controller's files.
func (a *agentRoom) call(ctx context.Context, env *fun.Env, job fun.Job) fun.Return {
	newTable := func(now context.Context) (*fun.Table, error) { return withCustom(now, ctx, env, a.o.Table), nil }
	_, _, known := a.o.Table.Lookup(fun.Exec, job.Fun)
	mod, _, _ := strings.Cut(job.Fun, ".")
	if !known || mod == "state" || mod == "saltutil" || mod == "sys" {
		env.Table = withCustom(ctx, ctx, env, a.o.Table)
	}
	env.NewTable = newTable
	if !known || mod == "state" || mod == "saltutil" || mod == "grains" {
		a.addGrains(ctx, env)
	}
	env.Invoker = dispatch.New(env)
	env.Fleet = fleet.NewSelf(env, func() string { return a.jids.Next(env.Host.Now()) })
	return fleet.Call(ctx, env, job)
}
