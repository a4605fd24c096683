// Package reactorrun is the runner module "reactor": which SLS files react to which events,
// and to run what they ask for.
package reactorrun

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/fleet/queue"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/runner/reactor"
)

// Checks look at reactions before they are called. faults are what can never be honoured.
type Checks struct {
	// Reactors looks at all files before an event comes; later is what depends on the event.
	Reactors func(ctx context.Context, env *fun.Env, m reactor.Map) (faults, later source.Errors)
	// Reactions looks at the reactions to an event; open is what this machine cannot know.
	Reactions func(ctx context.Context, env *fun.Env, all []*reactor.Reaction) (faults, open source.Errors)
}

// Module returns the runner module "reactor". open opens the queue of the workers.
func Module(open func(context.Context, *fun.Env) (*queue.Store, error), checks Checks) fun.Module {
	return fun.Module{Name: "reactor", Kind: fun.Runner, Doc: "Run what SLS files ask for as a reaction to an event.", Specs: []fun.Spec{
		{
			Name: "list", Lookup: true,
			Do: func(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) { return list(ctx, c, checks) },
			Doc: "Return the reactors of the configuration: globs of tags, with the SLS files that react to them.\n" +
				"It fails if a file does not exist or does not render, or a reaction can never be run, and says which.",
			Src: "runners/reactor.py list_",
		},
		{
			Name: "react",
			Do: func(ctx context.Context, c *fun.Call, a *reactArgs) (fun.Result, error) {
				return react(ctx, c, a, checks)
			},
			Doc: "Run what reacts to an event, and return what became of each reaction.\n" +
				"The event is not sent to anybody. With test=True nothing is run: the result is what would be called, with its arguments,\n" +
				"and it fails if that could not be called.",
		},
		{
			Name: "trace", Lookup: true,
			Do: func(ctx context.Context, c *fun.Call, a *traceArgs) (fun.Result, error) {
				return trace(ctx, c, a, open)
			},
			Doc: "Return which reactions led to an event that a worker reacted to, and which followed from it, the oldest first.",
		},
	}}
}

// read returns the reactors of the configuration.
func read(c *fun.Call) (reactor.Map, error) {
	return reactor.Read(c.Env.Host, c.Env.Opts, filepath.Dir(c.Env.Opts.Str("conf_file")), place(c))
}

// place returns where options are written.
func place(c *fun.Call) func(string) source.Pos {
	return func(string) source.Pos { return source.Pos{File: c.Env.Opts.Str("conf_file")} }
}

func list(ctx context.Context, c *fun.Call, checks Checks) (res fun.Result, err error) {
	m, err := read(c)
	if err != nil {
		return res, err
	}
	res.Value = m.Value()
	faults, later := checks.Reactors(ctx, c.Env, m)
	if _, err := reactor.ReadLimits(c.Env.Opts, place(c)); err != nil {
		faults = append(faults, source.Faults(err)...)
	}
	for _, f := range faults {
		c.Env.Fault(f)
		res.Retcode = 1
	}
	for _, f := range later {
		c.Env.Note("not checked before an event comes: %v", f)
	}
	return res, nil
}

type reactArgs struct {
	Tag  string        `arg:"tag,required" doc:"tag of the event"`
	Data value.Value   `arg:"data,dict" doc:"data of the event"`
	Test fun.Opt[bool] `arg:"test" doc:"only return what would be called; default: the option test"`
}

// react runs the reactions to an event, one after the other: one that fails does not keep
// the others from running.
func react(ctx context.Context, c *fun.Call, a *reactArgs, checks Checks) (fun.Result, error) {
	m, err := read(c)
	if err != nil {
		return fun.Result{}, err
	}
	data := value.NewMap(4)
	switch v := a.Data.(type) {
	case nil:
	case *value.Map:
		data = v.Copy()
	default:
		return fun.Result{}, fun.Errorf("the data of an event is a mapping, not %s", value.Kind(v))
	}
	if !data.Has("_stamp") {
		data.Set("_stamp", c.Env.Host.Now().UTC().Format(event.StampFormat))
	}
	if len(m.Match(a.Tag)) == 0 {
		c.Env.Fault(nobody(c, m, a.Tag))
		return fun.Result{Value: value.NewMap(0), Retcode: 1}, nil
	}
	all, err := m.React(ctx, c.Env, a.Tag, data)
	if err != nil {
		faults := source.Faults(err)
		if len(faults) == 0 {
			return fun.Result{}, err
		}
		for _, f := range faults {
			c.Env.Fault(f)
		}
		c.Env.Note("nothing was run: the reactions to %s do not compile", a.Tag)
		return fun.Result{Value: value.NewMap(0), Retcode: 1}, nil
	}
	test := a.Test.V
	if !a.Test.Given {
		test = value.Truth(c.Env.Opts.At("test"))
	}
	if test {
		return dry(ctx, c, all, checks)
	}
	out, res := value.NewMap(len(all)), fun.Result{}
	for _, r := range all {
		if !c.Env.MayStart(ctx, nil) {
			return fun.Result{Value: out, Retcode: 1}, context.Canceled
		}
		ret := run(ctx, c, r)
		if ret.At("result") != true {
			res.Retcode = 1
		}
		out.Set(r.ID, ret)
	}
	res.Value = out
	return res, nil
}

