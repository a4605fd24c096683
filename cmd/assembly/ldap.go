//go:build !slim

package assembly

import (
	"brine/internal/core/fun"
	ldapmod "brine/modules/ldap3"
	ldapstates "brine/states/ldap"
)

// ldapModule is the execution module "ldap". Only the controller has the library.
func ldapModule() fun.Module { return notOnAgents(ldapmod.OldModule(), ldapAway) }

// ldap3Module is the execution module "ldap3".
func ldap3Module() fun.Module { return notOnAgents(ldapmod.Module(), ldapAway) }

// ldapState is the state module "ldap".
func ldapState() fun.Module { return notOnAgents(ldapstates.States(), ldapAway) }
