package jinja

import (
	"math/big"

	"brine/internal/value"
)

// test returns the test name: Salt's, else Jinja2's.
func test(name string) (Func, bool) {
	if f := saltTest(name); f != nil {
		return f, true
	}
	f := builtinTest(name)
	return f, f != nil
}

// builtinTest returns a test of Jinja2 3.1.
func builtinTest(name string) Func {
	switch name {
	case "boolean", "callable", "defined", "escaped", "false", "float", "integer", "iterable", "mapping", "none",
		"number", "sequence", "string", "true", "undefined":
		return kindTest(name)
	case "odd", "even":
		return parityTest(name)
	case "divisibleby":
		return testDivisible
	case "lower", "upper":
		return caseTest(name)
	case "filter", "test":
		return existsTest(name)
	case "in":
		return testIn
	case "sameas":
		return testSameas
	case "==", "eq", "equalto":
		return compareTest("eq", "==")
	case "!=", "ne":
		return compareTest("ne", "!=")
	case ">", "gt", "greaterthan":
		return compareTest("gt", ">")
	case ">=", "ge":
		return compareTest("ge", ">=")
	case "<", "lt", "lessthan":
		return compareTest("lt", "<")
	case "<=", "le":
		return compareTest("le", "<=")
	}
	return nil
}

func kindTest(name string) Func {
	return func(c *Call) (value.Value, error) {
		a, err := c.bind("test_"+name, 0, "value")
		if err != nil {
			return nil, err
		}
		v := a[0]
		switch name {
		case "boolean":
			_, ok := v.(bool)
			return ok, nil
		case "callable":
			_, undef := v.(*Undefined) // a class with __call__, if only to fail
			return undef || IsCallable(v), nil
		case "defined":
			_, undef := v.(*Undefined)
			return !undef, nil
		case "escaped":
			_, ok := v.(Markup)
			return ok, nil
		case "false":
			return v == false, nil
		case "float":
			_, ok := v.(float64)
			return ok, nil
		case "integer":
			_, isBool := v.(bool)
			_, isInt := value.AsBig(v)
			return isInt && !isBool, nil
		case "iterable":
			if u, ok := v.(*Undefined); ok && u.Kind == Strict {
				return nil, u.Err()
			}
			return value.IsIterable(v), nil
		case "mapping":
			_, ok := v.(value.Mapping)
			return ok, nil
		case "none":
			return v == nil, nil
		case "number":
			switch v.(type) {
			case bool, int64, *big.Int, float64:
				return true, nil
			}
			return false, nil
		case "sequence":
			return isSequence(v), nil
		case "string":
			_, ok := Text(v)
			return ok, nil
		case "true":
			return v == true, nil
		}
		_, undef := v.(*Undefined)
		return undef, nil
	}
}

// isSequence is Jinja2's test: what has a length and items.
func isSequence(v value.Value) bool {
	switch v := v.(type) {
	case *Undefined:
		return v.Kind == Plain
	case string, Markup, value.Bytes, *value.List, value.Tuple, value.Tupler, value.Mapping, value.Range:
		return true
	}
	return false
}

func parityTest(name string) Func {
	return func(c *Call) (value.Value, error) {
		a, err := c.bind("test_"+name, 0, "value")
		if err != nil {
			return nil, err
		}
		r, err := value.Mod(a[0], int64(2))
		if err != nil {
			return nil, err
		}
		want := int64(0)
		if name == "odd" {
			want = 1
		}
		return value.Equal(r, want), nil
	}
}

func testDivisible(c *Call) (value.Value, error) {
	a, err := c.bind("test_divisibleby", 0, "value", "num")
	if err != nil {
		return nil, err
	}
	r, err := value.Mod(a[0], a[1])
	if err != nil {
		return nil, err
	}
	return value.Equal(r, int64(0)), nil
}

func caseTest(name string) Func {
	return func(c *Call) (value.Value, error) {
		a, err := c.bind("test_"+name, 0, "value")
		if err != nil {
			return nil, err
		}
		s, err := c.S.Str(a[0])
		if err != nil {
			return nil, err
		}
		if name == "lower" {
			return caseOnly(s, isLower), nil
		}
		return caseOnly(s, isUpper), nil
	}
}

func existsTest(name string) Func {
	return func(c *Call) (value.Value, error) {
		a, err := c.bind("test_"+name, 1, "value")
		if err != nil {
			return nil, err
		}
		if err := value.CheckHash(a[0]); err != nil {
			return nil, err
		}
		s, ok := Text(a[0])
		if !ok {
			return false, nil
		}
		if name == "filter" {
			_, ok = c.S.Env().filter(s)
		} else {
			_, ok = c.S.Env().test(s)
		}
		return ok, nil
	}
}

func testIn(c *Call) (value.Value, error) {
	a, err := c.bind("test_in", 0, "value", "seq")
	if err != nil {
		return nil, err
	}
	if _, text := Text(a[1]); !text {
		if l, ok := a[1].(value.Lener); ok && l.Len() > 0 {
			if err := strictUse(a[0]); err != nil {
				return nil, err
			}
		}
	}
	return value.Contains(a[1], a[0])
}

func testSameas(c *Call) (value.Value, error) {
	a, err := c.bind("test_sameas", 0, "value", "other")
	if err != nil {
		return nil, err
	}
	return value.Is(a[0], a[1]), nil
}

func compareTest(fname, op string) Func {
	return func(c *Call) (value.Value, error) {
		a, err := c.builtin("_operator", fname, 2, 2)
		if err != nil {
			return nil, err
		}
		switch op {
		case "==", "!=":
			eq, err := c.S.Equal(a[0], a[1])
			return eq == (op == "=="), err
		}
		return value.Compare(op, a[0], a[1])
	}
}
