package star

import (
	"fmt"
	"math/big"
	"sync"
	"time"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"brine/internal/core/python/wire"
	"brine/internal/py/value"
)

// toStarlark returns a value that brine sent. Times become text.
func toStarlark(v value.Value) (starlark.Value, error) {
	switch x := v.(type) {
	case nil:
		return starlark.None, nil
	case bool:
		return starlark.Bool(x), nil
	case int64:
		return starlark.MakeInt64(x), nil
	case *big.Int:
		return starlark.MakeBigInt(x), nil
	case float64:
		return starlark.Float(x), nil
	case value.Bytes:
		return starlark.Bytes(x), nil
	case time.Time:
		return starlark.String(x.Format("2006-01-02T15:04:05.999999")), nil
	case value.Tuple:
		items, err := itemsToStarlark(x)
		return starlark.Tuple(items), err
	case *value.List:
		items, err := itemsToStarlark(x.Items)
		return starlark.NewList(items), err
	case *value.Set:
		return setToStarlark(x)
	case *value.Map:
		return mapToStarlark(x)
	}
	if s, ok := value.AsText(v); ok {
		return starlark.String(s), nil
	}
	return nil, fmt.Errorf("Starlark has no %s", value.TypeName(v))
}

func itemsToStarlark(items []value.Value) ([]starlark.Value, error) {
	out := make([]starlark.Value, len(items))
	for i, it := range items {
		var err error
		if out[i], err = toStarlark(it); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func setToStarlark(x *value.Set) (starlark.Value, error) {
	s := starlark.NewSet(x.Len())
	for _, it := range x.Items() {
		v, err := toStarlark(it)
		if err == nil {
			err = s.Insert(v)
		}
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

func mapToStarlark(x *value.Map) (starlark.Value, error) {
	d := starlark.NewDict(x.Len())
	for k, it := range x.All() {
		key, err := toStarlark(k)
		if err != nil {
			return nil, err
		}
		v, err := toStarlark(it)
		if err == nil {
			err = d.SetKey(key, v)
		}
		if err != nil {
			return nil, err
		}
	}
	return d, nil
}

// fromStarlark returns a value that brine understands. A value that is not data,
// such as a function, is an error, and so is more than a frame can carry: lists
// that are in themselves, or many times in others.
func fromStarlark(v starlark.Value) (value.Value, error) {
	u := unloader{items: maxItems, bytes: wire.MaxFrame}
	return u.value(v, 0)
}

// maxItems bounds the items of a value with those within them, and maxDigits its
// integers: brine reads no larger ones, as Python does.
const (
	maxItems  = 1 << 20
	maxDigits = 4300
)

// largestInt is the largest integer that brine reads.
var largestInt = sync.OnceValue(func() *big.Int {
	n := new(big.Int).Exp(big.NewInt(10), big.NewInt(maxDigits), nil)
	return n.Sub(n, big.NewInt(1))
})

// An unloader counts the items and the bytes of text that are left.
type unloader struct{ items, bytes int }

// text takes the bytes of a text.
func (u *unloader) text(n int) error {
	if u.bytes -= n; u.bytes < 0 {
		return value.Raise("ValueError", "the value is too large: more than %d bytes of text", wire.MaxFrame)
	}
	return nil
}

func (u *unloader) value(v starlark.Value, depth int) (value.Value, error) {
	if depth > wire.MaxDepth {
		return nil, value.Raise("RecursionError", "the value is nested too deep, or holds itself")
	}
	if u.items--; u.items < 0 {
		return nil, value.Raise("ValueError", "the value is too large: more than %d items", maxItems)
	}
	switch x := v.(type) {
	case starlark.NoneType:
		return nil, nil
	case starlark.Bool:
		return bool(x), nil
	case starlark.Int:
		n := x.BigInt()
		if n.CmpAbs(largestInt()) > 0 {
			return nil, value.Raise("ValueError", "the integer is too large: more than %d digits", maxDigits)
		}
		return value.NormInt(n), nil
	case starlark.Float:
		return float64(x), nil
	case starlark.String:
		return string(x), u.text(len(x))
	case starlark.Bytes:
		return value.Bytes(x), u.text(len(x))
	case starlark.Tuple:
		items, err := u.each(x, depth)
		return value.Tuple(items), err
	case *starlark.Set:
		items, err := u.each(x, depth)
		if err != nil {
			return nil, err
		}
		for i, it := range items {
			if !value.Hashable(it) {
				return nil, value.Raise("TypeError", "unhashable type: %s, item %d of a set", value.TypeName(it), i)
			}
		}
		return value.NewSet(items...), nil
	case starlark.IterableMapping:
		return u.pairs(x.Items(), depth)
	case *starlarkstruct.Struct:
		var pairs []starlark.Tuple
		for _, name := range x.AttrNames() {
			item, err := x.Attr(name)
			if err != nil {
				return nil, err
			}
			pairs = append(pairs, starlark.Tuple{starlark.String(name), item})
		}
		return u.pairs(pairs, depth)
	case starlark.Iterable:
		items, err := u.each(x, depth)
		return &value.List{Items: items}, err
	}
	return nil, value.Raise("TypeError", "a value of the type %s cannot leave Starlark", v.Type())
}

func (u *unloader) each(x starlark.Iterable, depth int) ([]value.Value, error) {
	var out []value.Value
	for it := range starlark.Elements(x) {
		v, err := u.value(it, depth+1)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func (u *unloader) pairs(pairs []starlark.Tuple, depth int) (value.Value, error) {
	m := value.NewMap(len(pairs))
	for _, p := range pairs {
		k, err := u.value(p[0], depth+1)
		if err != nil {
			return nil, err
		}
		v, err := u.value(p[1], depth+1)
		if err != nil {
			return nil, err
		}
		if !value.Hashable(k) {
			return nil, value.Raise("TypeError", "unhashable type: %s", p[0].Type())
		}
		m.Set(k, v)
	}
	return m, nil
}
