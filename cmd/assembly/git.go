//go:build !slim

package assembly

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"brine/internal/core/fileserver"
	"brine/internal/core/formula"
	"brine/internal/core/fun"
	"brine/internal/core/gitfs"
	"brine/internal/core/host"
	"brine/internal/core/roster"
	"brine/internal/py/value"
	"brine/sshexec"
)

// Git is what the Envs of a process share of git repositories: a run sees each
// of them as it was when it first looked.
type Git struct {
	store    *gitfs.Store
	files    host.Files
	cachedir string
	mu       sync.Mutex
	backends map[string]*gitfs.Backend   // by options
	formulas map[string]*formula.Backend // by directory
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
	g := &Git{files: o.Host, cachedir: o.Config.CacheDir, backends: map[string]*gitfs.Backend{}, formulas: map[string]*formula.Backend{}}
	g.store = &gitfs.Store{
		Dir: filepath.Join(o.Config.CacheDir, "gitfs"), Now: o.Host.Now, Warn: warn, Run: o.Host.Run,
		Dial: func(ctx context.Context, to gitfs.SSHTarget, command string) (io.ReadWriteCloser, error) {
			d, err := dialer()
			if err != nil {
				return nil, err
			}
			return dialCommand(ctx, d, to, command)
		},
	}
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

// backend returns the backend of a role in a configuration.
func (g *Git) backend(role string, opts *value.Map) *gitfs.Backend {
	var key strings.Builder
	key.WriteString(role)
	for k, v := range opts.All() {
		if name := value.Str(k); strings.HasPrefix(name, role+"_") || name == "saltenv" || role == gitfs.Buckets && strings.HasPrefix(name, "s3.") {
			key.WriteString(value.Repr(k) + value.Repr(v))
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	b := g.backends[key.String()]
	if b == nil {
		b = gitfs.NewBackend(g.store, role, opts, saltEnv(opts))
		g.backends[key.String()] = b
	}
	return b
}

// Backends returns the file server backends of a configuration, in order; a nil
// Git has only roots.
func (g *Git) Backends(opts *value.Map, roots *fileserver.Roots) []fileserver.Backend {
	if g == nil {
		return []fileserver.Backend{roots.Backend()}
	}
	var out []fileserver.Backend
	l := opts.List("fileserver_backend")
	for i := range l.Len() {
		name := value.Str(l.Items[i])
		switch {
		case name == "roots":
			out = append(out, roots.Backend())
		case name == "minionfs":
			out = append(out, fileserver.NewPushed(g.files, g.cachedir, opts))
		case slices.Contains(gitfs.FileRoles(), name):
			out = append(out, g.backend(name, opts))
		}
	}
	if len(out) == 0 { // none that there is, which the configuration was warned of
		out = append(out, roots.Backend())
	}
	if f := g.formula(roots); f != nil {
		out = append(out, f)
	}
	return out
}

// Formulas returns the directory of formulas.yaml: the first of file_roots.
func (g *Git) Formulas(opts *value.Map) (*formula.Tree, error) {
	dirs := fileserver.RootsOf(opts, "file_roots").Dirs["base"]
	if len(dirs) == 0 {
		return nil, errors.New("file_roots has no directory for the environment base, where formulas.yaml is")
	}
	return &formula.Tree{Dir: dirs[0], Store: g.store}, nil
}

// TemplateDirs returns the roots of orchestration templates: those of the option
// orchestration_roots, else the directory orchestration of each directory of
// file_roots, of gitfs and of formulas, and the one of packages.
func (g *Git) TemplateDirs(ctx context.Context, opts *value.Map) ([]string, error) {
	switch v := opts.At("orchestration_roots").(type) {
	case nil:
	case string:
		return []string{v}, nil
	case *value.List:
		dirs := make([]string, v.Len())
		for i, x := range v.Items {
			dirs[i] = value.Str(x)
		}
		return dirs, nil
	default:
		return nil, fmt.Errorf("orchestration_roots must be a directory or a list of directories, not %s", value.Kind(v))
	}
	var out []string
	for _, b := range g.Backends(opts, fileserver.RootsOf(opts, "file_roots")) {
		dirs, _, err := b.Dirs(ctx, saltEnv(opts))
		if err != nil {
			return nil, err
		}
		for _, d := range dirs {
			if d.Mount == "" {
				out = append(out, filepath.Join(d.Path, "orchestration"))
			}
		}
	}
	return append(out, "/usr/share/brine/orchestration"), nil
}

// formula returns the formulas of roots, nil where there are none.
func (g *Git) formula(roots *fileserver.Roots) *formula.Backend {
	dirs := roots.Dirs["base"]
	if len(dirs) == 0 {
		return nil
	}
	t := &formula.Tree{Dir: dirs[0], Store: g.store}
	g.mu.Lock()
	defer g.mu.Unlock()
	b := g.formulas[t.Dir]
	if b == nil && t.Has() {
		b = t.Backend()
		g.formulas[t.Dir] = b
	}
	return b
}

// Sources returns the commit of each remote of gitfs_remotes and of git_pillar, nil
// where there is none. It fails where the configuration is wrong, or a remote can neither be
// reached nor is in the cache.
func (g *Git) Sources(ctx context.Context, opts *value.Map) (*value.List, error) {
	for _, role := range append(gitfs.FileRoles(), gitfs.Pillar) {
		if err := gitfs.CheckGlobals(opts, role); err != nil {
			return nil, err
		}
	}
	var all *value.List
	for _, b := range g.Backends(opts, fileserver.RootsOf(opts, "file_roots")) {
		s, ok := b.(fileserver.Sourced)
		if !ok {
			continue
		}
		l, err := s.Sources(ctx)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = value.NewList()
		}
		all.Append(l.Items...)
	}
	if l, err := g.store.PillarSources(ctx, opts); err != nil {
		return nil, err
	} else if l.Len() > 0 {
		if all == nil {
			all = value.NewList()
		}
		all.Append(l.Items...)
	}
	return all, nil
}

// pillarTrees returns the directories of an external pillar that has trees: git or s3.
func (g *Git) pillarTrees(ctx context.Context, name string, opts *value.Map, args *value.List) ([]fun.PillarTree, error) {
	if name == "s3" {
		return g.store.PillarBuckets(ctx, args)
	}
	return g.store.Pillars(ctx, opts, args)
}
