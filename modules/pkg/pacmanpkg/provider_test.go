package pacmanpkg_test

import (
	"testing"

	"brine/internal/core/host"
	"brine/internal/testkit/providertest"
)

func TestProvider(t *testing.T) {
	t.Parallel()
	(&providertest.Pkg{
		New: func(t *testing.T) providertest.Machine {
			t.Helper()
			m := newMachine()
			m.OnCommand("pacman -S * epo", host.Output{Stdout: []byte("warning: epo-1:2.0-1 is up to date -- skipping\n there is nothing to do\n")})
			return providertest.Machine{Env: m.rig.Env, Host: m.Fake}
		},
		Old:     providertest.Package{Name: "foo", Installed: "1.0-1", Available: "2.0-1"},
		Current: providertest.Package{Name: "epo", Installed: "1:2.0-1", Available: "1:2.0-1"},
		Unknown: "nope",
	}).Test(t)
}
