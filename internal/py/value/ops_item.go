package value

import (
	"iter"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"
)

func containsText(s, sub string) bool { return strings.Contains(s, sub) }

func repeatText(s string, n int) string { return strings.Repeat(s, n) }

// TrimSpace strips blanks as str.strip() does.
func TrimSpace(s string) string { return strings.TrimFunc(s, IsSpace) }

// IsSpace is Python's str.isspace for one character.
func IsSpace(r rune) bool {
	switch {
	case r >= 0x09 && r <= 0x0d, r >= 0x1c && r <= 0x20, r == 0x85, r == 0xa0, r == 0x1680,
		r >= 0x2000 && r <= 0x200a, r == 0x2028, r == 0x2029, r == 0x202f, r == 0x205f, r == 0x3000:
		return true
	}
	return false
}

// SplitLines splits as str.splitlines: at all of Unicode's line ends, which
// keep leaves on the lines.
func SplitLines(s string, keep bool) []string { return slices.Collect(Lines(s, keep)) }

// Lines goes through the lines that [SplitLines] returns.
func Lines(s string, keep bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		for s != "" {
			i := strings.IndexFunc(s, isLineEnd)
			if i < 0 {
				yield(s)
				return
			}
			_, n := utf8.DecodeRuneInString(s[i:])
			end := i + n
			if s[i] == '\r' && strings.HasPrefix(s[end:], "\n") {
				end++
			}
			if keep {
				i = end
			}
			if !yield(s[:i]) {
				return
			}
			s = s[end:]
		}
	}
}

func isLineEnd(r rune) bool {
	switch r {
	case '\n', '\r', '\v', '\f', 0x1c, 0x1d, 0x1e, 0x85, 0x2028, 0x2029:
		return true
	}
	return false
}

// TextLen returns the number of characters of s; a byte that is not valid UTF-8
// counts as one.
func TextLen(s string) int { return utf8.RuneCountInString(s) }

// IsASCII reports whether every character is one byte.
func IsASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Chars returns the characters of s.
func Chars(s string) []string {
	out := make([]string, 0, len(s))
	for i := 0; i < len(s); {
		_, n := utf8.DecodeRuneInString(s[i:])
		out = append(out, s[i:i+n])
		i += n
	}
	return out
}

// TextSlice returns s[lo:hi] in characters, for 0 <= lo <= hi.
func TextSlice(s string, lo, hi int) string {
	if IsASCII(s) {
		hi = min(hi, len(s))
		return s[min(lo, hi):hi]
	}
	start, end := len(s), len(s)
	for i, n := 0, 0; i < len(s); n++ {
		if n == lo {
			start = i
		}
		if n == hi {
			end = i
			break
		}
		_, w := utf8.DecodeRuneInString(s[i:])
		i += w
	}
	if start > end {
		return ""
	}
	return s[start:end]
}

// Len returns len(v).
func Len(v Value) (int, error) {
	if err := Fault(v, "len"); err != nil {
		return 0, err
	}
	if s, ok := AsText(v); ok {
		return TextLen(s), nil
	}
	switch x := v.(type) {
	case Bytes:
		return len(x), nil
	case Tuple:
		return len(x), nil
	case Lener:
		return x.Len(), nil
	case Tupler:
		return len(x.AsTuple()), nil
	}
	return 0, Raise("TypeError", "object of type '%s' has no len()", OperandType(v))
}

// Index returns i within length n as Python counts, from the end where it is
// negative, and whether it is in range.
func index(i int64, n int) (int, bool) {
	if i < 0 {
		i += int64(n)
	}
	return int(i), i >= 0 && i < int64(n)
}

