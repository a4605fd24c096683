package jinja

import (
	"strings"

	"brine/internal/value"
)

// Markup is text that is safe as HTML: markupsafe's Markup, which the yaml,
// json and escape filters return. Joined with other text by + it escapes that
// text.
type Markup string

// PyStr returns the text.
func (m Markup) PyStr() string { return string(m) }

// Repr prints Markup('...').
func (m Markup) Repr() string { return "Markup(" + value.QuoteStr(string(m)) + ")" }

// Truth reports whether there is text.
func (m Markup) Truth() bool { return m != "" }

// Len returns the number of characters.
func (m Markup) Len() int { return len([]rune(string(m))) }

// TypeName is "Markup".
func (m Markup) TypeName() string { return "Markup" }

// EqualValue compares the text, also with plain text.
func (m Markup) EqualValue(v value.Value) bool {
	s, ok := Text(v)
	return ok && s == string(m)
}

// Text returns the text of a str or a Markup.
func Text(v value.Value) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case Markup:
		return string(v), true
	}
	return "", false
}

// Escape returns s with &, <, >, ' and " as HTML entities.
func Escape(s string) string {
	if !strings.ContainsAny(s, `&<>'"`) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	for i := range len(s) {
		switch c := s[i]; c {
		case '&':
			b.WriteString("&amp;")
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '\'':
			b.WriteString("&#39;")
		case '"':
			b.WriteString("&#34;")
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
