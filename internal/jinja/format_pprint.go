package jinja

import (
	"strings"

	"brine/internal/value"
)

// pformat is Python's pprint.pformat: 80 columns, dicts sorted by key.
func pformat(v value.Value) string {
	p := pprinter{}
	p.format(sorted(v, 0), 0, 0, 0)
	return p.b.String()
}

// sorted returns v with plain dicts and sets sorted, as pprint shows them. It
// leaves what is nested deeper than it looks as it is.
func sorted(v value.Value, depth int) value.Value {
	if depth > 100 {
		return v
	}
	each := func(in []value.Value) []value.Value {
		out := make([]value.Value, len(in))
		for i, x := range in {
			out[i] = sorted(x, depth+1)
		}
		return out
	}
	switch x := v.(type) {
	case *value.List:
		return &value.List{Items: each(x.Items)}
	case value.Tuple:
		return value.Tuple(each(x))
	case *value.Set:
		return value.NewSet(sortSafe(x.Items())...)
	case value.Mapping:
		if m, ok := x.(*value.Map); ok && m.Ordered {
			return x
		}
		m := value.NewMap(x.Len())
		for _, k := range sortSafe(x.Keys()) {
			e, _ := x.Get(k)
			m.Set(k, sorted(e, depth+1))
		}
		return m
	}
	return v
}

// sortSafe sorts, things without an order among them by the name of their type.
func sortSafe(items []value.Value) []value.Value {
	out := append([]value.Value(nil), items...)
	if value.SortValues(out, nil, false) == nil {
		return out
	}
	out = append(out[:0], items...)
	_ = value.SortValues(out, func(v value.Value) (value.Value, error) { return "<class '" + value.TypeName(v) + "'>", nil }, false)
	return out
}

const pprintWidth = 80

type pprinter struct {
	b strings.Builder
}

// format writes v where indent columns are taken, leaving room for allowance
// characters after it.
func (p *pprinter) format(v value.Value, indent, allowance, level int) {
	rep := value.Repr(v)
	if value.TextLen(rep) <= pprintWidth-indent-allowance || level > 100 {
		p.b.WriteString(rep)
		return
	}
	level++
	switch x := v.(type) {
	case string:
		p.text(x, indent, allowance, level)
	case *value.List:
		p.b.WriteByte('[')
		p.items(x.Items, indent+1, allowance+1, level)
		p.b.WriteByte(']')
	case value.Tuple:
		end := ")"
		if len(x) == 1 {
			end = ",)"
		}
		p.b.WriteByte('(')
		p.items(x, indent+1, allowance+len(end), level)
		p.b.WriteString(end)
	case *value.Set:
		p.b.WriteByte('{')
		p.items(x.Items(), indent+1, allowance+1, level)
		p.b.WriteByte('}')
	case *value.Map:
		if x.Ordered {
			p.ordered(x, indent, allowance, level)
			return
		}
		p.b.WriteByte('{')
		for i := range x.Len() {
			k, e := x.Entry(i)
			if i > 0 {
				p.b.WriteString(",\n" + strings.Repeat(" ", indent+1))
			}
			key := value.Repr(k)
			p.b.WriteString(key + ": ")
			room := 1
			if i == x.Len()-1 {
				room = allowance + 1
			}
			p.format(e, indent+1+value.TextLen(key)+2, room, level)
		}
		p.b.WriteByte('}')
	default:
		p.b.WriteString(rep)
	}
}

func (p *pprinter) ordered(m *value.Map, indent, allowance, level int) {
	const name = "OrderedDict("
	pairs := &value.List{}
	for k, v := range m.All() {
		pairs.Append(value.Tuple{k, v})
	}
	p.b.WriteString(name)
	p.format(pairs, indent+len(name), allowance+1, level)
	p.b.WriteByte(')')
}

func (p *pprinter) items(items []value.Value, indent, allowance, level int) {
	for i, x := range items {
		if i > 0 {
			p.b.WriteString(",\n" + strings.Repeat(" ", indent))
		}
		room := 1
		if i == len(items)-1 {
			room = allowance
		}
		p.format(x, indent, room, level)
	}
}

// text writes a str that is too long for one line as several literals.
func (p *pprinter) text(s string, indent, allowance, level int) {
	if level == 1 {
		indent++
		allowance++
	}
	var chunks []string
	width := pprintWidth - indent
	lines := splitLines(s, true)
	for i, line := range lines {
		last := i == len(lines)-1
		rep, room := value.QuoteStr(line), width
		if last {
			room -= allowance
		}
		if value.TextLen(rep) <= room {
			chunks = append(chunks, rep)
			continue
		}
		words := wordsWithBlanks(line)
		current := ""
		room = width
		for j, w := range words {
			if last && j == len(words)-1 {
				room -= allowance
			}
			if value.TextLen(value.QuoteStr(current+w)) > room {
				if current != "" {
					chunks = append(chunks, value.QuoteStr(current))
				}
				current = w
			} else {
				current += w
			}
		}
		if current != "" {
			chunks = append(chunks, value.QuoteStr(current))
		}
	}
	out := strings.Join(chunks, "\n"+strings.Repeat(" ", indent))
	if len(chunks) > 1 && level == 1 {
		out = "(" + out + ")"
	}
	p.b.WriteString(out)
}

// wordsWithBlanks cuts after each run of blanks.
func wordsWithBlanks(s string) []string {
	var out []string
	start, blank := 0, false
	for i, r := range s {
		is := value.IsSpace(r)
		if blank && !is {
			out = append(out, s[start:i])
			start = i
		}
		blank = is
	}
	return append(out, s[start:])
}
