package yamlsalt

import (
	"strings"
	"unicode/utf8"
)

// A mark is a place in the text. line and col count from 0, col and index count
// characters.
type mark struct {
	index, line, col int
}

type tokenKind uint8

const (
	noToken tokenKind = iota
	streamEnd
	versionDirective
	tagDirective
	documentStart
	documentEnd
	blockSequenceStart
	blockMappingStart
	blockEnd
	flowSequenceStart
	flowSequenceEnd
	flowMappingStart
	flowMappingEnd
	blockEntry
	flowEntry
	keyToken
	valueToken
	aliasToken
	anchorToken
	tagToken
	scalarToken
)

type token struct {
	kind       tokenKind
	plain      bool   // of a scalar
	value      string // of a scalar, anchor, alias; the suffix of a tag, the prefix of a directive
	handle     string // of a tag or tag directive
	major      int    // of a version directive
	minor      int
	start, end mark
}

// A simpleKey is a place where a key without "?" may have begun; one for each
// flow level. It must be followed by ":" on the same line, within 1024
// characters.
type simpleKey struct {
	possible bool
	required bool // by the indentation: there is no other way to read it
	number   int  // of its token
	mark     mark
}

const maxSimpleKey = 1024

// A scanner cuts text into tokens. Blocks are found by indentation and get
// start and end tokens, as if they were bracketed.
type scanner struct {
	text string
	pos  int // byte offset
	at   mark

	tokens []token // found and not yet taken: tokens[head:]
	head   int
	taken  int // tokens taken so far
	ended  bool

	indent  int
	indents []int
	flow    int // depth of [ and {
	keyOK   bool
	keys    []simpleKey
}

func newScanner(text string) *scanner {
	return &scanner{text: text, indent: -1, keyOK: true, keys: make([]simpleKey, 1, 8), tokens: make([]token, 0, 16)}
}

func (s *scanner) fault(context string, start mark, problem string) *SyntaxError {
	f := &SyntaxError{Class: "ScannerError", Context: context, Problem: problem, Line: s.at.line + 1, Col: s.at.col + 1}
	if context != "" {
		f.ContextLine, f.ContextCol = start.line+1, start.col+1
	}
	return f
}

// peek returns the next token without taking it. It is valid until take.
func (s *scanner) peek() (*token, *SyntaxError) {
	for {
		more := s.head == len(s.tokens)
		if !more {
			if f := s.staleKeys(); f != nil {
				return nil, f
			}
			for i := range s.keys {
				if s.keys[i].possible && s.keys[i].number == s.taken {
					more = true
					break
				}
			}
		}
		if !more || s.ended {
			return &s.tokens[s.head], nil
		}
		if f := s.fetch(); f != nil {
			return nil, f
		}
	}
}

// take drops the token that peek returned.
func (s *scanner) take() {
	s.head++
	s.taken++
	if s.head > 32 && 2*s.head > len(s.tokens) && s.head < len(s.tokens) {
		s.tokens = s.tokens[:copy(s.tokens, s.tokens[s.head:])]
		s.head = 0
	} else if s.head == len(s.tokens) && !s.ended {
		s.tokens = s.tokens[:0]
		s.head = 0
	}
}

func (s *scanner) add(kind tokenKind, start mark) *token {
	s.tokens = append(s.tokens, token{kind: kind, start: start, end: s.at})
	return &s.tokens[len(s.tokens)-1]
}

// insert puts a token before the one of this number; -1 is at the end.
func (s *scanner) insert(number int, kind tokenKind, at mark) {
	s.tokens = append(s.tokens, token{kind: kind, start: at, end: at})
	if number < 0 {
		return
	}
	i := s.head + number - s.taken
	t := s.tokens[len(s.tokens)-1]
	copy(s.tokens[i+1:], s.tokens[i:])
	s.tokens[i] = t
}

// Characters. At the end of the text, char returns 0, which the reader lets
// into no text.

func (s *scanner) char(off int) byte {
	if p := s.pos + off; p < len(s.text) {
		return s.text[p]
	}
	return 0
}

// breakLen returns the length of the line break at byte p, or 0.
func (s *scanner) breakLen(p int) int {
	if p >= len(s.text) {
		return 0
	}
	switch s.text[p] {
	case '\n':
		return 1
	case '\r':
		if p+1 < len(s.text) && s.text[p+1] == '\n' {
			return 2
		}
		return 1
	case 0xc2:
		if p+1 < len(s.text) && s.text[p+1] == 0x85 { // NEL
			return 2
		}
	case 0xe2:
		if p+2 < len(s.text) && s.text[p+1] == 0x80 && (s.text[p+2] == 0xa8 || s.text[p+2] == 0xa9) { // LS, PS
			return 3
		}
	}
	return 0
}

func (s *scanner) blank(off int) bool { c := s.char(off); return c == ' ' || c == '\t' }

// blankz reports whether a blank, a line break or the end is off bytes ahead.
func (s *scanner) blankz(off int) bool {
	switch c := s.char(off); c {
	case ' ', '\t', '\n', '\r':
		return true
	case 0:
		return s.pos+off >= len(s.text)
	case 0xc2, 0xe2:
		return s.breakLen(s.pos+off) > 0
	}
	return false
}

