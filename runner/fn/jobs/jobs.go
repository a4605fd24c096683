// Package jobsrun is Salt's runner module "jobs": what ran, and what runs.
package jobsrun

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// An Opener opens a store of jobs by the name of its returner.
type Opener func(ctx context.Context, env *fun.Env, name string) (store jobs.Store, done func(), err error)

type module struct{ open Opener }

// local is the name of the job cache of this machine.
const local = "local_cache"

// An origin says where a call reads jobs from.
type origin struct {
	source   string // the returner that the call names; "" is none
	progress bool   // report progress
}

// store opens the store that a call reads from: ext_job_cache, ext_source, or
// master_job_cache. Salt: runners/jobs.py _get_returner.
func (m *module) store(ctx context.Context, c *fun.Call, from origin) (jobs.Store, func(), error) {
	name := ""
	for _, n := range []string{from.source, c.Env.Opts.Str("ext_job_cache"), c.Env.Opts.Str("master_job_cache")} {
		if name == "" && n != "None" {
			name = n
		}
	}
	if from.progress {
		reportProgress(c, "Querying returner: "+name)
	}
	if name == "" || name == local {
		return files(c.Env), func() {}, nil
	}
	s, done, err := m.open(ctx, c.Env, name)
	if err != nil {
		return nil, nil, fun.Errorf("%v\nthe job cache of this machine has the jobs that ran here: ext_source=%s", err, local)
	}
	return s, done, nil
}

func files(env *fun.Env) *jobs.Files { return jobs.NewFiles(env.CacheDir, 0, env.Host.Now) }

// reportProgress fires a progress event and logs it.
func reportProgress(c *fun.Call, text string) {
	if c.Env.Bus != nil {
		c.Env.Bus.Fire("salt/run/"+c.Env.JID+"/progress", value.MapOf("message", text))
	}
	c.Env.Log().Info("progress", "message", text)
}

// named returns the job that a call names; nil where there is none.
func (m *module) named(ctx context.Context, c *fun.Call, jid string, from origin) (*jobs.Job, error) {
	if !jobs.IsJID(jid) {
		return nil, fun.Errorf("%q is not a jid: a jid is 20 digits, such as 20261121093205123456; jobs.list_jobs lists the jobs", jid)
	}
	return m.job(ctx, c, jid, from)
}

// job returns a job; nil where there is none.
func (m *module) job(ctx context.Context, c *fun.Call, jid string, from origin) (*jobs.Job, error) {
	// What targets left is fetched into the cache of this machine first. That has
	// all of a detached job.
	mine, err := files(c.Env).Job(ctx, jid)
	if err == nil && mine != nil && len(mine.Owed()) > 0 {
		if err := settle(ctx, c, mine, from.progress); err != nil || mine.Detached() {
			return mine, err
		}
	}
	s, done, err := m.store(ctx, c, from)
	if err != nil {
		return nil, err
	}
	defer done()
	if _, local := s.(*jobs.Files); local && mine != nil {
		return mine, nil
	}
	j, err := s.Job(ctx, jid)
	if err != nil {
		return nil, err
	}
	if _, local := s.(*jobs.Files); local {
		return j, nil
	}
	return joined(ctx, c, from.source, jid, j, mine)
}

// A settler asks targets for what a detached job left with them.
type settler interface {
	Settle(ctx context.Context, j *jobs.Job) error
}

// settle brings a job that goes on without its process, or whose targets were
// lost while they worked, up to date.
func settle(ctx context.Context, c *fun.Call, j *jobs.Job, progress bool) error {
	f, ok := c.Env.Fleet.(settler)
	if !ok {
		return nil
	}
	if n := len(j.Owed()); progress && n > 0 {
		reportProgress(c, fmt.Sprintf("Asking %d targets", n))
	}
	return f.Settle(ctx, j)
}

// unknown is Salt's text for a job that is not there.
const unknown = "Cannot contact returner or no job with this jid"

// instance shows a job. Salt: runners/jobs.py _format_jid_instance.
func instance(c *fun.Call, jid string, j *jobs.Job) *value.Map {
	if j == nil {
		return value.MapOf("Error", unknown, "StartTime", jobs.JIDTime(jid))
	}
	m := jobs.FormatBrief(&jobs.Brief{JID: jid, Load: j.Load, Damage: j.Damage})
	start := m.At("StartTime")
	m.Delete("StartTime")
	if v := j.Load.List("Minions"); v.Len() > 0 {
		m.Set("Minions", v)
	}
	m.Set("StartTime", start)
	switch {
	case len(j.Running) > 0:
		m.Set("Status", jobs.Active.String())
	case j.State != jobs.Complete && j.Damage == "":
		m.Set("Status", j.Status())
	}
	if j.EndTime != "" && value.Truth(c.Env.Opts.At("job_cache_store_endtime")) {
		m.Set("EndTime", j.EndTime)
	}
	return m
}

