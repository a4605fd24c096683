// Package environ is Salt's execution module "environ": the environment that
// programs of the run get.
package environ

import (
	"context"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// Module returns the execution module "environ".
func Module() fun.Module {
	return fun.Module{Name: "environ", Kind: fun.Exec, Doc: "Read and set environment variables.", Specs: specs}
}

// All returns the environment as a dict.
func All(h host.Host) *value.Map {
	vars := h.Environ()
	m := value.NewMap(len(vars))
	for _, kv := range vars {
		k, v, _ := strings.Cut(kv, "=")
		m.Set(k, v)
	}
	return m
}

// Set sets a variable to text; False empties it, or takes it out where
// falseUnsets is set. It returns what the function environ.setval answers: the
// new value, None where the variable is gone, False where it cannot be set, as
// one whose name is not text.
func Set(h host.Host, name, v value.Value, falseUnsets bool) value.Value {
	key, ok := name.(string)
	if !ok {
		return false
	}
	if v == false {
		if falseUnsets {
			if h.Unsetenv(key) != nil {
				return false
			}
			return nil
		}
		v = ""
	}
	s, ok := v.(string)
	if !ok || h.Setenv(key, s) != nil {
		return false
	}
	return s
}

// SetAll is the function environ.setenv: it sets variables by the rules of
// [Set], and with clearAll all others as if they were False. ok is false where
// a value is neither text nor False.
func SetAll(h host.Host, environ value.Mapping, falseUnsets, clearAll bool) (set *value.Map, ok bool) {
	set = value.NewMap(environ.Len())
	if clearAll {
		for _, k := range All(h).Keys() {
			if _, ok := environ.Get(k); !ok {
				set.Set(k, Set(h, k, false, falseUnsets))
			}
		}
	}
	for _, k := range environ.Keys() {
		v, _ := environ.Get(k)
		if _, isText := v.(string); !isText && v != false {
			return set, false
		}
		set.Set(k, Set(h, k, v, falseUnsets))
	}
	return set, true
}

type getArgs struct {
	keyArg
	defaultArgs
}

func get(_ context.Context, c *fun.Call, a *getArgs) (fun.Result, error) {
	if _, ok := a.Key.(string); !ok {
		return fun.Value(false)
	}
	if v, ok := All(c.Env.Host).Get(a.Key); ok {
		return fun.Value(v)
	}
	return fun.Value(a.Default)
}

type hasValueArgs struct {
	keyArg
	Value value.Value `arg:"value" doc:"the expected value"`
}

func hasValue(_ context.Context, c *fun.Call, a *hasValueArgs) (fun.Result, error) {
	v, ok := All(c.Env.Host).Get(a.Key)
	if ok && a.Value != nil {
		ok = value.Equal(v, a.Value)
	}
	return fun.Value(ok)
}

type itemArgs struct {
	Keys value.Value `arg:"keys,required,str|list" doc:"a name or a list of names"`
	defaultArgs
}

func item(_ context.Context, c *fun.Call, a *itemArgs) (fun.Result, error) {
	all, m := All(c.Env.Host), value.NewMap(0)
	switch a.Keys.(type) {
	case string, *value.List:
	default:
		return fun.Value(m)
	}
	for _, k := range fun.ItemsOf(a.Keys) {
		v, ok := all.Get(k)
		if !ok {
			v = a.Default
		}
		m.Set(k, v)
	}
	return fun.Value(m)
}

func items(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return fun.Value(All(c.Env.Host))
}

type setvalArgs struct {
	keyArg
	Val         value.Value `arg:"val,required" doc:"a string, or False"`
	FalseUnsets value.Value `arg:"false_unsets,bool" default:"False" doc:"the value False unsets the variable instead of emptying it"`
	permanentArgs
}

func setval(_ context.Context, c *fun.Call, a *setvalArgs) (fun.Result, error) {
	return fun.Value(Set(c.Env.Host, a.Key, a.Val, a.FalseUnsets == true))
}

type setenvArgs struct {
	Environ      value.Value `arg:"environ,required" doc:"values by name: strings, or False"`
	FalseUnsets  value.Value `arg:"false_unsets,bool" default:"False" doc:"the value False unsets the variable instead of emptying it"`
	ClearAll     value.Value `arg:"clear_all,bool" default:"False" doc:"treat all other variables as False"`
	UpdateMinion value.Value `arg:"update_minion,bool" default:"False" doc:"send an event environ_setenv"`
	permanentArgs
}

func setenv(ctx context.Context, c *fun.Call, a *setenvArgs) (fun.Result, error) {
	environ, ok := a.Environ.(value.Mapping)
	if !ok {
		return fun.Value(false)
	}
	set, ok := SetAll(c.Env.Host, environ, a.FalseUnsets == true, a.ClearAll == true)
	if !ok {
		return fun.Value(false)
	}
	if a.UpdateMinion == true {
		Announce(ctx, c.Env, value.MapOf("environ", environ, "false_unsets", a.FalseUnsets, "clear_all", a.ClearAll, "permanent", a.Permanent))
	}
	return fun.Value(set)
}

// Announce fires the event by which Salt's minion learns of new variables.
// Nobody need listen, so it is not a fault that it cannot be fired.
func Announce(ctx context.Context, env *fun.Env, data *value.Map) {
	if env.Invoker != nil {
		_, _ = env.Exec(ctx, "event.fire", nil, data, "environ_setenv")
	}
}
