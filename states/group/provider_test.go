package group_test

import (
	"context"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/internal/testkit/providertest"
	groupmod "brine/modules/group"
	"brine/states/group"
)

func TestProvider(t *testing.T) {
	t.Parallel()
	(&providertest.Group{
		New: func(t *testing.T) providertest.Machine {
			t.Helper()
			h := machine()
			h.PutGroup(host.Group{Name: "have", Passwd: "x", GID: 6, Members: []string{"ann"}})
			h.HandleCommand("groupadd -g 5 *", func(_ context.Context, c host.Cmd) (host.Output, error) {
				h.PutGroup(host.Group{Name: c.Argv[3], Passwd: "x", GID: 5})
				return host.Output{}, nil
			})
			return providertest.Machine{Host: h, Env: calltest.Env(h, value.MapOf("os", "Debian", "kernel", "Linux"),
				fun.Entry{Kind: fun.Exec, Name: "group", Load: groupmod.Module}, fun.Entry{Kind: fun.State, Name: "group", Load: group.States})}
		},
		Have: "have", Member: "ann", User: "bob", Unknown: "nope", Free: 5,
	}).Test(t)
}
