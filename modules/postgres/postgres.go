// Package postgres is Salt's execution module "postgres": roles, databases and what
// is in them on PostgreSQL servers, and Debian's clusters. [New] makes a [Server],
// whose functions are what the states share with the execution functions.
package postgres

import (
	"context"

	"brine/internal/core/fun"
	"brine/modules/tool"
)

// Module returns the module "postgres".
func Module() fun.Module {
	return fun.Module{Name: "postgres", Kind: fun.Exec, Doc: "Manage PostgreSQL servers.", Specs: specs, Avail: available}
}

func available(e *fun.Env) (bool, string) {
	if program(context.Background(), e, "psql") == "" && !tool.Has(e.Host, "pg_createcluster") {
		return false, "psql was not found"
	}
	return true, ""
}
