package saltutil

import (
	"context"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// tree is a file server that has custom modules.
type tree struct{ fun.Upstream }

func (tree) Stat(_ context.Context, _, path string) (fun.FileInfo, error) {
	if path == "_modules" {
		return fun.FileInfo{Path: path}, nil
	}
	return fun.FileInfo{}, fs.ErrNotExist
}

func (tree) List(context.Context, string, string) ([]fun.FileInfo, error) {
	return []fun.FileInfo{{Path: "_modules/disk.sh", Mode: 0o755}, {Path: "_modules/old.py", Mode: 0o644}, {Path: "_modules/so.pyc", Mode: 0o755}}, nil
}

func TestSync(t *testing.T) {
	t.Parallel()
	var warned []string
	env := &fun.Env{
		Identity: fun.Identity{SaltEnv: "base"},
		Machine:  fun.Machine{Up: tree{}},
		Data:     fun.Data{Opts: value.MapOf("file_client", "local")},
		UI:       fun.UI{OnWarn: func(w fun.Warning) { warned = append(warned, w.Text) }},
	}
	got := map[string]string{}
	mod := Module().Loaded()
	for i := range mod.Specs {
		s := &mod.Specs[i]
		if !strings.HasPrefix(s.Name, "sync_") {
			continue
		}
		res, err := s.Fn(t.Context(), &fun.Call{Mod: &mod, Spec: s, Args: value.NewMap(0), Kw: value.NewMap(0), Env: env})
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		got[s.Name] = value.Repr(res.Value)
	}
	for name, want := range map[string]string{
		"sync_modules": "['modules.disk', 'modules.old']",
		"sync_states":  "[]",
		"sync_grains":  "[]",
		"sync_all": "{'clouds': [], 'beacons': [], 'modules': ['modules.disk', 'modules.old'], 'states': [], 'sdb': [], 'grains': [], 'renderers': [], " +
			"'returners': [], 'output': [], 'utils': [], 'log_handlers': [], 'executors': [], 'proxymodules': [], 'engines': [], " +
			"'thorium': [], 'serializers': [], 'matchers': [], 'pillar': []}",
	} {
		if d := cmp.Diff(want, got[name]); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
	if len(warned) == 0 || !strings.Contains(warned[0], "compiled Python") {
		t.Errorf("a compiled module is not named: %q", warned)
	}
}

// The kinds of the controller are others than those of a minion.
//
// Salt: salt/runners/saltutil.py sync_all.
func TestSyncRunner(t *testing.T) {
	t.Parallel()
	env := &fun.Env{Identity: fun.Identity{SaltEnv: "base"}, Machine: fun.Machine{Up: tree{}}, Data: fun.Data{Opts: value.MapOf("file_client", "local")}, UI: fun.UI{OnWarn: func(fun.Warning) {}}}
	mod := Runners().Loaded()
	for i := range mod.Specs {
		s := &mod.Specs[i]
		if s.Name != "sync_all" {
			continue
		}
		res, err := s.Fn(t.Context(), &fun.Call{Mod: &mod, Spec: s, Args: value.NewMap(0), Kw: value.NewMap(0), Env: env})
		want := "{'clouds': [], 'modules': ['modules.disk', 'modules.old'], 'states': [], 'grains': [], 'renderers': [], 'returners': [], 'output': [], " +
			"'proxymodules': [], 'runners': [], 'wheel': [], 'engines': [], 'thorium': [], 'queues': [], 'pillar': [], 'utils': [], 'sdb': [], " +
			"'cache': [], 'fileserver': [], 'tops': [], 'tokens': [], 'serializers': [], 'executors': [], 'roster': []}"
		if d := cmp.Diff(want, value.Repr(res.Value)); err != nil || d != "" {
			t.Errorf("%v (-want +got):\n%s", err, d)
		}
	}
}
