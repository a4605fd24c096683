package wire

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"time"

	"brine/internal/py/value"
)

// Limits of values.
const (
	maxDepth = 200
	// maxItems bounds the items of all containers of one value: an item may
	// take one byte in a frame and sixty in memory.
	maxItems = 1 << 20
	// MaxValue bounds the encoding of one value, in bytes.
	MaxValue = 64 << 20
)

// The tags of the encoding.
const (
	tagNone byte = iota
	tagTrue
	tagFalse
	tagInt   // varint
	tagBig   // length, decimal text
	tagFloat // 8 bytes
	tagStr   // length, text
	tagBytes
	tagTime // length, time.Time.MarshalBinary
	tagList // count, items
	tagTuple
	tagSet
	tagMap // count, keys and values in turn
	tagOrdered
)

// AppendValue appends v to dst. A lazy mapping is read whole; a value of a type
// that only templates know is sent as its text. It returns an error for data
// that is nested too deep (or in itself) or too large.
func AppendValue(dst []byte, v value.Value) ([]byte, error) {
	w := valueWriter{dst: dst, end: len(dst) + MaxValue}
	if err := w.value(v, 0); err != nil {
		return dst, err
	}
	return w.dst, nil
}

type valueWriter struct {
	dst []byte
	end int
}

func (w *valueWriter) value(v value.Value, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("data is nested deeper than %d, or in itself", maxDepth)
	}
	if len(w.dst) > w.end {
		return fmt.Errorf("data of more than %d MiB", MaxValue>>20)
	}
	switch v := v.(type) {
	case nil:
		w.dst = append(w.dst, tagNone)
	case bool:
		if v {
			w.dst = append(w.dst, tagTrue)
		} else {
			w.dst = append(w.dst, tagFalse)
		}
	case int64:
		w.dst = binary.AppendVarint(append(w.dst, tagInt), v)
	case *big.Int:
		w.text(tagBig, v.String())
	case float64:
		w.dst = binary.BigEndian.AppendUint64(append(w.dst, tagFloat), math.Float64bits(v))
	case string:
		w.text(tagStr, v)
	case value.Bytes:
		w.text(tagBytes, string(v))
	case time.Time:
		b, err := v.MarshalBinary()
		if err != nil {
			return err
		}
		w.text(tagTime, string(b))
	case *value.List:
		if v == nil {
			return w.items(tagList, nil, depth)
		}
		return w.items(tagList, v.Items, depth)
	case value.Tuple:
		return w.items(tagTuple, v, depth)
	case *value.Set:
		return w.items(tagSet, v.Items(), depth)
	case *value.Map:
		return w.dict(v, depth)
	case value.Mapping:
		return w.mapping(v, depth)
	default:
		if rv := reflect.ValueOf(v); rv.Kind() == reflect.String {
			w.text(tagStr, rv.String())
		} else {
			w.text(tagStr, value.Str(v))
		}
	}
	return nil
}

func (w *valueWriter) text(tag byte, s string) {
	w.dst = binary.AppendUvarint(append(w.dst, tag), uint64(len(s)))
	w.dst = append(w.dst, s...)
}

