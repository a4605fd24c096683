package aptpkg_test

import (
	"strings"
	"testing"

	"brine/internal/testkit/providertest"
)

func TestProvider(t *testing.T) {
	t.Parallel()
	(&providertest.Pkg{
		New: func(t *testing.T) providertest.Machine {
			t.Helper()
			m := machine(t)
			return providertest.Machine{Env: m.Env(), Host: m.Fake}
		},
		Old:     providertest.Package{Name: "tool", Installed: "1.0", Available: "2.0"},
		Current: providertest.Package{Name: "lib", Installed: "1.2", Available: "1.2"},
		Unknown: "nope",
		Looks: func(command string) bool {
			return strings.HasPrefix(command, "apt-cache ") || strings.Contains(command, " --simulate ") || strings.Contains(command, " --just-print ")
		},
		Without: map[string]string{
			"purge returns the version that was there": "as in Salt, purge returns a mapping of removed and installed",
		},
	}).Test(t)
}
