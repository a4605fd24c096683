package ui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/cmd/internal/plantext"
	"brine/cmd/library"
	"brine/cmd/session"
	"brine/internal/core/config"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/redact"
	"brine/internal/fleet"
	"brine/internal/fleet/approval"
	"brine/internal/fleet/drift"
	"brine/internal/fleet/facts"
	"brine/internal/fleet/history"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/kept"
	"brine/internal/py/value"
	"brine/internal/view/chain"
	"brine/internal/view/form"
	"brine/internal/view/orchestration"
	"brine/internal/view/plan"
	"brine/internal/view/ui"
)

// maxSLS bounds what is read of an SLS for its description.
const maxSLS = 64 << 10

// backend is what the pages can do. Each call reads the configuration again, by
// a session of its own; runs are processes of their own.
type backend struct {
	app   *app.App
	run   app.RunFlags
	fleet app.FleetFlags
	args  []string // the flags that runs get, too
	exe   string
	owner string
	// scheduling has chains scheduled one after the other.
	scheduling sync.Mutex
}

func newBackend(a *app.App, c *cobra.Command, o *options) (*backend, error) {
	b := &backend{app: a, run: o.RunFlags, fleet: o.FleetFlags, args: app.GivenFlags(c, append(slices.Clone(o.ownFlags), o.hides...))}
	if b.run.LogLevel == "" {
		b.run.LogLevel = "warning"
	}
	var err error
	if b.exe, err = host.Executable(); err != nil {
		return nil, err
	}
	err = b.session(context.Background(), func(s *session.Session) error { // a wrong configuration is reported at once
		b.owner = s.UserName()
		return nil
	})
	return b, err
}

