package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"
	"sync"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/target"
	"brine/internal/fleet/jobs"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// A Local is the provider of machines in this process: roster entries with
// connection: local, each this machine with an id and grains of its own.
type Local struct {
	// Make builds the Env of a machine; it is called once a machine, when its
	// grains or pillar are looked at or a function is run on it.
	Make func(ctx context.Context, id string) *fun.Env
	// Names are the ids.
	Names []string

	mu   sync.Mutex
	envs map[string]*fun.Env
	proc map[string]*noted
	// working are the calls under way.
	working map[work]bool
}

// work is a job on a machine.
type work struct{ jid, id string }

// A noted job is in the proc directory while any of its targets works on it.
type noted struct {
	users int
	end   func()
}

// IDs returns the ids, sorted.
func (l *Local) IDs(context.Context) ([]string, error) {
	ids := append([]string(nil), l.Names...)
	sort.Strings(ids)
	return ids, nil
}

func (l *Local) env(ctx context.Context, id string) *fun.Env {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.envs == nil {
		l.envs = map[string]*fun.Env{}
	}
	if l.envs[id] == nil {
		// The Env outlives the call that first asked for it.
		l.envs[id] = l.Make(context.WithoutCancel(ctx), id)
	}
	return l.envs[id]
}

// Minion returns what a machine is matched by, for one match; grains and pillar
// are worked out when they are read, by what the machine is then.
func (l *Local) Minion(ctx context.Context, id string) target.Minion {
	now := sync.OnceValue(func() *fun.Env { return l.now(ctx, id) })
	return target.Minion{
		ID:     id,
		Grains: func() value.Mapping { return now().Grains },
		Pillar: func() value.Mapping { return now().Pillar },
	}
}

// Kept is Minion for who may not have machines connected to: the machine is this one,
// whose grains are worked out here. There is no pillar.
func (l *Local) Kept(id string) target.Minion {
	return target.Minion{ID: id, Grains: func() value.Mapping { return l.now(context.Background(), id).Grains }}
}

// now returns an Env of a machine whose grains and pillar are those of now: what
// ran here before has changed them.
func (l *Local) now(ctx context.Context, id string) *fun.Env {
	return l.env(ctx, id).Fork(func(e *fun.Env) { e.Renew(context.WithoutCancel(ctx)) })
}

// FindJob tells on which machines the job runs: in this process.
func (l *Local) FindJob(_ context.Context, jid string, ids []string, tell func(id string, pid int)) {
	for _, id := range ids {
		l.mu.Lock()
		pid := 0
		if l.working[work{jid, id}] {
			pid = os.Getpid()
		}
		l.mu.Unlock()
		tell(id, pid)
	}
}

// note puts a job in the machine's proc directory until end is called as often
// as note was.
func (l *Local) note(env *fun.Env, job fun.Job) (end func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.proc == nil {
		l.proc = map[string]*noted{}
	}
	n := l.proc[job.JID]
	if n == nil {
		n = &noted{}
		n.end, _ = jobs.ProcOf(env).Begin(ProcData(env.Table, job, os.Getpid()))
		l.proc[job.JID] = n
	}
	n.users++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if n.users--; n.users == 0 {
			n.end()
			delete(l.proc, job.JID)
		}
	}
}

// Run calls the function in this process.
func (l *Local) Run(ctx context.Context, job fun.Job, id string, begun func()) fun.Return {
	var done doneStates
	env := l.env(ctx, id).Fork(func(e *fun.Env) {
		e.JID, e.OrchJID, e.Journal = job.JID, job.OrchJID, &done
		e.Plan, e.NoSlots = job.Plan, job.NoSlots
		e.Renew(context.WithoutCancel(ctx))
	})
	defer l.note(env, job)()
	defer l.work(job.JID, id)()
	Enter(ctx, Running)
	if ctx.Err() != nil { // nothing new is to begin
		return fun.Return{ID: id, JID: job.JID, Stage: fun.Refused, Err: ctx.Err()}
	}
	begun()
	if job.Shell != "" {
		return shell(ctx, env, job)
	}
	ret := Call(ctx, env, job)
	if ret.Stage == fun.Lost {
		ret.Partial, ret.Total = done.returns, done.total
	}
	return ret
}

