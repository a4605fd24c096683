package template

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/cmd/complete"
	"brine/cmd/library"
	"brine/cmd/runner"
	"brine/cmd/session"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/printable"
	"brine/internal/fleet"
	"brine/internal/fleet/approval"
	"brine/internal/fleet/history"
	"brine/internal/fleet/queue"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/view/form"
	"brine/internal/view/orchestration"
)

type runOptions struct {
	runner.Options
	targets, sets, envs []string
	answers, saveAs     string
	yes, test           bool
	planned             bool // it is a plan, for which no answers are kept
}

func newRun(a *app.App, runF func(context.Context, *runOptions, []string) error) *cobra.Command {
	o := &runOptions{}
	c := &cobra.Command{
		Use:   "run <template>",
		Short: "Execute an orchestration template",
		Long: `Execute an orchestration template. On a terminal, brine asks for the missing
targets and values, shows what will run, and asks once. Without a terminal, missing
answers are an error that lists them.

A target is a glob, a list of ids separated by commas, or an expression with the
letter of its type, as in compound targets: G@os:Debian, N@web, C@web* and
G@os:Debian.

The answers are stored, without passwords: 'brine template answers' shows them, and
--answers last and --resume use them again.

Exit status: 0 all steps succeeded; 1 a step failed, an SLS or an answer is
invalid; 64 usage error; 130 interrupted.`,
		Example: `  brine template run update_salt --target 'target1=web*'
  brine template run update_salt --answers last --yes
  brine template run deploy --target web=web1,web2 --set release=1.4 --test`,
		SilenceUsage: true, SilenceErrors: true,
		ValidArgsFunction: completeNames(a),
		RunE: func(c *cobra.Command, args []string) error {
			least := 1
			if o.Queued {
				least = 0
			}
			if err := app.Arguments(c, args, least, 1, "give the name of one template"); err != nil {
				return err
			}
			if runF != nil {
				return runF(c.Context(), o, args)
			}
			if o.Queued {
				return queued(c.Context(), a, c, o)
			}
			return run(c.Context(), a, c, o, args[0])
		},
	}
	c.SetFlagErrorFunc(app.FlagError)
	f := c.Flags()
	o.RegisterRun(f)
	o.RegisterTargets(f)
	o.Group.Register(f)
	o.RegisterAs(f, "t", "")
	complete.Flags(c)
	app.RepeatedVar(f, &o.targets, "target", "", "targets: <name>=<target expression>; may be repeated")
	app.RepeatedVar(f, &o.sets, "set", "", "a value: <field>=<value>, the keys of a field within groups joined by colons; the value may be an sdb:// URI; may be repeated")
	app.RepeatedVar(f, &o.envs, "set-env", "", "a value from an environment variable: <field>=<variable>, for passwords; may be repeated")
	f.StringVar(&o.answers, "answers", "", "answers to begin with: a JSON or YAML file, which sops or gpg may have encrypted, or a label of kept ones")
	f.StringVar(&o.saveAs, "save-as", "", "also keep the answers with this label")
	f.StringVar(&o.Resume, "resume", "", "go on with this execution, a jid, at the first step that did not succeed")
	complete.Resume(a, c)
	f.BoolVar(&o.Queued, "queued", false, "run what a worker hands over on stdin") // see queued
	_ = f.MarkHidden("queued")
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask before the execution")
	f.BoolVar(&o.test, "test", false, "change nothing, show what would change")
	return c
}

// run collects the answers for a template and runs its orchestration.
func run(ctx context.Context, a *app.App, c *cobra.Command, o *runOptions, name string) error {
	if o.saveAs != "" {
		if err := orchestration.CheckLabel(o.saveAs); err != nil {
			return app.Usagef(c, "--save-as: %s", err)
		}
	}
	if err := a.Saltfile(c, "salt-run", &o.RunFlags); err != nil {
		return err
	}
	r := &templateRun{app: a, opts: o, name: name}
	return runner.Run(ctx, a, c, &o.Options, session.OrchestrateName, func(s *session.Session) error { return r.prepare(ctx, s) }, func(s *session.Session, env *fun.Env) (fun.Args, error) {
		in, err := r.arguments(ctx, c, s, env)
		if err == nil && o.Resume != "" {
			in, err = s.Resumed(ctx, env, o.Resume, in)
		}
		return in, err
	})
}

