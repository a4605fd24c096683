package salt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/redact"
	"brine/internal/py/value"
	"brine/outputter"
)

// call calls a runner or wheel function and tells its job and whether it
// succeeded. It returns a *fun.InvocationError for arguments that the function
// does not have.
// Salt: salt/modules/saltutil.py runner, wheel; salt/client/mixins.py low.
func call(ctx context.Context, c *fun.Call, kind fun.Kind, name string, args fun.Args) (v value.Value, jid string, ok bool, err error) {
	jid = c.Env.JID
	if err := ctx.Err(); err != nil {
		return err.Error(), jid, false, nil
	}
	args, known, err := taken(c, kind, name, args)
	if err != nil {
		return nil, jid, false, err
	}
	if known {
		fireCall(c, kind, name, args)
	}
	var res fun.Result
	if kind == fun.Runner {
		jid, res, err = c.Env.CallRunner(ctx, name, args)
	} else {
		res, err = c.Env.Invoker.Invoke(ctx, kind, name, args)
	}
	if err != nil {
		if nf, ok := errors.AsType[*fun.NotFoundError](err); ok {
			text := fmt.Sprintf("'%s' is not available.", name)
			if nf.Reason != "" {
				text = nf.Error()
			}
			warnUnknown(c, nf)
			return text, jid, false, nil
		}
		return fmt.Sprintf("Exception occurred in %s %s: %v", strings.TrimSuffix(kind.String(), " function"), name, err), jid, false, nil
	}
	return res.Value, jid, res.Code(kind) == 0, nil
}

// taken returns the arguments of a step as a runner or wheel function takes them,
// and whether there is such a function. It returns a *fun.InvocationError for
// arguments that it does not have.
func taken(c *fun.Call, kind fun.Kind, name string, args fun.Args) (out fun.Args, known bool, err error) {
	spec := c.Env.Table.Spec(kind, name)
	if spec == nil {
		return args, false, nil
	}
	if out, err = dispatch.Published(spec, dispatch.Typed(args)); err != nil {
		return args, true, err
	}
	inherit(c, spec, &out)
	return out, true, nil
}

// rehearse tells a fleet that makes a plan which runner functions a step would call.
// It returns the error that the call would end with.
func rehearse(ctx context.Context, c *fun.Call, calls ...RunnerJob) error {
	r, ok := c.Env.Fleet.(fun.Rehearser)
	if !ok {
		return nil
	}
	for _, j := range calls {
		args, _, err := taken(c, fun.Runner, j.Name, j.Args)
		if err != nil {
			return err
		}
		r.Rehearse(ctx, c, j.ID, j.Name, args)
	}
	return nil
}

// callMaster calls a runner or wheel function of the master of a fleet.
func callMaster(ctx context.Context, c *fun.Call, kind fun.Kind, fleet string, rest fun.Kwargs) (v value.Value, jid string, ok bool, err error) {
	masters, has := c.Env.Fleet.(fun.Masters)
	if !has {
		return nil, "", false, fun.Errorf("this machine reaches no fleets: orchestrate from a controller")
	}
	args := stepArgs(rest.Map)
	fireCall(c, kind, c.Name, args)
	v, jid, ok, err = masters.CallMaster(ctx, fleet, kind, c.Name, args)
	return v, jid, ok && fun.Result{Value: v}.Code(kind) == 0, err
}

// fireCall tells the bus what a step calls.
// Salt: salt/modules/saltutil.py runner, wheel.
func fireCall(c *fun.Call, kind fun.Kind, name string, args fun.Args) {
	if c.Env.Bus == nil {
		return
	}
	kw := redact.Hide(withoutPillar(args.Kw))
	data := value.MapOf("type", "runner", "name", name, "args", redact.Hide(value.NewList(args.Pos...)), "kwargs", kw)
	if kind == fun.Wheel {
		data = value.MapOf("type", "wheel", "name", name, "args", kw)
	}
	c.Env.Bus.Fire("salt/run/"+c.Env.JID+"/args", data)
}

// warnUnknown says what was likely meant; of wheel functions, which are for a
// master's own affairs, there are so few that all are named.
func warnUnknown(c *fun.Call, nf *fun.NotFoundError) {
	text := fmt.Sprintf("there is no %s %q", nf.Kind, nf.Name)
	switch {
	case nf.Kind == fun.Wheel:
		text += ": without a master there are " + strings.Join(c.Env.Table.Names(fun.Wheel), ", ")
	case nf.Nearest != "":
		text += fmt.Sprintf(" (did you mean %q?)", nf.Nearest)
	default:
		return
	}
	c.Env.Warn(fun.Warning{Where: c.Low.Pos.String(), Text: text})
}

