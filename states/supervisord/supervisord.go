// Package supervisord is Salt's state module "supervisord".
package supervisord

import (
	"context"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/supervisord"
	"brine/states/dryrun"
)

// States returns the rows of the state module "supervisord".
func States() fun.Module {
	return fun.Module{Name: "supervisord", Kind: fun.State, Doc: "Manage processes of supervisord.", Specs: specs, Watch: fun.StateFunc(watch).State}
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "dead", Do: dead, Src: "states/supervisord.py dead",
		Doc: "Stop a process or group.",
	},
	{
		Name: "running", Do: running, Src: "states/supervisord.py running",
		Doc: "Keep a process or group running.",
	},
}

// stopped are the states in which a process does not run.
func stopped(state string) bool {
	switch state {
	case "STOPPED", "STOPPING", "EXITED", "FATAL", "BACKOFF":
		return true
	}
	return false
}

// A kind is what a name stands for.
type kind int

const (
	unknown kind = iota
	service
	group
)

func (k kind) String() string { return [...]string{"", " service", " group"}[k] }

// A found is what supervisord tells of a name.
type found struct {
	kind    kind
	matches []supervisord.Process
}

// find looks a process, or a group "name:", up.
func find(ctx context.Context, ctl *supervisord.Ctl, name string) (found, error) {
	all, err := ctl.Status(ctx, "")
	if err != nil {
		return found{}, err
	}
	if len(all) > 0 && all[0].Name == "ERROR:" {
		// supervisord did not answer
		return found{}, fun.Errorf("%s", strings.TrimSpace("ERROR: "+all[0].State+" "+all[0].Reason))
	}
	var f found
	for _, p := range all {
		switch {
		case p.Name == name:
			return found{service, []supervisord.Process{p}}, nil
		case strings.HasSuffix(name, ":") && strings.HasPrefix(p.Name, name):
			f.kind, f.matches = group, append(f.matches, p)
		}
	}
	return f, nil
}

// anyStopped reports whether one of the processes does not run.
func (f found) anyStopped() bool {
	for _, p := range f.matches {
		if stopped(p.State) {
			return true
		}
	}
	return false
}

// mayCome reports whether a dry run cannot know if supervisord will answer: a state
// before this one may install or start it.
func mayCome(c *fun.Call) bool {
	return c.Test && c.Env.Run != nil && !dryrun.Certain(c)
}

type runningArgs struct {
	_       string `arg:"name,required" doc:"process, or group as group:"`
	Restart bool   `arg:"restart" default:"False" doc:"restart a process that runs; True where a watched state changed"`
	Update  bool   `arg:"update" default:"False" doc:"read the configuration again and restart what changed"`
	supervisord.CtlArgs
	_ fun.Kwargs
}

// running keeps a process running. Salt: states/supervisord.py running. Difference:
// where supervisord does not answer, a dry run fails as well, unless a state before
// this one may install or start it.
func running(ctx context.Context, c *fun.Call, a *runningArgs) fun.Ret {
	return run(ctx, c, &a.CtlArgs, a.Restart, a.Update)
}

// watchArgs are what watch reads of the state that it acts for.
type watchArgs struct {
	Update bool `arg:"update"`
	supervisord.CtlArgs
}

// watch restarts a process where a watched state changed. Salt: states/supervisord.py mod_watch.
func watch(ctx context.Context, c *fun.Call, a *watchArgs) fun.Ret {
	restart := true
	if c.Low != nil && c.Low.Low != nil {
		if v, ok := c.Low.Low.Get("restart"); ok {
			restart = value.Truth(v)
		}
	}
	return run(ctx, c, &a.CtlArgs, restart, a.Update)
}

func run(ctx context.Context, c *fun.Call, a *supervisord.CtlArgs, restart, update bool) fun.Ret {
	name := c.Name
	if strings.HasSuffix(name, ":*") {
		name = name[:len(name)-1]
	}
	ctl := a.Ctl(c.Env)
	f, err := find(ctx, ctl, name)
	switch {
	case err == nil:
	case mayCome(c):
		f = found{}
	case strings.HasPrefix(err.Error(), "ERROR"):
		return fun.Ret{Name: name, Comment: err.Error()}
	default:
		return fun.Raise(err)
	}
	if c.Test {
		return predict(name, f, restart, update)
	}
	r := &runner{ctl: ctl, name: name, found: f, result: fun.OK}
	if err := r.run(ctx, restart, update); err != nil {
		return fun.Raise(err)
	}
	ret := fun.Ret{Name: name, Result: r.result, Comment: r.comment}
	if r.result == fun.OK && len(r.changes) > 0 {
		ret.Changes = value.MapOf(name, strings.Join(r.changes, " "))
	}
	return ret
}

