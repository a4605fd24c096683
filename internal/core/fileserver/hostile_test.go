package fileserver

import (
	"fmt"
	"testing"

	"brine/internal/core/host"
)

// TestHostileSaltenvs asks for saltenvs that there are not: nothing is kept of
// them.
func TestHostileSaltenvs(t *testing.T) {
	t.Parallel()
	f := host.NewFake()
	f.PutFile("/srv/base/a", "x", 0o644)
	f.PutFile("/srv/dyn/prod/a", "x", 0o644)
	for name, roots := range map[string]*Roots{
		"fixed":   {Envs: []string{"base"}, Dirs: map[string][]string{"base": {"/srv/base"}}},
		"dynamic": {Envs: []string{"base"}, Dirs: map[string][]string{"base": {"/srv/base"}, anyEnv: {"/srv/dyn/" + anyEnv}}},
	} {
		s := New(f, roots)
		for i := range 5000 {
			if l, err := s.List(t.Context(), fmt.Sprintf("invented%d", i), ""); err != nil || len(l) > 0 {
				t.Fatalf("%s: %v, %v", name, l, err)
			}
			_, _ = s.Dirs(t.Context(), fmt.Sprintf("invented%d", i), "")
			_, _ = s.Stat(t.Context(), fmt.Sprintf("invented%d", i), "a")
		}
		if n := len(s.trees); n > 1 {
			t.Errorf("%s: %d listings are kept", name, n)
		}
		if l, err := s.List(t.Context(), "base", ""); err != nil || len(l) != 1 {
			t.Errorf("%s: base has %v, %v", name, l, err)
		}
	}
}
