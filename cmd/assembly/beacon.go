//go:build !slim

package assembly

import (
	"brine/internal/core/fun"
	beaconsmod "brine/modules/beacons"
	beaconrun "brine/runner/fn/beacon"
	beaconstates "brine/states/beacon"
)

// beaconRunner is the runner module "beacon".
func beaconRunner() fun.Module { return beaconrun.Module() }

// beaconsModule is the execution module "beacons".
func beaconsModule() fun.Module {
	m := beaconsmod.Module()
	m.Avail = noAgent
	return m
}

// beaconState is the state module "beacon".
func beaconState() fun.Module {
	m := beaconstates.States()
	m.Avail = noAgent
	return m
}

// noAgent says that an agent has no beacons, also one that is the whole brine: those of a
// machine are looked at by the brine that is installed there.
func noAgent(e *fun.Env) (bool, string) {
	if isAgent(e) {
		return false, beaconsAway
	}
	return true, ""
}

// isAgent reports whether this is an agent, be it one that is the whole brine.
func isAgent(e *fun.Env) bool { return e.Opts.Has("schedule_conf_dir") }
