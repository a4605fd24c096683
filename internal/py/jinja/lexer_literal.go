package jinja

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"brine/internal/py/jinja/pytext"
	"brine/internal/py/value"
)

// digits returns the end of a run of digits at i, single underscores between
// them allowed.
func (l *lexer) digits(i int) int {
	isDigit := func(i int) bool { return i < len(l.src) && l.src[i] >= '0' && l.src[i] <= '9' }
	for isDigit(i) {
		i++
		if i < len(l.src) && l.src[i] == '_' && isDigit(i+1) {
			i++
		}
	}
	return i
}

// number reads an integer or a float.
func (l *lexer) number() {
	start := l.pos
	if start == 0 || l.src[start-1] != '.' {
		if end := l.float(); end > 0 {
			f, err := strconv.ParseFloat(strings.ReplaceAll(l.src[start:end], "_", ""), 64)
			if err != nil && f == 0 {
				l.fail(start, "invalid float")
				return
			}
			l.emit(tFloat, start, "")
			l.toks[len(l.toks)-1].num = f
			l.take(end)
			return
		}
	}
	end := l.integer()
	i, _ := new(big.Int).SetString(strings.ReplaceAll(l.src[start:end], "_", ""), 0)
	l.emit(tInteger, start, "")
	l.toks[len(l.toks)-1].num = value.NormInt(i)
	l.take(end)
}

// float returns the end of a float at the place, or 0.
func (l *lexer) float() int {
	end := l.digits(l.pos)
	fraction := false
	if end+1 < len(l.src) && l.src[end] == '.' {
		if e := l.digits(end + 1); e > end+1 {
			end, fraction = e, true
		}
	}
	if end < len(l.src) && (l.src[end] == 'e' || l.src[end] == 'E') {
		i := end + 1
		if i < len(l.src) && (l.src[i] == '+' || l.src[i] == '-') {
			i++
		}
		if e := l.digits(i); e > i {
			return e
		}
	}
	if fraction {
		return end
	}
	return 0
}

// integer returns the end of an integer at the place.
func (l *lexer) integer() int {
	run := func(i int, ok func(c byte) bool) int {
		for i < len(l.src) {
			switch {
			case ok(l.src[i]):
				i++
			case l.src[i] == '_' && i+1 < len(l.src) && ok(l.src[i+1]):
				i += 2
			default:
				return i
			}
		}
		return i
	}
	if l.src[l.pos] != '0' {
		return run(l.pos+1, func(c byte) bool { return c >= '0' && c <= '9' })
	}
	if i := l.pos + 2; i < len(l.src) {
		end := i
		switch l.src[i-1] | 0x20 {
		case 'b':
			end = run(i, func(c byte) bool { return c == '0' || c == '1' })
		case 'o':
			end = run(i, func(c byte) bool { return c >= '0' && c <= '7' })
		case 'x':
			end = run(i, func(c byte) bool {
				return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
			})
		}
		if end > i {
			return end
		}
	}
	return run(l.pos+1, func(c byte) bool { return c == '0' })
}

// str reads a string literal, and returns false where it does not end.
func (l *lexer) str(quote byte) bool {
	for i := l.pos + 1; i < len(l.src); i++ {
		switch l.src[i] {
		case '\\':
			i++
		case quote:
			raw := l.src[l.pos+1 : i]
			if l.o.NewlineSequence != "\n" {
				raw = strings.ReplaceAll(raw, "\n", l.o.NewlineSequence)
			}
			text, err := unescape(raw)
			if err != nil {
				l.fail(l.pos, "%s", err.Error())
				return true
			}
			l.emit(tString, l.pos, text)
			l.take(i + 1)
			return true
		}
	}
	return false
}

// unescape resolves the escapes of a Python string literal. Characters beyond
// ASCII are escapes themselves by then, as in Jinja2, so a backslash before
// one stays and so does the text of its escape.
func unescape(s string) (string, error) {
	if strings.IndexByte(s, '\\') < 0 {
		return s, nil
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		c := s[i]
		if c != '\\' {
			_, n := utf8.DecodeRuneInString(s[i:])
			b.WriteString(s[i : i+n])
			i += n
			continue
		}
		i++
		if i >= len(s) {
			return "", fmt.Errorf(`\ at end of string`)
		}
		c = s[i]
		switch c {
		case '\n':
			i++
		case '\\', '\'', '"':
			b.WriteByte(c)
			i++
		case 'a', 'b', 'f', 'n', 'r', 't', 'v':
			b.WriteByte("\a\bcde\fghijklm\nopq\rs\tu\v"[c-'a'])
			i++
		case '0', '1', '2', '3', '4', '5', '6', '7':
			n := rune(0)
			for k := 0; k < 3 && i < len(s) && s[i] >= '0' && s[i] <= '7'; k++ {
				n = n*8 + rune(s[i]-'0')
				i++
			}
			b.WriteRune(n)
		case 'x', 'u', 'U':
			r, n, err := hexEscape(s[i:])
			if err != nil {
				return "", err
			}
			b.WriteRune(r)
			i += n
		case 'N':
			end := strings.IndexByte(s[i:], '}')
			if i+1 >= len(s) || s[i+1] != '{' || end < 3 {
				return "", fmt.Errorf(`malformed \N character escape`)
			}
			r, ok := pytext.RuneByName(s[i+2 : i+end])
			if !ok {
				return "", fmt.Errorf("unknown Unicode character name")
			}
			b.WriteRune(r)
			i += end + 1
		default:
			b.WriteByte('\\')
			if c < utf8.RuneSelf {
				b.WriteByte(c)
				i++
				break
			}
			r, n := utf8.DecodeRuneInString(s[i:])
			b.WriteString(escaped(r))
			i += n
		}
	}
	return b.String(), nil
}

// hexEscape reads an escape xXX, uXXXX or UXXXXXXXX, and returns its length.
func hexEscape(s string) (r rune, n int, err error) {
	size := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[0]]
	for n < size && 1+n < len(s) && isHex(s[1+n]) {
		n++
	}
	if n < size {
		return 0, 0, fmt.Errorf(`truncated \%c%s escape`, s[0], strings.Repeat("X", size))
	}
	code, _ := strconv.ParseUint(s[1:1+size], 16, 64) // at most eight hex digits
	if code > 0x10ffff {
		return 0, 0, fmt.Errorf("illegal Unicode character")
	}
	return rune(code), 1 + size, nil
}

// escaped returns the escape of a character, without its backslash.
func escaped(r rune) string {
	switch {
	case r <= 0xff:
		return fmt.Sprintf("x%02x", r)
	case r <= 0xffff:
		return fmt.Sprintf("u%04x", r)
	}
	return fmt.Sprintf("U%08x", r)
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}
