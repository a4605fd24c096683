package http

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"mime"
	nethttp "net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"brine/internal/py/value"
)

// bodyOf returns the body as text, by the charset that the answer names for
// text, else UTF-8; as bytes where it is not to be decoded.
func bodyOf(resp *nethttp.Response, raw []byte, limit int64, decode bool) (value.Value, error) {
	raw, err := unpacked(resp.Header.Get("Content-Encoding"), raw, limit)
	if err != nil {
		return nil, err
	}
	kind, params, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	charset := ""
	if err == nil && strings.HasPrefix(kind, "text/") {
		charset = strings.ToLower(params["charset"])
	}
	switch {
	case charset == "latin-1" || charset == "latin1" || charset == "iso-8859-1":
		var b strings.Builder
		for _, c := range raw {
			b.WriteRune(rune(c))
		}
		return b.String(), nil
	case charset == "" && !decode:
		return value.Bytes(raw), nil
	}
	for i := 0; i < len(raw); {
		r, n := utf8.DecodeRune(raw[i:])
		if r == utf8.RuneError && n == 1 {
			why := "invalid start byte"
			if c := raw[i]; c >= 0xc2 && c < 0xf5 {
				why = "invalid continuation byte"
				if !utf8.FullRune(raw[i:]) {
					why = "unexpected end of data"
				}
			}
			return nil, fmt.Errorf("'utf-8' codec can't decode byte 0x%02x in position %d: %s", raw[i], i, why)
		}
		i += n
	}
	return string(raw), nil
}

// unpacked undoes a Content-Encoding. The request asks for none.
func unpacked(coding string, raw []byte, limit int64) ([]byte, error) {
	if len(raw) == 0 {
		return raw, nil // the answer to HEAD, which has the header and no body
	}
	var r io.Reader
	var err error
	switch coding {
	case "gzip":
		r, err = gzip.NewReader(bytes.NewReader(raw))
	case "deflate":
		r, err = zlib.NewReader(bytes.NewReader(raw))
	default:
		return raw, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the body is not %s: %w", coding, err)
	}
	out, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, fmt.Errorf("the body is not %s: %w", coding, err)
	}
	if int64(len(out)) > limit {
		return nil, fmt.Errorf("the answer has more than %d bytes (http_max_body)", limit)
	}
	return out, nil
}

// An element is one of an XML document.
type element struct {
	name  string
	text  strings.Builder // before the first child
	items []*element
}

// maxXMLDepth bounds how deep elements may lie in each other.
const maxXMLDepth = 500

// parseXML reads an XML document as Salt does: a list with a dict for each
// child of its root. Attributes are not looked at.
// Salt: salt/utils/xmlutil.py to_dict.
func parseXML(s string) (value.Value, error) {
	root, err := readXML(s)
	if err != nil {
		return nil, err
	}
	l := value.NewList()
	for _, e := range root.items {
		l.Append(e.dict())
	}
	return l, nil
}

// dict is an element as Salt shows it.
func (e *element) dict() value.Value {
	if len(e.items) == 0 {
		return value.MapOf(e.name, e.value())
	}
	m := value.NewMap(len(e.items))
	for _, x := range e.items {
		have, ok := m.Get(x.name)
		if !ok {
			if len(x.items) > 0 {
				m.Set(x.name, x.dict())
			} else {
				m.Set(x.name, x.value())
			}
			continue
		}
		// A name that comes again makes a list.
		l, isList := have.(*value.List)
		if !isList {
			l = value.NewList(have)
			m.Set(x.name, l)
		}
		l.Append(x.dict())
	}
	return m
}

func (e *element) value() value.Value {
	if e.text.Len() == 0 {
		return nil
	}
	return e.text.String()
}

// readXML reads the elements of a document. It knows elements, text, CDATA,
// comments, instructions and the entities of XML itself; a document type with
// declarations of its own is refused.
func readXML(s string) (*element, error) {
	r := &xmlReader{whole: s, rest: strings.TrimPrefix(s, "\ufeff")}
	for r.rest != "" {
		if err := r.next(); err != nil {
			return nil, err
		}
	}
	if r.root == nil || len(r.open) > 0 {
		return nil, r.fault("no element found")
	}
	return r.root, nil
}

// An xmlReader is a document while it is read.
type xmlReader struct {
	whole, rest string
	root        *element
	open        []*element // around rest, the innermost last
}

// fault is an error at what is to be read next.
func (r *xmlReader) fault(what string) error {
	done := r.whole[:len(r.whole)-len(r.rest)]
	return fmt.Errorf("%s: line %d, column %d", what, 1+strings.Count(done, "\n"), len(done)-strings.LastIndexByte(done, '\n')-1)
}

// skip leaves out what ends with the given text, and returns what was before it.
func (r *xmlReader) skip(end string) (string, bool) {
	in, rest, ok := strings.Cut(r.rest, end)
	if ok {
		r.rest = rest
	}
	return in, ok
}

// addText adds text to the innermost element; behind an element in it, text is
// left out.
func (r *xmlReader) addText(text string) {
	if top := r.open[len(r.open)-1]; len(top.items) == 0 {
		top.text.WriteString(text)
	}
}

