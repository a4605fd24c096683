package openrc_test

import (
	"testing"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/internal/testkit/providertest"
	"brine/modules/openrc"
	"brine/modules/status"
	"brine/states/service"
)

func TestProvider(t *testing.T) {
	t.Parallel()
	(&providertest.Service{
		New: func(t *testing.T) providertest.Machine {
			t.Helper()
			h := machine()
			return providertest.Machine{Env: calltest.Env(h, value.MapOf("os", "Alpine", "os_family", "Alpine", "kernel", "Linux"),
				fun.Entry{Kind: fun.Exec, Name: "gentoo_service", Virtual: "service", Load: openrc.Module},
				fun.Entry{Kind: fun.Exec, Name: "status", Load: status.Module},
				fun.Entry{Kind: fun.State, Name: "service", Load: service.States}), Host: h}
		},
		Running: "crond", Stopped: "sshd", Enabled: "crond", Disabled: "sshd", Unknown: "none",
	}).Test(t)
}
