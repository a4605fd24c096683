package value

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// arith applies an operator to two numbers.
func arith(op string, a, b Value) (Value, error) {
	_, af := a.(float64)
	_, bf := b.(float64)
	if af || bf {
		return floatArith(op, a, b)
	}
	x, xok := AsInt(a)
	y, yok := AsInt(b)
	if xok && yok {
		if v, ok, err := smallArith(op, x, y); ok {
			return v, err
		}
	}
	bx, _ := AsBig(a)
	by, _ := AsBig(b)
	return bigArith(op, bx, by)
}

// smallArith does what fits 64 bits; ok is false where it does not.
func smallArith(op string, x, y int64) (v Value, ok bool, err error) {
	switch op {
	case "+":
		s := x + y
		return s, (s > x) == (y > 0), nil
	case "-":
		s := x - y
		return s, (s < x) == (y > 0), nil
	case "*":
		if x == 0 || y == 0 {
			return int64(0), true, nil
		}
		p := x * y
		return p, p/y == x && (x != -1 || y != math.MinInt64) && (y != -1 || x != math.MinInt64), nil
	case "//", "%":
		if y == 0 {
			if op == "%" {
				return nil, true, Raise("ZeroDivisionError", "integer modulo by zero")
			}
			return nil, true, Raise("ZeroDivisionError", "integer division or modulo by zero")
		}
		if y == -1 {
			return nil, false, nil
		}
		q, r := x/y, x%y
		if r != 0 && (r < 0) != (y < 0) {
			q, r = q-1, r+y
		}
		if op == "%" {
			return r, true, nil
		}
		return q, true, nil
	}
	return nil, false, nil
}

func bigArith(op string, x, y *big.Int) (Value, error) {
	z := new(big.Int)
	switch op {
	case "+":
		return NormInt(z.Add(x, y)), nil
	case "-":
		return NormInt(z.Sub(x, y)), nil
	case "*":
		if x.BitLen()+y.BitLen() > maxBits {
			return nil, errBigInt()
		}
		return NormInt(z.Mul(x, y)), nil
	case "//", "%":
		if y.Sign() == 0 {
			_, _, err := smallArith(op, 1, 0)
			return nil, err
		}
		q, r := new(big.Int), new(big.Int)
		q.QuoRem(x, y, r)
		if r.Sign() != 0 && (r.Sign() < 0) != (y.Sign() < 0) {
			q.Sub(q, big.NewInt(1))
			r.Add(r, y)
		}
		if op == "%" {
			return NormInt(r), nil
		}
		return NormInt(q), nil
	}
	// "**"
	if y.Sign() < 0 {
		xf, err := BigToFloat(x)
		if err != nil {
			return nil, err
		}
		yf, err := BigToFloat(y)
		if err != nil {
			return nil, err
		}
		return floatPow(xf, yf)
	}
	if x.BitLen() > 1 && (!y.IsInt64() || int64(x.BitLen()-1)*min(y.Int64(), maxBits+1) > maxBits) {
		return nil, errBigInt()
	}
	if x.BitLen() <= 1 { // -1, 0 and 1 to any power
		if y.Sign() == 0 || x.Sign() > 0 || x.Sign() < 0 && y.Bit(0) == 0 {
			return int64(1), nil
		}
		return int64(x.Sign()), nil
	}
	return NormInt(z.Exp(x, y, nil)), nil
}

func errBigInt() error {
	return Raise("OverflowError", "an integer of more than %d bits is refused", maxBits)
}

// BigToFloat returns x as a float; OverflowError where none is that large.
func BigToFloat(x *big.Int) (float64, error) {
	f, _ := new(big.Float).SetInt(x).Float64()
	if math.IsInf(f, 0) {
		return 0, Raise("OverflowError", "int too large to convert to float")
	}
	return f, nil
}

