package pyformat

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"brine/internal/py/value"
)

// Format returns format(v, spec): Python's format mini-language.
func Format(v value.Value, spec string) (string, error) {
	if t, ok := v.(time.Time); ok && spec != "" {
		return Strftime(t, spec), nil
	}
	if spec == "" {
		return value.StrOf(v)
	}
	if err := value.Fault(v, "str"); err != nil {
		return "", err
	}
	text, isText := value.AsText(v)
	kind := ""
	switch x := v.(type) {
	case bool:
		v = int64(0)
		if x {
			v = int64(1)
		}
		kind = "bool"
	case int64, *big.Int:
		kind = "int"
	case float64:
		kind = "float"
	default:
		if !isText {
			return "", value.Raise("TypeError", "unsupported format string passed to %s.__format__", value.TypeName(v))
		}
		kind = value.TypeName(v)
	}
	dfltType, dfltAlign := byte('d'), byte('>')
	if isText {
		dfltType, dfltAlign = 's', '<'
	} else if kind == "float" {
		dfltType = 0
	}
	s, err := parseSpec(spec, kind, dfltType, dfltAlign)
	if err != nil {
		return "", err
	}
	if err := value.CheckSize(max(s.width, s.prec)); err != nil {
		return "", err
	}
	if isText {
		return s.text(text)
	}
	if f, ok := v.(float64); ok {
		return s.float(f)
	}
	i, _ := value.AsBig(v)
	return s.integer(i)
}

// formatSpec is a parsed spec.
type formatSpec struct {
	fill    string
	align   byte // < > ^ =
	aligned bool // the spec says so itself
	sign    byte // '+', '-', ' ' or 0
	noNegZ  bool
	alt     bool
	width   int
	sep     byte // ',' '_' or 0
	prec    int  // -1 is none
	typ     byte
	kind    string
}

func isAlign(c byte) bool { return c == '<' || c == '>' || c == '^' || c == '=' }

func parseSpec(spec, kind string, typ, align byte) (*formatSpec, error) {
	s := &formatSpec{fill: " ", align: align, prec: -1, typ: typ, kind: kind}
	rest := s.parseFlags(spec)
	var err error
	if s.width, _, rest, err = specNumber(rest); err != nil {
		return nil, err
	}
	if rest != "" && rest[0] == ',' {
		s.sep, rest = ',', rest[1:]
	}
	if rest != "" && rest[0] == '_' {
		if s.sep != 0 {
			return nil, value.Raise("ValueError", "Cannot specify both ',' and '_'.")
		}
		s.sep, rest = '_', rest[1:]
	}
	if rest != "" && rest[0] == ',' && s.sep == '_' {
		return nil, value.Raise("ValueError", "Cannot specify both ',' and '_'.")
	}
	if rest != "" && rest[0] == '.' {
		var digits bool
		if s.prec, digits, rest, err = specNumber(rest[1:]); err != nil {
			return nil, err
		}
		if !digits {
			return nil, value.Raise("ValueError", "Format specifier missing precision")
		}
	}
	if value.TextLen(rest) > 1 {
		return nil, value.Raise("ValueError", "Invalid format specifier %s for object of type '%s'", "'"+spec+"'", kind)
	}
	if rest != "" {
		r, _ := utf8.DecodeRuneInString(rest)
		if r >= utf8.RuneSelf {
			if s.sep != 0 {
				return nil, value.Raise("ValueError", `Cannot specify '%c' with '\x%x'.`, s.sep, r)
			}
			return nil, unknownCode(rest, kind)
		}
		s.typ = rest[0]
	}
	return s, s.checkSep()
}

// parseFlags reads the flags, which come before the width, and returns the
// rest.
func (s *formatSpec) parseFlags(rest string) string {
	next := func(chars string) byte {
		if rest == "" || strings.IndexByte(chars, rest[0]) < 0 {
			return 0
		}
		c := rest[0]
		rest = rest[1:]
		return c
	}
	fillSet, zeroAlign := false, s.align == '>'
	if _, n := utf8.DecodeRuneInString(rest); rest != "" && len(rest) > n && isAlign(rest[n]) {
		s.fill, s.align, rest = rest[:n], rest[n], rest[n+1:]
		s.aligned, fillSet = true, true
	} else if rest != "" && isAlign(rest[0]) {
		s.align, rest = rest[0], rest[1:]
		s.aligned = true
	}
	s.sign = next("+- ")
	s.noNegZ = next("z") != 0
	s.alt = next("#") != 0
	if !fillSet && next("0") != 0 {
		s.fill = "0"
		if !s.aligned && zeroAlign {
			s.align = '='
		}
	}
	return rest
}

