package fun

import (
	"context"
	"fmt"
	"reflect"
)

// A Func is what a row does: a Go function that takes its arguments as a struct,
// which is their declaration (see [layout.add] for its tags).
type Func struct {
	f    reflect.Value // func(context.Context, *Call, *A) Ret, or (Result, error)
	args reflect.Type  // A
	l    *layout
}

// StateFunc is a state function over a struct of arguments. Each call has an A of its
// own. Rows do not need it: see [Spec.Do].
func StateFunc[A any](f func(context.Context, *Call, *A) Ret) Func { return funcOf(f) }

// ExecFunc is an execution, runner or wheel function over a struct of arguments, as
// StateFunc is a state function.
func ExecFunc[A any](f func(context.Context, *Call, *A) (Result, error)) Func { return funcOf(f) }

// funcOf returns the Func of a function that takes a pointer to a struct.
func funcOf(f any) Func {
	t := reflect.TypeOf(f).In(2).Elem()
	return Func{reflect.ValueOf(f), t, layoutOf(t)}
}

// NoArgs are the arguments of a function that has none.
type NoArgs struct{}

// call runs the function with the arguments of c.
func (f Func) call(ctx context.Context, c *Call) []reflect.Value {
	a := reflect.New(f.args)
	f.l.read(c, a.Elem())
	return f.f.Call([]reflect.Value{reflect.ValueOf(ctx), reflect.ValueOf(c), a})
}

// State calls a state function with the arguments of c.
func (f Func) State(ctx context.Context, c *Call) Ret {
	ret, _ := reflect.TypeAssert[Ret](f.call(ctx, c)[0])
	return ret
}

// Exec calls an execution, runner or wheel function with the arguments of c.
func (f Func) Exec(ctx context.Context, c *Call) (Result, error) {
	out := f.call(ctx, c)
	res, _ := reflect.TypeAssert[Result](out[0])
	err, _ := reflect.TypeAssert[error](out[1])
	return res, err
}

// bind sets what the rest of the program reads of a row: its arguments and the
// function to call. It panics for a Do that is not what [Spec.Do] says; the tests of
// the table load every row.
func (s *Spec) bind(k Kind) {
	if s.Do == nil {
		return
	}
	want := execType
	if k == State {
		want = stateType
	}
	if t := reflect.TypeOf(s.Do); !takes(t, want) {
		panic(fmt.Sprintf("the row %s does %s, not %s with a pointer to a struct of arguments", s.Name, t, want))
	}
	f := funcOf(s.Do)
	s.Args, s.VarArg, s.VarKw = f.l.args, f.l.varArg, f.l.varKw
	if k == State {
		s.State = f.State
	} else {
		s.Fn = f.Exec
	}
}

var (
	stateType = reflect.TypeFor[func(context.Context, *Call, *NoArgs) Ret]()
	execType  = reflect.TypeFor[func(context.Context, *Call, *NoArgs) (Result, error)]()
)

// takes reports whether t is a function as want is, over any struct.
func takes(t, want reflect.Type) bool {
	if t.Kind() != reflect.Func || t.NumIn() != want.NumIn() || t.NumOut() != want.NumOut() || t.In(0) != want.In(0) || t.In(1) != want.In(1) {
		return false
	}
	for i := range t.NumOut() {
		if t.Out(i) != want.Out(i) {
			return false
		}
	}
	a := t.In(2)
	return a.Kind() == reflect.Pointer && a.Elem().Kind() == reflect.Struct
}
