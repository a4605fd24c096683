package value

import (
	"iter"
	"math"
	"math/big"
	"time"
)

// The operators of Python on values. All return a *[PyError] in Python's own
// words where Python raises.

// Interfaces by which types of other packages take part in the operators.
type (
	// An Iterable can be looped over any number of times.
	Iterable interface{ Iterate() iter.Seq[Value] }
	// An Iterator hands out its items once, as a generator does.
	Iterator interface {
		// Next returns the next item, or false at the end.
		Next() (Value, bool, error)
	}
	// A Texter is a subclass of str: it takes part wherever a str does.
	Texter interface{ Text() string }
	// A Retexter is a Texter whose items and slices are of its own type.
	Retexter interface{ Retext(s string) Value }
	// A Tupler is a subclass of tuple.
	Tupler interface{ AsTuple() Tuple }
	// An Operator defines binary operators of its own. ok is false where it
	// does not know the operator or the other side; swapped says that it
	// stands on the right.
	Operator interface {
		BinaryOp(op string, other Value, swapped bool) (v Value, ok bool, err error)
	}
	// A Faulty value raises at uses: an undefined one. op is an operator, or
	// "iter", "len", "str", "int", "float", "hash", "getitem". A nil error
	// means that the use is allowed; looping is then over nothing.
	Faulty interface{ Fault(op string) error }
)

// MaxBytes bounds the size of one text or list that a template can make.
const MaxBytes = 64 << 20

// MaxItems is the bound of a list, in items.
const MaxItems = MaxBytes / 16

// maxBits bounds the size of an int.
const maxBits = 1 << 20

// CheckSize returns a MemoryError where a text of n bytes is over [MaxBytes].
func CheckSize(n int) error {
	if n > MaxBytes || n < 0 {
		return Raise("MemoryError", "a text larger than %d MiB is refused", MaxBytes>>20)
	}
	return nil
}

// CheckItems returns a MemoryError where n items are over [MaxItems].
func CheckItems(n int) error {
	if n > MaxItems || n < 0 {
		return Raise("MemoryError", "a list of more than %d items is refused", MaxItems)
	}
	return nil
}

// Fault returns the error of using v by op, if v is a [Faulty] one.
func Fault(v Value, op string) error {
	if f, ok := v.(Faulty); ok {
		return f.Fault(op)
	}
	return nil
}

// AsText returns the text of a str or of a subclass of it.
func AsText(v Value) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case Texter:
		return v.Text(), true
	}
	return "", false
}

// AsTuple returns the items of a tuple or of a subclass of it.
func AsTuple(v Value) (Tuple, bool) {
	switch v := v.(type) {
	case Tuple:
		return v, true
	case Tupler:
		return v.AsTuple(), true
	}
	return nil, false
}

// StrOf is [Str], with the error of a value that cannot be printed.
func StrOf(v Value) (string, error) {
	if err := Fault(v, "str"); err != nil {
		return "", err
	}
	return Str(v), nil
}

// OperandType names v's type as errors of operators do.
func OperandType(v Value) string {
	switch v := v.(type) {
	case time.Time:
		return "datetime.datetime"
	case *Map:
		if v.Ordered {
			return "collections.OrderedDict"
		}
	}
	return TypeName(v)
}

func unsupported(op string, a, b Value) error {
	if op == "**" {
		op = "** or pow()"
	}
	return Raise("TypeError", "unsupported operand type(s) for %s: '%s' and '%s'", op, OperandType(a), OperandType(b))
}

// overloaded tries the operands' own operators.
func overloaded(op string, a, b Value) (Value, bool, error) {
	if err := Fault(a, op); err != nil {
		return nil, true, err
	}
	if err := Fault(b, op); err != nil {
		return nil, true, err
	}
	if o, ok := a.(Operator); ok {
		if v, ok, err := o.BinaryOp(op, b, false); ok || err != nil {
			return v, true, err
		}
	}
	if o, ok := b.(Operator); ok {
		if v, ok, err := o.BinaryOp(op, a, true); ok || err != nil {
			return v, true, err
		}
	}
	return nil, false, nil
}

