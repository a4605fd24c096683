// Package beacons is Salt's execution module "beacons": it changes which beacons a machine
// has. They are saved where Salt has them, and the next run of them reads that.
package beacons

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"brine/internal/core/beacon"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/difflib"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// Module returns the execution module "beacons".
func Module() fun.Module {
	return fun.Module{Name: "beacons", Kind: fun.Exec, Doc: "Change the beacons of this machine.", Specs: specs}
}

// A book is the beacons of a run.
type book struct {
	path   string
	all    *value.Map // of the configuration, as the run has changed them
	pillar *value.Map
}

type bookKey struct{}

// open returns the beacons of the run.
func open(c *fun.Call) *book {
	if b, ok := c.Env.Memo.Load(bookKey{}); ok {
		return b.(*book)
	}
	b := &book{path: filepath.Join(c.Env.Opts.Str("config_dir"), "minion.d", "beacons.conf"), all: value.NewMap(4), pillar: value.NewMap(0)}
	if m := c.Env.Opts.Map("beacons"); m != nil {
		b.all = value.Clone(m).(*value.Map)
	}
	if c.Env.Pillar != nil {
		if v, _ := c.Env.Pillar.Get("beacons"); fun.MapOf(v) != nil {
			b.pillar = fun.MapOf(v)
		}
	}
	c.Env.Memo.Store(bookKey{}, b)
	return b
}

// set saves a beacon, or another key.
func (b *book) set(c *fun.Call, key string, v value.Value) error {
	b.all.Set(key, v)
	return b.write(c)
}

// write saves all beacons but those of the pillar: as in Salt, the file replaces what the
// configuration has under beacons.
func (b *book) write(c *fun.Call) error {
	text, err := yamlsalt.Dump(value.MapOf("beacons", b.all), yamlsalt.SafeOptions())
	if err == nil {
		err = c.Env.Host.MkdirAll(filepath.Dir(b.path), 0o755)
	}
	if err == nil {
		mode := fs.FileMode(0o644)
		err = c.Env.Host.WriteFile(b.path, bytes.NewReader([]byte(text)), host.WriteOptions{Mode: &mode})
	}
	if err != nil {
		return fun.Errorf("Unable to write to beacons file at %s: %v", b.path, err)
	}
	return nil
}

// result is what the functions return.
func result(ok bool, format string, args ...any) (fun.Result, error) {
	return fun.Value(value.MapOf("comment", fmt.Sprintf(format, args...), "result", ok))
}

type listArgs struct {
	_             fun.Arguments
	ReturnYaml    bool `arg:"return_yaml" default:"True" doc:"return YAML text"`
	IncludePillar bool `arg:"include_pillar" default:"True" doc:"include the beacons of the pillar"`
	IncludeOpts   bool `arg:"include_opts" default:"True" doc:"include the beacons of the configuration"`
}

func list(_ context.Context, c *fun.Call, a *listArgs) (fun.Result, error) {
	b := open(c)
	opts, pillar := b.all, b.pillar
	if !a.IncludeOpts {
		opts = value.NewMap(0)
	}
	if !a.IncludePillar {
		pillar = value.NewMap(0)
	}
	all := beacon.Merge(opts, pillar)
	switch {
	case all.Len() == 0:
		return fun.Value(value.MapOf("beacons", value.NewMap(0)))
	case !a.ReturnYaml:
		return fun.Value(all)
	}
	text, err := yamlsalt.Dump(value.MapOf("beacons", all), yamlsalt.SafeOptions())
	return fun.Result{Value: text}, err
}

type availableArgs struct {
	_          fun.Arguments
	ReturnYaml bool `arg:"return_yaml" default:"True" doc:"return YAML text"`
}

func listAvailable(_ context.Context, _ *fun.Call, a *availableArgs) (fun.Result, error) {
	names := value.Strings(beacon.Names()...)
	if !a.ReturnYaml {
		return fun.Value(names)
	}
	text, err := yamlsalt.Dump(value.MapOf("beacons", names), yamlsalt.SafeOptions())
	return fun.Result{Value: text}, err
}

