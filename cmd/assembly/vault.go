//go:build !slim

package assembly

import (
	"brine/internal/core/fun"
	vaultmod "brine/modules/vault"
	vaultstates "brine/states/vault"
)

// vaultModule is the execution module "vault".
func vaultModule() fun.Module {
	m := vaultmod.Module()
	m.Avail = noVault
	return m
}

// vaultState is the state module "vault".
func vaultState() fun.Module {
	m := vaultstates.States()
	m.Avail = noVault
	return m
}

// noVault says that agents do not ask Vault: the controller has its credentials.
func noVault(e *fun.Env) (bool, string) {
	if isAgent(e) {
		return false, vaultAway
	}
	return true, ""
}
