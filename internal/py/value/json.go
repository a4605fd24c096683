package value

import (
	"io"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// JSONOptions say how [AppendJSON] writes. The zero value is Python's
// json.dumps(v, ensure_ascii=False), which is how Salt calls it.
type JSONOptions struct {
	// Indent is the number of blanks a level, on lines of their own; 0 is one
	// line (Python's None), less than 0 is lines without indent (Python's 0).
	Indent int
	// IndentText is the text of a level where it is not made of blanks
	// (Python's indent="\t"). It goes before Indent.
	IndentText string
	// SortKeys writes dicts in the order of their keys.
	SortKeys bool
	// ItemSep and KeySep stand between items and after keys. Empty is
	// Python's default: ", " (or "," where there is an indent) and ": ".
	ItemSep, KeySep string
	// EscapeNonASCII writes \uXXXX for all beyond ASCII (ensure_ascii=True).
	EscapeNonASCII bool
	// Repr writes what JSON cannot hold (sets, bytes, datetimes, objects) as
	// text of its Python repr, as Salt's outputter does (default=repr).
	// Otherwise such a value is a TypeError.
	Repr bool
	// Strict writes the numbers that JSON does not have as strings: "Infinity",
	// "-Infinity" and "NaN". It is for what other programs read.
	Strict bool
	// SkipKeys leaves out entries whose key JSON cannot hold (a tuple, bytes);
	// otherwise such a key is a TypeError.
	SkipKeys bool
	// Flush is handed what was written whenever a mebibyte is full; nil keeps
	// all until the end. AppendJSON returns the rest, and Flush's error.
	Flush func([]byte) error
}

// flushSize is how many bytes JSONOptions.Flush is handed at once, at least.
const flushSize = 1 << 20

// EncodeJSON returns v as compact JSON, dicts in their order.
//
// It cannot fail: what JSON cannot hold is written as text of its Python repr,
// such keys too, and a container within itself as its repr ("[...]"). Infinity and
// NaN are written so, which is not JSON: brine reads it back as what it was. What
// other programs read is written by [StrictJSON].
func EncodeJSON(v Value) []byte { return encodeJSON(v, false) }

// StrictJSON returns v as [EncodeJSON] does, but always as valid JSON: see
// JSONOptions.Strict.
func StrictJSON(v Value) []byte { return encodeJSON(v, true) }

func encodeJSON(v Value, strict bool) []byte {
	w := jsonWriter{JSONOptions: JSONOptions{ItemSep: ",", KeySep: ":", Repr: true, Strict: strict}, lenient: true}
	w.start()
	_ = w.value(v, 0)
	return w.dst
}

// AppendJSON appends v to dst as Python's json.dumps writes it.
//
// Tuples are arrays; keys None, bool, int and float become text as in Python
// ("null", "true", "1", "1.5"); Infinity, -Infinity and NaN are written so. A
// lazy [Mapping] is read completely. Bytes that are not valid UTF-8 are written
// as \udcXX, the lone surrogates of Python's surrogateescape.
//
// It returns a *[PyError]: TypeError for a value or key that JSON cannot hold
// (see JSONOptions.Repr, SkipKeys) and for keys that cannot be sorted,
// ValueError for a container within itself or within 150,000 others,
// MemoryError for more than 1 GiB of text. dst is then returned as it was.
// Salt: salt/utils/json.py dumps.
func AppendJSON(dst []byte, v Value, o JSONOptions) ([]byte, error) {
	w := jsonWriter{JSONOptions: o, dst: dst}
	w.start()
	if err := w.value(v, 0); err != nil {
		return dst, err
	}
	if w.flushed != nil {
		return dst, w.flushed
	}
	return w.dst, nil
}

// WriteJSON writes v to w, in parts, as [EncodeJSON] returns it. Its error is w's.
func WriteJSON(w io.Writer, v Value) error {
	jw := jsonWriter{JSONOptions: JSONOptions{ItemSep: ",", KeySep: ":", Repr: true, Flush: func(b []byte) error {
		_, err := w.Write(b)
		return err
	}}, lenient: true}
	jw.start()
	if err := jw.value(v, 0); err != nil {
		return err
	}
	if jw.flushed != nil {
		return jw.flushed
	}
	return jw.Flush(jw.dst)
}

type jsonWriter struct {
	JSONOptions
	dst     []byte
	lines   bool
	lenient bool
	open    opened // the containers being written, to find those within themselves
	flushed error  // what Flush returned while the text was written
}

func (w *jsonWriter) start() {
	w.lines = w.Indent != 0 || w.IndentText != ""
	if w.IndentText == "" {
		for range w.Indent {
			w.IndentText += " "
		}
	}
	if w.ItemSep == "" {
		if w.ItemSep = ", "; w.lines {
			w.ItemSep = ","
		}
	}
	if w.KeySep == "" {
		w.KeySep = ": "
	}
}

func (w *jsonWriter) newline(depth int) {
	if !w.lines {
		return
	}
	w.dst = append(w.dst, '\n')
	for range depth {
		w.dst = append(w.dst, w.IndentText...)
	}
}

// enter notes that c is being written. It returns false where c is within
// itself.
func (w *jsonWriter) enter(c any) bool { return w.open.enter(c) }

func (w *jsonWriter) leave() { w.open.leave() }

func (w *jsonWriter) value(v Value, depth int) error {
	switch v := v.(type) {
	case nil:
		w.dst = append(w.dst, "null"...)
	case bool:
		w.dst = strconv.AppendBool(w.dst, v)
	case int64:
		w.dst = strconv.AppendInt(w.dst, v, 10)
	case string:
		w.text(v)
	case float64:
		if w.Strict && (math.IsNaN(v) || math.IsInf(v, 0)) {
			w.text(jsonFloat(v))
		} else {
			w.dst = append(w.dst, jsonFloat(v)...)
		}
	case *big.Int:
		w.dst = v.Append(w.dst, 10)
	case *List:
		if v == nil {
			w.dst = append(w.dst, "[]"...)
			return nil
		}
		if !w.enter(v) {
			return w.circular("[...]")
		}
		defer w.leave()
		return w.items(v.Items, depth)
	case Tuple:
		if depth > MaxDepth*2 {
			return w.circular("(...)")
		}
		return w.items(v, depth)
	case Bytes, time.Time, *Set:
		return w.other(v)
	case Mapping:
		if m, ok := v.(*Map); ok && m == nil {
			w.dst = append(w.dst, "{}"...)
			return nil
		}
		if comparable := reflect.TypeOf(v).Comparable(); comparable {
			if !w.enter(v) {
				return w.circular("{...}")
			}
			defer w.leave()
		} else if depth > MaxDepth*2 {
			return w.circular("{...}")
		}
		return w.mapping(v, depth)
	default:
		// A type of another package that is a kind of string (Markup) is a
		// subclass of str.
		if rv := reflect.ValueOf(v); rv.Kind() == reflect.String {
			w.text(rv.String())
			return nil
		}
		return w.other(v)
	}
	return nil
}

func (w *jsonWriter) other(v Value) error {
	if !w.Repr {
		return Raise("TypeError", "Object of type %s is not JSON serializable", TypeName(v))
	}
	w.text(Repr(v))
	return nil
}

func (w *jsonWriter) circular(repr string) error {
	if !w.lenient {
		return Raise("ValueError", "Circular reference detected")
	}
	w.text(repr)
	return nil
}

// full returns an error where the text is too long.
func (w *jsonWriter) full() error {
	if len(w.dst) > maxText {
		return Raise("MemoryError", "the value is larger than %d bytes as JSON", maxText)
	}
	return nil
}

func (w *jsonWriter) items(items []Value, depth int) error {
	if err := w.full(); err != nil {
		return err
	}
	if len(items) == 0 {
		w.dst = append(w.dst, "[]"...)
		return nil
	}
	w.dst = append(w.dst, '[')
	for i, x := range items {
		if i > 0 {
			w.dst = append(w.dst, w.ItemSep...)
		}
		w.newline(depth + 1)
		if err := w.value(x, depth+1); err != nil {
			return err
		}
		if err := w.flush(); err != nil {
			return err
		}
	}
	w.newline(depth)
	w.dst = append(w.dst, ']')
	return nil
}

// flush hands over what was written where that is much.
func (w *jsonWriter) flush() error {
	if w.flushed != nil || w.Flush == nil || len(w.dst) < flushSize {
		return w.flushed
	}
	b := w.dst
	w.dst = w.dst[:0]
	return w.Flush(b)
}

func (w *jsonWriter) mapping(m Mapping, depth int) error {
	if err := w.full(); err != nil {
		return err
	}
	if m.Len() == 0 {
		w.dst = append(w.dst, "{}"...)
		return nil
	}
	w.dst = append(w.dst, '{')
	first := true
	pair := func(k, x Value) error {
		start := len(w.dst)
		if !first {
			w.dst = append(w.dst, w.ItemSep...)
		}
		w.newline(depth + 1)
		ok, err := w.key(k)
		if err != nil {
			return err
		}
		if !ok {
			w.dst = w.dst[:start]
			return nil
		}
		first = false
		w.dst = append(w.dst, w.KeySep...)
		if err := w.value(x, depth+1); err != nil {
			return err
		}
		return w.flush()
	}
	if om, ok := m.(*Map); ok && !w.SortKeys {
		for i := range om.ents {
			if err := pair(om.ents[i].key, om.ents[i].val); err != nil {
				return err
			}
		}
	} else {
		keys := m.Keys()
		if w.SortKeys {
			keys = slices.Clone(keys)
			if err := sortKeys(keys); err != nil && !w.lenient {
				return err
			}
		}
		for _, k := range keys {
			x, _ := m.Get(k)
			if err := pair(k, x); err != nil {
				return err
			}
		}
	}
	if !first {
		w.newline(depth)
	}
	w.dst = append(w.dst, '}')
	return nil
}

// key writes k and reports whether it could.
func (w *jsonWriter) key(k Value) (bool, error) {
	switch k := k.(type) {
	case string:
		w.text(k)
	case nil:
		w.text("null")
	case bool:
		w.text(strconv.FormatBool(k))
	case int64:
		w.text(strconv.FormatInt(k, 10))
	case *big.Int:
		w.text(k.String())
	case float64:
		w.text(jsonFloat(k))
	default:
		if rv := reflect.ValueOf(k); rv.Kind() == reflect.String {
			if _, ok := k.(Bytes); !ok {
				w.text(rv.String())
				return true, nil
			}
		}
		switch {
		case w.lenient:
			w.text(Repr(k))
		case w.SkipKeys:
			return false, nil
		default:
			return false, Raise("TypeError", "keys must be str, int, float, bool or None, not %s", TypeName(k))
		}
	}
	return true, nil
}

// sortKeys sorts keys as Python's sorted; keys of types that have no order
// between them are a TypeError, and the order is then unspecified.
func sortKeys(keys []Value) error {
	var err error
	slices.SortStableFunc(keys, func(a, b Value) int {
		if x, ok := a.(string); ok {
			if y, ok := b.(string); ok {
				switch {
				case x < y:
					return -1
				case x > y:
					return 1
				}
				return 0
			}
		}
		if IsNumber(a) && IsNumber(b) {
			c, _ := compareNumbers(a, b)
			return c
		}
		if err == nil {
			// Python's sort compares a later item with an earlier one.
			err = Raise("TypeError", "'<' not supported between instances of '%s' and '%s'", TypeName(a), TypeName(b))
		}
		return 0
	})
	return err
}

func jsonFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return FloatRepr(f)
}

