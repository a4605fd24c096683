package schedule

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/schedule"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// interval returns the keys of the interval of a job.
func (a *jobArgs) interval() *value.Map {
	return value.MapOf("seconds", a.Seconds, "minutes", a.Minutes, "hours", a.Hours, "days", a.Days)
}

// conflict says which times of a job exclude each other; "" is none.
func (a *jobArgs) conflict() string {
	for _, n := range a.interval().All() {
		if n != nil && (a.When != nil || a.Cron != nil) {
			return `Unable to use "seconds", "minutes", "hours", or "days" with "when" or "cron" options.`
		}
	}
	if a.When != nil && a.Cron != nil {
		return `Unable to use "when" and "cron" options together.  Ignoring.`
	}
	return ""
}

// item makes a job of the arguments of a call; fault says why there is none.
//
// Salt: salt/modules/schedule.py build_schedule_item.
func item(name, function string, a *jobArgs) (job *value.Map, fault string) {
	if fault := a.conflict(); fault != "" {
		return nil, fault
	}
	job = value.MapOf("function", function)
	set := func(given *value.Map) {
		for key, v := range given.All() {
			if v != nil {
				job.Set(key, v)
			}
		}
	}
	set(a.interval())
	set(value.MapOf("return_job", a.ReturnJob, "metadata", a.Metadata))
	if a.JobArgs != nil {
		l, ok := a.JobArgs.(*value.List)
		if !ok {
			return nil, "job_args is not a list. please correct and try again."
		}
		job.Set("args", l)
	}
	if a.JobKwargs != nil {
		m, ok := a.JobKwargs.(*value.Map)
		if !ok {
			return nil, "job_kwargs is not a dict. please correct and try again."
		}
		job.Set("kwargs", m)
	}
	job.Set("maxrunning", int64(1))
	set(value.MapOf("maxrunning", a.MaxRunning))
	job.Set("name", name)
	job.Set("enabled", true)
	set(value.MapOf("enabled", a.Enabled))
	if a.JIDInclude == nil || value.Truth(a.JIDInclude) {
		job.Set("jid_include", true)
	}
	set(value.MapOf(
		"splay", a.Splay, "range", a.Range, "when", a.When, "once", a.Once, "once_fmt", a.OnceFmt, "cron", a.Cron, "returner", a.Returner,
		"after", a.After, "return_config", a.ReturnConfig, "return_kwargs", a.ReturnKwargs, "until", a.Until, "run_on_start", a.RunOnStart,
		"skip_during_range", a.SkipDuringRange, "run_after_skip_range", a.RunAfterSkipRange,
	))
	return job, ""
}

type buildArgs struct {
	nameArg
	functionArg
	jobArgs
}

func build(_ context.Context, c *fun.Call, a *buildArgs) (fun.Result, error) {
	if f := named(&a.nameArg); f != nil {
		return fun.Value(f)
	}
	job, fault := item(a.Name, a.Function, &a.jobArgs)
	if fault == "" {
		fault = check(c, a.Name, job)
	}
	if fault != "" {
		return fun.Value(value.MapOf("comment", fault, "result", false))
	}
	return fun.Value(job)
}

type addGiven struct {
	nameArg
	functionArg
	jobArgs
	saveArgs
}

func add(ctx context.Context, c *fun.Call, a *addGiven) (fun.Result, error) {
	if f := named(&a.nameArg); f != nil {
		return fun.Value(f)
	}
	b, err := open(c)
	if err != nil {
		return fun.Result{}, err
	}
	name := a.Name
	if b.jobs(c, "").Has(name) {
		return result(false, nil, "Job %s already exists in schedule.", name)
	}
	job, fault := item(a.Name, a.Function, &a.jobArgs)
	if fault != "" {
		return result(false, nil, "Error: %s", fault)
	}
	if fault := check(c, name, job); fault != "" {
		return result(false, nil, "%s", fault)
	}
	if dryRun(c, a.Test) {
		return result(true, nil, "Job: %s would be added to schedule.", name)
	}
	if err := b.set(ctx, c, name, job, persist(&a.saveArgs)); err != nil {
		return result(false, nil, "Failed to add job %s to schedule. %v", name, err)
	}
	return result(true, value.MapOf(name, "added"), "Added job: %s to schedule.", name)
}

type modifyArgs struct {
	nameArg
	Function string `arg:"function" doc:"function to run (default: that of the job)"`
	jobArgs
	saveArgs
}

