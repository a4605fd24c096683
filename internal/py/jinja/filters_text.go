package jinja

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"brine/internal/py/jinja/markupsafe"
	"brine/internal/py/jinja/pymethod"
	"brine/internal/py/jinja/pytext"
	"brine/internal/py/pyformat"
	"brine/internal/py/value"
)

// textFilter is a filter without arguments that maps a text.
func textFilter(c *Call, fname string, f func(string) string) (value.Value, error) {
	a, err := c.Params(fname, 0, "s")
	if err != nil {
		return nil, err
	}
	s, markup, err := c.softStr(a[0])
	if err != nil {
		return nil, err
	}
	return pymethod.SameText(f(s), markup), nil
}

func filterUpper(c *Call) (value.Value, error) { return textFilter(c, "do_upper", pytext.Upper) }

func filterLower(c *Call) (value.Value, error) { return textFilter(c, "do_lower", pytext.Lower) }

func filterCapitalize(c *Call) (value.Value, error) {
	return textFilter(c, "do_capitalize", pytext.Capitalize)
}

func filterString(c *Call) (value.Value, error) {
	return textFilter(c, "soft_str", func(s string) string { return s })
}

func filterTitle(c *Call) (value.Value, error) {
	a, err := c.Params("do_title", 0, "s")
	if err != nil {
		return nil, err
	}
	s, _, err := c.softStr(a[0])
	if err != nil {
		return nil, err
	}
	// Words start after blanks, hyphens and opening brackets.
	ends := func(r rune) bool { return strings.ContainsRune("-({[<", r) || value.IsSpace(r) }
	var b strings.Builder
	for s != "" {
		i := strings.IndexFunc(s, ends)
		if i < 0 {
			i = len(s)
		}
		if i > 0 {
			r, n := utf8.DecodeRuneInString(s)
			if r == utf8.RuneError {
				b.WriteString(s[:n])
			} else {
				pytext.WriteUpper(&b, r)
			}
			b.WriteString(pytext.Lower(s[n:i]))
		}
		s = s[i:]
		j := strings.IndexFunc(s, func(r rune) bool { return !ends(r) })
		if j < 0 {
			j = len(s)
		}
		b.WriteString(s[:j])
		s = s[j:]
	}
	return b.String(), nil
}

func filterTrim(c *Call) (value.Value, error) {
	a, err := c.Params("do_trim", 0, "value", "chars?")
	if err != nil {
		return nil, err
	}
	s, markup, err := c.softStr(a[0])
	if err != nil {
		return nil, err
	}
	return pymethod.Strip(s, markup, "strip", pymethod.OrNil(a[1]))
}

func filterCenter(c *Call) (value.Value, error) {
	a, err := c.Params("do_center", 0, "value", "width?")
	if err != nil {
		return nil, err
	}
	s, markup, err := c.softStr(a[0])
	if err != nil {
		return nil, err
	}
	width, err := pymethod.IntArg(a[1], 80)
	if err != nil {
		return nil, err
	}
	out, err := pytext.Justify(s, width, " ", '^')
	return pymethod.SameText(out, markup), err
}

func filterReplace(c *Call) (value.Value, error) {
	a, err := c.Params("do_replace", 1, "s", "old", "new", "count?")
	if err != nil {
		return nil, err
	}
	count := -1
	if v := pymethod.OrNil(a[3]); v != nil {
		if count, err = pymethod.AsIndex(v); err != nil {
			return nil, err
		}
	}
	var text [3]string
	for i := range text {
		if text[i], err = c.State.Str(a[i]); err != nil {
			return nil, err
		}
	}
	if !c.State.Autoescape() {
		return pytext.Replace(text[0], text[1], text[2], count)
	}
	_, sSafe := a[0].(markupsafe.Markup)
	_, oldSafe := a[1].(markupsafe.Markup)
	_, newSafe := a[2].(markupsafe.Markup)
	if oldSafe || newSafe && !sSafe {
		m, err := markupsafe.Escaped(a[0])
		if err != nil {
			return nil, err
		}
		text[0], sSafe = string(m), true
	}
	if sSafe {
		for i, safe := range []bool{oldSafe, newSafe} {
			if !safe {
				text[i+1] = markupsafe.Escape(text[i+1])
			}
		}
	}
	out, err := pytext.Replace(text[0], text[1], text[2], count)
	return pymethod.SameText(out, sSafe), err
}

func filterFormat(c *Call) (value.Value, error) {
	if len(c.Args) == 0 {
		return nil, value.Raise("TypeError", "do_format() missing 1 required positional argument: 'value'")
	}
	args := c.Args[1:]
	if len(args) > 0 && c.Kw.Len() > 0 {
		return nil, errFilterArgument("can't handle positional and keyword arguments at the same time")
	}
	s, markup, err := c.softStr(c.Args[0])
	if err != nil {
		return nil, err
	}
	var with value.Value = value.Tuple(args)
	if c.Kw.Len() > 0 {
		with = c.Kw
	}
	return pyformat.Mod(pymethod.SameText(s, markup), with)
}

