package controller

import (
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/saltnames"
)

// TestReasons: a reason is for a function or a module that Salt has.
func TestReasons(t *testing.T) {
	t.Parallel()
	for name := range absent {
		if !saltnames.Has(fun.Runner.Short(), name) && (strings.Contains(name, ".") || saltnames.Functions(fun.Runner.Short(), name) == nil) {
			t.Errorf("Salt has no runner function or module %s", name)
		}
	}
	for name, want := range map[string]string{"queue.insert": ownQueues, "cloud.action": cloud, "cache.grains": lastGrains, "manage.up": "", "nosuch.fn": ""} {
		if got := WhyAbsent(fun.Runner, name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if why := WhyAbsent(fun.State, "cloud.present"); why != "" {
		t.Errorf("a state: %q", why)
	}
}
