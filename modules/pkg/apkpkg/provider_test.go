package apkpkg_test

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
			m.OnCommand("apk add *busybox", host.Output{Stdout: []byte("OK: 8 MiB in 15 packages\n")})
			return providertest.Machine{Env: m.rig.Env, Host: m.Fake}
		},
		Old:     providertest.Package{Name: "foo-bar", Installed: "1.0-r0", Available: "1.1-r0"},
		Current: providertest.Package{Name: "busybox", Installed: "1.36.1-r2", Available: "1.36.1-r2"},
		Unknown: "nope",
		Without: map[string]string{
			"upgrade_available says whether there is a newer version": "Salt's apkpkg does not have it",
		},
	}).Test(t)
}
