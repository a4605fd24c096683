package jinja

import (
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"brine/internal/value"
)

// Python's rules for cases and classes of characters.

func specials(s string) func() map[rune]string {
	return sync.OnceValue(func() map[rune]string {
		m := map[rune]string{}
		for _, w := range strings.Fields(s) {
			r, n := utf8.DecodeRuneInString(w)
			m[r] = w[n:]
		}
		return m
	})
}

func ranges(s string) func() *unicode.RangeTable {
	return sync.OnceValue(func() *unicode.RangeTable {
		t := &unicode.RangeTable{}
		for _, w := range strings.Fields(s) {
			a, b, two := strings.Cut(w, "-")
			if !two {
				b = a
			}
			lo, _ := strconv.ParseUint(a, 16, 32)
			hi, _ := strconv.ParseUint(b, 16, 32)
			if hi <= 0xffff {
				t.R16 = append(t.R16, unicode.Range16{Lo: uint16(lo), Hi: uint16(hi), Stride: 1})
			} else {
				t.R32 = append(t.R32, unicode.Range32{Lo: uint32(lo), Hi: uint32(hi), Stride: 1})
			}
		}
		return t
	})
}

var (
	upperFull    = specials(upperSpecial)
	titleFull    = specials(titleSpecial)
	foldFull     = specials(foldSpecial)
	digitTable   = ranges(digitRanges)
	numericTable = ranges(numericRanges)
)

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// mapChars maps each character of s; bytes that are no UTF-8 stay.
func mapChars(s string, f func(b *strings.Builder, at int, r rune)) string {
	var b strings.Builder
	b.Grow(len(s) + 8)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			b.WriteByte(s[i])
		} else {
			f(&b, i, r)
		}
		i += n
	}
	return b.String()
}

func writeUpper(b *strings.Builder, r rune) {
	if r >= utf8.RuneSelf {
		if s, ok := upperFull()[r]; ok {
			b.WriteString(s)
			return
		}
	}
	b.WriteRune(unicode.ToUpper(r))
}

func writeTitle(b *strings.Builder, r rune) {
	if r >= utf8.RuneSelf {
		if s, ok := titleFull()[r]; ok {
			b.WriteString(s)
			return
		}
	}
	b.WriteRune(unicode.ToTitle(r))
}

// writeLower writes the lower case of the character r at place at of s.
func writeLower(b *strings.Builder, s string, at int, r rune) {
	switch r {
	case 'Σ':
		if s != "" && finalSigma(s, at) {
			r = 'ς'
		} else {
			r = 'σ'
		}
		b.WriteRune(r)
	case 'İ':
		b.WriteString("i̇")
	default:
		b.WriteRune(unicode.ToLower(r))
	}
}

// finalSigma reports whether the capital sigma at place at ends a word.
func finalSigma(s string, at int) bool {
	before := strings.TrimRightFunc(s[:at], caseIgnorable)
	r, _ := utf8.DecodeLastRuneInString(before)
	if before == "" || !cased(r) {
		return false
	}
	after := strings.TrimLeftFunc(s[at+len("Σ"):], caseIgnorable)
	r, _ = utf8.DecodeRuneInString(after)
	return after == "" || !cased(r)
}

func caseIgnorable(r rune) bool {
	return strings.ContainsRune("'.:^`·’‘", r) || unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
}

func isLower(r rune) bool { return unicode.IsLower(r) || unicode.Is(unicode.Other_Lowercase, r) }
func isUpper(r rune) bool { return unicode.IsUpper(r) || unicode.Is(unicode.Other_Uppercase, r) }
func cased(r rune) bool   { return isLower(r) || isUpper(r) || unicode.IsTitle(r) }

func upper(s string) string {
	if isASCII(s) {
		return strings.ToUpper(s)
	}
	return mapChars(s, func(b *strings.Builder, _ int, r rune) { writeUpper(b, r) })
}

func lower(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return mapChars(s, func(b *strings.Builder, at int, r rune) { writeLower(b, s, at, r) })
}

func casefold(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return mapChars(s, func(b *strings.Builder, _ int, r rune) {
		if f, ok := foldFull()[r]; ok {
			b.WriteString(f)
		} else {
			writeLower(b, "", 0, r)
		}
	})
}

func swapcase(s string) string {
	return mapChars(s, func(b *strings.Builder, at int, r rune) {
		switch {
		case isUpper(r):
			writeLower(b, s, at, r)
		case isLower(r):
			writeUpper(b, r)
		default:
			b.WriteRune(r)
		}
	})
}

func capitalize(s string) string {
	return mapChars(s, func(b *strings.Builder, at int, r rune) {
		if at == 0 {
			writeTitle(b, r)
		} else {
			writeLower(b, s, at, r)
		}
	})
}

// titleCase is str.title: what follows a letter is lower.
func titleCase(s string) string {
	prev := false
	return mapChars(s, func(b *strings.Builder, at int, r rune) {
		if prev {
			writeLower(b, s, at, r)
		} else {
			writeTitle(b, r)
		}
		prev = cased(r)
	})
}

func isDecimal(r rune) bool { return unicode.Is(unicode.Nd, r) }

func isDigitChar(r rune) bool {
	return isDecimal(r) || r >= utf8.RuneSelf && unicode.Is(digitTable(), r)
}

func isNumeric(r rune) bool {
	return unicode.In(r, unicode.Nd, unicode.Nl, unicode.No) || r >= utf8.RuneSelf && unicode.Is(numericTable(), r)
}

func isAlnum(r rune) bool { return unicode.IsLetter(r) || isDigitChar(r) || isNumeric(r) }

