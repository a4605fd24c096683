package statefn

import (
	"context"
	"fmt"
	"strings"

	"brine/internal/core/cause"
	"brine/internal/core/fun"
	"brine/internal/core/undo"
	"brine/internal/fleet/pillar"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/runner/exec"
	"brine/runner/high"
	"brine/runner/low"
)

// Salt's retcodes (salt/defaults/exitcodes.py).
const (
	retCompile = 1 // the states do not compile
	retFailed  = 2 // a state failed
	retPillar  = 5 // the pillar has errors
)

// highstateOut is the outputter of functions that return states.
const highstateOut = "highstate"

// A session is one call of a function of the module, with an Env of its own.
type session struct {
	c       *fun.Call
	a       options
	env     *fun.Env
	saltenv string // as given or configured; "" is none
	test    bool
	out     string
	only    string // the ID that is run; "" is all
	direct  bool   // what state.disable forbids runs, too
	broken  bool   // the top file does not render
}

// open prepares a call: it checks the arguments that all functions have, and
// forks the Env with the test mode, the environments and the pillar of the
// call. out is the function's default outputter.
func open(ctx context.Context, c *fun.Call, a options, out string) (*session, error) {
	if v := a.Rest.At("localconfig"); value.Truth(v) {
		return nil, &fun.InvocationError{Msg: fmt.Sprintf("localconfig: a run has one configuration; give %s with -c", value.Str(v))}
	}
	s := &session{c: c, a: a, out: out}
	override, err := s.pillar(ctx)
	if err != nil {
		return nil, err
	}
	saltenv, err := s.environment()
	if err != nil {
		return nil, err
	}
	s.saltenv = value.Str(saltenv)
	if saltenv == nil {
		s.saltenv = ""
	}
	s.warnUnknown()

	opts := c.Env.Opts.Copy()
	opts.Set("saltenv", saltenv)
	test := testValue(c, &a)
	opts.Set("test", test)
	s.test = value.Truth(test)
	if a.StateEvents.Given {
		opts.Set("state_events", a.StateEvents.V)
	}
	before := opts.At("pillarenv")
	if p := a.PillarEnv; p != nil || value.Truth(opts.At("pillarenv_from_saltenv")) {
		if p == nil {
			p = a.Saltenv
		}
		opts.Set("pillarenv", p)
	}
	s.env = c.Env.Fork(func(e *fun.Env) {
		e.Opts = opts
		if s.saltenv != "" {
			e.SaltEnv = s.saltenv
		}
		if override != nil {
			e.PillarOverride = override
		}
	})
	if override == nil && value.Equal(before, opts.At("pillarenv")) {
		return s, nil
	}
	req := fun.PillarRequest{SaltEnv: s.saltenv, Override: s.env.PillarOverride, Grains: s.env.Grains, Base: c.Env.Pillar}
	if p, ok := opts.At("pillarenv").(string); ok {
		req.PillarEnv = p
	}
	p, err := s.env.Up.Pillar(ctx, req)
	if err != nil {
		return nil, err
	}
	s.env.Pillar = p
	return s, nil
}

// pillar returns the pillar= of the call, or nil.
func (s *session) pillar(ctx context.Context) (*value.Map, error) {
	v := s.a.Pillar
	if v == nil {
		return nil, nil
	}
	if s.a.PillarEnc.Given {
		return pillar.Given(ctx, s.c.Env, v, s.a.PillarEnc.V)
	}
	if slip := pillar.Mistake(v); slip != nil {
		s.c.Env.Fault(slip)
	}
	switch v := v.(type) {
	case *value.Map:
		return v, nil
	case value.Mapping:
		return value.Clone(v).(*value.Map), nil
	}
	return nil, &fun.InvocationError{Msg: "Pillar data must be formatted as a dictionary, unless pillar_enc is specified."}
}

// environment returns the saltenv of the call, else the configured one, which
// may be None.
func (s *session) environment() (value.Value, error) {
	opts := s.c.Env.Opts
	configured := opts.At("saltenv")
	if s.a.Saltenv == nil {
		return configured, nil
	}
	if value.Truth(opts.At("lock_saltenv")) && s.a.Saltenv != configured {
		return nil, fun.Errorf("lock_saltenv is enabled, saltenv cannot be changed")
	}
	return s.a.Saltenv, nil
}

