// Package lockrun is the runner module "lock", which Salt does not have: the locks of
// orchestrations.
package lockrun

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/fleet/shared"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// An Opener opens the store that has the locks.
type Opener func(ctx context.Context, env *fun.Env) (*shared.Store, error)

type module struct{ open Opener }

type nameArgs struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"name of the lock: the SLS files of the orchestration, with @SALTENV where that is not base"`
	JID  string `arg:"jid" doc:"only the lock of this run; without it all locks with the name"`
}

// Runners returns the rows of the runner module "lock". open opens the locks.
func Runners(open Opener) fun.Module {
	m := &module{open}
	return fun.Module{Name: "lock", Kind: fun.Runner, Doc: "Show and break the locks of orchestrations.", Specs: []fun.Spec{
		{
			Name: "break", Do: m.breakLock,
			Doc: "Remove a lock, and return whose it was.\n" +
				"A run that still goes on notices it at its next heartbeat and begins no new step.",
		},
		{
			Name: "list", Lookup: true, Do: m.list,
			Doc: "Return the locks of orchestrations with their owners.",
		},
	}}
}

// with calls do with the locks.
func (m *module) with(ctx context.Context, c *fun.Call, do func(s *shared.Store, all []shared.Lock) (value.Value, error)) (fun.Result, error) {
	s, err := m.open(ctx, c.Env)
	if err != nil {
		return fun.Result{}, fun.Errorf("the locks cannot be read: %v", err)
	}
	all, err := s.Locks(ctx)
	var v value.Value
	if err == nil {
		v, err = do(s, all)
	}
	if err = errors.Join(err, s.Close()); err != nil {
		return fun.Result{}, err
	}
	return fun.Value(v)
}

func (m *module) list(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return m.with(ctx, c, func(_ *shared.Store, all []shared.Lock) (value.Value, error) { return shown(all), nil })
}

// shown are locks by name and by the jid of the run.
func shown(all []shared.Lock) *value.Map {
	out := value.NewMap(len(all))
	for _, l := range all {
		if out.Map(l.Name) == nil {
			out.Set(l.Name, value.NewMap(1))
		}
		var targets value.Value = "all"
		if len(l.Targets) > 0 {
			targets = value.Strings(l.Targets...)
		}
		row := value.MapOf(
			"owner", l.Owner, "controller", l.Controller, "pid", int64(l.PID), "held_for", shared.Round(l.Age), "heartbeat", shared.Round(l.Silent)+" ago", "targets", targets,
		)
		if l.Expired {
			row.Set("status", "lapsed: the next run takes it")
		}
		out.Map(l.Name).Set(l.JID, row)
	}
	return out
}

func (m *module) breakLock(ctx context.Context, c *fun.Call, a *nameArgs) (fun.Result, error) {
	name, jid := a.Name, a.JID
	return m.with(ctx, c, func(s *shared.Store, all []shared.Lock) (value.Value, error) {
		var broken []shared.Lock
		var names, runs []string
		for _, l := range all {
			names = append(names, l.Name)
			if l.Name != name {
				continue
			}
			if runs = append(runs, l.JID); jid == "" || l.JID == jid {
				broken = append(broken, l)
			}
		}
		switch {
		case len(names) == 0:
			return nil, fun.Errorf("no orchestration is locked")
		case len(runs) == 0:
			return nil, fun.Errorf("there is no lock %q%s; lock.list lists the locks", name, source.DidYouMean(name, names))
		case len(broken) == 0:
			return nil, fun.Errorf("job %s does not hold the lock %q: %s", jid, name, holders(runs))
		}
		for _, l := range broken {
			if err := s.Drop(ctx, l.Name, l.JID); err != nil {
				return nil, err
			}
		}
		return shown(broken), nil
	})
}

func holders(jids []string) string {
	if len(jids) == 1 {
		return fmt.Sprintf("job %s does", jids[0])
	}
	return fmt.Sprintf("jobs %s do", strings.Join(jids, ", "))
}