func modify(ctx context.Context, c *fun.Call, a *modifyArgs) (fun.Result, error) {
	if f := named(&a.nameArg); f != nil {
		return fun.Value(f)
	}
	b, err := open(c)
	if err != nil {
		return fun.Result{}, err
	}
	name := a.Name
	current, _ := b.jobs(c, "").At(name).(*value.Map)
	if current == nil {
		return result(false, nil, "Job %s does not exist in schedule.", name)
	}
	function := a.Function
	if function == "" {
		function = current.Str("function")
	}
	job, fault := item(name, function, &a.jobArgs)
	if fault != "" {
		return result(false, nil, "Error: %s", fault)
	}
	if fault := check(c, name, job); fault != "" {
		return result(false, nil, "%s", fault)
	}
	if value.Equal(job, current) {
		return result(true, nil, "Job %s in correct state", name)
	}
	changes := value.MapOf(name, value.MapOf("old", current, "new", job))
	if dryRun(c, a.Test) {
		return result(true, changes, "Job: %s would be modified in schedule.", name)
	}
	if err := b.set(ctx, c, name, job, persist(&a.saveArgs)); err != nil {
		return result(false, nil, "Failed to modify job %s in schedule. %v", name, err)
	}
	return result(true, changes, "Modified job: %s in schedule.", name)
}

// removeArgs are the arguments of remove, enableJob and disableJob.
type removeArgs struct {
	nameArg
	saveArgs
}

func remove(ctx context.Context, c *fun.Call, a *removeArgs) (fun.Result, error) {
	if f := named(&a.nameArg); f != nil {
		return fun.Value(f)
	}
	b, err := open(c)
	if err != nil {
		return fun.Result{}, err
	}
	name := a.Name
	switch {
	case !b.jobs(c, "").Has(name):
		return result(false, nil, "Job %s does not exist.", name)
	case dryRun(c, a.Test):
		return result(true, nil, "Job: %s would be deleted from schedule.", name)
	}
	if !b.conf.Has(name) {
		return result(false, nil, "Failed to delete job %s from schedule. It is in the pillar", name)
	}
	if err := b.remove(ctx, c, []string{name}, persist(&a.saveArgs)); err != nil {
		return result(false, nil, "Failed to delete job %s from schedule. %v", name, err)
	}
	return result(true, value.MapOf(name, "removed"), "Deleted Job %s from schedule.", name)
}

func purge(ctx context.Context, c *fun.Call, a *saveArgs) (fun.Result, error) {
	b, err := open(c)
	if err != nil {
		return fun.Result{}, err
	}
	said, changes, ok := value.NewList(), value.NewMap(0), true
	var names []string
	for k := range b.jobs(c, "").All() {
		name := value.Str(k)
		if strings.HasPrefix(name, "__") || isHidden(name) {
			continue
		}
		if dryRun(c, a.Test) {
			said.Append(fmt.Sprintf("Job: %s would be deleted from schedule.", name))
			continue
		}
		if !b.conf.Has(name) {
			said.Append(fmt.Sprintf("Failed to delete job %s from schedule. It is in the pillar", name))
			ok = false
			continue
		}
		names = append(names, name)
		said.Append(fmt.Sprintf("Deleted job: %s from schedule.", name))
		changes.Set(name, "removed")
	}
	if len(names) > 0 {
		if err := b.remove(ctx, c, names, persist(a)); err != nil {
			return fun.Result{}, err
		}
	}
	return fun.Value(value.MapOf("comment", said, "changes", changes, "result", ok))
}

func isHidden(name string) bool { return slices.Contains(hidden, name) }

func enableJob(ctx context.Context, c *fun.Call, a *removeArgs) (fun.Result, error) {
	return switchJob(ctx, c, a, true, "enable", "Enabled", "enabled")
}

func disableJob(ctx context.Context, c *fun.Call, a *removeArgs) (fun.Result, error) {
	return switchJob(ctx, c, a, false, "disable", "Disabled", "disabled")
}

func switchJob(ctx context.Context, c *fun.Call, a *removeArgs, on bool, verb, done, state string) (fun.Result, error) {
	if f := named(&a.nameArg); f != nil {
		return fun.Value(f)
	}
	b, err := open(c)
	if err != nil {
		return fun.Result{}, err
	}
	name := a.Name
	job, _ := b.jobs(c, "").At(name).(*value.Map)
	switch {
	case job == nil:
		return result(false, nil, "Job %s does not exist.", name)
	case dryRun(c, a.Test):
		return result(true, nil, "Job: %s would be %s in schedule.", name, state)
	}
	job.Set("enabled", on)
	if err := b.set(ctx, c, name, job, persist(&a.saveArgs)); err != nil {
		return result(false, nil, "Failed to %s job %s in schedule. %v", verb, name, err)
	}
	return result(true, value.MapOf(name, state), "%s Job %s in schedule.", done, name)
}

