package exec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/tee"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// modWatch is the name under which mod_watch is called as a function.
const modWatch = "mod_watch"

// Verify returns what keeps a chunk from being called, in Salt's words: missing
// data, a function that is not available, missing arguments.
//
// Salt: salt/state.py State.verify_data.
func Verify(env *fun.Env, c *fun.Chunk) []string {
	r := &run{env: env}
	_, _, errs := r.verify(c)
	return errs
}

// verify finds the function of c, or says what is wrong with c. The function of
// mod_watch is that of the state (sfun), whose arguments it takes.
func (r *run) verify(c *fun.Chunk) (*fun.Module, *fun.Spec, []string) {
	var errs []string
	if !c.Low.Has("state") {
		errs = append(errs, `Missing "state" data`)
	}
	if !c.Low.Has("fun") {
		errs = append(errs, `Missing "fun" data`)
	}
	if !c.Low.Has("name") {
		errs = append(errs, `Missing "name" data`)
	}
	sls, inSLS := c.Low.Get("__sls__")
	if name := c.Low.At("name"); value.Truth(name) {
		if _, ok := name.(string); !ok {
			in := ""
			if inSLS {
				in = "in SLS '" + value.Str(sls) + "' "
			}
			errs = append(errs, fmt.Sprintf("ID '%s' %sis not formed as a string, but is a %s", value.Str(name), in, value.TypeName(name)))
		}
	}
	if mask, ok := c.Low.Get("umask"); ok && !isOctal(value.Str(mask)) {
		errs = append(errs, "Invalid umask: "+value.Str(mask))
	}
	if len(errs) > 0 {
		return nil, nil, errs
	}
	full := c.State + "." + c.Fun
	mod, spec, reason := r.find(c, full)
	if reason != "" {
		if !inSLS {
			errs = append(errs, "Specified state '"+full+"' was not found")
			if _, why, ok := strings.Cut(reason, " is not available: "); ok {
				errs = append(errs, "Reason: "+why)
			}
			return nil, nil, errs
		}
		return nil, nil, []string{"State '" + full + "' was not found in SLS '" + value.Str(sls) + "'", "Reason: " + reason}
	}
	if c.Fun == modWatch {
		return mod, spec, nil
	}
	for _, name := range spec.Missing(c.Low) {
		errs = append(errs, "Missing parameter "+name+" for state "+full)
	}
	return mod, spec, errs
}

// isOctal reports whether s is an octal number as Python's int(s, 8) reads it.
func isOctal(s string) bool {
	s = strings.TrimLeft(strings.TrimSpace(s), "+-")
	s = strings.TrimPrefix(strings.TrimPrefix(s, "0o"), "0O")
	_, err := strconv.ParseUint(strings.ReplaceAll(s, "_", ""), 8, 32)
	return err == nil
}

// find looks up the function of c; reason says why it is not available.
func (r *run) find(c *fun.Chunk, full string) (mod *fun.Module, spec *fun.Spec, reason string) {
	missing := "'" + full + "' is not available."
	fn := c.Fun
	if fn == modWatch {
		fn = c.Low.Str("sfun")
	}
	mod, why := r.env.Provider(fun.State, c.State)
	switch {
	case mod != nil && c.Fun == modWatch && mod.Watch == nil:
		return nil, nil, missing
	case mod == nil && r.env.Table.Spec(fun.State, full) == nil && c.Fun != modWatch:
		_, _, err := r.env.Find(fun.State, full)
		if nf, ok := errors.AsType[*fun.NotFoundError](err); ok && nf.Reason != "" {
			return nil, nil, nf.Error() // a module of the tree that cannot be loaded
		}
		return nil, nil, missing
	case mod == nil && why != "":
		return nil, nil, "'" + c.State + "' __virtual__ returned False: " + why
	case mod == nil:
		return nil, nil, "'" + c.State + "' __virtual__ returned False"
	}
	_, spec, err := r.env.Find(fun.State, c.State+"."+fn)
	switch {
	case err == nil:
		return mod, spec, ""
	case c.Fun == modWatch:
		return mod, &fun.Spec{Name: modWatch, VarKw: true}, ""
	}
	return nil, nil, missing // the compiler has named the nearest
}