// predict tells what run would do.
func predict(name string, f found, restart, update bool) fun.Ret {
	isGroup := strings.HasSuffix(name, ":")
	ret := fun.Ret{Name: name, Result: fun.WouldChange}
	if f.kind == unknown {
		ret.Comment = "Service " + name + " will be added and started"
		if isGroup {
			ret.Comment = "Group '" + name + "' will be added and started"
		}
		return ret
	}
	var start []string
	for _, p := range f.matches {
		if !strings.EqualFold(p.State, "running") {
			start = append(start, p.Name)
		}
	}
	switch {
	case len(start) > 0 && isGroup && len(start) == len(f.matches):
		ret.Comment = "All services in group '" + name + "' will be started"
	case len(start) > 0 && isGroup:
		ret.Comment = "The following services will be started: " + strings.Join(start, " ")
	case len(start) > 0:
		ret.Comment = "Service " + name + " will be started"
	case restart && !update:
		ret.Comment = "Restarting" + f.kind.String() + ": " + name
	case isGroup:
		ret.Result, ret.Comment = fun.OK, "All services in group '"+name+"' are already running"
	default:
		ret.Result, ret.Comment = fun.OK, "Service "+name+" is already running"
	}
	return ret
}

// A runner does what running has to do.
type runner struct {
	ctl     *supervisord.Ctl
	name    string
	found   found
	result  fun.Outcome
	comment string
	changes []string
}

// check notes what supervisorctl said: success has the comment.
func (r *runner) check(said, comment string) {
	r.comment = comment
	if !strings.Contains(said, "ERROR") {
		return
	}
	for _, fine := range []string{"already started", "not running", "process group already active"} {
		if strings.Contains(said, fine) {
			return
		}
	}
	r.comment, r.result = said, fun.Failed
}

func (r *runner) run(ctx context.Context, restart, update bool) error {
	updated := false
	switch {
	case update:
		said, err := r.ctl.Update(ctx, "")
		if err != nil {
			return err
		}
		r.check(said, "Updating supervisor")
		updated = strings.Contains(said, r.name+": updated")
	case r.found.kind == unknown:
		comment := "Adding service: " + r.name
		if _, err := r.ctl.Reread(ctx); err != nil {
			return err
		}
		said, err := r.ctl.Add(ctx, r.name)
		if err != nil {
			return err
		}
		r.check(said, comment)
		r.changes = append(r.changes, comment)
	}
	runs := r.found.kind != unknown && !r.found.anyStopped()
	label := r.found.kind.String() + ": " + r.name
	switch {
	case runs && restart && !updated:
		return r.act(ctx, r.ctl.Restart, "Restarting"+label)
	case runs && updated:
		r.comment = "Not starting updated" + label
	case runs:
		r.comment = "Not starting already running" + label
	case !updated:
		return r.act(ctx, r.ctl.Start, "Starting"+label)
	}
	return nil
}

func (r *runner) act(ctx context.Context, do func(context.Context, string) (string, error), comment string) error {
	said, err := do(ctx, r.name)
	if err != nil {
		return err
	}
	r.check(said, comment)
	r.changes = append(r.changes, comment)
	return nil
}

type deadArgs struct {
	_ string `arg:"name,required" doc:"process, or group as group:"`
	supervisord.CtlArgs
	_ fun.Kwargs
}

// dead stops a process. Salt: states/supervisord.py dead. Differences: a dry run looks
// at the process, and a failure to stop it is a failure.
func dead(ctx context.Context, c *fun.Call, a *deadArgs) fun.Ret {
	ctl := a.Ctl(c.Env)
	f, err := find(ctx, ctl, c.Name)
	switch {
	case err != nil && mayCome(c):
		return fun.Ret{Result: fun.WouldChange, Comment: "Service " + c.Name + " is set to be stopped"}
	case err != nil && strings.HasPrefix(err.Error(), "ERROR"):
		return fun.Ret{Comment: err.Error()}
	case err != nil:
		return fun.Raise(err)
	case f.kind == unknown:
		return fun.Ret{Result: fun.OK, Comment: "Service " + c.Name + " doesn't exist"}
	case f.allStopped():
		return fun.Ret{Result: fun.OK, Comment: "Service " + c.Name + " is not running"}
	case c.Test:
		return fun.Ret{Result: fun.WouldChange, Comment: "Service " + c.Name + " is set to be stopped"}
	}
	said, err := ctl.Stop(ctx, c.Name)
	if err != nil {
		return fun.Raise(err)
	}
	r := &runner{result: fun.OK}
	r.check(said, "Stopping service: "+c.Name)
	ret := fun.Ret{Result: r.result, Comment: r.comment}
	if r.result == fun.OK {
		ret.Changes = value.MapOf(c.Name, r.comment)
	}
	return ret
}

// allStopped reports whether none of the processes runs.
func (f found) allStopped() bool {
	for _, p := range f.matches {
		if !stopped(p.State) {
			return false
		}
	}
	return true
}
