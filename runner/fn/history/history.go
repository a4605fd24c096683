// Package historyrun is the runner module "history", which Salt does not have:
// what orchestrations, chains and templates did.
package historyrun

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/fleet/history"
	"brine/internal/fleet/jobs"
	"brine/internal/py/source"
	"brine/internal/py/value"
	jobsrun "brine/runner/fn/jobs"
)

// An Opener opens the history, of a source that is named or with "" the usual one.
type Opener func(ctx context.Context, env *fun.Env, source string) (*history.Store, error)

type module struct{ open Opener }

// with calls do with the history.
func (m *module) with(ctx context.Context, c *fun.Call, extSource string, do func(*history.Store) (value.Value, error)) (fun.Result, error) {
	s, err := m.open(ctx, c.Env, extSource)
	if err != nil {
		return fun.Result{}, fun.Errorf("the history cannot be read: %v", err)
	}
	v, err := do(s)
	if err = errors.Join(err, s.Close()); err != nil {
		return fun.Result{}, err
	}
	return fun.Value(v)
}

// query returns what the arguments search for.
func (a *findArgs) query() (history.Query, error) {
	q := history.Query{Name: a.Name, Status: a.Status, Kind: a.Kind, User: a.User}
	for _, x := range []struct {
		name, text string
		known      []string
	}{{"status", q.Status, history.Statuses()}, {"kind", q.Kind, []string{history.Chain, history.Orchestration, history.Template}}} {
		if x.text != "" && !slices.Contains(x.known, x.text) {
			return q, fun.Errorf("%s %q is none of %s%s", x.name, x.text, strings.Join(x.known, ", "), source.DidYouMean(x.text, x.known))
		}
	}
	for _, x := range []struct {
		name, text string
		to         *time.Time
	}{{"since", a.Since, &q.Since}, {"until", a.Until, &q.Until}} {
		jid, err := jobsrun.Bound(x.text, x.name)
		if err != nil {
			return q, err
		}
		*x.to, _ = jobs.Time(jid)
	}
	if a.Limit < 0 || a.Limit > math.MaxInt32 {
		return q, fun.Errorf("limit %d is not a number of executions: 0 is all of them", a.Limit)
	}
	q.Limit = int(a.Limit)
	return q, nil
}

// searching calls do with the history and what a call searches for.
func (m *module) searching(ctx context.Context, c *fun.Call, a *findArgs, do func(*history.Store, history.Query) (value.Value, error)) (fun.Result, error) {
	q, err := a.query()
	if err != nil {
		return fun.Result{}, err
	}
	return m.with(ctx, c, a.ExtSource, func(s *history.Store) (value.Value, error) { return do(s, q) })
}

// named returns the execution that a call names.
func named(ctx context.Context, s *history.Store, jid string) (*history.Execution, error) {
	if !jobs.IsJID(jid) {
		return nil, fun.Errorf("%q is not a jid: a jid is 20 digits, such as 20261121093205123456; history.list lists the executions", jid)
	}
	e, err := s.Execution(ctx, jid)
	if err == nil && e == nil {
		err = fun.Errorf("the history has no execution %s; history.list lists the executions, and jobs.list_jobs other jobs", jid)
	}
	return e, err
}

func (m *module) list(ctx context.Context, c *fun.Call, a *findArgs) (fun.Result, error) {
	return m.searching(ctx, c, a, func(s *history.Store, q history.Query) (value.Value, error) {
		all, err := s.Executions(ctx, q)
		out := value.NewMap(len(all))
		for i := range all {
			out.Set(all[i].JID, execution(&all[i]))
		}
		return out, err
	})
}

// showArgs are the arguments of show and steps.
type showArgs struct {
	JID string `arg:"jid,required" doc:"jid of the execution"`
	sourceArgs
}

