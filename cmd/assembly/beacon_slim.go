//go:build slim

package assembly

import "brine/internal/core/fun"

// beaconRunner is empty: it is the controller that collects events.
func beaconRunner() fun.Module { return fun.Module{Name: "beacon", Kind: fun.Runner} }

// An agent has no beacons.

func beaconsModule() fun.Module { return away(fun.Exec, "beacons", beaconsAway) }
func beaconState() fun.Module   { return away(fun.State, "beacon", beaconsAway) }
