// Package process is Salt's state module "process": processes that must not run.
package process

import (
	"context"
	"fmt"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// States returns the rows of the state module "process".
func States() fun.Module {
	return fun.Module{Name: "process", Kind: fun.State, Doc: "End processes.", Avail: fun.Needs("ps", ""), Specs: specs}
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{{
	Name: "absent", Doc: "End the processes whose command line has a text.", Src: "states/process.py absent", Do: absent,
}}

type absentArgs struct {
	_      fun.Arguments
	_      string      `arg:"name,required" doc:"the text"`
	User   value.Value `arg:"user,str" doc:"only processes of this account"`
	Signal value.Value `arg:"signal,int" doc:"number of the signal; default 15 (SIGTERM)"`
}

// absent ends processes. Salt: salt/states/process.py absent. Difference: test mode
// looks at command lines too, as the run does, and is True where nothing runs.
func absent(ctx context.Context, c *fun.Call, a *absentArgs) fun.Ret {
	if c.Name == "" {
		return fun.Fail("the name is empty: every process would match")
	}
	kw := value.MapOf("user", a.User, "full", true)
	none := fun.Ret{Result: fun.OK, Comment: "No matching processes running"}
	if c.Test {
		res, err := c.Env.Exec(ctx, "ps.pgrep", kw, c.Name)
		if err != nil {
			return fun.Raise(err)
		}
		if l, ok := res.(*value.List); ok && l.Len() > 0 {
			return fun.Due("%d processes will be killed", l.Len())
		}
		return none
	}
	if value.Truth(a.Signal) {
		kw.Set("signal", fun.IntOf(a.Signal))
	}
	res, err := c.Env.Exec(ctx, "ps.pkill", kw, c.Name)
	if err != nil {
		return fun.Raise(err)
	}
	if m, ok := res.(*value.Map); ok {
		return fun.Ret{Result: fun.OK, Comment: fmt.Sprintf("Killed %d processes", m.List("killed").Len()), Changes: m}
	}
	return none
}
