package jinja

import (
	"fmt"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"brine/internal/py/jinja/pytext"
	"brine/internal/py/value"
)

// A tokKind is a kind of token.
type tokKind uint8

const (
	tEOF tokKind = iota
	tError
	tData
	tVarBegin
	tVarEnd
	tBlockBegin
	tBlockEnd
	tName
	tString
	tInteger
	tFloat
	tAdd
	tAssign
	tColon
	tComma
	tDiv
	tDot
	tEq
	tFloorDiv
	tGt
	tGtEq
	tLBrace
	tLBracket
	tLParen
	tLt
	tLtEq
	tMod
	tMul
	tNe
	tPipe
	tPow
	tRBrace
	tRBracket
	tRParen
	tSemicolon
	tSub
	tTilde
)

// describe names the kind as Jinja2's messages do.
func (k tokKind) describe() string {
	return [...]string{
		tEOF: "end of template", tError: "error", tData: "template data / text",
		tVarBegin: "begin of print statement", tVarEnd: "end of print statement",
		tBlockBegin: "begin of statement block", tBlockEnd: "end of statement block",
		tName: "name", tString: "string", tInteger: "integer", tFloat: "float",
		tAdd: "+", tAssign: "=", tColon: ":", tComma: ",", tDiv: "/", tDot: ".", tEq: "==",
		tFloorDiv: "//", tGt: ">", tGtEq: ">=", tLBrace: "{", tLBracket: "[", tLParen: "(",
		tLt: "<", tLtEq: "<=", tMod: "%", tMul: "*", tNe: "!=", tPipe: "|", tPow: "**",
		tRBrace: "}", tRBracket: "]", tRParen: ")", tSemicolon: ";", tSub: "-", tTilde: "~",
	}[k]
}

// A token is a piece of a template. text is a name, the data, the content of
// a string or the message of an error.
type token struct {
	kind      tokKind
	off, line int32
	text      string
	num       value.Value // of an integer or a float
}

func (t *token) describe() string {
	if t.kind == tName {
		return t.text
	}
	return t.kind.describe()
}

// A delim opens a part of a template that is not data.
type delim struct {
	kind delimKind
	str  string
}

type delimKind uint8

// In the order in which equally long delimiters are tried, last first.
const (
	dBlock delimKind = iota
	dComment
	dLineComment
	dLineStatement
	dVariable
	dRaw
)

// A lexer cuts a template into tokens. An error becomes the last token, so
// that faults come in the order in which the parser meets them.
type lexer struct {
	o       *Options
	src     string
	pos     int
	line    int32
	toks    []token
	delims  []delim
	first   [256]bool // bytes that delimiters start with
	lines   bool      // line statements or line comments are on
	balance []byte    // the closing brackets that are due
	// lineStart says that what was matched last ended a line.
	lineStart bool
	failed    bool
}

// normalize makes every newline of a template "\n", and drops the last one
// where the options say so.
func normalize(o *Options, src string) string {
	if strings.IndexByte(src, '\r') >= 0 {
		src = strings.ReplaceAll(src, "\r\n", "\n")
		src = strings.ReplaceAll(src, "\r", "\n")
	}
	if !o.KeepTrailingNewline {
		src = strings.TrimSuffix(src, "\n")
	}
	return src
}

// tokens are those of templates that were parsed: they take more room than what is made of
// them.
var tokens = sync.Pool{New: func() any { return new([]token) }}

// takeTokens returns room for n tokens.
func takeTokens(n int) []token {
	toks := *tokens.Get().(*[]token)
	if cap(toks) < n {
		toks = make([]token, 0, n)
	}
	return toks[:0]
}

// maxTokens is how many tokens are kept for the next template.
const maxTokens = 1 << 14

func giveTokens(toks []token) {
	if cap(toks) <= maxTokens {
		clear(toks)
		tokens.Put(&toks)
	}
}

