// Package at is Salt's state module "at": jobs of at(1).
package at

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// States returns the rows of the state module "at".
func States() fun.Module {
	return fun.Module{Name: "at", Kind: fun.State, Doc: "Queue and remove jobs of at(1).", Avail: fun.Needs("at", ""), Watch: fun.StateFunc(watched).State, Specs: specs}
}

// jobArgs describe a job.
type jobArgs struct {
	_         fun.Arguments
	_         string      `arg:"name,required" doc:"the command, unless job gives it"`
	Timespec  string      `arg:"timespec,required" doc:"when, as at(1) takes it: '9:09 11/09/26', 'now + 1 min', 'noon tomorrow'"`
	Tag       value.Value `arg:"tag,str" doc:"a name for the job: letters, digits and _"`
	User      string      `arg:"user" doc:"account that it runs as"`
	Job       string      `arg:"job" doc:"the command"`
	UniqueTag bool        `arg:"unique_tag" default:"False" doc:"queue nothing while a job with the tag waits"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "absent", Src: "states/at.py absent", Do: absent,
		Doc: "Remove jobs: the one of a number, those that fit, or all.",
	},
	{
		Name: "present", Doc: "Queue a job.", Src: "states/at.py present", Do: present, Always: true,
	},
	{
		Name: "watch", Doc: "Queue a job when a state that is watched has changes.", Src: "states/at.py watch", Do: watch,
	},
}

// call calls an execution function and returns the mapping it gave.
func call(ctx context.Context, c *fun.Call, name string, pos []value.Value, kw *value.Map) (*value.Map, error) {
	res, err := c.Env.Exec(ctx, name, kw, pos...)
	if err != nil {
		return nil, err
	}
	m, ok := res.(*value.Map)
	if !ok {
		return nil, fun.Errorf("%s", value.Str(res))
	}
	return m, nil
}

func watch(context.Context, *fun.Call, *jobArgs) fun.Ret { return fun.Ret{Result: fun.OK, Comment: ""} }

// watched is mod_watch: only at.watch acts.
func watched(ctx context.Context, c *fun.Call, a *jobArgs) fun.Ret {
	if c.Spec.Name != "watch" {
		return fun.Ret{Comment: ""}
	}
	return present(ctx, c, a)
}

// present queues a job. Salt: salt/states/at.py present. Difference: in test mode it
// looks for the tag, too.
func present(ctx context.Context, c *fun.Call, a *jobArgs) fun.Ret {
	job, spec, user, tag := a.Job, a.Timespec, a.User, a.Tag
	if job == "" {
		job = c.Name
	}
	if a.UniqueTag {
		if !value.Truth(tag) {
			return fun.Fail("no tag provided and unique_tag is set to True")
		}
		there, err := call(ctx, c, "at.jobcheck", nil, value.MapOf("tag", tag))
		if err != nil {
			return fun.Raise(err)
		}
		if l := there.List("jobs"); l != nil && l.Len() > 0 {
			return fun.Same("atleast one job with tag %s exists.", value.Str(tag))
		}
	}
	if c.Test {
		return fun.Due("job %s added and will run on %s", job, spec)
	}
	kw, comment := value.MapOf("tag", tag), fmt.Sprintf("job %s added and will run on %s", job, spec)
	if user != "" {
		if _, err := c.Env.Host.LookupUser(user); err != nil {
			return fun.Fail("user %s does not exists", user)
		}
		kw.Set("runas", user)
		comment = fmt.Sprintf("job %s added and will run as %s on %s", job, user, spec)
	}
	res, err := call(ctx, c, "at.at", []value.Value{spec, job}, kw)
	if err != nil {
		return fun.Raise(err)
	}
	ret := fun.Ret{Result: fun.OK, Comment: comment}
	if l := res.List("jobs"); l != nil && l.Len() > 0 {
		ret.Changes = l.Items[0]
	}
	if res.Has("error") {
		ret.Result, ret.Comment = fun.Failed, value.Str(res.At("error"))
	}
	return ret
}

type absentArgs struct {
	_     string `arg:"name,required" doc:"any text"`
	Jobid string `arg:"jobid" doc:"number of the one job to remove"`
	conditions
	_ value.Value `arg:"limit,kw" doc:"refused: Salt had it once"`
	_ fun.Kwargs
}

// conditions are those of at.jobcheck.
type conditions struct {
	_ fun.Arguments
	_ value.Value `arg:"tag,str" doc:"remove the jobs that have this name"`
	_ value.Value `arg:"runas,str" doc:"remove the jobs of this account"`
	_ value.Value `arg:"hour,int|str" doc:"remove the jobs of this hour"`
	_ value.Value `arg:"minute,int|str" doc:"remove the jobs of this minute"`
	_ value.Value `arg:"day,int|str" doc:"remove the jobs of this day of the month"`
	_ value.Value `arg:"month,int|str" doc:"remove the jobs of this month, a number"`
	_ value.Value `arg:"year,int|str" doc:"remove the jobs of this year"`
}

// absent removes jobs. Salt: salt/states/at.py absent. Difference: in test mode it
// looks which jobs there are.
func absent(ctx context.Context, c *fun.Call, a *absentArgs) fun.Ret {
	if c.Args.At("limit") != nil {
		return fun.Fail("limit parameter not supported %s", c.Name)
	}
	id := a.Jobid
	ids, err := chosen(ctx, c, id, c.Given(&a.conditions))
	if err != nil {
		return fun.Raise(err)
	}
	if len(ids) == 0 {
		if id != "" {
			return fun.Same("job with id %s not present", id)
		}
		return fun.Ret{Result: fun.OK, Comment: "removed 0 job(s)"}
	}
	if c.Test {
		return fun.Ret{Result: fun.WouldChange, Comment: "removed ? job(s)"}
	}
	pos := make([]value.Value, len(ids))
	for i, s := range ids {
		pos[i] = s
	}
	res, err := call(ctx, c, "at.atrm", pos, nil)
	if err != nil {
		return fun.Raise(err)
	}
	removed := strs(res.Map("jobs").List("removed"))
	ret := fun.Ret{Result: fun.OK, Comment: fmt.Sprintf("removed %d job(s)", len(removed)), Changes: value.MapOf("removed", value.Strings(removed...))}
	if id != "" {
		ret.Comment = fmt.Sprintf("job with id %s was removed", id)
		if !slices.Contains(removed, id) {
			ret.Result, ret.Comment = fun.Failed, fmt.Sprintf("failed to remove job with id %s", id)
		}
	} else if len(removed) == 0 {
		ret.Changes = nil
	}
	return ret
}

// chosen returns the numbers of the jobs that absent is to remove.
func chosen(ctx context.Context, c *fun.Call, id string, which *value.Map) ([]string, error) {
	name, kw := "at.atq", value.NewMap(0)
	if id == "" && which.Len() > 0 {
		name, kw = "at.jobcheck", which
	}
	res, err := call(ctx, c, name, nil, kw)
	if err != nil {
		return nil, err
	}
	var ids []string
	if l := res.List("jobs"); l != nil {
		for _, x := range l.Items {
			m, _ := x.(*value.Map)
			if n := value.Str(m.At("job")); id == "" || n == strings.TrimSpace(id) {
				ids = append(ids, n)
			}
		}
	}
	return ids, nil
}

func strs(l *value.List) []string {
	if l == nil {
		return nil
	}
	out := make([]string, l.Len())
	for i, x := range l.Items {
		out[i] = value.Str(x)
	}
	return out
}
