package yamlsalt

import (
	"encoding/base64"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/internal/py/value"
)

// A Flow says which containers are written in flow style ([a, b], {a: b}).
type Flow int

// Flow styles: PyYAML's default_flow_style.
const (
	FlowAuto   Flow = iota // None: containers that hold only plain scalars
	FlowNever              // False
	FlowAlways             // True
)

// DumpOptions say how [Dump] writes. [SafeOptions] are those of Salt.
type DumpOptions struct {
	FlowStyle Flow
	// Indent is the number of blanks a level, 2 to 9; else 2.
	Indent int
	// Width is where lines are folded; 0 is 80, less than 0 is nowhere.
	Width int
	// SortKeys writes dicts in the order of their keys; an OrderedDict, and a
	// dict whose keys have no order, stays as it is.
	SortKeys bool
	// AllowUnicode writes letters beyond ASCII as they are.
	AllowUnicode bool
	// ExplicitStart and ExplicitEnd write "---" and "...".
	ExplicitStart, ExplicitEnd bool
	// IgnoreAliases writes an object that occurs again in full again, instead
	// of an alias (*id001).
	IgnoreAliases bool
	// DefaultStyle is the style of scalars: "'", `"`, "|", ">", or "".
	DefaultStyle string
	// Canonical writes the canonical form: all quoted, all tagged.
	Canonical bool
	// LineBreak is "\n" where it is "".
	LineBreak string
	// SortOrdered sorts an OrderedDict too, where SortKeys is set.
	SortOrdered bool
	// Subclasses writes text of a type of its own (markup-safe text) as text,
	// and makes what has no YAML an error. Otherwise both are NULL.
	Subclasses bool
	// Full writes what Python's full Dumper does (Salt's OrderedDumper, of the
	// yaml outputter): tuples tagged, not as lists, and text of a type of its
	// own as text.
	Full bool
}

// SafeOptions returns the options of Salt's salt.utils.yaml.safe_dump and of
// the |yaml filter.
func SafeOptions() DumpOptions { return DumpOptions{SortKeys: true, AllowUnicode: true} }

// Dump returns v as YAML, byte for byte as PyYAML's CSafeDumper with Salt's
// representers writes it.
//
// Objects that Python has no YAML for (an undefined variable, say) are NULL, or
// a *[value.PyError] where o.Subclasses says so.
// A list or dict that occurs twice is written once, with an anchor. Stray bytes
// in text become U+FFFD. A value that is nested too deep, or that has more than
// some million parts, is a *[value.PyError].
// Salt: salt/utils/yamldumper.py.
func Dump(v value.Value, o DumpOptions) (string, error) {
	r := representer{o: o, known: map[any]*rnode{}}
	root, err := r.value(v, 0)
	if err != nil {
		return "", err
	}
	r.anchors(root)
	e := newEmitter(o)
	e.document(root)
	return string(e.buf), nil
}

// SerializerOptions returns the defaults of Salt's YAML serializer, which
// file.serialize and slsutil.serialize use.
func SerializerOptions() DumpOptions {
	return DumpOptions{SortKeys: true, SortOrdered: true, Subclasses: true}
}

// Serialize returns v as Salt's YAML serializer writes it: as [Dump], without
// the end of the document and the last line break.
// Salt: salt/serializers/yaml.py serialize.
func Serialize(v value.Value, o DumpOptions) (string, error) {
	s, err := Dump(v, o)
	if t, ok := strings.CutSuffix(s, "\n...\n"); ok {
		return t, err
	}
	return strings.TrimSuffix(s, "\n"), err
}

// An rnode is a part of a document to be written.
type rnode struct {
	kind   nodeKind
	tag    string
	text   string
	style  byte // of a scalar: 0 is plain
	flow   bool
	items  []*rnode
	seen   int    // how often it occurs: 2 is more than once
	anchor string // of one that occurs more than once
	began  bool   // it was written, so an alias is next
}

