package pkgversion

import (
	"strings"
)

// A pep440 is a version of a Python package.
type pep440 struct {
	epoch, release []string // the epoch has at most one number
	pre            string   // "a", "b", "rc" or ""
	preNum         string
	post, dev      string // numbers; "" is none
	local          string
}

// PEP440 compares two versions of Python packages. A text that is not a version
// comes before all versions.
func PEP440(a, b string) int {
	x, okX := parsePEP440(a)
	y, okY := parsePEP440(b)
	switch {
	case !okX && !okY:
		return Loose(a, b)
	case okX != okY:
		if okX {
			return 1
		}
		return -1
	}
	return x.compare(y, true)
}

// IsPEP440 reports whether a text is a version of a Python package.
func IsPEP440(s string) bool {
	_, ok := parsePEP440(s)
	return ok
}

// PrePEP440 returns the kind of pre-release that a version of a Python package is:
// "a", "b" or "rc"; "" where it is none.
func PrePEP440(s string) string {
	v, _ := parsePEP440(s)
	return v.pre
}

// MatchPEP440 reports whether a version of a Python package meets a condition:
// ==, !=, <=, >=, <, >, ~= or === and a version, which ends in .* for a prefix.
func MatchPEP440(version, oper, want string) bool {
	want = strings.TrimSpace(want)
	if oper == "===" {
		return strings.EqualFold(strings.TrimSpace(version), want)
	}
	v, okV := parsePEP440(version)
	prefix, isPrefix := strings.CutSuffix(want, ".*")
	w, okW := parsePEP440(prefix)
	if !okV || !okW {
		return false
	}
	public := v
	if w.local == "" {
		public.local = "" // a local version is another only where the condition names one
	}
	switch oper {
	case "==":
		if isPrefix {
			return v.startsWith(w)
		}
		return public.compare(w, true) == 0
	case "!=":
		if isPrefix {
			return !v.startsWith(w)
		}
		return public.compare(w, true) != 0
	case "<=":
		return public.compare(w, false) <= 0
	case ">=":
		return public.compare(w, false) >= 0
	case "<":
		return public.compare(w, false) < 0
	case ">":
		return public.compare(w, false) > 0
	case "~=":
		if len(w.release) < 2 {
			return false
		}
		head := pep440{epoch: w.epoch, release: w.release[:len(w.release)-1]}
		return public.compare(w, false) >= 0 && v.startsWith(head)
	}
	return false
}

func parsePEP440(s string) (v pep440, ok bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	s = strings.TrimPrefix(s, "v")
	s, v.local, _ = strings.Cut(s, "+")
	v.local = strings.NewReplacer("-", ".", "_", ".").Replace(v.local)
	if n, rest := digits(s); n != "" && strings.HasPrefix(rest, "!") {
		v.epoch, s = []string{n}, rest[1:]
	}
	for {
		n, rest := digits(s)
		if n == "" {
			return v, false
		}
		v.release = append(v.release, n)
		s = rest
		if len(s) < 2 || s[0] != '.' || !isDigit(s[1]) {
			break
		}
		s = s[1:]
	}
	for s != "" {
		if s, ok = v.suffix(s); !ok {
			return v, false
		}
	}
	return v, true
}

// suffix reads one part after the release.
func (v *pep440) suffix(s string) (rest string, ok bool) {
	body := strings.TrimLeft(s[:1], ".-_") + s[1:]
	word, after := letters(body)
	num := "0"
	from := after
	if len(from) > 1 && strings.IndexByte(".-_", from[0]) >= 0 && isDigit(from[1]) {
		from = from[1:]
	}
	if n, tail := digits(from); n != "" {
		num, after = n, tail
	}
	field := &v.post
	switch word {
	case "": // "1.0-1" is "1.0.post1"
		if s[0] != '-' || after == body {
			return s, false
		}
	case "post", "rev", "r":
	case "dev":
		field = &v.dev
	default:
		if v.pre != "" {
			return s, false
		}
		if v.pre = preKind(word); v.pre == "" {
			return s, false
		}
		field = &v.preNum
	}
	if *field != "" {
		return s, false
	}
	*field = num
	return after, true
}

func preKind(word string) string {
	switch word {
	case "a", "alpha":
		return "a"
	case "b", "beta":
		return "b"
	case "c", "rc", "pre", "preview":
		return "rc"
	}
	return ""
}

// compare orders two versions; withLocal says whether the local versions count.
func (v pep440) compare(w pep440, withLocal bool) int {
	if c := releases(v.epoch, w.epoch); c != 0 {
		return c
	}
	if c := releases(v.release, w.release); c != 0 {
		return c
	}
	if c := order(v.preRank(), w.preRank()); c != 0 {
		return c
	}
	if c := number(v.preNum, w.preNum); c != 0 {
		return c
	}
	// No post-release is before the first one, no development release after all.
	if c := optional(v.post, w.post, -1); c != 0 {
		return c
	}
	if c := optional(v.dev, w.dev, 1); c != 0 || !withLocal {
		return c
	}
	return locals(v.local, w.local)
}

// preRank orders development releases without a pre-release, pre-releases and the
// rest.
func (v pep440) preRank() int {
	switch v.pre {
	case "a":
		return 1
	case "b":
		return 2
	case "rc":
		return 3
	}
	if v.post == "" && v.dev != "" {
		return 0
	}
	return 4
}

func optional(a, b string, none int) int {
	switch {
	case a == "" && b == "":
		return 0
	case a == "":
		return none
	case b == "":
		return -none
	}
	return number(a, b)
}

func releases(a, b []string) int {
	for i := range max(len(a), len(b)) {
		if c := number(at(a, i), at(b, i)); c != 0 {
			return c
		}
	}
	return 0
}

func at(parts []string, i int) string {
	if i < len(parts) {
		return parts[i]
	}
	return "0"
}

func locals(a, b string) int {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range max(len(x), len(y)) {
		if i >= len(x) || i >= len(y) {
			return order(len(x), len(y))
		}
		_, restX := digits(x[i])
		_, restY := digits(y[i])
		numX, numY := restX == "" && x[i] != "", restY == "" && y[i] != ""
		c := strings.Compare(x[i], y[i])
		switch {
		case numX && numY:
			c = number(x[i], y[i])
		case numX:
			c = 1
		case numY:
			c = -1
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

// startsWith reports whether the release of v starts with that of w.
func (v pep440) startsWith(w pep440) bool {
	if releases(v.epoch, w.epoch) != 0 {
		return false
	}
	for i, n := range w.release {
		if number(at(v.release, i), n) != 0 {
			return false
		}
	}
	return true
}
