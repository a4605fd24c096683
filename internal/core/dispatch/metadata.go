package dispatch

import (
	"slices"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// TakeMetadata takes the keyword argument metadata, which is kept with a job, away
// from the arguments of a function that has none of that name. It returns the
// arguments to call the function with, and the metadata; nil where there is none.
// A function that is not known, with a nil spec, keeps its arguments.
func TakeMetadata(spec *fun.Spec, args fun.Args) (fun.Args, value.Value) {
	v, ok := args.Kw.Get("metadata")
	if !ok {
		return args, nil
	}
	if spec == nil || spec.VarKw || slices.Contains(spec.ArgNames(), "metadata") {
		return args, v
	}
	args.Kw = args.Kw.Copy()
	args.Kw.Delete("metadata")
	return args, v
}