func floatArith(op string, a, b Value) (Value, error) {
	x, err := ToFloat(a)
	if err != nil {
		return nil, err
	}
	y, err := ToFloat(b)
	if err != nil {
		return nil, err
	}
	switch op {
	case "+":
		return x + y, nil
	case "-":
		return x - y, nil
	case "*":
		return x * y, nil
	case "/":
		if y == 0 {
			return nil, Raise("ZeroDivisionError", "float division by zero")
		}
		return x / y, nil
	case "//", "%":
		if y == 0 {
			if op == "%" {
				return nil, Raise("ZeroDivisionError", "float modulo")
			}
			return nil, Raise("ZeroDivisionError", "float floor division by zero")
		}
		q, r := floatDivMod(x, y)
		if op == "%" {
			return r, nil
		}
		return q, nil
	}
	return floatPow(x, y)
}

// floatDivMod is divmod of floats: the remainder has the sign of y.
func floatDivMod(x, y float64) (q, r float64) {
	r = math.Mod(x, y)
	div := (x - r) / y
	if r != 0 {
		if (y < 0) != (r < 0) {
			r += y
			div--
		}
	} else {
		r = math.Copysign(0, y)
	}
	if div != 0 {
		q = math.Floor(div)
		if div-q > 0.5 {
			q++
		}
		return q, r
	}
	return math.Copysign(0, x/y), r
}

func floatPow(x, y float64) (Value, error) {
	if x == 0 && y < 0 {
		return nil, Raise("ZeroDivisionError", "0.0 cannot be raised to a negative power")
	}
	if x < 0 && !math.IsInf(x, 0) && !math.IsInf(y, 0) && y != math.Floor(y) && y == y {
		return nil, Raise("ValueError", "a negative number cannot be raised to a fractional power: complex numbers are not supported")
	}
	r := pow(x, y)
	if math.IsInf(r, 0) && !math.IsInf(x, 0) && !math.IsInf(y, 0) {
		return nil, Raise("OverflowError", "(34, 'Numerical result out of range')")
	}
	return r, nil
}

// Neg returns -v.
func Neg(v Value) (Value, error) {
	switch x := v.(type) {
	case int64:
		if x != math.MinInt64 {
			return -x, nil
		}
	case float64:
		return -x, nil
	case Delta:
		return -x, nil
	}
	if x, ok := AsBig(v); ok {
		return NormInt(new(big.Int).Neg(x)), nil
	}
	return nil, badUnary("-", v)
}

// Pos returns +v.
func Pos(v Value) (Value, error) {
	switch x := v.(type) {
	case float64, Delta:
		return x, nil
	}
	if x, ok := AsBig(v); ok {
		return NormInt(x), nil
	}
	return nil, badUnary("+", v)
}

func badUnary(op string, v Value) error {
	if err := Fault(v, op); err != nil {
		return err
	}
	return Raise("TypeError", "bad operand type for unary %s: '%s'", op, OperandType(v))
}

// Abs returns abs(v).
func Abs(v Value) (Value, error) {
	switch x := v.(type) {
	case float64:
		return math.Abs(x), nil
	case Delta:
		return max(x, -x), nil
	}
	if x, ok := AsBig(v); ok {
		return NormInt(new(big.Int).Abs(x)), nil
	}
	return nil, Raise("TypeError", "bad operand type for abs(): '%s'", OperandType(v))
}

// Round returns round(v, digits), or round(v) where whole: then the result is
// an int. Halves go to the even neighbour.
func Round(v Value, digits int, whole bool) (Value, error) {
	if f, ok := v.(float64); ok {
		if whole {
			return ToInt(math.RoundToEven(f))
		}
		return roundFloat(f, digits)
	}
	if x, ok := AsBig(v); ok {
		if whole || digits >= 0 {
			return NormInt(x), nil
		}
		if -digits > len(x.String())+1 {
			return int64(0), nil
		}
		unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-digits)), nil)
		return NormInt(roundTo(x, unit)), nil
	}
	return nil, Raise("TypeError", "type %s doesn't define __round__ method", OperandType(v))
}

