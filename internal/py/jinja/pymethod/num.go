package pymethod

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/internal/py/pyformat"
	"brine/internal/py/value"
)

// intMethod returns a method of int.
func intMethod(v value.Value, name string) Func {
	i, _ := value.AsBig(v)
	switch name {
	case "bit_length", "bit_count", "conjugate", "as_integer_ratio":
		return func(c Call) (value.Value, error) {
			if _, err := c.Builtin(value.TypeName(v), name, 0, 0); err != nil {
				return nil, err
			}
			switch name {
			case "bit_length":
				return int64(i.BitLen()), nil
			case "bit_count":
				n := 0
				for _, w := range i.Bits() {
					n += bits.OnesCount(uint(w))
				}
				return int64(n), nil
			case "as_integer_ratio":
				return value.Tuple{value.NormInt(i), int64(1)}, nil
			}
			return value.NormInt(i), nil
		}
	case "to_bytes":
		return func(c Call) (value.Value, error) { return intToBytes(c, i) }
	case "from_bytes":
		return intFromBytes
	}
	return nil
}

func byteOrder(v value.Value) (little bool, err error) {
	switch v {
	case "little":
		return true, nil
	case "big", absent{}:
		return false, nil
	}
	return false, value.Raise("ValueError", "byteorder must be either 'little' or 'big'")
}

func intToBytes(c Call, i *big.Int) (value.Value, error) {
	a, err := c.Bind("to_bytes", 0, "length?", "byteorder?", "signed?")
	if err != nil {
		return nil, err
	}
	n, err := IntArg(a[0], 1)
	if err != nil {
		return nil, err
	}
	if n < 0 {
		return nil, value.Raise("ValueError", "length argument must be non-negative")
	}
	if err := value.CheckSize(n); err != nil {
		return nil, err
	}
	little, err := byteOrder(a[1])
	if err != nil {
		return nil, err
	}
	signed, err := c.boolArg(a[2], false)
	if err != nil {
		return nil, err
	}
	if i.Sign() < 0 && !signed {
		return nil, value.Raise("OverflowError", "can't convert negative int to unsigned")
	}
	u, room := i, n*8
	if signed {
		room--
		if i.Sign() < 0 {
			u = new(big.Int).Add(i, new(big.Int).Lsh(big.NewInt(1), uint(n*8)))
			i = new(big.Int).Not(i)
		}
	}
	if i.BitLen() > room || u.Sign() < 0 {
		return nil, value.Raise("OverflowError", "int too big to convert")
	}
	buf := u.FillBytes(make([]byte, n))
	if little {
		slices.Reverse(buf)
	}
	return value.Bytes(buf), nil
}

func intFromBytes(c Call) (value.Value, error) {
	a, err := c.Bind("from_bytes", 0, "bytes", "byteorder?", "signed?")
	if err != nil {
		return nil, err
	}
	raw, ok := a[0].(value.Bytes)
	if !ok {
		return nil, value.Raise("TypeError", "cannot convert '%s' object to bytes", value.TypeName(a[0]))
	}
	little, err := byteOrder(a[1])
	if err != nil {
		return nil, err
	}
	signed, err := c.boolArg(a[2], false)
	if err != nil {
		return nil, err
	}
	buf := []byte(raw)
	if little {
		slices.Reverse(buf)
	}
	i := new(big.Int).SetBytes(buf)
	if signed && len(buf) > 0 && buf[0]&0x80 != 0 {
		i.Sub(i, new(big.Int).Lsh(big.NewInt(1), uint(len(buf)*8)))
	}
	return value.NormInt(i), nil
}

// floatMethod returns a method of float.
func floatMethod(f float64, name string) Func {
	switch name {
	case "is_integer", "hex", "as_integer_ratio", "conjugate":
		return func(c Call) (value.Value, error) {
			if _, err := c.Builtin("float", name, 0, 0); err != nil {
				return nil, err
			}
			switch name {
			case "is_integer":
				return f == math.Trunc(f) && !math.IsInf(f, 0), nil
			case "conjugate":
				return f, nil
			case "hex":
				return floatHex(f), nil
			}
			r := new(big.Rat).SetFloat64(f)
			if r == nil {
				if math.IsNaN(f) {
					return nil, value.Raise("ValueError", "cannot convert NaN to integer ratio")
				}
				return nil, value.Raise("OverflowError", "cannot convert Infinity to integer ratio")
			}
			return value.Tuple{value.NormInt(r.Num()), value.NormInt(r.Denom())}, nil
		}
	}
	return nil
}

// floatHex prints as C's %a with all 13 digits.
func floatHex(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return value.FloatRepr(f)
	}
	if f == 0 {
		if math.Signbit(f) {
			return "-0x0.0p+0"
		}
		return "0x0.0p+0"
	}
	mant, exp, _ := strings.Cut(strconv.FormatFloat(f, 'x', 13, 64), "p")
	n, _ := strconv.Atoi(exp)
	if n < -1022 { // subnormal: Python keeps the exponent and a leading zero
		b := math.Float64bits(f)
		sign := ""
		if f < 0 {
			sign = "-"
		}
		return fmt.Sprintf("%s0x0.%013xp-1022", sign, b&(1<<52-1))
	}
	return fmt.Sprintf("%sp%+d", mant, n)
}

