package jinja

import (
	"math/big"

	"brine/internal/py/jinja/markupsafe"
	"brine/internal/py/jinja/pytext"
	"brine/internal/py/pyformat"
	"brine/internal/py/value"
)

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
		a, err := c.Params("test_"+name, 0, "value")
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
			return !isUndefined(v), nil
		case "escaped":
			_, ok := v.(markupsafe.Markup)
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
			return IsSequence(v), nil
		case "string":
			_, ok := value.AsText(v)
			return ok, nil
		case "true":
			return v == true, nil
		}
		_, undef := v.(*Undefined)
		return undef, nil
	}
}

// IsSequence reports whether v passes the test sequence: it has a length and
// items.
func IsSequence(v value.Value) bool {
	switch v := v.(type) {
	case *Undefined:
		return v.Kind == Plain
	case string, markupsafe.Markup, value.Bytes, *value.List, value.Tuple, value.Tupler, value.Mapping, value.Range:
		return true
	}
	return false
}

func parityTest(name string) Func {
	return func(c *Call) (value.Value, error) {
		a, err := c.Params("test_"+name, 0, "value")
		if err != nil {
			return nil, err
		}
		r, err := pyformat.Mod(a[0], int64(2))
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
	a, err := c.Params("test_divisibleby", 0, "value", "num")
	if err != nil {
		return nil, err
	}
	r, err := pyformat.Mod(a[0], a[1])
	if err != nil {
		return nil, err
	}
	return value.Equal(r, int64(0)), nil
}

func caseTest(name string) Func {
	return func(c *Call) (value.Value, error) {
		a, err := c.Params("test_"+name, 0, "value")
		if err != nil {
			return nil, err
		}
		s, err := c.State.Str(a[0])
		if err != nil {
			return nil, err
		}
		if name == "lower" {
			return pytext.CaseOnly(s, pytext.IsLower), nil
		}
		return pytext.CaseOnly(s, pytext.IsUpper), nil
	}
}

func existsTest(name string) Func {
	return func(c *Call) (value.Value, error) {
		a, err := c.Params("test_"+name, 1, "value")
		if err != nil {
			return nil, err
		}
		if err := value.CheckHash(a[0]); err != nil {
			return nil, err
		}
		s, ok := value.AsText(a[0])
		if !ok {
			return false, nil
		}
		if name == "filter" {
			_, ok = c.State.Env().filter(s)
		} else {
			_, ok = c.State.Env().test(s)
		}
		return ok, nil
	}
}

func testIn(c *Call) (value.Value, error) {
	a, err := c.Params("test_in", 0, "value", "seq")
	if err != nil {
		return nil, err
	}
	if _, text := value.AsText(a[1]); !text {
		if l, ok := a[1].(value.Lener); ok && l.Len() > 0 {
			if err := NotStrict(a[0]); err != nil {
				return nil, err
			}
		}
	}
	return value.Contains(a[1], a[0])
}

func testSameas(c *Call) (value.Value, error) {
	a, err := c.Params("test_sameas", 0, "value", "other")
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
			eq, err := c.State.Equal(a[0], a[1])
			return eq == (op == "=="), err
		}
		return value.Compare(op, a[0], a[1])
	}
}