// doneStates is the fun.Journal of a call in this process: it keeps the returns
// of the states that were done, for a run that is ended before its return.
type doneStates struct {
	total   int
	returns *value.Map
}

// Begin notes how many states there are.
func (d *doneStates) Begin(_ context.Context, _ *fun.Env, chunks []*fun.Chunk) (map[string]*value.Map, error) {
	d.total, d.returns = len(chunks), value.NewMap(len(chunks))
	return nil, nil
}

// Done keeps a return.
func (d *doneStates) Done(c *fun.Chunk, ret *value.Map) { d.returns.Set(c.Tag(), ret) }

// work notes a call under way until the func that it returns is called.
func (l *Local) work(jid, id string) (done func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.working == nil {
		l.working = map[work]bool{}
	}
	l.working[work{jid, id}] = true
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.working, work{jid, id})
	}
}

// shell runs a raw command by the shell of this machine.
func shell(ctx context.Context, env *fun.Env, job fun.Job) fun.Return {
	ret := fun.Return{ID: env.ID, JID: job.JID}
	out, err := env.Host.Run(ctx, host.Cmd{Argv: []string{"/bin/sh", "-c", job.Shell}})
	switch {
	case ctx.Err() != nil:
		ret.Stage, ret.Err = fun.Lost, ctx.Err()
	case err != nil:
		ret.Stage, ret.Err = fun.Refused, err
	default:
		ret.Retcode = out.Status
		ret.Body = fun.ValueBody{V: ShellValue(string(out.Stdout), string(out.Stderr), out.Status)}
	}
	return ret
}

// ShellValue is the return of a raw shell command.
func ShellValue(stdout, stderr string, retcode int) *value.Map {
	return value.MapOf("stdout", stdout, "stderr", stderr, "retcode", int64(retcode))
}

// Raw returns the return of cmd.run_all as that of a raw shell command.
func Raw(ret fun.Return) fun.Return {
	v, err := ret.Value()
	if m, ok := v.(*value.Map); ok && err == nil && m.Has("stdout") {
		code, _ := value.AsInt(m.At("retcode"))
		ret.Retcode = int(code)
		ret.Body = fun.ValueBody{V: ShellValue(m.Str("stdout"), m.Str("stderr"), int(code))}
	}
	return ret
}

// Call runs a job's function with env and words its outcome as a minion does. Of
// several functions each is called, whatever became of those before it; the
// return has theirs and their return codes by name, or in order where the option
// multifunc_ordered says so, and the highest of the codes for all.
//
// Salt: salt/minion.py _thread_return, _thread_multi_return. Difference: a
// function that raises fails such a job.
func Call(ctx context.Context, env *fun.Env, job fun.Job) fun.Return {
	calls := job.Compound()
	if calls == nil {
		return call(ctx, env, job, job)
	}
	// Each function has a journal of states of its own.
	env = env.Fork(func(e *fun.Env) { e.Journal = nil })
	ret := fun.Return{ID: env.ID, JID: job.JID}
	byName, inOrder := value.NewMap(len(calls)), value.NewList()
	codes, codesInOrder := value.NewMap(len(calls)), value.NewList()
	for _, c := range calls {
		one := call(ctx, env, c, job)
		if one.Stage != fun.Returned {
			return one
		}
		v, _ := one.Value()
		byName.Set(c.Fun, v)
		inOrder.Append(v)
		var code value.Value
		if !one.Raised {
			code = int64(one.Retcode)
		}
		codes.Set(c.Fun, code)
		codesInOrder.Append(code)
		if one.Retcode != 0 && (ret.Retcode == 0 || one.Retcode > ret.Retcode) {
			ret.Retcode = one.Retcode
		}
		ret.Raised = ret.Raised || one.Raised
	}
	ret.Body, ret.Each = fun.ValueBody{V: byName}, codes
	if value.Truth(env.Opts.At("multifunc_ordered")) {
		ret.Body, ret.Each = fun.ValueBody{V: inOrder}, codesInOrder
	}
	return ret
}

