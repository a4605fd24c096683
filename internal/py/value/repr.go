package value

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Str returns v as Python's str() prints it.
func Str(v Value) string {
	switch v := v.(type) {
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	case time.Time:
		return strings.TrimSuffix(v.Format("2006-01-02 15:04:05.000000"), ".000000")
	case Stringer:
		return v.PyStr()
	}
	return Repr(v)
}

// Limits of what a walk over data prints. Data that a template nests or repeats
// on purpose would take the stack or the memory of the process otherwise.
const (
	maxOpen = 150_000 // containers within each other
	maxText = 1 << 30 // bytes
)

// Repr returns v as Python's repr() prints it. A container within itself
// prints as [...] or {...}, and so does one within 150,000 others, or behind
// 1 GiB of text.
func Repr(v Value) string {
	if s, ok := v.(string); ok {
		return QuoteStr(s)
	}
	var p reprinter
	p.value(v)
	return p.b.String()
}

type reprinter struct {
	b    strings.Builder
	used int    // bytes that stand before those in b
	open opened // the containers being printed, to find those within themselves
}

// opened are the containers that a walk is in.
type opened struct {
	list []any
	set  map[any]bool // the same, where they are many
}

// enter notes a container, and returns false where the walk is in it, or in too
// many.
func (o *opened) enter(c any) bool {
	if len(o.list) >= maxOpen {
		return false
	}
	if len(o.list) <= memoDepth {
		if slices.Contains(o.list, c) {
			return false
		}
	} else {
		if o.set == nil {
			o.set = make(map[any]bool, 2*len(o.list))
			for _, x := range o.list {
				o.set[x] = true
			}
		}
		if o.set[c] {
			return false
		}
	}
	o.list = append(o.list, c)
	if o.set != nil {
		o.set[c] = true
	}
	return true
}

// deeper notes a container that cannot be within itself, such as a tuple. It
// returns false where the walk is in too many.
func (o *opened) deeper() bool {
	if len(o.list) >= maxOpen {
		return false
	}
	o.list = append(o.list, nil)
	return true
}

// leave ends the last container.
func (o *opened) leave() {
	n := len(o.list) - 1
	if o.set != nil {
		delete(o.set, o.list[n])
	}
	o.list = o.list[:n]
}

func (p *reprinter) enter(c any) bool { return !p.full() && p.open.enter(c) }

func (p *reprinter) full() bool { return p.used+p.b.Len() > maxText }

func (p *reprinter) leave() { p.open.leave() }

func (p *reprinter) value(v Value) {
	switch v := v.(type) {
	case nil:
		p.b.WriteString("None")
	case bool:
		if v {
			p.b.WriteString("True")
		} else {
			p.b.WriteString("False")
		}
	case int64:
		p.b.WriteString(strconv.FormatInt(v, 10))
	case *big.Int:
		p.b.WriteString(v.String())
	case float64:
		p.b.WriteString(FloatRepr(v))
	case string:
		p.b.WriteString(QuoteStr(v))
	case Bytes:
		p.b.WriteString(quoteBytes(string(v)))
	case time.Time:
		p.time(v)
	case *List:
		if !p.enter(v) {
			p.b.WriteString("[...]")
			return
		}
		p.items("[", "]", v.Items)
		p.leave()
	case Tuple:
		end := ")"
		if len(v) == 1 {
			end = ",)"
		}
		if p.full() || !p.open.deeper() {
			p.b.WriteString("(...)")
			return
		}
		p.items("(", end, v)
		p.leave()
	case *Set:
		if v.Len() == 0 {
			p.b.WriteString("set()")
			return
		}
		if !p.enter(v) {
			p.b.WriteString("{...}")
			return
		}
		p.items("{", "}", v.Items())
		p.leave()
	case PartsReprer:
		if p.full() || !p.open.deeper() {
			p.b.WriteString("...")
			return
		}
		p.b.WriteString(v.ReprParts(p.part))
		p.leave()
	case *View:
		if !p.enter(v) {
			p.b.WriteString("...")
			return
		}
		p.items(v.TypeName()+"([", "])", slices.Collect(v.Iterate()))
		p.leave()
	case *LazyMap:
		p.value(v.Map())
	case Reprer:
		p.b.WriteString(v.Repr())
	case *Map:
		if !p.enter(v) {
			p.b.WriteString("{...}")
			return
		}
		p.mapping(v, v.Ordered)
		p.leave()
	case Mapping:
		p.mapping(v, false)
	default:
		fmt.Fprintf(&p.b, "<%s object>", TypeName(v))
	}
}

