// Package assembly lists brine's rooms: the only place that imports them all.
package assembly

import (
	"brine/internal/fun"
	testmod "brine/modules/test"
	teststates "brine/states/test"
)

// Table returns all functions of this build. Modules are made when they are
// first used.
func Table() *fun.Table {
	return fun.NewTable([]fun.Entry{
		{Kind: fun.Exec, Name: "test", Load: testmod.Module},
		{Kind: fun.State, Name: "test", Load: teststates.States},
	})
}
