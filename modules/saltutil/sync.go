package saltutil

import (
	"context"

	"brine/internal/fun"
	"brine/internal/value"
)

// synced are the kinds of custom modules that Salt copies to a minion, in the
// order of sync_all. brine uses those of modules, returners and runners, where they lie;
// the others are Python and have no counterpart here.
var synced = [...]string{
	"clouds", "beacons", "modules", "states", "sdb", "grains", "renderers", "returners", "output", "utils",
	"log_handlers", "executors", "proxymodules", "engines", "thorium", "serializers", "matchers",
}

// Runners returns the rows of the runner module "saltutil": the sync functions
// for the controller. Salt: salt/runners/saltutil.py.
func Runners() fun.Module {
	return fun.Module{Name: "saltutil", Kind: fun.Runner, Doc: "The custom modules of the controller.", Specs: syncSpecs()}
}

// syncSpecs returns the rows of the sync functions.
func syncSpecs() []fun.Spec {
	row := func(name, doc string, fn fun.ExecFn) fun.Spec {
		return fun.Spec{
			Name: name, Doc: doc, Src: "modules/saltutil.py " + name, Fn: fn, VarKw: true,
			Args: []fun.Arg{
				{Name: "saltenv", Type: fun.Str, Doc: "environment to look in"},
				{Name: "refresh", Type: fun.Bool, Default: true, Doc: "accepted: every run looks anew"},
				{Name: "extmod_whitelist", Doc: "accepted"},
				{Name: "extmod_blacklist", Doc: "accepted"},
			},
		}
	}
	specs := []fun.Spec{row("sync_all", "List all custom modules that are in use, by kind.", syncAll)}
	for _, kind := range append(synced[:], "pillar", "runners") {
		specs = append(specs, row("sync_"+kind, "List the custom "+kind+" that are in use.", syncFn(kind)))
	}
	return specs
}

// syncFn lists what is found: custom modules are used where they lie, so there
// is nothing to copy.
func syncFn(kind string) fun.ExecFn {
	return func(ctx context.Context, c *fun.Call) (fun.Result, error) {
		l, err := names(ctx, c, "_"+kind)
		return fun.Result{Value: l}, err
	}
}

// syncAll lists every kind. Salt: salt/modules/saltutil.py sync_all.
func syncAll(ctx context.Context, c *fun.Call) (fun.Result, error) {
	kinds := synced[:]
	if c.Env.Opts.Str("file_client") == "local" {
		kinds = append(kinds[:len(kinds):len(kinds)], "pillar")
	}
	out := value.NewMap(len(kinds))
	for _, kind := range kinds {
		l, err := names(ctx, c, "_"+kind)
		if err != nil {
			return fun.Result{}, err
		}
		out.Set(kind, l)
	}
	return fun.Value(out)
}
