package jmespath

import (
	"math"
	"slices"
	"strings"

	"brine/internal/py/value"
)

func (e *evaluator) call(name string, args []value.Value, depth int) (value.Value, error) {
	sig, ok := signatureOf(name)
	if !ok {
		return nil, value.Raise("UnknownFunctionError", "Unknown function: %s()", name)
	}
	want := len(sig.params)
	s := "s"
	if want == 1 {
		s = ""
	}
	switch {
	case sig.variadic && len(args) < want:
		return nil, value.Raise("VariadictArityError", "Expected at least %d argument%s for function %s(), received %d", want, s, name, len(args))
	case !sig.variadic && len(args) != want:
		return nil, value.Raise("ArityError", "Expected %d argument%s for function %s(), received %d", want, s, name, len(args))
	}
	for i, a := range args {
		p := sig.params[min(i, want-1)]
		if !p.accepts(a) {
			return nil, badType(name, a, p, typeName(a))
		}
	}
	switch name {
	case "map", "sort_by", "max_by", "min_by":
		return e.keyed(name, args, depth)
	}
	return simple(name, args)
}

// simple does the functions that take no expression.
func simple(name string, args []value.Value) (value.Value, error) {
	switch name {
	case "abs":
		return value.Abs(args[0])
	case "ceil", "floor":
		f, ok := args[0].(float64)
		if !ok {
			return args[0], nil
		}
		if name == "ceil" {
			return value.ToInt(math.Ceil(f))
		}
		return value.ToInt(math.Floor(f))
	case "sum", "avg":
		return total(name, args[0].(*value.List).Items)
	case "contains":
		if _, ok := value.AsText(args[0]); ok {
			if _, ok := value.AsText(args[1]); !ok {
				return false, nil
			}
		}
		return value.Contains(args[0], args[1])
	case "starts_with", "ends_with":
		a, _ := value.AsText(args[0])
		b, _ := value.AsText(args[1])
		if name == "starts_with" {
			return strings.HasPrefix(a, b), nil
		}
		return strings.HasSuffix(a, b), nil
	case "join":
		return joined(args[0], args[1].(*value.List).Items)
	case "keys", "values":
		return entries(name, args[0].(value.Mapping)), nil
	case "length":
		n, err := value.Len(args[0])
		return int64(n), err
	case "max", "min":
		return extreme(name, args[0].(*value.List).Items, func(v value.Value) (value.Value, error) { return v, nil })
	case "merge":
		m := value.NewMap(0)
		for _, a := range args {
			m.Update(a.(value.Mapping))
		}
		return m, nil
	case "not_null":
		if i := slices.IndexFunc(args, func(a value.Value) bool { return a != nil }); i >= 0 {
			return args[i], nil
		}
		return nil, nil
	case "reverse":
		return value.Slice(args[0], nil, nil, int64(-1))
	case "sort":
		items, err := value.Items(args[0])
		if err == nil {
			err = value.SortValues(items, nil, false)
		}
		return &value.List{Items: items}, err
	case "to_array":
		if l, ok := args[0].(*value.List); ok {
			return l, nil
		}
		return value.NewList(args[0]), nil
	case "to_number":
		return toNumber(args[0])
	case "to_string":
		if _, ok := value.AsText(args[0]); ok {
			return args[0], nil
		}
		b, err := value.AppendJSON(nil, args[0], value.JSONOptions{ItemSep: ",", KeySep: ":", EscapeNonASCII: true, Repr: true})
		return string(b), err
	}
	return typeName(args[0]), nil // type
}

// total is sum and avg.
func total(name string, items []value.Value) (value.Value, error) {
	var sum value.Value = int64(0)
	for _, x := range items {
		var err error
		if sum, err = value.Add(sum, x); err != nil {
			return nil, err
		}
	}
	if name == "sum" {
		return sum, nil
	}
	if len(items) == 0 {
		return nil, nil
	}
	return value.TrueDiv(sum, int64(len(items)))
}

// joined is join.
func joined(separator value.Value, items []value.Value) (value.Value, error) {
	sep, _ := value.AsText(separator)
	var parts []string
	n := 0
	for _, x := range items {
		s, _ := value.AsText(x)
		parts = append(parts, s)
		if n += len(s) + len(sep); n > value.MaxBytes {
			return nil, value.CheckSize(n)
		}
	}
	return strings.Join(parts, sep), nil
}

// entries is keys and values.
func entries(name string, m value.Mapping) *value.List {
	out := &value.List{}
	for _, k := range m.Keys() {
		if name == "values" {
			k, _ = m.Get(k)
		}
		out.Append(k)
	}
	return out
}

func toNumber(v value.Value) (value.Value, error) {
	if isNumber(v) {
		return v, nil
	}
	s, ok := value.AsText(v)
	if !ok {
		return nil, nil
	}
	if n, err := value.ParseInt(s, 10); err == nil {
		return n, nil
	}
	if f, err := value.ToFloat(s); err == nil {
		return f, nil
	}
	return nil, nil
}

// extreme returns the first item whose key is the greatest or the least, null
// of none.
func extreme(name string, items []value.Value, key func(value.Value) (value.Value, error)) (value.Value, error) {
	op := "<"
	if strings.HasPrefix(name, "max") {
		op = ">"
	}
	var at, atKey value.Value
	for i, x := range items {
		k, err := key(x)
		if err != nil {
			return nil, err
		}
		better := i == 0
		if !better {
			if better, err = value.Compare(op, k, atKey); err != nil {
				return nil, err
			}
		}
		if better {
			at, atKey = x, k
		}
	}
	return at, nil
}

// keyed does the functions that apply an expression to each item.
func (e *evaluator) keyed(name string, args []value.Value, depth int) (value.Value, error) {
	if name == "map" {
		out := &value.List{}
		for _, x := range args[1].(*value.List).Items {
			v, err := e.eval(args[0].(expref).body, x, depth)
			if err != nil {
				return nil, err
			}
			out.Append(v)
		}
		return out, nil
	}
	items := append([]value.Value(nil), args[0].(*value.List).Items...)
	allowed := []string{"number", "string"}
	// Keys are all of the type of the first, a number or text.
	key := func(v value.Value) (value.Value, error) {
		k, err := e.eval(args[1].(expref).body, v, depth)
		if err != nil {
			return nil, err
		}
		t := typeName(k)
		if slices.Contains(allowed, t) {
			allowed = []string{t}
			return k, nil
		}
		return nil, badType(name, k, allowed, t)
	}
	if name == "sort_by" {
		err := value.SortValues(items, key, false)
		return &value.List{Items: items}, err
	}
	return extreme(name, items, key)
}