// call runs a function, which may be one of several of the job whole.
func call(ctx context.Context, env *fun.Env, job, whole fun.Job) fun.Return {
	ret := fun.Return{ID: env.ID, JID: job.JID}
	res, err := invoke(ctx, env, job, whole)
	if err != nil {
		if ctx.Err() != nil {
			ret.Stage, ret.Err = fun.Lost, ctx.Err()
			return ret
		}
		env.Hint(source.Pos{}, job.Fun, err)
		ret.Retcode, ret.Raised, ret.Body = 1, true, fun.ValueBody{V: FaultText(job.Fun, err)}
		return ret
	}
	ret.Retcode, ret.Out, ret.Body = res.Code(fun.Exec), res.Out, fun.ValueBody{V: res.Value}
	return ret
}

func invoke(ctx context.Context, env *fun.Env, job, whole fun.Job) (fun.Result, error) {
	args := job.Args
	if _, spec, err := env.Find(fun.Exec, job.Fun); err == nil {
		if args, err = dispatch.Published(spec, args); err != nil {
			return fun.Result{}, err
		}
		if spec.VarKw {
			setJobArgs(args.Kw, whole)
		}
	}
	return env.Invoker.Invoke(ctx, fun.Exec, job.Fun, args)
}

// setJobArgs sets the arguments that tell a function of its job. Arguments of these names
// that came with the job say nothing: a machine could pass for another by them.
func setJobArgs(kw *value.Map, job fun.Job) {
	var given []value.Value
	for k := range kw.All() {
		if strings.HasPrefix(value.Str(k), "__pub_") {
			given = append(given, k)
		}
	}
	for _, k := range given {
		kw.Delete(k)
	}
	kw.Update(published(job))
}

// published returns what a function that takes any keywords gets to know of the
// job. Salt: salt/minion.py load_args_and_kwargs.
func published(job fun.Job) *value.Map {
	if !job.Published {
		return value.MapOf("__pub_fun", job.Fun, "__pub_pid", int64(os.Getpid()), "__pub_jid", job.JID, "__pub_tgt", "salt-call")
	}
	arg := fun.Plain(job.Fun, value.NewList(job.Args.Pos...))
	if job.Args.Kw.Len() > 0 {
		arg.Append(job.Args.Kw.Copy())
	}
	m := value.MapOf("__pub_fun", jobs.FunOf(job.Fun), "__pub_arg", arg, "__pub_tgt", job.Tgt, "__pub_jid", job.JID, "__pub_ret", job.Returner,
		"__pub_tgt_type", typeOf(job), "__pub_user", job.User)
	if job.Caller != "" {
		m.Set("__pub_id", job.Caller)
	}
	return m
}

// FaultText words a function's error as a minion's return does.
func FaultText(name string, err error) string {
	var (
		nf *fun.NotFoundError
		ce *fun.CommandError
		ae *fun.ArgError
		ie *fun.InvocationError
	)
	switch {
	case errors.As(err, &nf):
		return nf.Error()
	case errors.As(err, &ae):
		return fmt.Sprintf("Passed invalid arguments to %s: %s", name, ae.Error())
	case errors.As(err, &ie):
		return fmt.Sprintf("ERROR executing '%s': %s", name, ie.Msg)
	case errors.As(err, &ce):
		return "ERROR: " + ce.Error()
	}
	return fmt.Sprintf("The minion function caused an exception: %s", err)
}

// A Self is the fleet of a masterless run: every target is this machine.
type Self struct{ *Fleet }

// NewSelf returns the fleet of env alone.
func NewSelf(env *fun.Env, newJID func() string) *Self {
	l := &Local{Names: []string{env.ID}, Make: func(context.Context, string) *fun.Env {
		return env.With(func(e *fun.Env) { e.OnRenew = nil }) // the run may have been given its pillar
	}}
	return &Self{&Fleet{Providers: []Provider{l}, Bus: env.Bus, NewJID: newJID, Limit: 1, Gate: env.OnStart}}
}

// Match returns this machine, whatever the expression: masterless runs ignore
// targets, as Salt's do.
func (s *Self) Match(ctx context.Context, _ value.Value, _ string) ([]string, error) {
	return s.Providers[0].IDs(ctx)
}

// Run runs the job on this machine.
func (s *Self) Run(ctx context.Context, job fun.Job, each func(fun.Return) error) (fun.Summary, error) {
	job.Tgt, job.TgtType, job.Subset, job.Batch = "*", "glob", 0, ""
	return s.Fleet.Run(ctx, job, each)
}
