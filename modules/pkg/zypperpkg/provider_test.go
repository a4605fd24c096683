package zypperpkg_test

import (
	"testing"

	"brine/internal/testkit/providertest"
)

func TestProvider(t *testing.T) {
	t.Parallel()
	(&providertest.Pkg{
		New: func(t *testing.T) providertest.Machine {
			t.Helper()
			m := newMachine(t)
			return providertest.Machine{Env: m.rig.Env, Host: m.Fake}
		},
		Old:     providertest.Package{Name: "foo", Installed: "1.0-1", Available: "2.0-1"},
		Current: providertest.Package{Name: "zypper", Installed: "1.14.42-2", Available: "1.14.42-2"},
		Unknown: "nope",
	}).Test(t)
}