func results(j *jobs.Job) *value.Map {
	if j == nil {
		return value.NewMap(0)
	}
	return j.Returns
}

// coded is a result that is a failure where the job is not there.
func coded(v value.Value, j *jobs.Job, out string) (fun.Result, error) {
	r := fun.Result{Value: v, Out: out}
	if j == nil {
		r.Retcode = 1
	}
	return r, nil
}

type listJobArgs struct {
	jidArgs
	outArgs
	progressArgs
}

func (m *module) listJob(ctx context.Context, c *fun.Call, a *listJobArgs) (fun.Result, error) {
	j, err := m.named(ctx, c, a.JID, origin{a.ExtSource, a.DisplayProgress})
	if err != nil {
		return fun.Result{}, err
	}
	ret := value.MapOf("jid", a.JID)
	ret.Update(instance(c, a.JID, j))
	ret.Set("Result", results(j))
	return coded(ret, j, a.Outputter)
}

func (m *module) printJob(ctx context.Context, c *fun.Call, a *jidArgs) (fun.Result, error) {
	j, err := m.named(ctx, c, a.JID, origin{source: a.ExtSource})
	if err != nil {
		return fun.Result{}, err
	}
	inst := instance(c, a.JID, j)
	inst.Set("Result", results(j))
	return coded(value.MapOf(a.JID, inst), j, "")
}

func (m *module) getJID(ctx context.Context, c *fun.Call, a *jidArgs) (fun.Result, error) {
	j, err := m.named(ctx, c, a.JID, origin{source: a.ExtSource})
	if err != nil {
		return fun.Result{}, err
	}
	return coded(results(j), j, "")
}

func (m *module) exitSuccess(ctx context.Context, c *fun.Call, a *jidArgs) (fun.Result, error) {
	j, err := m.named(ctx, c, a.JID, origin{source: a.ExtSource})
	if err != nil {
		return fun.Result{}, err
	}
	ret := value.NewMap(8)
	if j != nil {
		l := j.Load.List("Minions")
		for i := range l.Len() {
			ret.Set(value.Str(l.Items[i]), false)
		}
		for k, v := range j.Returns.All() {
			r, _ := v.(*value.Map)
			ret.Set(k, jobs.Succeeded(r))
		}
	}
	res, err := coded(ret, j, "")
	for _, good := range ret.All() {
		if good == false {
			res.Retcode = 1
		}
	}
	return res, err
}

type lookupArgs struct {
	jidArgs
	Returned bool `arg:"returned" default:"True" doc:"show targets that returned"`
	Missing  bool `arg:"missing" default:"False" doc:"show targets that did not return"`
	progressArgs
	outArgs
}

// lookupJID shows what a job returned. Salt: runners/jobs.py lookup_jid.
func (m *module) lookupJID(ctx context.Context, c *fun.Call, a *lookupArgs) (fun.Result, error) {
	j, err := m.named(ctx, c, a.JID, origin{a.ExtSource, a.DisplayProgress})
	if err != nil {
		return fun.Result{}, err
	}
	if j == nil {
		c.Env.Warn(fun.Warning{Text: fmt.Sprintf("no job %s: %s", a.JID, unknown)})
		return coded(value.NewMap(0), nil, "")
	}
	m.explain(c, j)
	if r, ok := orchestration(j); ok && a.Returned {
		out := a.Outputter
		if out == "" {
			out = r.Str("outputter")
		}
		return fun.Result{Value: r, Out: out}, nil
	}
	ret := value.NewMap(j.Returns.Len())
	out := a.Outputter
	for k, v := range j.Returns.All() {
		if a.DisplayProgress {
			reportProgress(c, value.Str(k))
		}
		r, _ := v.(*value.Map)
		if a.Returned {
			ret.Set(k, r.At("return"))
		}
		if out == "" {
			out = r.Str("out")
		}
	}
	for k, v := range j.Partial.All() {
		// A run that was lost is shown as far as it came.
		if a.Returned && !j.Returns.Has(k) {
			ret.Set(k, v)
		}
		if out == "" {
			out = "highstate"
		}
	}
	if a.Missing {
		for _, id := range missing(j) {
			if ret.Has(id) {
				continue
			}
			ret.Set(id, "Minion did not return")
		}
	}
	res := fun.Result{Value: ret, Out: out}
	if ret.Len() == 0 && j.Returns.Len() == 0 && (j.State == jobs.Complete || j.State == jobs.Interrupted) {
		res.Retcode = 1 // there is nothing to print, and nothing is to come
	}
	return res, nil
}

