package yamlsalt

import (
	"strings"
	"unicode/utf8"
)

// scanPlain scans a scalar without quotes. A single line is a part of the text,
// not a copy.
func (s *scanner) scanPlain() *SyntaxError {
	start, end := s.at, s.at
	indent := s.indent + 1
	var (
		buf      []byte // what was read, where it is not text[from:to]
		from, to = s.pos, s.pos
		g        gap
	)
	for s.char(0) != '#' && (s.at.col != 0 || !s.documentMark("---") && !s.documentMark("...")) {
		for !s.blankz(0) {
			ends, f := s.plainEnds(start)
			if f != nil {
				return f
			}
			if ends {
				break
			}
			buf = g.flush(buf, s.text[from:to])
			word := s.pos
			s.skipWord()
			if buf != nil {
				buf = append(buf, s.text[word:s.pos]...)
			}
			to, end = s.pos, s.at
		}
		if s.atEnd() || !s.blank(0) && s.breakLen(s.pos) == 0 {
			break
		}
		if !s.readGap(&g, indent) {
			return s.fault("while scanning a plain scalar", start, "found a tab character that violates indentation")
		}
		if s.flow == 0 && s.at.col < indent {
			break
		}
	}
	t := s.add(scalarToken, start)
	t.end = end
	t.plain = true
	if buf != nil {
		t.value = string(buf)
	} else {
		t.value = s.text[from:to]
	}
	if g.broken {
		s.keyOK = true
	}
	return nil
}

// plainEnds reports whether a plain scalar ends before the next character.
func (s *scanner) plainEnds(start mark) (bool, *SyntaxError) {
	switch c := s.text[s.pos]; c {
	case ':':
		if s.flow > 0 && strings.IndexByte(",?[]{}", s.char(1)) >= 0 && s.char(1) != 0 {
			return false, s.fault("while scanning a plain scalar", start, "found unexpected ':'")
		}
		return s.blankz(1), nil
	case ',', '[', ']', '{', '}':
		return s.flow > 0, nil
	}
	return false, nil
}

// skipWord skips one character, and those after it that cannot end a plain
// scalar: letters, digits and most signs.
func (s *scanner) skipWord() {
	if s.text[s.pos] >= utf8.RuneSelf {
		s.skip()
		return
	}
	s.skipN(1)
	for s.pos < len(s.text) && plainByte(s.text[s.pos]) {
		s.skipN(1)
	}
}

// A gap is the white space between the words of a scalar.
type gap struct {
	blanks []byte // on a line
	first  []byte // the first line break
	rest   []byte // those after it
	broken bool   // there is a line break
}

// readGap reads white space and line breaks. It reports false at a tab that
// stands for indentation.
func (s *scanner) readGap(g *gap, indent int) bool {
	for !s.atEnd() {
		if c := s.text[s.pos]; c == ' ' || c == '\t' {
			if g.broken && s.at.col < indent && c == '\t' {
				return false
			}
			if !g.broken {
				g.blanks = append(g.blanks, c)
			}
			s.skipN(1)
			continue
		}
		if s.breakLen(s.pos) == 0 {
			break
		}
		if !g.broken {
			g.blanks = g.blanks[:0]
			g.first = s.readLine(g.first[:0])
			g.broken = true
		} else {
			g.rest = s.readLine(g.rest)
		}
	}
	return true
}

// flush appends the gap to buf, a copy of before where there is none yet: blanks
// alone need no copy.
func (g *gap) flush(buf []byte, before string) []byte {
	switch {
	case g.broken:
		if buf == nil {
			buf = append(make([]byte, 0, 2*len(before)+64), before...)
		}
		buf = fold(buf, g.first, g.rest)
		g.first, g.rest, g.broken = g.first[:0], g.rest[:0], false
	case len(g.blanks) > 0:
		if buf != nil {
			buf = append(buf, g.blanks...)
		}
		g.blanks = g.blanks[:0]
	}
	return buf
}

// plainByte reports whether c always continues a plain scalar.
func plainByte(c byte) bool {
	switch c {
	case ':', ',', '[', ']', '{', '}':
		return false
	}
	return c > ' ' && c < 0x7f
}

// fold joins lines: a single break is a blank, more lose the first one.
func fold(buf, first, rest []byte) []byte {
	if len(first) > 0 && first[0] == '\n' {
		if len(rest) == 0 {
			return append(buf, ' ')
		}
		return append(buf, rest...)
	}
	return append(append(buf, first...), rest...)
}

