// Package dryrun tells states in test mode how far they can know what the machine
// will be like when they run.
package dryrun

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// Certain reports whether a state in test mode finds the machine as the run will:
// all states before it have been tried, and none has changes to make. Where it is
// not certain, what is missing may still come.
func Certain(c *fun.Call) bool {
	run := c.Env.Run
	if run == nil || c.Low == nil || c.Env.Opts == nil || !value.Truth(c.Env.Opts.At("test")) {
		return false // of a prereq, or on its own
	}
	own := c.Low.Tag()
	for _, before := range run.Low() {
		if before.Tag() == own {
			return true
		}
		ret := run.Return(before.Tag())
		if ret == nil || ret.At("result") == nil {
			return false
		}
	}
	return false
}
