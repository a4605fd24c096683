package serial

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/big"
	"time"
	"unicode/utf16"

	"brine/internal/py/value"
)

// The binary format of property lists: a magic word, the objects, a table of
// their offsets, a trailer. Source: Python's plistlib, CFBinaryPList.c.
const (
	binaryMagic = "bplist00"
	trailerSize = 32
)

var plistEpoch = time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)

// bplistWriter numbers objects as plistlib does: scalars once, containers each
// time, the keys of a dict before its values.
type bplistWriter struct {
	plistOptions
	objects []value.Value
	scalars map[any]int
	refs    [][]int // of each object, those that it holds
}

func (o plistOptions) binary(v value.Value) (value.Value, error) {
	w := &bplistWriter{plistOptions: o, scalars: map[any]int{}}
	if _, err := w.number(v, 0); err != nil {
		return nil, err
	}
	refSize := countSize(uint64(len(w.objects)))
	var b bytes.Buffer
	b.WriteString(binaryMagic)
	offsets := make([]int, len(w.objects))
	for i, obj := range w.objects {
		offsets[i] = b.Len()
		if err := w.object(&b, obj, w.refs[i], refSize); err != nil {
			return nil, err
		}
	}
	table := b.Len()
	offsetSize := countSize(uint64(table))
	for _, at := range offsets {
		putUint(&b, uint64(at), offsetSize)
	}
	b.Write(make([]byte, 6))
	b.WriteByte(byte(offsetSize))
	b.WriteByte(byte(refSize))
	putUint(&b, uint64(len(w.objects)), 8)
	putUint(&b, 0, 8)
	putUint(&b, uint64(table), 8)
	return value.Bytes(b.String()), nil
}

// scalarKey is a comparable key of a scalar, with its type.
func scalarKey(v value.Value) (any, bool) {
	switch x := v.(type) {
	case bool, int64, float64, string, value.Bytes:
		return x, true
	case *big.Int:
		return [2]string{"int", x.String()}, true
	case time.Time:
		return x.UTC(), true
	}
	s, ok := value.AsText(v)
	return s, ok
}

// number gives v and what it holds their numbers.
func (w *bplistWriter) number(v value.Value, depth int) (int, error) {
	if depth > maxDepth {
		return 0, value.Raise("RecursionError", "maximum recursion depth exceeded")
	}
	key, isScalar := scalarKey(v)
	if isScalar {
		if n, ok := w.scalars[key]; ok {
			return n, nil
		}
		w.scalars[key] = len(w.objects)
	}
	n := len(w.objects)
	w.objects, w.refs = append(w.objects, v), append(w.refs, nil)
	if isScalar {
		return n, nil
	}
	var held []value.Value
	if items, ok := sequence(v); ok {
		held = items
	} else if m, ok := v.(value.Mapping); ok {
		keys, err := w.keys(m)
		if err != nil {
			return 0, err
		}
		for _, k := range keys {
			held = append(held, k)
		}
		for _, k := range keys {
			x, _ := m.Get(k)
			held = append(held, x)
		}
	}
	refs := make([]int, len(held))
	for i, x := range held {
		ref, err := w.number(x, depth+1)
		if err != nil {
			return 0, err
		}
		refs[i] = ref
	}
	w.refs[n] = refs
	return n, nil
}

