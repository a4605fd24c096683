package ui

import (
	"testing"

	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// TestPlainRun tells what was run as the pages run it from what has arguments of its own.
func TestPlainRun(t *testing.T) {
	t.Parallel()
	kw := func(args ...any) *value.Map { return value.MapOf(append([]any{"__kwarg__", true}, args...)...) }
	for _, tt := range []struct {
		name  string
		args  *value.List
		plain bool
	}{
		{"by position", value.NewList("orch.deploy"), true},
		{"by name", value.NewList(kw("mods", "orch.deploy")), true},
		{"preview", value.NewList("orch.deploy", kw("test", true)), true},
		{"nothing", value.NewList(), false},
		{"no record of it", nil, false},
		{"twice", value.NewList("orch.deploy", "orch.deploy"), false},
		{"another one", value.NewList("orch.other"), false},
		{"another saltenv", value.NewList("orch.deploy", "dev"), false},
		{"another saltenv by name", value.NewList("orch.deploy", kw("saltenv", "dev")), false},
		{"another pillar", value.NewList("orch.deploy", kw("pillar_enc", "gpg")), false},
		{"a list", value.NewList(value.NewList("orch.deploy")), false},
		{"nothing in a place", value.NewList("orch.deploy", nil), false},
	} {
		load := value.NewMap(1)
		if tt.args != nil {
			load.Set("arg", tt.args)
		}
		j := &jobs.Job{Load: load, Definition: value.MapOf("sls", value.Strings("orch.deploy"))}
		if name, plain := plainRun(j); plain != tt.plain || plain && name != "orch.deploy" {
			t.Errorf("%s: %q, %v", tt.name, name, plain)
		}
	}
}
