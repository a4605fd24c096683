package target

import (
	"strings"

	"brine/internal/py/value"
)

// Words returns the words of a target of type compound or nodegroup, with those of
// node groups in their places. It returns an error for a target that does not
// compile.
func Words(expr value.Value, tgtType string, nodegroups *value.Map) ([]string, error) {
	if _, err := Compile(expr, tgtType, nodegroups); err != nil {
		return nil, err
	}
	c := compiler{o: Options{Nodegroups: nodegroups, Delimiter: value.DefaultDelim}, m: &Matcher{}}
	if tgtType == "nodegroup" {
		return c.group(value.Str(expr))
	}
	words := wordsOf(expr)
	var out []string
	for i := 0; i < len(words); i++ {
		letter, _, pattern := splitWord(words[i])
		if letter != 'N' {
			out = append(out, words[i])
			continue
		}
		group, err := c.group(pattern)
		if err != nil {
			return nil, err
		}
		words = append(append([]string(nil), group...), words[i+1:]...)
		i = -1
	}
	return out, nil
}

func wordsOf(expr value.Value) []string {
	switch v := expr.(type) {
	case *value.List:
		var words []string
		for _, x := range v.Items {
			words = append(words, value.Str(x))
		}
		return words
	case value.Tuple:
		var words []string
		for _, x := range v {
			words = append(words, value.Str(x))
		}
		return words
	}
	return strings.Fields(value.Str(expr))
}

// IDWord returns the type and pattern of a word of a compound that is matched by
// ids alone: a glob, E@ or L@. ok is false for operators and other words.
func IDWord(word string) (tgtType, pattern string, ok bool) {
	if isOperator(word) {
		return "", "", false
	}
	switch letter, _, pattern := splitWord(word); letter {
	case 0:
		return "glob", pattern, true
	case 'E':
		return "pcre", pattern, true
	case 'L':
		return "list", pattern, true
	}
	return "", "", false
}

// IsOperator reports whether a word of a compound is and, or, not or a
// parenthesis.
func IsOperator(word string) bool { return isOperator(word) }
