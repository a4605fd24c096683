package pongo2

import "reflect"

// methodOf returns the method of a value that a template names, among those
// that pongo2's own values have. Upstream asks reflect for a method of any
// name, and Go's linker then keeps every exported method of every type.
func methodOf(v reflect.Value, name string) reflect.Value {
	if !v.IsValid() || !v.CanInterface() {
		return reflect.Value{}
	}
	var fn any
	switch v := v.Interface().(type) {
	case tagBlockInformation:
		if name == "Super" {
			fn = v.Super
		}
	case *tagCycleValue:
		if v != nil && name == "String" {
			fn = v.String
		}
	}
	if fn == nil {
		return reflect.Value{}
	}
	return reflect.ValueOf(fn)
}
