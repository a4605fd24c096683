// Package environ is Salt's execution module "environ": the environment that
// programs of the run get.
package environ

import (
	"context"
	"strings"

	"brine/internal/fun"
	"brine/internal/host"
	"brine/internal/value"
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
// one whose name is no text.
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

func get(_ context.Context, c *fun.Call) (fun.Result, error) {
	if _, ok := c.Value("key").(string); !ok {
		return fun.Value(false)
	}
	if v, ok := All(c.Env.Host).Get(c.Value("key")); ok {
		return fun.Value(v)
	}
	return fun.Value(c.Value("default"))
}

func hasValue(_ context.Context, c *fun.Call) (fun.Result, error) {
	v, ok := All(c.Env.Host).Get(c.Value("key"))
	if ok && !c.IsNone("value") {
		ok = value.Equal(v, c.Value("value"))
	}
	return fun.Value(ok)
}

func item(_ context.Context, c *fun.Call) (fun.Result, error) {
	all, m := All(c.Env.Host), value.NewMap(0)
	switch c.Value("keys").(type) {
	case string, *value.List:
	default:
		return fun.Value(m)
	}
	for _, k := range c.List("keys") {
		v, ok := all.Get(k)
		if !ok {
			v = c.Value("default")
		}
		m.Set(k, v)
	}
	return fun.Value(m)
}

func items(_ context.Context, c *fun.Call) (fun.Result, error) { return fun.Value(All(c.Env.Host)) }

func setval(_ context.Context, c *fun.Call) (fun.Result, error) {
	return fun.Value(Set(c.Env.Host, c.Value("key"), c.Value("val"), c.Value("false_unsets") == true))
}

func setenv(ctx context.Context, c *fun.Call) (fun.Result, error) {
	environ, ok := c.Value("environ").(value.Mapping)
	if !ok {
		return fun.Value(false)
	}
	set, ok := SetAll(c.Env.Host, environ, c.Value("false_unsets") == true, c.Value("clear_all") == true)
	if !ok {
		return fun.Value(false)
	}
	if c.Value("update_minion") == true {
		Announce(ctx, c.Env, value.MapOf("environ", environ, "false_unsets", c.Value("false_unsets"), "clear_all", c.Value("clear_all"), "permanent", c.Value("permanent")))
	}
	return fun.Value(set)
}

// Announce fires the event by which Salt's minion learns of new variables.
// Nobody need listen, so that it cannot be fired is no fault.
func Announce(ctx context.Context, env *fun.Env, data *value.Map) {
	if env.Invoker != nil {
		_, _ = env.Invoker.Invoke(ctx, fun.Exec, "event.fire", fun.Args{Pos: []value.Value{data, "environ_setenv"}})
	}
}
