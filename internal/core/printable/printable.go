// Package printable stands between what others wrote and the user's terminal:
// targets, servers that are not yet authenticated, files, other users.
//
// [Line] and [Text] are for messages, [Block] for messages of several lines that
// must not pass for somebody else's, [Writer] for all that goes to a terminal.
package printable

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Line returns s as one line: control characters, line ends of any kind, and
// characters that change the order or visibility of others are written out
// ("\x1b", "\n", "\u202e").
func Line(s string) string { return clean(s, false) }

// Text is Line that keeps line feeds and tabs.
func Text(s string) string { return clean(s, true) }

// maxLines is how many lines a [Block] keeps.
const maxLines = 100

// Block is Text whose further lines are marked by "  | ", so that none of them
// looks like a message of its own.
func Block(s string) string {
	lines := strings.Split(strings.TrimRight(Text(s), "\n"), "\n")
	if len(lines) > maxLines {
		lines = append(lines[:maxLines:maxLines], "...")
	}
	return strings.Join(lines, "\n  | ")
}

func clean(s string, text bool) string {
	if plain(s, text) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case text && (r == '\n' || r == '\t'):
			b.WriteRune(r)
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		default:
			writeRune(&b, r)
		}
		i += n
	}
	return b.String()
}

func plain(s string, text bool) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= utf8.RuneSelf || c == 0x7f || c < ' ' && (!text || c != '\n' && c != '\t') {
			return utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool {
				return unsafe(r) && (!text || r != '\n' && r != '\t')
			}) < 0
		}
	}
	return true
}

func writeRune(b *strings.Builder, r rune) {
	switch {
	case !unsafe(r):
		b.WriteRune(r)
	case r == '\n':
		b.WriteString(`\n`)
	case r == '\r':
		b.WriteString(`\r`)
	case r == '\t':
		b.WriteString(`\t`)
	case r < 0x100:
		fmt.Fprintf(b, `\x%02x`, r)
	case r < 0x10000:
		fmt.Fprintf(b, `\u%04x`, r)
	default:
		fmt.Fprintf(b, `\U%08x`, r)
	}
}

// unsafe reports whether a character acts on a terminal or hides what is
// written.
func unsafe(r rune) bool {
	switch {
	case unicode.IsControl(r), r == '\u2028', r == '\u2029':
		return true
	case r < 0xad:
		return false
	case r == '\u00ad', r == '\u061c', r == '\u180e', r >= '\u200b' && r <= '\u200f', r >= '\u202a' && r <= '\u202e',
		r >= '\u2060' && r <= '\u206f', r == '\ufeff', r >= '\ufff9' && r <= '\ufffb', r >= 0xe0000 && r <= 0xe0fff:
		// A joiner between letters or emoji is part of how they are written.
		return r != '\u200c' && r != '\u200d'
	}
	return false
}

// A Writer passes text on to a terminal. Of control characters it passes line
// feeds, tabs and the sequences that set colours; all others become "?". It is
// safe for concurrent use.
type Writer struct {
	w io.Writer

	mu   sync.Mutex
	rest []byte // of a character or sequence whose end is to come
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// maxSequence bounds a sequence that sets colours.
const maxSequence = 32

// Write passes p on. It keeps the beginning of a character or sequence until
// its end comes.
func (t *Writer) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	in := p
	if len(t.rest) > 0 {
		in = append(t.rest, p...)
	}
	out := make([]byte, 0, len(in))
	i := 0
	for i < len(in) {
		if in[i] == 0x1b {
			n, whole := color(in[i:])
			if !whole {
				break
			}
			if n == 0 {
				out, i = append(out, '?'), i+1
				continue
			}
			out, i = append(out, in[i:i+n]...), i+n
			continue
		}
		if !utf8.FullRune(in[i:]) {
			break
		}
		r, n := utf8.DecodeRune(in[i:])
		if r != '\n' && r != '\t' && (unsafe(r) || r == utf8.RuneError && n == 1) {
			out = append(out, '?')
		} else {
			out = append(out, in[i:i+n]...)
		}
		i += n
	}
	t.rest = append([]byte(nil), in[i:]...)
	if _, err := t.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// color returns the length of the sequence that sets colours at the start of b,
// 0 where there is none; whole is false where its end is to come.
func color(b []byte) (n int, whole bool) {
	for i := 1; i < len(b) && i < maxSequence; i++ {
		switch c := b[i]; {
		case i == 1:
			if c != '[' {
				return 0, true
			}
		case c == 'm':
			return i + 1, true
		case !unicode.IsDigit(rune(c)) && c != ';':
			return 0, true
		}
	}
	return 0, len(b) >= maxSequence
}

// Flush passes on what is kept.
func (t *Writer) Flush() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.rest) == 0 {
		return nil
	}
	t.rest = nil
	_, err := t.w.Write([]byte("?"))
	return err
}

// Wrap joins words by commas to lines of at most width bytes.
func Wrap(words []string, width int) string {
	var b strings.Builder
	col := 0
	for i, w := range words {
		if i < len(words)-1 {
			w += ","
		}
		switch {
		case i > 0 && col+1+len(w) > width:
			b.WriteString("\n")
			col = 0
		case i > 0:
			b.WriteString(" ")
			col++
		}
		b.WriteString(w)
		col += len(w)
	}
	return b.String()
}
