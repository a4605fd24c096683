package fun

import (
	"context"
	"reflect"
	"time"
	"unsafe"

	"brine/internal/py/value"
)

// This file is where calls go past reflection, which would cost each of them a
// microsecond. It relies on two facts, both checked by the types before: a pointer to a
// struct is passed as any other pointer is, and a field lies at its offset.

// The functions that rows do, over the address of their struct.
type (
	directState func(context.Context, *Call, unsafe.Pointer) Ret
	directExec  func(context.Context, *Call, unsafe.Pointer) (Result, error)
)

// direct returns where f is kept, which is a function over a pointer to a struct.
func direct(f any) unsafe.Pointer {
	at := reflect.New(reflect.TypeOf(f))
	at.Elem().Set(reflect.ValueOf(f))
	return at.UnsafePointer()
}

// setter returns how a field of type t is set, given its address; nil where no argument
// can be kept in it. opt says that it is set for None, too.
func setter(t reflect.Type) (set func(unsafe.Pointer, value.Value), opt bool) {
	if o, ok := reflect.TypeAssert[optional](reflect.Zero(t)); ok {
		inner, _ := setter(o.holds())
		given := t.Field(1).Offset // of an Opt, whose first field is the value
		return func(at unsafe.Pointer, v value.Value) {
			inner(at, v)
			*(*bool)(unsafe.Add(at, given)) = v != nil
		}, true
	}
	switch t {
	case reflect.TypeFor[time.Duration]():
		return func(at unsafe.Pointer, v value.Value) { *(*time.Duration)(at) = SecondsOf(v) }, false
	case reflect.TypeFor[[]string]():
		return func(at unsafe.Pointer, v value.Value) { *(*[]string)(at) = StringsOf(v) }, false
	case reflect.TypeFor[[]value.Value]():
		return func(at unsafe.Pointer, v value.Value) { *(*[]value.Value)(at) = ItemsOf(v) }, false
	case reflect.TypeFor[*value.Map]():
		return func(at unsafe.Pointer, v value.Value) { *(**value.Map)(at) = MapOf(v) }, false
	case reflect.TypeFor[value.Value]():
		return func(at unsafe.Pointer, v value.Value) { *(*value.Value)(at) = v }, false
	}
	switch t.Kind() { //nolint:exhaustive // others keep no argument
	case reflect.String:
		return func(at unsafe.Pointer, v value.Value) { *(*string)(at) = TextOf(v) }, false
	case reflect.Bool:
		return func(at unsafe.Pointer, v value.Value) { *(*bool)(at) = value.Truth(v) }, false
	case reflect.Int64:
		return func(at unsafe.Pointer, v value.Value) { *(*int64)(at) = IntOf(v) }, false
	case reflect.Float64:
		return func(at unsafe.Pointer, v value.Value) { *(*float64)(at) = FloatOf(v) }, false
	}
	return nil, false
}

// read fills the struct at to with the arguments of c.
func (l *layout) read(c *Call, to unsafe.Pointer) {
	for i := range l.fields {
		f := &l.fields[i]
		if f.set == nil {
			continue
		}
		if v, _ := c.Args.Near(i, f.name); v != nil || f.opt {
			f.set(unsafe.Add(to, f.offset), v)
		}
	}
	if l.hasRest {
		*(*Kwargs)(unsafe.Add(to, l.rest)) = Kwargs{Map: c.Kw}
	}
	if l.hasMore {
		*(*Varargs)(unsafe.Add(to, l.more)) = c.Pos
	}
}
