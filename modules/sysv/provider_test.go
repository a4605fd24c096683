package sysv_test

import (
	"testing"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/internal/testkit/providertest"
	"brine/modules/status"
	"brine/modules/sysv"
	"brine/states/service"
)

func TestDebianProvider(t *testing.T) {
	t.Parallel()
	(&providertest.Service{
		New: func(t *testing.T) providertest.Machine {
			t.Helper()
			h := debian(false)
			return providertest.Machine{Env: calltest.Env(h, value.MapOf("os", "Debian", "os_family", "Debian", "kernel", "Linux"),
				fun.Entry{Kind: fun.Exec, Name: "debian_service", Virtual: "service", Load: sysv.Debian},
				fun.Entry{Kind: fun.Exec, Name: "status", Load: status.Module},
				fun.Entry{Kind: fun.State, Name: "service", Load: service.States}), Host: h}
		},
		Running: "cron", Stopped: "ssh", Enabled: "cron", Disabled: "ssh", Unknown: "none",
	}).Test(t)
}

func TestRedHatProvider(t *testing.T) {
	t.Parallel()
	(&providertest.Service{
		New: func(t *testing.T) providertest.Machine {
			t.Helper()
			h := redhat()
			return providertest.Machine{Env: calltest.Env(h, value.MapOf("os", "CentOS", "os_family", "RedHat", "kernel", "Linux"),
				fun.Entry{Kind: fun.Exec, Name: "rh_service", Virtual: "service", Load: sysv.RedHat},
				fun.Entry{Kind: fun.Exec, Name: "status", Load: status.Module},
				fun.Entry{Kind: fun.State, Name: "service", Load: service.States}), Host: h}
		},
		Running: "sshd", Stopped: "smartd", Enabled: "sshd", Disabled: "smartd", Unknown: "none",
	}).Test(t)
}
