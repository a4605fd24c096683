// Package testing is Salt's runner module "test".
package testing

import (
	"context"
	"time"

	"brine/internal/fun"
	"brine/internal/value"
)

// Runners returns the rows of the runner module "test".
func Runners() fun.Module {
	return fun.Module{
		Name: "test", Kind: fun.Runner, Doc: "Functions for trying things out.",
		Specs: []fun.Spec{
			{Name: "arg", Doc: "Return the arguments as they arrived: args and kwargs.", Src: "runners/test.py arg", VarArg: true, VarKw: true, Fn: arg},
			{Name: "get_opts", Doc: "Return the configuration.", Src: "runners/test.py get_opts", Fn: getOpts},
			{Name: "metasyntactic", Doc: "Return the metasyntactic variables of a place.", Src: "runners/test.py metasyntactic", Fn: metasyntactic, Args: []fun.Arg{
				{Name: "locality", Type: fun.Str, Default: "us", Doc: "us or uk"},
			}},
			{Name: "raw_arg", Doc: "Return all arguments as they arrived.", Src: "runners/test.py raw_arg", VarArg: true, VarKw: true, Fn: arg},
			{Name: "sleep", Doc: "Wait some seconds.", Src: "runners/test.py sleep", Fn: sleep, Args: []fun.Arg{
				{Name: "s_time", Type: fun.Float, Default: int64(10), Unit: "s", Doc: "how long"},
			}},
			{Name: "stdout_print", Doc: "Return \"bar\". (Salt also prints \"foo\"; here stdout is the report alone.)", Src: "runners/test.py stdout_print", Fn: stdoutPrint},
		},
	}
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
	list, ok := names[c.Str("locality")]
	if !ok {
		return fun.Result{}, fun.Errorf("there are metasyntactic variables of us and uk, not of %s", value.Repr(c.Value("locality")))
	}
	return fun.Value(value.Strings(list...))
}

// sleep waits. Salt: salt/runners/test.py sleep.
func sleep(ctx context.Context, c *fun.Call) (fun.Result, error) {
	d := time.Duration(0)
	switch v := c.Value("s_time").(type) {
	case int64:
		d = time.Duration(v) * time.Second
	case float64:
		d = time.Duration(v * float64(time.Second))
	default:
		return fun.Result{}, fun.Errorf("s_time must be a number of seconds, not %s", value.Repr(v))
	}
	if err := c.Env.Host.Sleep(ctx, d); err != nil {
		return fun.Result{}, err
	}
	return fun.Value(true)
}

func stdoutPrint(context.Context, *fun.Call) (fun.Result, error) { return fun.Value("bar") }
