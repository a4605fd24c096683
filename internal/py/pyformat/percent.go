package pyformat

import (
	"math/big"
	"strings"
	"unicode/utf8"

	"brine/internal/py/value"
)

// Percent returns format % args, Python's printf-style formatting. args is a
// tuple of arguments, a dict for %(name)s, or a single argument.
func Percent(format string, args value.Value) (string, error) {
	return PercentFunc(format, args, value.StrOf, value.Repr)
}

// PercentFunc is [Percent] with str and repr of the arguments given, as a
// subclass of str that escapes them needs.
func PercentFunc(format string, args value.Value, str func(value.Value) (string, error), repr func(value.Value) string) (string, error) {
	p := percent{in: format, args: args, str: str, repr: repr}
	return p.run()
}

// percentBytes formats bytes: %s and %b take bytes.
func percentBytes(format string, args value.Value) (string, error) {
	p := percent{in: format, args: args, repr: value.Repr, bytes: true}
	p.str = func(v value.Value) (string, error) {
		if b, ok := v.(value.Bytes); ok {
			return string(b), nil
		}
		return "", value.Raise("TypeError", "%%b requires a bytes-like object, or an object that implements __bytes__, not '%s'", value.OperandType(v))
	}
	return p.run()
}

type percent struct {
	in    string
	args  value.Value
	str   func(value.Value) (string, error)
	repr  func(value.Value) string
	bytes bool

	out   strings.Builder
	pos   int         // in bytes
	next  int         // the next argument of a tuple
	keyed value.Value // the argument that the last (name) chose
	named bool
}

// conv is one conversion of a format.
type conv struct {
	left, plus, space, zero, alt bool
	width, prec                  int // prec -1 is none
}

func (p *percent) run() (string, error) {
	for {
		i := strings.IndexByte(p.in[p.pos:], '%')
		if i < 0 {
			p.out.WriteString(p.in[p.pos:])
			break
		}
		p.out.WriteString(p.in[p.pos : p.pos+i])
		p.pos += i + 1
		if err := p.convert(); err != nil {
			return "", err
		}
		if err := value.CheckSize(p.out.Len()); err != nil {
			return "", err
		}
	}
	if t, ok := value.AsTuple(p.args); ok {
		if p.next < len(t) {
			return "", p.leftOver()
		}
	} else if p.next == 0 && !p.subscriptable() {
		return "", p.leftOver()
	}
	return p.out.String(), nil
}

func (p *percent) leftOver() error {
	kind := "string"
	if p.bytes {
		kind = "bytes"
	}
	return value.Raise("TypeError", "not all arguments converted during %s formatting", kind)
}

// subscriptable reports whether the argument may be the mapping of a format: it
// has items, and is neither a string nor a tuple.
func (p *percent) subscriptable() bool {
	switch p.args.(type) {
	case value.Mapping, *value.List, value.Range, value.Faulty:
		return true
	case value.Bytes:
		return !p.bytes
	}
	return false
}

func (p *percent) arg() (value.Value, error) {
	if p.named {
		p.named = false
		return p.keyed, nil
	}
	if t, ok := value.AsTuple(p.args); ok {
		if p.next < len(t) {
			p.next++
			return t[p.next-1], nil
		}
	} else if p.next == 0 {
		p.next++
		return p.args, nil
	}
	return nil, value.Raise("TypeError", "not enough arguments for format string")
}

func (p *percent) peek() (byte, error) {
	if p.pos >= len(p.in) {
		return 0, value.Raise("ValueError", "incomplete format")
	}
	return p.in[p.pos], nil
}