// A job is one chunk ready to be called, with what a call needs and nothing of
// the walk, so that a parallel state can have it to itself.
type job struct {
	env  *fun.Env
	c    *fun.Chunk // as the function sees it
	low  *value.Map // the arguments: c's, without what mod_watch adds
	mod  *fun.Module
	spec *fun.Spec
	test bool
	dry  bool // for a prereq
	mock bool // the function is not called
	plan bool // the run is for a plan
	keep Keeper
	warn func(key, text string)
}

func (r *run) job(n *node, c *fun.Chunk, mod *fun.Module, spec *fun.Spec) *job {
	j := &job{env: r.env, c: c, low: n.c.Low, mod: mod, spec: spec, test: r.test, mock: r.o.Mock, plan: r.plan != nil, keep: r.o.Keep}
	if p := providersOf(n.c); p != nil {
		j.env = withProviders(r.env, p)
	}
	if n.c.Fun == modWatch {
		j.low = n.c.Low.Copy()
		j.low.Delete("sfun")
	}
	j.warn = func(key, text string) { r.warnOnce(c, key, text) }
	return j
}

// dryRun calls n's function in test mode for a prereq; its return is not among
// those of the run.
func (r *run) dryRun(ctx context.Context, n *node) *value.Map {
	mod, spec, errs := r.verify(n.c)
	if errs != nil {
		return unverified(n.c, errs)
	}
	j := r.job(n, n.c, mod, spec)
	j.test, j.dry = true, true
	ctx = asUser(ctx, n.c.Low)
	ret, early := r.conditions(ctx, j)
	if n.plan.dry = early; ret == nil {
		ret = j.invoke(ctx)
		if early = cmp.Or(r.plan.veiled(), ret.Map(fun.PlanKey).Str(fun.PlanUnsure)); early != "" || !due(ret) {
			n.plan.dry = early
		}
	}
	return withText(ret)
}

func unverified(c *fun.Chunk, errs []string) *value.Map {
	return value.MapOf("result", false, "name", c.Low.At("name"), "changes", value.NewMap(0),
		"comment", strings.Join(errs, "\n")+"\n")
}

// call calls the function of c, which is n's chunk or its mod_watch, as often
// as retry says, and returns its return with all of Salt's keys. A parallel
// state is only started; watched says that mod_watch is to follow.
func (r *run) call(ctx context.Context, n *node, c *fun.Chunk, watched bool) *value.Map {
	mod, spec, errs := r.verify(c)
	if errs != nil {
		ret := unverified(c, errs)
		ret.Set("__run_num__", r.nextNum())
		r.refresh(ctx, c, ret)
		return ret
	}
	j := r.job(n, c, mod, spec)
	ctx = asUser(ctx, c.Low)
	retry := r.retryOf(c)
	var past []*value.Map
	for {
		start := r.now()
		ret, early := r.conditions(ctx, j)
		n.plan.early = early
		switch {
		case ret != nil:
		case value.Truth(c.Low.At("parallel")) && !j.mock && r.plan == nil:
			return r.start(ctx, n, j, retry, watched)
		default:
			ret = j.invoke(ctx)
			n.plan.veil = cmp.Or(n.plan.veil, r.plan.veiled())
		}
		ret.Set("__sls__", c.Low.At("__sls__"))
		ret.Set("__run_num__", r.nextNum())
		r.refresh(ctx, c, ret)
		ret.Set("start_time", clock(start))
		ret.Set("duration", millis(r.now().Sub(start)))
		ret.Set("__id__", c.ID)
		r.env.Log().Debug("state done", "id", c.ID, "fun", c.State+"."+c.Fun,
			"result", value.Str(ret.At("result")), "duration_ms", value.Str(ret.At("duration")))
		wait, again := retry.next(r.test, len(past)+1, ret)
		if !again {
			return withText(retry.fold(r.test, past, ret))
		}
		ret.Set(waited, millis(wait))
		past = append(past, ret)
		if r.sleep(ctx, wait) != nil {
			return withText(retry.fold(r.test, past[:len(past)-1], ret))
		}
	}
}

