// Package markupsafe is Python's markupsafe: text that is safe as HTML.
package markupsafe

import (
	"html"
	"strings"

	"brine/internal/py/pyformat"
	"brine/internal/py/value"
)

// Markup is text that is safe as HTML. Python's operators escape the text that
// they join with it.
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
	s, ok := value.AsText(v)
	return ok && s == string(m)
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

// Text returns the text: Markup is a subclass of str.
func (m Markup) Text() string { return string(m) }

// Retext returns a part of the text as Markup.
func (m Markup) Retext(s string) value.Value { return Markup(s) }

// BinaryOp escapes the other side of +, the arguments of %, and stays Markup
// under *.
func (m Markup) BinaryOp(op string, other value.Value, swapped bool) (value.Value, bool, error) {
	switch op {
	case "+":
		s, ok := value.AsText(other)
		if !ok {
			return nil, false, nil
		}
		if _, safe := other.(Markup); !safe {
			s = Escape(s)
		}
		if err := value.CheckSize(len(s) + len(m)); err != nil {
			return nil, true, err
		}
		if swapped {
			return Markup(s) + m, true, nil
		}
		return m + Markup(s), true, nil
	case "*":
		if _, isInt := value.AsBig(other); !isInt {
			return nil, false, nil
		}
		v, err := value.Mul(string(m), other)
		if err != nil {
			return nil, true, err
		}
		return Markup(v.(string)), true, nil
	case "%":
		if swapped {
			return nil, false, nil
		}
		if s, ok := other.(Markup); ok {
			other = value.Tuple{s}
		}
		s, err := pyformat.PercentFunc(string(m), other, func(v value.Value) (string, error) {
			s, err := Escaped(v)
			return string(s), err
		}, func(v value.Value) string { return Escape(value.Repr(v)) })
		if err != nil {
			return nil, true, err
		}
		return Markup(s), true, nil
	}
	return nil, false, nil
}

// Escaped returns escape(v): Markup stays as it is.
func Escaped(v value.Value) (Markup, error) {
	if m, ok := v.(Markup); ok {
		return m, nil
	}
	s, err := value.StrOf(v)
	return Markup(Escape(s)), err
}

// StripTags returns s without comments and tags, with single spaces for white
// space and characters for entities.
func StripTags(s string) string {
	s = cutBetween(s, "<!--", "-->")
	s = cutBetween(s, "<", ">")
	return Unescape(strings.Join(strings.FieldsFunc(s, value.IsSpace), " "))
}

// cutBetween removes what goes from open to the next end.
func cutBetween(s, open, end string) string {
	var b strings.Builder
	for {
		i := strings.Index(s, open)
		if i < 0 {
			break
		}
		j := strings.Index(s[i+len(open):], end)
		if j < 0 {
			break
		}
		b.WriteString(s[:i])
		s = s[i+len(open)+j+len(end):]
	}
	b.WriteString(s)
	return b.String()
}

// Unescape returns s with characters for HTML entities.
func Unescape(s string) string { return html.UnescapeString(s) }
