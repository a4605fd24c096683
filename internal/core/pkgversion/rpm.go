package pkgversion

import "strings"

// RPM compares versions as rpm does: epoch, version, release. A missing epoch is
// 0; a release that only one side has is ignored, so that 3.2 equals 3.2-1.
func RPM(a, b string) int {
	ae, av, ar := evr(a)
	be, bv, br := evr(b)
	if n := rpmPart(ae, be); n != 0 {
		return n
	}
	if n := rpmPart(av, bv); n != 0 || ar == "" || br == "" {
		return n
	}
	return rpmPart(ar, br)
}

// evr divides epoch:version-release.
func evr(s string) (epoch, version, release string) {
	epoch, version = "0", s
	if num, rest := digits(s); strings.HasPrefix(rest, ":") {
		version = rest[1:]
		if num != "" {
			epoch = num
		}
	}
	if i := strings.LastIndexByte(version, '-'); i >= 0 {
		version, release = version[:i], version[i+1:]
	}
	return epoch, version, release
}

// rpmPart compares epochs, versions or releases segment by segment. ~ is before
// everything, even the end; ^ is after the end and before everything else.
func rpmPart(a, b string) int {
	if a == b {
		return 0
	}
	for {
		a, b = strings.TrimLeftFunc(a, rpmSeparator), strings.TrimLeftFunc(b, rpmSeparator)
		at, bt := strings.HasPrefix(a, "~"), strings.HasPrefix(b, "~")
		ac, bc := strings.HasPrefix(a, "^"), strings.HasPrefix(b, "^")
		switch {
		case at && bt || ac && bc:
			a, b = a[1:], b[1:]
			continue
		case at:
			return -1
		case bt:
			return 1
		case ac:
			if b == "" {
				return 1
			}
			return -1
		case bc:
			if a == "" {
				return -1
			}
			return 1
		}
		if a == "" || b == "" {
			return order(len(a), len(b))
		}
		var n int
		if n, a, b = rpmSegment(a, b); n != 0 {
			return n
		}
	}
}

func rpmSeparator(r rune) bool {
	return r != '~' && r != '^' && (r > 0x7f || !isDigit(byte(r)) && !isAlpha(byte(r)))
}

// rpmSegment compares the numbers or words that both strings start with. A number
// is newer than a word.
func rpmSegment(a, b string) (n int, resta, restb string) {
	if isDigit(a[0]) {
		if !isDigit(b[0]) {
			return 1, "", ""
		}
		an, a := digits(a)
		bn, b := digits(b)
		return number(an, bn), a, b
	}
	if isDigit(b[0]) {
		return -1, "", ""
	}
	aw, a := letters(a)
	bw, b := letters(b)
	return strings.Compare(aw, bw), a, b
}
