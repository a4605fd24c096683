package pymethod

import (
	"strings"

	"brine/internal/py/value"
)

// JSONIndent sets o to the indent argument of json.dumps: None, a number of
// spaces (0 or less is lines without indent), or the text of a level.
func JSONIndent(o *value.JSONOptions, v value.Value) error {
	if v == nil {
		return nil
	}
	if s, ok := value.AsText(v); ok {
		if o.IndentText = s; s == "" {
			o.Indent = -1
		}
		return nil
	}
	n, err := AsIndex(v)
	if err != nil {
		return value.Raise("TypeError", "can't multiply sequence by non-int of type '%s'", value.TypeName(v))
	}
	if err := value.CheckSize(n); n > 0 && err != nil {
		return err
	}
	if o.Indent = n; n <= 0 {
		o.Indent = -1
	}
	return nil
}

// SafeJSON returns v as JSON with the characters <, >, & and ' escaped, so that
// HTML can contain it.
func SafeJSON(v value.Value, o value.JSONOptions) (string, error) {
	b, err := value.AppendJSON(nil, v, o)
	if err != nil {
		return "", err
	}
	s := string(b)
	if strings.ContainsAny(s, "<>&'") {
		s = strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`, "'", `\u0027`).Replace(s)
	}
	return s, value.CheckSize(len(s))
}