// lex returns the tokens of src, which is normalized.
func lex(o *Options, src string) []token {
	l := &lexer{o: o, src: src, line: 1, lineStart: true}
	l.toks = takeTokens(len(src)/5 + 8)
	add := func(k delimKind, s string) {
		if s == "" {
			return
		}
		at := 0
		for at < len(l.delims) && (len(l.delims[at].str) > len(s) || len(l.delims[at].str) == len(s) && l.delims[at].kind > k) {
			at++
		}
		l.delims = append(l.delims, delim{})
		copy(l.delims[at+1:], l.delims[at:])
		l.delims[at] = delim{k, s}
		l.first[s[0]] = true
	}
	add(dBlock, o.BlockStart)
	add(dVariable, o.VariableStart)
	add(dComment, o.CommentStart)
	add(dLineStatement, o.LineStatementPrefix)
	add(dLineComment, o.LineCommentPrefix)
	l.lines = o.LineStatementPrefix != "" || o.LineCommentPrefix != ""
	for !l.failed && l.pos < len(l.src) {
		l.root()
	}
	if !l.failed {
		last := int32(1)
		if n := len(l.toks); n > 0 {
			last = l.toks[n-1].line
		}
		l.toks = append(l.toks, token{kind: tEOF, off: int32(len(src)), line: last})
	}
	return l.toks
}

func (l *lexer) emit(k tokKind, off int, text string) {
	l.toks = append(l.toks, token{kind: k, off: int32(off), line: l.line, text: text})
}

func (l *lexer) fail(off int, format string, args ...any) {
	l.failed = true
	l.emit(tError, off, fmt.Sprintf(format, args...))
}

// take goes on to end, counting lines.
func (l *lexer) take(end int) {
	s := l.src[l.pos:end]
	l.line += int32(strings.Count(s, "\n"))
	l.lineStart = strings.HasSuffix(s, "\n")
	l.pos = end
}

// space returns the end of the white space that starts at i.
func (l *lexer) space(i int) int {
	for i < len(l.src) {
		c := l.src[i]
		if c < utf8.RuneSelf {
			if c == ' ' || c >= '\t' && c <= '\r' || c >= 0x1c && c <= 0x1f {
				i++
				continue
			}
			return i
		}
		r, n := utf8.DecodeRuneInString(l.src[i:])
		if !value.IsSpace(r) {
			return i
		}
		i += n
	}
	return i
}

func (l *lexer) has(i int, s string) bool { return strings.HasPrefix(l.src[i:], s) }

// tag finds the next tag: where it starts, where its opening ends, and the
// sign after it.
func (l *lexer) tag() (start, end int, kind delimKind, sign byte, ok bool) {
	for i := l.pos; i < len(l.src); i++ {
		if !l.lines && !l.first[l.src[i]] {
			continue
		}
		if l.has(i, l.o.BlockStart) {
			if end, sign, ok := l.rawBegin(i + len(l.o.BlockStart)); ok {
				return i, end, dRaw, sign, true
			}
		}
		for _, d := range l.delims {
			end, ok := l.opening(i, d)
			if !ok {
				continue
			}
			if end < len(l.src) && (l.src[end] == '-' || l.src[end] == '+') {
				return i, end + 1, d.kind, l.src[end], true
			}
			return i, end, d.kind, 0, true
		}
	}
	return 0, 0, 0, 0, false
}

// opening reports whether a tag of a delimiter begins at i, and where its
// opening ends. Those of lines begin behind a line break, or white space.
func (l *lexer) opening(i int, d delim) (end int, ok bool) {
	end = i
	switch d.kind {
	case dLineStatement:
		if i > 0 && l.src[i-1] != '\n' {
			return 0, false
		}
		for end < len(l.src) && (l.src[end] == ' ' || l.src[end] == '\t' || l.src[end] == '\v') {
			end++
		}
	case dLineComment:
		if i > 0 && l.src[i-1] != '\n' {
			r, _ := utf8.DecodeLastRuneInString(l.src[:i])
			if value.IsSpace(r) {
				return 0, false
			}
		}
		for end < len(l.src) && l.src[end] != '\n' && l.space(end) > end {
			_, n := utf8.DecodeRuneInString(l.src[end:])
			end += n
		}
	default: // other delimiters begin anywhere
	}
	return end + len(d.str), l.has(end, d.str)
}

// rawBegin matches what follows the block start of a raw tag.
func (l *lexer) rawBegin(i int) (end int, sign byte, ok bool) {
	if i < len(l.src) && (l.src[i] == '-' || l.src[i] == '+') {
		sign = l.src[i]
		i++
	}
	i = l.space(i)
	if !l.has(i, "raw") {
		return 0, 0, false
	}
	i = l.space(i + 3)
	if l.has(i, "-") && l.has(i+1, l.o.BlockEnd) {
		return l.space(i + 1 + len(l.o.BlockEnd)), sign, true
	}
	if l.has(i, l.o.BlockEnd) {
		return i + len(l.o.BlockEnd), sign, true
	}
	return 0, 0, false
}

