//go:build !slim

package assembly

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"brine/internal/core/config"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/roster"
	"brine/internal/fleet"
	"brine/internal/fleet/jobs"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/sshexec"
	"brine/sshexec/link"
)

// SSHOptions are what a command line adds to the configuration of machines
// that are reached over SSH.
type SSHOptions struct {
	User, Priv string        // where the roster names none
	Password   roster.Secret // where the roster has none
	// Ask asks the person for a secret, or with echo for what may be seen; nil:
	// there is no terminal.
	Ask func(prompt string, echo bool) (roster.Secret, error)
	// Once says that each target is worked on once: its connection is closed then.
	Once bool
	// AskOnce asks for the same account and question once, for all targets.
	AskOnce bool
	Deploy  bool // add the public key to authorized_keys first
	// AdHoc are targets that the command line names by their addresses.
	AdHoc  []roster.Address
	Getenv func(string) string
}

// sshDefaults are the keys of every entry that does not have them. What
// configuration does not say itself is left to ssh_config.
func sshDefaults(cfg *config.Config, opts *value.Map, o SSHOptions) *value.Map {
	said := opts.Copy()
	for _, k := range []string{"ssh_user", "ssh_port", "ssh_timeout"} {
		if !cfg.Given(k) {
			said.Delete(k)
		}
	}
	d := roster.Defaults(said)
	if o.User != "" {
		d.Set("user", o.User)
	}
	if o.Priv != "" {
		d.Set("priv", o.Priv)
	}
	return d
}

// sshProvider returns the provider of the roster's entries that are reached
// over SSH.
func sshProvider(ctx context.Context, ctl *fun.Env, o EnvOptions, r *roster.Roster, entries []*roster.Entry) (*sshexec.Provider, error) {
	opts := o.Config.Opts
	getenv := o.SSH.Getenv
	if getenv == nil {
		getenv = os.Getenv
	}
	dial, err := dialOptions(o, ctl.Host, func(text string) { ctl.Warn(fun.Warning{Text: text}) })
	if err != nil {
		return nil, err
	}
	if dial.Policy == sshexec.Off {
		ctl.Warn(fun.Warning{Text: "host keys are not checked: whoever answers in a host's place is believed, and is given its pillar"})
	}
	maxProcs := fleet.DefaultLimit
	if n, ok := value.AsInt(opts.At("ssh_max_procs")); ok && n > 0 {
		maxProcs = int(n)
	}
	pushes := 0
	if n, ok := value.AsInt(opts.At("ssh_push_limit")); ok && n > 0 {
		pushes = int(n)
	}
	reconnect := defaultReconnect
	if opts.Has("ssh_reconnect") {
		reconnect = seconds(opts, "ssh_reconnect")
	}
	age, err := secondsOf(opts, "ssh_grains_age")
	if err != nil {
		return nil, err
	}
	cache := filepath.Join(o.Config.CacheDir, "ssh")
	pillars := newTargetPillars(o, r)
	maxReturns, _ := fun.SizeOf(opts.At("ssh_max_returns"))
	s := sshexec.Settings{
		Entries: entries, Dialer: sshexec.NewDialer(dial),
		Images: Images(o, getenv, opts),
		Link: link.Options{
			Tree: link.NewTree(ctl.Up).LimitReturns(maxReturns), Files: ctl.Up, Pillar: pillars.render, PillarGrains: func() []string { return pillars.grainNames(ctx) }, Bus: o.Bus, Log: o.Log,
			Reconnect: reconnect, Mine: o.Mine, Publisher: o.Publisher,
			Warn:   o.TargetWarn,
			Secret: func(id, secret string) { o.Secrets.Of(id).Add(secret) },
			Fault: func(id, text string, at *source.Error) {
				if o.Fault != nil {
					o.Fault(&FaultError{ID: id, Text: text, At: at})
				}
			},
		},
		Opts: link.TargetOpts(opts), GrainsAge: age, GrainsDir: filepath.Join(cache, "grains"), Refresh: value.Truth(opts.At("ssh_refresh_grains")),
		Wipe: value.Truth(opts.At("ssh_wipe")), Deploy: o.SSH.Deploy, PreFlight: value.Truth(opts.At("ssh_run_pre_flight")),
		Files: sshexec.FileLimit(), Procs: maxProcs, Pushes: pushes,
		// Several targets may share a home: where the agents are wiped, the first that
		// is done would take it away from the others.
		Once: o.SSH.Once && !value.Truth(opts.At("ssh_wipe")),
		Now:  o.Host.Now, Pauses: pausesOf(ctl, o),
		Warn: func(text string) { ctl.Warn(fun.Warning{Text: text}) },
	}
	if o.Peers != nil {
		s.Link.Forward = o.Peers.Post
	}
	if value.Truth(opts.At("file_recv")) {
		s.Link.Push = receive(filepath.Join(o.Config.CacheDir, "minions"), opts)
	}
	return sshexec.NewProvider(s), nil
}

