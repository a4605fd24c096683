package value

import (
	"strings"
	"unicode/utf8"
)

// DecodeReplace returns b as text as Python's b.decode("utf-8", "replace")
// does: each longest beginning of a character that is cut short, and each byte
// that begins none, becomes one U+FFFD.
func DecodeReplace(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	var s strings.Builder
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			n = cutShort(b)
		}
		s.WriteRune(r)
		b = b[n:]
	}
	return s.String()
}

// cutShort returns the length of the longest beginning of b that begins a
// character, at least 1. Unicode 15, table 3-7.
func cutShort(b []byte) int {
	need, low, high := 0, byte(0x80), byte(0xbf)
	switch c := b[0]; {
	case c >= 0xc2 && c <= 0xdf:
		need = 1
	case c >= 0xe0 && c <= 0xef:
		need = 2
	case c >= 0xf0 && c <= 0xf4:
		need = 3
	}
	switch b[0] {
	case 0xe0:
		low = 0xa0
	case 0xed:
		high = 0x9f
	case 0xf0:
		low = 0x90
	case 0xf4:
		high = 0x8f
	}
	n := 1
	for n <= need && n < len(b) && b[n] >= low && b[n] <= high {
		n++
		low, high = 0x80, 0xbf
	}
	return n
}
