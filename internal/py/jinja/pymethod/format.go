package pymethod

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"brine/internal/py/jinja/markupsafe"
	"brine/internal/py/jinja/pytext"
	"brine/internal/py/pyformat"
	"brine/internal/py/value"
)

// strFormat is str.format and str.format_map through Jinja2's sandbox: names
// and items in fields follow Jinja2's rules of access.
func strFormat(s string, markup bool, name string) Func {
	return func(c Call) (value.Value, error) {
		f := &formatter{in: c.In, args: c.Args, escape: markup}
		if c.Kw != nil {
			f.kw = c.Kw
		}
		if name == "format_map" {
			if c.Kw.Len() > 0 {
				return nil, value.Raise("TypeError", "format_map() takes no keyword arguments")
			}
			if len(c.Args) != 1 {
				return nil, value.Raise("TypeError", "format_map() takes exactly one argument (%d given)", len(c.Args))
			}
			f.args, f.kw = nil, c.Args[0]
		}
		var b strings.Builder
		if err := f.run(&b, s, 2); err != nil {
			return nil, err
		}
		return SameText(b.String(), markup), nil
	}
}

type formatter struct {
	in     Interp
	args   []value.Value
	kw     value.Value // what names are looked up in
	escape bool

	auto   int
	manual bool
}

func (f *formatter) run(b *strings.Builder, s string, depth int) error {
	if depth < 0 {
		return value.Raise("ValueError", "Max string recursion exceeded")
	}
	for s != "" {
		i := strings.IndexAny(s, "{}")
		if i < 0 {
			b.WriteString(s)
			return nil
		}
		b.WriteString(s[:i])
		if strings.HasPrefix(s[i+1:], s[i:i+1]) {
			b.WriteByte(s[i])
			s = s[i+2:]
			continue
		}
		if s[i] == '}' {
			return value.Raise("ValueError", "Single '}' encountered in format string")
		}
		if i+1 == len(s) {
			return value.Raise("ValueError", "Single '{' encountered in format string")
		}
		field, rest, err := parseField(s[i+1:])
		if err != nil {
			return err
		}
		s = rest
		if err := f.field(b, field, depth); err != nil {
			return err
		}
		if err := value.CheckSize(b.Len()); err != nil {
			return err
		}
	}
	return nil
}

// replacement is one {name!conv:spec}.
type replacement struct {
	name, spec string
	conv       rune // 0: none
}

// parseField reads a field after its brace and returns what follows it.
func parseField(s string) (replacement, string, error) {
	var r replacement
	i := 0
	var end byte
scan:
	for ; i < len(s); i++ {
		switch s[i] {
		case '{':
			return r, "", value.Raise("ValueError", "unexpected '{' in field name")
		case '[':
			for i++; i < len(s) && s[i] != ']'; i++ {
			}
		case '}', ':', '!':
			end = s[i]
			break scan
		}
	}
	if end == 0 {
		return r, "", value.Raise("ValueError", "expected '}' before end of string")
	}
	r.name = s[:i]
	s = s[i+1:]
	if end == '}' {
		return r, s, nil
	}
	if end == '!' {
		if s == "" {
			return r, "", value.Raise("ValueError", "end of string while looking for conversion specifier")
		}
		c, n := utf8.DecodeRuneInString(s)
		r.conv, s = c, s[n:]
		if s != "" {
			switch s[0] {
			case '}':
				return r, s[1:], nil
			case ':':
				s = s[1:]
			default:
				return r, "", value.Raise("ValueError", "expected ':' after conversion specifier")
			}
		}
	}
	depth := 1
	for i := range len(s) {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				r.spec = s[:i]
				return r, s[i+1:], nil
			}
		}
	}
	return r, "", value.Raise("ValueError", "unmatched '{' in format spec")
}

