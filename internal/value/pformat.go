package value

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// Pformat returns v as Python's pprint.pformat prints it: dicts sorted by key,
// lines broken so that they fit width columns (Python's default is 80) where
// they can. Source: Python 3.11 pprint.PrettyPrinter.
func Pformat(v Value, width int) string {
	p := prettyPrinter{width: width}
	p.format(v, 0, 0, 1)
	return p.b.String()
}

type prettyPrinter struct {
	b     strings.Builder
	width int
}

// format writes v at column indent, leaving allowance columns for what stands
// behind it on its last line.
func (p *prettyPrinter) format(v Value, indent, allowance, level int) {
	rep := Repr(sortDicts(v, 0))
	if utf8.RuneCountInString(rep) <= p.width-indent-allowance || level > maxDepth {
		p.b.WriteString(rep)
		return
	}
	switch v := v.(type) {
	case *Map:
		if v.Ordered {
			pairs := NewList()
			for k, x := range v.All() {
				pairs.Append(Tuple{k, x})
			}
			p.b.WriteString("OrderedDict(")
			p.format(pairs, indent+len("OrderedDict("), allowance+1, level+1)
			p.b.WriteByte(')')
			return
		}
		p.dict(v, indent, allowance+1, level)
	case *List:
		p.items("[", "]", v.Items, indent, allowance, level)
	case Tuple:
		end := ")"
		if len(v) == 1 {
			end = ",)"
		}
		p.items("(", end, v, indent, allowance, level)
	case *Set:
		p.items("{", "}", v.Items(), indent, allowance, level)
	case string:
		p.str(v, indent, allowance, level)
	default:
		p.b.WriteString(rep)
	}
}

func (p *prettyPrinter) newline(indent int) {
	p.b.WriteByte('\n')
	for range indent {
		p.b.WriteByte(' ')
	}
}

func (p *prettyPrinter) dict(m *Map, indent, allowance, level int) {
	indent++
	p.b.WriteByte('{')
	keys := pprintKeys(m)
	for i, k := range keys {
		if i > 0 {
			p.b.WriteByte(',')
			p.newline(indent)
		}
		rep := Repr(k)
		p.b.WriteString(rep + ": ")
		after := 1
		if i == len(keys)-1 {
			after = allowance
		}
		p.format(m.At(k), indent+utf8.RuneCountInString(rep)+2, after, level+1)
	}
	p.b.WriteByte('}')
}

func (p *prettyPrinter) items(start, end string, items []Value, indent, allowance, level int) {
	indent++
	p.b.WriteString(start)
	for i, x := range items {
		if i > 0 {
			p.b.WriteByte(',')
			p.newline(indent)
		}
		after := 1
		if i == len(items)-1 {
			after = allowance + len(end)
		}
		p.format(x, indent, after, level+1)
	}
	p.b.WriteString(end)
}

// str breaks text at line ends and blanks into literals that stand below one
// another.
func (p *prettyPrinter) str(s string, indent, allowance, level int) {
	if level == 1 {
		indent++
		allowance++
	}
	var chunks []string
	lines := strings.SplitAfter(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	length := func(s string) int { return utf8.RuneCountInString(Repr(s)) }
	for i, line := range lines {
		last := i == len(lines)-1
		room := p.width - indent
		if last && length(line) <= room-allowance || !last && length(line) <= room {
			chunks = append(chunks, Repr(line))
			continue
		}
		cur := ""
		parts := wordsWithBlanks(line)
		for j, part := range parts {
			if last && j == len(parts)-1 {
				room -= allowance
			}
			if length(cur+part) <= room {
				cur += part
				continue
			}
			if cur != "" {
				chunks = append(chunks, Repr(cur))
			}
			cur = part
		}
		if cur != "" {
			chunks = append(chunks, Repr(cur))
		}
	}
	paren := level == 1 && len(chunks) > 1
	if paren {
		p.b.WriteByte('(')
	}
	for i, c := range chunks {
		if i > 0 {
			p.newline(indent)
		}
		p.b.WriteString(c)
	}
	if paren {
		p.b.WriteByte(')')
	}
}

// wordsWithBlanks splits s into words that keep the blanks behind them.
func wordsWithBlanks(s string) []string {
	var parts []string
	start, blank := 0, false
	for i, r := range s {
		sp := r == ' ' || r == '\t' || r == '\n' || r == '\r' || r == '\v' || r == '\f'
		if blank && !sp {
			parts = append(parts, s[start:i])
			start = i
		}
		blank = sp
	}
	if start < len(s) {
		parts = append(parts, s[start:])
	}
	return parts
}

// pprintKeys returns a dict's keys as pprint sorts them: by value where they
// compare, else by type name.
func pprintKeys(m *Map) []Value {
	keys := m.Keys()
	sort.SliceStable(keys, func(i, j int) bool {
		a, b := keys[i], keys[j]
		if isNumber(a) && isNumber(b) {
			c, _ := compareNumbers(a, b)
			return c < 0
		}
		if x, ok := a.(string); ok {
			if y, ok := b.(string); ok {
				return x < y
			}
		}
		return TypeName(a) < TypeName(b)
	})
	return keys
}

// sortDicts returns v with plain dicts in pprint's order.
func sortDicts(v Value, depth int) Value {
	if depth > maxDepth {
		return v
	}
	switch v := v.(type) {
	case *Map:
		out := NewMap(v.Len())
		out.Ordered = v.Ordered
		keys := v.Keys()
		if !v.Ordered {
			keys = pprintKeys(v)
		}
		for _, k := range keys {
			out.Set(k, sortDicts(v.At(k), depth+1))
		}
		return out
	case *List:
		out := &List{Items: make([]Value, len(v.Items))}
		for i, x := range v.Items {
			out.Items[i] = sortDicts(x, depth+1)
		}
		return out
	case Tuple:
		out := make(Tuple, len(v))
		for i, x := range v {
			out[i] = sortDicts(x, depth+1)
		}
		return out
	}
	return v
}
