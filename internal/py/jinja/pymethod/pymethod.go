// Package pymethod has the methods of Python's built-in types: str, bytes, list,
// tuple, dict, set, int, float, datetime, ... [Of] finds one by name. Methods
// call back into the program that they run in through [Interp].
//
// It also has what every function that Python code calls needs: the binding of
// arguments to parameters, with Python's messages ([Call.Bind]).
package pymethod

import (
	"math/big"
	"strings"
	"time"

	"brine/internal/py/jinja/markupsafe"
	"brine/internal/py/value"
)

// Of returns the Python method name of recv, bound to it.
func Of(recv value.Value, name string) (Func, bool) {
	if strings.HasPrefix(name, "_") {
		return nil, false
	}
	var fn Func
	switch v := recv.(type) {
	case string:
		fn = strMethod(v, false, name)
	case markupsafe.Markup:
		fn = strMethod(string(v), true, name)
	case *value.Map:
		if fn = dictMutator(v, name); fn == nil {
			fn = dictMethod(v, name)
		}
	case value.Mapping:
		if fn = dictMethod(v, name); fn == nil {
			if s, ok := v.(settableMap); ok {
				fn = setterMethod(s, name)
			}
		}
	case *value.List:
		fn = listMethod(v, name)
	case value.Tuple:
		fn = tupleMethod(v, name)
	case *value.Set:
		fn = setMethod(v, name)
	case bool, int64, *big.Int:
		fn = intMethod(v, name)
	case float64:
		fn = floatMethod(v, name)
	case value.Bytes:
		fn = bytesMethod(string(v), name)
	case time.Time:
		fn = timeMethod(v, name)
	case value.Delta:
		fn = deltaMethod(v, name)
	case value.Range:
		fn = rangeMethod(v, name)
	case *value.View:
		fn = viewMethod(v, name)
	}
	return fn, fn != nil
}

// Attribute returns a Python attribute of recv that is not a method.
func Attribute(recv value.Value, name string) (value.Value, bool) {
	switch v := recv.(type) {
	case bool, int64, *big.Int:
		i, _ := value.AsBig(v)
		switch name {
		case "real", "numerator":
			return value.NormInt(i), true
		case "imag":
			return int64(0), true
		case "denominator":
			return int64(1), true
		}
	case float64:
		switch name {
		case "real":
			return v, true
		case "imag":
			return 0.0, true
		}
	case time.Time:
		switch name {
		case "year":
			return int64(v.Year()), true
		case "month":
			return int64(v.Month()), true
		case "day":
			return int64(v.Day()), true
		case "hour":
			return int64(v.Hour()), true
		case "minute":
			return int64(v.Minute()), true
		case "second":
			return int64(v.Second()), true
		case "microsecond":
			return int64(v.Nanosecond() / 1000), true
		case "fold":
			return int64(0), true
		case "tzinfo":
			return nil, true
		}
	case value.Delta:
		days, s, us := v.Parts()
		switch name {
		case "days":
			return days, true
		case "seconds":
			return s, true
		case "microseconds":
			return us, true
		}
	case value.Range:
		switch name {
		case "start":
			return v.Start, true
		case "stop":
			return v.Stop, true
		case "step":
			return v.Step, true
		}
	case *value.View:
		if name == "mapping" {
			return v.Of, true
		}
	}
	return nil, false
}

// Names returns the names of the methods of v's type, for hints.
func Names(v value.Value) []string {
	names := ""
	switch v.(type) {
	case string, markupsafe.Markup:
		names = `capitalize casefold center count encode endswith expandtabs find format format_map index isalnum isalpha
			isascii isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle isupper join ljust lower
			lstrip maketrans partition removeprefix removesuffix replace rfind rindex rjust rpartition rsplit rstrip split
			splitlines startswith strip swapcase title translate upper zfill`
	case *value.List:
		names = `append clear copy count extend index insert pop remove reverse sort`
	case value.Mapping:
		names = `clear copy fromkeys get items keys pop popitem setdefault update values`
	case value.Tuple:
		names = `count index`
	}
	return strings.Fields(names)
}