func enable(ctx context.Context, c *fun.Call, a *saveArgs) (fun.Result, error) {
	return switchAll(ctx, c, a, true, "enable", "Enabled", "enabled")
}

func disable(ctx context.Context, c *fun.Call, a *saveArgs) (fun.Result, error) {
	return switchAll(ctx, c, a, false, "disable", "Disabled", "disabled")
}

func switchAll(ctx context.Context, c *fun.Call, a *saveArgs, on bool, verb, done, state string) (fun.Result, error) {
	if dryRun(c, a.Test) {
		return result(true, nil, "Schedule would be %s.", state)
	}
	b, err := open(c)
	if err != nil {
		return fun.Result{}, err
	}
	if err := b.set(ctx, c, "enabled", on, persist(a)); err != nil {
		return result(false, nil, "Failed to %s schedule on minion. %v", verb, err)
	}
	return result(true, value.MapOf("schedule", state), "%s schedule on minion.", done)
}

type saveGiven struct {
	_    fun.Arguments
	Test bool `arg:"test" default:"False" doc:"only say what would be done"`
}

func save(ctx context.Context, c *fun.Call, a *saveGiven) (fun.Result, error) {
	if dryRun(c, a.Test) {
		return fun.Value(value.MapOf("comment", "Schedule would be saved.", "result", true))
	}
	b, err := open(c)
	if err != nil {
		return fun.Result{}, err
	}
	if err := b.save(c); err != nil {
		return fun.Value(value.MapOf("comment", "Failed to save schedule. "+err.Error(), "result", false))
	}
	if err := b.sync(ctx, c); err != nil {
		return fun.Result{}, err
	}
	return fun.Value(value.MapOf("comment", "Schedule (non-pillar items) saved.", "result", true))
}

func reload(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	c.Env.Memo.Delete(bookKey{})
	b, err := open(c)
	if err != nil {
		return fun.Value(value.MapOf("comment", value.Strings("Unable to read existing schedule file: "+err.Error()), "result", false))
	}
	if err := b.sync(ctx, c); err != nil {
		return fun.Result{}, err
	}
	said := value.NewList()
	if pillarJobs(c).Len() > 0 {
		said.Append("Reloaded schedule from pillar on minion.")
	}
	if b.saved.Len() > 0 {
		said.Append("Reloaded schedule on minion from schedule.conf.")
	}
	return fun.Value(value.MapOf("comment", said, "result", true))
}

type listArgs struct {
	_            fun.Arguments
	ShowAll      bool   `arg:"show_all" default:"False" doc:"include jobs whose names begin with __"`
	ShowDisabled bool   `arg:"show_disabled" default:"True" doc:"include disabled jobs"`
	Where        string `arg:"where" oneof:"opts|pillar" doc:"only the jobs of the configuration, or of the pillar"`
	ReturnYaml   bool   `arg:"return_yaml" default:"True" doc:"return YAML text"`
	Offline      bool   `arg:"offline" default:"False" doc:"only what schedule.add and the like saved"`
}

func list(_ context.Context, c *fun.Call, a *listArgs) (fun.Result, error) {
	b, err := open(c)
	if err != nil {
		return fun.Result{}, err
	}
	all := b.jobs(c, a.Where)
	if a.Offline {
		all = b.saved.Copy()
	}
	out := value.NewMap(all.Len())
	for k, v := range all.All() {
		job, ok := v.(*value.Map)
		if !ok || isHidden(value.Str(k)) {
			out.Set(k, v)
			continue
		}
		if strings.HasPrefix(value.Str(k), "__") && !a.ShowAll || !value.Truth(job.At("enabled")) && !a.ShowDisabled {
			continue
		}
		if a.ReturnYaml {
			job = job.Copy()
			job.Set("saved", b.saved.Has(k))
		}
		out.Set(k, job)
	}
	if !a.ReturnYaml {
		return fun.Value(out)
	}
	text, err := yamlsalt.Dump(value.MapOf("schedule", out), yamlsalt.SafeOptions())
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(text)
}

type isEnabledArgs struct {
	_    fun.Arguments
	Name string `arg:"name" doc:"name of a job"`
}

func isEnabled(_ context.Context, c *fun.Call, a *isEnabledArgs) (fun.Result, error) {
	b, err := open(c)
	if err != nil {
		return fun.Result{}, err
	}
	all := b.jobs(c, "")
	if name := a.Name; name != "" {
		if job, ok := all.Get(name); ok {
			return fun.Value(job)
		}
		return fun.Value(value.NewMap(0))
	}
	if v, ok := all.Get("enabled"); ok {
		return fun.Value(v)
	}
	return fun.Value(true)
}

