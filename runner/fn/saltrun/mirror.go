package saltrun

import (
	"context"

	"brine/internal/fun"
	"brine/internal/value"
)

// Config returns the rows of the runner module "config".
func Config() fun.Module {
	return fun.Module{Name: "config", Kind: fun.Runner, Doc: "Show the configuration of this controller.", Specs: configSpecs}
}

// Error returns the rows of the runner module "error".
func Error() fun.Module {
	return fun.Module{Name: "error", Kind: fun.Runner, Doc: "Fail on purpose, for testing.", Specs: errorSpecs}
}

// HTTP returns the rows of the runner module "http".
func HTTP() fun.Module {
	return fun.Module{Name: "http", Kind: fun.Runner, Doc: "Send requests to web servers from this controller.", Specs: httpSpecs}
}

// option looks an option up. Salt: salt/runners/config.py get.
func option(_ context.Context, c *fun.Call) (fun.Result, error) {
	v, ok := value.Traverse(c.Env.Opts, c.Str("key"), c.Str("delimiter"))
	if !ok {
		v = c.Value("default")
	}
	return fun.Value(v)
}

// Fail fails with the message that it is given; without a name it returns {}.
// Salt: salt/runners/error.py error.
func Fail(_ context.Context, c *fun.Call) (fun.Result, error) {
	if c.IsNone("name") {
		return fun.Value(value.NewMap(0))
	}
	return fun.Result{}, fun.Errorf("%s", c.Str("message"))
}

// query sends a request. Salt: salt/runners/http.py query.
func query(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return c.Env.Invoker.Invoke(ctx, fun.Exec, "http.query", fun.Args{Pos: []value.Value{c.Str("url")}, Kw: without(c.Kw)})
}
