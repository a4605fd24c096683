// Package pkgversion compares versions of packages as their package managers
// do: dpkg, rpm, apk and pacman; and as Salt does where none of them rules.
//
// Each comparison takes any two strings and returns -1, 0 or 1. [Deb], [APK] and
// [Loose] are total orders. [RPM] and [Pacman] ignore a release that only one
// side has, as rpm and pacman do, and are total orders of versions that all have
// one or all have none.
package pkgversion

import "strings"

// A Compare compares two versions; see the functions of this package.
type Compare func(a, b string) int

// IgnoreEpoch returns version without what is before its first colon.
func IgnoreEpoch(version string) string {
	if _, rest, ok := strings.Cut(version, ":"); ok {
		return rest
	}
	return version
}

// operators are those of a condition, the longest first.
var operators = [...]string{"<=>", "!=", ">=", "<=", ">>", "<<", "<>", ">", "<", "="}

// Split divides a condition such as ">=1.2" into its operator, "" where it has
// none, and the version. The operator may be followed by one blank. What is no
// such condition is a version as it is.
// Salt: salt/utils/pkg/__init__.py split_comparison.
func Split(condition string) (oper, version string) {
	for _, o := range operators {
		rest, ok := strings.CutPrefix(condition, o)
		if !ok {
			continue
		}
		if rest != "" && strings.ContainsRune(" \t\n\r\f\v", rune(rest[0])) {
			rest = rest[1:]
		}
		if rest == "" || strings.ContainsAny(rest, "<>=") {
			return "", condition
		}
		return o, rest
	}
	return "", condition
}

// Holds reports whether "a oper b" is true. It is false for an operator other
// than ==, !=, <, <=, > and >=.
func Holds(cmp Compare, a, oper, b string) bool {
	switch oper {
	case "==":
		return cmp(a, b) == 0
	case "!=":
		return cmp(a, b) != 0
	case "<":
		return cmp(a, b) < 0
	case "<=":
		return cmp(a, b) <= 0
	case ">":
		return cmp(a, b) > 0
	case ">=":
		return cmp(a, b) >= 0
	}
	return false
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isAlpha(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// digits returns the digits that s starts with, and what follows.
func digits(s string) (num, rest string) {
	i := 0
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	return s[:i], s[i:]
}

// letters returns the letters that s starts with, and what follows.
func letters(s string) (word, rest string) {
	i := 0
	for i < len(s) && isAlpha(s[i]) {
		i++
	}
	return s[:i], s[i:]
}

// number compares two runs of digits by their value, however long they are.
func number(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	if len(a) != len(b) {
		return order(len(a), len(b))
	}
	return strings.Compare(a, b)
}

func order(a, b int) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