// job returns a job that can be run; fault says why there is none.
func job(c *fun.Call, a *nameArg) (j *schedule.Job, fault string, err error) {
	b, err := open(c)
	if err != nil {
		return nil, "", err
	}
	name := a.Name
	raw, ok := schedule.Merge(b.conf, pillarJobs(c)).Get(name)
	if !ok || isHidden(name) {
		return nil, fmt.Sprintf("Job %s does not exist.", name), nil
	}
	s := schedule.ReaderOf(c.Env).Read(value.MapOf(name, raw))
	if len(s.Faults) > 0 {
		return nil, errors.Join(s.Faults...).Error(), nil
	}
	return s.Jobs[0], "", nil
}

type runJobArgs struct {
	nameArg
	Force bool `arg:"force" default:"False" doc:"run a disabled job, too"`
}

func runJob(ctx context.Context, c *fun.Call, a *runJobArgs) (fun.Result, error) {
	if a.Name == "" {
		return fun.Value(value.MapOf("comment", "Job name is required.", "result", false))
	}
	j, fault, err := job(c, &a.nameArg)
	switch {
	case err != nil:
		return fun.Result{}, err
	case fault != "":
		return fun.Value(value.MapOf("comment", fault, "result", false))
	case !j.Enabled && !a.Force:
		return fun.Value(value.MapOf("comment", fmt.Sprintf("Job %s is disabled.", j.Name), "result", true))
	}
	ok, why := true, ""
	if in, err := installer(c); err == nil {
		err = start(ctx, c, in, j)
		ok = err == nil
		if err != nil {
			why = " " + err.Error()
		}
	} else if _, err := c.Env.Invoker.Invoke(ctx, fun.Exec, j.Function, j.Call()); err != nil {
		ok, why = false, " "+err.Error()
	}
	if !ok {
		return fun.Value(value.MapOf("comment", fmt.Sprintf("Failed to run job %s on minion.%s", j.Name, why), "result", false))
	}
	return fun.Value(value.MapOf("comment", fmt.Sprintf("Scheduling Job %s on minion.", j.Name), "result", true))
}

// start runs a job as its timer would, and waits for it.
func start(ctx context.Context, c *fun.Call, in *schedule.Installer, j *schedule.Job) error {
	out, err := c.Env.Host.Run(ctx, host.Cmd{Argv: append([]string{in.Exe}, j.Command(in.Config, false)...)})
	if err == nil && out.Status != 0 {
		err = fmt.Errorf("status %d: %s", out.Status, strings.TrimSpace(string(out.Stderr)))
	}
	return err
}

func nextFire(_ context.Context, c *fun.Call, a *nameArg) (fun.Result, error) {
	j, fault, err := job(c, a)
	if err != nil {
		return fun.Result{}, err
	}
	out := value.MapOf("result", true)
	if fault != "" {
		out.Set("next_fire_time", nil)
		return fun.Value(out)
	}
	out.Set("next_fire_time", nil)
	if t, ok := j.Next(c.Env.Host.Now(), lastRun(c, j.Name)); ok && j.Enabled {
		out.Set("next_fire_time", t.Format(stamp))
	}
	return fun.Value(out)
}

// stamp is Salt's format of times of jobs.
const stamp = "2006-01-02T15:04:05"

type jobStatusArgs struct {
	nameArg
	TimeFmt string `arg:"time_fmt" default:"%Y-%m-%dT%H:%M:%S" doc:"format of times"`
}

func jobStatus(_ context.Context, c *fun.Call, a *jobStatusArgs) (fun.Result, error) {
	b, err := open(c)
	if err != nil {
		return fun.Result{}, err
	}
	raw, ok := b.jobs(c, "").At(a.Name).(*value.Map)
	if !ok {
		return fun.Value(value.NewMap(0))
	}
	j, fault, err := job(c, &a.nameArg)
	switch {
	case err != nil:
		return fun.Result{}, err
	case fault != "":
		raw.Set("_error", fault)
		return fun.Value(raw)
	}
	layout, err := schedule.Layout(a.TimeFmt)
	if err != nil {
		return fun.Result{}, fun.Errorf("time_fmt: %v", err)
	}
	now, last := c.Env.Host.Now(), lastRun(c, j.Name)
	raw.Set("_next_fire_time", nil)
	if t, ok := j.Next(now, last); ok {
		raw.Set("_next_fire_time", t.Format(layout))
	}
	if !last.IsZero() {
		raw.Set("_last_run", last.In(now.Location()).Format(layout))
	}
	if due, why := j.Due(now); !due {
		raw.Set("_skip_reason", why)
	}
	return fun.Value(raw)
}
