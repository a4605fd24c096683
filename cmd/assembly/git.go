//go:build !slim

package assembly

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"brine/internal/fileserver"
	"brine/internal/fun"
	"brine/internal/gitfs"
	"brine/internal/roster"
	"brine/internal/value"
	"brine/sshexec"
)

// Git is what the Envs of a process share of git repositories: a run sees each
// of them as it was when it first looked.
type Git struct {
	store    *gitfs.Store
	own      func() *gitfs.Backend // of the controller's own configuration
	mu       sync.Mutex
	backends map[string]*gitfs.Backend // by options
}

// NewGit returns the repositories of o. Nothing is opened before it is needed.
func NewGit(o EnvOptions) *Git {
	warn := func(text string) {
		if o.Warn != nil {
			o.Warn(fun.Warning{Text: text})
		}
	}
	dialer := sync.OnceValues(func() (*sshexec.Dialer, error) {
		d, err := dialOptions(o, o.Host, warn)
		if err != nil {
			return nil, err
		}
		return sshexec.NewDialer(d), nil
	})
	g := &Git{backends: map[string]*gitfs.Backend{}}
	g.store = &gitfs.Store{
		Dir: filepath.Join(o.Config.CacheDir, "gitfs"), Now: o.Host.Now, Warn: warn,
		Dial: func(ctx context.Context, to gitfs.SSHTarget, command string) (io.ReadWriteCloser, error) {
			d, err := dialer()
			if err != nil {
				return nil, err
			}
			return dialCommand(ctx, d, to, command)
		},
	}
	g.own = func() *gitfs.Backend { return g.backend(o.Config.Opts) }
	return g
}

// dialCommand runs a command on a host. The connection ends with the command.
func dialCommand(ctx context.Context, d *sshexec.Dialer, to gitfs.SSHTarget, command string) (io.ReadWriteCloser, error) {
	c, err := d.Dial(ctx, &roster.Entry{
		ID: to.Host, Host: to.Host, Port: to.Port, User: to.User, Connection: roster.SSH, Priv: to.Auth.PrivKey,
		PrivPasswd: roster.NewSecret(to.Auth.Passphrase), Passwd: roster.NewSecret(to.Auth.Password), IdentitiesOnly: to.Auth.PrivKey != "",
	})
	if err != nil {
		return nil, err
	}
	rw, err := c.Command(ctx, command)
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	return &lastCommand{ReadWriteCloser: rw, c: c}, nil
}

// A lastCommand is the only one of its connection.
type lastCommand struct {
	io.ReadWriteCloser
	c *sshexec.Client
}

// Close ends the command and the connection.
func (l *lastCommand) Close() error { return errors.Join(l.ReadWriteCloser.Close(), l.c.Close()) }

// backend returns the backend of a configuration.
func (g *Git) backend(opts *value.Map) *gitfs.Backend {
	var key strings.Builder
	for k, v := range opts.All() {
		if strings.HasPrefix(value.Str(k), "gitfs_") || value.Str(k) == "saltenv" {
			key.WriteString(value.Repr(k) + value.Repr(v))
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	b := g.backends[key.String()]
	if b == nil {
		b = gitfs.NewBackend(g.store, opts, saltEnv(opts))
		g.backends[key.String()] = b
	}
	return b
}

// Backends returns the file server backends of a configuration, in order; a nil
// Git has only roots.
func (g *Git) Backends(opts *value.Map, roots *fileserver.Roots) []fileserver.Backend {
	if g == nil || !wantsGit(opts) {
		return []fileserver.Backend{roots.Backend()}
	}
	var out []fileserver.Backend
	l := opts.List("fileserver_backend")
	for i := range l.Len() {
		switch value.Str(l.Items[i]) {
		case "roots":
			out = append(out, roots.Backend())
		case "gitfs":
			out = append(out, g.backend(opts))
		}
	}
	return out
}

// wantsGit reports whether files come from git, too.
func wantsGit(opts *value.Map) bool {
	l := opts.List("fileserver_backend")
	return l != nil && slices.ContainsFunc(l.Items, func(v value.Value) bool { return value.Str(v) == "gitfs" })
}

// Sources returns the commit of each remote of gitfs_remotes, nil where there is
// none. It fails where the configuration is wrong, or a remote can neither be
// reached nor is in the cache.
func (g *Git) Sources(ctx context.Context, opts *value.Map) (*value.List, error) {
	if err := gitfs.CheckGlobals(opts, gitfs.Files); err != nil {
		return nil, err
	}
	if err := gitfs.CheckGlobals(opts, gitfs.Pillar); err != nil {
		return nil, err
	}
	if !wantsGit(opts) {
		if opts.Has("gitfs_at") {
			return nil, errors.New(`--at pins a remote of gitfs_remotes, but fileserver_backend does not have "gitfs"`)
		}
		return nil, nil
	}
	return g.own().Sources(ctx)
}

// pillarTrees returns the directories of git_pillar.
func (g *Git) pillarTrees(ctx context.Context, opts *value.Map, remotes *value.List) ([]fun.PillarTree, error) {
	return g.store.Pillars(ctx, opts, remotes)
}
