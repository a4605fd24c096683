package pkgversion

import (
	"errors"
	"strconv"
	"strings"
)

// Deb compares versions as dpkg does: epoch, upstream version, Debian revision.
// Text before a colon that is not a number is part of the upstream version. See
// deb-version(7).
func Deb(a, b string) int {
	ae, av, ar := debParts(a)
	be, bv, br := debParts(b)
	if n := number(ae, be); n != 0 {
		return n
	}
	if n := debPart(av, bv); n != 0 {
		return n
	}
	return debPart(ar, br)
}

func debParts(s string) (epoch, version, revision string) {
	version = strings.Trim(s, " \t\n\r\f\v")
	if num, rest := digits(version); num != "" && strings.HasPrefix(rest, ":") {
		epoch, version = num, rest[1:]
	}
	if i := strings.LastIndexByte(version, '-'); i >= 0 {
		version, revision = version[:i], version[i+1:]
	}
	return epoch, version, revision
}

// debPart compares upstream versions or revisions: text and numbers in turn.
func debPart(a, b string) int {
	for a != "" || b != "" {
		for a != "" && !isDigit(a[0]) || b != "" && !isDigit(b[0]) {
			if n := order(debOrder(a), debOrder(b)); n != 0 {
				return n
			}
			a, b = a[1:], b[1:]
		}
		var an, bn string
		an, a = digits(a)
		bn, b = digits(b)
		if n := number(an, bn); n != 0 {
			return n
		}
	}
	return 0
}

// debOrder is the rank of the first character: ~, the end or a digit, letters,
// all others.
func debOrder(s string) int {
	switch {
	case s == "" || isDigit(s[0]):
		return 0
	case s[0] == '~':
		return -1
	case isAlpha(s[0]):
		return int(s[0])
	}
	return int(s[0]) + 256
}

// CheckDeb returns why dpkg refuses to compare a version, or nil if it does
// not: a space in it, an epoch that is not a number, a missing part. The empty
// version sorts before all others.
func CheckDeb(s string) error {
	s = strings.Trim(s, " \t\n\r\f\v")
	if s == "" {
		return nil
	}
	if strings.ContainsAny(s, " \t\n\r\f\v") {
		return errors.New("version string has embedded spaces")
	}
	if epoch, rest, ok := strings.Cut(s, ":"); ok {
		switch _, err := strconv.ParseInt(epoch, 10, 32); {
		case epoch == "":
			return errors.New("epoch in version is empty")
		case errors.Is(err, strconv.ErrRange):
			return errors.New("epoch in version is too big")
		case err != nil:
			return errors.New("epoch in version is not number")
		case epoch[0] == '-':
			return errors.New("epoch in version is negative")
		case rest == "":
			return errors.New("nothing after colon in version number")
		}
		s = rest
	}
	if i := strings.LastIndexByte(s, '-'); i == 0 {
		return errors.New("version number is empty")
	} else if i == len(s)-1 {
		return errors.New("revision number is empty")
	}
	return nil
}
