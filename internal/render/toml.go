package render

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"brine/internal/source"
	"brine/internal/value"
)

// tomlStage reads a TOML document.
func (e *Engine) tomlStage(_ context.Context, in *Input, _ stage, d *datum) (*datum, error) {
	m, err := ParseTOML([]byte(dropShebang(d.text)))
	if err != nil {
		pos := source.Pos{File: in.name(), Line: 1}
		if de, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, col := de.Position()
			p := d.pos(line)
			pos = source.Pos{File: p.File, Line: p.Line, Col: col}
		}
		return nil, &source.Error{Pos: pos, Err: &PlainError{"TomlDecodeError", err.Error()}}
	}
	return &datum{data: m}, nil
}

// ParseTOML reads a TOML document to a dict whose keys are in the order of the
// text.
func ParseTOML(text []byte) (*value.Map, error) {
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
