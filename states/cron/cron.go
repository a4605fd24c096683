// Package cron is Salt's state module "cron": jobs and variables in crontabs.
package cron

import (
	"context"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/cron"
	"brine/modules/tool"
)

// States returns the rows of the state module "cron".
func States() fun.Module {
	return fun.Module{Name: "cron", Kind: fun.State, Doc: "Manage crontabs.", Specs: specs, Avail: fun.Needs("cron", "cron module could not be loaded")}
}

// identifier returns the identifier of a job: the argument, or the command where
// it was not given. None is not an identifier.
func identifier(a *identifierArg, name string) (id string, has bool) {
	switch v := a.Identifier; v {
	case nil:
		return "", false
	case false:
		return name, true
	default:
		return value.Str(v), true
	}
}

// find returns the job that a state describes, nil where there is none.
//
// A job that this state made before it had an identifier has its command as
// identifier. Unless another state of the run describes that job, it is the same
// job under a new identifier.
func find(t *cron.Tab, c *fun.Call, a *presentArgs, w *cron.Want) *cron.Job {
	if j := t.Find(w.Cmd, w.Identifier); j != nil {
		return j
	}
	if w.Identifier == w.Cmd || !w.HasIdentifier || othersWant(c, a, w.Cmd) {
		return nil
	}
	return t.FindFunc(func(j *cron.Job) bool { return j.Cmd == w.Cmd && j.Identifier == w.Cmd })
}

// othersWant reports whether a state of the run describes the job of a command
// without an identifier, for the same user.
func othersWant(c *fun.Call, a *presentArgs, cmd string) bool {
	if c.Env.Run == nil {
		return false
	}
	for _, o := range c.Env.Run.Low() {
		if o.State != "cron" || o.Fun != "present" || o.Low == nil || strings.TrimSpace(o.Name) != cmd || o.Low.Has("identifier") && o.Low.At("identifier") != false {
			continue
		}
		user := "root"
		if o.Low.Has("user") {
			user = o.Low.Str("user")
		}
		if user == a.User {
			return true
		}
	}
	return false
}

type presentArgs struct {
	Name string `arg:"name,required" doc:"the command"`
	userArg
	Minute    string          `arg:"minute" default:"*" doc:"minute field"`
	Hour      string          `arg:"hour" default:"*" doc:"hour field"`
	Daymonth  string          `arg:"daymonth" default:"*" doc:"day of month field"`
	Month     string          `arg:"month" default:"*" doc:"month field"`
	Dayweek   string          `arg:"dayweek" default:"*" doc:"day of week field"`
	Comment   fun.Opt[string] `arg:"comment" doc:"comment above the job; default: that of the existing job"`
	Commented bool            `arg:"commented" default:"False" doc:"disable the job: its line starts with #DISABLED#"`
	identifierArg
	Special string `arg:"special" doc:"time such as @reboot or @daily, instead of the five fields"`
}

// present puts a job into a crontab. The job is known by its identifier, else by
// its command. Salt: salt/states/cron.py present.
func present(ctx context.Context, c *fun.Call, a *presentArgs) fun.Ret {
	name := strings.TrimSpace(a.Name)
	w := &cron.Want{}
	w.Cmd, w.Commented, w.Special = name, a.Commented, a.Special
	w.Minute, w.Hour, w.DayMonth, w.Month, w.DayWeek = a.Minute, a.Hour, a.Daymonth, a.Month, a.Dayweek
	w.Comment, w.HasComment = a.Comment.V, a.Comment.Given
	w.Identifier, w.HasIdentifier = identifier(&a.identifierArg, name)
	ret := fun.Ret{Name: name}
	if err := w.Check(); err != nil {
		ret.Comment = "Cron " + name + " is not valid: " + err.Error()
		return ret
	}
	did := " already present"
	admin := cron.NewAdmin(c.Env, a.User)
	out, err := admin.Change(ctx, func(t *cron.Tab) (bool, error) {
		have := find(t, c, a, w)
		switch {
		case have == nil && c.Test:
			did = " is set to be added"
		case have == nil:
			did = " added to " + admin.User + "'s crontab"
		case !w.Due(have):
			return false, nil
		case c.Test:
			did = " is set to be updated"
		default:
			did = " updated"
		}
		if !c.Test {
			w.Put(t, have)
		}
		return !c.Test, nil
	})
	return report(&a.userArg, ret, out, err, "Cron "+name, did, "error \n")
}

