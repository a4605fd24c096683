package nftables_test

import (
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/internal/testkit/providertest"
	nftablesmod "brine/modules/nftables"
	"brine/states/nftables"
)

func TestProvider(t *testing.T) {
	t.Parallel()
	(&providertest.Firewall{
		New: func(t *testing.T) providertest.Machine {
			t.Helper()
			h := machine()
			return providertest.Machine{Host: h, Env: calltest.Env(h, value.MapOf("os", "Debian", "kernel", "Linux"),
				fun.Entry{Kind: fun.Exec, Name: "nftables", Load: nftablesmod.Module}, fun.Entry{Kind: fun.State, Name: "nftables", Load: nftables.States})}
		},
		Module: "nftables", Table: "t", Chain: "c", Custom: "n",
		Rule:  []value.Value{"jump", "drop"},
		Other: []value.Value{"jump", "accept"},
		Looks: func(command string) bool { return strings.Contains(command, " list ") },
	}).Test(t)
}
