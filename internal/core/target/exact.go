package target

import (
	"fmt"
	"strings"

	"brine/internal/py/value"
)

// CheckExactPillar returns an error if a target, as it is written, searches pillar by a pattern:
// whoever may try patterns finds out any value, a character at a time. Node groups are
// not looked into: they are the configuration's.
func CheckExactPillar(expr value.Value, tgtType string) error {
	switch tgtType {
	case "pillar":
		return checkExact(value.Str(expr))
	case "pillar_pcre":
		return errPattern(value.Str(expr))
	case "compound", "compound_pillar_exact":
		words, err := compoundWords(expr)
		if err != nil {
			return err
		}
		for _, w := range words {
			switch letter, _, pattern := splitWord(w); letter {
			case 'I':
				if err := checkExact(pattern); err != nil {
					return err
				}
			case 'J':
				return errPattern(pattern)
			}
		}
	}
	return nil
}

func checkExact(pattern string) error {
	if strings.ContainsAny(pattern, "*?[") {
		return errPattern(pattern)
	}
	return nil
}

func errPattern(pattern string) error {
	return fmt.Errorf("%q searches the pillar by a pattern; here, only a whole value is compared: I@KEY:VALUE without *, ? and [", pattern)
}
