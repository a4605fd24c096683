// Package jmespath queries values by JMESPath, as jmespath.py does for Salt.
// Start with [Compile].
//
// The known libraries for Go range over maps of their own, so that *, keys()
// and values() answer in a random order and every number is a float. Here
// dicts keep their order and ints stay ints.
package jmespath

import (
	"strings"

	"brine/internal/py/value"
)

// A Query is a compiled expression. It is safe for concurrent use.
type Query struct{ root *node }

// Compile parses an expression. A fault is a *value.PyError of the type that
// jmespath.py raises.
func Compile(expr string) (*Query, error) {
	if expr == "" {
		return nil, value.Raise("EmptyExpressionError", "Invalid JMESPath expression: cannot be empty.")
	}
	toks, err := lex(expr)
	if err != nil {
		return nil, err
	}
	p := parser{src: expr, toks: toks}
	root, err := p.parseAll()
	if err != nil {
		return nil, err
	}
	return &Query{root}, nil
}

// Search returns what the query finds in data.
func (q *Query) Search(data value.Value) (value.Value, error) {
	e := evaluator{}
	return e.eval(q.root, data, 0)
}

// expref is &expression: an argument of functions such as sort_by.
type expref struct{ body *node }

type evaluator struct{ steps int }

// maxDepth and maxSteps bound what one query may do.
const (
	maxDepth = 500
	maxSteps = 20_000_000
)

func (e *evaluator) eval(n *node, data value.Value, depth int) (value.Value, error) {
	if e.steps++; depth > maxDepth || e.steps > maxSteps {
		return nil, value.Raise("RecursionError", "maximum recursion depth exceeded")
	}
	sub := func(i int, data value.Value) (value.Value, error) { return e.eval(n.kids[i], data, depth+1) }
	switch n.kind {
	case kIdentity:
		return data, nil
	case kField:
		if m, ok := data.(value.Mapping); ok {
			v, _ := m.Get(n.text)
			return v, nil
		}
		return nil, nil
	case kLiteral:
		return value.Clone(n.val), nil
	case kSub, kPipe: // what follows is asked of what was found
		v, err := sub(0, data)
		if err != nil || v == nil && n.kind == kSub {
			return nil, err
		}
		return sub(1, v)
	case kIndex, kSlice, kFlatten:
		v, err := sub(0, data)
		l, ok := v.(*value.List)
		if err != nil || !ok {
			return nil, err
		}
		return ofList(n, l)
	case kProject, kValues, kFilter:
		return e.project(n, data, depth)
	case kOr, kAnd:
		v, err := sub(0, data)
		if err != nil || isFalse(v) == (n.kind == kAnd) {
			return v, err
		}
		return sub(1, data)
	case kNot:
		v, err := sub(0, data)
		return isFalse(v), err
	case kCompare:
		both, err := e.evalAll(n.kids[:2], data, depth)
		if err != nil {
			return nil, err
		}
		return compare(n.text, both[0], both[1])
	case kList:
		if data == nil {
			return nil, nil
		}
		items, err := e.evalAll(n.kids, data, depth)
		if err != nil {
			return nil, err
		}
		return value.NewList(items...), nil
	case kHash:
		if data == nil {
			return nil, nil
		}
		items, err := e.evalAll(n.kids, data, depth)
		if err != nil {
			return nil, err
		}
		m := value.NewMap(len(items))
		for i, key := range n.keys {
			m.Set(key, items[i])
		}
		return m, nil
	case kExpref:
		return expref{n.kids[0]}, nil
	default: // kCall
		args, err := e.evalAll(n.kids, data, depth)
		if err != nil {
			return nil, err
		}
		return e.call(n.text, args, depth+1)
	}
}

// ofList asks an index, a slice or a flattening of a list.
func ofList(n *node, l *value.List) (value.Value, error) {
	switch n.kind {
	case kIndex:
		return at(l, n.index), nil
	case kSlice:
		return value.Slice(l, n.slice[0], n.slice[1], n.slice[2])
	default: // kFlatten
		return flat(l)
	}
}

