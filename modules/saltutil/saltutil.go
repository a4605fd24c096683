// Package saltutil is Salt's execution module "saltutil": functions about
// functions and jobs.
package saltutil

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"

	"brine/internal/dispatch"
	"brine/internal/fun"
	"brine/internal/jobs"
	"brine/internal/redact"
	"brine/internal/returner/custom"
	"brine/internal/value"
)

// Module returns the rows of the execution module "saltutil".
func Module() fun.Module {
	jid := []fun.Arg{{Name: "jid", Type: fun.Str, Required: true, Doc: "the job"}}
	call := func(name, kind string, fn fun.ExecFn) fun.Spec {
		return fun.Spec{
			Name: name, Doc: "Run a " + kind + " function.", Src: "modules/saltutil.py " + name, Fn: fn, VarKw: true,
			Args: []fun.Arg{
				{Name: "name", Type: fun.Str, Required: true, Doc: "the function"},
				{Name: "arg", Type: fun.List, Doc: "its positional arguments"},
				{Name: "kwarg", Type: fun.Dict, Doc: "its keyword arguments"},
				{Name: "full_return", Type: fun.Bool, Default: false, Doc: "return a dict of fun, fun_args, jid, return and success"},
			},
			VarArg: true,
		}
	}
	m := fun.Module{
		Name: "saltutil", Kind: fun.Exec, Doc: "Functions about functions and jobs.",
		Specs: []fun.Spec{
			{
				Name: "cmd", Doc: "Run a function on targets and return their answers by id.", Src: "modules/saltutil.py cmd", Fn: cmd, VarKw: true,
				Args: []fun.Arg{
					{Name: "tgt", Required: true, Doc: "the targets"},
					{Name: "fun", Type: fun.Str, Required: true, Doc: "the function"},
					{Name: "arg", Type: fun.List, Doc: "its positional arguments"},
					{Name: "timeout", Type: fun.Float, Unit: "s", Doc: "ask a silent target after this time"},
					{Name: "tgt_type", Type: fun.Str, Default: "glob", Doc: "how tgt names the targets"},
					{Name: "ret", Type: fun.Str, Default: "", Doc: "returner"},
					{Name: "kwarg", Type: fun.Dict, Doc: "its keyword arguments"},
					{Name: "ssh", Type: fun.Bool, Default: false, Doc: "accepted"},
					{Name: "batch", Doc: "how many targets work at once: a number or a percentage"},
					{Name: "subset", Type: fun.Int, Doc: "run on this many of the targets, picked at random"},
					{Name: "failhard", Type: fun.Bool, Default: false, Doc: "begin no further batch after a failure"},
					{Name: "expect_minions", Default: false, Doc: "accepted: a target that does not return is told of"},
					{Name: "gather_job_timeout", Type: fun.Float, Unit: "s", Doc: "time that a silent target has to say whether it still works"},
					{Name: "metadata", Doc: "data to keep with the job"},
				},
			},
			{Name: "find_job", Doc: "Return the data of a job that runs on this machine.", Src: "modules/saltutil.py find_job", Fn: findJob, Args: jid},
			{Name: "is_running", Doc: "Return the jobs on this machine whose function matches a glob.", Src: "modules/saltutil.py is_running", Fn: isRunning, Args: []fun.Arg{{Name: "fun", Type: fun.Str, Required: true, Doc: "the function, a glob"}}},
			{Name: "kill_job", Doc: "Send SIGKILL to the process of a job.", Src: "modules/saltutil.py kill_job", Fn: signalFn(9), Args: jid},
			{Name: "list_extmods", Doc: "List the custom modules by kind.", Src: "modules/saltutil.py list_extmods", Fn: listExtmods},
			call("runner", "runner", runner),
			{Name: "running", Doc: "Return the jobs that run on this machine.", Src: "modules/saltutil.py running", Fn: running},
			{
				Name: "signal_job", Doc: "Send a signal to the process of a job.", Src: "modules/saltutil.py signal_job", Fn: signalFn(0),
				Args: append(jid[:1:1], fun.Arg{Name: "sig", Type: fun.Int, Required: true, Doc: "number of the signal"}),
			},
			{Name: "term_job", Doc: "Send SIGTERM to the process of a job.", Src: "modules/saltutil.py term_job", Fn: signalFn(15), Args: jid},
			call("wheel", "wheel", wheel),
		},
	}
	m.Specs = append(append(m.Specs, syncSpecs("modules", append(synced[:len(synced):len(synced)], "pillar", "runners"))...), refreshSpecs()...)
	m.SortSpecs()
	return m
}