// GetItem returns container[key]. A missing key is a KeyError, a place out of
// range an IndexError, anything else a TypeError.
func GetItem(container, key Value) (Value, error) {
	if err := Fault(container, "getitem"); err != nil {
		return nil, err
	}
	if m, ok := container.(Mapping); ok {
		if err := CheckHash(key); err != nil {
			return nil, err
		}
		v, ok := m.Get(key)
		if !ok {
			return nil, Raise("KeyError", "%s", Repr(key))
		}
		return v, nil
	}
	i, isInt := AsInt(key)
	if b, ok := key.(*big.Int); ok && !isInt {
		switch container.(type) {
		case Range:
			return nil, Raise("IndexError", "range object index out of range")
		case string, Texter, Bytes, *List, Tuple, Tupler:
			return nil, Raise("IndexError", "cannot fit '%s' into an index-sized integer", OperandType(b))
		}
	}
	// at returns the place of key among n items; what and index are as in
	// Python's messages.
	at := func(what, index string, n int) (int, error) {
		if !isInt {
			return 0, Raise("TypeError", "%s indices must be integers or slices, not %s", what, OperandType(key))
		}
		return inRange(index, i, n)
	}
	switch c := container.(type) {
	case *List:
		n, err := at("list", "list index", len(c.Items))
		if err != nil {
			return nil, err
		}
		return c.Items[n], nil
	case Bytes:
		n, err := at("byte", "index", len(c))
		if err != nil {
			return nil, err
		}
		return int64(c[n]), nil
	case Range:
		n, err := at("range", "range object index", c.Len())
		if err != nil {
			return nil, err
		}
		return c.At(n), nil
	}
	if s, ok := AsText(container); ok {
		if !isInt {
			return nil, Raise("TypeError", "string indices must be integers, not '%s'", OperandType(key))
		}
		n, err := inRange("string index", i, TextLen(s))
		if err != nil {
			return nil, err
		}
		return retext(container, TextSlice(s, n, n+1)), nil
	}
	if t, ok := AsTuple(container); ok {
		n, err := at("tuple", "tuple index", len(t))
		if err != nil {
			return nil, err
		}
		return t[n], nil
	}
	return nil, Raise("TypeError", "'%s' object is not subscriptable", OperandType(container))
}

// inRange returns the place of index i among n items.
func inRange(what string, i int64, n int) (int, error) {
	at, ok := index(i, n)
	if !ok {
		return 0, Raise("IndexError", "%s out of range", what)
	}
	return at, nil
}

// Slice returns container[lo:hi:step]; nil stands for a part left out.
func Slice(container, lo, hi, step Value) (Value, error) {
	if err := Fault(container, "getitem"); err != nil {
		return nil, err
	}
	n := 0
	switch c := container.(type) {
	case string, Texter:
		s, _ := AsText(c)
		n = TextLen(s)
	case Bytes:
		n = len(c)
	case *List:
		n = len(c.Items)
	case Tuple:
		n = len(c)
	case Tupler:
		n = len(c.AsTuple())
	case Range:
		n = c.Len()
	case Mapping:
		return nil, Raise("TypeError", "unhashable type: 'slice'")
	default:
		return nil, Raise("TypeError", "'%s' object is not subscriptable", OperandType(container))
	}
	start, count, by, err := sliceBounds(lo, hi, step, n)
	if err != nil {
		return nil, err
	}
	pick := func(in []Value) []Value {
		out := make([]Value, count)
		for i := range out {
			out[i] = in[start+i*by]
		}
		return out
	}
	switch c := container.(type) {
	case Bytes:
		return Bytes(sliceBytes(string(c), start, count, by)), nil
	case *List:
		return &List{Items: pick(c.Items)}, nil
	case Range:
		return c.slice(start, count, by), nil
	}
	if t, ok := AsTuple(container); ok {
		return Tuple(pick(t)), nil
	}
	s, _ := AsText(container)
	if by == 1 {
		return retext(container, TextSlice(s, start, start+count)), nil
	}
	if IsASCII(s) {
		return retext(container, sliceBytes(s, start, count, by)), nil
	}
	chars := Chars(s)
	var b strings.Builder
	for i := range count {
		b.WriteString(chars[start+i*by])
	}
	return retext(container, b.String()), nil
}

// retext returns a part of text as the type that the text has.
func retext(of Value, s string) Value {
	if r, ok := of.(Retexter); ok {
		return r.Retext(s)
	}
	return s
}

func sliceBytes(s string, start, count, by int) string {
	out := make([]byte, count)
	for i := range out {
		out[i] = s[start+i*by]
	}
	return string(out)
}

