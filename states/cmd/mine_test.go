package cmd_test

import (
	"context"

	"brine/internal/core/fun"
)

// mine is a module whose function gives back its argument.
func mine() fun.Module {
	return fun.Module{Name: "mine", Kind: fun.Exec, Specs: []fun.Spec{{
		Name: "give", Args: []fun.Arg{{Name: "v"}},
		Fn: func(_ context.Context, c *fun.Call) (fun.Result, error) { return fun.Value(c.Args.At("v")) },
	}}}
}