// report returns what a change of a crontab did. The words of did that end the
// comment say whether something was due.
func report(a *userArg, ret fun.Ret, out tool.Out, err error, what, did, fault string) fun.Ret {
	user := a.User
	switch {
	case err != nil:
		return fun.Raise(err)
	case !out.OK():
		ret.Comment = what + " for user " + user + " failed to commit with " + fault + out.Fault()
		return ret
	}
	ret.Comment, ret.Result = what+did, fun.OK
	switch {
	case strings.HasPrefix(did, " is set to"):
		ret.Result = fun.WouldChange
	case did != " already present" && did != " already absent" && did != " is absent":
		ret.Changes = value.MapOf(user, ret.Name)
	}
	return ret
}

// absentText returns the words for what was not there.
func absentText(c *fun.Call) string {
	if c.Test {
		return " is absent"
	}
	return " already absent"
}

type absentArgs struct {
	Name string `arg:"name,required" doc:"the command"`
	userArg
	identifierArg
	Special string `arg:"special" doc:"only a job with this time, such as @daily"`
	_       fun.Kwargs
}

// absent takes a job out of a crontab, whether it has a special time or not;
// with special it takes only a job with that time.
// Salt: salt/states/cron.py absent.
func absent(ctx context.Context, c *fun.Call, a *absentArgs) fun.Ret {
	name := strings.TrimSpace(a.Name)
	id, _ := identifier(&a.identifierArg, name)
	ret := fun.Ret{Name: name}
	did := absentText(c)
	admin := cron.NewAdmin(c.Env, a.User)
	out, err := admin.Change(ctx, func(t *cron.Tab) (bool, error) {
		j := t.FindMatch(name, id, a.Special)
		switch {
		case j == nil:
			return false, nil
		case c.Test:
			did = " is set to be removed"
			return false, nil
		}
		did = " removed from " + admin.User + "'s crontab"
		t.Remove(j)
		return true, nil
	})
	return report(&a.userArg, ret, out, err, "Cron "+name, did, "error ")
}

type envPresentArgs struct {
	Name  string `arg:"name,required" doc:"name of the variable"`
	Value string `arg:"value" doc:"its value"`
	userArg
}

// envPresent sets a variable in a crontab.
// Salt: salt/states/cron.py env_present.
func envPresent(ctx context.Context, c *fun.Call, a *envPresentArgs) fun.Ret {
	name, val := a.Name, a.Value
	ret := fun.Ret{Name: name}
	if err := cron.CheckEnv(name, val); err != nil {
		ret.Comment = "Cron env " + name + " is not valid: " + err.Error()
		return ret
	}
	did := " already present"
	admin := cron.NewAdmin(c.Env, a.User)
	out, err := admin.Change(ctx, func(t *cron.Tab) (bool, error) {
		e, ok := t.Env(name)
		switch {
		case ok && e.Is(val):
			return false, nil
		case c.Test && ok:
			did = " is set to be updated"
		case c.Test:
			did = " is set to be added"
		case ok:
			did = " updated"
		default:
			did = " added to " + admin.User + "'s crontab"
		}
		if !c.Test {
			t.SetEnv(name, val)
		}
		return !c.Test, nil
	})
	return report(&a.userArg, ret, out, err, "Cron env "+name, did, "error \n")
}

type envAbsentArgs struct {
	Name string `arg:"name,required" doc:"name of the variable"`
	userArg
}

// envAbsent takes a variable out of a crontab.
// Salt: salt/states/cron.py env_absent.
func envAbsent(ctx context.Context, c *fun.Call, a *envAbsentArgs) fun.Ret {
	name := strings.TrimSpace(a.Name)
	ret := fun.Ret{Name: name}
	did := absentText(c)
	admin := cron.NewAdmin(c.Env, a.User)
	out, err := admin.Change(ctx, func(t *cron.Tab) (bool, error) {
		_, ok := t.Env(name)
		switch {
		case !ok:
			return false, nil
		case c.Test:
			did = " is set to be removed"
			return false, nil
		}
		did = " removed from " + admin.User + "'s crontab"
		return t.DropEnv(name), nil
	})
	return report(&a.userArg, ret, out, err, "Cron env "+name, did, "error ")
}