// explain says on stderr what the returns alone do not show.
func (m *module) explain(c *fun.Call, j *jobs.Job) {
	switch j.State {
	case jobs.Active, jobs.Detached:
		if j.State == jobs.Active || len(j.Running) > 0 {
			text := fmt.Sprintf("job %s is still running", j.JID)
			if j.Where != "" {
				text += ", on " + j.Where
			}
			c.Env.Warn(fun.Warning{Text: text})
		}
	case jobs.Interrupted:
		if j.Killed != 0 {
			c.Env.Warn(fun.Warning{Text: killedBy(j)})
			break
		}
		c.Env.Warn(fun.Warning{Text: interrupted(j)})
	case jobs.Complete:
	}
	switch {
	case j.Damage != "":
		c.Env.Warn(fun.Warning{Text: fmt.Sprintf("the record of job %s is damaged: %s; 'brine run jobs.check' repairs it", j.JID, j.Damage)})
	case j.Repaired != "":
		c.Env.Warn(fun.Warning{Text: fmt.Sprintf("the record of job %s was damaged, and repaired: %s", j.JID, j.Repaired)})
	}
	var work []string
	var why []string // in order
	ids, first := map[string][]string{}, map[string]string{}
	for _, id := range missing(j) {
		if _, runs := j.Running[id]; runs {
			work = append(work, id)
			continue
		}
		text := absence(j, id)
		if text == "" {
			continue
		}
		key := reason(text, id)
		if ids[key] == nil {
			why, first[key] = append(why, key), text
		}
		ids[key] = append(ids[key], id)
	}
	if len(work) > mostNamed {
		warn(c, named(work)+" still work on the job")
		work = nil
	}
	for _, id := range work {
		warn(c, fmt.Sprintf("target %s still works on the job, as pid %d", id, j.Running[id]))
	}
	for _, key := range why {
		text := key
		if len(ids[key]) == 1 {
			text = first[key]
		}
		warn(c, named(ids[key])+" "+text)
	}
}

// reason is why there is no return of a target without its name and address, which
// differ where several have the same reason.
func reason(text, id string) string {
	before, rest, named := strings.Cut(text, ": "+id+" (")
	if _, after, closed := strings.Cut(rest, "): "); named && closed {
		return before + ": " + after
	}
	return strings.Replace(text, ": "+id+" ", ": it ", 1)
}

// mostNamed is how many targets are named one by one.
const mostNamed = 10

// named names targets, the first of many.
func named(ids []string) string {
	switch n := len(ids); {
	case n == 1:
		return "target " + ids[0]
	case n > mostNamed:
		return fmt.Sprintf("%d targets (%s and %d more)", n, strings.Join(ids[:mostNamed], ", "), n-mostNamed)
	default:
		return fmt.Sprintf("%d targets (%s)", n, strings.Join(ids, ", "))
	}
}

// absence says why there is no return of a target; "" where that goes without
// saying.
func absence(j *jobs.Job, id string) string {
	why, silent := j.Missing[id], j.Silent[id]
	switch {
	case silent != "":
		return "cannot be asked for its return: " + silent
	case why != "":
		return "did not return: " + why
	case j.State != jobs.Complete || j.Unread != nil:
		return "did not return"
	}
	return ""
}

// interrupted says that the process of a job is gone.
func interrupted(j *jobs.Job) string {
	if j.Where == "" {
		return fmt.Sprintf("job %s was interrupted: its process ended before the job did", j.JID)
	}
	text := fmt.Sprintf("job %s was interrupted: %s died; it was last heard of %s ago", j.JID, j.Where, j.Silence.Round(time.Second))
	if j.Definition != nil {
		text += fmt.Sprintf("; 'brine orchestrate --resume %s' goes on with it", j.JID)
	}
	return text
}

// killedBy says what ended a job.
func killedBy(j *jobs.Job) string {
	text := fmt.Sprintf("job %s was killed by signal %d", j.JID, j.Killed)
	if j.KilledAt != "" {
		text += " at " + j.KilledAt
	}
	return text
}