// session calls a function with a session. What the session prints, such as the
// places of faults, becomes a part of the error.
func (b *backend) session(ctx context.Context, do func(*session.Session) error) error {
	out := &lockedBuffer{}
	a := &app.App{Out: out, Err: out, Args: []string{"ui"}, Program: b.app.Program, Getenv: b.app.Getenv, Host: b.app.Host, Intr: &app.Interrupt{}}
	run, fleet := b.run, b.fleet
	s, err := session.New(a, config.Master, "salt-run", &run, fleet.Override())
	if err != nil {
		return redacted(redact.NewSet(), err) // it may quote the configuration
	}
	defer s.End()
	if s.SSH, err = session.SSHOptions(a, &fleet); err != nil {
		return redacted(s.Secrets, err)
	}
	if err = s.OpenGit(ctx); err == nil {
		err = do(s)
	}
	if text := strings.TrimSpace(out.String()); err != nil && text != "" {
		err = fmt.Errorf("%w\n%s", err, text)
	}
	return redacted(s.Secrets, err)
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

// globs are the SLS that the pages show as orchestrations, by the option
// ui_orchestrations.
func globs(s *session.Session) []string {
	switch v := s.Cfg.Opts.At("ui_orchestrations").(type) {
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
func (b *backend) orchestrations(ctx context.Context, s *session.Session) ([]string, *fun.Env, error) {
	env := s.Env(ctx, s.JIDs.Next(s.App.Host.Now()))
	all, err := fun.ListSLS(ctx, env.Up, env.SaltEnv)
	if err != nil {
		return nil, nil, err
	}
	globs := globs(s)
	return slices.DeleteFunc(all, func(name string) bool {
		return !slices.ContainsFunc(globs, func(g string) bool { ok, _ := path.Match(g, name); return ok })
	}), env, nil
}

// Catalogue lists what can be run; see [ui.Backend].
func (b *backend) Catalogue(ctx context.Context) (*ui.Catalogue, error) {
	out := &ui.Catalogue{}
	err := b.session(ctx, func(s *session.Session) (err error) {
		if out.Orchestrations, _, err = b.orchestrations(ctx, s); err != nil {
			return err
		}
		st := library.Chains(s)
		names, err := st.Names()
		if err != nil {
			return err
		}
		for _, n := range names {
			e := ui.Entry{Name: n}
			if c, _, err := st.Read(n); err != nil {
				e.Fault = shown(s.Secrets, err.Error())
			} else {
				e.Description = shown(s.Secrets, fmt.Sprintf("%d step%s. %s", len(c.Steps), value.Plural(len(c.Steps)), c.Description))
			}
			out.Chains = append(out.Chains, e)
		}
		ts, err := library.TemplatesOf(ctx, s)
		if err != nil {
			return err
		}
		if names, err = orchestration.Names(s.App.Host, ts.Roots); err != nil {
			return err
		}
		for _, n := range names {
			e := ui.Entry{Name: n}
			if t, err := ts.Find(n); err != nil {
				e.Fault = shown(s.Secrets, err.Error())
			} else {
				e.Description = shown(s.Secrets, t.Description)
			}
			out.Templates = append(out.Templates, e)
		}
		return nil
	})
	return out, err
}

// Steps compiles an orchestration; see [ui.Backend].
func (b *backend) Steps(ctx context.Context, sls string) (low *value.List, text string, err error) {
	err = b.session(ctx, func(s *session.Session) error {
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

// States lists the SLS files of the tree; see [ui.Backend].
func (b *backend) States(ctx context.Context, f func(names []string, first func(string) string) error) error {
	return b.session(ctx, func(s *session.Session) error {
		env := s.Env(ctx, s.JIDs.Next(s.App.Host.Now()))
		names, err := fun.ListSLS(ctx, env.Up, env.SaltEnv)
		if err != nil {
			return err
		}
		return f(names, func(name string) string { return shown(s.Secrets, firstOf(ctx, env, name)) })
	})
}

// State compiles an SLS; see [ui.Backend].
func (b *backend) State(ctx context.Context, sls string) (low *value.List, text string, err error) {
	err = b.session(ctx, func(s *session.Session) (err error) {
		low, text, err = shownSLS(ctx, s, s.Env(ctx, s.JIDs.Next(s.App.Host.Now())), sls)
		return err
	})
	return low, text, err
}

// History opens the history; see [ui.Backend].
func (b *backend) History(ctx context.Context, f func(*history.Store) error) error {
	return b.session(ctx, func(s *session.Session) error {
		st, err := assembly.OpenHistory(ctx, s.Env(ctx, ""), "", s.Tell)
		if err != nil {
			return fmt.Errorf("the history cannot be read: %w", err)
		}
		return errors.Join(f(st), st.Close())
	})
}

// Drift returns the drift records; see [ui.Backend].
func (b *backend) Drift(ctx context.Context) (subjects []*drift.Subject, faults []error, err error) {
	err = b.session(ctx, func(s *session.Session) (err error) {
		subjects, faults, err = drift.New(s.App.Host, s.Cfg.CacheDir).All()
		return err
	})
	return subjects, faults, err
}

// Planned lists the chains that are to run later; see [ui.Backend].
func (b *backend) Planned(ctx context.Context) (out []ui.Planned, err error) {
	err = b.session(ctx, func(s *session.Session) error {
		x := library.TimersOf(s.App.Host)
		_, tree, err := x.Place(library.Chains(s))
		if err != nil {
			return err
		}
		all, err := x.List(ctx, tree)
		for _, x := range all {
			out = append(out, ui.Planned{ID: x.ID, Chain: x.Chain, At: x.At, User: x.User})
		}
		return err
	})
	return out, err
}

// Schedule has a chain run later, with the flags that runs of the pages have; see
// [ui.Backend].
func (b *backend) Schedule(ctx context.Context, chain, at, user string, hosts []string) error {
	return b.session(ctx, func(s *session.Session) error {
		when, err := library.ParseWhen(at, s.App.Host.Now())
		if err != nil {
			return err
		}
		st := library.Chains(s)
		if _, _, err := st.Read(chain); err != nil {
			return err
		}
		x := library.TimersOf(s.App.Host)
		work, tree, err := x.Place(st)
		if err != nil {
			return err
		}
		argv := append([]string{b.exe, "chain", "run", chain, "--yes"}, b.args...)
		b.scheduling.Lock()
		defer b.scheduling.Unlock()
		err = x.Add(ctx, &library.Timer{Chain: chain, At: when, User: user, Hosts: hosts, Tree: tree, Work: work, Argv: argv})
		if errors.Is(err, library.ErrScheduled) { // the form was sent twice
			return nil
		}
		return err
	})
}

// Unschedule cancels a run of a chain; see [ui.Backend].
func (b *backend) Unschedule(ctx context.Context, id string) error {
	return b.session(ctx, func(s *session.Session) error {
		x := library.TimersOf(s.App.Host)
		_, tree, err := x.Place(library.Chains(s))
		if err != nil {
			return err
		}
		return x.Cancel(ctx, tree, id)
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
func (b *backend) Match(ctx context.Context, expr string, sight ui.MatchLevel) (ids []string, note string, err error) {
	e := orchestration.ParseExpr(expr)
	err = b.session(ctx, func(s *session.Session) error {
		if sight == ui.MatchKnown {
			ids, note, err = known(ctx, s, e, nil)
			return err
		}
		if sight == ui.MatchFacts {
			seen := &seenFacts{store: facts.New(s.App.Host, s.Cfg.CacheDir)}
			ids, note, err = known(ctx, s, e, seen.grains)
			note = strings.TrimSpace(seen.text(s.App.Host.Now()) + " " + note)
			return err
		}
		if sight == ui.MatchExact {
			if err := fleet.CheckExactPillar(e.Text, e.Type); err != nil {
				return err
			}
		}
		env, err := s.Controller(ctx, s.JIDs.Next(s.App.Host.Now()))
		if err != nil {
			return err
		}
		var unasked []string // hosts that do not say whether they are meant
		if f, ok := env.Fleet.(*fleet.Fleet); ok {
			warn := f.Warn
			f.Warn = func(w fun.Warning) {
				unasked = append(unasked, shown(s.Secrets, w.Text)+".")
				if warn != nil {
					warn(w)
				}
			}
		}
		ids, err = library.MatchExpr(ctx, env, e)
		if n := len(unasked) - maxUnasked; n > 0 {
			unasked = append(unasked[:maxUnasked], fmt.Sprintf("So it is for %d more.", n))
		}
		note = strings.Join(unasked, " ")
		return err
	})
	return ids, note, err
}

// maxUnasked is how many hosts are named that could not be asked whether they are meant.
const maxUnasked = 5

// known finds those of the listed machines that an expression means, without anything
// being connected to: neither machines nor masters nor the bus of events. facts are kept
// grains that count as well; nil: none.
func known(ctx context.Context, s *session.Session, e orchestration.Expr, facts func(id string) *value.Map) (ids []string, note string, err error) {
	o := s.EnvOptions(s.JIDs.Next(s.App.Host.Now()))
	f, err := assembly.NewFleet(ctx, assembly.NewEnv(ctx, o), o, s.NewJID)
	if err != nil {
		return nil, "", err
	}
	f.Warn = s.Warn
	s.OnEnd(func() { _ = f.Close() })
	ids, maybe, elsewhere, err := f.KnownBy(ctx, library.TargetOf(e), e.Type, facts)
	return ids, fleet.KnownText(maybe, elsewhere), err
}

// Chains returns the directory of chains; see [ui.Backend].
func (b *backend) Chains(ctx context.Context) (st *chain.Store, err error) {
	err = b.session(ctx, func(s *session.Session) error {
		st = library.Chains(s)
		st.Files = b.app.Host
		return nil
	})
	return st, err
}

// CheckChain checks a chain; see [ui.Backend].
func (b *backend) CheckChain(ctx context.Context, name string) (faults, unsure []string, err error) {
	err = b.session(ctx, func(s *session.Session) error {
		c, _, err := library.ReadChain(library.Chains(s), name)
		if err != nil {
			return err
		}
		env, err := s.Controller(ctx, s.JIDs.Next(s.App.Host.Now()))
		if err != nil {
			return err
		}
		faults, unsure = library.CheckAll(ctx, env, c)
		return hideFindings(ctx, s, faults, unsure)
	})
	return faults, unsure, err
}

// hideFindings takes the secrets of the pillar out of what a check has found.
func hideFindings(ctx context.Context, s *session.Session, findings ...[]string) error {
	if s.Secrets == nil {
		return nil
	}
	if err := knowPillar(ctx, s, s.Secrets); err != nil {
		return err
	}
	for _, texts := range findings {
		for i, text := range texts {
			texts[i] = shown(s.Secrets, text)
		}
	}
	return nil
}

// CheckOrchestration checks an orchestration; see [ui.Backend].
func (b *backend) CheckOrchestration(ctx context.Context, sls string) (faults, unsure []string, err error) {
	err = b.session(ctx, func(s *session.Session) error {
		names, _, err := b.orchestrations(ctx, s)
		if err != nil {
			return err
		}
		if !slices.Contains(names, sls) {
			return fmt.Errorf("orchestration %s: %w", sls, ui.ErrNotFound)
		}
		env, err := s.Controller(ctx, s.JIDs.Next(s.App.Host.Now()))
		if err != nil {
			return err
		}
		faults, unsure = library.CheckOrchestration(ctx, env, sls)
		return hideFindings(ctx, s, faults, unsure)
	})
	return faults, unsure, err
}

// CheckTemplate checks a template; see [ui.Backend].
func (b *backend) CheckTemplate(ctx context.Context, name string) (faults, unsure []string, err error) {
	err = b.session(ctx, func(s *session.Session) error {
		ts, t, err := findTemplate(ctx, s, name)
		if err != nil {
			return err
		}
		wrong, warnings := library.CheckTemplate(ctx, ts, t)
		for _, f := range wrong {
			faults = append(faults, f.Trace())
		}
		unsure = append(warnings, "the values and targets of a run: sample values were used")
		return hideFindings(ctx, s, faults, unsure)
	})
	return faults, unsure, err
}

// findTemplate returns a template, and those of the tree.
func findTemplate(ctx context.Context, s *session.Session, name string) (*library.Templates, *orchestration.Template, error) {
	ts, err := library.TemplatesOf(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	if !orchestration.ValidName(name) {
		return nil, nil, fmt.Errorf("template %s: %w", name, ui.ErrNotFound)
	}
	t, err := ts.Find(name)
	if _, missing := errors.AsType[*orchestration.NotFoundError](err); missing {
		err = fmt.Errorf("template %s: %w", name, ui.ErrNotFound)
	}
	return ts, t, err
}

// Template reads a template; see [ui.Backend].
func (b *backend) Template(ctx context.Context, name string) (t *orchestration.Template, a *orchestration.Answers, err error) {
	err = b.session(ctx, func(s *session.Session) error {
		ts, found, err := findTemplate(ctx, s, name)
		if err != nil {
			return err
		}
		t = found
		if a, err = ts.Store.Load(t, orchestration.Last); err != nil {
			a = nil // there are none, or the template has changed since
			return nil
		}
		a = a.Without(secretPaths(s, a.Values))
		return nil
	})
	return t, a, err
}

// Form reads the form of a formula; see [ui.Backend].
func (b *backend) Form(ctx context.Context, sls string) (f *form.Form, err error) {
	err = b.session(ctx, func(s *session.Session) (err error) {
		f, err = library.FormOf(ctx, s.Env(ctx, s.JIDs.Next(s.App.Host.Now())), sls)
		return err
	})
	return f, err
}

// Jobs opens the job cache; see [ui.Backend].
func (b *backend) Jobs(ctx context.Context, f func(*jobs.Files) error) error {
	return b.session(ctx, func(s *session.Session) error { return f(s.Files) })
}

// Drain has a run start nothing new; see [ui.Backend].
func (b *backend) Drain(ctx context.Context, jid string) error {
	return b.session(ctx, func(s *session.Session) error { return jobs.NewPauses(s.Cfg.CacheDir).Kill(jid, jobs.AllStates) })
}

// Record writes an action into the job cache, as the job of a runner function
// ui.NAME; see [ui.Backend].
func (b *backend) Record(ctx context.Context, x ui.Action) error {
	return b.session(ctx, func(s *session.Session) error {
		jid := s.NewJID()
		id := s.Env(ctx, jid).ID
		name := "runner.ui." + x.Name
		args := []string{x.On}
		if x.Details != "" {
			args = append(args, shownDetails(ctx, s, x))
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

// Approvals returns the questions of runs; see [ui.Backend].
func (b *backend) Approvals(ctx context.Context) (all []*approval.Entry, err error) {
	err = b.session(ctx, func(s *session.Session) error {
		all, err = library.Approvals(ctx, s)
		return err
	})
	return all, err
}

// Approve answers a question; see [ui.Backend].
func (b *backend) Approve(ctx context.Context, id, definition string, a approval.Answer) (e *approval.Entry, err error) {
	err = b.session(ctx, func(s *session.Session) error {
		e, err = library.Decide(ctx, s, id, definition, a)
		return err
	})
	return e, err
}

// Runs returns the runs that are kept; see [ui.Backend].
func (b *backend) Runs(ctx context.Context) (st *kept.Store, err error) {
	err = b.session(ctx, func(s *session.Session) error {
		st = kept.New(s.Cfg.CacheDir, b.app.Host.Now)
		return nil
	})
	return st, err
}

// End ends what a run does; see [ui.Backend]. What somebody typed waits for its running
// steps after the first signal.
func (b *backend) End(ctx context.Context, r *kept.Run) error {
	if err := r.Signal(syscall.SIGTERM); err != nil || len(r.Spec.Args) > 0 {
		return err
	}
	if err := b.app.Host.Sleep(ctx, again); err != nil {
		return err
	}
	return r.Signal(syscall.SIGTERM)
}

// again is how long a process may take to hear one signal before it gets the next.
const again = 200 * time.Millisecond

// PlanText is a plan as text; see [ui.Backend].
func (b *backend) PlanText(made []byte, format string) (string, error) {
	p, err := plan.Parse(made)
	if err != nil {
		return "", fmt.Errorf("the plan: %w", err)
	}
	switch format {
	case "diff":
		return p.Diffs(), nil
	case "markdown":
		return plantext.Markdown(p), nil
	}
	return plantext.Text(p, false), nil
}

// Start starts a run; see [ui.Backend].
func (b *backend) Start(ctx context.Context, spec kept.Spec, answers *value.Map) (*kept.Run, error) {
	st, err := b.Runs(ctx)
	if err != nil {
		return nil, err
	}
	var secret []byte
	if answers != nil {
		secret = value.EncodeJSON(answers)
	}
	if spec.Plan != "" {
		made, err := st.Open(spec.Plan)
		if err != nil {
			return nil, err
		}
		spec.Args = slices.Concat([]string{"apply", made.PlanFile()}, spec.Args)
	}
	r, lock, err := st.Create(spec, secret, func(r *kept.Run) []string {
		args := slices.Clone(spec.Args)
		if answers != nil {
			args = append(args, "--answers="+r.Answers())
		}
		if kept.PlanOf(spec.Kind) != "" {
			args = append(args, "--save="+r.PlanFile())
		}
		if spec.Plan != "" { // it has its flags
			return args
		}
		return append(args, b.args...)
	})
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	log, err := r.Log()
	if err != nil {
		r.Remove()
		return nil, err
	}
	defer log.Close()
	// A run that is ended has no time to wait for its steps.
	env := append(slices.Concat(os.Environ(), library.Behalf(spec.User, spec.Within)), "BRINE_TERM_GRACE=0s", "NO_COLOR=1")
	if _, err = b.app.Host.Start(host.Cmd{Argv: []string{b.exe, kept.Command, r.Dir()}, Env: env, Stdin: lock, Stdout: log, Stderr: log}); err != nil {
		r.Remove()
		return nil, err
	}
	return r, nil
}