// sliceBounds resolves the parts of a slice over n items to the first place,
// the number of items and the step.
func sliceBounds(lo, hi, step Value, n int) (start, count, by int, err error) {
	by = 1
	if step != nil {
		if by, err = sliceIndex(step); err != nil {
			return
		}
		if by == 0 {
			err = Raise("ValueError", "slice step cannot be zero")
			return
		}
	}
	low, high := 0, n
	if by < 0 {
		low, high = -1, n-1
	}
	clamp := func(v Value, dflt int) (int, error) {
		if v == nil {
			return dflt, nil
		}
		i, err := sliceIndex(v)
		if err != nil {
			return 0, err
		}
		if i < 0 {
			i += n
		}
		return min(max(i, low), high), nil
	}
	first, last := low, high
	if by < 0 {
		first, last = high, low
	}
	if start, err = clamp(lo, first); err != nil {
		return
	}
	var stop int
	if stop, err = clamp(hi, last); err != nil {
		return
	}
	switch {
	case by > 0 && stop > start:
		count = (stop-start-1)/by + 1
	case by < 0 && stop < start:
		count = (start-stop-1)/-by + 1
	}
	return
}

// sliceIndex bounds a place so that sums with lengths cannot overflow.
func sliceIndex(v Value) (int, error) {
	const far = 1 << 30
	if i, ok := AsInt(v); ok {
		return int(min(max(i, -far), far)), nil
	}
	if b, ok := v.(*big.Int); ok {
		return b.Sign() * far, nil
	}
	if err := Fault(v, "getitem"); err != nil {
		return 0, err
	}
	return 0, Raise("TypeError", "slice indices must be integers or None or have an __index__ method")
}

// Iter returns the items of v as a for loop would see them: keys of a dict,
// characters of a str. What a generator yields is drawn at once, so that its
// errors come before the first item.
func Iter(v Value) (iter.Seq[Value], error) {
	if err := Fault(v, "iter"); err != nil {
		return nil, err
	}
	switch x := v.(type) {
	case *List:
		return func(yield func(Value) bool) {
			// A loop sees what is added to its list meanwhile.
			for i := 0; i < len(x.Items); i++ {
				if !yield(x.Items[i]) {
					return
				}
			}
		}, nil
	case Tuple:
		return seqOf(x), nil
	case Mapping:
		return seqOf(x.Keys()), nil
	case *Set:
		return seqOf(x.Items()), nil
	case Bytes:
		return func(yield func(Value) bool) {
			for i := range len(x) {
				if !yield(int64(x[i])) {
					return
				}
			}
		}, nil
	case Iterator:
		items, err := drain(x)
		if err != nil {
			return nil, err
		}
		return seqOf(items), nil
	case Iterable:
		return x.Iterate(), nil
	case Tupler:
		return seqOf(x.AsTuple()), nil
	case Faulty:
		return seqOf(nil), nil
	}
	if s, ok := AsText(v); ok {
		return func(yield func(Value) bool) {
			for i := 0; i < len(s); {
				_, n := utf8.DecodeRuneInString(s[i:])
				if !yield(s[i : i+n]) {
					return
				}
				i += n
			}
		}, nil
	}
	return nil, Raise("TypeError", "'%s' object is not iterable", OperandType(v))
}

func seqOf(items []Value) iter.Seq[Value] {
	return func(yield func(Value) bool) {
		for _, x := range items {
			if !yield(x) {
				return
			}
		}
	}
}

func drain(it Iterator) ([]Value, error) {
	var items []Value
	for {
		v, ok, err := it.Next()
		if err != nil {
			return nil, err
		}
		if !ok {
			return items, nil
		}
		items = append(items, v)
		if err := CheckItems(len(items)); err != nil {
			return nil, err
		}
	}
}

// Items returns the items of v as a new slice, as list(v).
func Items(v Value) ([]Value, error) {
	switch x := v.(type) {
	case *List:
		return append([]Value(nil), x.Items...), nil
	case Tuple:
		return append([]Value(nil), x...), nil
	}
	seq, err := Iter(v)
	if err != nil {
		return nil, err
	}
	var items []Value
	for x := range seq {
		items = append(items, x)
		if err := CheckItems(len(items)); err != nil {
			return nil, err
		}
	}
	return items, nil
}

// IsIterable reports whether a for loop may go over v.
func IsIterable(v Value) bool {
	switch v.(type) {
	case string, Texter, Bytes, *List, Tuple, Tupler, Mapping, *Set, Iterator, Iterable, Faulty:
		return true
	}
	return false
}