// queued runs the template of a queue for a worker, with kept answers.
func queued(ctx context.Context, a *app.App, c *cobra.Command, o *runOptions) error {
	o.yes = true
	r := &templateRun{app: a, opts: o}
	return runner.Queued(ctx, a, c, &o.Options, runner.Queue{
		Function: session.OrchestrateName,
		Set:      func(q *runner.QueuedRun) { r.name, o.answers = queue.CutTemplate(q.Work.Template) },
		Prepare:  func(s *session.Session) error { return r.prepare(ctx, s) },
		Choose: func(q *runner.QueuedRun, s *session.Session, env *fun.Env) (fun.Args, error) {
			in, err := r.arguments(ctx, c, s, env)
			if err == nil {
				err = s.Furthest(ctx, q.Earlier)
			}
			return in, err
		},
	})
}

// prepare reads the template.
func (r *templateRun) prepare(ctx context.Context, s *session.Session) (err error) {
	if r.Templates, err = library.TemplatesOf(ctx, s); err != nil {
		return err
	}
	if r.t, err = r.Find(r.name); err != nil {
		return err
	}
	s.Cfg.Opts.Set(assembly.TemplateRoots, value.Strings(r.t.Dir, r.t.States))
	s.Cfg.Opts.Set("orchestrate_no_targets", true)
	s.Again = "brine template run " + r.name
	s.Subject = templateSubject(r.t)
	return nil
}

// arguments are those of the orchestration, by the answers.
func (r *templateRun) arguments(ctx context.Context, c *cobra.Command, s *session.Session, env *fun.Env) (fun.Args, error) {
	r.env = env
	pillar, sums, err := r.collect(ctx, c)
	if err != nil {
		return fun.Args{}, err
	}
	if s.Approvals, err = approvalsOf(r.app.Host, r.t, sums); err != nil {
		return fun.Args{}, err
	}
	if r.opts.Queued { // somebody may change the kept answers while the run waits
		sum := sha256.Sum256([]byte(s.Approvals.Definition + string(value.EncodeJSON(pillar))))
		s.Approvals.Definition = hex.EncodeToString(sum[:])
	}
	kw := value.MapOf("pillar", pillar)
	if r.opts.test {
		kw.Set("test", true)
	}
	return fun.Args{Pos: []value.Value{r.t.Name}, Kw: kw}, nil
}

// approvalsOf are the points of a template at which a second person is asked. sums says
// how many hosts each target has.
func approvalsOf(files host.Files, t *orchestration.Template, sums []string) (*session.Approvals, error) {
	out := &session.Approvals{Kind: history.Template, Name: t.Name}
	if t.Approve != nil {
		out.Points = append(out.Points, session.ApprovalPoint{Key: approval.Start, Rule: t.Approve})
	}
	for i, x := range t.Steps {
		out.What = append(out.What, fmt.Sprintf("%d. %s", i+1, x.Description))
		if x.Approve != nil {
			out.Points = append(out.Points, session.ApprovalPoint{
				Key: fmt.Sprintf("step%d", i+1), Rule: x.Approve, Step: fmt.Sprintf("step %d: %s", i+1, cmp.Or(x.Description, x.Name)), IDs: x.IDs,
				Covers: func(id string) bool { return slices.Contains(x.IDs, id) },
			})
		}
	}
	out.What = append(out.What, sums...)
	var err error
	out.Definition, err = t.Hash(files)
	return out, err
}

// A templateRun is one execution of a template until it runs.
type templateRun struct {
	name string
	app  *app.App
	opts *runOptions
	*library.Templates
	t       *orchestration.Template
	env     *fun.Env
	answers *orchestration.Answers
	unkept  []orchestration.Path // values that are not kept: they were secret where they come from
	in      *os.File             // nil: nobody can be asked
}

