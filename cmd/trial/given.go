package trial

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"sync"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/internal/core/config"
	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/core/printable"
	"brine/internal/core/roster"
	"brine/internal/fleet/machine"
	"brine/internal/view/trial"
	"brine/sshexec"
)

// A given is a connection to an existing host.
type given struct {
	*sshexec.Client
	entry *roster.Entry
}

// dialer connects to given hosts, by the roster of a tree or that of --hosts.
func (o *options) dialer(a *app.App, w *trial.World) func(context.Context, string) (machine.Remote, error) {
	opts := w.Opts.Copy()
	if o.roster != "" {
		if path, err := filepath.Abs(o.roster); err == nil {
			opts.Set("roster_file", path)
		}
	}
	dir := cmp.Or(o.tree.ConfigDir, w.Tree)
	warn := warnOnce(a)
	return func(ctx context.Context, target string) (machine.Remote, error) {
		c, e, err := assembly.DialTarget(ctx, assembly.EnvOptions{
			Host: a.Host, Config: &config.Config{Kind: config.Master, Opts: opts, Dir: dir, CacheDir: opts.Str("cachedir")}, Table: assembly.Table(),
			Bus: event.NewRing(0, a.Host.Now), SSH: assembly.SSHOptions{Getenv: a.Getenv},
			Warn: warn,
		}, target)
		if err != nil {
			return nil, err
		}
		return &given{c, e}, nil
	}
}

// Script runs a script of sh.
func (g *given) Script(ctx context.Context, script string, in io.Reader, out io.Writer) (stderr string, status int, err error) {
	return g.Client.Script(ctx, g.entry, script, in, out)
}

// Enter is the command that a person types to get a shell.
func (g *given) Enter() []string {
	argv := []string{"ssh", "-t"}
	if g.entry.Port != 0 {
		argv = append(argv, "-p", strconv.Itoa(g.entry.Port))
	}
	if g.entry.Priv != "" {
		argv = append(argv, "-i", g.entry.Priv)
	}
	for _, o := range g.entry.SSHOptions {
		argv = append(argv, "-o", o)
	}
	to := g.entry.Host
	if g.entry.User != "" {
		to = g.entry.User + "@" + to
	}
	argv = append(argv, to)
	if g.entry.Sudo {
		argv = append(argv, "sudo", "-i")
	}
	return argv
}

// warnOnce returns what shows warnings, each of them once: what several tests find is alike.
func warnOnce(a *app.App) func(fun.Warning) {
	var warned sync.Map
	return func(f fun.Warning) {
		text := printable.Line(f.Text)
		if f.Where != "" {
			text = printable.Line(f.Where) + ": " + text
		}
		if _, again := warned.LoadOrStore(text, true); !again {
			fmt.Fprintf(a.Err, "brine: warning: %s\n", text)
		}
	}
}
