package saltutil

import (
	"context"
	"slices"
	"strings"

	"brine/internal/fun"
	"brine/internal/value"
)

// synced are the kinds of custom modules that Salt copies to a minion, in the
// order of sync_all. brine uses those of modules, states, grains,
// renderers, returners, utils, pillar, tops and runners from where they are; the
// others extend parts of Salt that have no counterpart here.
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
	return fun.Module{Name: "saltutil", Kind: fun.Runner, Doc: "List the custom modules of the controller.", Specs: runnerSpecs}
}

var runnerSyncArgs = []fun.Arg{
	{Name: "saltenv", Type: fun.Str, Default: "base", Doc: "environment to search"},
	whitelistArg, blacklistArg,
}

var runnerSpecs = []fun.Spec{
	{Name: "sync_all", Doc: "List all custom modules that are in use, by kind.", Src: "runners/saltutil.py sync_all", Args: runnerSyncArgs, Fn: syncAll},
	{Name: "sync_cache", Doc: "List the custom cache modules that are in use.", Src: "runners/saltutil.py sync_cache", Args: runnerSyncArgs, Fn: sync},
	{Name: "sync_clouds", Doc: "List the custom clouds that are in use.", Src: "runners/saltutil.py sync_clouds", Args: runnerSyncArgs, Fn: sync},
	{Name: "sync_engines", Doc: "List the custom engines that are in use.", Src: "runners/saltutil.py sync_engines", Args: runnerSyncArgs, Fn: sync},
	{Name: "sync_executors", Doc: "List the custom executors that are in use.", Src: "runners/saltutil.py sync_executors", Args: runnerSyncArgs, Fn: sync},
	{Name: "sync_fileserver", Doc: "List the custom fileserver backends that are in use.", Src: "runners/saltutil.py sync_fileserver", Args: runnerSyncArgs, Fn: sync},
	{Name: "sync_grains", Doc: "List the custom grains that are in use.", Src: "runners/saltutil.py sync_grains", Args: runnerSyncArgs, Fn: sync},
	{Name: "sync_modules", Doc: "List the custom modules that are in use.", Src: "runners/saltutil.py sync_modules", Args: runnerSyncArgs, Fn: sync},
	{Name: "sync_output", Doc: "List the custom outputters that are in use.", Src: "runners/saltutil.py sync_output", Args: runnerSyncArgs, Fn: sync},
	{Name: "sync_pillar", Doc: "List the custom pillar modules that are in use.", Src: "runners/saltutil.py sync_pillar", Args: runnerSyncArgs, Fn: sync},
	{Name: "sync_proxymodules", Doc: "List the custom proxy modules that are in use.", Src: "runners/saltutil.py sync_proxymodules", Args: runnerSyncArgs, Fn: sync},
	{Name: "sync_queues", Doc: "List the custom queues that are in use.", Src: "runners/saltutil.py sync_queues", Args: runnerSyncArgs, Fn: sync},
	{Name: "sync_renderers", Doc: "List the custom renderers that are in use.", Src: "runners/saltutil.py sync_renderers", Args: runnerSyncArgs, Fn: sync},
	{Name: "sync_returners", Doc: "List the custom returners that are in use.", Src: "runners/saltutil.py sync_returners", Args: runnerSyncArgs, Fn: sync},
	{Name: "sync_roster", Doc: "List the custom roster modules that are in use.", Src: "runners/saltutil.py sync_roster", Args: runnerSyncArgs, Fn: sync},
	{Name: "sync_runners", Doc: "List the custom runners that are in use.", Src: "runners/saltutil.py sync_runners", Args: runnerSyncArgs, Fn: sync},
	{Name: "sync_sdb", Doc: "List the custom sdb modules that are in use.", Src: "runners/saltutil.py sync_sdb", Args: runnerSyncArgs, Fn: sync},
	{Name: "sync_serializers", Doc: "List the custom serializers that are in use.", Src: "runners/saltutil.py sync_serializers", Args: runnerSyncArgs, Fn: sync},
	{Name: "sync_states", Doc: "List the custom states that are in use.", Src: "runners/saltutil.py sync_states", Args: runnerSyncArgs, Fn: sync},
	{Name: "sync_thorium", Doc: "List the custom thorium modules that are in use.", Src: "runners/saltutil.py sync_thorium", Args: runnerSyncArgs, Fn: sync},
	{Name: "sync_tokens", Doc: "List the custom tokens that are in use.", Src: "runners/saltutil.py sync_tokens", Args: runnerSyncArgs, Fn: sync},
	{Name: "sync_tops", Doc: "List the custom tops that are in use.", Src: "runners/saltutil.py sync_tops", Args: runnerSyncArgs, Fn: sync},
	{Name: "sync_utils", Doc: "List the custom utility modules that are in use.", Src: "runners/saltutil.py sync_utils", Args: runnerSyncArgs, Fn: sync},
	{Name: "sync_wheel", Doc: "List the custom wheel modules that are in use.", Src: "runners/saltutil.py sync_wheel", Args: runnerSyncArgs, Fn: sync},
}

// sync lists the modules of the kind that its own name ends in: custom modules are
// used from where they are, so nothing is copied.
func sync(ctx context.Context, c *fun.Call) (fun.Result, error) {
	kind := strings.TrimPrefix(c.Spec.Name, "sync_")
	if kind == "outputters" { // the other name of sync_output
		kind = "output"
	}
	l, err := names(ctx, c, "_"+kind)
	return fun.Result{Value: l}, err
}

// syncAll lists every kind. Salt: salt/modules/saltutil.py sync_all.
func syncAll(ctx context.Context, c *fun.Call) (fun.Result, error) {
	kinds := synced[:]
	switch {
	case strings.HasPrefix(c.Spec.Src, "runners/"):
		kinds = syncedRunner[:]
	case c.Env.Opts.Str("file_client") == "local":
		kinds = append(slices.Clip(kinds), "pillar")
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
