package saltrun

import (
	"context"

	"brine/internal/core/fun"
	"brine/internal/py/value"
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

type optionArgs struct {
	_         fun.Arguments
	Key       string      `arg:"key,required" doc:"name of the option; delimiter separates nested keys"`
	Default   value.Value `arg:"default" default:"''" doc:"value to return if the option does not exist"`
	Delimiter string      `arg:"delimiter" default:":" doc:"separator of nested keys"`
}

// option looks an option up. Salt: salt/runners/config.py get.
func option(_ context.Context, c *fun.Call, a *optionArgs) (fun.Result, error) {
	v, ok := value.Traverse(c.Env.Opts, a.Key, a.Delimiter)
	if !ok {
		v = a.Default
	}
	return fun.Value(v)
}

// FailArgs are the arguments of [Fail].
type FailArgs struct {
	_       fun.Arguments
	Name    fun.Opt[string] `arg:"name" doc:"Python exception such as Exception; only the message is shown"`
	Message string          `arg:"message" default:"" doc:"error message"`
}

// Fail fails with the message that it is given; without a name it returns {}.
// Salt: salt/runners/error.py error.
func Fail(_ context.Context, _ *fun.Call, a *FailArgs) (fun.Result, error) {
	if !a.Name.Given {
		return fun.Value(value.NewMap(0))
	}
	return fun.Result{}, fun.Errorf("%s", a.Message)
}

type queryArgs struct {
	URL  string `arg:"url,required" doc:"URL"`
	_    bool   `arg:"output" default:"True" doc:"accepted without effect; the return is printed"`
	Rest fun.Kwargs
}

// query sends a request. Salt: salt/runners/http.py query.
func query(ctx context.Context, c *fun.Call, a *queryArgs) (fun.Result, error) {
	return c.Env.Invoker.Invoke(ctx, fun.Exec, "http.query", fun.Args{Pos: []value.Value{a.URL}, Kw: without(a.Rest.Map)})
}
