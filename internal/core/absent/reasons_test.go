//go:build !slim

package absent

import (
	"slices"
	"strings"
	"testing"

	"brine/internal/core/saltnames"
)

// TestReasons: a reason is for a module or a function that Salt has, reads as the end of
// a sentence, and stands once.
func TestReasons(t *testing.T) {
	t.Parallel()
	kinds := append(Kinds(), "state", "execution", "runner", "wheel")
	for kind, all := range reasons() {
		if !slices.Contains(kinds, kind) {
			t.Errorf("%q is not a kind", kind)
		}
		for name, why := range all {
			known := saltnames.Has(kind, name) || saltnames.Functions(kind, name) != nil
			if slices.Contains(Kinds(), kind) {
				known = slices.Contains(Names(kind), name)
			}
			if !known {
				t.Errorf("Salt has no %s %s", kind, name)
			}
			if why == "" || strings.HasSuffix(why, ".") {
				t.Errorf("%s %s: the reason %q", kind, name, why)
			}
		}
	}
	for _, kind := range Kinds() {
		if len(Names(kind)) == 0 || !slices.IsSorted(Names(kind)) {
			t.Errorf("%s: %v", kind, Names(kind))
		}
	}
}

func TestWhy(t *testing.T) {
	t.Parallel()
	const bsd = "it is for BSD, Solaris or Gentoo"
	for _, tt := range []struct{ kind, name, want string }{
		{"state", "portage_config.flags", bsd},
		{"execution", "portage_config.get_flags", bsd}, // as its states
		{"state", "file.shortcut", "it is for Windows"},
		{"execution", "file.shortcut", ""}, // another function
		{"execution", "test.tty", "it writes to a terminal"},
		{"execution", "test.ping", ""},
		{"runner", "cloud.action", reasons()["runner"]["cloud"]},
		{"runner", "manage.up", ""},
		{Renderer, "dson", "it is a joke format that few packages read"},
		{Renderer, "jinja", ""},
		{"nosuch", "nosuch", ""},
	} {
		if got := Why(tt.kind, tt.name); got != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.kind, tt.name, got, tt.want)
		}
	}
}