// root reads data up to a tag, and the tag.
func (l *lexer) root() {
	start, end, kind, sign, ok := l.tag()
	if !ok {
		l.data(l.src[l.pos:])
		l.take(len(l.src))
		return
	}
	l.stripped(l.src[l.pos:start], sign, kind != dVariable)
	l.take(start)
	switch kind {
	case dRaw:
		l.take(end)
		l.raw()
	case dComment:
		l.take(end)
		l.comment()
	case dLineComment:
		l.take(end)
		n := strings.IndexByte(l.src[l.pos:], '\n')
		if n < 0 {
			n = len(l.src) - l.pos
		}
		l.take(l.pos + n)
	case dVariable:
		l.emit(tVarBegin, start, "")
		l.take(end)
		l.code(kind)
	default:
		l.emit(tBlockBegin, start, "")
		l.take(end)
		l.code(kind)
	}
}

// stripped emits data that a tag follows, less the white space that the tag
// takes away.
func (l *lexer) stripped(text string, sign byte, lstrip bool) {
	switch {
	case sign == '-':
		text = strings.TrimRightFunc(text, value.IsSpace)
	case sign != '+' && lstrip && l.o.LstripBlocks:
		at := strings.LastIndexByte(text, '\n') + 1
		if (at > 0 || l.lineStart) && at < len(text) && l.space(l.pos+at) >= l.pos+len(text) {
			text = text[:at]
		}
	}
	l.data(text)
}

func (l *lexer) data(text string) {
	if text == "" {
		return
	}
	if l.o.NewlineSequence != "\n" {
		text = strings.ReplaceAll(text, "\n", l.o.NewlineSequence)
	}
	l.emit(tData, l.pos, text)
}

// closing matches the end of a tag at i: a plus, a minus that eats white
// space, or neither, where trim_blocks eats a newline.
func (l *lexer) closing(i int, str string, plus, trim bool) (int, bool) {
	switch {
	case plus && l.has(i, "+") && l.has(i+1, str):
		return i + 1 + len(str), true
	case l.has(i, "-") && l.has(i+1, str):
		return l.space(i + 1 + len(str)), true
	case l.has(i, str):
		i += len(str)
		if trim && l.o.TrimBlocks && l.has(i, "\n") {
			i++
		}
		return i, true
	}
	return 0, false
}

func (l *lexer) comment() {
	if l.pos == len(l.src) {
		return
	}
	n := strings.Index(l.src[l.pos:], l.o.CommentEnd)
	if n < 0 {
		l.fail(l.pos, "Missing end of comment tag")
		return
	}
	at := l.pos + n
	if n > 0 && (l.src[at-1] == '-' || l.src[at-1] == '+') {
		at--
	}
	end, _ := l.closing(at, l.o.CommentEnd, true, true)
	l.take(end)
}

func (l *lexer) raw() {
	if l.pos == len(l.src) {
		return
	}
	for i := l.pos; ; i++ {
		n := strings.Index(l.src[i:], l.o.BlockStart)
		if n < 0 {
			l.fail(l.pos, "Missing end of raw directive")
			return
		}
		i += n
		j, sign := i+len(l.o.BlockStart), byte(0)
		if j < len(l.src) && (l.src[j] == '-' || l.src[j] == '+') {
			sign = l.src[j]
			j++
		}
		if j = l.space(j); !l.has(j, "endraw") {
			continue
		}
		if end, ok := l.closing(l.space(j+6), l.o.BlockEnd, true, true); ok {
			l.stripped(l.src[l.pos:i], sign, true)
			l.take(end)
			return
		}
	}
}

// code reads the tokens of a tag and its end.
func (l *lexer) code(kind delimKind) {
	l.balance = l.balance[:0]
	for l.pos < len(l.src) && !l.failed {
		if len(l.balance) == 0 {
			switch kind {
			case dVariable:
				if end, ok := l.closing(l.pos, l.o.VariableEnd, false, false); ok {
					l.emit(tVarEnd, l.pos, "")
					l.take(end)
					return
				}
			case dBlock:
				if end, ok := l.closing(l.pos, l.o.BlockEnd, true, true); ok {
					l.emit(tBlockEnd, l.pos, "")
					l.take(end)
					return
				}
			case dLineStatement:
				if end, ok := l.lineEnd(); ok {
					l.emit(tBlockEnd, l.pos, "")
					l.take(end)
					return
				}
			default: // comments and raw blocks have no expressions
			}
		}
		if end := l.space(l.pos); end > l.pos {
			l.take(end)
			continue
		}
		l.codeToken()
	}
	if kind == dLineStatement && !l.failed && len(l.balance) == 0 {
		l.emit(tBlockEnd, l.pos, "")
	}
}

