package value

import (
	"strings"
	"unicode/utf8"
)

// Fnmatch reports whether name matches a shell pattern as Python's
// fnmatch.fnmatchcase: * is any text (slashes too), ? one character, [abc],
// [a-z] and [!a-z] one of a set; a [ without ] is itself.
func Fnmatch(pattern, name string) bool {
	if !HasGlob(pattern) {
		return pattern == name
	}
	// px is the last star, nx where the text that it covers ends.
	p, n, px, nx := 0, 0, -1, 0
	for n < len(name) || p < len(pattern) {
		if p < len(pattern) {
			if pattern[p] == '*' {
				px, nx = p, n
				p++
				continue
			}
			if n < len(name) {
				_, size := utf8.DecodeRuneInString(name[n:])
				if np, ok := matchOne(pattern, p, name[n:n+size]); ok {
					p, n = np, n+size
					continue
				}
			}
		}
		if px < 0 || nx >= len(name) {
			return false
		}
		_, size := utf8.DecodeRuneInString(name[nx:])
		nx += size
		p, n = px+1, nx
	}
	return true
}

// HasGlob reports whether s has a character that is special to Fnmatch.
func HasGlob(s string) bool { return strings.ContainsAny(s, "*?[") }

// matchOne matches the character c against the element of pattern at p and
// returns where the next element begins.
func matchOne(pattern string, p int, c string) (int, bool) {
	switch pattern[p] {
	case '?':
		return p + 1, true
	case '[':
		set, next, ok := setAt(pattern, p)
		if ok {
			return next, inSet(set, c)
		}
		return p + 1, c == "["
	}
	_, size := utf8.DecodeRuneInString(pattern[p:])
	return p + size, pattern[p:p+size] == c
}

// setAt returns what is between the brackets at p, and what comes after.
func setAt(pattern string, p int) (set string, next int, ok bool) {
	i := p + 1
	if i < len(pattern) && pattern[i] == '!' {
		i++
	}
	if i < len(pattern) && pattern[i] == ']' {
		i++
	}
	for i < len(pattern) && pattern[i] != ']' {
		i++
	}
	if i >= len(pattern) {
		return "", 0, false
	}
	return pattern[p+1 : i], i + 1, true
}

func inSet(set, c string) bool {
	set, negated := strings.CutPrefix(set, "!")
	cr, _ := utf8.DecodeRuneInString(c)
	rs := []rune(set)
	in := false
	for i := 0; i < len(rs); i++ {
		if i+2 < len(rs) && rs[i+1] == '-' {
			in = in || (rs[i] <= cr && cr <= rs[i+2])
			i += 2
			continue
		}
		in = in || rs[i] == cr
	}
	return in != negated
}

// FnmatchFilter returns the names that match pattern, in their order.
func FnmatchFilter(names []string, pattern string) []string {
	var out []string
	for _, n := range names {
		if Fnmatch(pattern, n) {
			out = append(out, n)
		}
	}
	return out
}