func (w *valueWriter) items(tag byte, items []value.Value, depth int) error {
	w.dst = binary.AppendUvarint(append(w.dst, tag), uint64(len(items)))
	for _, x := range items {
		if err := w.value(x, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (w *valueWriter) dict(m *value.Map, depth int) error {
	tag := tagMap
	if m != nil && m.Ordered {
		tag = tagOrdered
	}
	w.dst = binary.AppendUvarint(append(w.dst, tag), uint64(m.Len()))
	for k, x := range m.All() {
		if err := w.value(k, depth+1); err != nil {
			return err
		}
		if err := w.value(x, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (w *valueWriter) mapping(m value.Mapping, depth int) error {
	full := value.NewMap(m.Len())
	for _, k := range m.Keys() {
		if x, ok := m.Get(k); ok {
			full.Set(k, x)
		}
	}
	return w.dict(full, depth)
}

// ParseValue parses b, all of it, as one value. It never panics; for invalid
// data, and data that is nested too deep or has too many items, it returns a
// *[ProtocolError].
func ParseValue(b []byte) (value.Value, error) {
	left := maxItems
	return ParseWithin(b, &left)
}

// ParseWithin is ParseValue for one of several values, which have *items items
// together; it takes off those of b.
func ParseWithin(b []byte, items *int) (value.Value, error) {
	r := valueReader{b: b, items: min(*items, maxItems)}
	had := r.items
	v, err := r.value(0)
	*items -= had - r.items
	if err != nil {
		return nil, err
	}
	if len(r.b) != 0 {
		return nil, broken("%d bytes after the end of a value", len(r.b))
	}
	return v, nil
}

type valueReader struct {
	b     []byte
	items int // that may still come
}

// errItems says that a value has more items than it may.
var errItems = &ProtocolError{fmt.Sprintf("a value of more items than the %d that are allowed", maxItems)}

var errShort = &ProtocolError{"a value is cut short"}

func (r *valueReader) value(depth int) (value.Value, error) {
	if depth > maxDepth {
		return nil, broken("a value is nested deeper than %d", maxDepth)
	}
	if len(r.b) == 0 {
		return nil, errShort
	}
	tag := r.b[0]
	r.b = r.b[1:]
	switch tag {
	case tagNone:
		return nil, nil
	case tagTrue:
		return true, nil
	case tagFalse:
		return false, nil
	case tagInt:
		i, n := binary.Varint(r.b)
		if n <= 0 {
			return nil, errShort
		}
		r.b = r.b[n:]
		return i, nil
	case tagFloat:
		if len(r.b) < 8 {
			return nil, errShort
		}
		f := math.Float64frombits(binary.BigEndian.Uint64(r.b))
		r.b = r.b[8:]
		return f, nil
	case tagStr, tagBytes, tagBig, tagTime:
		s, err := r.text()
		if err != nil {
			return nil, err
		}
		return scalar(tag, s)
	case tagList, tagTuple, tagSet:
		return r.list(tag, depth)
	case tagMap, tagOrdered:
		return r.dict(tag, depth)
	}
	return nil, broken("a value of unknown tag %d", tag)
}

func scalar(tag byte, s string) (value.Value, error) {
	switch tag {
	case tagBytes:
		return value.Bytes(s), nil
	case tagBig:
		if len(s) > 4300 {
			return nil, broken("an integer of %d digits", len(s))
		}
		i, ok := new(big.Int).SetString(s, 10)
		if !ok {
			return nil, broken("%.40q is not an integer", s)
		}
		return value.NormInt(i), nil
	case tagTime:
		var t time.Time
		if err := t.UnmarshalBinary([]byte(s)); err != nil {
			return nil, broken("a value is not a time")
		}
		return t, nil
	}
	return s, nil
}

func (r *valueReader) text() (string, error) {
	n, used := binary.Uvarint(r.b)
	if used <= 0 || n > uint64(len(r.b)-used) {
		return "", errShort
	}
	s := string(r.b[used : used+int(n)])
	r.b = r.b[used+int(n):]
	return s, nil
}

// count reads the number of items to come, each of at least size bytes.
func (r *valueReader) count(size int) (int, error) {
	n, used := binary.Uvarint(r.b)
	if used <= 0 {
		return 0, errShort
	}
	r.b = r.b[used:]
	if n > uint64(len(r.b)/size) {
		return 0, errShort
	}
	if r.items -= int(n) * size; r.items < 0 {
		return 0, errItems
	}
	return int(n), nil
}

func (r *valueReader) list(tag byte, depth int) (value.Value, error) {
	n, err := r.count(1)
	if err != nil {
		return nil, err
	}
	items := make([]value.Value, 0, min(n, 4096))
	for range n {
		x, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		if tag == tagSet && !value.Hashable(x) {
			return nil, broken("a set holds what is not hashable")
		}
		items = append(items, x)
	}
	switch tag {
	case tagTuple:
		return value.Tuple(items), nil
	case tagSet:
		return value.NewSet(items...), nil
	}
	return value.NewList(items...), nil
}

func (r *valueReader) dict(tag byte, depth int) (value.Value, error) {
	n, err := r.count(2)
	if err != nil {
		return nil, err
	}
	m := value.NewMap(min(n, 4096))
	m.Ordered = tag == tagOrdered
	for range n {
		k, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		if !value.Hashable(k) {
			return nil, broken("a key is not hashable")
		}
		x, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		m.Set(k, x)
	}
	return m, nil
}

// ParseMap reads b as one dict; nothing at all is an empty one.
func ParseMap(b []byte) (*value.Map, error) {
	if len(b) == 0 {
		return value.NewMap(0), nil
	}
	v, err := ParseValue(b)
	if err != nil {
		return nil, err
	}
	m, ok := v.(*value.Map)
	if !ok {
		return nil, broken("a %s where a dict was due", value.TypeName(v))
	}
	return m, nil
}
