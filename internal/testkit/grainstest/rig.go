// Package grainstest is the rig that the tests of the modules named "grains"
// share: an environment on a fake machine with a grains file.
package grainstest

import (
	"testing"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/grains"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// File is the grains file of the fake machine.
const File = "/etc/salt/grains"

// NewEnv returns the environment of a minion "m" whose grains file has the text
// static. Its table has the given modules.
func NewEnv(t testing.TB, static string, modules ...fun.Entry) (*fun.Env, *host.Fake) {
	t.Helper()
	h := host.NewFake()
	h.PutFile(File, static, 0o644)
	opts := value.MapOf("conf_file", "/etc/salt/minion")
	env := &fun.Env{Identity: fun.Identity{ID: "m"}, Data: fun.Data{Opts: opts, Memo: &fun.Memo{}}, Machine: fun.Machine{Host: h}}
	env.Grains = grains.Collect(grains.Options{Host: h, ID: "m", Opts: opts})
	env.Table = fun.NewTable(modules)
	env.Invoker = dispatch.New(env)
	return env, h
}