// lineEnd matches the end of a line statement: white space up to the end of a
// line, as far as it goes.
func (l *lexer) lineEnd() (int, bool) {
	for k := l.space(l.pos); k >= l.pos; k-- {
		if k == len(l.src) {
			return k, true
		}
		if l.src[k] == '\n' {
			return k + 1, true
		}
	}
	return 0, false
}

func (l *lexer) codeToken() {
	c := l.src[l.pos]
	switch {
	case c >= '0' && c <= '9':
		l.number()
		return
	case c == '\'' || c == '"':
		if l.str(c) {
			return
		}
	case c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf:
		if l.name() {
			return
		}
	default:
		if kind, n := operator(l.src[l.pos:]); n > 0 {
			if l.bracket(c, n) {
				l.emit(kind, l.pos, "")
				l.take(l.pos + n)
			}
			return
		}
	}
	_, n := utf8.DecodeRuneInString(l.src[l.pos:])
	l.fail(l.pos, "unexpected char %s at %d", value.QuoteStr(l.src[l.pos:l.pos+n]), utf8.RuneCountInString(l.src[:l.pos]))
}

// bracket keeps the balance of brackets.
func (l *lexer) bracket(c byte, n int) bool {
	if n != 1 {
		return true
	}
	switch c {
	case '{':
		l.balance = append(l.balance, '}')
	case '(':
		l.balance = append(l.balance, ')')
	case '[':
		l.balance = append(l.balance, ']')
	case '}', ')', ']':
		if len(l.balance) == 0 {
			l.fail(l.pos, "unexpected '%c'", c)
			return false
		}
		due := l.balance[len(l.balance)-1]
		l.balance = l.balance[:len(l.balance)-1]
		if due != c {
			l.fail(l.pos, "unexpected '%c', expected '%c'", c, due)
			return false
		}
	}
	return true
}

func operator(s string) (tokKind, int) {
	two := byte(0)
	if len(s) > 1 {
		two = s[1]
	}
	pick := func(second byte, long, short tokKind) (tokKind, int) {
		if two == second {
			return long, 2
		}
		return short, 1
	}
	switch s[0] {
	case '+':
		return tAdd, 1
	case '-':
		return tSub, 1
	case '/':
		return pick('/', tFloorDiv, tDiv)
	case '*':
		return pick('*', tPow, tMul)
	case '%':
		return tMod, 1
	case '~':
		return tTilde, 1
	case '[':
		return tLBracket, 1
	case ']':
		return tRBracket, 1
	case '(':
		return tLParen, 1
	case ')':
		return tRParen, 1
	case '{':
		return tLBrace, 1
	case '}':
		return tRBrace, 1
	case '=':
		return pick('=', tEq, tAssign)
	case '!':
		if two == '=' {
			return tNe, 2
		}
	case '>':
		return pick('=', tGtEq, tGt)
	case '<':
		return pick('=', tLtEq, tLt)
	case '.':
		return tDot, 1
	case ':':
		return tColon, 1
	case '|':
		return tPipe, 1
	case ',':
		return tComma, 1
	case ';':
		return tSemicolon, 1
	}
	return 0, 0
}

// isWord is what a name is made of, wider than what an identifier may be.
func isWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.In(r, unicode.N, unicode.Mn, unicode.Mc, unicode.Pc) || r == '·'
}

func (l *lexer) name() bool {
	i, ascii := l.pos, true
	for i < len(l.src) {
		c := l.src[i]
		if c < utf8.RuneSelf {
			if c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' {
				i++
				continue
			}
			break
		}
		r, n := utf8.DecodeRuneInString(l.src[i:])
		if !isWord(r) {
			break
		}
		ascii = false
		i += n
	}
	if i == l.pos {
		return false
	}
	name := l.src[l.pos:i]
	if !ascii && !pytext.IsIdentifier(name) {
		l.fail(l.pos, "Invalid character in identifier")
		return true
	}
	l.emit(tName, l.pos, name)
	l.take(i)
	return true
}