// asUser sets the user as whom the functions of a state run programs: its
// runas.
func asUser(ctx context.Context, low *value.Map) context.Context {
	user := low.At("runas")
	if user == nil {
		return ctx
	}
	as := fun.RunAs{User: value.Str(user)}
	pw := low.At("runas_password")
	if low.Str("state") == "cmd" && low.Has("password") {
		pw = low.At("password")
	}
	if pw != nil {
		as.Password = value.Str(pw)
	}
	return fun.WithRunAs(ctx, as)
}

// invoke calls the function and returns its return: name, changes, result,
// comment (text or a list, see withText) and what else it has. Whatever goes
// wrong in it is a failure with Salt's text for an exception. Of a mocked
// function it returns Salt's mock_ret.
func (j *job) invoke(ctx context.Context) (ret *value.Map) {
	if j.keep == nil || j.test || j.mock {
		return j.invokeOn(ctx, j.env)
	}
	h, after := j.keep.State(ctx, j.env, j.c, j.spec)
	ret = j.invokeOn(ctx, j.env.With(func(e *fun.Env) { e.Host = h }))
	after(ret)
	return ret
}

// invokeOn is invoke in an Env.
func (j *job) invokeOn(ctx context.Context, env *fun.Env) (ret *value.Map) {
	defer func() {
		if p := recover(); p != nil {
			j.env.Log().Debug("panic in a state", "fun", j.c.State+"."+j.c.Fun, "panic", p, "stack", string(debug.Stack()))
			ret = j.exception(value.Raise("RuntimeError", "%v", p))
		}
	}()
	if j.mock {
		return j.checkCmd(ctx, value.MapOf("name", j.c.Low.At("name"), "comment", "Not called, mocked", "changes", value.NewMap(0), "result", true))
	}
	kw, err := j.slots(ctx)
	if err != nil {
		return j.exception(err)
	}
	call, err := env.Invoker.Bind(j.mod, j.spec, fun.Args{Kw: kw})
	if err != nil {
		j.place(err)
		return j.exception(err)
	}
	call.Name = value.Str(kw.At("name"))
	call.Test, call.Low = j.test, j.c
	call.Attach(env)
	fn := j.spec.State
	if j.c.Fun == modWatch {
		fn = j.mod.Watch
	}
	got := fn(tee.Of(ctx, j.c.ID, j.c.State+"."+j.c.Fun), call)
	if got.Err != nil {
		return j.exception(got.Err)
	}
	ret = value.NewMap(12)
	for _, k := range got.Order {
		ret.Set(k, nil)
	}
	ret.Set("name", got.Name)
	if got.Name == "" {
		ret.Set("name", call.Name)
	}
	ret.Set("changes", got.Changes)
	if got.Changes == nil {
		ret.Set("changes", value.NewMap(0))
	}
	ret.Set("result", got.Result.Value())
	ret.Set("comment", got.Comment)
	if got.Comment == nil {
		ret.Set("comment", "")
	}
	if got.Extra != nil {
		ret.Update(got.Extra)
	}
	return j.checked(j.checkCmd(ctx, ret))
}

// checked makes what functions may return into what a return is: changes are a
// dict, the result is True, False or None.
//
// Salt: salt/utils/decorators/state.py OutputUnifier.
func (j *job) checked(ret *value.Map) *value.Map {
	if m, ok := ret.At("changes").(*value.Map); !ok || m == nil {
		if _, ok := ret.At("changes").(value.Mapping); !ok {
			return value.MapOf("result", false, "name", j.c.Name, "changes", value.NewMap(0),
				"comment", "An exception occurred in this state: 'Changes' should be a dictionary.")
		}
	}
	if res := ret.At("result"); res != nil {
		ret.Set("result", value.Truth(res))
	}
	return ret
}