type representer struct {
	o     DumpOptions
	known map[any]*rnode // containers by identity
	count int
}

func (r *representer) scalar(tag, text string) *rnode {
	n := &rnode{kind: scalarNode, tag: tag, text: text}
	if r.o.DefaultStyle != "" {
		n.style = r.o.DefaultStyle[0]
	}
	return n
}

func (r *representer) value(v value.Value, depth int) (*rnode, error) {
	if r.count++; r.count > maxNodes {
		return nil, value.Raise("MemoryError", "more than %d values to write", maxNodes)
	}
	if depth > maxDepth {
		return nil, value.Raise("RecursionError", "maximum recursion depth exceeded")
	}
	switch v := v.(type) {
	case nil:
		return r.scalar(tagNull, "null"), nil
	case bool:
		return r.scalar(tagBool, strconv.FormatBool(v)), nil
	case int64:
		return r.scalar(tagInt, strconv.FormatInt(v, 10)), nil
	case *big.Int:
		return r.scalar(tagInt, v.String()), nil
	case float64:
		return r.scalar(tagFloat, floatText(v)), nil
	case string:
		return r.scalar(tagStr, strings.ToValidUTF8(v, "\ufffd")), nil
	case value.Bytes:
		n := &rnode{kind: scalarNode, tag: tagBinary, text: encodeLines(string(v)), style: '|'}
		return n, nil
	case time.Time:
		return r.scalar(tagTimestamp, value.Str(v)), nil
	case value.Tuple:
		n := &rnode{kind: sequenceNode, tag: tagSeq}
		if r.o.Full {
			n.tag = tagPyTuple
		}
		return n, r.sequence(n, v, depth)
	case *value.List:
		n, done := r.container(sequenceNode, tagSeq, v)
		if done || v == nil {
			return n, nil
		}
		return n, r.sequence(n, v.Items, depth)
	case *value.Set:
		n, done := r.container(mappingNode, tagSet, v)
		if done || v == nil {
			return n, nil
		}
		keys := v.Items()
		if r.o.SortKeys {
			keys = sorted(keys)
		}
		return n, r.mapping(n, keys, func(value.Value) value.Value { return nil }, depth)
	case value.Mapping:
		n, done := r.container(mappingNode, tagMap, v)
		m, isMap := v.(*value.Map)
		if done || isMap && m == nil {
			return n, nil
		}
		keys := v.Keys()
		if r.o.SortKeys && (r.o.SortOrdered || !isMap || !m.Ordered) {
			keys = sorted(keys)
		}
		return n, r.mapping(n, keys, func(k value.Value) value.Value { x, _ := v.Get(k); return x }, depth)
	}
	if r.o.Subclasses || r.o.Full {
		if rv := reflect.ValueOf(v); rv.Kind() == reflect.String {
			return r.scalar(tagStr, strings.ToValidUTF8(rv.String(), "\ufffd")), nil
		}
	}
	if r.o.Subclasses {
		return nil, value.Raise("RepresenterError", "('cannot represent an object', %s)", value.Repr(v))
	}
	return r.scalar(tagNull, "NULL"), nil
}

// container returns the node of a container, and whether it was there.
func (r *representer) container(kind nodeKind, tag string, v any) (*rnode, bool) {
	if r.o.IgnoreAliases || !reflect.TypeOf(v).Comparable() {
		return &rnode{kind: kind, tag: tag}, false
	}
	if n := r.known[v]; n != nil {
		return n, true
	}
	n := &rnode{kind: kind, tag: tag}
	r.known[v] = n
	return n, false
}

func (r *representer) sequence(n *rnode, items []value.Value, depth int) error {
	plain := true
	n.items = make([]*rnode, len(items))
	for i, x := range items {
		c, err := r.value(x, depth+1)
		if err != nil {
			return err
		}
		plain = plain && c.kind == scalarNode && c.style == 0
		n.items[i] = c
	}
	n.flow = r.o.FlowStyle == FlowAlways || r.o.FlowStyle == FlowAuto && plain
	return nil
}