func (w *bplistWriter) object(b *bytes.Buffer, v value.Value, refs []int, refSize int) error {
	if s, ok := value.AsText(v); ok {
		if value.IsASCII(s) {
			putSize(b, 0x50, len(s))
			b.WriteString(s)
			return nil
		}
		units := utf16.Encode([]rune(s))
		putSize(b, 0x60, len(units))
		for _, u := range units {
			putUint(b, uint64(u), 2)
		}
		return nil
	}
	if _, ok := sequence(v); ok {
		putSize(b, 0xa0, len(refs))
	} else {
		switch x := v.(type) {
		case nil:
			b.WriteByte(0)
		case bool:
			if b.WriteByte(8); x {
				b.Bytes()[b.Len()-1] = 9
			}
		case int64:
			putInt(b, x)
		case *big.Int:
			if !x.IsUint64() {
				return value.Raise("OverflowError", "%s", x.String())
			}
			b.WriteByte(0x14)
			putUint(b, 0, 8)
			putUint(b, x.Uint64(), 8)
		case float64:
			b.WriteByte(0x23)
			putUint(b, math.Float64bits(x), 8)
		case time.Time:
			b.WriteByte(0x33)
			putUint(b, math.Float64bits(x.Sub(plistEpoch).Seconds()), 8)
		case value.Bytes:
			putSize(b, 0x40, len(x))
			b.WriteString(string(x))
		case value.Mapping:
			putSize(b, 0xd0, len(refs)/2)
		default:
			return value.Raise("TypeError", "%s", value.Repr(v))
		}
	}
	for _, ref := range refs {
		putUint(b, uint64(ref), refSize)
	}
	return nil
}

// countSize is how many bytes numbers below n take.
func countSize(n uint64) int {
	switch {
	case n < 1<<8:
		return 1
	case n < 1<<16:
		return 2
	case n < 1<<32:
		return 4
	}
	return 8
}

func putUint(b *bytes.Buffer, n uint64, size int) {
	var raw [8]byte
	binary.BigEndian.PutUint64(raw[:], n)
	b.Write(raw[8-size:])
}

func putInt(b *bytes.Buffer, n int64) {
	size := 8
	if n >= 0 {
		size = countSize(uint64(n))
	}
	b.WriteByte(map[int]byte{1: 0x10, 2: 0x11, 4: 0x12, 8: 0x13}[size])
	putUint(b, uint64(n), size)
}

func putSize(b *bytes.Buffer, token byte, n int) {
	if n < 15 {
		b.WriteByte(token | byte(n))
		return
	}
	b.WriteByte(token | 0xf)
	putInt(b, int64(n))
}

// bplistReader reads objects by their numbers. Data that refer to each other in
// a circle, or that grow by it, are refused.
type bplistReader struct {
	b                   []byte
	offsets             []uint64
	refSize, depth, cnt int
}

func readBinaryPlist(b []byte) (value.Value, error) {
	if len(b) < len(binaryMagic)+trailerSize {
		return nil, errPlist
	}
	trailer := b[len(b)-trailerSize:]
	offsetSize, refSize := int(trailer[6]), int(trailer[7])
	count, top, table := binary.BigEndian.Uint64(trailer[8:]), binary.BigEndian.Uint64(trailer[16:]), binary.BigEndian.Uint64(trailer[24:])
	room := uint64(len(b) - trailerSize)
	if offsetSize < 1 || offsetSize > 8 || refSize < 1 || refSize > 8 || table > room || count > (room-table)/uint64(offsetSize) || top >= count {
		return nil, errPlist
	}
	r := &bplistReader{b: b[:room], refSize: refSize, offsets: make([]uint64, count)}
	for i := range r.offsets {
		r.offsets[i] = getUint(b[table+uint64(i*offsetSize):][:offsetSize])
	}
	return r.object(top)
}

func getUint(b []byte) uint64 {
	var n uint64
	for _, c := range b {
		n = n<<8 | uint64(c)
	}
	return n
}

func (r *bplistReader) take(at, n uint64) ([]byte, error) {
	if size := uint64(len(r.b)); at > size || n > size-at {
		return nil, errPlist
	}
	return r.b[at : at+n], nil
}

// size reads how many elements an object has, and where they begin.
func (r *bplistReader) size(token byte, at uint64) (n, start uint64, err error) {
	if token&0xf != 0xf {
		return uint64(token & 0xf), at, nil
	}
	m, err := r.take(at, 1)
	if err != nil || m[0]&0xf0 != 0x10 || m[0]&0xf > 3 {
		return 0, 0, errPlist
	}
	width := uint64(1) << (m[0] & 0x3)
	raw, err := r.take(at+1, width)
	if err != nil {
		return 0, 0, err
	}
	return getUint(raw), at + 1 + width, nil
}

