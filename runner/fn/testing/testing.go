// Package testing is Salt's runner module "test".
package testing

import (
	"context"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// Runners returns the rows of the runner module "test".
func Runners() fun.Module {
	return fun.Module{Name: "test", Kind: fun.Runner, Doc: "Functions for testing.", Specs: specs}
}

type argArgs struct {
	More fun.Varargs
	Rest fun.Kwargs
}

// arg returns what it was given. Salt: salt/runners/test.py arg.
func arg(_ context.Context, c *fun.Call, a *argArgs) (fun.Result, error) {
	kw := value.NewMap(a.Rest.Len())
	for k, v := range a.Rest.All() {
		if n, ok := k.(string); ok && len(n) > 1 && n[:2] == "__" {
			continue
		}
		kw.Set(k, v)
	}
	return fun.Value(value.MapOf("args", value.NewList(a.More...), "kwargs", kw))
}

func getOpts(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return fun.Value(c.Env.Opts)
}

type metasyntacticArgs struct {
	_        fun.Arguments
	Locality string `arg:"locality" default:"us" oneof:"us|uk" doc:"us or uk"`
}

func metasyntactic(_ context.Context, c *fun.Call, a *metasyntacticArgs) (fun.Result, error) {
	names := map[string][]string{
		"us": {"foo", "bar", "baz", "qux", "quux", "quuz", "corge", "grault", "garply", "waldo", "fred", "plugh", "xyzzy", "thud"},
		"uk": {"wibble", "wobble", "wubble", "flob"},
	}
	return fun.Value(value.Strings(names[a.Locality]...))
}

type sleepArgs struct {
	_     fun.Arguments
	STime time.Duration `arg:"s_time" default:"10" unit:"s" doc:"how long to sleep"`
}

// sleep waits. Salt: salt/runners/test.py sleep.
func sleep(ctx context.Context, c *fun.Call, a *sleepArgs) (fun.Result, error) {
	if err := c.Env.Host.Sleep(ctx, a.STime); err != nil {
		return fun.Result{}, err
	}
	return fun.Value(true)
}

func stdoutPrint(context.Context, *fun.Call, *fun.NoArgs) (fun.Result, error) {
	return fun.Value("bar")
}
