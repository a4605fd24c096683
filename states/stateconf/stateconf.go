// Package stateconf is Salt's state module "stateconf", whose states hold the
// variables of an SLS that the renderer of that name renders.
package stateconf

import (
	"context"

	"brine/internal/fun"
)

// States returns the rows of the state module "stateconf".
func States() fun.Module {
	return fun.Module{
		Name: "stateconf", Kind: fun.State, Doc: "Variables of SLS files, for the renderer stateconf.",
		Specs: []fun.Spec{
			{Name: "context", Doc: "Do nothing, successfully; the same as set.", Src: "states/stateconf.py context", State: set, VarKw: true, Hands: true},
			{
				Name: "set", Doc: "Hold variables of templates, and do nothing, successfully. Takes any arguments.",
				Src: "states/stateconf.py set", State: set, VarKw: true, Hands: true,
			},
		},
	}
}

// set does nothing. Its arguments are for the renderer.
func set(context.Context, *fun.Call) fun.Ret { return fun.Ret{Result: fun.OK, Comment: ""} }