// roundTo returns the multiple of unit next to x, the even one at halves.
func roundTo(x, unit *big.Int) *big.Int {
	q, r := new(big.Int), new(big.Int)
	q.DivMod(x, unit, r)
	c := new(big.Int).Lsh(r, 1).Cmp(unit)
	if c > 0 || c == 0 && q.Bit(0) == 1 {
		q.Add(q, big.NewInt(1))
	}
	return q.Mul(q, unit)
}

func roundFloat(f float64, digits int) (Value, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) || digits > 323 {
		return f, nil
	}
	if digits < -308 {
		return math.Copysign(0, f), nil
	}
	if digits >= 0 {
		r, err := strconv.ParseFloat(strconv.FormatFloat(f, 'f', digits, 64), 64)
		if err != nil {
			return nil, Raise("OverflowError", "rounded value too large to represent")
		}
		return r, nil
	}
	// Whole units of ten, exactly: the float is a ratio of ints.
	rat := new(big.Rat).SetFloat64(f)
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-digits)), nil)
	scaled := new(big.Int).Mul(unit, rat.Denom())
	q, r := new(big.Int), new(big.Int)
	q.DivMod(rat.Num(), scaled, r)
	c := new(big.Int).Lsh(r, 1).Cmp(scaled)
	if c > 0 || c == 0 && q.Bit(0) == 1 {
		q.Add(q, big.NewInt(1))
	}
	out, err := BigToFloat(q.Mul(q, unit))
	if err != nil {
		return nil, Raise("OverflowError", "rounded value too large to represent")
	}
	if out == 0 {
		return math.Copysign(0, f), nil
	}
	return out, nil
}

// ToInt returns int(v).
func ToInt(v Value) (Value, error) {
	switch x := v.(type) {
	case bool, int64, *big.Int:
		b, _ := AsBig(x)
		return NormInt(b), nil
	case float64:
		switch {
		case math.IsNaN(x):
			return nil, Raise("ValueError", "cannot convert float NaN to integer")
		case math.IsInf(x, 0):
			return nil, Raise("OverflowError", "cannot convert float infinity to integer")
		case math.Abs(x) < 1<<62:
			return int64(x), nil
		}
		b, _ := big.NewFloat(x).Int(nil)
		return NormInt(b), nil
	case Bytes:
		n, err := ParseInt(string(x), 10)
		if err != nil {
			return nil, Raise("ValueError", "invalid literal for int() with base 10: %s", Repr(x))
		}
		return n, nil
	}
	if s, ok := AsText(v); ok {
		return ParseInt(s, 10)
	}
	if err := Fault(v, "int"); err != nil {
		return nil, err
	}
	return nil, Raise("TypeError", "int() argument must be a string, a bytes-like object or a real number, not '%s'", OperandType(v))
}

// ParseInt returns int(s, base): blanks around, a sign, a prefix that fits the
// base, and single underscores between digits are allowed; base 0 reads the
// prefix.
func ParseInt(s string, base int) (Value, error) {
	bad := func() (Value, error) {
		return nil, Raise("ValueError", "invalid literal for int() with base %d: %s", base, QuoteStr(s))
	}
	if base != 0 && (base < 2 || base > 36) {
		return nil, Raise("ValueError", "int() base must be >= 2 and <= 36, or 0")
	}
	t, ok := asciiDigits(TrimSpace(s))
	if !ok {
		return bad()
	}
	neg := false
	if t != "" && (t[0] == '+' || t[0] == '-') {
		neg = t[0] == '-'
		t = t[1:]
	}
	b, t := basePrefix(t, base)
	if b == 0 {
		b = 10
		if len(t) > 1 && t[0] == '0' && strings.Trim(t, "0_") != "" {
			return bad()
		}
	}
	if t == "" || t[0] == '_' || t[len(t)-1] == '_' || strings.Contains(t, "__") {
		return bad()
	}
	t = strings.ReplaceAll(t, "_", "")
	if t[0] == '+' || t[0] == '-' {
		return bad()
	}
	if len(t) > 4300 && b&(b-1) != 0 {
		return nil, Raise("ValueError", "Exceeds the limit (4300 digits) for integer string conversion: value has %d digits; use sys.set_int_max_str_digits() to increase the limit", len(t))
	}
	if len(t) < 18 {
		n, err := strconv.ParseInt(t, b, 64)
		if err == nil {
			if neg {
				n = -n
			}
			return n, nil
		}
	}
	n, ok := new(big.Int).SetString(t, b)
	if !ok {
		return bad()
	}
	if neg {
		n.Neg(n)
	}
	return NormInt(n), nil
}

