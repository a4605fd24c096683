// Package mysql is Salt's execution module "mysql": databases, users and grants of
// MySQL and MariaDB servers. [Dial] connects; the functions of [Conn] are what
// the states share with the execution functions.
package mysql

import "brine/internal/core/fun"

// Module returns the module "mysql".
func Module() fun.Module {
	return fun.Module{Name: "mysql", Kind: fun.Exec, Doc: "Manage MySQL and MariaDB servers.", Specs: specs}
}