// checkSep reports a type that has no separators of thousands.
func (s *formatSpec) checkSep() error {
	if s.sep == 0 {
		return nil
	}
	switch s.typ {
	case 'd', 'e', 'f', 'g', 'E', 'G', '%', 'F', 0:
		return nil
	case 'b', 'o', 'x', 'X':
		if s.sep != ',' {
			return nil
		}
	}
	return value.Raise("ValueError", "Cannot specify '%c' with '%c'.", s.sep, s.typ)
}

func unknownCode(code, kind string) error {
	r, _ := utf8.DecodeRuneInString(code)
	if r > 32 && r < 128 {
		return value.Raise("ValueError", "Unknown format code '%c' for object of type '%s'", r, kind)
	}
	return value.Raise("ValueError", `Unknown format code '\x%x' for object of type '%s'`, r, kind)
}

func specNumber(s string) (n int, any bool, rest string, err error) {
	i, big := 0, int64(0)
	for ; i < len(s) && isDigit(s[i]); i++ {
		big = big*10 + int64(s[i]-'0')
		if big > 1<<48 {
			return 0, true, s, value.Raise("ValueError", "Too many decimal digits in format string")
		}
	}
	return int(min(big, 1<<30)), i > 0, s[i:], nil
}

func (s *formatSpec) text(v string) (string, error) {
	switch {
	case s.typ != 's':
		return "", unknownCode(string(s.typ), s.kind)
	case s.sign == ' ':
		return "", value.Raise("ValueError", "Space not allowed in string format specifier")
	case s.sign != 0:
		return "", value.Raise("ValueError", "Sign not allowed in string format specifier")
	case s.noNegZ:
		return "", value.Raise("ValueError", "Negative zero coercion (z) not allowed in string format specifier")
	case s.alt:
		return "", value.Raise("ValueError", "Alternate form (#) not allowed in string format specifier")
	case s.align == '=':
		return "", value.Raise("ValueError", "'=' alignment not allowed in string format specifier")
	}
	if s.prec >= 0 {
		v = value.TextSlice(v, 0, s.prec)
	}
	return s.pad("", v, value.TextLen(v)), nil
}

// pad fills to the width; sign goes before the fill of '='.
func (s *formatSpec) pad(sign, body string, bodyLen int) string {
	n := s.width - len(sign) - bodyLen
	if n <= 0 {
		return sign + body
	}
	switch s.align {
	case '<':
		return sign + body + strings.Repeat(s.fill, n)
	case '^':
		return strings.Repeat(s.fill, n/2) + sign + body + strings.Repeat(s.fill, n-n/2)
	case '=':
		return sign + strings.Repeat(s.fill, n) + body
	}
	return strings.Repeat(s.fill, n) + sign + body
}

// signed returns the sign to print for a number.
func (s *formatSpec) signed(neg bool) string {
	switch {
	case neg:
		return "-"
	case s.sign == '+':
		return "+"
	case s.sign == ' ':
		return " "
	}
	return ""
}

func (s *formatSpec) integer(i *big.Int) (string, error) {
	switch s.typ {
	case 'b', 'c', 'd', 'o', 'x', 'X', 'n':
	case 'e', 'E', 'f', 'F', 'g', 'G', '%':
		f, err := value.BigToFloat(i)
		if err != nil {
			return "", err
		}
		return s.float(f)
	default:
		return "", unknownCode(string(s.typ), s.kind)
	}
	if s.prec >= 0 {
		return "", value.Raise("ValueError", "Precision not allowed in integer format specifier")
	}
	if s.noNegZ {
		return "", value.Raise("ValueError", "Negative zero coercion (z) not allowed in integer format specifier")
	}
	if s.typ == 'c' {
		if s.sign != 0 {
			return "", value.Raise("ValueError", "Sign not allowed with integer format specifier 'c'")
		}
		if s.alt {
			return "", value.Raise("ValueError", "Alternate form (#) not allowed with integer format specifier 'c'")
		}
		if i.Sign() < 0 || i.Cmp(big.NewInt(utf8.MaxRune)) > 0 {
			return "", value.Raise("OverflowError", "%%c arg not in range(0x110000)")
		}
		if !s.aligned && s.align == '>' {
			s.align = '<'
		}
		return s.pad("", string(rune(i.Int64())), 1), nil
	}
	base, prefix, group := 10, "", 3
	switch s.typ {
	case 'b':
		base, prefix, group = 2, "0b", 4
	case 'o':
		base, prefix, group = 8, "0o", 4
	case 'x':
		base, prefix, group = 16, "0x", 4
	case 'X':
		base, prefix, group = 16, "0X", 4
	}
	digits := new(big.Int).Abs(i).Text(base)
	if s.typ == 'X' {
		digits = strings.ToUpper(digits)
	}
	sign := s.signed(i.Sign() < 0)
	if s.alt {
		sign += prefix
	}
	return s.number(sign, digits, "", group), nil
}

