package beacons

import (
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// TestFunctions changes the beacons of a machine step by step.
func TestFunctions(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	env := &fun.Env{Machine: fun.Machine{Host: h}}
	env.Memo = &fun.Memo{}
	opts, err := yamlsalt.Load(yamlsalt.LoadOptions{}, []byte("{config_dir: /etc/salt, beacons: {load: [averages: {1m: [0, 1]}]}}"))
	if err != nil {
		t.Fatal(err)
	}
	env.Opts = opts.(*value.Map)
	env.Pillar = value.MapOf("beacons", value.MapOf("ofpillar", value.NewList()))
	c := &fun.Call{Env: env}
	disk := value.NewList(value.MapOf("/", "90%"))
	named := func(name string) *nameArgs { return &nameArgs{Name: name} }
	comment := func(what string, res fun.Result, err error, want string) {
		t.Helper()
		m, _ := res.Value.(*value.Map)
		if got := m.Str("comment"); err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, %v, want %q", what, got, err, want)
		}
	}
	saved := func(want string) {
		t.Helper()
		b, _ := h.ReadFile("/etc/salt/minion.d/beacons.conf")
		if string(b) != want {
			t.Errorf("the file has\n%s\nwant\n%s", b, want)
		}
	}
	res, err := add(t.Context(), c, &dataArgs{Name: "diskusage", BeaconData: disk, Test: true})
	comment("add in test mode", res, err, "Beacon: diskusage would be added.")
	res, err = add(t.Context(), c, &dataArgs{Name: "ofpillar", BeaconData: disk})
	comment("add one of the pillar", res, err, "Cannot update beacon item ofpillar, because it is configured in pillar.")
	res, err = add(t.Context(), c, &dataArgs{Name: "load", BeaconData: disk})
	comment("add one that is there", res, err, "Beacon load is already configured.")
	res, err = add(t.Context(), c, &dataArgs{Name: "diskusage", BeaconData: value.MapOf("/", "90%")})
	comment("add a wrong one", res, err, "Beacon diskusage configuration invalid, not adding.\nbeacon \"diskusage\": its options must be a list")
	saved("")
	res, err = add(t.Context(), c, &dataArgs{Name: "diskusage", BeaconData: disk})
	comment("add", res, err, "Added beacon: diskusage.")
	saved("beacons:\n  diskusage:\n  - {/: 90%}\n  load:\n  - averages:\n      1m: [0, 1]\n")
	res, err = modify(t.Context(), c, &dataArgs{Name: "diskusage", BeaconData: value.NewList(value.MapOf("/", "95%"))})
	comment("modify", res, err, "Modified beacon: diskusage.")
	if diff := res.Value.(*value.Map).Map("changes").Str("diff"); !strings.Contains(diff, "-/:90%\n+/:95%\n") {
		t.Errorf("the diff is %q", diff)
	}
	res, err = modify(t.Context(), c, &dataArgs{Name: "none", BeaconData: disk})
	comment("modify none", res, err, "Beacon none is not configured.")
	res, err = disableBeacon(t.Context(), c, named("diskusage"))
	comment("disable_beacon", res, err, "Disabled beacon diskusage on minion.")
	res, err = disableBeacon(t.Context(), c, named("none"))
	comment("disable_beacon none", res, err, "Beacon none is not currently configured.")
	res, err = disable(t.Context(), c, &testArgs{})
	comment("disable", res, err, "Disabled beacons on minion.")
	res, err = remove(t.Context(), c, named("load"))
	comment("delete", res, err, "Deleted beacon: load.")
	saved("beacons:\n  diskusage:\n  - {/: 95%}\n  - {enabled: false}\n  enabled: false\n")
	res, err = list(t.Context(), c, &listArgs{ReturnYaml: true, IncludeOpts: true, IncludePillar: true})
	if text := value.Str(res.Value); err != nil || !strings.Contains(text, "ofpillar: []") || !strings.Contains(text, "/: 95%") {
		t.Errorf("list: %q, %v", text, err)
	}
	res, err = remove(t.Context(), c, named("load"))
	comment("delete again", res, err, "Beacon item load not found.")
	res, err = reset(t.Context(), c, &testArgs{})
	comment("reset", res, err, "There are no beacons any more")
	saved("beacons: {}\n")
}