func (r *representer) mapping(n *rnode, keys []value.Value, get func(value.Value) value.Value, depth int) error {
	plain := true
	n.items = make([]*rnode, 0, 2*len(keys))
	for _, k := range keys {
		for _, x := range [2]value.Value{k, get(k)} {
			c, err := r.value(x, depth+1)
			if err != nil {
				return err
			}
			plain = plain && c.kind == scalarNode && c.style == 0
			n.items = append(n.items, c)
		}
	}
	n.flow = r.o.FlowStyle == FlowAlways || r.o.FlowStyle == FlowAuto && plain
	return nil
}

// anchors names the nodes that occur more than once, in the order in which they
// do so.
func (r *representer) anchors(root *rnode) {
	next := 0
	var walk func(n *rnode)
	walk = func(n *rnode) {
		if n.seen > 0 {
			if n.seen == 1 {
				n.seen = 2
				next++
				digits := strconv.Itoa(next)
				n.anchor = "id" + strings.Repeat("0", max(0, 3-len(digits))) + digits
			}
			return
		}
		n.seen = 1
		for _, x := range n.items {
			walk(x)
		}
	}
	walk(root)
}

// floatText is PyYAML's text of a float.
func floatText(f float64) string {
	switch {
	case math.IsNaN(f):
		return ".nan"
	case math.IsInf(f, 1):
		return ".inf"
	case math.IsInf(f, -1):
		return "-.inf"
	}
	s := value.FloatRepr(f)
	if !strings.Contains(s, ".") {
		// 1e+16 without a point would be read as text.
		s = strings.Replace(s, "e", ".0e", 1)
	}
	return s
}

// encodeLines is Python's base64.encodebytes: lines of 76 characters.
func encodeLines(s string) string {
	text := base64.StdEncoding.EncodeToString([]byte(s))
	var b strings.Builder
	for len(text) > 76 {
		b.WriteString(text[:76])
		b.WriteByte('\n')
		text = text[76:]
	}
	if text != "" {
		b.WriteString(text)
		b.WriteByte('\n')
	}
	return b.String()
}

// sorted returns keys as Python's sorted, or as they are where some have no
// order between them.
func sorted(keys []value.Value) []value.Value {
	out := slices.Clone(keys)
	ok := true
	slices.SortStableFunc(out, func(a, b value.Value) int {
		c, comparable := compareKeys(a, b)
		ok = ok && comparable
		return c
	})
	if !ok {
		return keys
	}
	return out
}

func compareKeys(a, b value.Value) (c int, ok bool) {
	switch x := a.(type) {
	case string:
		if y, ok := b.(string); ok {
			return strings.Compare(x, y), true
		}
	case value.Bytes:
		if y, ok := b.(value.Bytes); ok {
			return strings.Compare(string(x), string(y)), true
		}
	case time.Time:
		if y, ok := b.(time.Time); ok {
			return x.Compare(y), true
		}
	case value.Tuple:
		if y, ok := b.(value.Tuple); ok {
			for i := range min(len(x), len(y)) {
				if !value.Equal(x[i], y[i]) {
					return compareKeys(x[i], y[i])
				}
			}
			return len(x) - len(y), true
		}
	case bool, int64, *big.Int, float64:
		switch b.(type) {
		case bool, int64, *big.Int, float64:
			return compareNumbers(a, b), true
		}
	}
	return 0, false
}

func compareNumbers(a, b value.Value) int {
	x, xok := number(a)
	y, yok := number(b)
	if !xok || !yok { // NaN is neither less nor greater
		return 0
	}
	return x.Cmp(y)
}

func number(v value.Value) (*big.Float, bool) {
	if f, ok := v.(float64); ok {
		if math.IsNaN(f) {
			return nil, false
		}
		return big.NewFloat(f), true
	}
	i, _ := value.AsBig(v)
	return new(big.Float).SetPrec(uint(max(64, i.BitLen()))).SetInt(i), true
}
