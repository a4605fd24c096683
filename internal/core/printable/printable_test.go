package printable_test

import (
	"bytes"
	"runtime/debug"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"brine/internal/core/printable"
)

// attacks are texts that act on a terminal or pass for others.
var attacks = []string{
	"\x1b[2J", "\x1b]0;title\x07", "\x1b]8;;http://evil\x1b\\link", "\x1bPq#0\x1b\\", "\u009b2J", "\u009d0;x\u009c", "\x07", "a\rb", "a\bb", "\x7f",
	"x\nweb2: ok", "x\r\nweb2: ok", "x\u2028web2", "x\u0085web2", "\u202egnp.exe", "\u2066x", "\u200bhidden", "\xff\xfe", "\x1b[31", "\x1b[", "\x1b", "\x1b[1;3Hx",
	"\x1b[8mhidden\x1b[0m", "\U000e0041", "\x9b2J", "a\vb\fc", "\x00",
}

func TestHostileText(t *testing.T) {
	t.Parallel()
	for _, s := range attacks {
		line, text := printable.Line(s), printable.Text(s)
		if strings.ContainsFunc(line, acts) || !utf8.ValidString(line) || strings.Contains(line, "\n") {
			t.Errorf("Line(%q) = %q", s, line)
		}
		if strings.ContainsFunc(strings.ReplaceAll(text, "\n", ""), acts) || !utf8.ValidString(text) {
			t.Errorf("Text(%q) = %q", s, text)
		}
		for i, l := range strings.Split(printable.Block(s), "\n") {
			if i > 0 && !strings.HasPrefix(l, "  | ") {
				t.Errorf("Block(%q) has the line %q", s, l)
			}
		}
	}
	for _, s := range []string{"plain", "Grüße, мир, 世界, שלום, 👩‍👩‍👧", "", "a b"} {
		if printable.Line(s) != s || printable.Text(s+"\n\tx") != s+"\n\tx" {
			t.Errorf("%q became %q", s, printable.Line(s))
		}
	}
}

func acts(r rune) bool {
	return unicode.IsControl(r) || r >= 0x2028 && r <= 0x202e || r >= 0x2060 && r <= 0x206f || r == 0x200b || r >= 0xe0000 && r <= 0xe0fff
}

// through writes s in pieces of n bytes.
func through(s string, n int) string {
	var b bytes.Buffer
	w := printable.NewWriter(&b)
	for len(s) > 0 {
		k := min(n, len(s))
		_, _ = w.Write([]byte(s[:k]))
		s = s[k:]
	}
	_ = w.Flush()
	return b.String()
}

func TestHostileTerminal(t *testing.T) {
	t.Parallel()
	for _, s := range attacks {
		for n := 1; n < 6; n++ {
			got := through(s+"\x1b[0;32mgreen\x1b[0;0m é\n", n)
			if !strings.HasSuffix(got, "\x1b[0;32mgreen\x1b[0;0m é\n") {
				t.Errorf("%q in pieces of %d: %q", s, n, got)
			}
			bare := strings.NewReplacer("\x1b[0;32m", "", "\x1b[0;0m", "", "\x1b[8m", "", "\x1b[0m", "", "\n", "").Replace(got)
			if strings.ContainsFunc(bare, acts) || !utf8.ValidString(bare) {
				t.Errorf("%q in pieces of %d: %q", s, n, got)
			}
		}
	}
}

// FuzzText checks that nothing that acts on a terminal comes through, in
// whatever pieces it is written, and that texts do not grow beyond bounds.
func FuzzText(f *testing.F) {
	for _, s := range attacks {
		f.Add(s, 3)
	}
	debug.SetMemoryLimit(256 << 20)
	f.Fuzz(func(t *testing.T, s string, n int) {
		n = max(1, n%64)
		got := through(s, n)
		if got != through(s, len(s)+1) {
			t.Errorf("%q depends on how it is written", s)
		}
		if len(got) > len(s)+1 {
			t.Errorf("%d bytes became %d", len(s), len(got))
		}
		for got != "" {
			i := strings.IndexFunc(got, func(r rune) bool { return acts(r) && r != '\n' && r != '\t' })
			if i < 0 {
				break
			}
			rest := got[i:]
			end := strings.IndexByte(rest, 'm')
			if !strings.HasPrefix(rest, "\x1b[") || end < 0 || strings.Trim(rest[2:end], "0123456789;") != "" {
				t.Fatalf("%q lets %q through", s, rest)
			}
			got = rest[end+1:]
		}
		if line := printable.Line(s); strings.ContainsFunc(line, acts) || len(line) > 10*len(s) {
			t.Errorf("Line(%q) = %q", s, line)
		}
	})
}

func TestWrap(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		words []string
		width int
		want  string
	}{
		{nil, 10, ""},
		{[]string{"one"}, 2, "one"},
		{[]string{"one", "two", "three"}, 9, "one, two,\nthree"},
		{[]string{"one", "two", "three"}, 8, "one,\ntwo,\nthree"},
	} {
		if got := printable.Wrap(tt.words, tt.width); got != tt.want {
			t.Errorf("Wrap(%q, %d) = %q", tt.words, tt.width, got)
		}
	}
}