// dry returns what would be called, and says what could not be.
func dry(ctx context.Context, c *fun.Call, all []*reactor.Reaction, checks Checks) (fun.Result, error) {
	out, res := value.NewList(), fun.Result{}
	faults, open := checks.Reactions(ctx, c.Env, all)
	for _, r := range all {
		m := r.Value()
		if r.Kind == reactor.Local {
			ids, err := targets(ctx, c.Env, r)
			if err != nil {
				faults = append(faults, &source.Error{Pos: r.Pos, Err: fmt.Errorf("reaction %s: %w", r.ID, err)})
			}
			if ids != nil {
				m.Set("targets", value.Strings(ids...))
			} else if err == nil {
				open = append(open, &source.Error{Pos: r.Pos, Err: fmt.Errorf("reaction %s: whether a target matches, for which machines would be asked", r.ID)})
			}
		}
		out.Append(m)
	}
	for _, f := range faults {
		c.Env.Fault(f)
		res.Retcode = 1
	}
	for _, f := range open {
		c.Env.Note("not checked: %v", f)
	}
	res.Value = out
	return res, nil
}

// targets returns on what a reaction would run, nil where nobody can say that without asking
// machines.
func targets(ctx context.Context, env *fun.Env, r *reactor.Reaction) ([]string, error) {
	switch {
	case env.Fleet == nil:
		return nil, errNoTargets
	case env.Opts.At("fleets") != nil || !slices.Contains([]string{"", "glob", "pcre", "list"}, r.TgtType):
		return nil, nil
	}
	ids, err := env.Fleet.Match(ctx, r.Tgt, r.TgtType)
	if err != nil {
		return nil, err
	}
	var outside []string
	if l, ok := env.Fleet.(fun.Limited); ok {
		ids, outside = l.Cut(ids)
	}
	if len(ids) == 0 {
		return []string{}, noTarget(r, outside)
	}
	return ids, nil
}

var errNoTargets = errors.New("this machine reaches no targets")

// noTarget says why a reaction has no target; outside are those that --limit leaves out.
func noTarget(r *reactor.Reaction, outside []string) error {
	if len(outside) > 0 {
		return fmt.Errorf("no target is within --limit, which leaves out %s", fun.Some(outside))
	}
	return fmt.Errorf("no target matches %q (%s)", value.Str(r.Tgt), r.TgtType)
}

// nobody is the error of an event that nothing reacts to.
func nobody(c *fun.Call, m reactor.Map, tag string) *source.Error {
	var globs []string
	for _, e := range m {
		globs = append(globs, e.Glob)
	}
	if len(globs) == 0 {
		return &source.Error{Err: fmt.Errorf("nothing reacts to %s: %s has no option reactor", tag, c.Env.Opts.Str("conf_file")), Hint: `write "reactor: [{'deploy/*': [salt://reactor/deploy.sls]}]" there; -c names the directory of the configuration`}
	}
	return &source.Error{Err: fmt.Errorf("nothing reacts to %s", tag), Hint: "reactors are there for " + fun.Some(globs)}
}

// run runs a reaction and returns what became of it.
func run(ctx context.Context, c *fun.Call, r *reactor.Reaction) *value.Map {
	ret := value.MapOf("fun", r.Kind+"."+r.Fun, "result", false, "comment", "")
	fail := func(format string, args ...any) *value.Map {
		ret.Set("comment", fmt.Sprintf(format, args...))
		return ret
	}
	if r.Kind == reactor.Local {
		return local(ctx, c, r, ret)
	}
	var res fun.Result
	var err error
	kind := fun.Exec
	switch r.Kind {
	case reactor.Runner:
		kind = fun.Runner
		var jid string
		jid, res, err = c.Env.CallRunner(ctx, r.Fun, r.Args)
		ret.Set("jid", jid)
	case reactor.Wheel:
		kind = fun.Wheel
		res, err = c.Env.Invoker.Invoke(ctx, kind, r.Fun, r.Args)
	default:
		res, err = c.Env.Invoker.Invoke(ctx, kind, r.Fun, r.Args)
	}
	if err != nil {
		return fail("%s: %v", r.Fun, err)
	}
	ret.Set("return", value.Solid(res.Value))
	if code := res.Code(kind); code != 0 {
		return fail("%s failed with return code %d", r.Fun, code)
	}
	ret.Set("result", true)
	ret.Set("comment", r.Fun+" ran")
	return ret
}

// local runs a function on targets.
func local(ctx context.Context, c *fun.Call, r *reactor.Reaction, ret *value.Map) *value.Map {
	fail := func(format string, args ...any) *value.Map {
		ret.Set("comment", fmt.Sprintf(format, args...))
		return ret
	}
	if c.Env.Fleet == nil {
		return fail("%v", errNoTargets)
	}
	job := r.Job()
	job.OrchJID, job.Step = c.Env.JID, r.ID
	rets := value.NewMap(4)
	var failed []string
	sum, err := c.Env.Fleet.Run(ctx, job, func(x fun.Return) error {
		v, verr := x.Value()
		switch {
		case verr != nil:
			v = verr.Error()
		case x.Stage != fun.Returned && x.Err != nil:
			v = fmt.Sprintf("%s: %v", x.Stage, x.Err)
		}
		rets.Set(x.ID, v)
		if !x.Success() {
			failed = append(failed, x.ID)
		}
		return nil
	})
	if sum.JID != "" {
		ret.Set("jid", sum.JID)
	}
	if rets.Len() > 0 {
		ret.Set("return", rets)
	}
	slices.Sort(failed)
	switch {
	case errors.Is(err, context.Canceled):
		return fail("interrupted")
	case err != nil:
		return fail("%v", err)
	case len(sum.Targets) == 0:
		return fail("not run: %v", noTarget(r, sum.Outside))
	case len(failed) > 0:
		return fail("%s failed on %s", r.Fun, strings.Join(failed, ", "))
	}
	ret.Set("result", true)
	ret.Set("comment", fmt.Sprintf("%s ran on %s", r.Fun, strings.Join(sum.Targets, ", ")))
	return ret
}
