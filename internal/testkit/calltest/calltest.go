// Package calltest calls functions of one execution module on a fake machine and
// shows what came of it as text, for tables of tests.
package calltest

import (
	"strings"
	"testing"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// Env returns an Env for a fake machine and the modules of entries.
func Env(h host.Host, grains *value.Map, entries ...fun.Entry) *fun.Env {
	env := &fun.Env{
		Identity:  fun.Identity{ID: "minion1", SaltEnv: "base"},
		Machine:   fun.Machine{Host: h, CacheDir: "/var/cache/brine"},
		Data:      fun.Data{Memo: &fun.Memo{}, Opts: value.MapOf("id", "minion1"), Grains: grains, Pillar: value.NewMap(0)},
		Functions: fun.Functions{Table: fun.NewTable(entries)},
	}
	env.NewInvoker = func(e *fun.Env) fun.Invoker { return dispatch.New(e) }
	env.Invoker = dispatch.New(env)
	return env
}

// YAML reads a value.
func YAML(t testing.TB, text string) value.Value {
	t.Helper()
	v, err := yamlsalt.LoadString(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Plain prints a value with every dict as a plain one.
func Plain(v value.Value) string { return value.Repr(plainOf(value.Clone(v))) }

func plainOf(v value.Value) value.Value {
	switch v := v.(type) {
	case *value.Map:
		v.Ordered = false
		for _, x := range v.All() {
			plainOf(x)
		}
	case *value.List:
		for _, x := range v.Items {
			plainOf(x)
		}
	}
	return v
}

// Call calls an execution function with keyword arguments in YAML. It returns
// the value as Python prints it, or "error: " and the message.
func Call(t *testing.T, env *fun.Env, name, args string) string {
	t.Helper()
	kw, _ := YAML(t, args).(*value.Map)
	if kw == nil {
		kw = value.NewMap(0)
	}
	res, err := env.Invoker.Invoke(t.Context(), fun.Exec, name, fun.Args{Kw: kw})
	if err != nil {
		return "error: " + err.Error()
	}
	return value.Repr(res.Value)
}

// State calls a state function with arguments in YAML. It returns the outcome,
// the comment and the changes as Python prints them.
func State(t *testing.T, env *fun.Env, name, args string, test bool) string {
	t.Helper()
	mod, spec, err := env.Find(fun.State, name)
	if err != nil {
		t.Fatal(err)
	}
	c, err := env.Invoker.Bind(mod, spec, fun.Args{Kw: YAML(t, args).(*value.Map)})
	if err != nil {
		return "error: " + err.Error()
	}
	c.Test = test
	ret := spec.State(t.Context(), c)
	if ret.Err != nil {
		return "raised: " + ret.Err.Error()
	}
	changes := ret.Changes
	if changes == nil {
		changes = value.NewMap(0)
	}
	return value.Repr(ret.Result.Value()) + " " + value.Str(ret.Comment) + " " + value.Repr(changes)
}

// Commands returns the command lines that ran, joined by "; ".
func Commands(h *host.Fake) string {
	var lines []string
	for _, c := range h.Calls() {
		lines = append(lines, strings.Join(c.Argv, " "))
	}
	return strings.Join(lines, "; ")
}