func (s *scanner) breakz() bool { return s.pos >= len(s.text) || s.breakLen(s.pos) > 0 }

func (s *scanner) atEnd() bool { return s.pos >= len(s.text) }

// skip advances by one character, which must not be a line break.
func (s *scanner) skip() {
	if c := s.text[s.pos]; c < utf8.RuneSelf {
		s.pos++
	} else {
		_, n := utf8.DecodeRuneInString(s.text[s.pos:])
		s.pos += n
	}
	s.at.index++
	s.at.col++
}

// skipN goes n ASCII characters ahead.
func (s *scanner) skipN(n int) {
	s.pos += n
	s.at.index += n
	s.at.col += n
}

// skipLine goes over a line break.
func (s *scanner) skipLine() {
	n := s.breakLen(s.pos)
	if n == 0 {
		return
	}
	if s.text[s.pos] == '\r' {
		s.at.index += n
	} else {
		s.at.index++
	}
	s.pos += n
	s.at.col = 0
	s.at.line++
}

// readLine goes over a line break and appends it to b: "\n", or LS and PS as
// they are.
func (s *scanner) readLine(b []byte) []byte {
	n := s.breakLen(s.pos)
	if n == 3 {
		b = append(b, s.text[s.pos:s.pos+3]...)
	} else if n > 0 {
		b = append(b, '\n')
	}
	s.skipLine()
	return b
}

func isAlpha(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '_' || c == '-'
}

// Simple keys and indentation.

func (s *scanner) staleKeys() *SyntaxError {
	for i := range s.keys {
		k := &s.keys[i]
		if k.possible && (k.mark.line < s.at.line || k.mark.index+maxSimpleKey < s.at.index) {
			if k.required {
				return s.fault("while scanning a simple key", k.mark, "could not find expected ':'")
			}
			k.possible = false
		}
	}
	return nil
}

func (s *scanner) saveKey() *SyntaxError {
	if !s.keyOK {
		return nil
	}
	if f := s.removeKey(); f != nil {
		return f
	}
	s.keys[len(s.keys)-1] = simpleKey{
		possible: true,
		required: s.flow == 0 && s.indent == s.at.col,
		number:   s.taken + len(s.tokens) - s.head,
		mark:     s.at,
	}
	return nil
}

func (s *scanner) removeKey() *SyntaxError {
	k := &s.keys[len(s.keys)-1]
	if k.possible && k.required {
		return s.fault("while scanning a simple key", k.mark, "could not find expected ':'")
	}
	k.possible = false
	return nil
}

// roll opens a block where col is deeper than the current one.
func (s *scanner) roll(col, number int, kind tokenKind, at mark) {
	if s.flow > 0 || s.indent >= col {
		return
	}
	s.indents = append(s.indents, s.indent)
	s.indent = col
	s.insert(number, kind, at)
}

// unroll closes the blocks that are deeper than col.
func (s *scanner) unroll(col int) {
	if s.flow > 0 {
		return
	}
	for s.indent > col {
		s.add(blockEnd, s.at)
		s.indent = s.indents[len(s.indents)-1]
		s.indents = s.indents[:len(s.indents)-1]
	}
}

// Tokens.

