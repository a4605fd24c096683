//go:build slim

package assembly

import "brine/internal/core/fun"

// The modules "vault" are the controller's, which has the credentials.

func vaultModule() fun.Module { return away(fun.Exec, "vault", vaultAway) }
func vaultState() fun.Module  { return away(fun.State, "vault", vaultAway) }
