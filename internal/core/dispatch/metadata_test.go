package dispatch

import (
	"testing"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

func TestTakeMetadata(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		spec *fun.Spec
		kw   *value.Map
		keep bool
		want value.Value
	}{
		{"no argument of that name", &fun.Spec{}, value.MapOf("metadata", "m", "x", int64(1)), false, "m"},
		{"one", &fun.Spec{Args: []fun.Arg{{Name: "metadata"}}}, value.MapOf("metadata", "m"), true, "m"},
		{"any", &fun.Spec{VarKw: true}, value.MapOf("metadata", "m"), true, "m"},
		{"an unknown function", nil, value.MapOf("metadata", "m"), true, "m"},
		{"none is given", &fun.Spec{}, value.MapOf("x", int64(1)), false, nil},
		{"nothing is given", &fun.Spec{}, nil, false, nil},
	} {
		before := tt.kw.Has("metadata")
		args, got := TakeMetadata(tt.spec, fun.Args{Kw: tt.kw})
		if got != tt.want || args.Kw.Has("metadata") != tt.keep {
			t.Errorf("%s: %v, %v", tt.name, args.Kw, got)
		}
		if tt.kw.Has("metadata") != before {
			t.Errorf("%s: the arguments of the caller were changed: %v", tt.name, tt.kw)
		}
	}
}
