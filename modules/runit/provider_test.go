package runit_test

import (
	"testing"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/internal/testkit/providertest"
	"brine/modules/runit"
	"brine/modules/status"
	"brine/states/service"
)

func TestProvider(t *testing.T) {
	t.Parallel()
	(&providertest.Service{
		New: func(t *testing.T) providertest.Machine {
			t.Helper()
			h := machine()
			return providertest.Machine{Env: calltest.Env(h, value.MapOf("os", "Void", "kernel", "Linux", "init", "runit"),
				fun.Entry{Kind: fun.Exec, Name: "runit", Virtual: "service", Load: runit.Service},
				fun.Entry{Kind: fun.Exec, Name: "status", Load: status.Module},
				fun.Entry{Kind: fun.State, Name: "service", Load: service.States}), Host: h}
		},
		Running: "sshd", Stopped: "cron", Enabled: "sshd", Disabled: "late", Unknown: "none",
		Without: map[string]string{
			"enable and disable succeed, also where there is nothing to do": "as in Salt, disable of what is not enabled is False; enable waits for runsvdir",
			"enable and disable that a program refuses are no success":      "a link and a file are made and removed, without a program",
		},
	}).Test(t)
}
