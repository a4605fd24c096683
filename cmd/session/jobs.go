package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/printable"
	"brine/internal/core/redact"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/shared"
	"brine/internal/py/value"
)

// RecordsCalls reports whether a call is recorded: where the configuration says
// so, and orchestrations always.
func (s *Session) RecordsCalls(name string) bool {
	return s.Job != nil && s.Job.Record || IsOrchestrate(name) || value.Truth(s.Cfg.Opts.At("cache_jobs")) || slices.Contains(jobs.Names(s.Flags.Ret.Names), "local_cache")
}

// A jobRun is the session's own job: a runner function, or a call.
type jobRun struct {
	s    *Session
	rec  jobs.Record
	kind fun.Kind
	id   string
	jid  string
	name string // as records have it: runner functions have "runner." in front
	args *value.List
	show bool // it shows what is recorded elsewhere
	lock *lockJournal
}

// notKept is what records have in the place of what a look-up returned.
const notKept = "(a look-up: its return is not recorded)"

// beginJob records that the session's job begins, and tells the bus.
func (s *Session) beginJob(env *fun.Env, kind fun.Kind, name string, args fun.Args, jid string) *jobRun {
	j := &jobRun{s: s, rec: jobs.Nothing{}, kind: kind, id: env.ID, jid: jid, name: name, args: redact.Args(s.Table.Spec(kind, name).ArgNames(), args.Pos, args.Kw, s.Table.Spec(kind, name).SecretArgs()...)}
	j.show = s.Table.Spec(kind, name).IsLookup()
	if kind == fun.Runner {
		j.name = "runner." + name
		s.bus.Fire("salt/run/"+jid+"/new", value.MapOf("fun", j.name, "fun_args", runnerArgs(j.args), "jid", jid, "user", s.UserName()))
	}
	l := jobs.Load{
		JID: jid, Fun: j.name, Arg: j.args, Tgt: env.ID, TgtType: "glob", User: s.UserName(), Minions: []string{env.ID},
		OrchJID: env.OrchJID, Metadata: cmp.Or(args.Kw.At("metadata"), s.Metadata), PID: os.Getpid(), Runner: kind == fun.Runner,
	}
	if kind == fun.Runner {
		l.TgtType = "list"
	}
	if kind == fun.Runner {
		l.Limit = s.limitedTo()
	}
	if m := s.jobMetadata(); m != nil {
		l.Metadata = m
	}
	rec, err := s.Begin(l)
	j.rec = rec
	s.Doubt(err)
	if IsOrchestrate(name) || kind == fun.Runner && name == "state.sls" {
		sls := args.Kw.At("mods")
		if len(args.Pos) > 0 {
			sls = args.Pos[0]
		}
		j.lock = &lockJournal{
			History: &jobs.History{Record: rec, SLS: sls, User: l.User, Resume: s.resume, Warn: s.Doubt, FailedOn: func(step, job string) ([]string, bool) { return s.steps.of(job, jid, step) }},
			s:       s, jid: jid, parent: env.OrchJID, name: lockName(nil, sls, cmp.Or(args.Kw.Str("saltenv"), env.SaltEnv)),
		}
		if env.OrchJID == "" && s.Subject != nil {
			j.lock.name = lockName(s.Subject, nil, "")
		}
		j.lock.from, j.lock.claims = s.resume, s.claims
		env.Journal = j.lock
		s.resume, s.claims = nil, nil
	}
	return j
}

// runnerArgs are arguments as the events and the return of a runner function have
// them: keyword arguments are a plain dict at the end.
// Salt: salt/client/mixins.py SyncClientMixin.low.
func runnerArgs(args *value.List) *value.List {
	out := args.Copy(0)
	for i, v := range out.Items {
		if m, ok := v.(*value.Map); ok && m.Has("__kwarg__") {
			m = m.Copy()
			m.Delete("__kwarg__")
			out.Items[i] = m
		}
	}
	return out
}

// runnerJob calls a runner function that a step of an orchestration names: a
// job of its own. It is the fun.Jobs.OnRunner of a controller.
func (s *Session) runnerJob(ctx context.Context, env *fun.Env, name string, args fun.Args) (string, fun.Result, error) {
	jid := s.NewJID()
	env = env.Fork(func(e *fun.Env) { e.OrchJID, e.JID = e.JID, jid })
	s.mu.Lock()
	if s.parents == nil {
		s.parents = map[string]string{}
	}
	s.parents[jid] = env.OrchJID
	s.mu.Unlock()
	job := s.beginJob(env, fun.Runner, name, args, jid)
	res, err := env.Invoker.Invoke(ctx, fun.Runner, name, args)
	res.Retcode = res.Code(fun.Runner)
	job.end(res, err)
	res.Value = value.Solid(res.Value)
	return jid, res, err
}

// end records how the job ended, with the return code that the command or the step
// has of it.
func (j *jobRun) end(res fun.Result, err error) {
	code := res.Retcode
	if err != nil {
		code = app.ExitGeneric
	}
	ret := fun.Return{ID: j.id, JID: j.jid, Retcode: code, Raised: err != nil, Interrupted: errors.Is(err, context.Canceled), Out: j.outputter(res)}
	v := res.Value
	if j.show {
		v = notKept
	}
	if err != nil && !CutShort(res, err) {
		v = err.Error()
		if j.kind == fun.Runner {
			v = fmt.Sprintf("Exception occurred in runner %s: %v", j.name[len("runner."):], err)
		}
	}
	if j.kind == fun.Runner {
		data := value.MapOf("fun_args", runnerArgs(j.args), "jid", j.jid, "return", v, "success", ret.Success(), "user", j.s.UserName(), "fun", j.name)
		j.s.bus.Fire("salt/run/"+j.jid+"/ret", data)
		data = data.Copy()
		data.Set("_stamp", j.s.App.Host.Now().UTC().Format("2006-01-02T15:04:05.000000"))
		v = data
	}
	ret.Body = fun.ValueBody{V: v}
	j.s.Doubt(j.rec.Return(ret))
	j.s.Doubt(j.rec.End())
	j.lock.drop()
	jobs.NewPauses(j.s.Cfg.CacheDir).Forget(j.jid)
}

