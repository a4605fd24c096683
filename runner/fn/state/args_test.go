package statefn

import (
	"reflect"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// What a function declares of the options of a session reaches its session.
func TestOptions(t *testing.T) {
	t.Parallel()
	given := map[reflect.Type]any{
		reflect.TypeFor[bool]():            true,
		reflect.TypeFor[string]():          "x",
		reflect.TypeFor[value.Value]():     "x",
		reflect.TypeFor[fun.Opt[bool]]():   fun.Opt[bool]{V: true, Given: true},
		reflect.TypeFor[fun.Opt[string]](): fun.Opt[string]{V: "x", Given: true},
		reflect.TypeFor[fun.Kwargs]():      fun.Kwargs{Map: value.MapOf("x", true)},
	}
	n := 0
	for _, spec := range specs {
		a := reflect.New(reflect.TypeOf(spec.Do).In(2).Elem())
		ask, ok := reflect.TypeAssert[asker](a)
		if !ok {
			continue
		}
		n++
		for _, f := range reflect.VisibleFields(reflect.TypeFor[options]()) {
			if to := a.Elem().FieldByName(f.Name); f.IsExported() && !f.Anonymous && to.IsValid() {
				to.Set(reflect.ValueOf(given[f.Type]))
				if got := reflect.ValueOf(ask.options()).FieldByIndex(f.Index); !reflect.DeepEqual(got.Interface(), to.Interface()) {
					t.Errorf("state.%s: the session has %s %v", spec.Name, f.Name, got)
				}
			}
		}
	}
	if n < 15 {
		t.Errorf("%d functions open a session", n)
	}
}

// A run goes beside others where that is a declared argument and where it is a further
// keyword.
func TestBeside(t *testing.T) {
	t.Parallel()
	further := pillarArgs{Rest: fun.Kwargs{Map: value.MapOf("concurrent", true)}}
	for _, tt := range []struct {
		name string
		args asker
		want bool
	}{
		{"no", &applyArgs{}, false},
		{"declared", &applyArgs{fullArgs: fullArgs{runArgs: runArgs{Concurrent: true}}}, true},
		{"not declared", &singleArgs{}, false},
		{"further", &singleArgs{pillarArgs: further}, true},
	} {
		if o := tt.args.options(); o.beside() != tt.want {
			t.Errorf("%s: beside is %t", tt.name, !tt.want)
		}
	}
}
