//go:build slim

package assembly

import "brine/internal/core/fun"

// vaultModule has the reason for which an agent does not have it.
func vaultModule() fun.Module {
	return fun.Module{Name: "vault", Kind: fun.Exec, Avail: func(*fun.Env) (bool, string) { return false, vaultAway }}
}

// vaultState has the reason for which an agent does not have it.
func vaultState() fun.Module {
	return fun.Module{Name: "vault", Kind: fun.State, Avail: func(*fun.Env) (bool, string) { return false, vaultAway }}
}
