package pyformat

import (
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"brine/internal/py/value"
)

// Pformat returns v as Python's pprint.pformat prints it: dicts sorted by key,
// lines broken so that they fit width columns (Python's default is 80) where
// they can. Source: Python 3.11 pprint.PrettyPrinter.
func Pformat(v value.Value, width int) string {
	p := prettyPrinter{width: width}
	sorter := dictSorter{}
	p.format(sorter.value(v), 0, 0, 1)
	return p.b.String()
}

type prettyPrinter struct {
	b     strings.Builder
	width int
}

// format writes v at column indent, leaving allowance columns for what stands
// behind it on its last line.
func (p *prettyPrinter) format(v value.Value, indent, allowance, level int) {
	rep := value.Repr(v)
	if utf8.RuneCountInString(rep) <= p.width-indent-allowance || level > value.MaxDepth {
		p.b.WriteString(rep)
		return
	}
	switch v := v.(type) {
	case *value.Map:
		if v.Ordered {
			pairs := value.NewList()
			for k, x := range v.All() {
				pairs.Append(value.Tuple{k, x})
			}
			p.b.WriteString("OrderedDict(")
			p.format(pairs, indent+len("OrderedDict("), allowance+1, level+1)
			p.b.WriteByte(')')
			return
		}
		p.dict(v, indent, allowance+1, level)
	case *value.List:
		p.items("[", "]", v.Items, indent, allowance, level)
	case value.Tuple:
		end := ")"
		if len(v) == 1 {
			end = ",)"
		}
		p.items("(", end, v, indent, allowance, level)
	case *value.Set:
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

func (p *prettyPrinter) dict(m *value.Map, indent, allowance, level int) {
	indent++
	p.b.WriteByte('{')
	keys := m.Keys()
	for i, k := range keys {
		if i > 0 {
			p.b.WriteByte(',')
			p.newline(indent)
		}
		rep := value.Repr(k)
		p.b.WriteString(rep + ": ")
		after := 1
		if i == len(keys)-1 {
			after = allowance
		}
		p.format(m.At(k), indent+utf8.RuneCountInString(rep)+2, after, level+1)
	}
	p.b.WriteByte('}')
}

func (p *prettyPrinter) items(start, end string, items []value.Value, indent, allowance, level int) {
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

// str splits text at line ends and blanks into literals, one per line.
func (p *prettyPrinter) str(s string, indent, allowance, level int) {
	if s == "" {
		p.b.WriteString(value.Repr(s))
		return
	}
	if level == 1 {
		indent++
		allowance++
	}
	var chunks []string
	lines := value.SplitLines(s, true)
	length := func(s string) int { return utf8.RuneCountInString(value.Repr(s)) }
	for i, line := range lines {
		last := i == len(lines)-1
		room := p.width - indent
		if last && length(line) <= room-allowance || !last && length(line) <= room {
			chunks = append(chunks, value.Repr(line))
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
				chunks = append(chunks, value.Repr(cur))
			}
			cur = part
		}
		if cur != "" {
			chunks = append(chunks, value.Repr(cur))
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
		sp := value.IsSpace(r)
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

// safeSort sorts keys, or the items of a set, as pprint does: by < where two
// compare, else by the name of their type.
func safeSort(items []value.Value) []value.Value {
	sort.SliceStable(items, func(i, j int) bool {
		less, err := value.Compare("<", items[i], items[j])
		if err != nil {
			return value.TypeName(items[i]) < value.TypeName(items[j])
		}
		return less
	})
	return items
}

// recursion stands for a container within itself.
type recursion string

// Repr prints as pprint, with an id that means nothing.
func (r recursion) Repr() string { return "<Recursion on " + string(r) + " with id=139637976727552>" }

// dictSorter copies data with plain dicts and sets in pprint's order.
type dictSorter struct {
	open  []any // the containers that the walk is in
	depth int   // those and tuples
}

func (d *dictSorter) value(v value.Value) value.Value {
	switch v.(type) {
	case *value.Map, *value.List:
		if slices.Contains(d.open, v) {
			return recursion(value.TypeName(v))
		}
		d.open = append(d.open, v)
		defer func() { d.open = d.open[:len(d.open)-1] }()
	}
	if d.depth > value.MaxDepth {
		return v
	}
	d.depth++
	defer func() { d.depth-- }()
	switch v := v.(type) {
	case value.Mapping:
		out := value.NewMap(v.Len())
		keys := v.Keys()
		if m, ok := v.(*value.Map); ok && m.Ordered {
			out.Ordered = true
		} else {
			keys = safeSort(keys)
		}
		for _, k := range keys {
			x, _ := v.Get(k)
			out.Set(k, d.value(x))
		}
		return out
	case *value.List:
		return &value.List{Items: d.items(v.Items)}
	case value.Tuple:
		return value.Tuple(d.items(v))
	case *value.Set:
		return value.NewSet(safeSort(v.Items())...)
	}
	return v
}

func (d *dictSorter) items(in []value.Value) []value.Value {
	out := make([]value.Value, len(in))
	for i, x := range in {
		out[i] = d.value(x)
	}
	return out
}