// inherit hands the environment of the step on to a function that takes one and
// was given none: an orchestration within another one is found beside it.
//
// Difference: an environment that the step names goes before; Salt hands on that
// of the orchestration even then.
func inherit(c *fun.Call, spec *fun.Spec, args *fun.Args) {
	if args.Kw.Has("saltenv") {
		return
	}
	env := c.Low.Low.At("saltenv") // no argument of salt.runner: a keyword of states
	if env == nil {
		env = c.Low.SaltEnv
	}
	i := slices.IndexFunc(spec.Args, func(a fun.Arg) bool { return a.Name == "saltenv" })
	if i >= len(args.Pos) && value.Truth(env) {
		args.Kw.Set("saltenv", env)
	}
}

// stepArgs are the arguments that go to the function: arg as positional ones,
// kwarg and everything else by name.
func stepArgs(kw *value.Map) fun.Args {
	args := fun.Args{Kw: value.NewMap(kw.Len())}
	for k, v := range kw.All() {
		switch k {
		case "arg":
			if l, ok := v.(*value.List); ok {
				args.Pos = append(args.Pos, l.Items...)
			} else if v != nil {
				args.Pos = append(args.Pos, v)
			}
		case "kwarg":
			if m, ok := v.(*value.Map); ok {
				args.Kw.Update(m)
			}
		case "asynchronous", "full_return", "parallel":
		default:
			args.Kw.Set(k, v)
		}
	}
	return args
}

type runnerArgs struct {
	_ string `arg:"name,required" doc:"runner function"`
	fleetArg
	Rest fun.Kwargs
}

// runner runs a runner function. Salt: salt/states/saltmod.py runner.
func runner(ctx context.Context, c *fun.Call, a *runnerArgs) fun.Ret {
	return master(ctx, c, a.Fleet, a.Rest, fun.Runner, "Runner")
}

type wheelArgs struct {
	_ string `arg:"name,required" doc:"wheel function"`
	fleetArg
	Rest fun.Kwargs
}

// wheel runs a wheel function. Salt: salt/states/saltmod.py wheel.
// Difference: test mode gives None, as salt.runner does.
func wheel(ctx context.Context, c *fun.Call, a *wheelArgs) fun.Ret {
	return master(ctx, c, a.Fleet, a.Rest, fun.Wheel, "Wheel")
}

func master(ctx context.Context, c *fun.Call, fleet string, rest fun.Kwargs, kind fun.Kind, label string) fun.Ret {
	if c.Test {
		if kind == fun.Runner && fleet == "" {
			if err := rehearse(ctx, c, RunnerJob{ID: c.Low.ID, Name: c.Name, Args: stepArgs(rest.Map)}); err != nil {
				return fun.Ret{Err: err}
			}
		}
		return fun.Due("%s function '%s' would be executed.", label, c.Name)
	}
	var (
		v   value.Value
		jid string
		ok  bool
		err error
	)
	if fleet != "" {
		if v, jid, ok, err = callMaster(ctx, c, kind, fleet, rest); err != nil {
			return fun.Ret{Comment: fmt.Sprintf("%s function '%s' failed: %v", label, c.Name, err)}
		}
	} else if v, jid, ok, err = call(ctx, c, kind, c.Name, stepArgs(rest.Map)); err != nil {
		return fun.Ret{Err: err}
	}
	ret := fun.Ret{Changes: value.MapOf("return", v), Extra: value.MapOf("__jid__", jid)}
	if ok {
		ret.Result = fun.OK
		ret.Comment = fmt.Sprintf("%s function '%s' executed.", label, c.Name)
	} else {
		ret.Comment = fmt.Sprintf("%s function '%s' failed.", label, c.Name)
	}
	return ret
}

type parallelRunnersArgs struct {
	_       string      `arg:"name,required" doc:"name of the step"`
	Runners value.Value `arg:"runners,required" doc:"mapping of IDs to name, arg and kwarg of a runner function"`
	_       fun.Kwargs
}