// warnUnknown warns of keyword arguments that nothing reads.
func (s *session) warnUnknown() {
	if s.c.Spec.Name == "single" {
		return
	}
	for k := range s.a.Rest.All() {
		name, _ := k.(string)
		if strings.HasPrefix(name, "__") || name == "env" || name == "localconfig" || strings.EqualFold(name, "test") {
			continue
		}
		names := make([]string, len(s.c.Spec.Args))
		for i, a := range s.c.Spec.Args {
			names[i] = a.Name
		}
		s.c.Env.Warn(fun.Warning{Text: fmt.Sprintf("state.%s has no argument %q%s", s.c.Spec.Name, name, source.DidYouMean(name, names))})
	}
}

// testValue returns the test mode of a call: the argument, else test in the
// grains or pillar, else configuration's.
// Salt: _get_test_value.
func testValue(c *fun.Call, a *options) value.Value {
	if a.Test.Given {
		return a.Test.V
	}
	for k, v := range a.Rest.All() {
		if name, ok := k.(string); ok && strings.EqualFold(name, "test") && isTrue(v) {
			return true
		}
	}
	for _, m := range []value.Mapping{c.Env.Grains, c.Env.Pillar} {
		if m == nil {
			continue
		}
		if v, _ := m.Get("test"); v == true {
			return true
		}
	}
	return c.Env.Opts.At("test")
}

// isTrue is Salt's is_true: a positive number, or text that says so.
func isTrue(v value.Value) bool {
	switch v := v.(type) {
	case bool:
		return v
	case int64:
		return v > 0
	case float64:
		return v > 0
	case string:
		return strings.EqualFold(v, "true")
	}
	return false
}

// base is the environment of functions that name SLS files: base where none is
// given or configured.
func (s *session) base() string {
	if s.saltenv == "" {
		s.saltenv = "base"
		s.env.Opts.Set("saltenv", "base")
	}
	return s.saltenv
}

// pillarErrors returns the errors of the pillar, unless force says to go on.
func (s *session) pillarErrors() []value.Value {
	if s.a.Force || s.env.Pillar == nil {
		return nil
	}
	v, _ := s.env.Pillar.Get("_errors")
	switch v := v.(type) {
	case *value.List:
		return v.Items
	case string:
		if v != "" {
			return []value.Value{v}
		}
	}
	return nil
}

// refused is the result of a run whose pillar has errors.
func (s *session) refused(errs []value.Value) (fun.Result, error) {
	l := value.NewList("Pillar failed to render with the following messages:")
	l.Append(errs...)
	return fun.Result{Value: l, Retcode: retPillar, Out: s.out}, nil
}

// refusedShow is the error of a show function whose pillar has errors.
func refusedShow(errs []value.Value) error {
	var b strings.Builder
	b.WriteString("Pillar failed to render. Additional info follows:\n")
	for _, e := range errs {
		b.WriteString("\n- ")
		b.WriteString(value.Str(e))
	}
	return &fun.CommandError{Msg: b.String()}
}

// failed is the result of states that do not compile: Salt's texts, whose
// places go to stderr.
func (s *session) failed(faults source.Errors) (fun.Result, error) {
	s.show(faults)
	return fun.Result{Value: high.Texts(faults), Retcode: retCompile, Out: s.out}, nil
}

// show shows the places and hints of faults on stderr.
func (s *session) show(faults source.Errors) {
	for _, f := range faults {
		if !f.Pos.IsZero() || f.Hint != "" {
			s.env.Fault(f)
		}
	}
}

// compiler returns what renders the SLS files of the call.
func (s *session) compiler() *high.Compiler { return high.New(s.env, nil) }

// lower returns what makes low chunks.
func (s *session) lower() *low.Compiler {
	c := &low.Compiler{Warn: s.env.Warn, OrchJID: s.a.OrchestrationJID}
	for _, x := range split(s.env.Opts.At("disabled_requisites")) {
		c.Disabled = append(c.Disabled, value.Str(x))
	}
	return c
}

// run compiles high data to the end, runs it and returns the result.
func (s *session) run(ctx context.Context, h *high.High) (fun.Result, error) {
	chunks, err := s.lower().Compile(h)
	if err != nil {
		return s.failed(source.Faults(err))
	}
	return s.runChunks(ctx, h, chunks)
}

