//go:build slim

package assembly

import "brine/internal/core/fun"

// beaconRunner is empty: it is the controller that collects events.
func beaconRunner() fun.Module { return fun.Module{Name: "beacon", Kind: fun.Runner} }

// beaconsModule has the reason for which an agent does not have it.
func beaconsModule() fun.Module {
	return fun.Module{Name: "beacons", Kind: fun.Exec, Avail: func(*fun.Env) (bool, string) { return false, beaconsAway }}
}

// beaconState has the reason for which an agent does not have it.
func beaconState() fun.Module {
	return fun.Module{Name: "beacon", Kind: fun.State, Avail: func(*fun.Env) (bool, string) { return false, beaconsAway }}
}
