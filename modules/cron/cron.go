// Package cron is Salt's execution module "cron": the crontabs of users.
package cron

import (
	"context"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/tool"
)

// Module returns the execution module "cron".
func Module() fun.Module {
	return fun.Module{Name: "cron", Kind: fun.Exec, Doc: "Manage crontabs.", Specs: specs, Avail: tool.Needs("crontab", "Cannot load cron module: crontab command not found")}
}

func admin(c *fun.Call, a *userArg) *Admin { return NewAdmin(c.Env, a.User) }

func rawCron(ctx context.Context, c *fun.Call, a *userArg) (fun.Result, error) {
	text, _, err := admin(c, a).Raw(ctx)
	return fun.Result{Value: text}, err
}

func listTab(ctx context.Context, c *fun.Call, a *userArg) (fun.Result, error) {
	t, err := admin(c, a).Tab(ctx)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(t.Value())
}

type getEntryArgs struct {
	userArg
	Identifier string `arg:"identifier" doc:"identifier of the job"`
	Cmd        string `arg:"cmd" doc:"command of the job, where no identifier is given"`
}

func getEntry(ctx context.Context, c *fun.Call, a *getEntryArgs) (fun.Result, error) {
	t, err := admin(c, &a.userArg).Tab(ctx)
	if err != nil {
		return fun.Result{}, err
	}
	id, cmd := a.Identifier, a.Cmd
	if id != "" && cmd != "" {
		c.Env.Log().Warn("cron.get_entry: both identifier and cmd are specified, only identifier is used")
	}
	j := t.FindFunc(func(j *Job) bool {
		if id != "" {
			return j.Identifier == id
		}
		return cmd != "" && j.Cmd == cmd
	})
	if j == nil {
		return fun.Value(false)
	}
	return fun.Value(j.value())
}

// done returns what a change did, or what crontab(1) said where it failed.
func done(out tool.Out, err error, did string) (fun.Result, error) {
	if err != nil {
		return fun.Result{}, err
	}
	if !out.OK() {
		return fun.Result{Value: out.Fault(), Retcode: out.Status}, nil
	}
	return fun.Value(did)
}

// wanted returns the job that the arguments describe.
func (a *entryArgs) wanted() *Want {
	w := &Want{}
	w.Cmd, w.Commented = a.Cmd, a.Commented
	w.Comment, w.HasComment = a.Comment.V, a.Comment.Given
	w.Identifier, w.HasIdentifier = a.Identifier.V, a.Identifier.Given
	return w
}

// set puts a job in and says "new", "updated" or "present".
func set(ctx context.Context, c *fun.Call, a *userArg, w *Want) (fun.Result, error) {
	if err := w.Check(); err != nil {
		return fun.Result{}, err
	}
	did := "present"
	out, err := admin(c, a).Change(ctx, func(t *Tab) (bool, error) {
		have := t.Find(w.Cmd, w.Identifier)
		switch {
		case have == nil:
			did = "new"
		case w.Due(have) || !have.HasIdentifier && !w.HasIdentifier:
			// Salt says so of every job without an identifier.
			did = "updated"
		default:
			return false, nil
		}
		w.Put(t, have)
		return true, nil
	})
	return done(out, err, did)
}

type setJobArgs struct {
	userArg
	Minute   string `arg:"minute,required" doc:"minute field"`
	Hour     string `arg:"hour,required" doc:"hour field"`
	Daymonth string `arg:"daymonth,required" doc:"day of month field"`
	Month    string `arg:"month,required" doc:"month field"`
	Dayweek  string `arg:"dayweek,required" doc:"day of week field"`
	entryArgs
}

func setJob(ctx context.Context, c *fun.Call, a *setJobArgs) (fun.Result, error) {
	w := a.wanted()
	w.Minute, w.Hour, w.DayMonth, w.Month, w.DayWeek = a.Minute, a.Hour, a.Daymonth, a.Month, a.Dayweek
	return set(ctx, c, &a.userArg, w)
}

type setSpecialArgs struct {
	userArg
	Special string `arg:"special,required" doc:"time, such as @reboot or @daily"`
	entryArgs
}

func setSpecial(ctx context.Context, c *fun.Call, a *setSpecialArgs) (fun.Result, error) {
	w := a.wanted()
	w.Special = a.Special
	if w.Special == "" {
		return fun.Result{}, fun.Errorf("special must be a single word such as @daily")
	}
	return set(ctx, c, &a.userArg, w)
}

