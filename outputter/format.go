package outputter

import (
	"strconv"
	"strings"

	"brine/internal/py/pyformat"
	"brine/internal/py/value"
)

// format is Python's str.format with positional fields, as state_tabular uses
// it: {1}, {2:>10}, {6[duration]!s}. An invalid field is left unchanged, so
// that a mistake in the setting does not hide the returns.
func format(s string, args ...value.Value) string {
	var b strings.Builder
	auto := 0
	for s != "" {
		i := strings.IndexAny(s, "{}")
		if i < 0 {
			break
		}
		b.WriteString(s[:i])
		if strings.HasPrefix(s[i+1:], s[i:i+1]) {
			b.WriteByte(s[i])
			s = s[i+2:]
			continue
		}
		end := strings.IndexByte(s[i:], '}')
		if s[i] == '}' || end < 0 {
			b.WriteByte(s[i])
			s = s[i+1:]
			continue
		}
		field := s[i+1 : i+end]
		text, ok := formatField(field, args, &auto)
		if !ok {
			text = "{" + field + "}"
		}
		b.WriteString(text)
		s = s[i+end+1:]
	}
	b.WriteString(s)
	return b.String()
}

func formatField(field string, args []value.Value, auto *int) (string, bool) {
	name, spec, _ := strings.Cut(field, ":")
	name, conv, converts := strings.Cut(name, "!")
	index, keys, _ := strings.Cut(name, "[")
	n := *auto
	if index == "" {
		*auto++
	} else {
		var err error
		if n, err = strconv.Atoi(index); err != nil {
			return "", false
		}
	}
	if n < 0 || n >= len(args) {
		return "", false
	}
	v := args[n]
	for keys != "" {
		key, rest, ok := strings.Cut(keys, "]")
		m, isMap := v.(value.Mapping)
		if !ok || !isMap {
			return "", false
		}
		v, ok = m.Get(key)
		if !ok {
			return "", false
		}
		keys = strings.TrimPrefix(rest, "[")
	}
	if converts {
		switch conv {
		case "s":
			v = value.Str(v)
		case "r", "a":
			v = value.Repr(v)
		default:
			return "", false
		}
	}
	text, err := pyformat.Format(v, spec)
	return text, err == nil
}