// collect returns the pillar of the orchestration: the values, and the ids of
// the targets. sums says how many each target has.
func (r *templateRun) collect(ctx context.Context, c *cobra.Command) (pillar *value.Map, sums []string, err error) {
	if err := r.given(ctx, c); err != nil {
		return nil, nil, err
	}
	r.in = r.app.TTY()
	if pillar, err = r.ask(ctx); err != nil {
		return nil, nil, err
	}
	targets, sums, err := r.match(ctx)
	if err != nil {
		return nil, nil, err
	}
	if err := r.confirm(ctx, sums); err != nil {
		return nil, nil, err
	}
	for _, label := range []string{orchestration.Last, r.opts.saveAs} {
		if label == "" || r.opts.planned {
			continue
		}
		if err := r.Store.Save(r.t, label, r.answers.Without(r.unkept)); err != nil {
			return nil, nil, fmt.Errorf("keep the answers: %w", err)
		}
	}
	pillar.Set("targets", targets)
	return pillar, sums, nil
}

// ask asks for what is missing, until all is there and right.
func (r *templateRun) ask(ctx context.Context) (*value.Map, error) {
	for {
		pillar, faults, missing := r.t.Check(r.answers)
		if len(faults) > 0 {
			return nil, answerError(r.t.Name, r.unquoted(faults))
		}
		if len(missing) == 0 {
			if r.S.Secrets != nil {
				r.S.Secrets.Add(r.t.Form.Passwords(pillar)...)
			}
			return pillar, nil
		}
		if r.in == nil {
			return nil, r.missing(missing)
		}
		if err := r.askOne(ctx, missing[0]); err != nil {
			return nil, err
		}
	}
}

// unquoted returns faults without values that are not to be kept.
func (r *templateRun) unquoted(faults []error) []error {
	out := slices.Clone(faults)
	for i, err := range out {
		p, ok := errors.AsType[form.ValueError](err)
		sealed := func(at orchestration.Path) bool {
			return p.Path == at.String() || strings.HasPrefix(p.Path, at.String()+":")
		}
		if ok && p.Quotes && slices.ContainsFunc(r.unkept, sealed) {
			p.Text, p.Quotes = "must be "+p.Field.Wants(), false
			out[i] = p
		}
	}
	return out
}

// answerError says what is wrong with answers.
func answerError(name string, faults []error) error {
	var es source.Errors
	for _, e := range faults {
		es = append(es, &source.Error{Err: fmt.Errorf("template %s: %w", name, e)})
	}
	return es
}

// missing lists the answers that are missing.
func (r *templateRun) missing(missing []orchestration.Missing) error {
	name, f := r.t.Name, r.t.Form
	var lines []string
	for _, m := range missing {
		switch {
		case r.opts.planned && m.Target != nil:
			lines = append(lines, fmt.Sprintf("the target %s: %s", m.Path, m.Target.Description))
		case r.opts.planned:
			lines = append(lines, fmt.Sprintf("%s: %s, %s", m.Path, question(f, m), m.Field.Wants()))
		case m.Target != nil:
			lines = append(lines, fmt.Sprintf("--target %s=...: %s", m.Path, m.Target.Description))
		case m.Field.Type == form.Password:
			lines = append(lines, fmt.Sprintf("--set-env %s=...: %s", m.Path, question(f, m)))
		default:
			lines = append(lines, fmt.Sprintf("--set %s=...: %s, %s", m.Path, question(f, m), m.Field.Wants()))
		}
	}
	return &app.StatusError{
		Status: app.ExitUsage, Err: fmt.Errorf("template %s needs answers, and there is no terminal to ask on:\n  %s", name, printable.Text(strings.Join(lines, "\n  "))),
		Hint: "--answers FILE gives them all",
	}
}

