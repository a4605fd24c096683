package assembly

import (
	"context"
	"strings"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// elsewhereOpts are options that have programs run or other machines asked while files
// are compiled.
var elsewhereOpts = [...]string{"ext_pillar", "git_pillar", "master_tops"}

// NewStillEnv is [NewEnv] for looking at a tree: no program is started, nothing is
// changed and no other machine is asked. Of the execution functions, templates may call
// those that may says; custom modules and grains of the tree are not loaded. What the
// configuration has beyond that is warned of and left out.
func NewStillEnv(ctx context.Context, o EnvOptions, may func(name string) bool) *fun.Env {
	c := *o.Config
	c.Opts = c.Opts.Copy()
	var left []string
	for _, name := range elsewhereOpts {
		if value.Truth(c.Opts.At(name)) {
			left = append(left, name)
			c.Opts.Delete(name)
		}
	}
	backends := c.Opts.List("fileserver_backend")
	for i := range backends.Len() {
		if b := value.Str(backends.Items[i]); b != "roots" && b != "file_roots" {
			left = append(left, "fileserver_backend "+b)
		}
	}
	c.Opts.Set("fileserver_backend", value.NewList("roots"))
	if len(left) > 0 && o.Warn != nil {
		o.Warn(fun.Warning{Text: "left out, since nothing is to be run: " + strings.Join(left, ", ")})
	}
	o.Config, o.Host, o.Git = &c, host.Still(o.Host), nil
	o.CoreGrains, o.builtIn = true, true
	env := NewEnv(ctx, o)
	env.NewTable = nil
	env.NewInvoker = func(e *fun.Env) fun.Invoker { return onlyPure{dispatch.New(e), may} }
	env.Invoker = env.NewInvoker(env)
	return env
}

// onlyPure calls the functions that may be called.
type onlyPure struct {
	fun.Invoker
	may func(name string) bool
}

// Invoke calls a function.
func (p onlyPure) Invoke(ctx context.Context, kind fun.Kind, name string, args fun.Args) (fun.Result, error) {
	if kind != fun.Exec || !p.may(name) {
		return fun.Result{}, fun.Errorf("%s is not called: nothing is to be run", name)
	}
	return p.Invoker.Invoke(ctx, kind, name, args)
}
