package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/internal/core/config"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/redact"
	"brine/internal/fleet"
	"brine/internal/fleet/history"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
	"brine/internal/view/chain"
	"brine/internal/view/orchestration"
	"brine/internal/view/ui"
)

// maxSLS bounds what is read of an SLS for its description.
const maxSLS = 64 << 10

// uiBackend is what the pages can do. Each call reads the configuration again, by
// a session of its own; runs are processes of their own.
type uiBackend struct {
	app   *app.App
	run   app.RunFlags
	fleet app.FleetFlags
	args  []string // the flags that runs get, too
	exe   string
	owner string
	tmp   string // for answers of templates
	// scheduling has chains scheduled one after the other.
	scheduling sync.Mutex
}

func newUIBackend(a *app.App, c *cobra.Command, o *uiOpts) (*uiBackend, error) {
	b := &uiBackend{app: a, run: o.RunFlags, fleet: o.FleetFlags, args: app.GivenFlags(c, append(slices.Clone(o.ownFlags), o.hides...))}
	if b.run.LogLevel == "" {
		b.run.LogLevel = "warning"
	}
	var err error
	if b.exe, err = host.Executable(); err != nil {
		return nil, err
	}
	if b.tmp, err = a.Host.MkdirTemp(os.TempDir(), "brine-ui-"); err != nil {
		return nil, err
	}
	err = b.session(context.Background(), func(s *session) error { // a configuration that is not right is told at once
		b.owner = s.userName()
		return nil
	})
	if err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *uiBackend) close() { _ = b.app.Host.RemoveAll(b.tmp) }

// session calls a function with a session. What the session prints, such as the
// places of faults, becomes a part of the error.
func (b *uiBackend) session(ctx context.Context, do func(*session) error) error {
	out := &lockedBuffer{}
	a := &app.App{Out: out, Err: out, Args: []string{"ui"}, Program: b.app.Program, Getenv: b.app.Getenv, Host: b.app.Host, Intr: &app.Interrupt{}}
	run, fleet := b.run, b.fleet
	s, err := newSession(a, config.Master, "salt-run", &run, fleet.Override())
	if err != nil {
		return redacted(redact.NewSet(), err) // it may quote the configuration
	}
	defer s.end()
	if s.ssh, err = sshOptions(a, &fleet); err != nil {
		return redacted(s.secrets, err)
	}
	if err = s.openGit(ctx); err == nil {
		err = do(s)
	}
	if text := strings.TrimSpace(out.String()); err != nil && text != "" {
		err = fmt.Errorf("%w\n%s", err, text)
	}
	return redacted(s.secrets, err)
}

// lockedBuffer is a buffer that several goroutines may write to.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// uiGlobs are the SLS that the pages show as orchestrations, by the option
// ui_orchestrations.
func uiGlobs(s *session) []string {
	switch v := s.cfg.Opts.At("ui_orchestrations").(type) {
	case string:
		return []string{v}
	case *value.List:
		var out []string
		for _, x := range v.Items {
			out = append(out, value.Str(x))
		}
		return out
	}
	return []string{"orch", "orch.*", "orchestrate", "orchestrate.*"}
}

// orchestrations returns the names of the SLS that the pages show.
func (b *uiBackend) orchestrations(ctx context.Context, s *session) ([]string, *fun.Env, error) {
	env := s.env(ctx, s.jids.Next(s.app.Host.Now()))
	all, err := fun.ListSLS(ctx, env.Up, env.SaltEnv)
	if err != nil {
		return nil, nil, err
	}
	globs := uiGlobs(s)
	return slices.DeleteFunc(all, func(name string) bool {
		return !slices.ContainsFunc(globs, func(g string) bool { ok, _ := path.Match(g, name); return ok })
	}), env, nil
}