// number groups the digits, fills with zeros where asked, and pads.
func (s *formatSpec) number(sign, digits, rest string, group int) string {
	if s.fill == "0" && s.align == '=' {
		// Zeros are digits too, so they are grouped with the others.
		room := s.width - len(sign) - len(rest)
		if s.sep == 0 {
			if n := room - len(digits); n > 0 {
				digits = strings.Repeat("0", n) + digits
			}
		} else {
			need := len(digits)
			for need+(need-1)/group < room {
				need++
			}
			digits = strings.Repeat("0", need-len(digits)) + digits
		}
	}
	if s.sep != 0 {
		digits = groupDigits(digits, s.sep, group)
	}
	body := digits + rest
	return s.pad(sign, body, len(body))
}

func groupDigits(digits string, sep byte, group int) string {
	if len(digits) <= group {
		return digits
	}
	var b strings.Builder
	first := len(digits) % group
	b.WriteString(digits[:first])
	for i := first; i < len(digits); i += group {
		if b.Len() > 0 {
			b.WriteByte(sep)
		}
		b.WriteString(digits[i : i+group])
	}
	return b.String()
}

func (s *formatSpec) float(f float64) (string, error) {
	verb, prec := s.typ, s.prec
	suffix := ""
	switch s.typ {
	case 0, 'e', 'E', 'f', 'F', 'g', 'G':
	case 'n':
		verb = 'g'
	case '%':
		verb, suffix = 'f', "%"
		f *= 100
	default:
		return "", unknownCode(string(s.typ), s.kind)
	}
	var sign, body string
	switch {
	case verb == 0 && prec < 0:
		body = value.FloatRepr(f)
		if strings.HasPrefix(body, "-") {
			sign, body = "-", body[1:]
		}
	case verb == 0:
		sign, body = FloatText(f, 'g', prec, s.alt)
		body = withPoint(f, body, prec, s.alt)
	default:
		if prec < 0 {
			prec = 6
		}
		sign, body = FloatText(f, verb, prec, s.alt)
	}
	if s.noNegZ && sign == "-" && strings.Trim(strings.TrimRight(body, "eE+-0123456789"), "0.") == "" {
		if v, err := strconv.ParseFloat(body, 64); err == nil && v == 0 {
			sign = ""
		}
	}
	sign = s.signed(sign == "-")
	i := 0
	for i < len(body) && isDigit(body[i]) {
		i++
	}
	digits := body[:i]
	if digits == "" { // inf, nan: filled, never grouped
		return s.pad(sign, body+suffix, len(body)+len(suffix)), nil
	}
	return s.number(sign, digits, body[i:]+suffix, 3), nil
}

// withPoint is the difference of the default float format to g: a digit after
// the point always, and the exponent one digit sooner.
func withPoint(f float64, body string, prec int, alt bool) string {
	if strings.ContainsAny(body, "en") {
		return body
	}
	prec = max(prec, 1)
	mant, e, _ := strings.Cut(strconv.FormatFloat(math.Abs(f), 'e', prec-1, 64), "e")
	if exp, _ := strconv.Atoi(e); exp == prec-1 {
		switch {
		case !alt:
			mant = trimZeros(mant)
		case !strings.Contains(mant, "."):
			mant += "."
		}
		return mant + "e" + expDigits(exp)
	}
	if !strings.Contains(body, ".") {
		body += ".0"
	}
	return body
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
