package gem

import (
	"regexp"
	"strings"
	"sync"
)

// Compare orders two versions of gems: numbers by value, and words, which mark a
// pre-release, before numbers.
func Compare(a, b string) int {
	x, y := segments(a), segments(b)
	for i := range max(len(x), len(y)) {
		s, t := "0", "0"
		if i < len(x) {
			s = x[i]
		}
		if i < len(y) {
			t = y[i]
		}
		if c := compareSegments(s, t); c != 0 {
			return c
		}
	}
	return 0
}

var segmentRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[0-9]+|[A-Za-z]+`) })

func segments(v string) []string { return segmentRE().FindAllString(v, -1) }

func isNumber(s string) bool { return s[0] >= '0' && s[0] <= '9' }

func compareSegments(s, t string) int {
	switch {
	case isNumber(s) && isNumber(t):
		s, t = strings.TrimLeft(s, "0"), strings.TrimLeft(t, "0")
		if len(s) != len(t) {
			if len(s) < len(t) {
				return -1
			}
			return 1
		}
	case isNumber(s):
		return 1
	case isNumber(t):
		return -1
	}
	return strings.Compare(s, t)
}

var conditionRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*(=|!=|>=|<=|~>|>|<)?\s*(\S+)\s*$`) })

// Fulfills reports whether a version meets a condition such as ">= 1.0, < 2" or
// "~> 1.2".
func Fulfills(version, condition string) bool {
	for part := range strings.SplitSeq(condition, ",") {
		m := conditionRE().FindStringSubmatch(part)
		if m == nil || !meets(version, m[1], m[2]) {
			return false
		}
	}
	return true
}

func meets(version, oper, want string) bool {
	c := Compare(version, want)
	switch oper {
	case "", "=":
		return c == 0
	case "!=":
		return c != 0
	case ">=":
		return c >= 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	case "<":
		return c < 0
	}
	// ~> 1.2.3: at least 1.2.3 and below 1.3
	var head []string
	for _, s := range segments(want) {
		if !isNumber(s) {
			break
		}
		head = append(head, s)
	}
	if len(head) > 1 {
		head = head[:len(head)-1]
	}
	have := segments(version)
	for i, s := range head {
		t := "0"
		if i < len(have) {
			t = have[i]
		}
		if compareSegments(t, s) != 0 {
			return false
		}
	}
	return c >= 0
}

// IsCondition reports whether a version asked for is a condition, not a version.
func IsCondition(s string) bool { return strings.ContainsAny(s, "<>=!~,") }