// isPrintable is str.isprintable for one character.
func isPrintable(r rune) bool {
	return r == ' ' || unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S)
}

// every reports whether s is not empty and f holds for all its characters.
func every(s string, f func(rune) bool) bool {
	for _, r := range s {
		if !f(r) {
			return false
		}
	}
	return s != ""
}

// caseOnly is islower and isupper: at least one cased character, and all of
// them are of the case.
func caseOnly(s string, is func(rune) bool) bool {
	found := false
	for _, r := range s {
		if is(r) {
			found = true
		} else if cased(r) {
			return false
		}
	}
	return found
}

func isTitleText(s string) bool {
	found, prev := false, false
	for _, r := range s {
		switch {
		case isUpper(r) || unicode.IsTitle(r):
			if prev {
				return false
			}
			found, prev = true, true
		case isLower(r):
			if !prev {
				return false
			}
			found, prev = true, true
		default:
			prev = false
		}
	}
	return found
}

func isIdentifier(s string) bool {
	for i, r := range s {
		start := r == '_' || unicode.In(r, unicode.L, unicode.Nl, unicode.Other_ID_Start)
		if !start && (i == 0 || !unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue)) {
			return false
		}
	}
	return s != ""
}

// splitBlank is str.split() at blanks, at most limit times (-1: no limit).
func splitBlank(s string, limit int) []string {
	if limit < 0 {
		return strings.FieldsFunc(s, value.IsSpace)
	}
	var out []string
	for {
		s = strings.TrimLeftFunc(s, value.IsSpace)
		if s == "" {
			return out
		}
		i := strings.IndexFunc(s, value.IsSpace)
		if len(out) == limit || i < 0 {
			return append(out, s)
		}
		out = append(out, s[:i])
		s = s[i:]
	}
}

// rsplitBlank is str.rsplit() at blanks, from the right.
func rsplitBlank(s string, limit int) []string {
	if limit < 0 {
		return strings.FieldsFunc(s, value.IsSpace)
	}
	var rev []string
	for {
		s = strings.TrimRightFunc(s, value.IsSpace)
		if s == "" {
			break
		}
		i := strings.LastIndexFunc(s, value.IsSpace)
		if len(rev) == limit || i < 0 {
			rev = append(rev, s)
			break
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		rev = append(rev, s[i+n:])
		s = s[:i]
	}
	flip(rev)
	return rev
}

func flip[T any](s []T) {
	for i, j := 0, len(s)-1; i < j; i, j = i+1, j-1 {
		s[i], s[j] = s[j], s[i]
	}
}

func splitSep(s, sep string, limit int) []string {
	if limit < 0 {
		return strings.Split(s, sep)
	}
	return strings.SplitN(s, sep, limit+1)
}

func rsplitSep(s, sep string, limit int) []string {
	if limit < 0 {
		return strings.Split(s, sep)
	}
	var rev []string
	for len(rev) < limit {
		i := strings.LastIndex(s, sep)
		if i < 0 {
			break
		}
		rev = append(rev, s[i+len(sep):])
		s = s[:i]
	}
	rev = append(rev, s)
	flip(rev)
	return rev
}

// expandTabs replaces tabs by blanks up to the next column of width.
func expandTabs(s string, width int) (string, error) {
	var b strings.Builder
	col := 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch r {
		case '\t':
			if width > 0 {
				fill := width - col%width
				if err := value.CheckSize(b.Len() + fill); err != nil {
					return "", err
				}
				b.WriteString(strings.Repeat(" ", fill))
				col += fill
			}
		case '\n', '\r':
			b.WriteByte(s[i])
			col = 0
		default:
			b.WriteString(s[i : i+n])
			col++
		}
		i += n
	}
	return b.String(), nil
}

// justify pads s to width: how is '<', '>' or '^'.
func justify(s string, width int, fill string, how byte) (string, error) {
	n := width - value.TextLen(s)
	if n <= 0 {
		return s, nil
	}
	if n > value.MaxBytes/len(fill) {
		return "", value.CheckSize(-1)
	}
	left := 0
	switch how {
	case '>':
		left = n
	case '^':
		left = n/2 + n&width&1
	}
	return strings.Repeat(fill, left) + s + strings.Repeat(fill, n-left), nil
}

func zfill(s string, width int) (string, error) {
	n := width - value.TextLen(s)
	if n <= 0 {
		return s, nil
	}
	if err := value.CheckSize(n); err != nil {
		return "", err
	}
	zeros := strings.Repeat("0", n)
	if s != "" && (s[0] == '+' || s[0] == '-') {
		return s[:1] + zeros + s[1:], nil
	}
	return zeros + s, nil
}

// replaceText is str.replace, with the size of the result bounded.
func replaceText(s, old, repl string, count int) (string, error) {
	if len(repl) > len(old) {
		n := strings.Count(s, old)
		if old == "" {
			n = value.TextLen(s) + 1
		}
		if count >= 0 {
			n = min(n, count)
		}
		if n > 0 && len(repl)-len(old) > value.MaxBytes/n {
			return "", value.CheckSize(-1)
		}
		if err := value.CheckSize(len(s) + n*(len(repl)-len(old))); err != nil {
			return "", err
		}
	}
	return strings.Replace(s, old, repl, count), nil
}

// joinText is strings.Join, with the size of the result bounded.
func joinText(parts []string, sep string) (string, error) {
	n := 0
	for _, p := range parts {
		n += len(p) + len(sep)
		if n > value.MaxBytes+len(sep) {
			return "", value.CheckSize(n)
		}
	}
	return strings.Join(parts, sep), nil
}
