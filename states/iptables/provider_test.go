package iptables_test

import (
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/internal/testkit/providertest"
	iptablesmod "brine/modules/iptables"
	"brine/states/iptables"
)

func TestProvider(t *testing.T) {
	t.Parallel()
	(&providertest.Firewall{
		New: func(t *testing.T) providertest.Machine {
			t.Helper()
			h := machine()
			return providertest.Machine{Host: h, Env: calltest.Env(h, value.MapOf("os", "Debian", "kernel", "Linux"),
				fun.Entry{Kind: fun.Exec, Name: "iptables", Load: iptablesmod.Module}, fun.Entry{Kind: fun.State, Name: "iptables", Load: iptables.States})}
		},
		Module: "iptables", Table: "filter", Chain: "INPUT", Custom: "CUSTOM",
		Rule:  []value.Value{"proto", "tcp", "dport", "80", "jump", "ACCEPT"},
		Other: []value.Value{"source", "10.0.0.1", "jump", "DROP"},
		First: []value.Value{"position", int64(1)},
		Looks: func(command string) bool {
			return strings.Contains(command, "iptables-save ") || strings.Contains(command, " -C ") || strings.HasSuffix(command, " --help")
		},
	}).Test(t)
}
