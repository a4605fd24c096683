// Package pyre is Python's re: patterns and replacement templates as users of
// Salt write them, matched with a time limit. Start with [Compile].
//
// Patterns are translated to the syntax of regexp2, which backtracks and knows
// lookaround and back references as Python does. Groups are numbered as in
// Python, named ones in their place.
package pyre

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2"

	"brine/internal/py/value"
)

// Flags are those of Python's re module, with its numbers.
type Flags int

// The flags.
const (
	IgnoreCase Flags = 2
	Locale     Flags = 4
	Multiline  Flags = 8
	DotAll     Flags = 16
	Unicode    Flags = 32
	Verbose    Flags = 64
	ASCII      Flags = 256
	// Bytes is not Python's: pattern and text are bytes, as Python's b'' ones.
	Bytes Flags = 1 << 16
)

// FlagByName returns the flag of a name such as "MULTILINE" or "M".
func FlagByName(name string) (Flags, bool) {
	switch strings.ToUpper(name) {
	case "I", "IGNORECASE":
		return IgnoreCase, true
	case "L", "LOCALE":
		return Locale, true
	case "M", "MULTILINE":
		return Multiline, true
	case "S", "DOTALL":
		return DotAll, true
	case "U", "UNICODE":
		return Unicode, true
	case "X", "VERBOSE":
		return Verbose, true
	case "A", "ASCII":
		return ASCII, true
	}
	return 0, false
}

// timeout bounds one match, since a pattern may backtrack without end.
const timeout = 10 * time.Second

// A Regexp is a compiled pattern. It is safe for concurrent use.
type Regexp struct {
	re    *regexp2.Regexp
	bytes bool
	n     int // groups
	names map[string]int
}

// Compile returns the pattern compiled, or a *value.PyError "re.error" with
// Python's text where it knows one.
func Compile(pattern string, flags Flags) (*Regexp, error) {
	if flags&Bytes != 0 {
		pattern = latin1(pattern)
	}
	t := translator{src: []rune(pattern), ascii: flags&(Bytes|ASCII) != 0, verbose: flags&Verbose != 0}
	out, err := t.translate()
	if err != nil {
		return nil, err
	}
	var o regexp2.RegexOptions
	if flags&IgnoreCase != 0 {
		o |= regexp2.IgnoreCase
	}
	if flags&Multiline != 0 {
		o |= regexp2.Multiline
	}
	if flags&DotAll != 0 {
		o |= regexp2.Singleline
	}
	if flags&Verbose != 0 {
		o |= regexp2.IgnorePatternWhitespace
	}
	re, err := regexp2.Compile(out, o)
	if err != nil {
		return nil, &value.PyError{Type: "re.error", Msg: err.Error()}
	}
	re.MatchTimeout = timeout
	return &Regexp{re: re, bytes: flags&Bytes != 0, n: t.groups, names: t.names}, nil
}

// A Match is where a pattern matched.
type Match struct {
	r    *Regexp
	m    *regexp2.Match
	text []rune
}

// Search returns the first match in s, nil where there is none.
func (r *Regexp) Search(s string) (*Match, error) {
	rs := r.runes(s)
	m, err := r.re.FindRunesMatch(rs)
	return r.match(rs, m, err)
}

// Match returns the match at the beginning of s, nil where there is none.
func (r *Regexp) Match(s string) (*Match, error) {
	// A search that starts at 0 may move on; the first match is leftmost, so
	// one that begins later means that none begins at 0.
	m, err := r.Search(s)
	if m == nil || m.m.Index != 0 {
		return nil, err
	}
	return m, err
}

// Expr reports whether s matches expr, a glob or a pattern of all of s.
// Salt: salt/utils/stringutils.py expr_match.
func Expr(expr, s string) (bool, error) {
	if expr == s || value.Fnmatch(expr, s) {
		return true, nil
	}
	re, err := Compile(`\A`+expr+`\Z`, 0)
	if err != nil {
		return false, nil // not a pattern
	}
	m, err := re.Match(s)
	return m != nil, err
}