func (f *formatter) field(b *strings.Builder, r replacement, depth int) error {
	const mixed = "cannot switch from manual field specification to automatic field numbering"
	name := r.name
	if name == "" {
		if f.manual {
			return value.Raise("ValueError", mixed)
		}
		name = strconv.Itoa(f.auto)
		f.auto++
	} else if pytext.Every(name, pytext.IsDigit) {
		if f.auto > 0 {
			return value.Raise("ValueError", mixed)
		}
		f.manual = true
	}
	v, err := f.lookup(name)
	if err != nil {
		return err
	}
	switch r.conv {
	case 0:
	case 's':
		if v, err = f.in.Str(v); err != nil {
			return err
		}
	case 'r':
		v = value.Repr(v)
	case 'a':
		v = value.ASCII(value.Repr(v))
	default:
		return value.Raise("ValueError", "Unknown conversion specifier %c", r.conv)
	}
	var spec strings.Builder
	if err := f.run(&spec, r.spec, depth-1); err != nil {
		return err
	}
	out, err := f.format(v, spec.String())
	b.WriteString(out)
	return err
}

func (f *formatter) format(v value.Value, spec string) (string, error) {
	if _, ok := v.(value.Faulty); ok {
		s, err := f.in.Str(v)
		if err == nil && spec != "" {
			err = value.Raise("TypeError", "unsupported format string passed to %s.__format__", value.TypeName(v))
		}
		return s, err
	}
	if !f.escape {
		return pyformat.Format(v, spec)
	}
	if m, ok := v.(markupsafe.Markup); ok {
		if spec != "" {
			return "", value.Raise("ValueError", "Unsupported format specification for Markup.")
		}
		return string(m), nil
	}
	s, err := pyformat.Format(v, spec)
	return markupsafe.Escape(s), err
}

// lookup finds the value of a field name such as a.b[c].
func (f *formatter) lookup(name string) (value.Value, error) {
	i := strings.IndexAny(name, ".[")
	first, rest := name, ""
	if i >= 0 {
		first, rest = name[:i], name[i:]
	}
	v, err := f.first(first)
	for rest != "" && err == nil {
		var key string
		if rest[0] == '.' {
			key = rest[1:]
			if i := strings.IndexAny(key, ".["); i >= 0 {
				key = key[:i]
			}
			rest = rest[1+len(key):]
			if key == "" {
				return nil, value.Raise("ValueError", "Empty attribute in format string")
			}
			v, err = f.in.GetAttr(v, key)
			continue
		}
		if rest[0] != '[' {
			return nil, value.Raise("ValueError", "Only '.' or '[' may follow ']' in format field specifier")
		}
		end := strings.IndexByte(rest, ']')
		if end < 0 {
			return nil, value.Raise("ValueError", "Missing ']' in format string")
		}
		key, rest = rest[1:end], rest[end+1:]
		if key == "" {
			return nil, value.Raise("ValueError", "Empty attribute in format string")
		}
		k, err2 := fieldIndex(key)
		if err2 != nil {
			return nil, err2
		}
		v, err = f.in.GetItem(v, k)
	}
	return v, err
}

// fieldIndex is key as an int where it is all digits.
func fieldIndex(key string) (value.Value, error) {
	for i := range len(key) {
		if key[i] < '0' || key[i] > '9' {
			return key, nil
		}
	}
	if n, err := strconv.ParseInt(key, 10, 64); err == nil {
		return n, nil
	}
	return nil, value.Raise("ValueError", "Too many decimal digits in format string")
}

func (f *formatter) first(name string) (value.Value, error) {
	var key value.Value = name
	if name != "" {
		var err error
		if key, err = fieldIndex(name); err != nil {
			return nil, err
		}
	}
	if i, ok := key.(int64); ok {
		if i >= int64(len(f.args)) {
			return nil, value.Raise("IndexError", "tuple index out of range")
		}
		return f.args[i], nil
	}
	if f.kw == nil {
		return nil, value.Raise("KeyError", "%s", value.QuoteStr(name))
	}
	return value.GetItem(f.kw, name)
}
