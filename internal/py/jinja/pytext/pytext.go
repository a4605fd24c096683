// Package pytext has Python's rules for text: cases and classes of characters,
// splitting, padding, the names of characters.
package pytext

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"brine/internal/py/value"
)

func specials(s string) func() map[rune]string {
	return sync.OnceValue(func() map[rune]string {
		m := map[rune]string{}
		for w := range strings.FieldsSeq(s) {
			r, n := utf8.DecodeRuneInString(w)
			m[r] = w[n:]
		}
		return m
	})
}

func ranges(s string) func() *unicode.RangeTable {
	return sync.OnceValue(func() *unicode.RangeTable {
		t := &unicode.RangeTable{}
		for w := range strings.FieldsSeq(s) {
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

// MapChars returns what f writes for each character of s, which is at byte at.
// Bytes that are not UTF-8 stay.
func MapChars(s string, f func(b *strings.Builder, at int, r rune)) string {
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

// WriteUpper writes the upper case of r.
func WriteUpper(b *strings.Builder, r rune) {
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

// IsLower reports whether r is a lower case character.
func IsLower(r rune) bool { return unicode.IsLower(r) || unicode.Is(unicode.Other_Lowercase, r) }

// IsUpper reports whether r is an upper case character.
func IsUpper(r rune) bool { return unicode.IsUpper(r) || unicode.Is(unicode.Other_Uppercase, r) }
func cased(r rune) bool   { return IsLower(r) || IsUpper(r) || unicode.IsTitle(r) }

// Upper returns s.upper().
func Upper(s string) string {
	if value.IsASCII(s) {
		return strings.ToUpper(s)
	}
	return MapChars(s, func(b *strings.Builder, _ int, r rune) { WriteUpper(b, r) })
}

// Lower returns s.lower().
func Lower(s string) string {
	if value.IsASCII(s) {
		return strings.ToLower(s)
	}
	return MapChars(s, func(b *strings.Builder, at int, r rune) { writeLower(b, s, at, r) })
}

// Casefold returns s.casefold().
func Casefold(s string) string {
	if value.IsASCII(s) {
		return strings.ToLower(s)
	}
	return MapChars(s, func(b *strings.Builder, _ int, r rune) {
		if f, ok := foldFull()[r]; ok {
			b.WriteString(f)
		} else {
			writeLower(b, "", 0, r)
		}
	})
}

// Swapcase returns s.swapcase().
func Swapcase(s string) string {
	return MapChars(s, func(b *strings.Builder, at int, r rune) {
		switch {
		case IsUpper(r):
			writeLower(b, s, at, r)
		case IsLower(r):
			WriteUpper(b, r)
		default:
			b.WriteRune(r)
		}
	})
}

// Capitalize returns s.capitalize().
func Capitalize(s string) string {
	return MapChars(s, func(b *strings.Builder, at int, r rune) {
		if at == 0 {
			writeTitle(b, r)
		} else {
			writeLower(b, s, at, r)
		}
	})
}

// Title returns s.title(): what follows a letter is lower case.
func Title(s string) string {
	prev := false
	return MapChars(s, func(b *strings.Builder, at int, r rune) {
		if prev {
			writeLower(b, s, at, r)
		} else {
			writeTitle(b, r)
		}
		prev = cased(r)
	})
}

// IsDecimal reports whether r is a decimal digit.
func IsDecimal(r rune) bool { return unicode.Is(unicode.Nd, r) }

// IsDigit reports whether r is a digit, superscripts and the like included.
func IsDigit(r rune) bool {
	return IsDecimal(r) || r >= utf8.RuneSelf && unicode.Is(digitTable(), r)
}

// IsNumeric reports whether r is a numeric character.
func IsNumeric(r rune) bool {
	return unicode.In(r, unicode.Nd, unicode.Nl, unicode.No) || r >= utf8.RuneSelf && unicode.Is(numericTable(), r)
}

// IsAlnum reports whether r is a letter or a number.
func IsAlnum(r rune) bool { return unicode.IsLetter(r) || IsDigit(r) || IsNumeric(r) }

// IsPrintable reports whether r is printable.
func IsPrintable(r rune) bool {
	return r == ' ' || unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S)
}

// Every reports whether s has characters and f holds for all of them.
func Every(s string, f func(rune) bool) bool {
	for _, r := range s {
		if !f(r) {
			return false
		}
	}
	return s != ""
}

// CaseOnly is islower and isupper: at least one cased character, and all of
// them are of the case.
func CaseOnly(s string, is func(rune) bool) bool {
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

// IsTitle returns s.istitle().
func IsTitle(s string) bool {
	found, prev := false, false
	for _, r := range s {
		switch {
		case IsUpper(r) || unicode.IsTitle(r):
			if prev {
				return false
			}
			found, prev = true, true
		case IsLower(r):
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

// IsIdentifier returns s.isidentifier().
func IsIdentifier(s string) bool {
	for i, r := range s {
		start := r == '_' || unicode.In(r, unicode.L, unicode.Nl, unicode.Other_ID_Start)
		if !start && (i == 0 || !unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue)) {
			return false
		}
	}
	return s != ""
}

// CheckParts returns an error where s has more parts than a list may have items.
// The separator "" is white space.
func CheckParts(s, sep string) error {
	switch {
	case len(s) <= value.MaxItems:
		return nil
	case sep != "":
		return value.CheckItems(strings.Count(s, sep) + 1)
	}
	n, in := 0, false
	for i := range len(s) {
		blank := s[i] == ' ' || s[i] >= '\t' && s[i] <= '\r'
		if !blank && !in {
			n++
		}
		in = !blank
	}
	return value.CheckItems(n)
}

// CheckLines returns an error where s has more lines than a list may have items.
func CheckLines(s string) error {
	if len(s) <= value.MaxItems {
		return nil
	}
	n, before := 0, ' '
	for _, r := range s {
		switch r {
		case '\n':
			if before != '\r' {
				n++
			}
		case '\r', '\v', '\f', 0x1c, 0x1d, 0x1e, 0x85, 0x2028, 0x2029:
			n++
		}
		before = r
	}
	return value.CheckItems(n)
}

// SplitBlank returns s.split(None, limit); -1 means no limit.
func SplitBlank(s string, limit int) []string {
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

// RsplitBlank returns s.rsplit(None, limit); -1 means no limit.
func RsplitBlank(s string, limit int) []string {
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
	slices.Reverse(rev)
	return rev
}

// SplitSep returns s.split(sep, limit).
func SplitSep(s, sep string, limit int) []string {
	if limit < 0 {
		return strings.Split(s, sep)
	}
	return strings.SplitN(s, sep, limit+1)
}

// RsplitSep returns s.rsplit(sep, limit).
func RsplitSep(s, sep string, limit int) []string {
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
	slices.Reverse(rev)
	return rev
}

// ExpandTabs returns s.expandtabs(width), or an error where that is too large.
func ExpandTabs(s string, width int) (string, error) {
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

// Justify pads s to width with fill. how says where s is: '<' left, '>' right,
// '^' in the middle.
func Justify(s string, width int, fill string, how byte) (string, error) {
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

// Zfill returns s.zfill(width), or an error where that is too large.
func Zfill(s string, width int) (string, error) {
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

// Replace returns s.replace(old, repl, count), or an error where that is too
// large.
func Replace(s, old, repl string, count int) (string, error) {
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

// Join returns sep.join(parts), or an error where that is too large.
func Join(parts []string, sep string) (string, error) {
	n := 0
	for _, p := range parts {
		n += len(p) + len(sep)
		if n > value.MaxBytes+len(sep) {
			return "", value.CheckSize(n)
		}
	}
	return strings.Join(parts, sep), nil
}