// dialOptions are how hosts are dialled, by the configuration of o.
func dialOptions(o EnvOptions, h host.Host, warn func(text string)) (sshexec.Options, error) {
	opts := o.Config.Opts
	policy, err := sshexec.ParsePolicy(opts.Str("ssh_host_keys"))
	if err != nil {
		return sshexec.Options{}, err
	}
	if value.Truth(opts.At("ignore_host_keys")) || value.Truth(opts.At("ssh_ignore_host_keys")) {
		policy = sshexec.Off
	}
	getenv := o.SSH.Getenv
	if getenv == nil {
		getenv = os.Getenv
	}
	home := getenv("HOME")
	if home == "" {
		home = homeDir(h)
	}
	dial := sshexec.Options{
		Host: o.Host, Home: home, Me: accountName(o.Host), Policy: policy, AgentSocket: getenv("SSH_AUTH_SOCK"), PKIDir: opts.Str("pki_dir"),
		Password: o.SSH.Password, Ask: o.SSH.Ask, AskOnce: o.SSH.AskOnce, Retries: -1, Log: o.Log, Warn: warn,
	}
	if o.SSH.Getenv != nil {
		dial.Getenv = func(key string) (string, bool) { v := getenv(key); return v, v != "" }
	}
	if n, ok := value.AsInt(opts.At("ssh_retries")); ok {
		dial.Retries, dial.RetryUnreachable = int(n), true
	}
	if dial.Keep, err = keeping(o, h, getenv); err != nil {
		return sshexec.Options{}, err
	}
	if v, ok := opts.Get("ssh_keepalive"); ok {
		dial.NoKeepAlive = !value.Truth(v)
	}
	dial.KeepAlive = max(0, seconds(opts, "ssh_keepalive_interval"))
	if n, ok := value.AsInt(opts.At("ssh_keepalive_count_max")); ok && n > 0 && n < 1<<20 {
		dial.KeepAliveCount = int(n)
	}
	if p := opts.Str("ssh_config_file"); p != "" {
		if rest, ok := strings.CutPrefix(p, "~/"); ok {
			p = filepath.Join(home, rest)
		}
		dial.Config = []string{p, "/etc/ssh/ssh_config"}
	}
	return dial, nil
}

// DialTarget connects to one machine: an entry of the roster, or an address such as
// user@host:port.
func DialTarget(ctx context.Context, o EnvOptions, target string) (*sshexec.Client, *roster.Entry, error) {
	if a, ok, err := roster.ParseAddress(target); err != nil {
		return nil, nil, err
	} else if ok {
		o.SSH.AdHoc = []roster.Address{a}
		target = a.ID()
	}
	env := NewEnv(ctx, o)
	r, err := Roster(ctx, env, o.Config, o.SSH)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%s is not an address such as root@host, and no roster can be read: %w", target, err)
		}
		return nil, nil, err
	}
	e, ok := r.Get(target)
	if !ok {
		var ids []string
		for _, e := range r.Entries() {
			ids = append(ids, e.ID)
		}
		return nil, nil, fmt.Errorf("the roster has no %q%s", target, source.DidYouMean(target, ids))
	}
	if e.Err != nil {
		return nil, nil, e.Err
	}
	if e.Connection != roster.SSH {
		return nil, nil, fmt.Errorf("%s is this machine in the roster, which is not changed by tests", target)
	}
	d, err := dialOptions(o, env.Host, func(text string) { env.Warn(fun.Warning{Text: text}) })
	if err != nil {
		return nil, nil, err
	}
	c, err := sshexec.NewDialer(d).Dial(ctx, e)
	return c, e, err
}

