package pkgversion

import (
	"strconv"
	"strings"
)

// An apkKind is a kind of part of an apk version. The order of the kinds is the
// order of the versions that have them at a place where others end or differ.
type apkKind int

const (
	apkPre      apkKind = iota // _alpha, _beta, _pre, _rc
	apkEnd                     //
	apkRevision                // -r1
	apkSuffixNo                // the number of a suffix
	apkPost                    // _cvs, _svn, _git, _hg, _p
	apkLetter                  // the letter of 1.2a
	apkDigit                   // a number
	apkFraction                // a number after a dot
	apkInvalid                 // not a version
)

// An apkPart is a part of a version, compared by its kind and then its value.
type apkPart struct {
	kind apkKind
	val  int64
}

var (
	apkPreSuffixes  = [...]string{"alpha", "beta", "pre", "rc"}
	apkPostSuffixes = [...]string{"cvs", "svn", "git", "hg", "p"}
)

// APK compares versions as apk does: numbers, a letter, suffixes and a
// revision. Text that is not a version sorts after the versions that it starts
// like.
func APK(a, b string) int {
	pa, pb := apkParser{s: a, kind: apkDigit}, apkParser{s: b, kind: apkDigit}
	for {
		x, y := pa.next(), pb.next()
		if x.kind != y.kind {
			return order(int(x.kind), int(y.kind))
		}
		if x.val != y.val {
			if x.val < y.val {
				return -1
			}
			return 1
		}
		if x.kind == apkEnd || x.kind == apkInvalid {
			return strings.Compare(pa.s, pb.s)
		}
	}
}

// An apkParser reads a version part by part. kind is what is to be read next.
type apkParser struct {
	s    string
	kind apkKind
}

// next returns the next part: apkEnd or apkInvalid for ever once that is met.
func (p *apkParser) next() apkPart {
	switch p.kind {
	case apkDigit, apkFraction, apkSuffixNo, apkRevision:
		return p.number()
	case apkLetter:
		part := apkPart{apkLetter, int64(p.s[0])}
		p.s = p.s[1:]
		p.follow(part.kind)
		return part
	case apkPost: // either kind of suffix
		return p.suffix()
	default:
	}
	return apkPart{kind: p.kind}
}

func (p *apkParser) number() apkPart {
	kind := p.kind
	if kind == apkFraction {
		if rest := strings.TrimLeft(p.s, "0"); rest != p.s {
			zeros := len(p.s) - len(rest)
			p.s = rest
			// What follows the zeros is a number of its own.
			if p.kind = apkDigit; rest == "" {
				p.kind = apkEnd
			} else if !isDigit(rest[0]) {
				p.follow(apkDigit)
			}
			return apkPart{kind, -int64(zeros)}
		}
	}
	num, rest := digits(p.s)
	v, err := strconv.ParseInt(num, 10, 64)
	if num == "" && p.s != "" || num != "" && err != nil {
		p.kind = apkInvalid
		return apkPart{kind: apkInvalid}
	}
	p.s = rest
	p.follow(kind)
	return apkPart{kind, v}
}

func (p *apkParser) suffix() apkPart {
	for i, s := range apkPreSuffixes {
		if rest, ok := strings.CutPrefix(p.s, s); ok {
			p.s = rest
			p.follow(apkPost)
			return apkPart{apkPre, int64(i)}
		}
	}
	for i, s := range apkPostSuffixes {
		if rest, ok := strings.CutPrefix(p.s, s); ok {
			p.s = rest
			p.follow(apkPost)
			return apkPart{apkPost, int64(i)}
		}
	}
	p.kind = apkInvalid
	return apkPart{kind: apkInvalid}
}

// follow sets what comes after a part of a kind.
func (p *apkParser) follow(kind apkKind) {
	numeric := kind == apkDigit || kind == apkFraction
	switch s := p.s; {
	case s == "":
		p.kind = apkEnd
	case numeric && 'a' <= s[0] && s[0] <= 'z':
		p.kind = apkLetter
	case kind == apkLetter && isDigit(s[0]):
		p.kind = apkDigit
	case kind == apkPost && isDigit(s[0]):
		p.kind = apkSuffixNo
	case s[0] == '.' && numeric:
		p.kind, p.s = apkFraction, s[1:]
	case s[0] == '_' && kind != apkRevision:
		p.kind, p.s = apkPost, s[1:]
	case strings.HasPrefix(s, "-r") && kind != apkRevision:
		p.kind, p.s = apkRevision, s[2:]
	default:
		p.kind = apkInvalid
	}
}
