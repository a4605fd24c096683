package yumpkg_test

import (
	"testing"

	"brine/internal/testkit/providertest"
)

func TestProvider(t *testing.T) {
	t.Parallel()
	(&providertest.Pkg{
		New: func(t *testing.T) providertest.Machine {
			t.Helper()
			m := newMachine(t, "dnf")
			m.have = append(m.have, [2]string{"same", "3.0-1"})
			return providertest.Machine{Env: m.Rig.Env, Host: m.Fake}
		},
		Old:     providertest.Package{Name: "foo", Installed: "1.0-1", Available: "2.0-1"},
		Current: providertest.Package{Name: "same", Installed: "3.0-1", Available: "3.0-1"},
		Unknown: "nope",
	}).Test(t)
}