// Has reports whether the pattern matches anywhere in s.
func (r *Regexp) Has(s string) (bool, error) {
	m, err := r.Search(s)
	return m != nil, err
}

// All returns all matches that do not overlap.
func (r *Regexp) All(s string) ([]*Match, error) {
	rs := r.runes(s)
	var all []*Match
	m, err := r.re.FindRunesMatch(rs)
	for m != nil && err == nil {
		all = append(all, &Match{r, m, rs})
		m, err = r.re.FindNextMatch(m)
	}
	if err != nil {
		_, err = r.match(rs, nil, err)
	}
	return all, err
}

func (r *Regexp) match(rs []rune, m *regexp2.Match, err error) (*Match, error) {
	if err != nil {
		return nil, &value.PyError{Type: "TimeoutError", Msg: "pattern takes too long to match: " + r.re.String()}
	}
	if m == nil {
		return nil, nil
	}
	return &Match{r, m, rs}, nil
}

// Groups returns the number of groups.
func (r *Regexp) Groups() int { return r.n }

// Names returns the numbers of the named groups.
func (r *Regexp) Names() map[string]int { return r.names }

func (r *Regexp) runes(s string) []rune {
	if r.bytes {
		return []rune(latin1(s))
	}
	return []rune(s)
}

func (r *Regexp) text(rs []rune) string {
	if !r.bytes {
		return string(rs)
	}
	b := make([]byte, len(rs))
	for i, c := range rs {
		b[i] = byte(c)
	}
	return string(b)
}

// latin1 returns text with a character for each byte of s.
func latin1(s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			rs := make([]rune, len(s))
			for i := range len(s) {
				rs[i] = rune(s[i])
			}
			return string(rs)
		}
	}
	return s
}

// Group returns the text of group n (0 is the whole match), and whether it
// took part in the match.
func (m *Match) Group(n int) (string, bool) {
	g := m.m.GroupByNumber(n)
	if g == nil || len(g.Captures) == 0 {
		return "", false
	}
	return m.r.text(m.text[g.Index : g.Index+g.Length]), true
}

// Span returns where the whole match begins and ends, in characters (bytes for
// a pattern of bytes).
func (m *Match) Span() (start, end int) { return m.m.Index, m.m.Index + m.m.Length }

// Sub returns s with the first count matches (0 is all) replaced by the
// template repl, and how many there were.
func (r *Regexp) Sub(repl, s string, count int) (string, int, error) {
	parts, err := r.template(repl)
	if err != nil {
		return "", 0, err
	}
	return r.SubFunc(func(m *Match) string {
		var b strings.Builder
		for _, p := range parts {
			if p.group < 0 {
				b.WriteString(p.text)
				continue
			}
			g, _ := m.Group(p.group)
			b.WriteString(g)
		}
		return b.String()
	}, s, count)
}

// SubFunc is Sub with a function that gives the text for each match.
func (r *Regexp) SubFunc(repl func(*Match) string, s string, count int) (string, int, error) {
	rs := r.runes(s)
	var b strings.Builder
	n, at := 0, 0
	m, err := r.re.FindRunesMatch(rs)
	for ; m != nil && err == nil && (count <= 0 || n < count); n++ {
		b.WriteString(r.text(rs[at:m.Index]))
		b.WriteString(repl(&Match{r, m, rs}))
		at = m.Index + m.Length
		m, err = r.re.FindNextMatch(m)
	}
	if err != nil {
		_, err = r.match(rs, nil, err)
		return "", 0, err
	}
	if n == 0 {
		return s, 0, nil
	}
	b.WriteString(r.text(rs[at:]))
	return b.String(), n, nil
}

// Escape returns a pattern that matches s alone, as re.escape.
func Escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte("()[]{}?*+-|^$\\.&~# \t\n\r\v\f", s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
