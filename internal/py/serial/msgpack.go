package serial

import (
	"math"
	"math/big"
	"time"

	"github.com/tinylib/msgp/msgp"

	"brine/internal/py/value"
)

// maxDepth bounds nesting.
const maxDepth = 500

// writeMsgpack writes MessagePack as Python's msgpack 1.0 does.
func writeMsgpack(v value.Value, _ *value.Map) (value.Value, error) {
	b, err := appendMsgpack(nil, v, 0)
	return value.Bytes(b), err
}

func appendMsgpack(b []byte, v value.Value, depth int) ([]byte, error) {
	if depth > maxDepth {
		return nil, value.Raise("ValueError", "recursion limit exceeded")
	}
	switch x := v.(type) {
	case nil:
		return msgp.AppendNil(b), nil
	case bool:
		return msgp.AppendBool(b, x), nil
	case int64:
		if x >= 0 {
			return msgp.AppendUint64(b, uint64(x)), nil
		}
		return msgp.AppendInt64(b, x), nil
	case *big.Int:
		if x.IsUint64() {
			return msgp.AppendUint64(b, x.Uint64()), nil
		}
		return nil, value.Raise("OverflowError", "Integer value out of range")
	case float64:
		return msgp.AppendFloat64(b, x), nil
	case value.Bytes:
		return msgp.AppendBytes(b, []byte(x)), nil
	case value.Mapping:
		b = msgp.AppendMapHeader(b, uint32(min(x.Len(), math.MaxInt32)))
		for _, k := range x.Keys() {
			val, _ := x.Get(k)
			for _, part := range []value.Value{k, val} {
				var err error
				if b, err = appendMsgpack(b, part, depth+1); err != nil {
					return nil, err
				}
			}
		}
		return b, nil
	}
	if s, ok := value.AsText(v); ok {
		return msgp.AppendString(b, s), nil
	}
	items, ok := sequence(v)
	if !ok {
		return nil, value.Raise("TypeError", "can not serialize '%s' object", value.OperandType(v))
	}
	b = msgp.AppendArrayHeader(b, uint32(min(len(items), math.MaxInt32)))
	for _, it := range items {
		var err error
		if b, err = appendMsgpack(b, it, depth+1); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// sequence returns the items of a list or tuple.
func sequence(v value.Value) ([]value.Value, bool) {
	if l, ok := v.(*value.List); ok {
		return l.Items, true
	}
	t, ok := value.AsTuple(v)
	return t, ok
}

// readMsgpack reads one MessagePack value.
func readMsgpack(text string) (value.Value, error) {
	v, rest, err := parseMsgpack([]byte(text), 0)
	switch {
	case err != nil:
		return nil, err
	case len(rest) > 0:
		return nil, value.Raise("msgpack.exceptions.ExtraData", "unpack(b) received extra data.")
	}
	return v, nil
}

func parseMsgpack(b []byte, depth int) (v value.Value, rest []byte, err error) {
	if depth > maxDepth {
		return nil, nil, value.Raise("msgpack.exceptions.StackError", "the data are nested too deep")
	}
	if len(b) == 0 {
		return nil, nil, value.Raise("ValueError", "Unpack failed: incomplete input")
	}
	switch msgp.NextType(b) {
	case msgp.NilType:
		return nil, b[1:], nil
	case msgp.BoolType:
		return scalar(msgp.ReadBoolBytes(b))
	case msgp.IntType:
		return scalar(msgp.ReadInt64Bytes(b))
	case msgp.UintType:
		u, rest, err := msgp.ReadUint64Bytes(b)
		return value.NormInt(new(big.Int).SetUint64(u)), rest, err
	case msgp.Float32Type, msgp.Float64Type:
		return scalar(msgp.ReadFloat64Bytes(b))
	case msgp.StrType:
		return scalar(msgp.ReadStringBytes(b))
	case msgp.BinType:
		raw, rest, err := msgp.ReadBytesZC(b)
		return value.Bytes(raw), rest, err
	case msgp.TimeType:
		t, rest, err := msgp.ReadTimeBytes(b)
		return t.In(time.UTC), rest, err
	case msgp.ArrayType:
		n, rest, err := msgp.ReadArrayHeaderBytes(b)
		l := &value.List{}
		for ; n > 0 && err == nil; n-- {
			var x value.Value
			if x, rest, err = parseMsgpack(rest, depth+1); err == nil {
				l.Append(x)
			}
		}
		return l, rest, err
	case msgp.MapType:
		n, rest, err := msgp.ReadMapHeaderBytes(b)
		m := &value.Map{}
		for ; n > 0 && err == nil; n-- {
			var k, x value.Value
			if k, rest, err = parseMsgpack(rest, depth+1); err != nil {
				break
			}
			if !value.Hashable(k) {
				return nil, nil, value.Raise("TypeError", "unhashable type: '%s'", value.TypeName(k))
			}
			if x, rest, err = parseMsgpack(rest, depth+1); err == nil {
				m.Set(k, x)
			}
		}
		return m, rest, err
	default:
		return nil, nil, value.Raise("msgpack.exceptions.FormatError", "the data hold a type that is not known")
	}
}

func scalar[T any](v T, rest []byte, err error) (value.Value, []byte, error) { return v, rest, err }
