package pkgversion

import "strings"

// Loose compares versions as Salt does for package managers that have no rules:
// numbers by value, other text by its bytes, dots only divide. A number is before
// letters.
// Salt: salt/utils/versions.py LooseVersion.
func Loose(a, b string) int {
	for {
		var x, y string
		x, a = loosePart(a)
		y, b = loosePart(b)
		switch {
		case x == "" || y == "":
			return order(len(x), len(y))
		case isDigit(x[0]) && isDigit(y[0]):
			if n := number(x, y); n != 0 {
				return n
			}
		case isDigit(x[0]):
			return order('0', int(y[0]))
		case isDigit(y[0]):
			return order(int(x[0]), '0')
		default:
			if n := strings.Compare(x, y); n != 0 {
				return n
			}
		}
	}
}

// loosePart returns the next part: digits, small letters, or other characters; ""
// at the end.
func loosePart(s string) (part, rest string) {
	s = strings.TrimLeft(s, ".")
	if s == "" {
		return "", ""
	}
	kind := looseKind(s[0])
	i := 1
	for i < len(s) && looseKind(s[i]) == kind {
		i++
	}
	return s[:i], s[i:]
}

func looseKind(c byte) int {
	switch {
	case isDigit(c):
		return 0
	case 'a' <= c && c <= 'z':
		return 1
	case c == '.':
		return 2
	}
	return 3
}