func (s *scanner) fetch() *SyntaxError {
	s.toNext()
	if f := s.staleKeys(); f != nil {
		return f
	}
	s.unroll(s.at.col)
	if s.atEnd() {
		return s.fetchEnd()
	}
	c := s.text[s.pos]
	if s.at.col == 0 {
		switch {
		case c == '%':
			return s.fetchDirective()
		case s.documentMark("---"):
			return s.fetchDocument(documentStart)
		case s.documentMark("..."):
			return s.fetchDocument(documentEnd)
		}
	}
	switch c {
	case '[':
		return s.fetchFlowStart(flowSequenceStart)
	case '{':
		return s.fetchFlowStart(flowMappingStart)
	case ']':
		return s.fetchFlowEnd(flowSequenceEnd)
	case '}':
		return s.fetchFlowEnd(flowMappingEnd)
	case ',':
		if f := s.removeKey(); f != nil {
			return f
		}
		s.keyOK = true
		s.indicator(flowEntry)
		return nil
	case '-':
		if s.blankz(1) {
			return s.fetchEntry()
		}
	case '?':
		if s.flow > 0 || s.blankz(1) {
			return s.fetchKey()
		}
	case ':':
		if s.flow > 0 || s.blankz(1) {
			return s.fetchValue()
		}
	case '*':
		return s.fetchAnchor(aliasToken)
	case '&':
		return s.fetchAnchor(anchorToken)
	case '!':
		return s.fetchTag()
	case '|', '>':
		if s.flow == 0 {
			if f := s.removeKey(); f != nil {
				return f
			}
			s.keyOK = true
			return s.scanBlockScalar(c == '|')
		}
	case '\'', '"':
		if f := s.saveKey(); f != nil {
			return f
		}
		s.keyOK = false
		return s.scanQuoted(c == '\'')
	}
	switch c {
	case '-':
		if !s.blank(1) {
			return s.fetchPlain()
		}
	case '?', ':':
		if s.flow == 0 && !s.blankz(1) {
			return s.fetchPlain()
		}
	case ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`', '\t':
	default:
		return s.fetchPlain()
	}
	return s.fault("while scanning for the next token", s.at, "found character that cannot start any token")
}

// toNext skips blanks, comments and line breaks. A tab is not a blank where a
// block key may begin.
func (s *scanner) toNext() {
	for !s.atEnd() {
		c := s.text[s.pos]
		switch {
		case c == ' ' || c == '\t' && (s.flow > 0 || !s.keyOK):
			s.skipN(1)
		case c == '#':
			for !s.breakz() {
				s.skip()
			}
		case s.breakLen(s.pos) > 0:
			s.skipLine()
			if s.flow == 0 {
				s.keyOK = true
			}
		case s.at.col == 0 && strings.HasPrefix(s.text[s.pos:], "\ufeff"):
			s.skip()
		default:
			return
		}
	}
}

// documentMark reports whether a line --- or ... is ahead, at its start.
func (s *scanner) documentMark(m string) bool {
	return strings.HasPrefix(s.text[s.pos:], m) && s.blankz(3)
}

func (s *scanner) indicator(kind tokenKind) {
	start := s.at
	s.skipN(1)
	s.add(kind, start)
}

func (s *scanner) fetchEnd() *SyntaxError {
	if s.at.col != 0 {
		s.at.col = 0
		s.at.line++
	}
	s.unroll(-1)
	if f := s.removeKey(); f != nil {
		return f
	}
	s.keyOK = false
	s.add(streamEnd, s.at)
	s.ended = true
	return nil
}

func (s *scanner) fetchDocument(kind tokenKind) *SyntaxError {
	s.unroll(-1)
	if f := s.removeKey(); f != nil {
		return f
	}
	s.keyOK = false
	start := s.at
	s.skipN(3)
	s.add(kind, start)
	return nil
}

func (s *scanner) fetchFlowStart(kind tokenKind) *SyntaxError {
	if f := s.saveKey(); f != nil {
		return f
	}
	s.keys = append(s.keys, simpleKey{})
	s.flow++
	s.keyOK = true
	s.indicator(kind)
	return nil
}

func (s *scanner) fetchFlowEnd(kind tokenKind) *SyntaxError {
	if f := s.removeKey(); f != nil {
		return f
	}
	if s.flow > 0 {
		s.flow--
		s.keys = s.keys[:len(s.keys)-1]
	}
	s.keyOK = false
	s.indicator(kind)
	return nil
}

func (s *scanner) fetchEntry() *SyntaxError {
	if s.flow == 0 {
		if !s.keyOK {
			return s.fault("", mark{}, "block sequence entries are not allowed in this context")
		}
		s.roll(s.at.col, -1, blockSequenceStart, s.at)
	}
	if f := s.removeKey(); f != nil {
		return f
	}
	s.keyOK = true
	s.indicator(blockEntry)
	return nil
}

func (s *scanner) fetchKey() *SyntaxError {
	if s.flow == 0 {
		if !s.keyOK {
			return s.fault("", mark{}, "mapping keys are not allowed in this context")
		}
		s.roll(s.at.col, -1, blockMappingStart, s.at)
	}
	if f := s.removeKey(); f != nil {
		return f
	}
	s.keyOK = s.flow == 0
	s.indicator(keyToken)
	return nil
}

func (s *scanner) fetchValue() *SyntaxError {
	if k := &s.keys[len(s.keys)-1]; k.possible {
		s.insert(k.number, keyToken, k.mark)
		s.roll(k.mark.col, k.number, blockMappingStart, k.mark)
		k.possible = false
		s.keyOK = false
	} else {
		if s.flow == 0 {
			if !s.keyOK {
				return s.fault("", mark{}, "mapping values are not allowed in this context")
			}
			s.roll(s.at.col, -1, blockMappingStart, s.at)
		}
		s.keyOK = s.flow == 0
	}
	s.indicator(valueToken)
	return nil
}

func (s *scanner) fetchPlain() *SyntaxError {
	if f := s.saveKey(); f != nil {
		return f
	}
	s.keyOK = false
	return s.scanPlain()
}

func (s *scanner) fetchAnchor(kind tokenKind) *SyntaxError {
	if f := s.saveKey(); f != nil {
		return f
	}
	s.keyOK = false
	start := s.at
	s.skipN(1)
	from := s.pos
	for isAlpha(s.char(0)) {
		s.skipN(1)
	}
	if s.pos == from || !s.blankz(0) && !strings.ContainsRune("?:,]}%@`", rune(s.char(0))) {
		context := "while scanning an anchor"
		if kind == aliasToken {
			context = "while scanning an alias"
		}
		return s.fault(context, start, "did not find expected alphabetic or numeric character")
	}
	s.add(kind, start).value = s.text[from:s.pos]
	return nil
}