func (r *bplistReader) object(ref uint64) (value.Value, error) {
	r.depth++
	defer func() { r.depth-- }()
	if r.cnt++; ref >= uint64(len(r.offsets)) || r.depth > maxDepth || r.cnt > value.MaxItems {
		return nil, errPlist
	}
	at := r.offsets[ref]
	head, err := r.take(at, 1)
	if err != nil {
		return nil, err
	}
	token := head[0]
	at++
	switch {
	case token == 0:
		return nil, nil
	case token == 8, token == 9:
		return token == 9, nil
	case token == 0xf:
		return value.Bytes(""), nil
	case token&0xf0 == 0x10 && token <= 0x14:
		return r.integer(at, uint64(1)<<(token&0xf))
	case token == 0x22, token == 0x23, token == 0x33:
		return r.real(token, at)
	}
	n, at, err := r.size(token, at)
	if err != nil {
		return nil, err
	}
	switch token & 0xf0 {
	case 0x40, 0x50:
		raw, err := r.take(at, n)
		if token&0xf0 == 0x40 {
			return value.Bytes(raw), err
		}
		return string(raw), err
	case 0x60:
		if n > uint64(len(r.b)) {
			return nil, errPlist
		}
		raw, err := r.take(at, 2*n)
		units := make([]uint16, len(raw)/2)
		for i := range units {
			units[i] = binary.BigEndian.Uint16(raw[2*i:])
		}
		return string(utf16.Decode(units)), err
	case 0xa0:
		items, err := r.objects(at, n)
		return &value.List{Items: items}, err
	case 0xd0:
		return r.dict(at, n)
	}
	return nil, errPlist
}

func (r *bplistReader) integer(at, width uint64) (value.Value, error) {
	raw, err := r.take(at, width)
	switch {
	case err != nil:
		return nil, err
	case width == 16:
		n := new(big.Int).SetBytes(raw)
		if raw[0] >= 0x80 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), 128))
		}
		return value.NormInt(n), nil
	case width == 8:
		return int64(binary.BigEndian.Uint64(raw)), nil
	}
	return int64(getUint(raw)), nil
}

func (r *bplistReader) real(token byte, at uint64) (value.Value, error) {
	width := uint64(8)
	if token == 0x22 {
		width = 4
	}
	raw, err := r.take(at, width)
	if err != nil {
		return nil, err
	}
	if token == 0x22 {
		return float64(math.Float32frombits(binary.BigEndian.Uint32(raw))), nil
	}
	f := math.Float64frombits(binary.BigEndian.Uint64(raw))
	if token == 0x23 {
		return f, nil
	}
	if math.IsNaN(f) || math.Abs(f) > 1e11 {
		return nil, errPlist
	}
	whole, part := math.Modf(f)
	return time.Unix(plistEpoch.Unix()+int64(whole), int64(part*1e9)).UTC(), nil
}

func (r *bplistReader) objects(at, n uint64) ([]value.Value, error) {
	if n > uint64(len(r.b)) {
		return nil, errPlist
	}
	raw, err := r.take(at, n*uint64(r.refSize))
	if err != nil {
		return nil, err
	}
	items := make([]value.Value, n)
	for i := range items {
		if items[i], err = r.object(getUint(raw[i*r.refSize:][:r.refSize])); err != nil {
			return nil, err
		}
	}
	return items, nil
}

func (r *bplistReader) dict(at, n uint64) (value.Value, error) {
	keys, err := r.objects(at, n)
	if err != nil {
		return nil, err
	}
	vals, err := r.objects(at+n*uint64(r.refSize), n)
	if err != nil {
		return nil, err
	}
	m := value.NewMap(len(keys))
	for i, k := range keys {
		if !value.Hashable(k) {
			return nil, errPlist
		}
		m.Set(k, vals[i])
	}
	return m, nil
}
