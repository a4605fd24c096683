package pillar

import (
	"errors"
	"fmt"
	"strings"

	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// Mistake returns a likely mistake in a pillar given on a command line, as a
// *source.Error whose file is "pillar", or nil: text, whether it looks like a mapping
// and does not parse or not, or a key such as "a:1", which has no value since there is
// no space after its colon.
func Mistake(v value.Value) *source.Error {
	const file, form = "pillar", `a pillar is written like '{"key": "value"}'`
	switch v := v.(type) {
	case string:
		if !strings.HasPrefix(strings.TrimSpace(v), "{") {
			return &source.Error{Pos: source.Pos{File: file}, Err: errors.New("text is not a mapping"), Hint: form}
		}
		_, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: file}, []byte(v))
		if err == nil {
			return nil
		}
		fault := *source.Faults(err)[0]
		if lines := strings.Split(v, "\n"); fault.Pos.Line > len(lines) { // it is cut off
			fault.Pos.Line, fault.Pos.Col = len(lines), value.TextLen(lines[len(lines)-1])+1
		}
		fault.Hint = form
		return &fault
	case *value.Map:
		for k, x := range v.All() {
			key, ok := k.(string)
			before, after, colon := strings.Cut(key, ":")
			if ok && x == nil && colon && before != "" && after != "" {
				return &source.Error{
					Pos: source.Pos{File: file}, Err: fmt.Errorf("the key %q has no value", key),
					Hint: "write a space after the colon: {" + before + ": " + after + "}",
				}
			}
		}
	}
	return nil
}
