// Package testing is Salt's runner module "test".
package testing

import (
	"context"

	"brine/internal/fun"
	"brine/internal/value"
)

// Runners returns the rows of the runner module "test".
func Runners() fun.Module {
	return fun.Module{Name: "test", Kind: fun.Runner, Doc: "Functions for testing.", Specs: specs}
}

// arg returns what it was given. Salt: salt/runners/test.py arg.
func arg(_ context.Context, c *fun.Call) (fun.Result, error) {
	kw := value.NewMap(c.Kw.Len())
	for k, v := range c.Kw.All() {
		if n, ok := k.(string); ok && len(n) > 1 && n[:2] == "__" {
			continue
		}
		kw.Set(k, v)
	}
	return fun.Value(value.MapOf("args", value.NewList(c.Pos...), "kwargs", kw))
}

func getOpts(_ context.Context, c *fun.Call) (fun.Result, error) { return fun.Value(c.Env.Opts) }

func metasyntactic(_ context.Context, c *fun.Call) (fun.Result, error) {
	names := map[string][]string{
		"us": {"foo", "bar", "baz", "qux", "quux", "quuz", "corge", "grault", "garply", "waldo", "fred", "plugh", "xyzzy", "thud"},
		"uk": {"wibble", "wobble", "wubble", "flob"},
	}
	return fun.Value(value.Strings(names[c.Str("locality")]...))
}

// sleep waits. Salt: salt/runners/test.py sleep.
func sleep(ctx context.Context, c *fun.Call) (fun.Result, error) {
	if err := c.Env.Host.Sleep(ctx, c.Seconds("s_time")); err != nil {
		return fun.Result{}, err
	}
	return fun.Value(true)
}

func stdoutPrint(context.Context, *fun.Call) (fun.Result, error) { return fun.Value("bar") }