func (p *percent) convert() error {
	if strings.HasPrefix(p.in[p.pos:], "%") {
		p.out.WriteByte('%')
		p.pos++
		return nil
	}
	c := conv{prec: -1}
	if p.pos < len(p.in) && p.in[p.pos] == '(' {
		if err := p.name(); err != nil {
			return err
		}
	}
flags:
	for ; p.pos < len(p.in); p.pos++ {
		switch p.in[p.pos] {
		case '-':
			c.left = true
		case '+':
			c.plus = true
		case ' ':
			c.space = true
		case '#':
			c.alt = true
		case '0':
			c.zero = true
		default:
			break flags
		}
	}
	var err error
	if c.width, err = p.number("width"); err != nil {
		return err
	}
	if c.width < 0 {
		c.left, c.width = true, -c.width
	}
	if p.pos < len(p.in) && p.in[p.pos] == '.' {
		p.pos++
		if c.prec, err = p.number("precision"); err != nil {
			return err
		}
		c.prec = max(c.prec, 0)
	}
	if err := value.CheckSize(max(c.width, c.prec)); err != nil {
		return err
	}
	if p.pos < len(p.in) && strings.IndexByte("hlL", p.in[p.pos]) >= 0 {
		p.pos++
	}
	if _, err := p.peek(); err != nil {
		return err
	}
	r, n := utf8.DecodeRuneInString(p.in[p.pos:])
	at := value.TextLen(p.in[:p.pos])
	p.pos += n
	v, err := p.arg()
	if err != nil {
		return err
	}
	return p.format(c, r, at, v)
}