// parallelRunners runs several runner functions at once.
// Salt: salt/states/saltmod.py parallel_runners.
func parallelRunners(ctx context.Context, c *fun.Call, a *parallelRunnersArgs) fun.Ret {
	calls, err := RunnerJobs(a.Runners)
	if err != nil {
		return fun.Ret{Comment: err.Error()}
	}
	if c.Test {
		if err := rehearse(ctx, c, calls...); err != nil {
			return fun.Ret{Err: err}
		}
		return fun.Due("Runner functions %s would be executed.", strings.Join(ids(calls), ", "))
	}
	type outcome struct {
		v  value.Value
		ok bool
	}
	outs := make([]outcome, len(calls))
	var wg sync.WaitGroup
	for i, j := range calls {
		wg.Go(func() {
			v, _, ok, err := call(ctx, c, fun.Runner, j.Name, j.Args)
			if err != nil {
				v = err.Error()
			}
			outs[i] = outcome{v, ok}
		})
	}
	wg.Wait()
	all, changes := value.NewMap(len(calls)), value.NewMap(len(calls))
	orchestrations := true
	var failed, told []string
	for i, j := range calls {
		v := outs[i].v
		all.Set(j.ID, v)
		data, isOrch := orchestrated(v)
		orchestrations = orchestrations && isOrch
		if ch := changesIn(data, 0); isOrch && value.Truth(ch) {
			changes.Set(j.ID, ch)
		}
		if !outs[i].ok {
			failed = append(failed, j.ID)
			told = append(told, fmt.Sprintf("Runner %s failed with return value:\n%s", j.ID, nested(v)))
		}
	}
	ret := fun.Ret{Result: fun.OK, Changes: value.MapOf("ret", all), Comment: "All runner functions executed successfully."}
	if orchestrations {
		ret.Changes = changes
	}
	if len(failed) > 0 {
		ret.Result = fun.Failed
	}
	switch {
	case len(failed) == 0:
	case orchestrations:
		ret.Comment = strings.Join(told, "\n")
	case len(failed) == 1:
		ret.Comment = fmt.Sprintf("Runner %s failed.", failed[0])
	default:
		ret.Comment = fmt.Sprintf("Runners %s failed.", strings.Join(failed, ", "))
	}
	return ret
}

// orchestrated returns the data of what an orchestration returned.
func orchestrated(v value.Value) (data value.Value, ok bool) {
	m, isMap := v.(value.Mapping)
	if !isMap {
		return nil, false
	}
	out, _ := m.Get("outputter")
	data, has := m.Get("data")
	return data, has && out == "highstate"
}

// maxNested bounds how deep orchestrations within orchestrations are looked at.
const maxNested = 64

// changesIn returns the changes of the returns within v, by the keys that lead
// to them; those of salt.state by target.
func changesIn(v value.Value, depth int) value.Value {
	m, ok := v.(value.Mapping)
	if !ok || depth > maxNested {
		return nil
	}
	if ch, has := m.Get("changes"); has {
		if inner, ok := ch.(value.Mapping); ok {
			out, _ := inner.Get("out")
			if ret, has := inner.Get("ret"); has && out == "highstate" {
				return ret
			}
		}
		return ch
	}
	found := value.NewMap(0)
	for _, k := range m.Keys() {
		x, _ := m.Get(k)
		if ch := changesIn(x, depth+1); value.Truth(ch) {
			found.Set(k, ch)
		}
	}
	return found
}

// nested prints v as the outputter of that name does.
func nested(v value.Value) string {
	var b strings.Builder
	if err := outputter.Nested(&b, v, &outputter.Options{NestedIndent: 2}); err != nil {
		return value.Str(v)
	}
	return strings.TrimRight(b.String(), "\n")
}

// A RunnerJob is one of parallel runners.
type RunnerJob struct {
	ID, Name string
	Args     fun.Args
}

func ids(calls []RunnerJob) []string {
	out := make([]string, len(calls))
	for i, j := range calls {
		out[i] = j.ID
	}
	return out
}

// RunnerJobs reads the argument runners of parallel_runners: text is one function; a dict, or a
// list of one-key dicts, has an id each with name, arg and kwarg, as a dict or
// a list of dicts. A missing name is the id.
func RunnerJobs(v value.Value) ([]RunnerJob, error) {
	set := value.NewMap(4)
	switch v := v.(type) {
	case string:
		set.Set(v, nil)
	case *value.Map:
		set = v
	case *value.List:
		for _, x := range v.Items {
			switch x := x.(type) {
			case string:
				set.Set(x, nil)
			case *value.Map:
				set.Update(x)
			default:
				return nil, fun.Errorf("'runners' must name runner functions; %s names none", value.Repr(x))
			}
		}
	default:
		return nil, fun.Errorf("The runners parameter must be a string or dict.")
	}
	var calls []RunnerJob
	for k, conf := range set.All() {
		j := RunnerJob{ID: value.Str(k), Name: value.Str(k)}
		kw := value.NewMap(4)
		switch conf := conf.(type) {
		case nil:
		case *value.Map:
			kw.Update(conf)
		case *value.List:
			for _, x := range conf.Items {
				if m, ok := x.(*value.Map); ok {
					kw.Update(m)
				}
			}
		default:
			return nil, fun.Errorf("runner '%s' must have a mapping of name, arg and kwarg, not %s", j.ID, value.Kind(conf))
		}
		if n, ok := kw.Get("name"); ok {
			j.Name = value.Str(n)
			kw.Delete("name")
		}
		j.Args = stepArgs(kw)
		calls = append(calls, j)
	}
	return calls, nil
}
