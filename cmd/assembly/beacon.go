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

// beaconsModule is the execution module "beacons". Those of a machine are looked at by the
// brine that is installed there.
func beaconsModule() fun.Module { return notOnAgents(beaconsmod.Module(), beaconsAway) }

// beaconState is the state module "beacon".
func beaconState() fun.Module { return notOnAgents(beaconstates.States(), beaconsAway) }