// runChunks runs chunks and returns their returns by tag. Where the run was
// cancelled, they come beside the error: what was done is known.
func (s *session) runChunks(ctx context.Context, h *high.High, chunks []*fun.Chunk) (fun.Result, error) {
	s.show(low.Unknown(s.env.Table, h, chunks))
	if faults := low.Invalid(s.env.Table, h, chunks); len(faults) > 0 {
		return s.failed(faults)
	}
	o := exec.Options{
		Only: s.only, Direct: s.direct, Test: s.test, Mock: s.a.Mock,
	}
	s.env.Targets = nil // those of a run around this one
	if j := s.env.Journal; j != nil {
		s.env.Journal = nil
		s.env.Targets, _ = j.(fun.TargetJournal)
		var err error
		if o.Prior, err = j.Begin(ctx, s.env, chunks); err != nil {
			return fun.Result{}, err
		}
		o.Done = j.Done
	}
	if value.Truth(s.env.Opts.At("undo")) && !s.test && !s.a.Mock {
		kept, err := undo.Begin(s.env)
		if err != nil {
			return fun.Result{}, fun.Errorf("nothing was run, since what it changes cannot be kept for undo: %v", err)
		}
		defer kept.End(s.env)
		o.Keep = kept
	}
	if w := s.env.Watch; w != nil {
		s.env.Watch = nil
		w.RunBegins(s.env.JID, chunks)
		defer w.RunEnds()
		record := o.Done
		o.Begin, o.Done = w.StateBegins, func(c *fun.Chunk, ret *value.Map) {
			if record != nil {
				record(c, ret)
			}
			w.StateEnds(c, ret)
		}
	}
	running, err := exec.Run(ctx, s.env, chunks, o)
	if running.Stopped && s.only == "" {
		s.env.Warn(fun.Warning{Text: s.cutShort(running, chunks)})
	}
	res := fun.Result{Value: running.Returns, Out: s.out}
	if err != nil || running.Returns.Len() == 0 || running.Stopped || !running.OK() {
		res.Retcode = retFailed
	}
	if s.terse() {
		res.Value = filterRunning(running.Returns)
	}
	return res, err
}

// cutShort says what became of the states of a run that was ended: how many
// never ran, ran, and failed.
func (s *session) cutShort(running *exec.Running, chunks []*fun.Chunk) string {
	var never, failed int
	for _, c := range chunks {
		switch ret := running.Returns.Map(c.Tag()); {
		case ret == nil || unmet(ret):
			never++
		case ret.At("result") == false:
			failed++
		}
	}
	why := s.env.WhyStopped(s.env.JID, running.StoppedAt)
	if at := running.StoppedAt; at != nil && why != "interrupted" {
		why += " before state " + at.ID
	}
	return fmt.Sprintf("%s: %d of %d states never ran; %d ran, %d of them failed", why, never, len(chunks), len(chunks)-never, failed)
}

// unmet reports whether a state did not run because one that it requires failed.
func unmet(ret *value.Map) bool {
	return cause.NotRun(ret)
}

func (s *session) terse() bool {
	return s.a.Terse || s.env.Opts.At("state_data") == "terse"
}

// filterRunning returns the returns that failed or changed something.
func filterRunning(returns *value.Map) *value.Map {
	out := value.NewMap(0)
	for tag, v := range returns.All() {
		if m, ok := v.(*value.Map); ok && (!value.Truth(m.At("result")) || value.Truth(m.At("changes"))) {
			out.Set(tag, m)
		}
	}
	return out
}

// split returns the items of a list, or those of a text with commas.
// Salt: salt.utils.args.split_input.
func split(v value.Value) []value.Value {
	switch v := v.(type) {
	case nil:
		return nil
	case *value.List:
		return v.Items
	case value.Tuple:
		return v
	case *value.Map:
		return []value.Value{v}
	}
	var out []value.Value
	for s := range strings.SplitSeq(value.Str(v), ",") {
		out = append(out, strings.TrimSpace(s))
	}
	return out
}

func splitText(v value.Value) []string {
	items := split(v)
	out := make([]string, len(items))
	for i, x := range items {
		out[i] = value.Str(x)
	}
	return out
}
