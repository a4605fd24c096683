package file

import (
	"fmt"
	"math/big"
	"strings"
	"time"

	"brine/internal/value"
)

// writeINI writes sections of keys as Python's configparser does.
func writeINI(v value.Value, o *value.Map) (string, error) {
	m, ok := v.(*value.Map)
	if !ok {
		return "", value.Raise("TypeError", "configparser can only serialize dictionaries, not <class '%s'>", value.TypeName(v))
	}
	var b strings.Builder
	section := func(name string, keys *value.Map) error {
		fmt.Fprintf(&b, "[%s]\n", name)
		for k, x := range keys.All() {
			key := strings.ToLower(value.Str(k))
			if x == nil {
				if !value.Truth(o.At("allow_no_value")) {
					return value.Raise("TypeError", "option values must be strings")
				}
				b.WriteString(key + "\n")
				continue
			}
			fmt.Fprintf(&b, "%s = %s\n", key, strings.ReplaceAll(value.Str(x), "\n", "\n\t"))
		}
		b.WriteByte('\n')
		return nil
	}
	if d := m.Map("DEFAULT"); d.Len() > 0 {
		if err := section("DEFAULT", d); err != nil {
			return "", err
		}
	}
	for k, x := range m.All() {
		if k == "DEFAULT" {
			continue
		}
		keys, ok := x.(*value.Map)
		if !ok {
			return "", value.Raise("AttributeError", "'%s' object has no attribute 'items'", value.TypeName(x))
		}
		if err := section(value.Str(k), keys); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

// readINI reads what configparser reads: sections, key = value or key: value,
// comments of # and ;, values that go on on indented lines.
func readINI(text string) (value.Value, error) {
	m := value.NewMap(4)
	var keys *value.Map
	last := ""
	for n, line := range strings.Split(text, "\n") {
		bare := strings.TrimSpace(line)
		if bare == "" || bare[0] == '#' || bare[0] == ';' {
			continue
		}
		if (line[0] == ' ' || line[0] == '\t') && keys != nil && last != "" {
			keys.Set(last, keys.Str(last)+"\n"+bare)
			continue
		}
		if bare[0] == '[' && bare[len(bare)-1] == ']' {
			name := bare[1 : len(bare)-1]
			if m.Has(name) {
				return nil, fmt.Errorf("While reading from '<string>' [line %2d]: section %s already exists", n+1, value.QuoteStr(name))
			}
			keys, last = value.NewMap(4), ""
			m.Set(name, keys)
			continue
		}
		if keys == nil {
			return nil, fmt.Errorf("File contains no section headers.\nfile: '<string>', line: %d\n%s", n+1, value.QuoteStr(line+"\n"))
		}
		i := strings.IndexAny(bare, "=:")
		if i < 0 {
			return nil, fmt.Errorf("Source contains parsing errors: '<string>'\n\t[line %2d]: %s", n+1, value.QuoteStr(line+"\n"))
		}
		last = strings.ToLower(strings.TrimSpace(bare[:i]))
		keys.Set(last, strings.TrimSpace(bare[i+1:]))
	}
	return m, nil
}

// writeTOML writes TOML in the style of Python's toml library: values first,
// then tables.
func writeTOML(v value.Value, _ *value.Map) (string, error) {
	m, ok := v.(*value.Map)
	if !ok {
		return "", value.Raise("TypeError", "TOML can only hold a dictionary at the top, not %s", value.TypeName(v))
	}
	t := &tomlWriter{}
	if err := t.table("", m, 0); err != nil {
		return "", err
	}
	return strings.TrimPrefix(t.b.String(), "\n"), nil
}

type tomlWriter struct{ b strings.Builder }

const tomlDepth = 200

func (t *tomlWriter) table(path string, m *value.Map, depth int) error {
	if depth > tomlDepth {
		return value.Raise("ValueError", "data are nested too deep for TOML")
	}
	for k, v := range m.All() {
		if _, sub := v.(*value.Map); sub || isTables(v) || v == nil {
			continue
		}
		s, err := tomlValue(v, depth)
		if err != nil {
			return err
		}
		t.b.WriteString(tomlKey(k) + " = " + s + "\n")
	}
	for k, v := range m.All() {
		sub := tomlKey(k)
		if path != "" {
			sub = path + "." + sub
		}
		switch v := v.(type) {
		case *value.Map:
			fmt.Fprintf(&t.b, "\n[%s]\n", sub)
			if err := t.table(sub, v, depth+1); err != nil {
				return err
			}
		case *value.List:
			if !isTables(v) {
				continue
			}
			for _, it := range v.Items {
				fmt.Fprintf(&t.b, "\n[[%s]]\n", sub)
				if err := t.table(sub, it.(*value.Map), depth+1); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// isTables reports whether v is a list of dicts.
func isTables(v value.Value) bool {
	l, ok := v.(*value.List)
	if !ok || l.Len() == 0 {
		return false
	}
	for _, it := range l.Items {
		if _, ok := it.(*value.Map); !ok {
			return false
		}
	}
	return true
}

func tomlKey(k value.Value) string {
	s := value.Str(k)
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == "" {
		return s
	}
	return tomlText(s)
}

func tomlValue(v value.Value, depth int) (string, error) {
	if depth > tomlDepth {
		return "", value.Raise("ValueError", "data are nested too deep for TOML")
	}
	switch v := v.(type) {
	case bool:
		if v {
			return "true", nil
		}
		return "false", nil
	case int64, *big.Int, float64:
		return value.Str(v), nil
	case time.Time:
		return v.Format("2006-01-02T15:04:05.999999"), nil
	case string:
		return tomlText(v), nil
	case value.Bytes:
		return tomlText(string(v)), nil
	case value.Tuple:
		return tomlValue(value.NewList(v...), depth)
	case *value.List:
		var b strings.Builder
		b.WriteByte('[')
		for _, it := range v.Items {
			if it == nil {
				continue
			}
			s, err := tomlValue(it, depth+1)
			if err != nil {
				return "", err
			}
			b.WriteString(" " + s + ",")
		}
		b.WriteByte(']')
		return b.String(), nil
	case *value.Map:
		var parts []string
		for k, x := range v.All() {
			s, err := tomlValue(x, depth+1)
			if err != nil {
				return "", err
			}
			parts = append(parts, tomlKey(k)+" = "+s)
		}
		return "{ " + strings.Join(parts, ", ") + " }", nil
	}
	return "", value.Raise("TypeError", "Object of type %s cannot be written as TOML", value.TypeName(v))
}

func tomlText(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\b':
			b.WriteString(`\b`)
		case r == '\f':
			b.WriteString(`\f`)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
