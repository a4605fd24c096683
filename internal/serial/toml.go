package serial

import (
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"brine/internal/value"
)

// ReadTOML reads a TOML document to a dict whose keys are in the order of the
// text.
func ReadTOML(text []byte) (*value.Map, error) {
	var data map[string]any
	if err := toml.Unmarshal(text, &data); err != nil {
		return nil, err
	}
	order, err := keyOrder(text)
	if err != nil {
		return nil, err
	}
	return tomlMap(data, "", order), nil
}

// keyOrder returns, for each table by its path, its keys in the order of the
// text; those of the tables of an array are counted together.
func keyOrder(text []byte) (map[string][]string, error) {
	order := map[string][]string{}
	seen := map[[2]string]bool{}
	add := func(table, key string) string {
		if k := [2]string{table, key}; !seen[k] {
			seen[k] = true
			order[table] = append(order[table], key)
		}
		return table + "\x00" + key
	}
	var walk func(table string, n *unstable.Node)
	walk = func(table string, n *unstable.Node) {
		switch n.Kind {
		case unstable.KeyValue:
			at := table
			for it := n.Key(); it.Next(); {
				at = add(at, string(it.Node().Data))
			}
			walk(at, n.Value())
		case unstable.InlineTable, unstable.Array:
			for it := n.Children(); it.Next(); {
				walk(table, it.Node())
			}
		default: // has no keys
		}
	}
	var p unstable.Parser
	p.Reset(text)
	table := ""
	for p.NextExpression() {
		n := p.Expression()
		switch n.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = ""
			for it := n.Key(); it.Next(); {
				table = add(table, string(it.Node().Data))
			}
		default:
			walk(table, n)
		}
	}
	return order, p.Error()
}

func tomlMap(data map[string]any, table string, order map[string][]string) *value.Map {
	m := value.NewMap(len(data))
	for _, k := range order[table] {
		if v, ok := data[k]; ok {
			m.Set(k, tomlValue(v, table+"\x00"+k, order))
		}
	}
	return m
}

func tomlValue(v any, table string, order map[string][]string) value.Value {
	switch v := v.(type) {
	case map[string]any:
		return tomlMap(v, table, order)
	case []any:
		l := value.NewList()
		for _, x := range v {
			l.Append(tomlValue(x, table, order))
		}
		return l
	case time.Time:
		return v
	case toml.LocalDate, toml.LocalDateTime, toml.LocalTime:
		return fmt.Sprint(v)
	}
	return value.From(v)
}

// writeTOML writes TOML in the style of Python's toml library: values first,
// then tables.
func writeTOML(v value.Value, _ *value.Map) (value.Value, error) {
	m, ok := v.(*value.Map)
	if !ok {
		return nil, value.Raise("TypeError", "TOML can only hold a dictionary at the top, not %s", value.TypeName(v))
	}
	t := &tomlWriter{}
	if err := t.table("", m, 0); err != nil {
		return nil, err
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
		s, err := tomlLiteral(v, depth)
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

func tomlLiteral(v value.Value, depth int) (string, error) {
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
		return tomlLiteral(value.NewList(v...), depth)
	case *value.List:
		var b strings.Builder
		b.WriteByte('[')
		for _, it := range v.Items {
			if it == nil {
				continue
			}
			s, err := tomlLiteral(it, depth+1)
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
			s, err := tomlLiteral(x, depth+1)
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
