//go:build !slim

package assembly

import (
	"brine/internal/core/fun"
	vaultmod "brine/modules/vault"
	vaultstates "brine/states/vault"
)

// vaultModule is the execution module "vault". Only the controller has the credentials.
func vaultModule() fun.Module { return notOnAgents(vaultmod.Module(), vaultAway) }

// vaultState is the state module "vault".
func vaultState() fun.Module { return notOnAgents(vaultstates.States(), vaultAway) }
