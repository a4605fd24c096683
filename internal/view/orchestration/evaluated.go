package orchestration

import (
	"strings"

	"brine/internal/py/value"
)

// EvaluatedText says why text is more than data where it reaches the controller: slots
// call functions, and sdb:// URIs name secrets; "": it is not.
func EvaluatedText(v value.Value) string {
	text, _ := v.(string)
	switch {
	case strings.Contains(text, "__slot__:"):
		return "text with __slot__: would be called as a function on the controller"
	case strings.HasPrefix(strings.TrimSpace(text), "sdb://"):
		return "an sdb:// URI names a secret of the controller"
	}
	return ""
}

// Evaluated is EvaluatedText for all texts of a value.
func Evaluated(v value.Value) string {
	switch v := v.(type) {
	case *value.Map:
		for k, x := range v.All() {
			if why := Evaluated(k); why != "" {
				return why
			}
			if why := Evaluated(x); why != "" {
				return why
			}
		}
	case *value.List:
		for _, x := range v.Items {
			if why := Evaluated(x); why != "" {
				return why
			}
		}
	}
	return EvaluatedText(v)
}