func missing(j *jobs.Job) []string {
	var out []string
	l := j.Load.List("Minions")
	for i := range l.Len() {
		if id := value.Str(l.Items[i]); !j.Returns.Has(id) {
			out = append(out, id)
		}
	}
	return out
}

// orchestration returns what an orchestration printed; where it was cut short,
// what its steps returned until then.
func orchestration(j *jobs.Job) (*value.Map, bool) {
	for _, v := range j.Returns.All() {
		r, _ := v.(*value.Map)
		inner := r.Map("return")
		if in := inner.Map("return"); in != nil && strings.HasPrefix(inner.Str("fun"), "runner.") {
			inner = in
		}
		if inner.Map("data") != nil && inner.Has("outputter") {
			return inner, true
		}
	}
	if j.Definition == nil || j.Returns.Len() > 0 {
		return nil, false
	}
	states := value.NewMap(len(j.Steps))
	for _, s := range j.Steps {
		states.Set(s.Str("tag"), s.Map("return"))
	}
	return value.MapOf("data", value.MapOf(value.Str(j.Load.At("tgt")), states), "outputter", "highstate", "retcode", int64(1)), true
}

// active shows the jobs under way: those that other processes of this machine
// work on, and those that go on without one on their targets, which are asked.
// Salt: runners/jobs.py active, which asks all minions.
func (m *module) active(ctx context.Context, c *fun.Call, a *progressArgs) (fun.Result, error) {
	cache := files(c.Env)
	list, away, err := cache.UnderWay(ctx)
	if err != nil {
		return fun.Result{}, err
	}
	for _, j := range away {
		if err := settle(ctx, c, j, a.DisplayProgress); err != nil {
			return fun.Result{}, err
		}
		known := func(x *jobs.Job) bool { return x.JID == j.JID }
		list = slices.DeleteFunc(list, known)
		if len(j.Running) > 0 || len(j.Silent) > 0 {
			list = append(list, j)
		}
		for _, id := range j.Outstanding() {
			if why := j.Silent[id]; why != "" {
				c.Env.Warn(fun.Warning{Text: fmt.Sprintf("job %s: target %s cannot be asked: %s", j.JID, id, why)})
			}
		}
	}
	list = m.elsewhere(ctx, c, list, a.DisplayProgress)
	slices.SortFunc(list, func(a, b *jobs.Job) int { return strings.Compare(a.JID, b.JID) })
	ret := value.NewMap(len(list))
	for _, j := range list {
		if j.JID != c.Env.JID {
			ret.Set(j.JID, activity(j))
		}
	}
	return fun.Value(ret)
}

// elsewhere adds the jobs that other controllers work on, and reports those
// whose controller died.
func (m *module) elsewhere(ctx context.Context, c *fun.Call, list []*jobs.Job, progress bool) []*jobs.Job {
	s, done, err := m.store(ctx, c, origin{progress: progress})
	if err != nil {
		warn(c, fmt.Sprintf("what other controllers work on is not known: %v", err))
		return list
	}
	defer done()
	sh, ok := s.(jobs.Sharer)
	if !ok {
		return list
	}
	all, err := sh.Unended(ctx)
	if err != nil {
		warn(c, fmt.Sprintf("what other controllers work on is not known: %v", err))
		return list
	}
	cache := files(c.Env)
	for _, j := range all {
		if mine, err := cache.Job(ctx, j.JID); err == nil && mine != nil {
			continue // this machine knows better
		}
		if j.State == jobs.Active {
			list = append(list, j)
		} else {
			warn(c, interrupted(j))
		}
	}
	return list
}

// activity shows a job under way.
func activity(j *jobs.Job) *value.Map {
	inst := jobs.Format(j.JID, j.Load)
	running, returned := value.NewList(), value.NewList()
	for _, id := range j.Outstanding() {
		pid, on := j.Running[id]
		if !on {
			pid = j.PID()
		}
		if on || !j.Detached() {
			running.Append(value.MapOf(id, int64(pid)))
		}
	}
	ids := make([]string, 0, j.Returns.Len())
	for _, k := range j.Returns.Keys() {
		ids = append(ids, value.Str(k))
	}
	sort.Strings(ids)
	for _, id := range ids {
		returned.Append(id)
	}
	inst.Set("Running", running)
	inst.Set("Returned", returned)
	if j.Where != "" {
		inst.Set("Controller", j.Where)
	}
	return inst
}
