// Package environ is Salt's state module "environ": variables for the programs
// that later states of the run start.
package environ

import (
	"context"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/environ"
)

// States returns the rows of the state module "environ".
func States() fun.Module {
	return fun.Module{Name: "environ", Kind: fun.State, Doc: "Set environment variables for programs of the run.", Specs: specs}
}

type setenvArgs struct {
	_            fun.Arguments
	_            string      `arg:"name,required" doc:"name of the variable, unless value is a mapping"`
	Value        value.Value `arg:"value,required" doc:"text, False, or a mapping of names to such values"`
	FalseUnsets  value.Value `arg:"false_unsets,bool" default:"False" doc:"unset a variable whose value is False instead of emptying it"`
	ClearAll     value.Value `arg:"clear_all,bool" default:"False" doc:"treat all other variables as False"`
	UpdateMinion bool        `arg:"update_minion" default:"False" doc:"send an event environ_setenv"`
	Permanent    value.Value `arg:"permanent,str|bool" default:"False" doc:"Windows only"`
}

// setenv sets variables in the environment of the programs that the run starts
// from now on.
//
// As in Salt the result under test is True, changes or not.
//
// Salt: salt/states/environ.py setenv.
func setenv(ctx context.Context, c *fun.Call, a *setenvArgs) fun.Ret {
	var want value.Mapping
	switch v := a.Value.(type) {
	case string:
		want = value.MapOf(c.Name, v)
	case value.Mapping:
		want = v
	default:
		if v != false {
			return fun.Fail("Environ value must be string, dict or False")
		}
		want = value.MapOf(c.Name, v)
	}
	unsets, clearAll := value.Truth(a.FalseUnsets), value.Truth(a.ClearAll)
	due := changes(environ.All(c.Env.Host), want, unsets, clearAll)
	ret := fun.Ret{Result: fun.OK, Changes: due}
	switch {
	case c.Test && due.Len() > 0:
		ret.Comment = "Environ values will be changed"
		return ret
	case c.Test:
		ret.Comment = "Environ values are already set with the correct values"
		return ret
	case due.Len() == 0:
		ret.Comment = "Environ values were already set with the correct values"
		return ret
	}
	set, ok := environ.SetAll(c.Env.Host, want, unsets, clearAll)
	if !ok || set.Len() == 0 {
		ret.Result, ret.Comment = fun.Failed, "Failed to set environ variables" // the changes stay, as in Salt
		return ret
	}
	for k, v := range set.All() {
		if asked, _ := want.Get(k); v == false && asked != nil {
			ret = fun.Fail("Failed to set environ variables")
			ret.Changes = set
			return ret
		}
	}
	if a.UpdateMinion {
		environ.Announce(ctx, c.Env, value.MapOf("environ", want, "false_unsets", a.FalseUnsets, "clear_all", a.ClearAll, "permanent", a.Permanent))
	}
	ret.Changes, ret.Comment = set, "Environ values were set"
	return ret
}

// changes returns what setting want would change: the new values, None for
// variables that go.
func changes(now *value.Map, want value.Mapping, unsets, clearAll bool) *value.Map {
	due := value.NewMap(want.Len())
	unset := func(k value.Value) {
		old, there := now.Get(k)
		switch {
		case unsets && there:
			due.Set(k, nil)
		case !unsets && (!there || old != ""):
			due.Set(k, "")
		}
	}
	if clearAll {
		for _, k := range now.Keys() {
			if _, ok := want.Get(k); ok {
				continue
			}
			// Every other variable counts, as in Salt, one that is empty already, too.
			if unsets {
				due.Set(k, nil)
			} else {
				due.Set(k, "")
			}
		}
	}
	for _, k := range want.Keys() {
		v, _ := want.Get(k)
		if v == false {
			unset(k)
		} else if old, ok := now.Get(k); !value.Equal(old, v) && (ok || v != "") {
			due.Set(k, v)
		}
	}
	return due
}
