// Package value is brine's data model: Python-shaped data that keeps order.
//
// Pillar, grains, high data, returns and template variables are made of it.
// A [Value] is one of
//
//	nil                None
//	bool               bool
//	int64, *big.Int    int (a *big.Int only where int64 is too small: see [NormInt])
//	float64            float
//	string             str
//	Bytes              bytes
//	time.Time          datetime
//	*List              list
//	Tuple              tuple
//	*Set               set (templates only)
//	*Map               dict, or OrderedDict where Ordered is set
//
// or a type of another package that implements the interfaces of this one
// ([Mapping], [Reprer], [Truther], [Equaler], [Lener]). Go maps and slices are
// never values. [From] makes a value of plain Go data.
package value

import (
	"fmt"
	"math/big"
	"reflect"
	"sort"
	"strings"
	"time"

	"brine/internal/py/source"
)

// A Value is a datum: see the package comment for the types.
type Value = any

// Bytes is Python's bytes. It is a string so that it can be a key.
type Bytes string

// A List is Python's list: mutable, with an identity.
type List struct {
	Items []Value
	src   *positions
}

// A Tuple is Python's tuple.
type Tuple []Value

// Interfaces by which types of other packages take part in Python semantics.
type (
	// A Reprer prints itself as Python's repr.
	Reprer interface{ Repr() string }

	// A PartsReprer prints itself with values that it holds. Those are printed
	// by the function that it is given, which knows the containers that are
	// being printed: a container within itself ends there.
	PartsReprer interface {
		ReprParts(repr func(Value) string) string
	}
	// A Stringer prints itself as Python's str where that differs from repr.
	Stringer interface{ PyStr() string }
	// A Truther has a truth of its own.
	Truther interface{ Truth() bool }
	// An Equaler compares itself as Python's ==.
	Equaler interface{ EqualValue(Value) bool }
	// A Lener has a length.
	Lener interface{ Len() int }
	// A TypeNamer names its Python type.
	TypeNamer interface{ TypeName() string }
)

// Mapping is what behaves as a dict: a *Map, or a lazy one such as grains.
type Mapping interface {
	Lener
	// Get returns the value at key, and whether the key is there.
	Get(key Value) (Value, bool)
	// Keys returns the keys in order.
	Keys() []Value
}

// NewList returns a list of items.
func NewList(items ...Value) *List { return &List{Items: items} }

// Strings returns a list of strings.
func Strings(ss ...string) *List {
	l := &List{Items: make([]Value, len(ss))}
	for i, s := range ss {
		l.Items[i] = s
	}
	return l
}

// Append adds items at the end.
func (l *List) Append(items ...Value) { l.Items = append(l.Items, items...) }

// Strs returns each item as text, as Python's str() writes it. A nil list has none.
func (l *List) Strs() []string {
	if l == nil {
		return nil
	}
	ss := make([]string, len(l.Items))
	for i, v := range l.Items {
		ss[i] = Str(v)
	}
	return ss
}

// Copy returns a shallow copy with room for extra more items; places are kept.
func (l *List) Copy(extra int) *List {
	if l == nil {
		return &List{}
	}
	c := &List{Items: make([]Value, len(l.Items), len(l.Items)+extra)}
	copy(c.Items, l.Items)
	if l.src != nil {
		c.src = &positions{file: l.src.file, lc: make([]lineCol, len(l.src.lc), len(l.src.lc)+extra)}
		copy(c.src.lc, l.src.lc)
	}
	return c
}

// Elems returns the items of a list, none of nil.
func (l *List) Elems() []Value {
	if l == nil {
		return nil
	}
	return l.Items
}

// Len returns the number of items; a nil list has none.
func (l *List) Len() int {
	if l == nil {
		return 0
	}
	return len(l.Items)
}

// PosAt returns the place of item i, if it is known.
func (l *List) PosAt(i int) source.Pos {
	if l == nil || l.src == nil {
		return source.Pos{}
	}
	return l.src.at(i)
}

// SetPosAt notes the place of item i.
func (l *List) SetPosAt(i int, p source.Pos) {
	if l.src == nil {
		l.src = newPositions(p.File, cap(l.Items))
	}
	l.src = l.src.set(i, p)
}

// positions keeps the places of the parts of one container; a container comes
// from one file, so the name is kept once.
type positions struct {
	file string
	lc   []lineCol
	// aggregate is yamlex's mark of a list; it stands here since few lists
	// have one.
	aggregate bool
}

type lineCol struct{ line, col int32 }

func (s *positions) at(i int) source.Pos {
	if s == nil || i < 0 || i >= len(s.lc) || s.lc[i].line == 0 {
		return source.Pos{}
	}
	return source.Pos{File: s.file, Line: int(s.lc[i].line), Col: int(s.lc[i].col)}
}

