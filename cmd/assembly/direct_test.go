package assembly

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// TestArgumentsArrive calls the function of each row with another body, which looks at
// its struct: each field has what its own argument was given, and nothing else has.
func TestArgumentsArrive(t *testing.T) {
	t.Parallel()
	type key struct{}
	ctx := context.WithValue(t.Context(), key{}, "ours")
	rows := 0
	for _, kind := range []fun.Kind{fun.Exec, fun.State, fun.Runner, fun.Wheel} {
		for _, mod := range modules(kind) {
			for _, spec := range mod.Specs {
				if spec.Do == nil {
					continue
				}
				rows++
				label := mod.Name + "." + spec.Name
				want := arrivals{args: value.NewMap(0)}
				of := reflect.TypeOf(spec.Do).In(2).Elem()
				want.of(of)
				call := &fun.Call{Args: want.args, Kw: value.MapOf("further", label), Pos: []value.Value{label}}
				ran := false
				spec.Do = reflect.MakeFunc(reflect.TypeOf(spec.Do), func(in []reflect.Value) []reflect.Value {
					ran = true
					if c, _ := reflect.TypeAssert[context.Context](in[0]); c.Value(key{}) != "ours" || in[1].Interface() != call {
						t.Errorf("%s: another context or call", label)
					}
					want.check(t, label, in[2].Elem(), label)
					out := make([]reflect.Value, reflect.TypeOf(spec.Do).NumOut())
					for i := range out {
						out[i] = reflect.Zero(reflect.TypeOf(spec.Do).Out(i))
					}
					if kind == fun.State {
						out[0] = reflect.ValueOf(fun.Ret{Comment: label})
					} else {
						out[0] = reflect.ValueOf(fun.Result{Value: label})
						out[1] = reflect.ValueOf(fun.Errorf("%s", label))
					}
					return out
				}).Interface()
				row := fun.Module{Kind: kind, Specs: []fun.Spec{spec}}.Loaded().Specs[0]
				if kind == fun.State {
					if ret := row.State(ctx, call); ret.Comment != label {
						t.Errorf("%s: %v", label, ret)
					}
				} else if res, err := row.Fn(ctx, call); res.Value != label || err == nil || err.Error() != label {
					t.Errorf("%s: %v %v", label, res, err)
				}
				if !ran {
					t.Errorf("%s: another function ran", label)
				}
			}
		}
	}
	if rows < 1000 {
		t.Errorf("only %d rows", rows)
	}
}

// arrivals are the arguments of a call, and what each field of the struct then has, in
// order.
type arrivals struct {
	args *value.Map
	want []string // "" is a field that is not looked at
}

func (a *arrivals) of(t reflect.Type) {
	for f := range t.Fields() {
		if f.Anonymous {
			a.of(f.Type)
			continue
		}
		tag, ok := f.Tag.Lookup("arg")
		name, _, _ := strings.Cut(tag, ",")
		kind := f.Type
		opt := kind.Kind() == reflect.Struct && strings.HasPrefix(kind.Name(), "Opt[")
		if opt {
			kind = kind.Field(0).Type
		}
		n := int64(len(a.want) + 1)
		var given value.Value
		want := ""
		switch {
		case !ok:
			a.want = append(a.want, "")
			continue
		case kind == reflect.TypeFor[time.Duration]():
			given, want = n, (time.Duration(n) * time.Second).String()
		case kind == reflect.TypeFor[*value.Map]():
			given = value.MapOf(n, name)
			want = fmt.Sprint(given)
		case kind.Kind() == reflect.Slice:
			given, want = value.NewList(name), fmt.Sprint([]string{name})
		case kind.Kind() == reflect.Bool:
			given, want = true, "true"
		case kind.Kind() == reflect.Float64:
			given, want = float64(n)+0.5, fmt.Sprint(float64(n)+0.5)
		case kind.Kind() == reflect.Int64:
			given, want = n, fmt.Sprint(n)
		default: // text or anything
			given, want = name, name
		}
		if a.args.Set(name, given); opt {
			want = fmt.Sprintf("{%s true}", want)
		}
		if f.Name == "_" {
			want = ""
		}
		a.want = append(a.want, want)
	}
}

// check compares the fields of a struct with what they should have.
func (a *arrivals) check(t *testing.T, label string, of reflect.Value, further string) {
	t.Helper()
	for i := range of.NumField() {
		f := of.Type().Field(i)
		if f.Anonymous {
			a.check(t, label, of.Field(i), further)
			continue
		}
		want := a.want[0]
		a.want = a.want[1:]
		switch got := of.Field(i); {
		case f.Name == "_":
		case f.Type == reflect.TypeFor[fun.Kwargs]():
			if kw := got.Field(1).Elem(); !strings.Contains(fmt.Sprint(kw), further) {
				t.Errorf("%s: %s is %v", label, f.Name, kw)
			}
		case f.Type == reflect.TypeFor[fun.Varargs]():
			if got.Len() != 1 || fmt.Sprint(got) != "["+further+"]" {
				t.Errorf("%s: %s is %v", label, f.Name, got)
			}
		default:
			if text := printed(got); text != want {
				t.Errorf("%s: %s is %s, not %s", label, f.Name, text, want)
			}
		}
	}
}

// printed returns a field as arrivals writes it.
func printed(v reflect.Value) string {
	if v.Type() == reflect.TypeFor[*value.Map]() {
		return fmt.Sprint(v)
	}
	return fmt.Sprintf("%v", v)
}