// Catalogue lists what can be run; see [ui.Backend].
func (b *uiBackend) Catalogue(ctx context.Context) (*ui.Catalogue, error) {
	out := &ui.Catalogue{}
	err := b.session(ctx, func(s *session) (err error) {
		if out.Orchestrations, _, err = b.orchestrations(ctx, s); err != nil {
			return err
		}
		st := chainStore(s)
		names, err := st.Names()
		if err != nil {
			return err
		}
		for _, n := range names {
			e := ui.Entry{Name: n}
			if c, _, err := st.Read(n); err != nil {
				e.Fault = shown(s.secrets, err.Error())
			} else {
				e.Description = shown(s.secrets, fmt.Sprintf("%d step%s. %s", len(c.Steps), value.Plural(len(c.Steps)), c.Description))
			}
			out.Chains = append(out.Chains, e)
		}
		ts, err := templatesOf(ctx, s)
		if err != nil {
			return err
		}
		if names, err = orchestration.Names(s.app.Host, ts.roots); err != nil {
			return err
		}
		for _, n := range names {
			e := ui.Entry{Name: n}
			if t, err := ts.find(n); err != nil {
				e.Fault = shown(s.secrets, err.Error())
			} else {
				e.Description = shown(s.secrets, t.Description)
			}
			out.Templates = append(out.Templates, e)
		}
		return nil
	})
	return out, err
}

// Steps compiles an orchestration; see [ui.Backend].
func (b *uiBackend) Steps(ctx context.Context, sls string) (low *value.List, text string, err error) {
	err = b.session(ctx, func(s *session) error {
		names, env, err := b.orchestrations(ctx, s)
		if err != nil {
			return err
		}
		if !slices.Contains(names, sls) {
			return fmt.Errorf("orchestration %s: %w", sls, ui.ErrNotFound)
		}
		low, text, err = shownSLS(ctx, s, env, sls)
		return err
	})
	return low, text, err
}

// compiled returns the low data of an SLS.
func compiled(ctx context.Context, env *fun.Env, sls string) (*value.List, error) {
	res, err := env.Invoker.Invoke(ctx, fun.Exec, "state.show_low_sls", fun.Args{Pos: []value.Value{sls}, Kw: value.NewMap(0)})
	if err != nil {
		return nil, err
	}
	l, ok := res.Value.(*value.List)
	if ok && res.Retcode == 0 && allMaps(l) {
		return l, nil
	}
	if ok {
		var faults []string
		for _, x := range l.Items {
			if text, is := x.(string); is {
				faults = append(faults, text)
			}
		}
		return nil, fmt.Errorf("%s cannot be compiled: %s", sls, strings.Join(faults, "\n"))
	}
	return nil, fmt.Errorf("%s cannot be compiled", sls)
}

// States lists the SLS files of the tree; see [ui.Backend].
func (b *uiBackend) States(ctx context.Context, f func(names []string, first func(string) string) error) error {
	return b.session(ctx, func(s *session) error {
		env := s.env(ctx, s.jids.Next(s.app.Host.Now()))
		names, err := fun.ListSLS(ctx, env.Up, env.SaltEnv)
		if err != nil {
			return err
		}
		return f(names, func(name string) string { return shown(s.secrets, firstOf(ctx, env, name)) })
	})
}

// State compiles an SLS; see [ui.Backend].
func (b *uiBackend) State(ctx context.Context, sls string) (low *value.List, text string, err error) {
	err = b.session(ctx, func(s *session) (err error) {
		low, text, err = shownSLS(ctx, s, s.env(ctx, s.jids.Next(s.app.Host.Now())), sls)
		return err
	})
	return low, text, err
}

// History opens the history; see [ui.Backend].
func (b *uiBackend) History(ctx context.Context, f func(*history.Store) error) error {
	return b.session(ctx, func(s *session) error {
		st, err := assembly.OpenHistory(ctx, s.env(ctx, ""), "", s.tell)
		if err != nil {
			return fmt.Errorf("the history cannot be read: %w", err)
		}
		return errors.Join(f(st), st.Close())
	})
}

