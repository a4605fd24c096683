package serial

import (
	"cmp"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/internal/py/value"
)

const (
	plistHead = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
`
	plistTime = "2006-01-02T15:04:05Z"
)

// writePlist writes a property list as Python's plistlib does: XML, or binary
// with the option fmt: FMT_BINARY. Other options: sort_keys (default True) and
// skipkeys.
func writePlist(v value.Value, o *value.Map) (value.Value, error) {
	po := plistOptions{sort: true, skip: value.Truth(o.At("skipkeys"))}
	if s, ok := o.Get("sort_keys"); ok {
		po.sort = value.Truth(s)
	}
	if o.Str("fmt") == "FMT_BINARY" {
		return po.binary(v)
	}
	w := &plistWriter{plistOptions: po}
	w.b.WriteString(plistHead)
	if err := w.write(v, 0); err != nil {
		return nil, err
	}
	w.b.WriteString("</plist>\n")
	return value.Bytes(w.b.String()), nil
}

type plistOptions struct{ sort, skip bool }

// keys returns the keys of a dict that are written.
func (o plistOptions) keys(m value.Mapping) ([]string, error) {
	var keys []string
	for _, k := range m.Keys() {
		s, ok := value.AsText(k)
		switch {
		case ok:
			keys = append(keys, s)
		case !o.skip:
			return nil, value.Raise("TypeError", "keys must be strings")
		}
	}
	if o.sort {
		slices.Sort(keys)
	}
	return keys, nil
}

type plistWriter struct {
	plistOptions
	b strings.Builder
}

func (w *plistWriter) line(depth int, text string) {
	w.b.WriteString(strings.Repeat("\t", depth))
	w.b.WriteString(text)
	w.b.WriteByte('\n')
}

func (w *plistWriter) text(depth int, element, s string) error {
	for _, r := range s {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' {
			return value.Raise("ValueError", "strings can't contain control characters; use bytes instead")
		}
	}
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
	w.line(depth, "<"+element+">"+s+"</"+element+">")
	return nil
}

func (w *plistWriter) write(v value.Value, depth int) error {
	if depth > maxDepth {
		return value.Raise("RecursionError", "maximum recursion depth exceeded")
	}
	if s, ok := value.AsText(v); ok {
		return w.text(depth, "string", s)
	}
	if items, ok := sequence(v); ok {
		return w.block(depth, "array", len(items), func() error {
			for _, it := range items {
				if err := w.write(it, depth+1); err != nil {
					return err
				}
			}
			return nil
		})
	}
	switch x := v.(type) {
	case bool:
		w.line(depth, "<"+strconv.FormatBool(x)+"/>")
	case int64:
		return w.text(depth, "integer", strconv.FormatInt(x, 10))
	case *big.Int:
		if !x.IsUint64() {
			return value.Raise("OverflowError", "%s", x.String())
		}
		return w.text(depth, "integer", x.String())
	case float64:
		return w.text(depth, "real", value.FloatRepr(x))
	case time.Time:
		return w.text(depth, "date", x.UTC().Format(plistTime))
	case value.Bytes:
		return w.data(depth, []byte(x))
	case value.Mapping:
		keys, err := w.keys(x)
		if err != nil {
			return err
		}
		return w.block(depth, "dict", x.Len(), func() error {
			for _, k := range keys {
				if err := w.text(depth+1, "key", k); err != nil {
					return err
				}
				val, _ := x.Get(k)
				if err := w.write(val, depth+1); err != nil {
					return err
				}
			}
			return nil
		})
	default:
		return value.Raise("TypeError", "unsupported type: %s", typeText(v))
	}
	return nil
}

func (w *plistWriter) block(depth int, element string, size int, body func() error) error {
	if size == 0 {
		w.line(depth, "<"+element+"/>")
		return nil
	}
	w.line(depth, "<"+element+">")
	if err := body(); err != nil {
		return err
	}
	w.line(depth, "</"+element+">")
	return nil
}

func (w *plistWriter) data(depth int, b []byte) error {
	w.line(depth, "<data>")
	n := max(16, 76-8*depth) / 4 * 3
	for chunk := range slices.Chunk(b, n) {
		w.line(depth, base64.StdEncoding.EncodeToString(chunk))
	}
	w.line(depth, "</data>")
	return nil
}

// readPlist reads a property list, binary or XML.
func readPlist(text string) (value.Value, error) {
	if strings.HasPrefix(text, binaryMagic) {
		return readBinaryPlist([]byte(text))
	}
	r := &plistReader{d: xml.NewDecoder(strings.NewReader(text))}
	r.d.Strict = true
	v, err := r.document()
	if se := new(xml.SyntaxError); errors.As(err, &se) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, value.Raise("plistlib.InvalidFileException", "Invalid file")
	}
	return v, err
}

type plistReader struct{ d *xml.Decoder }

var errPlist = &value.PyError{Type: "plistlib.InvalidFileException", Msg: "Invalid file"}

// next returns the next start or end of an element, and the text before it.
func (r *plistReader) next() (start *xml.StartElement, text string, err error) {
	var b strings.Builder
	for {
		t, err := r.d.Token()
		if err != nil {
			return nil, "", err
		}
		switch t := t.(type) {
		case xml.StartElement:
			return &t, b.String(), nil
		case xml.EndElement:
			return nil, b.String(), nil
		case xml.CharData:
			b.Write(t)
		case xml.Directive:
			if strings.Contains(string(t), "<!ENTITY") {
				return nil, "", value.Raise("plistlib.InvalidFileException", "XML entity declarations are not supported in plist files")
			}
		}
	}
}

func (r *plistReader) document() (value.Value, error) {
	start, _, err := r.next()
	if err != nil || start == nil {
		return nil, cmp.Or[error](err, errPlist)
	}
	if start.Name.Local != "plist" {
		return r.element(start, 0)
	}
	start, _, err = r.next()
	if err != nil || start == nil {
		return nil, cmp.Or[error](err, errPlist)
	}
	return r.element(start, 0)
}

func (r *plistReader) element(start *xml.StartElement, depth int) (value.Value, error) {
	if depth > maxDepth {
		return nil, value.Raise("RecursionError", "maximum recursion depth exceeded")
	}
	switch start.Name.Local {
	case "dict":
		return r.dict(depth)
	case "array":
		return r.array(depth)
	}
	text, err := r.leaf()
	if err != nil {
		return nil, err
	}
	return plistScalar(start.Name.Local, text)
}

func (r *plistReader) array(depth int) (value.Value, error) {
	l := &value.List{}
	for {
		item, _, err := r.next()
		if err != nil || item == nil {
			return l, err
		}
		v, err := r.element(item, depth+1)
		if err != nil {
			return nil, err
		}
		l.Append(v)
	}
}

func (r *plistReader) dict(depth int) (value.Value, error) {
	m := &value.Map{}
	for {
		k, _, err := r.next()
		if err != nil || k == nil {
			return m, err
		}
		if k.Name.Local != "key" {
			return nil, value.Raise("ValueError", "unexpected element at line %d", r.lineNo())
		}
		name, err := r.leaf()
		if err != nil {
			return nil, err
		}
		val, _, err := r.next()
		if err != nil {
			return nil, err
		}
		if val == nil {
			return nil, value.Raise("ValueError", "missing value for key '%s' at line %d", name, r.lineNo())
		}
		v, err := r.element(val, depth+1)
		if err != nil {
			return nil, err
		}
		m.Set(name, v)
	}
}

func (r *plistReader) lineNo() int {
	line, _ := r.d.InputPos()
	return line
}

// leaf returns the text of an element without others within.
func (r *plistReader) leaf() (string, error) {
	start, text, err := r.next()
	if err == nil && start != nil {
		err = errPlist
	}
	return text, err
}

func plistScalar(element, text string) (value.Value, error) {
	switch element {
	case "string":
		return text, nil
	case "true":
		return true, nil
	case "false":
		return false, nil
	case "integer":
		base := 10
		digits := strings.TrimSpace(text)
		if hex, ok := strings.CutPrefix(strings.ToLower(digits), "0x"); ok {
			base, digits = 16, hex
		}
		return value.ParseInt(digits, base)
	case "real":
		return value.ToFloat(text)
	case "data":
		b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
		return value.Bytes(b), err
	case "date":
		t, err := time.Parse(plistTime, strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("%q is not a date of a property list", text)
		}
		return t, nil
	}
	return nil, fmt.Errorf("a property list has no element %q", element)
}
