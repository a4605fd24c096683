package app

import (
	"errors"
	"strings"
	"time"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// Typed reads text as a positional argument is read.
func Typed(text string) value.Value {
	return dispatch.Typed(fun.Args{Pos: []value.Value{text}}).Pos[0]
}

// ShellWord quotes s where a shell would take it apart.
func ShellWord(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:@%+=") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Texts are the items of a list, or the value itself.
func Texts(v value.Value) []string {
	l, ok := v.(*value.List)
	if !ok {
		return []string{value.Str(v)}
	}
	return l.Strs()
}

// Seconds is a number of seconds as a flag has it, which may be too large for a
// Duration.
func Seconds(s float64) time.Duration {
	d, _ := value.Seconds(s) // a float64 is a number
	return d
}

// Begins returns the names that begin with a prefix.
func Begins(names []string, prefix string) []string {
	var out []string
	for _, n := range names {
		if strings.HasPrefix(n, prefix) {
			out = append(out, n)
		}
	}
	return out
}

// OneError is several errors as one of a single line.
func OneError(errs []error) error {
	if len(errs) == 1 {
		return errs[0]
	}
	texts := make([]string, len(errs))
	for i, err := range errs {
		texts[i] = err.Error()
	}
	return errors.New(strings.Join(texts, "; "))
}