// rangeMethod returns a method of range.
func rangeMethod(r value.Range, name string) Func {
	switch name {
	case "count", "index":
		return func(c Call) (value.Value, error) {
			a, err := c.Builtin("range", name, 1, 1)
			if err != nil {
				return nil, err
			}
			has := r.Has(a[0])
			switch {
			case name == "count" && has:
				return int64(1), nil
			case name == "count":
				return int64(0), nil
			case !has:
				return nil, value.Raise("ValueError", "%s is not in range", value.Repr(a[0]))
			}
			i, err := value.ToInt(a[0])
			if err != nil {
				return nil, err
			}
			return (i.(int64) - r.Start) / r.Step, nil
		}
	}
	return nil
}

// timeMethod returns a method of datetime.
func timeMethod(t time.Time, name string) Func {
	switch name {
	case "strftime":
		return func(c Call) (value.Value, error) {
			a, err := c.Bind("strftime", 0, "format")
			if err != nil {
				return nil, err
			}
			f, ok := value.AsText(a[0])
			if !ok {
				return nil, value.Raise("TypeError", "strftime() argument 1 must be str, not %s", noneName(a[0]))
			}
			return pyformat.Strftime(t, f), nil
		}
	case "isoformat":
		return func(c Call) (value.Value, error) { return timeISO(c, t) }
	case "replace":
		return func(c Call) (value.Value, error) { return timeReplace(c, t) }
	case "weekday", "isoweekday", "timestamp", "toordinal", "ctime", "isocalendar":
		return func(c Call) (value.Value, error) {
			if _, err := c.Builtin("datetime", name, 0, 0); err != nil {
				return nil, err
			}
			wd := (int64(t.Weekday()) + 6) % 7
			switch name {
			case "weekday":
				return wd, nil
			case "isoweekday":
				return wd + 1, nil
			case "toordinal":
				day := t.Truncate(24 * time.Hour)
				return int64(day.Sub(time.Date(1970, 1, 1, 0, 0, 0, 0, t.Location()))/(24*time.Hour)) + 719163, nil
			case "ctime":
				return t.Format("Mon Jan _2 15:04:05 2006"), nil
			case "isocalendar":
				y, w := t.ISOWeek()
				return value.Tuple{int64(y), int64(w), wd + 1}, nil
			}
			return float64(t.UnixMicro()) / 1e6, nil
		}
	}
	return nil
}

func timeISO(c Call, t time.Time) (value.Value, error) {
	a, err := c.Bind("isoformat", 0, "sep?", "timespec?")
	if err != nil {
		return nil, err
	}
	sep := "T"
	if Given(a[0]) {
		s, ok := value.AsText(a[0])
		if !ok || value.TextLen(s) != 1 {
			return nil, value.Raise("TypeError", "isoformat() argument 1 must be a unicode character, not %s", noneName(a[0]))
		}
		sep = s
	}
	spec := "auto"
	if Given(a[1]) {
		spec, _ = value.AsText(a[1])
	}
	if spec == "auto" {
		spec = "seconds"
		if t.Nanosecond()/1000 != 0 {
			spec = "microseconds"
		}
	}
	layout, ok := map[string]string{
		"hours": "15", "minutes": "15:04", "seconds": "15:04:05",
		"milliseconds": "15:04:05.000", "microseconds": "15:04:05.000000",
	}[spec]
	if !ok {
		return nil, value.Raise("ValueError", "Unknown timespec value")
	}
	return t.Format("2006-01-02") + sep + t.Format(layout), nil
}

func timeReplace(c Call, t time.Time) (value.Value, error) {
	a, err := c.Bind("replace", 0, "year?", "month?", "day?", "hour?", "minute?", "second?", "microsecond?")
	if err != nil {
		return nil, err
	}
	parts := [7]int{t.Year(), int(t.Month()), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond() / 1000}
	for i := range parts {
		if parts[i], err = IntArg(a[i], parts[i]); err != nil {
			return nil, err
		}
	}
	if parts[0] < 1 || parts[0] > 9999 {
		return nil, value.Raise("ValueError", "year %d is out of range", parts[0])
	}
	if parts[1] < 1 || parts[1] > 12 {
		return nil, value.Raise("ValueError", "month must be in 1..12")
	}
	if last := time.Date(parts[0], time.Month(parts[1])+1, 0, 0, 0, 0, 0, time.UTC).Day(); parts[2] < 1 || parts[2] > last {
		return nil, value.Raise("ValueError", "day is out of range for month")
	}
	for i, limit := range [4]struct {
		name string
		top  int
	}{{"hour", 23}, {"minute", 59}, {"second", 59}, {"microsecond", 999999}} {
		if p := parts[i+3]; p < 0 || p > limit.top {
			return nil, value.Raise("ValueError", "%s must be in 0..%d", limit.name, limit.top)
		}
	}
	return time.Date(parts[0], time.Month(parts[1]), parts[2], parts[3], parts[4], parts[5], parts[6]*1000, t.Location()), nil
}

// deltaMethod returns a method of timedelta.
func deltaMethod(d value.Delta, name string) Func {
	if name != "total_seconds" {
		return nil
	}
	return func(c Call) (value.Value, error) {
		if _, err := c.Builtin("timedelta", name, 0, 0); err != nil {
			return nil, err
		}
		return time.Duration(d).Seconds(), nil
	}
}
