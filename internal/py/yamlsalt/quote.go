package yamlsalt

import (
	"strings"

	"brine/internal/py/value"
)

// DoubleQuote returns s as a double-quoted scalar on one line, all beyond ASCII
// escaped: Salt's filter yaml_dquote.
func DoubleQuote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		if r < ' ' || r > '~' || r == '"' || r == '\\' {
			b.WriteString(escapeRune(r))
		} else {
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// SingleQuote returns s as a single-quoted scalar, with its line breaks doubled
// so that they are not folded: Salt's filter yaml_squote.
func SingleQuote(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	wasBreak := false
	for _, r := range s {
		isBreak := isBreakRune(r) && r != '\r'
		if isBreak && !wasBreak && r == '\n' {
			b.WriteByte('\n')
		}
		if r == '\'' {
			b.WriteByte('\'')
		}
		b.WriteRune(r)
		wasBreak = isBreak
	}
	b.WriteByte('\'')
	return b.String()
}

// EncodeScalar returns a scalar as YAML on one line, text in double quotes:
// Salt's filter yaml_encode. It returns a TypeError for a container.
func EncodeScalar(v value.Value) (string, error) {
	r := representer{known: map[any]*rnode{}}
	n, err := r.value(v, 0)
	if err != nil {
		return "", err
	}
	if n.kind != scalarNode {
		return "", value.Raise("TypeError", "yaml_encode() only works with YAML scalar data; failed for <class '%s'>", value.TypeName(v))
	}
	if n.tag == tagStr {
		return DoubleQuote(n.text), nil
	}
	return n.text, nil
}
