package saltutil

import (
	"context"
	"strings"

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

// syncedRunner are the kinds that Salt copies to a master.
var syncedRunner = [...]string{
	"clouds", "modules", "states", "grains", "renderers", "returners", "output", "proxymodules", "runners", "wheel", "engines",
	"thorium", "queues", "pillar", "utils", "sdb", "cache", "fileserver", "tops", "tokens", "serializers", "executors", "roster",
}

// Runners returns the rows of the runner module "saltutil": the sync functions
// for the controller. Salt: salt/runners/saltutil.py.
func Runners() fun.Module {
	return fun.Module{Name: "saltutil", Kind: fun.Runner, Doc: "The custom modules of the controller.", Specs: syncSpecs("runners", syncedRunner[:])}
}

// syncSpecs returns the rows of the sync functions of the given kinds. dir is
// where in Salt's source they are.
func syncSpecs(dir string, kinds []string) []fun.Spec {
	row := func(name, doc string, fn fun.ExecFn) fun.Spec {
		return fun.Spec{
			Name: name, Doc: doc, Src: dir + "/saltutil.py " + name, Fn: fn, VarKw: true,
			Args: []fun.Arg{
				{Name: "saltenv", Type: fun.Str, Doc: "environment to look in"},
				{Name: "refresh", Type: fun.Bool, Default: true, Doc: "accepted: every run looks anew"},
				{Name: "extmod_whitelist", Doc: "accepted"},
				{Name: "extmod_blacklist", Doc: "accepted"},
			},
		}
	}
	specs := []fun.Spec{row("sync_all", "List all custom modules that are in use, by kind.", syncAll)}
	for _, kind := range kinds {
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
	switch {
	case strings.HasPrefix(c.Spec.Src, "runners/"):
		kinds = syncedRunner[:]
	case c.Env.Opts.Str("file_client") == "local":
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
