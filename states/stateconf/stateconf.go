// Package stateconf is Salt's state module "stateconf", whose states hold the
// variables of an SLS that the renderer of that name renders.
package stateconf

import (
	"context"

	"brine/internal/core/fun"
)

// States returns the rows of the state module "stateconf".
func States() fun.Module {
	return fun.Module{Name: "stateconf", Kind: fun.State, Doc: "Hold variables of SLS files for the renderer stateconf.", Specs: specs}
}

type setArgs struct {
	_ fun.Kwargs
}

// set does nothing. Its arguments are for the renderer.
func set(context.Context, *fun.Call, *setArgs) fun.Ret { return fun.Ret{Result: fun.OK, Comment: ""} }