// scanQuoted scans a scalar in quotes.
func (s *scanner) scanQuoted(single bool) *SyntaxError {
	start := s.at
	quote := s.text[s.pos]
	s.skipN(1)
	if n := s.simpleQuoted(quote, single); n >= 0 {
		text := s.text[s.pos : s.pos+n]
		s.skipN(n)
		s.skipN(1)
		s.add(scalarToken, start).value = text
		return nil
	}
	var (
		buf []byte
		g   gap
	)
	for {
		if s.at.col == 0 && (s.documentMark("---") || s.documentMark("...")) {
			return s.fault("while scanning a quoted scalar", start, "found unexpected document indicator")
		}
		if s.atEnd() {
			return s.fault("while scanning a quoted scalar", start, "found unexpected end of stream")
		}
		var f *SyntaxError
		if buf, g.broken, f = s.quotedLine(buf, single, start); f != nil {
			return f
		}
		if s.char(0) == quote {
			break
		}
		g.blanks, g.first, g.rest = g.blanks[:0], g.first[:0], g.rest[:0]
		s.readGap(&g, 0)
		if g.broken {
			buf = fold(buf, g.first, g.rest)
		} else {
			buf = append(buf, g.blanks...)
		}
	}
	s.skipN(1)
	s.add(scalarToken, start).value = string(buf)
	return nil
}

// simpleQuoted returns the length of a scalar that ends on its line and has
// nothing to replace, as most do; -1 of another.
func (s *scanner) simpleQuoted(quote byte, single bool) int {
	for i := s.pos; i < len(s.text); i++ {
		c := s.text[i]
		if c == quote && (!single || i+1 >= len(s.text) || s.text[i+1] != quote) {
			return i - s.pos
		}
		if c == quote || c == '\\' && !single || c < ' ' || c >= utf8.RuneSelf {
			return -1
		}
	}
	return -1
}

// quotedLine appends what is up to white space or the quote. escaped says that
// it ended at a line break behind a backslash.
func (s *scanner) quotedLine(buf []byte, single bool, start mark) (_ []byte, escaped bool, f *SyntaxError) {
	for !s.blankz(0) {
		switch c := s.text[s.pos]; {
		case single && c == '\'' && s.char(1) == '\'':
			buf = append(buf, '\'')
			s.skipN(2)
		case single && c == '\'', !single && c == '"':
			return buf, false, nil
		case !single && c == '\\' && s.breakLen(s.pos+1) > 0:
			s.skipN(1)
			s.skipLine()
			return buf, true, nil
		case !single && c == '\\':
			if buf, f = s.escape(buf, start); f != nil {
				return nil, false, f
			}
		default:
			p := s.pos
			s.skip()
			buf = append(buf, s.text[p:s.pos]...)
		}
	}
	return buf, false, nil
}

// escape reads an escape sequence of a double-quoted scalar.
func (s *scanner) escape(buf []byte, start mark) ([]byte, *SyntaxError) {
	const context = "while parsing a quoted scalar"
	digits := 0
	switch s.char(1) {
	case '0':
		buf = append(buf, 0)
	case 'a':
		buf = append(buf, 7)
	case 'b':
		buf = append(buf, 8)
	case 't', '\t':
		buf = append(buf, 9)
	case 'n':
		buf = append(buf, 10)
	case 'v':
		buf = append(buf, 11)
	case 'f':
		buf = append(buf, 12)
	case 'r':
		buf = append(buf, 13)
	case 'e':
		buf = append(buf, 27)
	case ' ', '"', '/', '\\':
		buf = append(buf, s.char(1))
	case 'N':
		buf = append(buf, "\u0085"...)
	case '_':
		buf = append(buf, "\u00a0"...)
	case 'L':
		buf = append(buf, "\u2028"...)
	case 'P':
		buf = append(buf, "\u2029"...)
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	default:
		return nil, s.fault(context, start, "found unknown escape character")
	}
	s.skipN(2)
	if digits == 0 {
		return buf, nil
	}
	var r uint32
	for i := range digits {
		h, ok := hexValue(s.char(i))
		if !ok {
			return nil, s.fault(context, start, "did not find expected hexdecimal number")
		}
		r = r<<4 | uint32(h)
	}
	if r >= 0xd800 && r <= 0xdfff || r > utf8.MaxRune {
		return nil, s.fault(context, start, "found invalid Unicode character escape code")
	}
	s.skipN(digits)
	return utf8.AppendRune(buf, rune(r)), nil
}

