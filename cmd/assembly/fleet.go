//go:build !slim

package assembly

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"brine/internal/core/config"
	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/python"
	"brine/internal/core/render"
	"brine/internal/core/roster"
	"brine/internal/fleet"
	"brine/internal/py/value"
	"brine/sshexec"
)

// Roster reads the roster of a controller through Jinja and YAML. Mistakes are
// warned of.
func Roster(ctx context.Context, env *fun.Env, cfg *config.Config, o SSHOptions) (*roster.Roster, error) {
	home := homeDir(env.Host)
	if o.Getenv != nil && o.Getenv("HOME") != "" {
		home = o.Getenv("HOME") // of ~/.ssh/config, which is read again to dial
	}
	files := roster.Files(env.Host)
	if !cfg.Named && !value.Truth(env.Opts.At("roster_file")) {
		files = trustedFiles{env.Host} // they were found where brine looks
	}
	files = &onceFiles{Files: files}
	sources, err := roster.Sources(env.Opts, files, cfg.Dir, home)
	if err != nil {
		return nil, err
	}
	wait, err := value.ToFloat(env.Opts.At("ssh_scan_timeout"))
	if err != nil || wait <= 0 {
		wait = 0.01 // Salt's default
	}
	timeout := time.Duration(min(wait, 3600) * float64(time.Second))
	r, err := roster.Load(roster.Options{
		Files: files, Defaults: sshDefaults(cfg, env.Opts, o), Domain: env.Opts.Str("roster_domain"), Home: home, Me: accountName(env.Host),
		AdHoc: o.AdHoc, ScanPorts: ports(env.Opts.At("ssh_scan_ports")),
		Module: func(kind string) (value.Value, error) { return python.Roster(ctx, env, kind) },
		Open: func(host string, port int) bool {
			ctx, cancel := context.WithTimeout(ctx, timeout)
			defer cancel()
			c, err := env.Host.Dial(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
			if err == nil {
				c.Close()
			}
			return err == nil
		},
		Exposed: func(path string) bool {
			st, err := env.Host.Stat(path)
			return err == nil && st.Mode.IsRegular() && st.Mode.Perm()&0o004 != 0
		},
		Render: func(path string) (value.Value, error) {
			text, err := files.ReadFile(path)
			if err != nil {
				return nil, err
			}
			return render.For(env).SLS(ctx, render.Input{Name: path, Abs: path, SaltEnv: env.SaltEnv, Text: text})
		},
	}, sources...)
	if err != nil {
		return nil, fmt.Errorf("read the roster: %w", err)
	}
	warnOf(env, r)
	return r, nil
}

// warnOf warns of the mistakes of a roster.
func warnOf(env *fun.Env, r *roster.Roster) {
	for _, w := range r.Warnings() {
		env.Warn(fun.Warning{Where: w.Pos.String(), Text: w.Err.Error()})
	}
}

// ports reads ssh_scan_ports: text with commas, a number or a list.
func ports(v value.Value) []string {
	if l, ok := v.(*value.List); ok {
		out := make([]string, l.Len())
		for i, x := range l.Items {
			out[i] = value.Str(x)
		}
		return out
	}
	var out []string
	for s := range strings.SplitSeq(value.Str(v), ",") {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// onceFiles reads each file once: a pipe has its content for who asks first.
type onceFiles struct {
	roster.Files
	read map[string][]byte
}

// ReadFile returns the content of a file.
func (f *onceFiles) ReadFile(path string) ([]byte, error) {
	if b, ok := f.read[path]; ok {
		return b, nil
	}
	b, err := f.Files.ReadFile(path)
	if err == nil {
		if f.read == nil {
			f.read = map[string][]byte{}
		}
		f.read[path] = b
	}
	return b, err
}

// trustedFiles refuses files that somebody else could have written.
type trustedFiles struct{ host.Host }

// ReadFile returns the content of a file.
func (f trustedFiles) ReadFile(path string) ([]byte, error) { return host.ReadTrusted(f.Host, path) }

// accountName returns the name of the person's account; "" where it has none.
func accountName(h host.Host) string {
	a, err := h.LookupUID(h.Geteuid())
	if err != nil {
		return ""
	}
	return a.Name
}

func homeDir(h host.Host) string {
	a, err := h.LookupUID(h.Geteuid())
	if err != nil {
		return ""
	}
	return a.Home
}

// NewFleet returns the fleet of a controller: the entries of its roster. ctl is
// the controller's own Env, from whose configuration those of the targets are
// made.
func NewFleet(ctx context.Context, ctl *fun.Env, o EnvOptions, newJID func() string) (*fleet.Fleet, error) {
	masters, err := chosenFleets(o)
	if err != nil {
		return nil, err
	}
	r := &roster.Roster{}
	if masters.roster {
		if r, err = Roster(ctx, ctl, o.Config, o.SSH); err != nil {
			return nil, err
		}
	}
	f := &fleet.Fleet{Bus: o.Bus, Table: o.Table, NewJID: newJID, Gate: o.Gate, Nodegroups: nodegroups(o.Config.Opts, r)}
	for key, at := range map[string]*time.Duration{"timeout": &f.Timeout, "gather_job_timeout": &f.Gather, "max_wait": &f.MaxWait} {
		if *at, err = secondsOf(o.Config.Opts, key); err != nil {
			return nil, err
		}
	}
	f.Permit = permit(ctl, o)
	f.AllowUnreachable = value.Truth(o.Config.Opts.At("ssh_allow_unreachable"))
	if f.Timeout <= 0 {
		f.Timeout = fleet.DefaultTimeout
	}
	if n, ok := value.AsInt(o.Config.Opts.At("ssh_max_procs")); ok {
		f.Limit = int(n)
	}
	if a, err := o.Host.LookupUID(o.Host.Geteuid()); err == nil {
		f.User = a.Name
	}
	if f.Mine, err = NewMine(ctl, f); err != nil {
		return nil, err
	}
	ctl.Mine, o.Mine = f.Mine, f.Mine
	o.Publisher = &fleet.Peers{
		Fleet: f, Peer: o.Config.Opts.At("peer"), PeerRun: o.Config.Opts.At("peer_run"), Warn: ctl.Warn,
		Runner: func(ctx context.Context, name string, args fun.Args) (fun.Result, error) {
			return callRunner(ctx, ctl, name, args)
		},
	}
	local := &fleet.Local{Make: func(ctx context.Context, id string) *fun.Env { return targetEnv(ctx, o, r, id) }}
	var remote []*roster.Entry
	for _, e := range r.Entries() {
		// An entry that cannot be used is a target all the same: one that is not
		// reached, and says why.
		if e.Err == nil && e.Connection == roster.Local {
			local.Names = append(local.Names, e.ID)
		} else {
			remote = append(remote, e)
		}
	}
	f.Add(local)
	if err := masters.add(f, ctl, o); err != nil {
		return nil, err
	}
	if !masters.roster {
		return f, nil
	}
	n := &namer{r: r, kinds: roster.KindsOf(o.Config.Opts), warn: func(r *roster.Roster) { warnOf(ctl, r) }}
	n.provider = sync.OnceValues(func() (*sshexec.Provider, error) {
		p, err := sshProvider(ctx, ctl, o, r, remote)
		if err == nil {
			f.Add(p)
		}
		return p, err
	})
	for _, e := range r.Entries() {
		n.listed = append(n.listed, e.ID)
	}
	f.Name = n.name
	if len(remote) > 0 {
		if _, err := n.provider(); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// permit reads who may run what on targets, for who runs this process.
func permit(ctl *fun.Env, o EnvOptions) *fleet.Permit {
	opts := o.Config.Opts
	p := &fleet.Permit{
		User: accountName(o.Host), Behalf: o.Behalf, Root: o.Host.Geteuid() == 0, Limits: ctl.Limits,
		ACL: opts.At("publisher_acl"), SudoACL: value.Truth(opts.At("sudo_acl")), Blacklist: opts.At("publisher_acl_blacklist"),
	}
	for _, e := range o.Host.Environ() {
		if name, ok := strings.CutPrefix(e, "SUDO_USER="); ok && p.Root && name != "" && name != p.User && !strings.HasPrefix(p.User, "sudo_") {
			p.User = "sudo_" + name
		}
		if globs, ok := strings.CutPrefix(e, fleet.OnHosts+"="); ok { // of an empty list, none may be reached
			p.Hosts = strings.Split(globs, ",")
		}
	}
	return p
}

// nodegroups joins the groups of the configuration with those of inventories;
// the configuration's come first.
func nodegroups(opts *value.Map, r *roster.Roster) *value.Map {
	m := value.NewMap(4)
	m.Update(r.Nodegroups())
	for _, option := range [...]string{"ssh_list_nodegroups", "nodegroups"} {
		if g := opts.Map(option); g != nil {
			m.Update(g)
		}
	}
	return m
}

// targetEnv returns the Env of a roster entry with connection: local: this
// machine with the entry's id, grains and minion_opts.
func targetEnv(ctx context.Context, o EnvOptions, r *roster.Roster, id string) *fun.Env {
	e, _ := r.Get(id)
	opts := o.Config.Opts.Copy()
	opts.Set("id", id)
	opts.Set("__role", "minion")
	opts.Set("file_client", "local")
	for k, v := range e.MinionOpts.All() {
		if value.Str(k) != "grains" {
			opts.Set(k, v)
		}
	}
	if e.Grains.Len() > 0 {
		opts.Set("grains", e.Grains)
	}
	// Each target has an environment of its own, which environ.setenv changes.
	o.Host = o.Host.Fork()
	cfg := *o.Config
	cfg.Opts, cfg.Kind = opts, config.Minion
	o.Config = &cfg
	return NewEnv(ctx, o)
}

// callRunner calls a runner function for a machine; the arguments are as on the
// command line.
func callRunner(ctx context.Context, ctl *fun.Env, name string, args fun.Args) (fun.Result, error) {
	if spec := ctl.Table.Spec(fun.Runner, name); spec != nil {
		var err error
		if args, err = dispatch.Published(spec, args); err != nil {
			return fun.Result{}, err
		}
	}
	_, res, err := ctl.CallRunner(ctx, name, args)
	return res, err
}

// NewMine returns the mine of an Env, with the data that earlier runs kept.
func NewMine(env *fun.Env, f *fleet.Fleet) (*fleet.Mine, error) {
	m := &fleet.Mine{Host: env.Host, Dir: filepath.Join(env.CacheDir, "mine"), Fleet: f, ACL: env.Opts.At("mine_get"), Warn: env.Warn, Refuse: notEncrypted}
	switch how := env.Opts.At("mine_refresh"); how {
	case nil, "run":
	case "all":
		m.All = true
	case "none", false:
		m.Off = true
	default:
		return nil, fun.Errorf("the option mine_refresh must be run, all or none, not %s", value.Repr(how))
	}
	return m, nil
}

// notEncrypted refuses PGP messages: what a target says must not be decrypted
// where a template puts it.
func notEncrypted(v value.Value) error {
	if render.Encrypted(v) {
		return fun.Errorf("a PGP message cannot be kept in the mine")
	}
	return nil
}

// secondsOf returns an option that is a number of seconds; 0 where it is not set.
func secondsOf(opts *value.Map, key string) (time.Duration, error) {
	v := opts.At(key)
	if v == nil {
		return 0, nil
	}
	if s, ok := v.(string); ok {
		if n, err := strconv.ParseFloat(strings.TrimSpace(s), 64); err == nil {
			v = n
		}
	}
	switch v.(type) {
	case int64, float64:
		return seconds(value.MapOf(key, v), key), nil
	}
	return 0, fun.Errorf("the option %s must be a number of seconds, not %s", key, value.Repr(v))
}