// Add returns a + b.
func Add(a, b Value) (Value, error) {
	switch x := a.(type) {
	case int64:
		if y, ok := b.(int64); ok {
			if s := x + y; (s > x) == (y > 0) {
				return s, nil
			}
		}
	case string:
		if y, ok := b.(string); ok {
			return concat(x, y)
		}
	}
	if v, done, err := overloaded("+", a, b); done {
		return v, err
	}
	if IsNumber(a) && IsNumber(b) {
		return arith("+", a, b)
	}
	if _, own := a.(Texter); own {
		return nil, unsupported("+", a, b)
	}
	if x, ok := AsText(a); ok {
		if y, ok := AsText(b); ok {
			return concat(x, y)
		}
		return nil, Raise("TypeError", `can only concatenate str (not "%s") to str`, OperandType(b))
	}
	switch x := a.(type) {
	case *List:
		if y, ok := b.(*List); ok {
			items, err := joinItems(x.Items, y.Items)
			return &List{Items: items}, err
		}
		return nil, Raise("TypeError", `can only concatenate list (not "%s") to list`, OperandType(b))
	case Bytes:
		if y, ok := b.(Bytes); ok {
			s, err := concat(string(x), string(y))
			if err != nil {
				return nil, err
			}
			return Bytes(s.(string)), nil
		}
		return nil, Raise("TypeError", "can't concat %s to bytes", OperandType(b))
	case time.Time:
		if d, ok := b.(Delta); ok {
			return x.Add(time.Duration(d)), nil
		}
	case Delta:
		switch y := b.(type) {
		case time.Time:
			return y.Add(time.Duration(x)), nil
		case Delta:
			return x + y, nil
		}
	}
	if x, ok := AsTuple(a); ok {
		if y, ok := AsTuple(b); ok {
			items, err := joinItems(x, y)
			return Tuple(items), err
		}
		return nil, Raise("TypeError", `can only concatenate tuple (not "%s") to tuple`, OperandType(b))
	}
	return nil, unsupported("+", a, b)
}

func concat(x, y string) (Value, error) {
	if err := CheckSize(len(x) + len(y)); err != nil {
		return nil, err
	}
	return x + y, nil
}

func joinItems(x, y []Value) ([]Value, error) {
	if err := CheckItems(len(x) + len(y)); err != nil {
		return nil, err
	}
	items := make([]Value, 0, len(x)+len(y))
	return append(append(items, x...), y...), nil
}

// Sub returns a - b.
func Sub(a, b Value) (Value, error) {
	if v, done, err := overloaded("-", a, b); done {
		return v, err
	}
	if IsNumber(a) && IsNumber(b) {
		return arith("-", a, b)
	}
	switch x := a.(type) {
	case time.Time:
		switch y := b.(type) {
		case time.Time:
			return Delta(x.Sub(y)), nil
		case Delta:
			return x.Add(-time.Duration(y)), nil
		}
	case Delta:
		if y, ok := b.(Delta); ok {
			return x - y, nil
		}
	}
	return without(a, b)
}

// Mul returns a * b.
func Mul(a, b Value) (Value, error) {
	if v, done, err := overloaded("*", a, b); done {
		return v, err
	}
	if IsNumber(a) && IsNumber(b) {
		return arith("*", a, b)
	}
	if isSequence(a) {
		return repeat(a, b)
	}
	if isSequence(b) {
		return repeat(b, a)
	}
	return nil, unsupported("*", a, b)
}

// isSequence reports whether v can be repeated; a subclass of str has an
// operator of its own for that.
func isSequence(v Value) bool {
	switch v.(type) {
	case string, Bytes, *List, Tuple, Tupler:
		return true
	}
	return false
}

func repeat(seq, count Value) (Value, error) {
	n, ok := AsInt(count)
	if !ok {
		if big, ok := count.(*big.Int); ok {
			if big.Sign() < 0 {
				n = 0
			} else {
				return nil, Raise("OverflowError", "cannot fit 'int' into an index-sized integer")
			}
		} else {
			return nil, Raise("TypeError", "can't multiply sequence by non-int of type '%s'", OperandType(count))
		}
	}
	n = max(n, 0)
	text := func(s string) (string, error) {
		if len(s) == 0 {
			return "", nil
		}
		if n > MaxBytes/int64(len(s)) {
			return "", CheckSize(-1)
		}
		return repeatText(s, int(n)), nil
	}
	items := func(in []Value) ([]Value, error) {
		if len(in) == 0 {
			return nil, nil
		}
		if n > MaxItems/int64(len(in)) {
			return nil, CheckItems(-1)
		}
		out := make([]Value, 0, len(in)*int(n))
		for range n {
			out = append(out, in...)
		}
		return out, nil
	}
	switch x := seq.(type) {
	case Bytes:
		s, err := text(string(x))
		return Bytes(s), err
	case *List:
		l, err := items(x.Items)
		return &List{Items: l}, err
	}
	if x, ok := AsText(seq); ok {
		s, err := text(x)
		return s, err
	}
	x, _ := AsTuple(seq)
	t, err := items(x)
	return Tuple(t), err
}