// defaultReconnect is how long a run looks for a target whose connection broke
// while it works, and how long the target's agent waits for that.
const defaultReconnect = 5 * time.Minute

func seconds(opts *value.Map, key string) time.Duration {
	switch v := opts.At(key).(type) {
	case int64:
		return time.Duration(v) * time.Second
	case float64:
		return time.Duration(v * float64(time.Second))
	}
	return 0
}

// pausesOf reads what state.pause and state.soft_kill ask of a job on targets,
// and that after Ctrl-C no further state is to begin.
func pausesOf(ctl *fun.Env, o EnvOptions) func(jid string) *value.Map {
	pauses := jobs.NewPauses(ctl.CacheDir)
	return func(jid string) *value.Map {
		if o.Gate != nil && !o.Gate(context.Background(), nil) {
			return value.MapOf(jobs.AllStates, value.MapOf("kill", true))
		}
		return pauses.For(jid)
	}
}

// receive keeps the files that targets push, each in a directory of its own
// that they cannot leave. Salt: salt/master.py _file_recv.
func receive(dir string, opts *value.Map) func(ctx context.Context, id, path string, r io.Reader) error {
	limit := int64(100 << 20)
	if n, ok := value.AsInt(opts.At("file_recv_max_size")); ok && n > 0 {
		limit = n << 20
	}
	total := 10 * limit
	if n, ok := value.AsInt(opts.At("file_recv_max_total")); ok && n > 0 {
		total = n << 20
	}
	var turns sync.Map // by id: pushes of a target take turns, so that they are counted
	return func(_ context.Context, id, path string, r io.Reader) error {
		turn, _ := turns.LoadOrStore(id, &sync.Mutex{})
		turn.(*sync.Mutex).Lock()
		defer turn.(*sync.Mutex).Unlock()
		if strings.ContainsAny(id, "/\x00") || id == "." || id == ".." {
			return fmt.Errorf("%q is not an id", id)
		}
		base := filepath.Join(dir, id, "files")
		if err := os.MkdirAll(base, 0o700); err != nil {
			return err
		}
		root, err := os.OpenRoot(base)
		if err != nil {
			return err
		}
		defer root.Close()
		name := filepath.Clean(strings.TrimLeft(path, "/"))
		if !filepath.IsLocal(name) || name == "." {
			return fmt.Errorf("%q leads out of the directory of pushed files", path)
		}
		room, err := roomFor(root, name, total)
		if err != nil {
			return err
		}
		if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		f, err := root.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
		if err != nil {
			return err
		}
		n, err := io.Copy(f, io.LimitReader(r, min(limit, room)+1))
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if err == nil && n > limit {
			err = errors.New("the file is larger than file_recv_max_size allows")
		}
		if err == nil && n > room {
			err = errors.New("the files of the target are larger than file_recv_max_total allows")
		}
		if err != nil {
			_ = root.Remove(name)
		}
		return err
	}
}

// maxPushed is how many files of a target are kept.
const maxPushed = 10_000

// roomFor returns how many bytes a file may have beside the others of a target.
func roomFor(root *os.Root, name string, total int64) (int64, error) {
	n := 0
	err := fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if n++; n > maxPushed {
			return fmt.Errorf("the target has pushed more than %d files", maxPushed)
		}
		if fi, err := d.Info(); err == nil && fi.Mode().IsRegular() && p != filepath.ToSlash(name) {
			total -= fi.Size()
		}
		return nil
	})
	if err == nil && total < 0 {
		err = errors.New("the files of the target are larger than file_recv_max_total allows")
	}
	return total, err
}
