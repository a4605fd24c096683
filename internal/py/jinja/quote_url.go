package jinja

import (
	"strings"

	"brine/internal/py/value"
)

// quoteURL is Jinja2's url_quote: UTF-8, percent-encoded but for letters,
// digits, _.-~ and, in paths, /. In query strings a blank is a plus.
func quoteURL(v value.Value, query bool) (string, error) {
	s, ok := value.AsText(v)
	if b, isBytes := v.(value.Bytes); isBytes {
		s, ok = string(b), true
	}
	if !ok {
		var err error
		if s, err = value.StrOf(v); err != nil {
			return "", err
		}
	}
	return percentEncode(s, query), nil
}

func percentEncode(s string, query bool) string {
	const hexDigits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("_.-~", c) >= 0,
			c == '/' && !query:
			b.WriteByte(c)
		case c == ' ' && query:
			b.WriteByte('+')
		default:
			b.WriteByte('%')
			b.WriteByte(hexDigits[c>>4])
			b.WriteByte(hexDigits[c&15])
		}
	}
	return b.String()
}