func hexValue(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// scanBlockScalar scans a | (literal) or > (folded) scalar.
func (s *scanner) scanBlockScalar(literal bool) *SyntaxError {
	const context = "while scanning a block scalar"
	start := s.at
	s.skipN(1)
	chomp, increment := byte(0), 0
	for range 2 {
		switch c := s.char(0); {
		case (c == '+' || c == '-') && chomp == 0:
			chomp = c
			s.skipN(1)
		case c >= '0' && c <= '9' && increment == 0:
			if c == '0' {
				return s.fault(context, start, "found an indentation indicator equal to 0")
			}
			increment = int(c - '0')
			s.skipN(1)
		}
	}
	if f := s.lineEnd(context, start); f != nil {
		return f
	}

	indent := 0
	if increment > 0 {
		indent = max(s.indent, 0) + increment
	}
	var buf, first, rest []byte
	end := s.at
	rest, f := s.blockBreaks(&indent, rest, start, &end)
	if f != nil {
		return f
	}
	leadingBlank := false
	for s.at.col == indent && !s.atEnd() {
		trailingBlank := s.blank(0)
		if !literal && len(first) > 0 && first[0] == '\n' && !leadingBlank && !trailingBlank {
			if len(rest) == 0 {
				buf = append(buf, ' ')
			}
		} else {
			buf = append(buf, first...)
		}
		buf = append(buf, rest...)
		first, rest = first[:0], rest[:0]
		leadingBlank = s.blank(0)
		from := s.pos
		for !s.breakz() {
			s.skip()
		}
		buf = append(buf, s.text[from:s.pos]...)
		end = s.at
		first = s.readLine(first)
		if rest, f = s.blockBreaks(&indent, rest, start, &end); f != nil {
			return f
		}
	}
	if chomp != '-' {
		buf = append(buf, first...)
	}
	if chomp == '+' {
		buf = append(buf, rest...)
	}
	t := s.add(scalarToken, start)
	t.value, t.end = string(buf), end
	return nil
}

// blockBreaks skips the indentation and the empty lines before a line of a
// block scalar. Where indent is 0 it is set from the deepest of them.
func (s *scanner) blockBreaks(indent *int, breaks []byte, start mark, end *mark) ([]byte, *SyntaxError) {
	deepest := 0
	*end = s.at
	for {
		for (*indent == 0 || s.at.col < *indent) && s.char(0) == ' ' {
			s.skipN(1)
		}
		deepest = max(deepest, s.at.col)
		if (*indent == 0 || s.at.col < *indent) && s.char(0) == '\t' {
			return nil, s.fault("while scanning a block scalar", start, "found a tab character where an indentation space is expected")
		}
		if s.breakLen(s.pos) == 0 {
			break
		}
		breaks = s.readLine(breaks)
		*end = s.at
	}
	if *indent == 0 {
		*indent = max(deepest, s.indent+1, 1)
	}
	return breaks, nil
}

// Directives and tags.

func (s *scanner) fetchDirective() *SyntaxError {
	const context = "while scanning a directive"
	s.unroll(-1)
	if f := s.removeKey(); f != nil {
		return f
	}
	s.keyOK = false
	start := s.at
	s.skipN(1)
	from := s.pos
	for isAlpha(s.char(0)) {
		s.skipN(1)
	}
	name := s.text[from:s.pos]
	if name == "" {
		return s.fault(context, start, "could not find expected directive name")
	}
	if !s.blankz(0) {
		return s.fault(context, start, "found unexpected non-alphabetical character")
	}
	t := token{start: start}
	var f *SyntaxError
	switch name {
	case "YAML":
		t.kind = versionDirective
		f = s.scanVersion(&t)
	case "TAG":
		t.kind = tagDirective
		f = s.scanTagDirective(&t)
	default:
		f = s.fault(context, start, "found unknown directive name")
	}
	if f != nil {
		return f
	}
	t.end = s.at
	s.tokens = append(s.tokens, t)
	return s.lineEnd(context, start)
}

// lineEnd skips blanks, a comment and the line break; anything else on the line
// is an error.
func (s *scanner) lineEnd(context string, start mark) *SyntaxError {
	for s.blank(0) {
		s.skipN(1)
	}
	if s.char(0) == '#' {
		for !s.breakz() {
			s.skip()
		}
	}
	if !s.breakz() {
		return s.fault(context, start, "did not find expected comment or line break")
	}
	s.skipLine()
	return nil
}

func (s *scanner) scanVersion(t *token) (f *SyntaxError) {
	for s.blank(0) {
		s.skipN(1)
	}
	if t.major, f = s.scanNumber(t.start); f != nil {
		return f
	}
	if s.char(0) != '.' {
		return s.fault("while scanning a %YAML directive", t.start, "did not find expected digit or '.' character")
	}
	s.skipN(1)
	t.minor, f = s.scanNumber(t.start)
	return f
}

func (s *scanner) scanNumber(start mark) (int, *SyntaxError) {
	n, length := 0, 0
	for c := s.char(0); c >= '0' && c <= '9'; c = s.char(0) {
		if length++; length > 9 {
			return 0, s.fault("while scanning a %YAML directive", start, "found extremely long version number")
		}
		n = n*10 + int(c-'0')
		s.skipN(1)
	}
	if length == 0 {
		return 0, s.fault("while scanning a %YAML directive", start, "did not find expected version number")
	}
	return n, nil
}

func (s *scanner) scanTagDirective(t *token) (f *SyntaxError) {
	const context = "while scanning a %TAG directive"
	for s.blank(0) {
		s.skipN(1)
	}
	if t.handle, f = s.scanTagHandle(true, t.start); f != nil {
		return f
	}
	if !s.blank(0) {
		return s.fault(context, t.start, "did not find expected whitespace")
	}
	for s.blank(0) {
		s.skipN(1)
	}
	if t.value, f = s.scanTagURI(true, true, "", t.start); f != nil {
		return f
	}
	if !s.blankz(0) {
		return s.fault(context, t.start, "did not find expected whitespace or line break")
	}
	return nil
}

func (s *scanner) fetchTag() *SyntaxError {
	const context = "while scanning a tag"
	if f := s.saveKey(); f != nil {
		return f
	}
	s.keyOK = false
	start := s.at
	var handle, suffix string
	var f *SyntaxError
	if s.char(1) == '<' {
		s.skipN(2)
		if suffix, f = s.scanTagURI(true, false, "", start); f != nil {
			return f
		}
		if s.char(0) != '>' {
			return s.fault(context, start, "did not find the expected '>'")
		}
		s.skipN(1)
	} else {
		if handle, f = s.scanTagHandle(false, start); f != nil {
			return f
		}
		if len(handle) > 1 && handle[len(handle)-1] == '!' {
			if suffix, f = s.scanTagURI(false, false, "", start); f != nil {
				return f
			}
		} else {
			if suffix, f = s.scanTagURI(false, false, handle, start); f != nil {
				return f
			}
			if handle = "!"; suffix == "" {
				handle, suffix = "", "!"
			}
		}
	}
	if !s.blankz(0) && (s.flow == 0 || s.char(0) != ',') {
		return s.fault(context, start, "did not find expected whitespace or line break")
	}
	t := s.add(tagToken, start)
	t.handle, t.value = handle, suffix
	return nil
}

func tagContext(directive bool) string {
	if directive {
		return "while parsing a %TAG directive"
	}
	return "while parsing a tag"
}

func (s *scanner) scanTagHandle(directive bool, start mark) (string, *SyntaxError) {
	if s.char(0) != '!' {
		context := "while scanning a tag"
		if directive {
			context = "while scanning a tag directive"
		}
		return "", s.fault(context, start, "did not find expected '!'")
	}
	from := s.pos
	s.skipN(1)
	for isAlpha(s.char(0)) {
		s.skipN(1)
	}
	if s.char(0) == '!' {
		s.skipN(1)
	} else if directive && s.pos-from > 1 {
		return "", s.fault("while parsing a tag directive", start, "did not find expected '!'")
	}
	return s.text[from:s.pos], nil
}

// scanTagURI scans the rest of a tag; head is a handle that was read and turned
// out to be the beginning of it.
func (s *scanner) scanTagURI(uri, directive bool, head string, start mark) (string, *SyntaxError) {
	var buf []byte
	if len(head) > 1 {
		buf = append(buf, head[1:]...)
	}
	length := len(head)
	for {
		c := s.char(0)
		switch {
		case isAlpha(c), c != 0 && strings.IndexByte(";/?:@&=+$.!~*'()", c) >= 0, uri && (c == ',' || c == '[' || c == ']'):
			buf = append(buf, c)
			s.skipN(1)
		case c == '%':
			var f *SyntaxError
			if buf, f = s.scanURIEscapes(buf, directive, start); f != nil {
				return "", f
			}
		default:
			if length == 0 {
				return "", s.fault(tagContext(directive), start, "did not find expected tag URI")
			}
			return string(buf), nil
		}
		length++
	}
}

// scanURIEscapes decodes the %XX of one character.
func (s *scanner) scanURIEscapes(buf []byte, directive bool, start mark) ([]byte, *SyntaxError) {
	width := 0
	for first := true; first || width > 0; first = false {
		hi, ok := hexValue(s.char(1))
		lo, ok2 := hexValue(s.char(2))
		if s.char(0) != '%' || !ok || !ok2 {
			return nil, s.fault(tagContext(directive), start, "did not find URI escaped octet")
		}
		c := hi<<4 | lo
		if first {
			switch {
			case c&0x80 == 0:
				width = 1
			case c&0xe0 == 0xc0:
				width = 2
			case c&0xf0 == 0xe0:
				width = 3
			case c&0xf8 == 0xf0:
				width = 4
			default:
				return nil, s.fault(tagContext(directive), start, "found an incorrect leading UTF-8 octet")
			}
		} else if c&0xc0 != 0x80 {
			return nil, s.fault(tagContext(directive), start, "found an incorrect trailing UTF-8 octet")
		}
		buf = append(buf, c)
		s.skipN(3)
		width--
	}
	return buf, nil
}
