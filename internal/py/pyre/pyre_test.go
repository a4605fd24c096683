package pyre

import "testing"

func TestSub(t *testing.T) {
	t.Parallel()
	// Recorded from Python 3.11: re.subn, or the text of the error (regexp2's
	// where a repetition has nothing to repeat).
	for _, tt := range []struct {
		pattern string
		flags   Flags
		repl    string
		text    string
		want    string
		n       int
		err     string
	}{
		{"^port = (\\d+)", 8, "port = 9\\1", "port = 80\nhost\nport = 81\n", "port = 980\nhost\nport = 981\n", 2, ""},
		{"(?P<k>\\w+)=(?P<v>.*)$", 8, "\\g<v>=\\g<k>", "a=1\nb=2\n", "1=a\n2=b\n", 2, ""},
		{"(a)(?P<n>b)(c)", 0, "\\3\\2\\1", "xabcx abc", "xcbax cba", 2, ""},
		{"(?P<q>[\"\\']).*?(?P=q)", 0, "<>", "say \"hi\" and 'yo'", "say <> and <>", 2, ""},
		{"a{,2}b", 0, "X", "aab ab b aaab", "X X X aX", 4, ""},
		{"x*", 0, "-", "abxd", "-a-b--d-", 5, ""},
		{"[[a]", 0, "!", "[a]b", "!!]b", 2, ""},
		{"[]a]", 0, "!", "[a]b", "[!!b", 2, ""},
		{"\\bfoo\\b", 0, "bar", "foo food foo", "bar food bar", 2, ""},
		{"$", 8, "END", "a\nb\n", "aEND\nbEND\nEND", 3, ""},
		{"\\Z", 0, "E", "a\n", "a\nE", 1, ""},
		{"(?i)HELLO", 0, "x", "hello Hello", "x x", 2, ""},
		{"(?<=a)b(?!c)", 0, "Z", "ab abc abd", "aZ abc aZd", 2, ""},
		{"a|b|(c)", 0, "[\\1]", "abc", "[][][c]", 3, ""},
		{"\\d+", 0, "\\\\n", "a1b22", "a\\nb\\n", 2, ""},
		{"(\\w)\\1", 0, "\\1", "aabbcd", "abcd", 2, ""},
		{"(?x) a  # comment\n b", 0, "!", "ab a b", "! a b", 1, ""},
		{"a.c", 16, "!", "a\nc", "!", 1, ""},
		{"\\101", 0, "!", "A", "!", 1, ""},
		{"{", 0, "!", "{a}", "!a}", 1, ""},
		{"a{b}", 0, "!", "a{b}", "!", 1, ""},
		{"a{1,2", 0, "!", "a{1,2", "!", 1, ""},
		{"[\\d-]+", 0, "!", "1-2 x", "! x", 1, ""},
		{"[^\\s]+", 0, ".", "a b", ". .", 2, ""},
		{"\\.", 0, "\\t", "a.b", "a\tb", 1, ""},
		{"#", 0, "x", "a#b", "axb", 1, ""},
		{"(a)?b", 0, "<\\1>", "b ab", "<> <a>", 2, ""},
		{"^\\s*$", 8, "E", "a\n\nb\n", "a\nE\nb\nE", 2, ""},
		{"\\_x", 0, "y", "_x", "y", 1, ""},
		{"[a-z&&[b]]", 0, "!", "a&]", "a!", 1, ""},
		{"(?s:a.)b.", 0, "!", "a\nbx a\nb\n", "! a\nb\n", 1, ""},
		{"é+", 0, "e", "éé É", "e É", 1, ""},
		{"(", 0, "", "", "", 0, "missing ), unterminated subpattern at position 0"},
		{"[a", 0, "", "", "", 0, "unterminated character set at position 0"},
		{"\\q", 0, "", "", "", 0, "bad escape \\q at position 0"},
		{"(?P<a>x)(?P<a>y)", 0, "", "", "", 0, "redefinition of group name 'a' as group 2; was group 1 at position 12"},
		{"(?P=z)", 0, "", "", "", 0, "unknown group name 'z' at position 4"},
		{"*a", 0, "", "", "", 0, "error parsing regexp: missing argument to repetition operator in `*a`"},
		{"a**", 0, "", "", "", 0, "error parsing regexp: invalid nested repetition operator in `a**`"},
		{"(?Q)", 0, "", "", "", 0, "unknown extension ?Q at position 1"},
		{"\\3", 0, "", "", "", 0, "invalid group reference 3 at position 1"},
		{")", 0, "", "", "", 0, "unbalanced parenthesis at position 0"},
		{"(a)", 0, "\\2", "a", "", 0, "invalid group reference 2 at position 1"},
		{"(a)", 0, "\\q", "a", "", 0, "bad escape \\q at position 0"},
		{"(a)", 0, "\\g<x>", "a", "", 0, "unknown group name 'x'"},
		{"(a)", 0, "\\g1", "a", "", 0, "missing < at position 2"},
		{"(a)", 0, "\\", "a", "", 0, "bad escape (end of pattern) at position 0"},
	} {
		re, err := Compile(tt.pattern, tt.flags)
		var got string
		var n int
		if err == nil {
			got, n, err = re.Sub(tt.repl, tt.text, 0)
		}
		if tt.err != "" {
			if err == nil || err.Error() != tt.err {
				t.Errorf("%q with %q: %v, want %q", tt.pattern, tt.repl, err, tt.err)
			}
			continue
		}
		if err != nil || got != tt.want || n != tt.n {
			t.Errorf("%q.Sub(%q, %q) = %q, %d, %v; want %q, %d", tt.pattern, tt.repl, tt.text, got, n, err, tt.want, tt.n)
		}
	}
}