const hexDigits = "0123456789abcdef"

// text writes s as a JSON string, a long one in parts where there is somebody who
// takes them.
func (w *jsonWriter) text(s string) {
	w.dst = append(w.dst, '"')
	for w.Flush != nil && w.flushed == nil && len(s) > flushSize {
		n := flushSize
		for i := range utf8.UTFMax {
			if utf8.RuneStart(s[flushSize-i]) {
				n -= i
				break
			}
		}
		w.chars(s[:n])
		s = s[n:]
		w.flushed = w.flush()
	}
	w.chars(s)
	w.dst = append(w.dst, '"')
}

// chars writes what stands between the quotes.
func (w *jsonWriter) chars(s string) {
	dst := w.dst
	if len(s) > flushSize/16 {
		dst = slices.Grow(dst, len(s)+len(s)/16)
	}
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' && (c != 0x7f || !w.EscapeNonASCII) {
				i++
				continue
			}
			dst = append(dst, s[start:i]...)
			switch c {
			case '"', '\\':
				dst = append(dst, '\\', c)
			case '\n':
				dst = append(dst, '\\', 'n')
			case '\r':
				dst = append(dst, '\\', 'r')
			case '\t':
				dst = append(dst, '\\', 't')
			case '\b':
				dst = append(dst, '\\', 'b')
			case '\f':
				dst = append(dst, '\\', 'f')
			default:
				dst = appendU(dst, rune(c))
			}
			i++
			start = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		bad := r == utf8.RuneError && n == 1
		if !bad && !w.EscapeNonASCII {
			i += n
			continue
		}
		dst = append(dst, s[start:i]...)
		switch {
		case bad:
			dst = appendU(dst, 0xdc00+rune(c))
		case r > 0xffff:
			r -= 0x10000
			dst = appendU(dst, 0xd800+r>>10)
			dst = appendU(dst, 0xdc00+r&0x3ff)
		default:
			dst = appendU(dst, r)
		}
		i += n
		start = i
	}
	w.dst = append(dst, s[start:]...)
}

func appendU(dst []byte, r rune) []byte {
	return append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}
