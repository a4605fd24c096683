package saltutil

import (
	"context"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
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

type runnerSyncArgs struct {
	_ string `arg:"saltenv" default:"base" doc:"environment to search"`
	listsArgs
}

var runnerSpecs = []fun.Spec{
	{Name: "sync_all", Doc: "List all custom modules that are in use, by kind.", Src: "runners/saltutil.py sync_all", Do: runnerSyncAll},
	{Name: "sync_cache", Doc: "List the custom cache modules that are in use.", Src: "runners/saltutil.py sync_cache", Do: runnerSync},
	{Name: "sync_clouds", Doc: "List the custom clouds that are in use.", Src: "runners/saltutil.py sync_clouds", Do: runnerSync},
	{Name: "sync_engines", Doc: "List the custom engines that are in use.", Src: "runners/saltutil.py sync_engines", Do: runnerSync},
	{Name: "sync_executors", Doc: "List the custom executors that are in use.", Src: "runners/saltutil.py sync_executors", Do: runnerSync},
	{Name: "sync_fileserver", Doc: "List the custom fileserver backends that are in use.", Src: "runners/saltutil.py sync_fileserver", Do: runnerSync},
	{Name: "sync_grains", Doc: "List the custom grains that are in use.", Src: "runners/saltutil.py sync_grains", Do: runnerSync},
	{Name: "sync_modules", Doc: "List the custom modules that are in use.", Src: "runners/saltutil.py sync_modules", Do: runnerSync},
	{Name: "sync_output", Doc: "List the custom outputters that are in use.", Src: "runners/saltutil.py sync_output", Do: runnerSync},
	{Name: "sync_pillar", Doc: "List the custom pillar modules that are in use.", Src: "runners/saltutil.py sync_pillar", Do: runnerSync},
	{Name: "sync_proxymodules", Doc: "List the custom proxy modules that are in use.", Src: "runners/saltutil.py sync_proxymodules", Do: runnerSync},
	{Name: "sync_queues", Doc: "List the custom queues that are in use.", Src: "runners/saltutil.py sync_queues", Do: runnerSync},
	{Name: "sync_renderers", Doc: "List the custom renderers that are in use.", Src: "runners/saltutil.py sync_renderers", Do: runnerSync},
	{Name: "sync_returners", Doc: "List the custom returners that are in use.", Src: "runners/saltutil.py sync_returners", Do: runnerSync},
	{Name: "sync_roster", Doc: "List the custom roster modules that are in use.", Src: "runners/saltutil.py sync_roster", Do: runnerSync},
	{Name: "sync_runners", Doc: "List the custom runners that are in use.", Src: "runners/saltutil.py sync_runners", Do: runnerSync},
	{Name: "sync_sdb", Doc: "List the custom sdb modules that are in use.", Src: "runners/saltutil.py sync_sdb", Do: runnerSync},
	{Name: "sync_serializers", Doc: "List the custom serializers that are in use.", Src: "runners/saltutil.py sync_serializers", Do: runnerSync},
	{Name: "sync_states", Doc: "List the custom states that are in use.", Src: "runners/saltutil.py sync_states", Do: runnerSync},
	{Name: "sync_thorium", Doc: "List the custom thorium modules that are in use.", Src: "runners/saltutil.py sync_thorium", Do: runnerSync},
	{Name: "sync_tokens", Doc: "List the custom tokens that are in use.", Src: "runners/saltutil.py sync_tokens", Do: runnerSync},
	{Name: "sync_tops", Doc: "List the custom tops that are in use.", Src: "runners/saltutil.py sync_tops", Do: runnerSync},
	{Name: "sync_utils", Doc: "List the custom utility modules that are in use.", Src: "runners/saltutil.py sync_utils", Do: runnerSync},
	{Name: "sync_wheel", Doc: "List the custom wheel modules that are in use.", Src: "runners/saltutil.py sync_wheel", Do: runnerSync},
}

func sync(ctx context.Context, c *fun.Call, _ *syncArgs) (fun.Result, error) { return ofKind(ctx, c) }

func syncSDB(ctx context.Context, c *fun.Call, _ *syncSDBArgs) (fun.Result, error) {
	return ofKind(ctx, c)
}

func runnerSync(ctx context.Context, c *fun.Call, _ *runnerSyncArgs) (fun.Result, error) {
	return ofKind(ctx, c)
}

// ofKind lists the modules of the kind that the function's name ends in: custom modules
// are used from where they are, so nothing is copied.
func ofKind(ctx context.Context, c *fun.Call) (fun.Result, error) {
	kind := strings.TrimPrefix(c.Spec.Name, "sync_")
	if kind == "outputters" { // the other name of sync_output
		kind = "output"
	}
	l, err := names(ctx, c, "_"+kind)
	return fun.Result{Value: l}, err
}

// syncAll lists every kind. Salt: salt/modules/saltutil.py sync_all.
func syncAll(ctx context.Context, c *fun.Call, _ *syncArgs) (fun.Result, error) {
	kinds := synced[:]
	if c.Env.Opts.Str("file_client") == "local" {
		kinds = append(slices.Clip(kinds), "pillar")
	}
	return ofKinds(ctx, c, kinds)
}

func runnerSyncAll(ctx context.Context, c *fun.Call, _ *runnerSyncArgs) (fun.Result, error) {
	return ofKinds(ctx, c, syncedRunner[:])
}

func ofKinds(ctx context.Context, c *fun.Call, kinds []string) (fun.Result, error) {
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