// CutShort reports whether a run was cancelled whose result has what was done
// until then.
func CutShort(res fun.Result, err error) bool {
	m, ok := res.Value.(*value.Map)
	return errors.Is(err, context.Canceled) && ok && m.Len() > 0
}

// outputter is that of the return; a runner's return has its own within.
func (j *jobRun) outputter(res fun.Result) string {
	if j.kind == fun.Runner {
		return ""
	}
	return res.Out
}

// Resumed looks up the orchestration that --resume names and returns the
// arguments to run it with: those given, else those it was run with. One that this
// machine does not know is looked for in what controllers share.
func (s *Session) Resumed(ctx context.Context, env *fun.Env, jid string, args fun.Args) (fun.Args, error) {
	j, err := s.Files.Job(ctx, jid)
	if err != nil {
		return args, err
	}
	where := "the cache of this machine"
	if j == nil && assembly.SharesRecords(env) {
		where += " and in the database of the job cache"
		if j, err = assembly.SharedJob(ctx, env, jid); err != nil {
			return args, fmt.Errorf("--resume: job %s is not in the cache of this machine, and that of other controllers cannot be read: %w", jid, err)
		}
	}
	if j == nil {
		return args, fmt.Errorf("--resume: there is no job %s in %s; 'brine run jobs.list_jobs' lists the jobs", jid, where)
	}
	if name := strings.TrimPrefix(j.Load.Str("fun"), "runner."); !IsOrchestrate(name) && name != "state.sls" {
		return args, &app.StatusError{
			Status: app.ExitGeneric, Err: fmt.Errorf("--resume: job %s did not run an orchestration but %s", jid, printable.Line(name)),
			Hint: "'brine run jobs.list_jobs search_function=runner.state.orchestrate' lists orchestrations",
		}
	}
	if j.State == jobs.Active {
		text := fmt.Sprintf("--resume: job %s is still running", jid)
		if j.Where != "" {
			text += fmt.Sprintf(" on %s, which was heard of %s ago; it counts as dead when that is more than controller_lease", j.Where, shared.Round(j.Silence))
		}
		return args, errors.New(text)
	}
	if err := s.sameLimit(ctx, env, j); err != nil {
		return args, err
	}
	s.resume, s.claims = j, []string{jid}
	if len(args.Pos) > 0 {
		return args, nil
	}
	l := j.Load.List("arg")
	for i := range l.Len() {
		kw, ok := l.Items[i].(*value.Map)
		if !ok || kw.At("__kwarg__") != true {
			args.Pos = append(args.Pos, l.Items[i])
			continue
		}
		for k, v := range kw.All() {
			if k != "__kwarg__" && !args.Kw.Has(k) {
				args.Kw.Set(k, v)
			}
		}
	}
	return args, nil
}

// Invoke calls a function with the metadata that Salt hands to functions that
// take any keyword argument. The return code of the result is that of the job.
func (s *Session) Invoke(ctx context.Context, env *fun.Env, kind fun.Kind, name string, args fun.Args, jid string) (fun.Result, error) {
	if _, spec, err := env.Find(kind, name); err == nil && spec.VarKw && kind == fun.Exec {
		args.Kw.Set("__pub_fun", name)
		args.Kw.Set("__pub_pid", int64(os.Getpid()))
		args.Kw.Set("__pub_jid", jid)
		args.Kw.Set("__pub_tgt", "salt-call")
	}
	s.Log.Info("call", "fun", name, "kind", kind.String(), "jid", jid)
	s.App.Intr.SetJID(jid)
	if !strings.HasPrefix(name, "state.") {
		// A state run begins with its first state: see Interrupt.Gate.
		s.App.Intr.Begun.Store(true)
	}
	note := value.MapOf(
		"jid", jid, "fun", name, "arg", redact.Args(s.Table.Spec(kind, name).ArgNames(), args.Pos, args.Kw, s.Table.Spec(kind, name).SecretArgs()...), "tgt", env.ID, "tgt_type", "glob", "ret", "",
		"user", s.UserName(), "pid", int64(os.Getpid()),
	)
	if s.Job != nil {
		note.Set("schedule", s.Job.Name)
	}
	end, err := jobs.NewProc(s.App.Host, env.CacheDir).Begin(note)
	if err != nil {
		s.Log.Info("the job cannot be noted as running", "err", err)
	}
	defer end()
	job := s.beginJob(env, kind, name, args, jid)
	_, spec, _ := env.Find(kind, name)
	args, _ = dispatch.TakeMetadata(spec, args)
	res, err := env.Invoker.Invoke(ctx, kind, name, args)
	res.Retcode = res.ExitCode(kind)
	job.end(res, err)
	return res, err
}

// jobMetadata returns what the record of a scheduled job has as metadata; nil:
// nothing. Salt: salt/utils/schedule.py handle_func.
func (s *Session) jobMetadata() *value.Map {
	if s.Job == nil || s.Job.Metadata == nil {
		return nil
	}
	now := s.App.Host.Now()
	m := s.Job.Metadata.Copy()
	m.Set("_TOS", int64(0))
	m.Set("_TS", now.Format(time.ANSIC))
	m.Set("_TT", now.UTC().Format("2006 January 02 Mon 15 01"))
	return m
}
