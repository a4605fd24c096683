// Package saltutil is Salt's execution module "saltutil": functions about
// functions and jobs.
package saltutil

import (
	"context"
	"errors"
	"fmt"
	"path"
	"sort"
	"strings"
	"time"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/redact"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/returner/custom"
	"brine/internal/py/value"
)

// Module returns the execution module "saltutil".
func Module() fun.Module {
	return fun.Module{Name: "saltutil", Kind: fun.Exec, Doc: "Call functions, manage jobs and list custom modules.", Specs: specs}
}

// names lists the custom modules of a directory as "modules.NAME".
func names(ctx context.Context, c *fun.Call, dir string) (*value.List, error) {
	if dir == "_returners" {
		return returners(ctx, c), nil
	}
	var found []string
	switch dir {
	case "_grains", "_matchers", "_renderers", "_sdb", "_utils", "_pillar", "_tops", "_roster":
		for _, f := range dispatch.FindScripts(ctx, c.Env, dir) {
			base := path.Base(f.Path)
			found = append(found, dir[1:]+"."+strings.TrimSuffix(base, path.Ext(base)))
		}
		sort.Strings(found)
		return value.Strings(found...), nil
	}
	customs, err := dispatch.FindCustom(ctx, c.Env)
	if err != nil {
		return nil, err
	}
	for _, x := range customs {
		if strings.HasPrefix(x.File.Path, dir+"/") {
			found = append(found, strings.TrimPrefix(dir, "_")+"."+x.Name)
		}
	}
	sort.Strings(found)
	return value.Strings(found...), nil
}

// returners lists the modules and executables that serve as returners.
func returners(ctx context.Context, c *fun.Call) *value.List {
	var found []string
	for _, s := range custom.Find(ctx, c.Env) {
		found = append(found, "returners."+s.Name)
	}
	sort.Strings(found)
	return value.Strings(found...)
}

func listExtmods(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	out := value.NewMap(2)
	for _, d := range []string{"_modules", "_runners", "_states", "_wheel"} {
		l, err := names(ctx, c, d)
		if err != nil {
			return fun.Result{}, err
		}
		if l.Len() > 0 {
			out.Set(d[1:], l)
		}
	}
	return fun.Value(out)
}

type cmdArgs struct {
	Tgt              value.Value   `arg:"tgt,required,str|list" doc:"the targets"`
	Fun              string        `arg:"fun,required" doc:"the function"`
	Arg              []value.Value `arg:"arg" doc:"its positional arguments"`
	Timeout          time.Duration `arg:"timeout" unit:"s" doc:"ask silent targets after this time"`
	TgtType          string        `arg:"tgt_type" default:"glob" doc:"type of tgt"`
	Ret              string        `arg:"ret" default:"" doc:"returner"`
	Kwarg            *value.Map    `arg:"kwarg" doc:"its keyword arguments"`
	_                bool          `arg:"ssh" default:"False" doc:"accepted"`
	Batch            string        `arg:"batch,str|int" doc:"how many targets run at a time: a number or a percentage"`
	Subset           int64         `arg:"subset" doc:"run on this many randomly chosen targets"`
	Failhard         bool          `arg:"failhard" default:"False" doc:"start no further batch after a failure"`
	_                bool          `arg:"expect_minions" default:"False" doc:"accepted; targets that do not return are reported"`
	GatherJobTimeout time.Duration `arg:"gather_job_timeout" unit:"s" doc:"how long a silent target has to reply"`
	Metadata         value.Value   `arg:"metadata" doc:"data to store with the job"`
	Rest             fun.Kwargs
}