// newPositions returns places of a container that has room for n parts.
func newPositions(file string, n int) *positions {
	return &positions{file: file, lc: make([]lineCol, 0, n)}
}

func (s *positions) set(i int, p source.Pos) *positions {
	if s == nil {
		s = &positions{file: p.File}
	}
	if s.file == "" && len(s.lc) == 0 {
		s.file = p.File
	}
	for len(s.lc) <= i {
		s.lc = append(s.lc, lineCol{})
	}
	if p.File == s.file {
		s.lc[i] = lineCol{int32(p.Line), int32(p.Col)}
	}
	return s
}

// NormInt returns i as int64 where it fits, else as *big.Int.
func NormInt(i *big.Int) Value {
	if i.IsInt64() {
		return i.Int64()
	}
	return i
}

// From makes a value of plain Go data: scalars, slices, maps (sorted by key),
// and values, which are returned as they are. It panics for other types: a
// fault in brine, never one of input.
func From(x any) Value {
	switch x := x.(type) {
	case nil, bool, int64, *big.Int, float64, string, Bytes, time.Time, *List, Tuple, *Set, *Map:
		return x
	case int:
		return int64(x)
	case int32:
		return int64(x)
	case uint8:
		return int64(x)
	case uint32:
		return int64(x)
	case uint64:
		return NormInt(new(big.Int).SetUint64(x))
	case float32:
		return float64(x)
	case []byte:
		return Bytes(x)
	case []string:
		return Strings(x...)
	case []any:
		l := &List{Items: make([]Value, len(x))}
		for i, v := range x {
			l.Items[i] = From(v)
		}
		return l
	}
	switch rv := reflect.ValueOf(x); rv.Kind() {
	case reflect.Slice, reflect.Array:
		l := &List{Items: make([]Value, rv.Len())}
		for i := range l.Items {
			l.Items[i] = From(rv.Index(i).Interface())
		}
		return l
	case reflect.Map:
		keys := rv.MapKeys()
		sort.Slice(keys, func(i, j int) bool { return fmt.Sprint(keys[i]) < fmt.Sprint(keys[j]) })
		m := NewMap(len(keys))
		for _, k := range keys {
			m.Set(From(k.Interface()), From(rv.MapIndex(k).Interface()))
		}
		return m
	default:
		return x
	}
}

// Kind names the type of v in words, with its article: for errors about what a
// person wrote.
func Kind(v Value) string {
	switch name := TypeName(v); name {
	case "NoneType":
		return "nothing"
	case "str":
		return "text"
	case "bool":
		return "True or False"
	case "int", "float":
		return "a number"
	case "dict", "OrderedDict":
		return "a mapping"
	default:
		return "a " + name
	}
}

// TypeName returns the name of v's Python type, as type(v).__name__ has it.
func TypeName(v Value) string {
	switch v := v.(type) {
	case nil:
		return "NoneType"
	case bool:
		return "bool"
	case int64, *big.Int:
		return "int"
	case float64:
		return "float"
	case string:
		return "str"
	case Bytes:
		return "bytes"
	case time.Time:
		return "datetime"
	case *List:
		return "list"
	case Tuple:
		return "tuple"
	case *Set:
		return "set"
	case *Map:
		if v.Ordered {
			return "OrderedDict"
		}
		return "dict"
	case TypeNamer:
		return v.TypeName()
	case Mapping:
		return "dict"
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", v), "*")
}

// Truth returns v's Python truth.
func Truth(v Value) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case int64:
		return v != 0
	case *big.Int:
		return v.Sign() != 0
	case float64:
		return v != 0
	case string:
		return v != ""
	case Bytes:
		return v != ""
	case Tuple:
		return len(v) > 0
	case Truther:
		return v.Truth()
	case Lener:
		return v.Len() > 0
	}
	return true
}

// Equal reports whether a == b in Python: numbers across types, containers by
// content, dicts without regard to order.
func Equal(a, b Value) bool { return equal(a, b, 0) }

// MaxDepth bounds walks over data that contains itself.
const MaxDepth = 500

func equal(a, b Value, depth int) bool {
	if depth > MaxDepth {
		return false
	}
	switch x := a.(type) {
	case nil:
		return b == nil
	case string:
		if y, ok := b.(string); ok {
			return x == y
		}
	case bool, int64, *big.Int, float64:
		if IsNumber(b) {
			c, ok := compareNumbers(a, b)
			return ok && c == 0
		}
	case Bytes:
		y, ok := b.(Bytes)
		return ok && x == y
	case time.Time:
		y, ok := b.(time.Time)
		return ok && x.Equal(y)
	case *List:
		y, ok := b.(*List)
		return ok && (x == y || equalItems(x.Items, y.Items, depth))
	case Tuple:
		y, ok := b.(Tuple)
		return ok && equalItems(x, y, depth)
	case Mapping:
		if y, ok := b.(Mapping); ok {
			return equalMaps(x, y, depth)
		}
	case *Set:
		if y, ok := b.(*Set); ok {
			return x.equal(y)
		}
	}
	if x, ok := a.(Equaler); ok {
		return x.EqualValue(b)
	}
	if y, ok := b.(Equaler); ok {
		return y.EqualValue(a)
	}
	if a != nil && b != nil && reflect.TypeOf(a).Comparable() && reflect.TypeOf(a) == reflect.TypeOf(b) {
		return a == b
	}
	return false
}