// next reads text up to a tag, or one tag.
func (r *xmlReader) next() error {
	s := r.rest
	switch {
	case s[0] != '<':
		return r.textUpToTag()
	case strings.HasPrefix(s, "<!--"):
		if _, ok := r.skip("-->"); !ok {
			return r.fault("unclosed token")
		}
	case strings.HasPrefix(s, "<![CDATA[") && len(r.open) > 0:
		in, ok := r.skip("]]>")
		if !ok {
			return r.fault("unclosed CDATA section")
		}
		r.addText(in[len("<![CDATA["):])
	case strings.HasPrefix(s, "<?"):
		if _, ok := r.skip("?>"); !ok {
			return r.fault("unclosed token")
		}
	case strings.HasPrefix(s, "<!DOCTYPE") && r.root == nil:
		if i := strings.IndexAny(s, "[>"); i < 0 || s[i] == '[' {
			return r.fault("a document type with declarations is not read")
		}
		r.skip(">")
	case strings.HasPrefix(s, "</"):
		return r.endTag()
	default:
		return r.startTag()
	}
	return nil
}

func (r *xmlReader) textUpToTag() error {
	i := strings.IndexByte(r.rest, '<')
	if i < 0 {
		i = len(r.rest)
	}
	text := r.rest[:i]
	if len(r.open) == 0 {
		if strings.TrimSpace(text) != "" {
			return r.fault("syntax error")
		}
	} else if len(r.open[len(r.open)-1].items) == 0 {
		t, ok := unescape(text)
		if !ok {
			return r.fault("undefined entity")
		}
		r.addText(t)
	}
	r.rest = r.rest[i:]
	return nil
}

func (r *xmlReader) endTag() error {
	end := strings.IndexByte(r.rest, '>')
	if end < 0 {
		return r.fault("unclosed token")
	}
	if len(r.open) == 0 || local(strings.TrimRight(r.rest[2:end], " \t\r\n")) != r.open[len(r.open)-1].name {
		return r.fault("mismatched tag")
	}
	r.open = r.open[:len(r.open)-1]
	r.rest = r.rest[end+1:]
	return nil
}

func (r *xmlReader) startTag() error {
	e, n, empty := startTag(r.rest)
	if n == 0 {
		return r.fault("not well-formed (invalid token)")
	}
	switch {
	case len(r.open) > 0:
		top := r.open[len(r.open)-1]
		top.items = append(top.items, e)
	case r.root != nil:
		return r.fault("junk after document element")
	default:
		r.root = e
	}
	if !empty {
		if r.open = append(r.open, e); len(r.open) > maxXMLDepth {
			return r.fault("elements are nested too deeply")
		}
	}
	r.rest = r.rest[n:]
	return nil
}

// startTag reads the tag that s starts with and returns how long it is; 0 is
// that there is none.
func startTag(s string) (e *element, n int, empty bool) {
	i := 1
	for i < len(s) && !strings.ContainsRune(" \t\r\n/><=\"'&", rune(s[i])) {
		i++
	}
	if i == 1 || strings.IndexByte("0123456789-.", s[1]) >= 0 {
		return nil, 0, false
	}
	e = &element{name: local(s[1:i])}
	for i < len(s) {
		switch c := s[i]; c {
		case '>':
			return e, i + 1, false
		case '/':
			if strings.HasPrefix(s[i:], "/>") {
				return e, i + 2, true
			}
			return nil, 0, false
		case '"', '\'':
			end := strings.IndexByte(s[i+1:], c)
			if end < 0 {
				return nil, 0, false
			}
			i += end + 2
		case '<':
			return nil, 0, false
		default:
			i++
		}
	}
	return nil, 0, false
}

// local is a name without its prefix for a name space.
func local(name string) string {
	return name[strings.LastIndexByte(name, ':')+1:]
}

// unescape replaces the entities of a text.
func unescape(s string) (string, bool) {
	if !strings.ContainsAny(s, "&\r") {
		return s, true
	}
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	var b strings.Builder
	for {
		text, rest, more := strings.Cut(s, "&")
		b.WriteString(text)
		if !more {
			return b.String(), true
		}
		name, rest, ok := strings.Cut(rest, ";")
		if !ok {
			return "", false
		}
		switch name {
		case "lt":
			b.WriteByte('<')
		case "gt":
			b.WriteByte('>')
		case "amp":
			b.WriteByte('&')
		case "quot":
			b.WriteByte('"')
		case "apos":
			b.WriteByte('\'')
		default:
			digits, base := strings.TrimPrefix(name, "#"), 10
			if digits == name {
				return "", false
			}
			if hex, ok := strings.CutPrefix(digits, "x"); ok {
				digits, base = hex, 16
			}
			n, err := strconv.ParseInt(digits, base, 32)
			if err != nil || n <= 0 || !utf8.ValidRune(rune(n)) {
				return "", false
			}
			b.WriteRune(rune(n))
		}
		s = rest
	}
}
