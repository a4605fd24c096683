// Package saltutil is Salt's state module "saltutil": custom modules are made known
// to the run.
package saltutil

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// States returns the rows of the state module "saltutil".
func States() fun.Module {
	return fun.Module{Name: "saltutil", Kind: fun.State, Doc: "Make custom modules known to the run.", Specs: specs}
}

// nameArgs are the arguments of all functions.
type nameArgs struct {
	_ fun.Arguments
	_ string `arg:"name,required" doc:"any text"`
}

// specs are the functions, alphabetically. Further arguments are those of the
// execution function of the same name: saltenv, refresh, extmod_whitelist ...
var specs = []fun.Spec{
	{Name: "sync_all", Doc: "Make all custom modules known.", Src: "states/saltutil.py sync_all", Of: "saltutil.sync_all", Always: true, Do: syncAll},
	{Name: "sync_beacons", Doc: "Make custom beacons known.", Src: "states/saltutil.py sync_beacons", Of: "saltutil.sync_beacons", Always: true, Do: sync},
	{Name: "sync_clouds", Doc: "Make custom clouds known.", Src: "states/saltutil.py sync_clouds", Of: "saltutil.sync_clouds", Always: true, Do: sync},
	{Name: "sync_engines", Doc: "Make custom engines known.", Src: "states/saltutil.py sync_engines", Of: "saltutil.sync_engines", Always: true, Do: sync},
	{Name: "sync_executors", Doc: "Make custom executors known.", Src: "states/saltutil.py sync_executors", Of: "saltutil.sync_executors", Always: true, Do: sync},
	{Name: "sync_grains", Doc: "Make custom grains known.", Src: "states/saltutil.py sync_grains", Of: "saltutil.sync_grains", Always: true, Do: sync},
	{Name: "sync_log_handlers", Doc: "Make custom log handlers known.", Src: "states/saltutil.py sync_log_handlers", Of: "saltutil.sync_log_handlers", Always: true, Do: sync},
	{Name: "sync_matchers", Doc: "Make custom matchers known.", Src: "states/saltutil.py sync_matchers", Of: "saltutil.sync_matchers", Always: true, Do: sync},
	{Name: "sync_modules", Doc: "Make custom execution modules known.", Src: "states/saltutil.py sync_modules", Of: "saltutil.sync_modules", Always: true, Do: sync},
	{Name: "sync_output", Doc: "Make custom outputters known.", Src: "states/saltutil.py sync_output", Of: "saltutil.sync_output", Always: true, Do: sync},
	{Name: "sync_outputters", Doc: "Make custom outputters known.\nThe same as sync_output.", Src: "states/saltutil.py sync_outputters", Of: "saltutil.sync_outputters", Always: true, Do: sync},
	{Name: "sync_pillar", Doc: "Make custom pillar modules known.", Src: "states/saltutil.py sync_pillar", Of: "saltutil.sync_pillar", Always: true, Do: sync},
	{Name: "sync_proxymodules", Doc: "Make custom proxy modules known.", Src: "states/saltutil.py sync_proxymodules", Of: "saltutil.sync_proxymodules", Always: true, Do: sync},
	{Name: "sync_renderers", Doc: "Make custom renderers known.", Src: "states/saltutil.py sync_renderers", Of: "saltutil.sync_renderers", Always: true, Do: sync},
	{Name: "sync_returners", Doc: "Make custom returners known.", Src: "states/saltutil.py sync_returners", Of: "saltutil.sync_returners", Always: true, Do: sync},
	{Name: "sync_sdb", Doc: "Make custom sdb modules known.", Src: "states/saltutil.py sync_sdb", Of: "saltutil.sync_sdb", Always: true, Do: sync},
	{Name: "sync_serializers", Doc: "Make custom serializers known.", Src: "states/saltutil.py sync_serializers", Of: "saltutil.sync_serializers", Always: true, Do: sync},
	{Name: "sync_states", Doc: "Make custom state modules known.", Src: "states/saltutil.py sync_states", Of: "saltutil.sync_states", Always: true, Do: sync},
	{Name: "sync_thorium", Doc: "Make custom thorium modules known.", Src: "states/saltutil.py sync_thorium", Of: "saltutil.sync_thorium", Always: true, Do: sync},
	{Name: "sync_utils", Doc: "Make custom utility modules known.", Src: "states/saltutil.py sync_utils", Of: "saltutil.sync_utils", Always: true, Do: sync},
}

// syncArgs are the arguments of sync and syncAll.
type syncArgs struct {
	nameArgs
	Rest fun.Kwargs
}

// sync makes the modules of one kind known. Salt: salt/states/saltutil.py
// _sync_single. Difference: brine uses custom modules where they are and copies
// nothing, so only those that came since the run began are changes.
func sync(ctx context.Context, c *fun.Call, a *syncArgs) fun.Ret {
	kind := strings.TrimPrefix(c.Spec.Name, "sync_")
	changes, ret := run(ctx, c, a.Rest)
	if changes == nil {
		return ret
	}
	l, ok := changes.Get(kind)
	if !ok {
		return fun.Ret{Result: fun.OK, Comment: "No updates to sync"}
	}
	return fun.Ret{Result: fun.OK, Comment: fmt.Sprintf("Updated %s.", kind), Changes: value.MapOf(kind, l)}
}

func syncAll(ctx context.Context, c *fun.Call, a *syncArgs) fun.Ret {
	changes, ret := run(ctx, c, a.Rest)
	if changes == nil {
		return ret
	}
	if changes.Len() == 0 {
		return fun.Ret{Result: fun.OK, Comment: "No updates to sync"}
	}
	return fun.Ret{Result: fun.OK, Comment: "Sync performed", Changes: changes}
}

// run looks for modules again and returns the new ones by kind. Where it returns nil,
// ret is the state's return.
func run(ctx context.Context, c *fun.Call, rest fun.Kwargs) (changes *value.Map, ret fun.Ret) {
	if c.Test {
		return nil, fun.Due("saltutil.%s would have been run", c.Spec.Name)
	}
	// The function checks the further arguments, and that the modules can be listed.
	if _, err := c.Env.Exec(ctx, "saltutil."+c.Spec.Name, rest.Map); err != nil {
		return nil, fun.Fail("Failed to run %s: %s", c.Spec.Name, err)
	}
	before := c.Env.Table
	if err := c.Env.ReloadModules(ctx); err != nil {
		return nil, fun.Fail("Failed to run %s: %s", c.Spec.Name, err)
	}
	changes = value.NewMap(2)
	for _, k := range []struct {
		name string
		kind fun.Kind
	}{{"modules", fun.Exec}, {"states", fun.State}} {
		was, l := before.Modules(k.kind), value.NewList()
		for _, name := range c.Env.Table.Modules(k.kind) {
			if !slices.Contains(was, name) {
				l.Append(k.name + "." + name)
			}
		}
		if l.Len() > 0 {
			changes.Set(k.name, l)
		}
	}
	return changes, fun.Ret{}
}