// basePrefix takes 0x, 0o or 0b off digits where base, which may be 0, allows
// it, and returns the base that they say.
func basePrefix(t string, base int) (b int, rest string) {
	if len(t) < 2 || t[0] != '0' {
		return base, t
	}
	said := 0
	switch t[1] {
	case 'x', 'X':
		said = 16
	case 'o', 'O':
		said = 8
	case 'b', 'B':
		said = 2
	}
	if said == 0 || base != 0 && base != said {
		return base, t
	}
	return said, strings.TrimPrefix(t[2:], "_")
}

// asciiDigits replaces decimal digits of other scripts by 0 to 9.
func asciiDigits(s string) (string, bool) {
	ascii := true
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			ascii = false
			break
		}
	}
	if ascii {
		return s, true
	}
	var b strings.Builder
	for _, r := range s {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
			continue
		}
		d, ok := DecimalDigit(r)
		if !ok {
			return "", false
		}
		b.WriteByte(byte('0' + d))
	}
	return b.String(), true
}

// DecimalDigit returns the value of a decimal digit of any script.
func DecimalDigit(r rune) (int, bool) {
	if !unicode.Is(unicode.Nd, r) {
		return 0, false
	}
	// Digits of a script are ten code points in a row, and rows start at a
	// code point that follows no digit, or ten after the last row's start.
	start := r
	for unicode.Is(unicode.Nd, start-1) {
		start--
	}
	return int(r-start) % 10, true
}

// ToFloat returns float(v).
func ToFloat(v Value) (float64, error) {
	switch x := v.(type) {
	case float64:
		return x, nil
	case int64:
		return float64(x), nil
	case bool, *big.Int:
		b, _ := AsBig(x)
		return BigToFloat(b)
	case Bytes:
		return parseFloat(string(x), x)
	}
	if s, ok := AsText(v); ok {
		return parseFloat(s, s)
	}
	if err := Fault(v, "float"); err != nil {
		return 0, err
	}
	return 0, Raise("TypeError", "float() argument must be a string or a real number, not '%s'", OperandType(v))
}

// Seconds returns a number of seconds, which may be a string, as a Duration: 0
// for None and for a number that is not above 0, at most a century. Anything
// that is not a number is an error.
func Seconds(v Value) (time.Duration, error) {
	if v == nil {
		return 0, nil
	}
	f, err := ToFloat(v)
	if err != nil || !(f > 0) { // NaN, too
		return 0, err
	}
	const most = 100 * 365 * 24 * time.Hour // nobody waits longer, and it fits a Duration
	return time.Duration(min(f, most.Seconds()) * float64(time.Second)), nil
}

func parseFloat(s string, v Value) (float64, error) {
	bad := func() (float64, error) {
		return 0, Raise("ValueError", "could not convert string to float: %s", Repr(v))
	}
	t, ok := asciiDigits(TrimSpace(s))
	if !ok || t == "" {
		return bad()
	}
	// strconv knows hexadecimal floats and other underscores than Python.
	for i := range len(t) {
		c := t[i]
		switch c {
		case '_':
			if i == 0 || i == len(t)-1 || !isDigit(t[i-1]) || !isDigit(t[i+1]) {
				return bad()
			}
		case 'x', 'X', 'p', 'P':
			return bad()
		}
	}
	if strings.EqualFold(t[1:], "nan") && (t[0] == '+' || t[0] == '-') {
		return math.NaN(), nil
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(t, "_", ""), 64)
	if err != nil && !math.IsInf(f, 0) {
		return bad()
	}
	return f, nil
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
