package value

import (
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Bounds of what [DecodeJSON] reads.
const (
	// MaxJSONDepth is how deep arrays and objects may be nested (Python's
	// recursion limit stops it at about the same depth).
	MaxJSONDepth = 990
	// MaxJSONSize is the size in bytes of a document.
	MaxJSONSize = 512 << 20
	// maxIntDigits is Python's limit of digits of an int in text.
	maxIntDigits = 4300
)

// A JSONError is a fault in a JSON document, in the words of Python's json.
type JSONError struct {
	Msg       string // without the place
	Line, Col int    // from 1; Col counts characters
	Char      int    // characters from the start of the document
}

// Error returns the fault as Python's JSONDecodeError prints itself.
func (e *JSONError) Error() string {
	return fmt.Sprintf("%s: line %d column %d (char %d)", e.Msg, e.Line, e.Col, e.Char)
}

// Unwrap returns the fault as the Python exception it is.
func (e *JSONError) Unwrap() error { return &PyError{"JSONDecodeError", e.Error()} }

// DecodeJSON reads all of r as one JSON document, as [ParseJSON].
func DecodeJSON(r io.Reader) (Value, error) {
	b, err := io.ReadAll(io.LimitReader(r, MaxJSONSize+1))
	if err != nil {
		return nil, err
	}
	return ParseJSON(string(b))
}

// DecodeJSONSized is DecodeJSON of a document of size bytes, about: it takes no
// more memory than that for the text.
func DecodeJSONSized(r io.Reader, size int64) (Value, error) {
	var b strings.Builder
	size = min(max(size, 0), MaxJSONSize)
	b.Grow(int(size))
	if _, err := io.CopyBuffer(&b, io.LimitReader(r, MaxJSONSize+1), make([]byte, min(size+1, 64<<10))); err != nil {
		return nil, err
	}
	return ParseJSON(b.String())
}

// ParseJSON reads s as one JSON document, with the rules of Python's json.
//
// Objects keep their order (the last of equal keys wins, at the place of the
// first), integers are exact, Infinity, -Infinity and NaN are taken. Escaped
// lone surrogates \udc80 to \udcff are the bytes they stand for in Python's
// surrogateescape; other lone surrogates become U+FFFD. A fault is a
// *[JSONError]; it returns a *[PyError] for a document that is too deep or too
// large.
func ParseJSON(s string) (Value, error) {
	v, _, err := ParseJSONWithin(s, math.MaxInt64)
	return v, err
}

// What the parts of a document cost in memory, about, in bytes: a document of
// empty lists takes fifty times its own size.
const (
	costValue = 32
	costList  = 64
	costMap   = 160
	costEntry = 96
)

// ParseJSONWithin is ParseJSON for a document of somebody who may lie: one that
// would take more than limit bytes of memory is an error. It returns about how
// many it takes.
func ParseJSONWithin(s string, limit int64) (v Value, cost int64, err error) {
	d := jsonReader{s: s, limit: limit, cost: int64(len(s))}
	v, err = d.document()
	return v, d.cost, err
}

// spend counts n bytes of memory.
func (d *jsonReader) spend(n int) error {
	if d.cost += int64(n); d.cost > d.limit {
		return Raise("MemoryError", "JSON document that takes more than %d bytes of memory", d.limit)
	}
	return nil
}

func (d *jsonReader) document() (Value, error) {
	s := d.s
	if len(s) > MaxJSONSize {
		return nil, Raise("MemoryError", "JSON document of more than %d bytes", MaxJSONSize)
	}
	if strings.HasPrefix(s, "\ufeff") {
		return nil, d.fault("Unexpected UTF-8 BOM (decode using utf-8-sig)", 0)
	}
	d.blanks()
	v, err := d.value(0)
	if err != nil {
		return nil, err
	}
	d.blanks()
	if d.i < len(s) {
		return nil, d.fault("Extra data", d.i)
	}
	return v, nil
}

type jsonReader struct {
	s     string
	i     int
	limit int64
	cost  int64
	// sizes are how many entries the last object of each depth had: siblings are often alike.
	sizes [hintedDepths]uint8
}

// Objects get room for as many entries as the one before them had, up to maxHint, at
// depths below hintedDepths.
const (
	hintedDepths = 6
	maxHint      = 16
)

func (d *jsonReader) fault(msg string, at int) error {
	at = min(at, len(d.s))
	line, col := 1, 1
	chars := 0
	for _, r := range d.s[:at] {
		chars++
		col++
		if r == '\n' {
			line++
			col = 1
		}
	}
	return &JSONError{Msg: msg, Line: line, Col: col, Char: chars}
}

func (d *jsonReader) blanks() {
	for d.i < len(d.s) {
		switch d.s[d.i] {
		case ' ', '\t', '\n', '\r':
			d.i++
		default:
			return
		}
	}
}

func (d *jsonReader) value(depth int) (Value, error) {
	if d.i >= len(d.s) {
		return nil, d.fault("Expecting value", d.i)
	}
	if err := d.spend(costValue); err != nil {
		return nil, err
	}
	switch c := d.s[d.i]; c {
	case '"':
		return d.text()
	case '{':
		if depth >= MaxJSONDepth {
			return nil, Raise("RecursionError", "maximum recursion depth exceeded while decoding a JSON object from a unicode string")
		}
		return d.object(depth)
	case '[':
		if depth >= MaxJSONDepth {
			return nil, Raise("RecursionError", "maximum recursion depth exceeded while decoding a JSON array from a unicode string")
		}
		return d.array(depth)
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return d.number()
	default:
		for _, w := range []struct {
			text string
			v    Value
		}{{"null", nil}, {"true", true}, {"false", false}, {"NaN", math.NaN()}, {"Infinity", math.Inf(1)}} {
			if c == w.text[0] && strings.HasPrefix(d.s[d.i:], w.text) {
				d.i += len(w.text)
				return w.v, nil
			}
		}
		return nil, d.fault("Expecting value", d.i)
	}
}

func (d *jsonReader) object(depth int) (Value, error) {
	d.i++
	if err := d.spend(costMap); err != nil {
		return nil, err
	}
	m := &Map{}
	d.blanks()
	if d.i < len(d.s) && d.s[d.i] == '}' {
		d.i++
		return m, nil
	}
	for {
		if d.i >= len(d.s) || d.s[d.i] != '"' {
			return nil, d.fault("Expecting property name enclosed in double quotes", d.i)
		}
		k, err := d.text()
		if err != nil {
			return nil, err
		}
		d.blanks()
		if d.i >= len(d.s) || d.s[d.i] != ':' {
			return nil, d.fault("Expecting ':' delimiter", d.i)
		}
		d.i++
		d.blanks()
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		if err := d.spend(costEntry); err != nil {
			return nil, err
		}
		d.hint(m, depth)
		m.Set(boxed(k), v)
		d.blanks()
		if d.i < len(d.s) && d.s[d.i] == '}' {
			d.i++
			d.note(m, depth)
			return m, nil
		}
		if d.i >= len(d.s) || d.s[d.i] != ',' {
			return nil, d.fault("Expecting ',' delimiter", d.i)
		}
		d.i++
		d.blanks()
	}
}

// hint makes the room of an object, before its first entry.
func (d *jsonReader) hint(m *Map, depth int) {
	if m.ents == nil && depth < hintedDepths {
		m.ents = make([]entry, 0, max(1, d.sizes[depth]))
	}
}

// note has the size of an object be the room of the next one. It gives back what was too
// much.
func (d *jsonReader) note(m *Map, depth int) {
	if depth >= hintedDepths {
		return
	}
	n := len(m.ents)
	if cap(m.ents) > 2*n {
		m.ents = append(make([]entry, 0, n), m.ents...)
	}
	d.sizes[depth] = uint8(min(n, maxHint))
}

// boxed returns a key as a Value. The keys of what states return, which come by the
// million, take no memory of their own.
func boxed(key string) Value {
	switch key {
	case "result":
		return keyResult
	case "comment":
		return keyComment
	case "changes":
		return keyChanges
	case "name":
		return keyName
	case "duration":
		return keyDuration
	case "start_time":
		return keyStartTime
	case "__run_num__":
		return keyRunNum
	case "__sls__":
		return keySLS
	case "__id__":
		return keyID
	}
	return key
}

var (
	keyResult    Value = "result"
	keyComment   Value = "comment"
	keyChanges   Value = "changes"
	keyName      Value = "name"
	keyDuration  Value = "duration"
	keyStartTime Value = "start_time"
	keyRunNum    Value = "__run_num__"
	keySLS       Value = "__sls__"
	keyID        Value = "__id__"
)

func (d *jsonReader) array(depth int) (Value, error) {
	d.i++
	if err := d.spend(costList); err != nil {
		return nil, err
	}
	l := &List{}
	d.blanks()
	if d.i < len(d.s) && d.s[d.i] == ']' {
		d.i++
		return l, nil
	}
	for {
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		l.Items = append(l.Items, v)
		d.blanks()
		if d.i < len(d.s) && d.s[d.i] == ']' {
			d.i++
			return l, nil
		}
		if d.i >= len(d.s) || d.s[d.i] != ',' {
			return nil, d.fault("Expecting ',' delimiter", d.i)
		}
		d.i++
		d.blanks()
	}
}

func (d *jsonReader) digits() int {
	n := 0
	for d.i < len(d.s) && d.s[d.i] >= '0' && d.s[d.i] <= '9' {
		d.i++
		n++
	}
	return n
}

func (d *jsonReader) number() (Value, error) {
	start := d.i
	if d.s[d.i] == '-' {
		d.i++
		if strings.HasPrefix(d.s[d.i:], "Infinity") {
			d.i += len("Infinity")
			return math.Inf(-1), nil
		}
	}
	if d.i >= len(d.s) {
		return nil, d.fault("Expecting value", start)
	}
	if d.s[d.i] == '0' {
		d.i++
	} else if d.digits() == 0 {
		return nil, d.fault("Expecting value", start)
	}
	float := false
	if end := d.i; d.i < len(d.s) && d.s[d.i] == '.' {
		d.i++
		if d.digits() > 0 {
			float = true
		} else {
			d.i = end
		}
	}
	if end := d.i; d.i < len(d.s) && (d.s[d.i] == 'e' || d.s[d.i] == 'E') {
		d.i++
		if d.i < len(d.s) && (d.s[d.i] == '+' || d.s[d.i] == '-') {
			d.i++
		}
		if d.digits() > 0 {
			float = true
		} else {
			d.i = end
		}
	}
	text := d.s[start:d.i]
	if float {
		f, _ := strconv.ParseFloat(text, 64) // out of range is an infinity, as in Python
		return f, nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	if n := len(strings.TrimPrefix(text, "-")); n > maxIntDigits {
		return nil, Raise("ValueError", "Exceeds the limit (%d digits) for integer string conversion: value has %d digits; use sys.set_int_max_str_digits() to increase the limit", maxIntDigits, n)
	}
	n, _ := new(big.Int).SetString(text, 10)
	return NormInt(n), nil
}

func (d *jsonReader) text() (string, error) {
	begin := d.i
	d.i++
	start := d.i
	for d.i < len(d.s) { // the common case: nothing to replace
		c := d.s[d.i]
		if c == '"' {
			d.i++
			return d.s[start : d.i-1], nil
		}
		if c == '\\' || c < ' ' {
			break
		}
		d.i++
	}
	var b strings.Builder
	b.Grow(d.endOfText() - start)
	b.WriteString(d.s[start:d.i])
	for d.i < len(d.s) {
		if n := plain(d.s[d.i:]); n > 0 {
			b.WriteString(d.s[d.i : d.i+n])
			d.i += n
			continue
		}
		c := d.s[d.i]
		switch {
		case c == '"':
			d.i++
			return b.String(), nil
		case c < ' ':
			return "", d.fault("Invalid control character at", d.i)
		}
		d.i++
		if d.i >= len(d.s) {
			break
		}
		if err := d.escape(&b); err != nil {
			return "", err
		}
	}
	return "", d.fault("Unterminated string starting at", begin)
}

// escape reads what stands behind a backslash.
func (d *jsonReader) escape(b *strings.Builder) error {
	c := d.s[d.i]
	d.i++
	switch c {
	case '"', '\\', '/':
		b.WriteByte(c)
	case 'b':
		b.WriteByte('\b')
	case 'f':
		b.WriteByte('\f')
	case 'n':
		b.WriteByte('\n')
	case 'r':
		b.WriteByte('\r')
	case 't':
		b.WriteByte('\t')
	case 'u':
		r, ok := d.hex4(d.i)
		if !ok {
			return d.fault(`Invalid \uXXXX escape`, d.i-1)
		}
		d.i += 4
		if r >= 0xd800 && r < 0xdc00 && strings.HasPrefix(d.s[d.i:], `\u`) {
			if lo, ok := d.hex4(d.i + 2); ok && lo >= 0xdc00 && lo < 0xe000 {
				r = 0x10000 + (r-0xd800)<<10 + (lo - 0xdc00)
				d.i += 6
			}
		}
		if r >= 0xdc80 && r <= 0xdcff {
			b.WriteByte(byte(r - 0xdc00))
		} else {
			b.WriteRune(r)
		}
	default:
		return d.fault(`Invalid \escape`, d.i-2)
	}
	return nil
}

// plain returns how much of the beginning of a text stands for itself.
func plain(s string) int {
	for i := range len(s) {
		if c := s[i]; c == '"' || c == '\\' || c < ' ' {
			return i
		}
	}
	return len(s)
}

// endOfText returns where the text ends that the reader is in, about.
func (d *jsonReader) endOfText() int {
	for i := d.i; i < len(d.s); i++ {
		switch d.s[i] {
		case '"':
			return i
		case '\\':
			i++
		}
	}
	return len(d.s)
}

func (d *jsonReader) hex4(at int) (rune, bool) {
	if at+4 > len(d.s) {
		return 0, false
	}
	n, err := strconv.ParseUint(d.s[at:at+4], 16, 32)
	return rune(n), err == nil
}