// withText returns ret with a comment that is text: the lines of a list are
// joined. That comes last, since retry shows a list as Python prints it.
func withText(ret *value.Map) *value.Map {
	if l, ok := ret.At("comment").(*value.List); ok {
		lines := make([]string, l.Len())
		for i, x := range l.Items {
			lines[i] = value.Str(x)
		}
		ret.Set("comment", strings.Join(lines, "\n"))
	}
	return ret
}

// exception returns the return of a state that raised err.
func (j *job) exception(err error) *value.Map {
	name := j.low.At("name")
	if name == nil {
		name = j.c.ID
	}
	return value.MapOf("result", false, "name", name, "changes", value.NewMap(0),
		"comment", "An exception occurred in this state: Traceback (most recent call last):\n"+pyLine(err)+"\n")
}

// place shows on stderr where the argument that err refuses was written.
func (j *job) place(err error) {
	var refused *fun.InvocationError
	if !errors.As(err, &refused) || refused.Arg == "" {
		return
	}
	at := refused.Pos
	if at.IsZero() {
		at = j.c.Pos
	}
	j.env.Fault(&source.Error{Pos: at, Err: fmt.Errorf("%s.%s: %w", j.c.State, j.c.Fun, err), Hint: "'brine doc " + j.c.State + "." + j.c.Fun + "' describes its arguments"})
}

// pyType returns the name of the Python exception that err stands for.
func pyType(err error) string {
	var py *value.PyError
	var cmd *fun.CommandError
	var arg *fun.ArgError
	var refused *fun.InvocationError
	var missing *fun.NotFoundError
	switch {
	case errors.As(err, &refused):
		return "salt.exceptions.SaltInvocationError"
	case errors.As(err, &py):
		return py.Type
	case errors.As(err, &cmd):
		return "salt.exceptions.CommandExecutionError"
	case errors.As(err, &arg):
		return "TypeError"
	case errors.As(err, &missing):
		return "KeyError"
	}
	if class := host.OSErrorClass(err); class != "" {
		return class
	}
	return "Exception"
}

// pyLine returns the last line of that exception's traceback.
func pyLine(err error) string {
	class, text := pyType(err), err.Error()
	if class == host.OSErrorClass(err) {
		text = host.OSError(err)
	}
	if text == "" {
		return class
	}
	return class + ": " + text
}

// initModule runs mod_init before the first state of a module; one that does
// not succeed is run again before the next.
func (r *run) initModule(ctx context.Context, n *node) {
	if r.inited[n.c.State] {
		return
	}
	mod, _ := r.env.Provider(fun.State, n.c.State)
	if mod == nil {
		return
	}
	if mod.Init == nil {
		r.inited[n.c.State] = true
		return
	}
	mod, spec, errs := r.verify(n.c)
	if errs != nil {
		return
	}
	call := r.bind(n, mod, spec)
	if call == nil {
		return
	}
	defer r.guard("mod_init", n.c)
	if mod.Init(ctx, call).Result == fun.OK {
		r.inited[n.c.State] = true
	}
}

// bind returns a call, as n, of a function other than the state's own.
func (r *run) bind(n *node, mod *fun.Module, spec *fun.Spec) *fun.Call {
	call, err := r.env.Invoker.Bind(mod, spec, fun.Args{Kw: n.c.Low})
	if err != nil {
		return nil
	}
	call.Name, call.Test, call.Low = n.c.Name, r.test, n.c
	call.Attach(r.env)
	return call
}

// guard turns a panic outside a state's own function into a log entry.
func (r *run) guard(what string, c *fun.Chunk) {
	if p := recover(); p != nil {
		r.env.Log().Error("panic in "+what, "state", c.State, "panic", p)
	}
}
