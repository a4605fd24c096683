package serial

import (
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"brine/internal/py/value"
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

// writeTOML writes TOML as Python's toml library lays it out: the values, the
// lists of tables, and then the tables, those within tables last.
func writeTOML(v value.Value, _ *value.Map) (value.Value, error) {
	m, ok := v.(*value.Map)
	if !ok {
		return nil, value.Raise("TypeError", "TOML can only hold a dictionary at the top, not %s", value.TypeName(v))
	}
	var b strings.Builder
	text, tables, err := tomlTable("", m, 0)
	b.WriteString(text)
	for depth := 1; err == nil && len(tables) > 0; depth++ {
		var inner []tomlSection
		for _, t := range tables {
			var within []tomlSection
			if text, within, err = tomlTable(t.path, t.m, depth); err != nil {
				return nil, err
			}
			if text != "" || len(within) == 0 {
				if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n\n") {
					b.WriteByte('\n')
				}
				b.WriteString("[" + t.path + "]\n" + text)
			}
			inner = append(inner, within...)
		}
		tables = inner
	}
	if err != nil {
		return nil, err
	}
	return b.String(), nil
}

// A tomlSection is a table that is written after what it is in.
type tomlSection struct {
	path string
	m    *value.Map
}

const tomlDepth = 200

// tomlTable writes what is in a table, but for the tables in it.
func tomlTable(path string, m *value.Map, depth int) (text string, tables []tomlSection, err error) {
	if depth > tomlDepth {
		return "", nil, value.Raise("ValueError", "data are nested too deep for TOML")
	}
	var values, lists strings.Builder
	for k, v := range m.All() {
		key := tomlKey(k)
		full := key
		if path != "" {
			full = path + "." + key
		}
		switch sub, isMap := v.(*value.Map); {
		case v == nil:
		case isMap:
			tables = append(tables, tomlSection{full, sub})
		case isTables(v):
			for _, it := range v.(*value.List).Items {
				s, err := tomlItem(full, it.(*value.Map), depth+1)
				if err != nil {
					return "", nil, err
				}
				lists.WriteString(s)
			}
		default:
			s, err := tomlLiteral(v, depth)
			if err != nil {
				return "", nil, err
			}
			values.WriteString(key + " = " + s + "\n")
		}
	}
	return values.String() + lists.String(), tables, nil
}

// tomlItem writes a table that is in a list, with the tables in it.
func tomlItem(path string, m *value.Map, depth int) (string, error) {
	text, tables, err := tomlTable(path, m, depth)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("[[" + path + "]]\n")
	if strings.HasPrefix(text, "[") {
		b.WriteString("\n" + text)
	} else {
		b.WriteString(text + "\n")
	}
	for ; len(tables) > 0; depth++ {
		var inner []tomlSection
		for _, t := range tables {
			text, within, err := tomlTable(t.path, t.m, depth+1)
			if err != nil {
				return "", err
			}
			if text != "" {
				b.WriteString("[" + t.path + "]\n" + text)
			}
			inner = append(inner, within...)
		}
		tables = inner
	}
	return b.String(), nil
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
				it = "None" // as Python's toml has it
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
