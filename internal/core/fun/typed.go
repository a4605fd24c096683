package fun

import (
	"context"
	"fmt"
	"reflect"
)

// A Func is what a row does: a Go function that takes its arguments as a struct,
// which is their declaration (see [layout.add] for its tags).
type Func struct {
	state directState  // func(context.Context, *Call, *A) Ret; nil: it is an exec
	exec  directExec   // func(context.Context, *Call, *A) (Result, error)
	args  reflect.Type // A
	l     *layout
}

// StateFunc is a state function over a struct of arguments. Each call has an A of its
// own. Rows do not need it: see [Spec.Do].
func StateFunc[A any](f func(context.Context, *Call, *A) Ret) Func { return funcOf(f) }

// ExecFunc is an execution, runner or wheel function over a struct of arguments, as
// StateFunc is a state function.
func ExecFunc[A any](f func(context.Context, *Call, *A) (Result, error)) Func { return funcOf(f) }

// funcOf returns the Func of a function that takes a pointer to a struct: a state
// function or another.
func funcOf(f any) Func {
	t := reflect.TypeOf(f)
	args := t.In(2).Elem()
	made := Func{args: args, l: layoutOf(args)}
	if takes(t, stateType) {
		made.state = *(*directState)(direct(f))
	} else {
		made.exec = *(*directExec)(direct(f))
	}
	return made
}

// NoArgs are the arguments of a function that has none.
type NoArgs struct{}

// State calls a state function with the arguments of c.
func (f Func) State(ctx context.Context, c *Call) Ret {
	a := reflect.New(f.args).UnsafePointer()
	f.l.read(c, a)
	return f.state(ctx, c, a)
}

// Exec calls an execution, runner or wheel function with the arguments of c.
func (f Func) Exec(ctx context.Context, c *Call) (Result, error) {
	a := reflect.New(f.args).UnsafePointer()
	f.l.read(c, a)
	return f.exec(ctx, c, a)
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
	s.Args, s.VarArg, s.VarKw, s.HideKw = f.l.args, f.l.varArg, f.l.varKw, f.l.hideKw
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