func (m *module) show(ctx context.Context, c *fun.Call, a *showArgs) (fun.Result, error) {
	return m.with(ctx, c, a.ExtSource, func(s *history.Store) (value.Value, error) {
		e, err := named(ctx, s, a.JID)
		if err != nil {
			return nil, err
		}
		d, err := s.Definition(ctx, e.Definition)
		if err != nil {
			return nil, err
		}
		out := execution(e)
		some(out, "revision", e.Revision)
		out.Set("controller", e.Controller)
		some(out, "brine", e.Program)
		if d != nil {
			out.Set("definition", definition(d))
		}
		return value.MapOf(e.JID, out), nil
	})
}

func (m *module) steps(ctx context.Context, c *fun.Call, a *showArgs) (fun.Result, error) {
	return m.with(ctx, c, a.ExtSource, func(s *history.Store) (value.Value, error) {
		e, err := named(ctx, s, a.JID)
		if err != nil {
			return nil, err
		}
		all, err := s.Steps(ctx, e)
		out := inOrder(len(all))
		for i := range all {
			out.Set(unique(out, all[i].ID, all[i].Fun), step(&all[i]))
		}
		return value.MapOf(e.JID, out), err
	})
}

type hostArgs struct {
	Host string `arg:"host,required" doc:"ID of the target"`
	findArgs
}

func (m *module) host(ctx context.Context, c *fun.Call, a *hostArgs) (fun.Result, error) {
	return m.searching(ctx, c, &a.findArgs, func(s *history.Store, q history.Query) (value.Value, error) {
		all, err := s.Host(ctx, a.Host, q)
		out := value.NewMap(len(all))
		type part struct {
			jid   string
			order int
		}
		names := map[part]string{}
		for i := range all {
			x := &all[i]
			run := out.Map(x.JID)
			if run == nil {
				run = value.MapOf("name", x.Name, "kind", x.Kind, "status", x.Status, "user", x.User, "steps", inOrder(4))
				out.Set(x.JID, run)
			}
			name := names[part{x.JID, x.Order}] // a step that was tried again: the last try counts
			switch {
			case x.Step == "":
				name = x.StepJID // of a step that has not ended
			case name == "":
				name = unique(run.Map("steps"), x.Step, x.Fun)
				names[part{x.JID, x.Order}] = name
			}
			run.Map("steps").Set(name, result(&x.HostResult))
		}
		return out, err
	})
}

type actionArgs struct {
	Action string `arg:"action,required" doc:"ID of the action, as the metadata of the step has it"`
	findArgs
}

func (m *module) action(ctx context.Context, c *fun.Call, a *actionArgs) (fun.Result, error) {
	return m.searching(ctx, c, &a.findArgs, func(s *history.Store, q history.Query) (value.Value, error) {
		all, err := s.Action(ctx, a.Action, q)
		out := value.NewMap(len(all))
		for i := range all {
			x := &all[i]
			run := out.Map(x.JID)
			if run == nil {
				run = value.MapOf("name", x.Name, "kind", x.Kind, "status", x.Status, "user", x.User, "steps", inOrder(1))
				out.Set(x.JID, run)
			}
			run.Map("steps").Set(unique(run.Map("steps"), x.ID, x.Fun), step(&x.ExecutionStep))
		}
		return out, err
	})
}

type diffArgs struct {
	JID1 string `arg:"jid1,required" doc:"jid of the execution to compare with"`
	JID2 string `arg:"jid2,required" doc:"jid of the other execution"`
	sourceArgs
}

func (m *module) diff(ctx context.Context, c *fun.Call, a *diffArgs) (fun.Result, error) {
	return m.with(ctx, c, a.ExtSource, func(s *history.Store) (value.Value, error) {
		then, err := named(ctx, s, a.JID1)
		if err != nil {
			return nil, err
		}
		now, err := named(ctx, s, a.JID2)
		if err != nil {
			return nil, err
		}
		d, err := s.Diff(ctx, then, now)
		if err != nil {
			return nil, err
		}
		return difference(d), nil
	})
}

func (m *module) stats(ctx context.Context, c *fun.Call, a *findArgs) (fun.Result, error) {
	return m.searching(ctx, c, a, func(s *history.Store, q history.Query) (value.Value, error) {
		st, err := s.Stats(ctx, q)
		if err != nil {
			return nil, err
		}
		return stats(st), nil
	})
}
