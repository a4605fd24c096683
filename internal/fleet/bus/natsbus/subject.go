package natsbus

import (
	"strings"
)

const upperHex = "0123456789ABCDEF"

// plain reports whether a byte of a tag is the same in a subject.
func plain(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}

// Subject returns the subject of a tag: each part between slashes is a token,
// an empty part is "%", and a byte that is not an ASCII letter, digit, "-" or
// "_" is "%XX".
func Subject(prefix, tag string) string {
	var b strings.Builder
	b.WriteString(prefix)
	for part := range strings.SplitSeq(tag, "/") {
		b.WriteByte('.')
		if part == "" {
			b.WriteByte('%')
		}
		for i := range len(part) {
			if c := part[i]; plain(c) {
				b.WriteByte(c)
			} else {
				b.Write([]byte{'%', upperHex[c>>4], upperHex[c&15]})
			}
		}
	}
	return b.String()
}

// Tag returns the tag of a subject; false for a subject that [Subject] does not make.
func Tag(prefix, subject string) (string, bool) {
	rest, ok := strings.CutPrefix(subject, prefix+".")
	if !ok {
		return "", false
	}
	var b strings.Builder
	first := true
	for token := range strings.SplitSeq(rest, ".") {
		if !first {
			b.WriteByte('/')
		}
		first = false
		if token == "%" {
			continue
		}
		for i := 0; i < len(token); i++ {
			if token[i] != '%' {
				b.WriteByte(token[i])
				continue
			}
			if i+2 >= len(token) {
				return "", false
			}
			b.WriteByte(byte(strings.IndexByte(upperHex, token[i+1])<<4 | strings.IndexByte(upperHex, token[i+2])&15))
			i += 2
		}
	}
	tag := b.String()
	return tag, Subject(prefix, tag) == subject
}
