package saltrun

import (
	"context"

	"brine/internal/fun"
	"brine/internal/value"
)

// Config returns the rows of the runner module "config".
func Config() fun.Module {
	return fun.Module{
		Name: "config", Kind: fun.Runner, Doc: "The configuration of this controller.",
		Specs: []fun.Spec{{
			Name: "get", Doc: "Return an option of the configuration.", Src: "runners/config.py get", Fn: option,
			Args: []fun.Arg{
				{Name: "key", Type: fun.Str, Required: true, Doc: "the option; the delimiter goes into dicts"},
				{Name: "default", Default: "", Doc: "what to return where there is none"},
				{Name: "delimiter", Type: fun.Str, Default: ":", Doc: "between the keys of nested dicts"},
			},
		}},
	}
}

// option looks an option up. Salt: salt/runners/config.py get.
func option(_ context.Context, c *fun.Call) (fun.Result, error) {
	v, ok := value.Traverse(c.Env.Opts, c.Str("key"), c.Str("delimiter"))
	if !ok {
		v = c.Value("default")
	}
	return fun.Value(v)
}

// Error returns the rows of the runner module "error".
func Error() fun.Module {
	return fun.Module{
		Name: "error", Kind: fun.Runner, Doc: "Failures on purpose, for trying out what becomes of them.",
		Specs: []fun.Spec{{
			Name: "error", Doc: "Fail with a message; without a name return {}.", Src: "runners/error.py error", Fn: fail,
			Args: []fun.Arg{
				{Name: "name", Type: fun.Str, Doc: "a Python exception, such as Exception; any will do, the message alone is shown"},
				{Name: "message", Type: fun.Str, Default: "", Doc: "what it says"},
			},
		}},
	}
}

// fail fails as it is told. Salt: salt/runners/error.py error.
func fail(_ context.Context, c *fun.Call) (fun.Result, error) {
	if c.IsNone("name") {
		return fun.Value(value.NewMap(0))
	}
	return fun.Result{}, fun.Errorf("%s", c.Str("message"))
}

// HTTP returns the rows of the runner module "http".
func HTTP() fun.Module {
	return fun.Module{
		Name: "http", Kind: fun.Runner, Doc: "Requests to web servers, from this controller.",
		Specs: []fun.Spec{{
			Name: "query", Doc: "Send a request and return the answer; the arguments are those of the execution function.", Src: "runners/http.py query", Fn: query, VarKw: true,
			Args: []fun.Arg{
				{Name: "url", Type: fun.Str, Required: true, Doc: "the address"},
				{Name: "output", Type: fun.Bool, Default: true, Doc: "accepted: the return is printed"},
			},
		}},
	}
}

// query sends a request. Salt: salt/runners/http.py query.
func query(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return c.Env.Invoker.Invoke(ctx, fun.Exec, "http.query", fun.Args{Pos: []value.Value{c.Str("url")}, Kw: without(c.Kw)})
}
