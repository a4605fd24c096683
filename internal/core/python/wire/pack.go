package wire

import (
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"brine/internal/py/value"
)

// MaxDepth bounds nesting on the wire.
const MaxDepth = 200

// Pack returns v as values that JSON can hold: bytes, tuples, sets, times and
// mappings whose keys are not all strings get a tag; see pack in
// runtime/main.py of package python.
func Pack(v value.Value) (value.Value, error) { return pack(v, 0) }

func pack(v value.Value, depth int) (value.Value, error) {
	if depth > MaxDepth {
		return nil, value.Raise("RecursionError", "the value is nested too deep, or holds itself")
	}
	switch x := v.(type) {
	case value.Bytes:
		return value.MapOf("!b", base64.StdEncoding.EncodeToString([]byte(x))), nil
	case time.Time:
		return value.MapOf("!m", x.Format("2006-01-02T15:04:05.000000")), nil
	case *value.List:
		return packItems(x.Items, depth)
	case *value.Set:
		items, err := packItems(x.Items(), depth)
		return value.MapOf("!s", items), err
	case value.Mapping:
		return packMap(x, depth)
	}
	if s, ok := value.AsText(v); ok {
		return s, nil
	}
	if t, ok := value.AsTuple(v); ok {
		items, err := packItems(t, depth)
		return value.MapOf("!t", items), err
	}
	return v, nil
}

func packItems(items []value.Value, depth int) (value.Value, error) {
	out := make([]value.Value, len(items))
	for i, it := range items {
		var err error
		if out[i], err = pack(it, depth+1); err != nil {
			return nil, err
		}
	}
	return &value.List{Items: out}, nil
}

func packMap(m value.Mapping, depth int) (value.Value, error) {
	plain, pairs := value.NewMap(m.Len()), &value.List{}
	isPlain := true
	for _, k := range m.Keys() {
		x, _ := m.Get(k)
		p, err := pack(x, depth+1)
		if err != nil {
			return nil, err
		}
		s, ok := value.AsText(k)
		isPlain = isPlain && ok && !strings.HasPrefix(s, "!")
		if isPlain {
			plain.Set(s, p)
		}
		key, err := pack(k, depth+1)
		if err != nil {
			return nil, err
		}
		pairs.Append(value.NewList(key, p))
	}
	if isPlain {
		return plain, nil
	}
	return value.MapOf("!d", pairs), nil
}

// Unpack undoes [Pack]. It may change v.
func Unpack(v value.Value) (value.Value, error) { return unpack(v, 0) }

func unpack(v value.Value, depth int) (value.Value, error) {
	if depth > MaxDepth {
		return nil, fmt.Errorf("the value is nested too deep")
	}
	switch x := v.(type) {
	case *value.List:
		return x, unpackItems(x.Items, depth)
	case *value.Map:
		if x.Len() == 1 {
			if k, item := x.Entry(0); isTag(k) {
				return unpackTag(k.(string), item, depth)
			}
		}
		for k, it := range x.All() {
			u, err := unpack(it, depth+1)
			if err != nil {
				return nil, err
			}
			x.Set(k, u)
		}
	}
	return v, nil
}

func unpackItems(items []value.Value, depth int) error {
	for i, it := range items {
		u, err := unpack(it, depth+1)
		if err != nil {
			return err
		}
		items[i] = u
	}
	return nil
}

func isTag(k value.Value) bool {
	s, ok := k.(string)
	return ok && len(s) == 2 && s[0] == '!'
}

// unpackTag returns a value that has a tag: one level, whatever it takes as JSON.
func unpackTag(tag string, item value.Value, depth int) (value.Value, error) {
	if s, ok := item.(string); ok {
		switch tag {
		case "!b":
			b, err := base64.StdEncoding.DecodeString(s)
			return value.Bytes(b), err
		case "!m":
			t, err := time.Parse("2006-01-02T15:04:05.999999", s)
			if err != nil {
				return s, nil // a time with a zone stays text
			}
			return t, nil
		}
	}
	l, ok := item.(*value.List)
	if !ok {
		return nil, fmt.Errorf("the helper sent %s as %s", value.TypeName(item), tag)
	}
	switch tag {
	case "!t":
		return value.Tuple(l.Items), unpackItems(l.Items, depth)
	case "!s":
		if err := unpackItems(l.Items, depth); err != nil {
			return nil, err
		}
		return value.ToSet(l)
	case "!d":
		m := value.NewMap(l.Len())
		for _, it := range l.Items {
			pair, ok := it.(*value.List)
			if !ok || pair.Len() != 2 {
				return nil, fmt.Errorf("the helper sent a dict that has no pairs")
			}
			if err := unpackItems(pair.Items, depth); err != nil {
				return nil, err
			}
			if !value.Hashable(pair.Items[0]) {
				return nil, fmt.Errorf("the helper sent a dict with a key that is not hashable")
			}
			m.Set(pair.Items[0], pair.Items[1])
		}
		return m, nil
	}
	return nil, fmt.Errorf("the helper sent the tag %q", tag)
}