func (p *percent) name() error {
	if !p.subscriptable() {
		return value.Raise("TypeError", "format requires a mapping")
	}
	depth, start := 1, p.pos+1
	for p.pos++; p.pos < len(p.in); p.pos++ {
		switch p.in[p.pos] {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth == 0 {
			break
		}
	}
	if depth > 0 {
		return value.Raise("ValueError", "incomplete format key")
	}
	key := p.in[start:p.pos]
	p.pos++
	v, err := value.GetItem(p.args, key)
	if err != nil {
		return err
	}
	p.keyed, p.named, p.next = v, true, 1
	return nil
}

// number reads a width or a precision: digits, or * for the next argument.
func (p *percent) number(what string) (int, error) {
	if p.pos < len(p.in) && p.in[p.pos] == '*' {
		p.pos++
		v, err := p.arg()
		if err != nil {
			return 0, err
		}
		n, ok := value.AsInt(v)
		if !ok {
			if _, isBig := v.(*big.Int); isBig {
				return 0, value.Raise("OverflowError", "Python int too large to convert to C ssize_t")
			}
			return 0, value.Raise("TypeError", "* wants int")
		}
		if n > value.MaxBytes || n < -value.MaxBytes {
			return 0, value.CheckSize(-1)
		}
		return int(n), nil
	}
	n := int64(0)
	for ; p.pos < len(p.in) && isDigit(p.in[p.pos]); p.pos++ {
		n = n*10 + int64(p.in[p.pos]-'0')
		if n > 1<<40 {
			if what == "precision" {
				return 0, value.Raise("ValueError", "precision too big")
			}
			return 0, value.Raise("ValueError", "width too big")
		}
	}
	return int(min(n, 1<<30)), nil // far above what CheckSize lets pass
}

func (p *percent) format(c conv, verb rune, at int, v value.Value) error {
	var sign, prefix, body string
	var err error
	numeric := true
	switch {
	case verb == 'b' && !p.bytes:
		return p.unknown(verb, at)
	case strings.ContainsRune("srab", verb):
		numeric = false
		body, err = p.text(c, verb, v)
	case verb == 'c':
		numeric = false
		body, err = charOf(v)
	case strings.ContainsRune("diuxXo", verb):
		sign, prefix, body, err = p.wholeNumber(c, verb, v)
	case strings.ContainsRune("eEfFgG", verb):
		sign, body, err = p.real(c, verb, v)
	default:
		return p.unknown(verb, at)
	}
	if err != nil {
		return err
	}
	if numeric && sign == "" {
		if c.plus {
			sign = "+"
		} else if c.space {
			sign = " "
		}
	}
	fill := max(c.width-len(sign)-len(prefix)-value.TextLen(body), 0)
	switch {
	case c.left:
		p.out.WriteString(sign + prefix + body + strings.Repeat(" ", fill))
	case c.zero && numeric:
		p.out.WriteString(sign + prefix + strings.Repeat("0", fill) + body)
	default:
		p.out.WriteString(strings.Repeat(" ", fill) + sign + prefix + body)
	}
	return nil
}

// text converts a value by %s, %r, %a or %b.
func (p *percent) text(c conv, verb rune, v value.Value) (body string, err error) {
	switch verb {
	case 'r':
		body = p.repr(v)
	case 'a':
		body = value.ASCII(p.repr(v))
	default:
		if body, err = p.str(v); err != nil {
			return "", err
		}
	}
	if c.prec >= 0 {
		body = value.TextSlice(body, 0, c.prec)
	}
	return body, nil
}

// wholeNumber converts a whole number by %d, %x or %o.
func (p *percent) wholeNumber(c conv, verb rune, v value.Value) (sign, prefix, body string, err error) {
	i, err := p.integer(verb, v)
	if err != nil {
		return "", "", "", err
	}
	if i.Sign() < 0 {
		sign = "-"
	}
	base := 10
	switch verb {
	case 'x', 'X':
		base, prefix = 16, "0x"
	case 'o':
		base, prefix = 8, "0o"
	}
	body = new(big.Int).Abs(i).Text(base)
	if pad := c.prec - len(body); pad > 0 {
		body = strings.Repeat("0", pad) + body
	}
	if !c.alt {
		prefix = ""
	}
	if verb == 'X' {
		prefix, body = strings.ToUpper(prefix), strings.ToUpper(body)
	}
	return sign, prefix, body, nil
}

// real converts a float by %e, %f or %g.
func (p *percent) real(c conv, verb rune, v value.Value) (sign, body string, err error) {
	f, err := p.float(v)
	if err != nil {
		return "", "", err
	}
	prec := c.prec
	if prec < 0 {
		prec = 6
	}
	if err := value.CheckSize(prec); err != nil {
		return "", "", err
	}
	sign, body = FloatText(f, byte(verb), prec, c.alt)
	return sign, body, nil
}

func (p *percent) unknown(verb rune, at int) error {
	shown := "?"
	if verb > 31 && verb < 128 {
		shown = string(verb)
	}
	return value.Raise("ValueError", "unsupported format character '%s' (0x%x) at index %d", shown, verb, at)
}

// integer converts the argument of %d and its like. Only %d takes a float.
func (p *percent) integer(verb rune, v value.Value) (*big.Int, error) {
	if i, ok := value.AsBig(v); ok {
		return i, nil
	}
	if n, ok := v.(interface{ Number() (value.Value, bool) }); ok {
		if x, ok := n.Number(); ok {
			return p.integer(verb, x)
		}
	}
	if err := value.Fault(v, "int"); err != nil {
		return nil, err
	}
	switch verb {
	case 'x', 'X', 'o':
		return nil, value.Raise("TypeError", "%%%c format: an integer is required, not %s", verb, value.OperandType(v))
	}
	if f, ok := v.(float64); ok {
		n, err := value.ToInt(f)
		if err != nil {
			return nil, err
		}
		i, _ := value.AsBig(n)
		return i, nil
	}
	return nil, value.Raise("TypeError", "%%%c format: a real number is required, not %s", verb, value.OperandType(v))
}

func (p *percent) float(v value.Value) (float64, error) {
	if value.IsNumber(v) {
		return value.ToFloat(v)
	}
	if n, ok := v.(interface{ Number() (value.Value, bool) }); ok {
		if x, ok := n.Number(); ok {
			return value.ToFloat(x)
		}
	}
	if err := value.Fault(v, "float"); err != nil {
		return 0, err
	}
	if p.bytes {
		return 0, value.Raise("TypeError", "float argument required, not %s", value.OperandType(v))
	}
	return 0, value.Raise("TypeError", "must be real number, not %s", value.OperandType(v))
}

func charOf(v value.Value) (string, error) {
	if s, ok := value.AsText(v); ok {
		if value.TextLen(s) == 1 {
			return s, nil
		}
		return "", value.Raise("TypeError", "%%c requires int or char")
	}
	if i, ok := value.AsBig(v); ok {
		if i.Sign() < 0 || i.Cmp(big.NewInt(utf8.MaxRune)) > 0 {
			return "", value.Raise("OverflowError", "%%c arg not in range(0x110000)")
		}
		return string(rune(i.Int64())), nil
	}
	if err := value.Fault(v, "int"); err != nil {
		return "", err
	}
	return "", value.Raise("TypeError", "%%c requires int or char")
}