// part returns a value as it prints within the containers being printed.
func (p *reprinter) part(v Value) string {
	q := reprinter{open: p.open, used: p.used + p.b.Len()}
	q.value(v)
	p.open = q.open
	return q.b.String()
}

func (p *reprinter) items(start, end string, items []Value) {
	p.b.WriteString(start)
	for i, x := range items {
		if i > 0 {
			p.b.WriteString(", ")
		}
		p.value(x)
	}
	p.b.WriteString(end)
}

// mapping prints {k: v}; an OrderedDict prints as Python 3.11 has it, a list
// of pairs.
func (p *reprinter) mapping(m Mapping, ordered bool) {
	if ordered && m.Len() == 0 {
		p.b.WriteString("OrderedDict()")
		return
	}
	start, sep, stop, end := "", ": ", "", "}"
	if ordered {
		p.b.WriteString("OrderedDict([")
		start, sep, stop, end = "(", ", ", ")", "])"
	} else {
		p.b.WriteString("{")
	}
	for i, k := range m.Keys() {
		if i > 0 {
			p.b.WriteString(", ")
		}
		x, _ := m.Get(k)
		p.b.WriteString(start)
		p.value(k)
		p.b.WriteString(sep)
		p.value(x)
		p.b.WriteString(stop)
	}
	p.b.WriteString(end)
}

func (p *reprinter) time(t time.Time) {
	fmt.Fprintf(&p.b, "datetime.datetime(%d, %d, %d, %d, %d", t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute())
	us := t.Nanosecond() / 1000
	if t.Second() > 0 || us > 0 {
		fmt.Fprintf(&p.b, ", %d", t.Second())
	}
	if us > 0 {
		fmt.Fprintf(&p.b, ", %d", us)
	}
	p.b.WriteString(")")
}

// FloatRepr returns f as Python's repr prints it.
func FloatRepr(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	s := strconv.FormatFloat(f, 'e', -1, 64)
	e := strings.IndexByte(s, 'e')
	exp, _ := strconv.Atoi(s[e+1:])
	if exp < -4 || exp >= 16 {
		return fmt.Sprintf("%se%+03d", s[:e], exp)
	}
	s = strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.ContainsRune(s, '.') {
		s += ".0"
	}
	return s
}

// QuoteStr returns s as Python's repr quotes it.
func QuoteStr(s string) string {
	q := byte('\'')
	if strings.IndexByte(s, '\'') >= 0 && strings.IndexByte(s, '"') < 0 {
		q = '"'
	}
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte(q)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			// A byte that is not valid UTF-8 is a lone surrogate in Python's
			// surrogateescape decoding.
			fmt.Fprintf(&b, `\udc%02x`, s[i])
		case r == rune(q) || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x7f || printable(r):
			b.WriteRune(r)
		case r <= 0xff:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		i += n
	}
	b.WriteByte(q)
	return b.String()
}

// printable is Python's str.isprintable for one character outside ASCII.
func printable(r rune) bool {
	return !unicode.In(r, unicode.C, unicode.Zl, unicode.Zp, unicode.Zs) && unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S)
}

func quoteBytes(s string) string {
	q := byte('\'')
	if strings.IndexByte(s, '\'') >= 0 && strings.IndexByte(s, '"') < 0 {
		q = '"'
	}
	var b strings.Builder
	b.WriteByte('b')
	b.WriteByte(q)
	for i := range len(s) {
		switch c := s[i]; {
		case c == q || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte(q)
	return b.String()
}

// ASCII returns a repr with all beyond ASCII escaped, as Python's ascii().
func ASCII(repr string) string {
	if IsASCII(repr) {
		return repr
	}
	var b strings.Builder
	for _, r := range repr {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r <= 0xff:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}
