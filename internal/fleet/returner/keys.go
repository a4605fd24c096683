package returner

import (
	"strconv"
	"strings"

	"brine/internal/py/value"
)

// Keys reads a table of settings, one a line:
//
//	NAME [= DEFAULT] -- what it is
//
// Behind the name, * says that it is required, ! that it is a secret, @ that it
// says where rows go and # that it is a whole number, as it is where the default is
// one. A default is a number, True or False, else text, with quotation marks where
// it would be a number.
func Keys(table string) []Key {
	var out []Key
	for line := range strings.Lines(table) {
		def, doc, ok := strings.Cut(strings.TrimSpace(line), " -- ")
		if !ok {
			continue
		}
		name, text, has := strings.Cut(def, " = ")
		k := Key{Doc: doc}
		k.Name = strings.TrimRight(name, "*!@#")
		marks := name[len(k.Name):]
		k.Required, k.Secret, k.Where = strings.Contains(marks, "*"), strings.Contains(marks, "!"), strings.Contains(marks, "@")
		if has {
			k.Default = defaultOf(text)
		}
		_, whole := k.Default.(int64)
		k.Number = whole || strings.Contains(marks, "#")
		out = append(out, k)
	}
	return out
}

func defaultOf(s string) value.Value {
	switch s {
	case "True", "False":
		return s == "True"
	}
	if q, err := strconv.Unquote(s); err == nil {
		return q
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		return f
	}
	return s
}