// cmd runs a function on targets. Salt: salt/modules/saltutil.py cmd.
func cmd(ctx context.Context, c *fun.Call, a *cmdArgs) (fun.Result, error) {
	if c.Env.Fleet == nil {
		return fun.Result{}, fun.Errorf("this machine reaches no targets")
	}
	job := fun.Job{
		Tgt: a.Tgt, TgtType: a.TgtType, Fun: a.Fun, Args: fun.Args{Pos: a.Arg, Kw: a.Kwarg.Copy()},
		Returner: a.Ret, Batch: a.Batch, FailHard: a.Failhard, Metadata: a.Metadata,
	}
	job.Timeout, job.Gather, job.Subset = a.Timeout, a.GatherJobTimeout, int(a.Subset)
	// Salt takes other keywords for its client's, silently.
	for _, k := range a.Rest.Keys() {
		if s := value.Str(k); !strings.HasPrefix(s, "__") {
			c.Env.Warn(fun.Warning{Text: fmt.Sprintf("saltutil.cmd has no argument %q: what %s takes by name goes into kwarg", s, job.Fun)})
		}
	}
	out := value.NewMap(8)
	_, err := c.Env.Fleet.Run(ctx, job, func(r fun.Return) error {
		v, err := r.Value()
		if err != nil {
			return err
		}
		m := value.MapOf("ret", v)
		if r.Stage != fun.Returned {
			m = value.MapOf("failed", true, "ret", v)
		}
		if r.Out != "" {
			m.Set("out", r.Out)
		}
		if r.Stage == fun.Returned {
			m.Set("retcode", int64(r.Retcode))
		}
		m.Set("jid", r.JID)
		out.Set(r.ID, m)
		return nil
	})
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(out)
}

type runnerArgs struct {
	Name       string      `arg:"name,required" doc:"the function"`
	Arg        value.Value `arg:"arg,list" doc:"its positional arguments"`
	Kwarg      value.Value `arg:"kwarg,dict" doc:"its keyword arguments"`
	FullReturn bool        `arg:"full_return" default:"False" doc:"return a mapping of fun, fun_args, jid, return and success"`
	More       fun.Varargs
	Rest       fun.Kwargs
}

func runner(ctx context.Context, c *fun.Call, a *runnerArgs) (fun.Result, error) {
	return master(ctx, c, a.Name, fun.Runner, masterArgs(a.Arg, a.Kwarg, a.More, a.Rest), a.FullReturn)
}

type wheelArgs struct {
	Name       string      `arg:"name,required" doc:"the function"`
	Arg        value.Value `arg:"arg,kw,list" doc:"its positional arguments"`
	Kwarg      value.Value `arg:"kwarg,kw,dict" doc:"its keyword arguments"`
	FullReturn bool        `arg:"full_return,kw" default:"False" doc:"return a mapping of fun, fun_args, jid, return and success"`
	More       fun.Varargs
	Rest       fun.Kwargs
}

// wheel takes arg, kwarg and full_return by keyword only.
func wheel(ctx context.Context, c *fun.Call, a *wheelArgs) (fun.Result, error) {
	args := masterArgs(a.Arg, a.Kwarg, a.More, a.Rest)
	return master(ctx, c, a.Name, fun.Wheel, args, a.FullReturn)
}

// masterArgs returns the arguments of the function that saltutil.runner or
// saltutil.wheel calls.
func masterArgs(arg, kwarg value.Value, more fun.Varargs, rest fun.Kwargs) (args fun.Args) {
	args.Kw = value.NewMap(0)
	switch v := arg.(type) {
	case nil:
	case *value.List:
		args.Pos = append(args.Pos, v.Items...)
	default:
		args.Pos = append(args.Pos, v)
	}
	args.Pos = append(args.Pos, more...)
	if m, ok := kwarg.(value.Mapping); ok {
		args.Kw.Update(value.ToMap(m))
	}
	for k, v := range rest.All() {
		if !strings.HasPrefix(value.Str(k), "__") {
			args.Kw.Set(k, v)
		}
	}
	return args
}