// Planned lists the chains that are to run later; see [ui.Backend].
func (b *uiBackend) Planned(ctx context.Context) (out []ui.Planned, err error) {
	err = b.session(ctx, func(s *session) error {
		x := timersOf(s.app.Host)
		_, tree, err := x.place(chainStore(s))
		if err != nil {
			return err
		}
		all, err := x.list(ctx, tree)
		for _, x := range all {
			out = append(out, ui.Planned{ID: x.id, Chain: x.chain, At: x.at, User: x.user})
		}
		return err
	})
	return out, err
}

// Schedule has a chain run later, with the flags that runs of the pages have; see
// [ui.Backend].
func (b *uiBackend) Schedule(ctx context.Context, chain, at, user string) error {
	return b.session(ctx, func(s *session) error {
		when, err := parseWhen(at, s.app.Host.Now())
		if err != nil {
			return err
		}
		st := chainStore(s)
		if _, _, err := st.Read(chain); err != nil {
			return err
		}
		x := timersOf(s.app.Host)
		work, tree, err := x.place(st)
		if err != nil {
			return err
		}
		argv := append([]string{b.exe, "chain", "run", chain, "--yes"}, b.args...)
		b.scheduling.Lock()
		defer b.scheduling.Unlock()
		err = x.add(ctx, &timer{chain: chain, at: when, user: user, tree: tree, work: work, argv: argv})
		if errors.Is(err, errScheduled) { // the form was sent twice
			return nil
		}
		return err
	})
}

// Unschedule cancels a run of a chain; see [ui.Backend].
func (b *uiBackend) Unschedule(ctx context.Context, id string) error {
	return b.session(ctx, func(s *session) error {
		x := timersOf(s.app.Host)
		_, tree, err := x.place(chainStore(s))
		if err != nil {
			return err
		}
		return x.cancel(ctx, tree, id)
	})
}

// firstOf returns the beginning of the file of an SLS; "" if it cannot be read.
func firstOf(ctx context.Context, env *fun.Env, sls string) string {
	base := strings.ReplaceAll(sls, ".", "/")
	for _, p := range []string{base + ".sls", base + "/init.sls"} {
		f, err := env.Up.Open(ctx, env.SaltEnv, p)
		if err != nil {
			continue
		}
		defer f.Close()
		text, err := io.ReadAll(io.LimitReader(f, maxSLS))
		if err != nil {
			return ""
		}
		return string(text)
	}
	return ""
}

// Match finds targets; see [ui.Backend].
func (b *uiBackend) Match(ctx context.Context, expr string, sight ui.Sight) (ids []string, note string, err error) {
	e := orchestration.ParseExpr(expr)
	err = b.session(ctx, func(s *session) error {
		if sight == ui.KeptSight {
			ids, note, err = s.known(ctx, e)
			return err
		}
		if sight == ui.WholeSight {
			if err := fleet.WholePillar(e.Text, e.Type); err != nil {
				return err
			}
		}
		env, err := s.controller(ctx, s.jids.Next(s.app.Host.Now()))
		if err != nil {
			return err
		}
		ids, err = matchExpr(ctx, env, e)
		return err
	})
	return ids, note, err
}

// known finds those of the listed machines that an expression means, without anything
// being connected to: neither machines nor masters nor the bus of events.
func (s *session) known(ctx context.Context, e orchestration.Expr) (ids []string, note string, err error) {
	o := s.envOptions(s.jids.Next(s.app.Host.Now()))
	f, err := assembly.NewFleet(ctx, assembly.NewEnv(ctx, o), o, s.newJID)
	if err != nil {
		return nil, "", err
	}
	f.Warn = s.warn
	s.close = append(s.close, func() { _ = f.Close() })
	ids, maybe, elsewhere, err := f.Known(ctx, targetOf(e), e.Type)
	return ids, fleet.KnownSays(maybe, elsewhere), err
}

// Chains returns the directory of chains; see [ui.Backend].
func (b *uiBackend) Chains(ctx context.Context) (st *chain.Store, err error) {
	err = b.session(ctx, func(s *session) error {
		st = chainStore(s)
		st.Files = b.app.Host
		return nil
	})
	return st, err
}

