package pkgversion

import "strings"

// Pacman compares versions as pacman does: epoch, version, release. A release
// that only one side has is ignored. See vercmp(8).
func Pacman(a, b string) int {
	ae, av, ar := evr(a)
	be, bv, br := evr(b)
	if n := pacmanPart(ae, be); n != 0 {
		return n
	}
	if n := pacmanPart(av, bv); n != 0 || ar == "" || br == "" {
		return n
	}
	return pacmanPart(ar, br)
}

// pacmanPart compares segments, which are divided by separators; more separators
// are newer, and of two versions the longer one is newer unless it goes on with a
// letter: 1.0a, 1.0, 1.0.a, 1.0.1.
func pacmanPart(a, b string) int {
	for a != "" && b != "" {
		atrim, btrim := strings.TrimLeftFunc(a, pacmanSeparator), strings.TrimLeftFunc(b, pacmanSeparator)
		asep, bsep := len(a)-len(atrim), len(b)-len(btrim)
		a, b = atrim, btrim
		if a == "" || b == "" {
			break
		}
		if asep != bsep {
			return order(asep, bsep)
		}
		var n int
		if n, a, b = rpmSegment(a, b); n != 0 {
			return n
		}
	}
	switch {
	case a == "" && b == "":
		return 0
	case a == "" && !isAlpha(b[0]), a != "" && isAlpha(a[0]):
		return -1
	}
	return 1
}

func pacmanSeparator(r rune) bool { return r > 0x7f || !isDigit(byte(r)) && !isAlpha(byte(r)) }