// master calls a runner or wheel function. Salt: salt/modules/saltutil.py
// runner, wheel.
func master(ctx context.Context, c *fun.Call, name string, kind fun.Kind, args fun.Args, full bool) (fun.Result, error) {
	jid := c.Env.JID
	if spec := c.Env.Table.Spec(kind, name); spec != nil {
		var err error
		if args, err = dispatch.Published(spec, dispatch.Typed(args)); err != nil {
			return fun.Result{}, err
		}
	}
	var res fun.Result
	var err error
	if kind == fun.Runner {
		jid, res, err = c.Env.CallRunner(ctx, name, args)
	} else {
		res, err = c.Env.Invoker.Invoke(ctx, kind, name, args)
	}
	var missing *fun.NotFoundError
	switch {
	case err == nil:
	case ctx.Err() != nil || errors.As(err, &missing):
		return fun.Result{}, fmt.Errorf("%s %s: %w", kind, name, err)
	default:
		// What the function raises is its return.
		res = fun.Result{Value: fmt.Sprintf("Exception occurred in %s %s: %v", strings.TrimSuffix(kind.String(), " function"), name, err), Retcode: 1}
	}
	if full {
		res.Value = value.MapOf("fun", strings.TrimSuffix(kind.String(), " function")+"."+name, "fun_args", redact.Args(c.Env.Table.Spec(kind, name).ArgNames(), args.Pos, args.Kw, c.Env.Table.Spec(kind, name).SecretArgs()...),
			"jid", jid, "return", res.Value, "success", res.Retcode == 0)
	}
	return res, nil
}

// running lists the jobs of this machine. Salt: salt/modules/saltutil.py
// running.
func running(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	l := value.NewList()
	for _, m := range proc(c).List() {
		if m.Str("jid") != c.Env.JID {
			l.Append(m)
		}
	}
	return fun.Value(l)
}

// proc is where the jobs of this machine are noted while they run.
func proc(c *fun.Call) *jobs.Proc { return jobs.ProcOf(c.Env) }

func findJob(_ context.Context, c *fun.Call, a *jidArg) (fun.Result, error) {
	if m := proc(c).Find(a.JID); m != nil {
		return fun.Value(m)
	}
	return fun.Value(value.NewMap(0))
}

type isRunningArgs struct {
	_   fun.Arguments
	Fun string `arg:"fun,required" doc:"glob of functions"`
}

func isRunning(_ context.Context, c *fun.Call, a *isRunningArgs) (fun.Result, error) {
	l := value.NewList()
	for _, m := range proc(c).List() {
		if m.Str("jid") != c.Env.JID && value.Fnmatch(a.Fun, m.Str("fun")) {
			l.Append(m)
		}
	}
	return fun.Value(l)
}

// signal sends a signal to the process of a job.
// Salt: salt/modules/saltutil.py signal_job, term_job, kill_job.
func signal(ctx context.Context, c *fun.Call, a *jidArg, n int) (fun.Result, error) {
	jid := a.JID
	if jid == c.Env.JID {
		return fun.Value("")
	}
	pid, whole, err := proc(c).Signal(ctx, jid, n)
	if err == nil && whole && n == 9 {
		// The process had no time to say so.
		_ = jobs.NewFiles(c.Env.CacheDir, 0, c.Env.Host.Now).Kill(jid, n)
	}
	switch {
	case err != nil:
		return fun.Value(fmt.Sprintf("Job %s was running at pid %d, but cannot be signalled: %v", jid, pid, err))
	case pid == 0:
		return fun.Value("")
	}
	return fun.Value(fmt.Sprintf("Signal %d sent to job %s at pid %d", n, jid, pid))
}

func killJob(ctx context.Context, c *fun.Call, a *jidArg) (fun.Result, error) {
	return signal(ctx, c, a, 9)
}

func termJob(ctx context.Context, c *fun.Call, a *jidArg) (fun.Result, error) {
	return signal(ctx, c, a, 15)
}

type signalJobArgs struct {
	jidArg
	Sig int64 `arg:"sig,required" doc:"number of the signal"`
}

func signalJob(ctx context.Context, c *fun.Call, a *signalJobArgs) (fun.Result, error) {
	n := a.Sig
	if n < 0 || n > 64 {
		return fun.Result{}, fun.Errorf("sig must be the number of a signal, not %d", n)
	}
	return signal(ctx, c, &a.jidArg, int(n))
}
