package jmespath

import (
	"strings"

	"brine/internal/py/value"
)

func lexFault(src string, at int, what string) error {
	return value.Raise("LexerError", "Bad jmespath expression: %s:\n%s\n%s^", what, src, strings.Repeat(" ", at))
}

func isName(c byte, first bool) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || !first && c >= '0' && c <= '9'
}

func lex(s string) ([]token, error) {
	var toks []token
	for i := 0; i < len(s); {
		c := s[i]
		start := i
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
			continue
		case isName(c, true):
			for i < len(s) && isName(s[i], false) {
				i++
			}
			toks = append(toks, token{"name", s[start:i], nil, start})
			continue
		case c == '-' || c >= '0' && c <= '9':
			for i++; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
			}
			n, err := value.ParseInt(s[start:i], 10)
			if err != nil {
				return nil, lexFault(s, start, "Unknown token '-'")
			}
			toks = append(toks, token{"number", s[start:i], n, start})
			continue
		case c == '\'' || c == '"' || c == '`':
			t, end, err := quoted(s, i)
			if err != nil {
				return nil, err
			}
			toks = append(toks, t)
			i = end
			continue
		}
		op := punctuation(s[i:])
		if op == "" {
			return nil, lexFault(s, start, "Unknown token "+s[i:i+1])
		}
		toks = append(toks, token{op, op, nil, start})
		i += len(op)
	}
	return append(toks, token{"eof", "", nil, len(s)}), nil
}

func punctuation(s string) string {
	for _, op := range []string{"[?", "[]", "||", "&&", "==", "!=", "<=", ">=", "[", "|", "&", "!", "<", ">", ".", "*", "]", ",", ":", "@", "(", ")", "{", "}"} {
		if strings.HasPrefix(s, op) {
			return op
		}
	}
	return ""
}

// quoted reads 'raw text', "a name" or a `JSON literal`.
func quoted(s string, i int) (token, int, error) {
	q := s[i]
	end := i + 1
	for end < len(s) && s[end] != q {
		if s[end] == '\\' && end+1 < len(s) {
			end++
		}
		end++
	}
	if end >= len(s) {
		return token{}, 0, lexFault(s, i, "Unclosed "+s[i:i+1]+" delimiter")
	}
	body := s[i+1 : end]
	t := token{"literal", s[i : end+1], nil, i}
	switch q {
	case '\'':
		t.val = strings.ReplaceAll(body, `\'`, `'`)
	case '"':
		v, err := value.ParseJSON(s[i : end+1])
		name, ok := v.(string)
		if err != nil || !ok {
			return token{}, 0, lexFault(s, i, "error: invalid quoted name")
		}
		t.kind, t.text = "quoted", name
	default:
		body = strings.TrimLeft(strings.ReplaceAll(body, "\\`", "`"), " \t\r\n")
		v, err := value.ParseJSON(body)
		if err != nil {
			// Text without quotes was a literal once.
			v, err = value.ParseJSON(`"` + body + `"`)
		}
		if err != nil {
			return token{}, 0, lexFault(s, i, "error: invalid JSON in a literal")
		}
		t.val = v
	}
	return t, end + 1, nil
}