type nameArgs struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"name of the beacon"`
	Test bool   `arg:"test" default:"False" doc:"only say what would be done"`
	Rest fun.Kwargs
}

type dataArgs struct {
	_          fun.Arguments
	Name       string      `arg:"name,required" doc:"name of the beacon"`
	BeaconData value.Value `arg:"beacon_data,required" doc:"options of the beacon, a list of mappings"`
	Test       bool        `arg:"test" default:"False" doc:"only say what would be done"`
	Rest       fun.Kwargs
}

type testArgs struct {
	_    fun.Arguments
	Test bool `arg:"test" default:"False" doc:"only say what would be done"`
	Rest fun.Kwargs
}

func dryRun(c *fun.Call, asked bool) bool { return c.Test || asked }

// invalid returns what is wrong with a beacon; "" is nothing.
func invalid(name string, data value.Value) string {
	var texts []string
	for _, f := range beacon.Read(value.MapOf(name, data)).Faults {
		texts = append(texts, f.Error())
	}
	return strings.Join(texts, "\n")
}

func add(_ context.Context, c *fun.Call, a *dataArgs) (fun.Result, error) {
	b := open(c)
	switch {
	case b.pillar.Has(a.Name):
		return result(false, "Cannot update beacon item %s, because it is configured in pillar.", a.Name)
	case b.all.Has(a.Name):
		return result(false, "Beacon %s is already configured.", a.Name)
	}
	if why := invalid(a.Name, a.BeaconData); why != "" {
		return result(false, "Beacon %s configuration invalid, not adding.\n%s", a.Name, why)
	}
	if dryRun(c, a.Test) {
		return result(true, "Beacon: %s would be added.", a.Name)
	}
	if err := b.set(c, a.Name, a.BeaconData); err != nil {
		return fun.Result{}, err
	}
	return result(true, "Added beacon: %s.", a.Name)
}

func modify(_ context.Context, c *fun.Call, a *dataArgs) (fun.Result, error) {
	b := open(c)
	switch {
	case b.pillar.Has(a.Name):
		return result(false, "Cannot modify beacon item %s, it is configured in pillar.", a.Name)
	case !b.all.Has(a.Name):
		return result(false, "Beacon %s is not configured.", a.Name)
	}
	if why := invalid(a.Name, a.BeaconData); why != "" {
		return result(false, "Beacon %s configuration invalid, not modifying.\n%s", a.Name, why)
	}
	old := b.all.At(a.Name)
	if value.Equal(old, a.BeaconData) {
		return result(true, "Job %s in correct state", a.Name)
	}
	if dryRun(c, a.Test) {
		return result(true, "Beacon: %s would be modified.", a.Name)
	}
	if err := b.set(c, a.Name, a.BeaconData); err != nil {
		return fun.Result{}, err
	}
	diff := strings.Join(difflib.Unified(lines(old), lines(a.BeaconData), "", "", "\n"), "")
	return fun.Value(value.MapOf("comment", fmt.Sprintf("Modified beacon: %s.", a.Name), "result", true, "changes", value.MapOf("diff", diff)))
}

// lines writes the options of a beacon for a diff, one a line.
func lines(v value.Value) (out []string) {
	l, _ := v.(*value.List)
	for _, x := range l.Elems() {
		m, _ := x.(*value.Map)
		for k, v := range m.All() {
			out = append(out, value.Str(k)+":"+value.Str(v)+"\n")
		}
	}
	return out
}

func remove(_ context.Context, c *fun.Call, a *nameArgs) (fun.Result, error) {
	b := open(c)
	switch {
	case b.pillar.Has(a.Name):
		return result(false, "Cannot delete beacon item %s, it is configured in pillar.", a.Name)
	case !b.all.Has(a.Name):
		return result(false, "Beacon item %s not found.", a.Name)
	case dryRun(c, a.Test):
		return result(true, "Beacon: %s would be deleted.", a.Name)
	}
	b.all.Delete(a.Name)
	if err := b.write(c); err != nil {
		return fun.Result{}, err
	}
	return result(true, "Deleted beacon: %s.", a.Name)
}

func save(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	b := open(c)
	if err := b.write(c); err != nil {
		return fun.Result{}, err
	}
	return result(true, "Beacons saved to %s.", b.path)
}

func reset(_ context.Context, c *fun.Call, a *testArgs) (fun.Result, error) {
	b := open(c)
	if dryRun(c, a.Test) {
		return result(true, "Beacons would be reset.")
	}
	b.all = value.NewMap(0)
	if err := b.write(c); err != nil {
		return fun.Result{}, err
	}
	return result(true, "There are no beacons any more, as %s says.", b.path)
}

func enable(_ context.Context, c *fun.Call, a *testArgs) (fun.Result, error) {
	return switchAll(c, a, true, "enabled", "Enabled")
}

func disable(_ context.Context, c *fun.Call, a *testArgs) (fun.Result, error) {
	return switchAll(c, a, false, "disabled", "Disabled")
}

func switchAll(c *fun.Call, a *testArgs, on bool, state, did string) (fun.Result, error) {
	b := open(c)
	if dryRun(c, a.Test) {
		return result(true, "Beacons would be %s.", state)
	}
	if err := b.set(c, "enabled", on); err != nil {
		return fun.Result{}, err
	}
	return result(true, "%s beacons on minion.", did)
}

func enableBeacon(_ context.Context, c *fun.Call, a *nameArgs) (fun.Result, error) {
	return switchOne(c, a, true, "enabled", "Enabled")
}

func disableBeacon(_ context.Context, c *fun.Call, a *nameArgs) (fun.Result, error) {
	return switchOne(c, a, false, "disabled", "Disabled")
}

func switchOne(c *fun.Call, a *nameArgs, on bool, state, did string) (fun.Result, error) {
	b := open(c)
	options, ok := b.all.At(a.Name).(*value.List)
	switch {
	case b.pillar.Has(a.Name):
		return result(false, "Beacon %s is configured in pillar, and stays as it is.", a.Name)
	case !ok:
		return result(false, "Beacon %s is not currently configured.", a.Name)
	case dryRun(c, a.Test):
		return result(true, "Beacon %s would be %s.", a.Name, state)
	}
	changed := value.NewList()
	for _, x := range options.Items {
		if m, ok := x.(*value.Map); !ok || !m.Has("enabled") {
			changed.Append(x)
		}
	}
	changed.Append(value.MapOf("enabled", on))
	if err := b.set(c, a.Name, changed); err != nil {
		return fun.Result{}, err
	}
	return result(true, "%s beacon %s on minion.", did, a.Name)
}

var specs = []fun.Spec{
	{Name: "add", Doc: "Add a beacon, and save it.", Src: "modules/beacons.py add", Do: add},
	{Name: "delete", Doc: "Remove a beacon.", Src: "modules/beacons.py delete", Do: remove},
	{Name: "disable", Doc: "Have no beacon look.", Src: "modules/beacons.py disable", Do: disable},
	{Name: "disable_beacon", Doc: "Have a beacon look no more.", Src: "modules/beacons.py disable_beacon", Do: disableBeacon},
	{Name: "enable", Doc: "Have the beacons look again, after disable.", Src: "modules/beacons.py enable", Do: enable},
	{Name: "enable_beacon", Doc: "Have a beacon look again, after disable_beacon.", Src: "modules/beacons.py enable_beacon", Do: enableBeacon},
	{Name: "list", Doc: "List the beacons of this machine.", Src: "modules/beacons.py list_", Lookup: true, Do: list},
	{Name: "list_available", Doc: "List the beacons that there are.", Src: "modules/beacons.py list_available", Lookup: true, Do: listAvailable},
	{Name: "modify", Doc: "Change a beacon, and save it.", Src: "modules/beacons.py modify", Do: modify},
	{Name: "reset", Doc: "Remove all beacons but those of the pillar.", Src: "modules/beacons.py reset", Do: reset},
	{Name: "save", Doc: "Save the beacons of the configuration in minion.d/beacons.conf.", Src: "modules/beacons.py save", Do: save},
}
