package file

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"brine/internal/py/value"
)

// Encode returns text in one of Python's encodings; how is what to do with
// characters that it does not have: strict, ignore, replace,
// xmlcharrefreplace, backslashreplace or namereplace.
func Encode(text, name, how string) ([]byte, error) {
	norm := strings.NewReplacer("_", "-", " ", "-").Replace(strings.ToLower(name))
	switch norm {
	case "", "utf-8", "utf8", "u8", "utf":
		return []byte(text), nil
	case "utf-8-sig":
		return []byte("\ufeff" + text), nil
	}
	enc, label, ok := lookupEncoding(norm)
	if !ok {
		return nil, &value.PyError{Type: "LookupError", Msg: "unknown encoding: " + name}
	}
	if cm, ok := enc.(*charmap.Charmap); ok {
		return encodeBytes(text, cm.EncodeRune, label, how, 0x100)
	}
	if label == "ascii" {
		return encodeBytes(text, func(r rune) (byte, bool) { return byte(r), r < 128 }, label, how, 128)
	}
	return enc.NewEncoder().Bytes([]byte(text))
}

// lookupEncoding finds an encoding by one of Python's names for it.
func lookupEncoding(norm string) (encoding.Encoding, string, bool) {
	switch norm {
	case "ascii", "us-ascii", "646":
		return nil, "ascii", true
	case "latin-1", "latin1", "iso-8859-1", "iso8859-1", "8859", "cp819", "l1":
		return charmap.ISO8859_1, "latin-1", true
	case "utf-16", "utf16", "u16":
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), "utf-16", true
	case "utf-16-le", "utf-16le":
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), "utf-16-le", true
	case "utf-16-be", "utf-16be":
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), "utf-16-be", true
	case "utf-32", "utf32", "u32":
		return utf32.UTF32(utf32.LittleEndian, utf32.UseBOM), "utf-32", true
	case "utf-32-le", "utf-32le":
		return utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), "utf-32-le", true
	case "utf-32-be", "utf-32be":
		return utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM), "utf-32-be", true
	}
	want := plainName(norm)
	for _, e := range charmap.All {
		cm, ok := e.(*charmap.Charmap)
		if !ok {
			continue
		}
		if plainName(cm.String()) == want {
			return cm, "charmap", true
		}
	}
	return nil, "", false
}

// plainName returns the name of an encoding so that Python's names and ours
// are the same: cp437 for "IBM Code Page 437".
func plainName(name string) string {
	name = strings.NewReplacer(" ", "", "-", "").Replace(strings.ToLower(name))
	return strings.NewReplacer("ibmcodepage", "cp", "codepage", "cp", "windows", "cp", "ibm", "cp", "macroman", "macintosh").Replace(name)
}

// encodeBytes encodes text in an encoding of one byte a character.
func encodeBytes(text string, encode func(rune) (byte, bool), label, how string, limit int) ([]byte, error) {
	out := make([]byte, 0, len(text))
	pos := 0
	for i := 0; i < len(text); pos++ {
		r, n := utf8.DecodeRuneInString(text[i:])
		b, ok := encode(r)
		if r == utf8.RuneError && n == 1 {
			b, ok = text[i], true // what was not text stays what it was
		}
		i += n
		if ok {
			out = append(out, b)
			continue
		}
		switch how {
		case "ignore":
		case "replace":
			out = append(out, '?')
		case "xmlcharrefreplace":
			out = fmt.Appendf(out, "&#%d;", r)
		case "backslashreplace", "namereplace":
			out = append(out, escaped(r)...)
		case "", "strict", "surrogateescape":
			why := fmt.Sprintf("ordinal not in range(%d)", limit)
			if label == "charmap" {
				why = "character maps to <undefined>"
			}
			return nil, &value.PyError{Type: "UnicodeEncodeError", Msg: fmt.Sprintf("'%s' codec can't encode character '%s' in position %d: %s", label, escaped(r), pos, why)}
		default:
			return nil, &value.PyError{Type: "LookupError", Msg: "unknown error handler name " + value.QuoteStr(how)}
		}
	}
	return out, nil
}

// escaped writes a character as Python's backslash escape.
func escaped(r rune) string {
	switch {
	case r <= 0xff:
		return fmt.Sprintf(`\x%02x`, r)
	case r <= 0xffff:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}