func TestBytes(t *testing.T) {
	t.Parallel()
	re, err := Compile("é=(.+)", Bytes|Multiline)
	if err != nil {
		t.Fatal(err)
	}
	got, n, err := re.Sub(`è:\1`, "\xff é=\xc3\x28\n", 0)
	if want := "\xff è:\xc3\x28\n"; err != nil || got != want || n != 1 {
		t.Errorf("Sub = %q, %d, %v; want %q", got, n, err, want)
	}
	word, err := Compile(`\w+`, Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if m, _ := word.Search("über"); m == nil {
		t.Error("no word in über")
	} else if g, _ := m.Group(0); g != "ber" {
		t.Errorf("bytes of a letter outside ASCII are no word: %q", g)
	}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	re, err := Compile(`(?P<key>\w+)\s*=`, 0)
	if err != nil {
		t.Fatal(err)
	}
	if m, _ := re.Match(" a="); m != nil {
		t.Error("Match found what does not begin the text")
	}
	m, err := re.Match("a =1")
	if err != nil || m == nil {
		t.Fatalf("Match = %v, %v", m, err)
	}
	if g, ok := m.Group(re.Names()["key"]); g != "a" || !ok {
		t.Errorf("group key = %q, %v", g, ok)
	}
	all, err := re.All("a=1 b=2")
	if err != nil || len(all) != 2 {
		t.Errorf("All = %d matches, %v; want 2", len(all), err)
	}
}

func TestEscape(t *testing.T) {
	t.Parallel()
	s := `a.b*[c]{d}(e)|^$#&~- \é`
	re, err := Compile(Escape(s)+`\Z`, 0)
	if err != nil {
		t.Fatal(err)
	}
	if m, _ := re.Match(s); m == nil {
		t.Errorf("%s does not match itself", Escape(s))
	}
}

func FuzzCompile(f *testing.F) {
	f.Add(`(?P<a>b)[^\]x]{2,}\1`, `\g<a>`, "bbx")
	f.Add(`(?i-s:a|\d+)`, `\1`, "A1")
	f.Fuzz(func(t *testing.T, pattern, repl, text string) {
		if len(pattern) > 30 || len(text) > 30 {
			t.Skip("long patterns take long")
		}
		for _, flags := range []Flags{0, Bytes, Verbose} {
			if re, err := Compile(pattern, flags); err == nil {
				_, _, _ = re.Sub(repl, text, 3)
			}
		}
	})
}

// The answers are those of salt/utils/stringutils.py expr_match.
func TestExpr(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		expr, s string
		want    bool
	}{
		{"salt/job/*", "salt/job/1/ret/a", true},
		{"salt/job/\\d+/new", "salt/job/12/new", true},
		{"salt/job", "salt/job/12", false},
		{"a|b", "abc", true}, // \Aa|b\Z: the anchors are not of all
		{"my/[ab]+", "my/ab", true},
		{"[", "[", true},
		{"(", "x", false},
	} {
		if got, err := Expr(tt.expr, tt.s); got != tt.want || err != nil {
			t.Errorf("Expr(%q, %q) = %v, %v, want %v", tt.expr, tt.s, got, err, tt.want)
		}
	}
}