// names lists the custom modules of a directory as "modules.NAME".
func names(ctx context.Context, c *fun.Call, dir string) (*value.List, error) {
	if dir == "_returners" {
		return returners(ctx, c), nil
	}
	customs, err := dispatch.FindCustom(ctx, c.Env)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, x := range customs {
		if strings.HasPrefix(x.File.Path, dir+"/") {
			found = append(found, strings.TrimPrefix(dir, "_")+"."+x.Name)
		}
	}
	sort.Strings(found)
	return value.Strings(found...), nil
}

// returners lists the executables that serve as returners.
func returners(ctx context.Context, c *fun.Call) *value.List {
	var found []string
	for _, s := range custom.Find(ctx, c.Env) {
		found = append(found, "returners."+s.Name)
	}
	sort.Strings(found)
	return value.Strings(found...)
}

func listExtmods(ctx context.Context, c *fun.Call) (fun.Result, error) {
	out := value.NewMap(2)
	for _, d := range []string{"_modules", "_runners"} {
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

// cmd runs a function on targets. Salt: salt/modules/saltutil.py cmd.
func cmd(ctx context.Context, c *fun.Call) (fun.Result, error) {
	if c.Env.Fleet == nil {
		return fun.Result{}, fun.Errorf("this machine reaches no targets")
	}
	job := fun.Job{
		Tgt: c.Value("tgt"), TgtType: c.Str("tgt_type"), Fun: c.Str("fun"), Args: fun.Args{Pos: c.List("arg"), Kw: c.Map("kwarg").Copy()},
		Returner: c.Str("ret"), Batch: c.Str("batch"), FailHard: c.Bool("failhard"), Metadata: c.Value("metadata"),
	}
	job.Timeout, job.Gather, job.Subset = c.Seconds("timeout"), c.Seconds("gather_job_timeout"), int(c.Int("subset"))
	// Salt takes other keywords for its client's, in silence.
	for _, k := range c.Kw.Keys() {
		if s := value.Str(k); !strings.HasPrefix(s, "__") && c.Env.Warn != nil {
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

func runner(ctx context.Context, c *fun.Call) (fun.Result, error) { return master(ctx, c, fun.Runner) }

func wheel(ctx context.Context, c *fun.Call) (fun.Result, error) { return master(ctx, c, fun.Wheel) }

// master calls a runner or wheel function. Salt: salt/modules/saltutil.py
// runner, wheel.
func master(ctx context.Context, c *fun.Call, kind fun.Kind) (fun.Result, error) {
	args := fun.Args{Pos: append(append([]value.Value(nil), c.List("arg")...), c.Pos...), Kw: c.Map("kwarg").Copy()}
	for k, v := range c.Kw.All() {
		if !strings.HasPrefix(value.Str(k), "__") {
			args.Kw.Set(k, v)
		}
	}
	name, jid := c.Str("name"), c.Env.JID
	if spec := c.Env.Table.Spec(kind, name); spec != nil {
		var err error
		if args, err = dispatch.Published(spec, dispatch.Typed(args)); err != nil {
			return fun.Result{}, err
		}
	}
	var res fun.Result
	var err error
	if kind == fun.Runner && c.Env.RunnerJob != nil {
		jid, res, err = c.Env.RunnerJob(ctx, c.Env, name, args)
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
	if c.Bool("full_return") {
		res.Value = value.MapOf("fun", strings.TrimSuffix(kind.String(), " function")+"."+name, "fun_args", redact.Args(c.Env.Table.Spec(kind, name).ArgNames(), args.Pos, args.Kw),
			"jid", jid, "return", res.Value, "success", res.Retcode == 0)
	}
	return res, nil
}

// running lists the jobs of this machine. Salt: salt/modules/saltutil.py
// running.
func running(_ context.Context, c *fun.Call) (fun.Result, error) {
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

func findJob(_ context.Context, c *fun.Call) (fun.Result, error) {
	if m := proc(c).Find(c.Str("jid")); m != nil {
		return fun.Value(m)
	}
	return fun.Value(value.NewMap(0))
}

func isRunning(_ context.Context, c *fun.Call) (fun.Result, error) {
	l := value.NewList()
	for _, m := range proc(c).List() {
		if m.Str("jid") != c.Env.JID && value.Fnmatch(c.Str("fun"), m.Str("fun")) {
			l.Append(m)
		}
	}
	return fun.Value(l)
}

// signalFn sends a signal to the process of a job; nil takes it from the call.
// Salt: salt/modules/saltutil.py signal_job, term_job, kill_job.
func signalFn(sig int) fun.ExecFn {
	return func(ctx context.Context, c *fun.Call) (fun.Result, error) {
		n := sig
		if n == 0 {
			x := c.Int("sig")
			if x < 0 || x > 64 {
				return fun.Result{}, fun.Errorf("sig must be the number of a signal, not %s", value.Repr(c.Value("sig")))
			}
			n = int(x)
		}
		jid := c.Str("jid")
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
}
