package systemd_test

import (
	"testing"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/internal/testkit/providertest"
	"brine/modules/status"
	"brine/modules/systemd"
	"brine/states/service"
)

func TestProvider(t *testing.T) {
	t.Parallel()
	(&providertest.Service{
		New: func(t *testing.T) providertest.Machine {
			t.Helper()
			m := machine()
			h := m.Fake
			return providertest.Machine{Env: calltest.Env(m, value.MapOf("os", "Debian", "os_family", "Debian", "kernel", "Linux"),
				fun.Entry{Kind: fun.Exec, Name: "systemd_service", Virtual: "service", Load: systemd.Module},
				fun.Entry{Kind: fun.Exec, Name: "status", Load: status.Module},
				fun.Entry{Kind: fun.State, Name: "service", Load: service.States}), Host: h}
		},
		Running: "b", Stopped: "a", Enabled: "b", Disabled: "a", Unknown: "none",
	}).Test(t)
}