// askOne asks for one answer and keeps it if it is right.
func (r *templateRun) askOne(ctx context.Context, m orchestration.Missing) error {
	if m.Target != nil {
		text, err := r.line(ctx, fmt.Sprintf("%s\n  targets %s (such as web* or web1,web2): ", m.Target.Description, m.Path))
		if err == nil && text != "" {
			r.answers.Targets[m.Path] = text
		}
		return err
	}
	prompt := question(r.t.Form, m)
	var text string
	var err error
	if m.Field.Type == form.Password {
		text, err = r.password(prompt + ": ")
	} else {
		text, err = r.line(ctx, prompt+", "+m.Field.Wants()+": ")
	}
	if err != nil || text == "" {
		return err
	}
	trial := orchestration.NewAnswers()
	trial.Targets = r.answers.Targets
	trial.Values, _ = value.Clone(r.answers.Values).(*value.Map)
	if err := r.t.Form.Set(trial.Values, m.Path, text); err != nil {
		fmt.Fprintf(r.app.Err, "  %s\n", printable.Line(err.Error()))
		return nil
	}
	if _, faults, _ := r.t.Check(trial); len(faults) > 0 {
		for _, e := range faults {
			fmt.Fprintf(r.app.Err, "  %s\n", printable.Line(e.Error()))
		}
		return nil
	}
	r.answers = trial
	return nil
}

// question asks for the value of a field, without what it has to be.
func question(f *form.Form, m orchestration.Missing) string {
	prompt := strings.Join(append(f.Within(m.Path), m.Field.Label), ", ")
	if m.Field.Help != "" {
		prompt += " (" + m.Field.Help + ")"
	}
	if m.Field.Placeholder != "" {
		prompt += ", such as " + m.Field.Placeholder
	}
	return prompt
}

// password asks without echo.
func (r *templateRun) password(prompt string) (string, error) {
	secret, err := r.app.AskStdin(prompt)
	return secret.Reveal(), err
}

// line asks for a line of text.
func (r *templateRun) line(ctx context.Context, prompt string) (string, error) {
	return r.app.AskLine(ctx, r.in, prompt)
}

// match finds the ids of the targets, and says how many each has.
func (r *templateRun) match(ctx context.Context) (*value.Map, []string, error) {
	var local []string
	if f, ok := r.env.Fleet.(*fleet.Fleet); ok {
		local = f.LocalIDs()
	}
	out := value.NewMap(2 * len(r.t.Targets))
	var sums []string
	for i := range r.t.Targets {
		t := &r.t.Targets[i]
		ids, err := r.matchOne(ctx, t)
		if err != nil {
			return nil, nil, err
		}
		sums = append(sums, fmt.Sprintf("%s: %s", t.Name, library.Within(r.env, ids)))
		if !t.AllowSSH {
			out.Set(t.Name, value.Strings(ids...))
			continue
		}
		// As the template has it: what it reaches over SSH has steps of its own.
		here, remote := []string{}, []string{}
		for _, id := range ids {
			if slices.Contains(local, id) {
				here = append(here, id)
			} else {
				remote = append(remote, id)
			}
		}
		out.Set(t.Name, value.Strings(here...))
		out.Set(t.Name+"_ssh", value.Strings(remote...))
	}
	return out, sums, nil
}

func (r *templateRun) matchOne(ctx context.Context, t *orchestration.Target) ([]string, error) {
	e, ok := t.Expr(r.answers)
	if !ok {
		return nil, nil
	}
	ids, err := library.MatchAll(ctx, r.env, e)
	switch {
	case err != nil:
		return nil, fmt.Errorf("target %s: %w", t.Name, err)
	case len(ids) == 0 && t.Required:
		return nil, fmt.Errorf("target %s: %w", t.Name, library.NothingMatches(ctx, r.env, e))
	case len(ids) > 1 && !t.Multiple:
		return nil, fmt.Errorf("target %s takes one target; %q matches %s", t.Name, e.Text, library.Counted(ids))
	}
	return ids, nil
}

// confirm shows what will run and asks, on a terminal, whether it may.
func (r *templateRun) confirm(ctx context.Context, sums []string) error {
	if r.in == nil || r.opts.yes {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", r.t.Name)
	for i, s := range r.t.Steps {
		fmt.Fprintf(&b, "  %d. %s\n", i+1, s.Description)
	}
	for _, s := range sums {
		fmt.Fprintf(&b, "  %s\n", s)
	}
	return r.app.Confirm(ctx, r.in, b.String(), r.opts.test)
}
