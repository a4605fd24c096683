// Package environ is Salt's state module "environ": variables for the programs
// that later states of the run start.
package environ

import (
	"context"

	"brine/internal/fun"
	"brine/internal/value"
	"brine/modules/environ"
)

// States returns the rows of the state module "environ".
func States() fun.Module {
	return fun.Module{Name: "environ", Kind: fun.State, Doc: "Set environment variables for programs of the run.", Specs: specs}
}

// setenv sets variables in the environment of the programs that the run starts
// from now on.
//
// As in Salt the result under test is True, changes or not.
//
// Salt: salt/states/environ.py setenv.
func setenv(ctx context.Context, c *fun.Call) fun.Ret {
	var want value.Mapping
	switch v := c.Value("value").(type) {
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
	unsets, clearAll := c.Bool("false_unsets"), c.Bool("clear_all")
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
	if c.Bool("update_minion") {
		environ.Announce(ctx, c.Env, value.MapOf("environ", want, "false_unsets", c.Value("false_unsets"), "clear_all", c.Value("clear_all"), "permanent", c.Value("permanent")))
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