func equalItems(x, y []Value, depth int) bool {
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if !equal(x[i], y[i], depth+1) {
			return false
		}
	}
	return true
}

func equalMaps(x, y Mapping, depth int) bool {
	if x.Len() != y.Len() {
		return false
	}
	for _, k := range x.Keys() {
		xv, _ := x.Get(k)
		yv, ok := y.Get(k)
		if !ok || !equal(xv, yv, depth+1) {
			return false
		}
	}
	return true
}

// IsNumber reports whether v is a bool, an int or a float.
func IsNumber(v Value) bool {
	switch v.(type) {
	case bool, int64, *big.Int, float64:
		return true
	}
	return false
}

// compareNumbers returns -1, 0 or 1, and false where one is NaN or no number.
func compareNumbers(a, b Value) (int, bool) {
	if af, ok := a.(float64); ok {
		if bf, ok := b.(float64); ok {
			switch {
			case af < bf:
				return -1, true
			case af > bf:
				return 1, true
			case af == bf:
				return 0, true
			}
			return 0, false
		}
		c, ok := compareNumbers(b, a)
		return -c, ok
	}
	if bf, ok := b.(float64); ok {
		if bf != bf {
			return 0, false
		}
		ai, _ := AsBig(a)
		return new(big.Float).SetInt(ai).Cmp(big.NewFloat(bf)), true
	}
	if ai, ok := a.(int64); ok {
		if bi, ok := b.(int64); ok {
			switch {
			case ai < bi:
				return -1, true
			case ai > bi:
				return 1, true
			}
			return 0, true
		}
	}
	ai, ok := AsBig(a)
	bi, ok2 := AsBig(b)
	if !ok || !ok2 {
		return 0, false
	}
	return ai.Cmp(bi), true
}

// AsBig returns a bool or an int as *big.Int.
func AsBig(v Value) (*big.Int, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return big.NewInt(1), true
		}
		return new(big.Int), true
	case int64:
		return big.NewInt(v), true
	case *big.Int:
		return v, true
	}
	return nil, false
}

// AsInt returns an int (or a bool, as Python does) as int64.
func AsInt(v Value) (int64, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case int64:
		return v, true
	}
	return 0, false
}

// Clone returns a deep copy of v: lists, sets and maps are new, scalars and
// tuples of scalars are shared. Lazy mappings become *Map. Places are kept.
func Clone(v Value) Value {
	var c cloner
	return c.value(v)
}

// A cloner copies deeply. From a depth that no plain data has on it remembers
// what it copied, so that data that contains itself is copied as such.
type cloner struct {
	depth int
	memo  map[Value]Value
}

// memoDepth is where walks over data begin to look for what contains itself.
const memoDepth = 64

func (c *cloner) note(v, copied Value) {
	if c.memo == nil {
		if c.depth < memoDepth {
			return
		}
		c.memo = map[Value]Value{}
	}
	c.memo[v] = copied
}

func (c *cloner) value(v Value) Value {
	switch v.(type) {
	case nil, bool, int64, float64, string:
		return v
	}
	c.depth++
	v = c.container(v)
	c.depth--
	return v
}

func (c *cloner) container(v Value) Value {
	switch v := v.(type) {
	case *List:
		if l, ok := c.memo[v]; ok {
			return l
		}
		l := &List{Items: make([]Value, len(v.Items)), src: v.src}
		c.note(v, l)
		for i, x := range v.Items {
			l.Items[i] = c.value(x)
		}
		return l
	case Tuple:
		t := make(Tuple, len(v))
		for i, x := range v {
			t[i] = c.value(x)
		}
		return t
	case *Set:
		return v.clone()
	case *Map:
		if v == nil {
			return v
		}
		if m, ok := c.memo[v]; ok {
			return m
		}
		m := v.Copy()
		c.note(v, m)
		for i := range m.ents {
			m.ents[i].val = c.value(m.ents[i].val)
		}
		return m
	case Mapping:
		m := NewMap(v.Len())
		for _, k := range v.Keys() {
			x, _ := v.Get(k)
			m.Set(k, c.value(x))
		}
		return m
	}
	return v
}

// OrNone returns s, None where it is empty.
func OrNone(s string) Value {
	if s == "" {
		return nil
	}
	return s
}

// OrEmpty returns v, "" where it is None.
func OrEmpty(v Value) Value {
	if v == nil {
		return ""
	}
	return v
}
