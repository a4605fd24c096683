// Package statefn has the execution module state: it compiles SLS files or the
// top file, and runs or shows the result.
//
// [Module] is the table of functions. Most open a session (session.go), which
// validates pillar, sets the test mode and forks the Env as their arguments say
// (args.go); then they compile (runner/high, runner/low) and run (runner/exec).
//
// Salt: salt/modules/state.py.
package statefn

import "brine/internal/core/fun"

// Module returns the execution module state.
func Module() fun.Module {
	return fun.Module{Name: "state", Kind: fun.Exec, Doc: "Compile and run states on this machine.", Specs: specs}
}
