//go:build linux

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/internal/testkit/machine"
	"brine/internal/testkit/turn"
)

// TestProvidersOnMachines runs the suites of internal/testkit/providertest in throw-away
// machines, on their real package managers, services, groups and firewalls.
func TestProvidersOnMachines(t *testing.T) {
	image := machine.Image(t)
	t.Parallel()
	program := filepath.Join(t.TempDir(), "providers.test")
	c := exec.Command("go", "test", "-c", "-vet=off", "-trimpath", "-o", program, "./internal/testkit/providertest")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Run("debian", func(t *testing.T) {
		turn.Skip(t)
		t.Parallel()
		runProviders(t, machine.Boot(t, image), program, "Debian", "", "Apt", "Systemd", "Group", "Iptables", "Nftables")
	})
	for _, pm := range packageManagers {
		t.Run(pm.name, func(t *testing.T) {
			t.Parallel()
			runProviders(t, pm.boot(t, managersImage(t)), program, pm.family, pm.grains(), strings.ToUpper(pm.name[:1])+pm.name[1:])
		})
	}
}

// runProviders runs the suites of a family of systems, and looks whether those that are due
// ran.
func runProviders(t *testing.T, m *machine.Machine, program, family, conf string, due ...string) {
	t.Helper()
	m.Install(t, "/srv/providers.test", program)
	r := m.Run(5*time.Minute, "/srv", "env", "BRINE_TEST_PROVIDERS="+family, "BRINE_TEST_PROVIDERS_CONF="+conf, "/srv/providers.test", "-test.v")
	t.Log(r.Stdout)
	if r.Exit != 0 {
		t.Errorf("exit status %d: %s", r.Exit, r.Stderr)
	}
	for _, name := range due {
		if !strings.Contains(r.Stdout, "--- PASS: Test"+name+" (") {
			t.Errorf("Test%s did not run, or failed", name)
		}
	}
}