func filterIndent(c *Call) (value.Value, error) {
	a, err := c.Params("do_indent", 0, "s", "width?", "first?", "blank?")
	if err != nil {
		return nil, err
	}
	if err := Defined(a[0]); err != nil {
		return nil, err
	}
	s, ok := value.AsText(a[0])
	switch a[0].(type) {
	case *value.List: // a list takes the newline
		return nil, value.Raise("AttributeError", "'list' object has no attribute 'splitlines'")
	case value.Tuple:
		return nil, value.Raise("TypeError", `can only concatenate tuple (not "str") to tuple`)
	}
	if !ok {
		return nil, value.Raise("TypeError", "unsupported operand type(s) for +=: '%s' and 'str'", value.TypeName(a[0]))
	}
	_, markup := a[0].(markupsafe.Markup)
	indent, isText := value.AsText(pymethod.OrNil(a[1]))
	switch {
	case !pymethod.Given(a[1]):
		indent = "    "
	case !isText:
		v, err := value.Mul(" ", a[1])
		if err != nil {
			return nil, err
		}
		indent = v.(string)
	}
	first, err := c.BoolArg(a[2], false)
	if err != nil {
		return nil, err
	}
	blank, err := c.BoolArg(a[3], false)
	if err != nil {
		return nil, err
	}
	lines := value.SplitLines(s+"\n", false)
	if err := value.CheckSize(len(s) + len(lines)*(len(indent)+1)); err != nil {
		return nil, err
	}
	var b strings.Builder
	for i, line := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		if i == 0 && first || i > 0 && (blank || line != "") {
			b.WriteString(indent)
		}
		b.WriteString(line)
	}
	return pymethod.SameText(b.String(), markup), nil
}

func filterTruncate(c *Call) (value.Value, error) {
	a, err := c.Params("do_truncate", 1, "s", "length?", "killwords?", "end?", "leeway?")
	if err != nil {
		return nil, err
	}
	if pymethod.Given(a[1]) {
		if _, err := value.Compare(">=", a[1], int64(0)); err != nil {
			return nil, err
		}
	}
	length, err := pymethod.IntArg(a[1], 255)
	if err != nil {
		return nil, err
	}
	kill, err := c.BoolArg(a[2], false)
	if err != nil {
		return nil, err
	}
	end := "..."
	if pymethod.Given(a[3]) {
		s, ok := value.AsText(a[3])
		if !ok {
			return nil, value.Raise("TypeError", "object of type '%s' has no len()", value.TypeName(a[3]))
		}
		end = s
	}
	leeway := 5
	if v := pymethod.OrNil(a[4]); v != nil {
		if leeway, err = pymethod.AsIndex(v); err != nil {
			return nil, err
		}
	}
	room := length - value.TextLen(end)
	if room < 0 {
		return nil, value.Raise("AssertionError", "expected length >= %d, got %d", value.TextLen(end), length)
	}
	if leeway < 0 {
		return nil, value.Raise("AssertionError", "expected leeway >= 0, got %d", leeway)
	}
	s, ok := value.AsText(a[0])
	if !ok {
		// Python asks a list for its length and items too; only what is not
		// longer comes back whole.
		n, err := value.Len(a[0])
		if err != nil {
			return nil, err
		}
		if n <= length+leeway {
			return a[0], nil
		}
		return nil, value.Raise("TypeError", "can only concatenate %s (not \"str\") to %s", value.TypeName(a[0]), value.TypeName(a[0]))
	}
	if value.TextLen(s) <= length+leeway {
		return a[0], nil
	}
	_, markup := a[0].(markupsafe.Markup)
	cut := value.TextSlice(s, 0, room)
	if !kill {
		if i := strings.LastIndexByte(cut, ' '); i >= 0 {
			cut = cut[:i]
		}
	}
	return value.Add(pymethod.SameText(cut, markup), endText(a[3], end))
}

func endText(v value.Value, s string) value.Value {
	if m, ok := v.(markupsafe.Markup); ok {
		return m
	}
	return s
}

func filterWordcount(c *Call) (value.Value, error) {
	a, err := c.Params("do_wordcount", 0, "s")
	if err != nil {
		return nil, err
	}
	s, _, err := c.softStr(a[0])
	if err != nil {
		return nil, err
	}
	n := int64(0)
	in := false
	for _, r := range s {
		w := isWordChar(r)
		if w && !in {
			n++
		}
		in = w
	}
	return n, nil
}

// isWordChar is \w of Python's regular expressions.
func isWordChar(r rune) bool { return r == '_' || pytext.IsAlnum(r) }

func filterWordwrap(c *Call) (value.Value, error) {
	a, err := c.Params("do_wordwrap", 1, "s", "width?", "break_long_words?", "wrapstring?", "break_on_hyphens?")
	if err != nil {
		return nil, err
	}
	if err := Defined(a[0]); err != nil {
		return nil, err
	}
	s, ok := value.AsText(a[0])
	if !ok {
		return nil, value.Raise("AttributeError", "'%s' object has no attribute 'splitlines'", value.TypeName(a[0]))
	}
	if err := cmp.Or(pytext.CheckParts(s, ""), pytext.CheckLines(s)); err != nil {
		return nil, err
	}
	w := pyformat.Wrapper{}
	if pymethod.Given(a[1]) {
		if _, err := value.Compare("<=", a[1], int64(0)); err != nil {
			return nil, err
		}
	}
	if w.Width, err = pymethod.IntArg(a[1], 79); err != nil {
		return nil, err
	}
	if w.BreakLong, err = c.BoolArg(a[2], true); err != nil {
		return nil, err
	}
	if w.Hyphens, err = c.BoolArg(a[4], true); err != nil {
		return nil, err
	}
	sep := c.State.Env().Options().NewlineSequence
	if v := pymethod.OrNil(a[3]); v != nil {
		if sep, ok = value.AsText(v); !ok {
			return nil, value.Raise("AttributeError", "'%s' object has no attribute 'join'", value.TypeName(v))
		}
	}
	var out []string
	for _, line := range value.SplitLines(s, false) {
		if w.Width <= 0 {
			return nil, value.Raise("ValueError", "invalid width %d (must be > 0)", w.Width)
		}
		out = append(out, strings.Join(w.Wrap(line), sep))
	}
	return pytext.Join(out, sep)
}