// TrueDiv returns a / b, a float.
func TrueDiv(a, b Value) (Value, error) {
	if v, done, err := overloaded("/", a, b); done {
		return v, err
	}
	if !IsNumber(a) || !IsNumber(b) {
		return nil, unsupported("/", a, b)
	}
	_, af := a.(float64)
	_, bf := b.(float64)
	if af || bf {
		return floatArith("/", a, b)
	}
	x, _ := AsBig(a)
	y, _ := AsBig(b)
	if y.Sign() == 0 {
		return nil, Raise("ZeroDivisionError", "division by zero")
	}
	if x.Sign() == 0 {
		return 0.0, nil
	}
	f, _ := new(big.Rat).SetFrac(x, y).Float64()
	if math.IsInf(f, 0) {
		return nil, Raise("OverflowError", "integer division result too large for a float")
	}
	return f, nil
}

// FloorDiv returns a // b.
func FloorDiv(a, b Value) (Value, error) {
	if v, done, err := overloaded("//", a, b); done {
		return v, err
	}
	if !IsNumber(a) || !IsNumber(b) {
		return nil, unsupported("//", a, b)
	}
	return arith("//", a, b)
}

// Mod returns a % b, the remainder of numbers. Texts on the left are formatted,
// which is package pyformat's Mod.
func Mod(a, b Value) (Value, error) {
	if v, done, err := overloaded("%", a, b); done {
		return v, err
	}
	if IsNumber(a) && IsNumber(b) {
		return arith("%", a, b)
	}
	return nil, unsupported("%", a, b)
}

// Pow returns a ** b.
func Pow(a, b Value) (Value, error) {
	if v, done, err := overloaded("**", a, b); done {
		return v, err
	}
	if !IsNumber(a) || !IsNumber(b) {
		return nil, unsupported("**", a, b)
	}
	return arith("**", a, b)
}

// Clone1 returns a shallow copy of a container, as copy.copy.
func Clone1(v Value) Value {
	switch v := v.(type) {
	case *List:
		return &List{Items: append([]Value(nil), v.Items...), src: v.src}
	case *Set:
		return v.clone()
	case *Map:
		return v.Copy()
	case Mapping:
		m := NewMap(v.Len())
		m.Update(v)
		return m
	}
	return v
}

// without returns a - b: of sets and of what dicts show of themselves.
func without(a, b Value) (Value, error) {
	x, ok := asSetOperand(a)
	y, ok2 := asSetOperand(b)
	_, v1 := a.(*View)
	_, v2 := b.(*View)
	switch {
	case ok && ok2:
	case v1 || v2:
		// A view takes any iterable on its other side.
		var err error
		if x, err = toSet(a); err != nil {
			return nil, err
		}
		if y, err = toSet(b); err != nil {
			return nil, err
		}
	default:
		return nil, unsupported("-", a, b)
	}
	return SetOp("-", x, y), nil
}

// SetOp applies | & - or ^ to two sets.
func SetOp(op string, x, y *Set) *Set {
	s := NewSet()
	for _, v := range x.Items() {
		if in := y.Has(v); op == "|" || op == "&" && in || (op == "-" || op == "^") && !in {
			s.Add(v)
		}
	}
	if op == "|" || op == "^" {
		for _, v := range y.Items() {
			if op == "|" || !x.Has(v) {
				s.Add(v)
			}
		}
	}
	return s
}

func asSetOperand(v Value) (*Set, bool) {
	switch v := v.(type) {
	case *Set:
		return v, true
	case *View:
		if v.Kind != Values {
			s, err := toSet(v)
			return s, err == nil
		}
	}
	return nil, false
}