// Template reads a template; see [ui.Backend].
func (b *uiBackend) Template(ctx context.Context, name string) (t *orchestration.Template, a *orchestration.Answers, err error) {
	err = b.session(ctx, func(s *session) error {
		ts, err := templatesOf(ctx, s)
		if err != nil {
			return err
		}
		if !orchestration.ValidName(name) {
			return fmt.Errorf("template %s: %w", name, ui.ErrNotFound)
		}
		if t, err = ts.find(name); err != nil {
			if _, missing := errors.AsType[*orchestration.NotFoundError](err); missing {
				return fmt.Errorf("template %s: %w", name, ui.ErrNotFound)
			}
			return err
		}
		if a, err = ts.store.Load(t, orchestration.Last); err != nil {
			a = nil // there are none, or the template has changed since
			return nil
		}
		a = a.Without(secretPaths(s, a.Values))
		return nil
	})
	return t, a, err
}

// Jobs opens the job cache; see [ui.Backend].
func (b *uiBackend) Jobs(ctx context.Context, f func(*jobs.Files) error) error {
	return b.session(ctx, func(s *session) error { return f(s.files) })
}

// Drain has a run start nothing new; see [ui.Backend].
func (b *uiBackend) Drain(ctx context.Context, jid string) error {
	return b.session(ctx, func(s *session) error { return jobs.NewPauses(s.cfg.CacheDir).Kill(jid, jobs.AllStates) })
}

// Record writes an action into the job cache, as the job of a runner function
// ui.NAME; see [ui.Backend].
func (b *uiBackend) Record(ctx context.Context, x ui.Action) error {
	return b.session(ctx, func(s *session) error {
		jid := s.newJID()
		id := s.env(ctx, jid).ID
		name := "runner.ui." + x.Name
		args := []string{x.On}
		if x.Details != "" {
			args = append(args, s.shownDetails(ctx, x))
		}
		rec, err := s.Begin(jobs.Load{
			JID: jid, Fun: name, Arg: value.Strings(args...), Tgt: id, TgtType: "list", User: x.User, Minions: []string{id}, Runner: true, PID: os.Getpid(),
		})
		if err != nil {
			return err
		}
		said, code := "allowed", 0
		if !x.OK {
			said, code = "refused", app.ExitGeneric
		}
		body := value.MapOf("fun", name, "fun_args", value.Strings(args...), "jid", jid, "return", said, "success", x.OK, "user", x.User)
		return errors.Join(rec.Return(fun.Return{ID: id, JID: jid, Retcode: code, Body: fun.ValueBody{V: body}}), rec.End())
	})
}

// Run runs brine; see [ui.Backend].
func (b *uiBackend) Run(ctx context.Context, c ui.Command) (int, error) {
	argv := append([]string{b.exe}, c.Args...)
	if c.Answers != nil {
		file, err := b.answers(c.Answers)
		if err != nil {
			return app.ExitGeneric, err
		}
		defer func() { _ = b.app.Host.RemoveAll(filepath.Dir(file)) }()
		argv = append(argv, "--answers="+file)
	}
	lines := &app.LineWriter{Each: c.OnLine}
	// A run that is ended has no time to wait for its steps.
	env := append(os.Environ(), app.OnBehalf+"="+c.User, "BRINE_TERM_GRACE=0s", "NO_COLOR=1")
	out, err := b.app.Host.Run(ctx, host.Cmd{Argv: append(argv, b.args...), Env: env, Stdout: lines, Stderr: lines})
	lines.Flush()
	if errors.Is(err, context.Canceled) {
		return app.ExitInterrupted, nil
	}
	return out.Status, err
}

// answers writes the answers of a template for the user alone.
func (b *uiBackend) answers(m *value.Map) (string, error) {
	dir, err := b.app.Host.MkdirTemp(b.tmp, "answers-")
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "answers.json")
	mode := fs.FileMode(0o600)
	return file, b.app.Host.WriteFile(file, bytes.NewReader(value.EncodeJSON(m)), host.WriteOptions{Mode: &mode})
}
