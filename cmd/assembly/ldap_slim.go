//go:build slim

package assembly

import "brine/internal/core/fun"

// The modules "ldap" and "ldap3" are the controller's, which has the library.

func ldapModule() fun.Module  { return away(fun.Exec, "ldap", ldapAway) }
func ldap3Module() fun.Module { return away(fun.Exec, "ldap3", ldapAway) }
func ldapState() fun.Module   { return away(fun.State, "ldap", ldapAway) }