// toSet is set(v).
func toSet(v Value) (*Set, error) {
	if s, ok := v.(*Set); ok {
		return s, nil
	}
	seq, err := Iter(v)
	if err != nil {
		return nil, err
	}
	s := NewSet()
	for x := range seq {
		if err := CheckHash(x); err != nil {
			return nil, err
		}
		s.Add(x)
	}
	return s, nil
}

// ToSet returns a new set of the items of v, as set(v).
func ToSet(v Value) (*Set, error) {
	s, err := toSet(v)
	if err != nil {
		return nil, err
	}
	return s.clone(), nil
}

// CheckHash returns Python's error where v cannot be a key.
func CheckHash(v Value) error { return checkHash(v, 0) }

func checkHash(v Value, depth int) error {
	if depth > maxOpen {
		return Raise("RecursionError", "maximum recursion depth exceeded")
	}
	if err := Fault(v, "hash"); err != nil {
		return err
	}
	if t, ok := AsTuple(v); ok {
		for _, x := range t {
			if err := checkHash(x, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	if view, ok := v.(*View); !Hashable(v) || ok && view.Kind != Values {
		return Raise("TypeError", "unhashable type: '%s'", OperandType(v))
	}
	return nil
}

// In reports whether one of the items is equal to x.
func In(items []Value, x Value) bool {
	for _, y := range items {
		if Equal(x, y) {
			return true
		}
	}
	return false
}

// Contains reports whether x is in container.
func Contains(container, x Value) (bool, error) {
	if err := Fault(container, "in"); err != nil {
		return false, err
	}
	if s, ok := AsText(container); ok {
		sub, ok := AsText(x)
		if !ok {
			return false, Raise("TypeError", "'in <string>' requires string as left operand, not %s", OperandType(x))
		}
		return containsText(s, sub), nil
	}
	switch c := container.(type) {
	case *List:
		return hasItem(c.Items, x), nil
	case Mapping:
		if err := CheckHash(x); err != nil {
			return false, err
		}
		_, ok := c.Get(x)
		return ok, nil
	case *Set:
		if _, ok := x.(*Set); ok {
			return false, nil // Python asks for it as a frozenset
		}
		if err := CheckHash(x); err != nil {
			return false, err
		}
		return c.Has(x), nil
	case Bytes:
		if sub, ok := x.(Bytes); ok {
			return containsText(string(c), string(sub)), nil
		}
		i, ok := AsInt(x)
		if !ok {
			return false, Raise("TypeError", "a bytes-like object is required, not '%s'", OperandType(x))
		}
		if i < 0 || i > 255 {
			return false, Raise("ValueError", "byte must be in range(0, 256)")
		}
		return containsText(string(c), string([]byte{byte(i)})), nil
	case *View:
		return c.has(x)
	case Range:
		return c.Has(x), nil
	}
	if t, ok := AsTuple(container); ok {
		return hasItem(t, x), nil
	}
	seq, err := Iter(container)
	if err != nil {
		return false, Raise("TypeError", "argument of type '%s' is not iterable", OperandType(container))
	}
	for y := range seq {
		if same(x, y) {
			return true, nil
		}
	}
	return false, nil
}

func hasItem(items []Value, x Value) bool {
	for _, y := range items {
		if same(y, x) {
			return true
		}
	}
	return false
}

// same is "is or ==", which containers use; it differs from == for NaN only.
func same(a, b Value) bool {
	if x, ok := a.(float64); ok && x != x {
		y, ok := b.(float64)
		return ok && y != y
	}
	return Equal(a, b)
}

// Is reports whether a and b are one object: identity for containers, equal
// scalars of one type are taken as one.
func Is(a, b Value) bool {
	switch x := a.(type) {
	case Tuple:
		y, ok := b.(Tuple)
		return ok && len(x) == len(y) && (len(x) == 0 || &x[0] == &y[0])
	case *big.Int:
		y, ok := b.(*big.Int)
		return ok && x.Cmp(y) == 0
	case time.Time:
		y, ok := b.(time.Time)
		return ok && x.Equal(y)
	}
	defer func() { _ = recover() }() // a foreign type that Go cannot compare is not the same
	return a == b
}