func remove(ctx context.Context, c *fun.Call, a *userArg, match func(*Job) bool, k kind) (fun.Result, error) {
	did := "absent"
	out, err := admin(c, a).Change(ctx, func(t *Tab) (bool, error) {
		i := t.find(match, k)
		if i < 0 {
			return false, nil
		}
		did = "removed"
		t.drop(i)
		return true, nil
	})
	return done(out, err, did)
}

type rmJobArgs struct {
	userArg
	cmdArg
	Minute   fun.Opt[string] `arg:"minute" doc:"only a job with this minute field"`
	Hour     fun.Opt[string] `arg:"hour" doc:"only a job with this hour field"`
	Daymonth fun.Opt[string] `arg:"daymonth" doc:"only a job with this day of month field"`
	Month    fun.Opt[string] `arg:"month" doc:"only a job with this month field"`
	Dayweek  fun.Opt[string] `arg:"dayweek" doc:"only a job with this day of week field"`
	identifierArg
}

func rmJob(ctx context.Context, c *fun.Call, a *rmJobArgs) (fun.Result, error) {
	match := matcher(a.Cmd, a.Identifier.V)
	times := [...]fun.Opt[string]{a.Minute, a.Hour, a.Daymonth, a.Month, a.Dayweek}
	return remove(ctx, c, &a.userArg, func(j *Job) bool {
		if !match(j) {
			return false
		}
		for i, f := range j.times() {
			if t := times[i]; t.Given && *f != t.V && (t.V != random || *f == "*") {
				return false
			}
		}
		return true
	}, job)
}

type rmSpecialArgs struct {
	userArg
	cmdArg
	Special fun.Opt[string] `arg:"special" doc:"only a job with this time"`
	identifierArg
}

func rmSpecial(ctx context.Context, c *fun.Call, a *rmSpecialArgs) (fun.Result, error) {
	match := matcher(a.Cmd, a.Identifier.V)
	return remove(ctx, c, &a.userArg, func(j *Job) bool {
		return match(j) && (!a.Special.Given || j.Special == a.Special.V)
	}, special)
}

// CheckEnv returns what is wrong with an assignment.
func CheckEnv(name, val string) error {
	if _, ok := parseEnv(name + "=" + val); !ok || parseLine(name+"=").kind != env {
		return fun.Errorf("%q is not a name of an environment variable", name)
	}
	for i := range len(val) {
		if val[i] == '\n' || val[i] == '\r' || val[i] == 0 {
			return fun.Errorf("the value of %s must be a single line", name)
		}
	}
	return nil
}

type setEnvArgs struct {
	userArg
	Name  string `arg:"name,required" doc:"name of the variable"`
	Value string `arg:"value" doc:"its value"`
}

func setEnv(ctx context.Context, c *fun.Call, a *setEnvArgs) (fun.Result, error) {
	name, val := a.Name, a.Value
	if err := CheckEnv(name, val); err != nil {
		return fun.Result{}, err
	}
	did := "new"
	out, err := admin(c, &a.userArg).Change(ctx, func(t *Tab) (bool, error) {
		if e, ok := t.Env(name); ok {
			did = "updated"
			if e.Is(val) {
				did = "present"
				return false, nil
			}
		}
		t.SetEnv(name, val)
		return true, nil
	})
	return done(out, err, did)
}

type rmEnvArgs struct {
	userArg
	Name string `arg:"name,required" doc:"name of the variable"`
}

func rmEnv(ctx context.Context, c *fun.Call, a *rmEnvArgs) (fun.Result, error) {
	did := "absent"
	out, err := admin(c, &a.userArg).Change(ctx, func(t *Tab) (bool, error) {
		if !t.DropEnv(a.Name) {
			return false, nil
		}
		did = "removed"
		return true, nil
	})
	return done(out, err, did)
}

// writeCronFileArgs are the arguments of writeCronFile and writeCronFileVerbose.
type writeCronFileArgs struct {
	userArg
	pathArg
}

func writeCronFile(ctx context.Context, c *fun.Call, a *writeCronFileArgs) (fun.Result, error) {
	out, err := admin(c, &a.userArg).Install(ctx, a.Path)
	return fun.Result{Value: out.OK(), Retcode: out.Status}, err
}

func writeCronFileVerbose(ctx context.Context, c *fun.Call, a *writeCronFileArgs) (fun.Result, error) {
	out, err := admin(c, &a.userArg).Install(ctx, a.Path)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Result{Value: value.Value(out.All()), Retcode: out.Status}, nil
}