// evalAll asks several nodes of data.
func (e *evaluator) evalAll(nodes []*node, data value.Value, depth int) ([]value.Value, error) {
	out := make([]value.Value, len(nodes))
	for i, n := range nodes {
		var err error
		if out[i], err = e.eval(n, data, depth+1); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// at returns an item, counted from the end where i is negative; nil where there
// is none.
func at(l *value.List, i int) value.Value {
	if i < 0 {
		i += len(l.Items)
	}
	if i < 0 || i >= len(l.Items) {
		return nil
	}
	return l.Items[i]
}

// flat returns a list with the items of the lists in it.
func flat(l *value.List) (value.Value, error) {
	out := &value.List{}
	for _, x := range l.Items {
		if in, ok := x.(*value.List); ok {
			out.Append(in.Items...)
		} else {
			out.Append(x)
		}
	}
	return out, value.CheckItems(out.Len())
}

// project applies the second part of n to each item of the first.
func (e *evaluator) project(n *node, data value.Value, depth int) (value.Value, error) {
	base, err := e.eval(n.kids[0], data, depth+1)
	if err != nil {
		return nil, err
	}
	var items []value.Value
	switch b := base.(type) {
	case *value.List:
		if n.kind == kValues {
			return nil, nil
		}
		items = b.Items
	case value.Mapping:
		if n.kind != kValues {
			return nil, nil
		}
		for _, k := range b.Keys() {
			v, _ := b.Get(k)
			items = append(items, v)
		}
	default:
		return nil, nil
	}
	out := &value.List{}
	for _, x := range items {
		if n.kind == kFilter {
			hit, err := e.eval(n.kids[2], x, depth+1)
			if err != nil {
				return nil, err
			}
			if isFalse(hit) {
				continue
			}
		}
		v, err := e.eval(n.kids[1], x, depth+1)
		if err != nil {
			return nil, err
		}
		if v != nil {
			out.Append(v)
		}
	}
	return out, nil
}

// isFalse is JMESPath's falsehood: null, false, and empty text, list, object.
// Numbers are true.
func isFalse(v value.Value) bool {
	switch x := v.(type) {
	case nil:
		return true
	case bool:
		return !x
	case *value.List:
		return len(x.Items) == 0
	case value.Mapping:
		return x.Len() == 0
	}
	s, ok := value.AsText(v)
	return ok && s == ""
}

func isNumber(v value.Value) bool {
	switch v.(type) {
	case bool:
		return false
	case float64:
		return true
	}
	_, ok := value.AsBig(v)
	return ok
}

func compare(op string, a, b value.Value) (value.Value, error) {
	switch op {
	case "==", "!=":
		_, aBool := a.(bool)
		_, bBool := b.(bool)
		eq := value.Equal(a, b)
		if aBool && isNumber(b) || bBool && isNumber(a) {
			eq = false
		}
		return eq == (op == "=="), nil
	}
	comparable := func(v value.Value) bool {
		_, text := value.AsText(v)
		return text || isNumber(v)
	}
	if !comparable(a) || !comparable(b) {
		return nil, nil
	}
	return value.Compare(op, a, b)
}

// typeName is JMESPath's name of a type.
func typeName(v value.Value) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case *value.List:
		return "array"
	case value.Mapping:
		return "object"
	case expref:
		return "expref"
	}
	if isNumber(v) {
		return "number"
	}
	if _, ok := value.AsText(v); ok {
		return "string"
	}
	return "unknown"
}

// A param says what an argument may be: names of types, "any", or
// "array-string" and "array-number" for lists of one type.
type param []string

// A signature is what a function takes.
type signature struct {
	params   []param
	variadic bool // the last may be repeated
}

func signatureOf(name string) (signature, bool) {
	sig := func(ps ...param) (signature, bool) { return signature{params: ps}, true }
	number, str, array, object, anything := param{"number"}, param{"string"}, param{"array"}, param{"object"}, param{"any"}
	ordered := param{"array-number", "array-string"}
	switch name {
	case "abs", "ceil", "floor":
		return sig(number)
	case "avg", "sum":
		return sig(param{"array-number"})
	case "contains":
		return sig(param{"array", "string"}, anything)
	case "ends_with", "starts_with":
		return sig(str, str)
	case "join":
		return sig(str, param{"array-string"})
	case "keys", "values":
		return sig(object)
	case "length":
		return sig(param{"string", "array", "object"})
	case "map":
		return sig(param{"expref"}, array)
	case "max", "min":
		return sig(ordered)
	case "max_by", "min_by", "sort_by":
		return sig(array, param{"expref"})
	case "merge":
		return signature{[]param{object}, true}, true
	case "not_null":
		return signature{[]param{anything}, true}, true
	case "reverse":
		return sig(param{"array", "string"})
	case "sort":
		return sig(ordered)
	case "to_array", "to_number", "to_string", "type":
		return sig(anything)
	}
	return signature{}, false
}

func (p param) accepts(v value.Value) bool {
	actual := typeName(v)
	for _, t := range p {
		if t == "any" || t == actual {
			return true
		}
		if elem, ok := strings.CutPrefix(t, "array-"); ok && actual == "array" {
			all := true
			for _, x := range v.(*value.List).Items {
				all = all && typeName(x) == elem
			}
			if all {
				return true
			}
		}
	}
	return false
}

func badType(fn string, v value.Value, want []string, got string) error {
	return value.Raise("JMESPathTypeError", `In function %s(), invalid type for value: %s, expected one of: %s, received: "%s"`,
		fn, value.Str(v), value.Repr(value.Strings(want...)), got)
}
