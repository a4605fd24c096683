package jinja

import (
	"strings"
	"unicode"

	"brine/internal/value"
)

// strMethod returns a method of str. Of Markup the arguments are escaped and
// the result is Markup, where markupsafe does so.
func strMethod(s string, markup bool, name string) Func {
	switch name {
	case "upper", "lower", "casefold", "capitalize", "title", "swapcase":
		return strCase(s, markup, name)
	case "strip", "lstrip", "rstrip":
		return strStrip(s, markup, name)
	case "split", "rsplit", "splitlines", "partition", "rpartition":
		return strSplit(s, markup, name)
	case "center", "ljust", "rjust", "zfill", "expandtabs":
		return strPad(s, markup, name)
	case "isalnum", "isalpha", "isascii", "isdecimal", "isdigit", "isidentifier", "islower", "isnumeric", "isprintable", "isspace", "istitle", "isupper":
		return strTest(s, name)
	case "find", "index", "rfind", "rindex", "count":
		return strFind(s, name)
	case "startswith", "endswith":
		return strEnds(s, name)
	case "replace":
		return func(c *Call) (value.Value, error) { return strReplace(c, s, markup) }
	case "join":
		return func(c *Call) (value.Value, error) { return strJoin(c, s, markup) }
	case "format", "format_map":
		return strFormat(s, markup, name)
	case "removeprefix", "removesuffix":
		return func(c *Call) (value.Value, error) {
			a, err := c.builtin("str", name, 1, 1)
			if err != nil {
				return nil, err
			}
			x, ok := value.AsText(a[0])
			if !ok {
				return nil, value.Raise("TypeError", "%s() argument must be str, not %s", name, noneName(a[0]))
			}
			if name == "removeprefix" {
				return strings.TrimPrefix(s, x), nil
			}
			return strings.TrimSuffix(s, x), nil
		}
	case "encode":
		return func(c *Call) (value.Value, error) {
			a, err := c.clinic("encode", "encoding", "errors")
			if err != nil {
				return nil, err
			}
			return encodeText(s, a[0], a[1])
		}
	case "translate":
		return func(c *Call) (value.Value, error) { return strTranslate(c, s, markup) }
	case "maketrans":
		return strMaketrans
	case "unescape", "striptags":
		if !markup {
			return nil
		}
		return func(c *Call) (value.Value, error) {
			if name == "striptags" {
				return stripTags(s), nil
			}
			return unescapeHTML(s), nil
		}
	case "escape":
		if !markup {
			return nil
		}
		return func(c *Call) (value.Value, error) {
			a, err := c.bind("escape", 1, "s")
			if err != nil {
				return nil, err
			}
			return escaped(a[0])
		}
	}
	return nil
}

// noneName is the type's name as messages of the argument parser have it.
func noneName(v value.Value) string {
	if v == nil {
		return "None"
	}
	return value.TypeName(v)
}

func strCase(s string, markup bool, name string) Func {
	return func(c *Call) (value.Value, error) {
		if _, err := c.builtin("str", name, 0, 0); err != nil {
			return nil, err
		}
		switch name {
		case "upper":
			return sameText(upper(s), markup), nil
		case "lower":
			return sameText(lower(s), markup), nil
		case "casefold":
			return casefold(s), nil
		case "capitalize":
			return sameText(capitalize(s), markup), nil
		case "title":
			return sameText(titleCase(s), markup), nil
		}
		return sameText(swapcase(s), markup), nil
	}
}

func strStrip(s string, markup bool, name string) Func {
	return func(c *Call) (value.Value, error) {
		a, err := c.builtin("str", name, 0, 1)
		if err != nil {
			return nil, err
		}
		cut := value.IsSpace
		if v := orNil(a[0]); v != nil {
			chars, ok := value.AsText(v)
			if !ok {
				return nil, value.Raise("TypeError", "%s arg must be None or str", name)
			}
			if markup {
				m, err := escaped(v)
				if err != nil {
					return nil, err
				}
				chars = string(m)
			}
			cut = func(r rune) bool { return strings.ContainsRune(chars, r) }
		}
		switch name {
		case "strip":
			s = strings.TrimFunc(s, cut)
		case "lstrip":
			s = strings.TrimLeftFunc(s, cut)
		default:
			s = strings.TrimRightFunc(s, cut)
		}
		return sameText(s, markup), nil
	}
}

func strSplit(s string, markup bool, name string) Func {
	switch name {
	case "splitlines":
		return func(c *Call) (value.Value, error) {
			a, err := c.clinic("splitlines", "keepends")
			if err != nil {
				return nil, err
			}
			keep, err := intArg(a[0], 0)
			if err != nil {
				return nil, err
			}
			if err := checkLines(s); err != nil {
				return nil, err
			}
			return strList(value.SplitLines(s, keep != 0), markup), nil
		}
	case "partition", "rpartition":
		return func(c *Call) (value.Value, error) {
			a, err := c.builtin("str", name, 1, 1)
			if err != nil {
				return nil, err
			}
			sep, ok := value.AsText(a[0])
			if !ok {
				return nil, value.Raise("TypeError", "must be str, not %s", value.TypeName(a[0]))
			}
			if markup {
				m, err := escaped(a[0])
				if err != nil {
					return nil, err
				}
				sep = string(m)
			}
			if sep == "" {
				return nil, value.Raise("ValueError", "empty separator")
			}
			l, m, r := s, "", ""
			i := strings.Index(s, sep)
			if name == "rpartition" {
				i = strings.LastIndex(s, sep)
				l, r = "", s
			}
			if i >= 0 {
				l, m, r = s[:i], sep, s[i+len(sep):]
			}
			return value.Tuple{sameText(l, markup), sameText(m, markup), sameText(r, markup)}, nil
		}
	}
	return func(c *Call) (value.Value, error) {
		a, err := c.clinic(name, "sep", "maxsplit")
		if err != nil {
			return nil, err
		}
		limit, err := intArg(a[1], -1)
		if err != nil {
			return nil, err
		}
		check := checkParts
		if limit >= 0 && limit < value.MaxItems {
			check = func(string, string) error { return nil }
		}
		var parts []string
		if v := orNil(a[0]); v == nil {
			if err := check(s, ""); err != nil {
				return nil, err
			}
			if name == "split" {
				parts = splitBlank(s, limit)
			} else {
				parts = rsplitBlank(s, limit)
			}
		} else {
			sep, ok := value.AsText(v)
			if !ok {
				return nil, value.Raise("TypeError", "must be str or None, not %s", value.TypeName(v))
			}
			if sep == "" {
				return nil, value.Raise("ValueError", "empty separator")
			}
			if err := check(s, sep); err != nil {
				return nil, err
			}
			if name == "split" {
				parts = splitSep(s, sep, limit)
			} else {
				parts = rsplitSep(s, sep, limit)
			}
		}
		return strList(parts, markup), nil
	}
}

// checkParts fails where a text has more parts than a list may have items; the
// separator "" is white space.
func checkParts(s, sep string) error {
	switch {
	case len(s) <= value.MaxItems:
		return nil
	case sep != "":
		return value.CheckItems(strings.Count(s, sep) + 1)
	}
	n, in := 0, false
	for i := range len(s) {
		blank := s[i] == ' ' || s[i] >= '\t' && s[i] <= '\r'
		if !blank && !in {
			n++
		}
		in = !blank
	}
	return value.CheckItems(n)
}

// checkLines fails where a text has more lines than a list may have items.
func checkLines(s string) error {
	if len(s) <= value.MaxItems {
		return nil
	}
	n, before := 0, ' '
	for _, r := range s {
		switch r {
		case '\n':
			if before != '\r' {
				n++
			}
		case '\r', '\v', '\f', 0x1c, 0x1d, 0x1e, 0x85, 0x2028, 0x2029:
			n++
		}
		before = r
	}
	return value.CheckItems(n)
}

func strPad(s string, markup bool, name string) Func {
	if name == "expandtabs" {
		return func(c *Call) (value.Value, error) {
			a, err := c.clinic("expandtabs", "tabsize")
			if err != nil {
				return nil, err
			}
			n, err := intArg(a[0], 8)
			if err != nil {
				return nil, err
			}
			out, err := expandTabs(s, n)
			return sameText(out, markup), err
		}
	}
	return func(c *Call) (value.Value, error) {
		most := 2
		if name == "zfill" {
			most = 1
		}
		a, err := c.builtin("str", name, 1, most)
		if err != nil {
			return nil, err
		}
		width, err := asIndex(a[0])
		if err != nil {
			return nil, err
		}
		if name == "zfill" {
			out, err := zfill(s, width)
			return sameText(out, markup), err
		}
		fill := " "
		if given(a[1]) {
			f, ok := value.AsText(a[1])
			if !ok {
				return nil, value.Raise("TypeError", "The fill character must be a unicode character, not %s", value.TypeName(a[1]))
			}
			if markup {
				m, err := escaped(a[1])
				if err != nil {
					return nil, err
				}
				f = string(m)
			}
			if value.TextLen(f) != 1 {
				return nil, value.Raise("TypeError", "The fill character must be exactly one character long")
			}
			fill = f
		}
		how := map[string]byte{"center": '^', "ljust": '<', "rjust": '>'}[name]
		out, err := justify(s, width, fill, how)
		return sameText(out, markup), err
	}
}

func strTest(s, name string) Func {
	return func(c *Call) (value.Value, error) {
		if _, err := c.builtin("str", name, 0, 0); err != nil {
			return nil, err
		}
		switch name {
		case "isalnum":
			return every(s, isAlnum), nil
		case "isalpha":
			return every(s, unicode.IsLetter), nil
		case "isascii":
			return isASCII(s), nil
		case "isdecimal":
			return every(s, isDecimal), nil
		case "isdigit":
			return every(s, isDigitChar), nil
		case "isidentifier":
			return isIdentifier(s), nil
		case "islower":
			return caseOnly(s, isLower), nil
		case "isnumeric":
			return every(s, isNumeric), nil
		case "isprintable":
			return s == "" || every(s, isPrintable), nil
		case "isspace":
			return every(s, value.IsSpace), nil
		case "istitle":
			return isTitleText(s), nil
		}
		return caseOnly(s, isUpper), nil
	}
}

// within resolves the optional start and end of a search to bytes of s; ok is
// false where start is past the end.
func within(s string, start, end value.Value) (lo, hi int, ok bool, err error) {
	n := value.TextLen(s)
	bound := func(v value.Value, dflt int) (int, error) {
		if !given(v) || v == nil {
			return dflt, nil
		}
		i, err := asIndex(v)
		if err != nil {
			return 0, value.Raise("TypeError", "slice indices must be integers or None or have an __index__ method")
		}
		if i < 0 {
			i = max(i+n, 0)
		}
		return i, nil
	}
	if lo, err = bound(start, 0); err != nil {
		return
	}
	if hi, err = bound(end, n); err != nil {
		return
	}
	hi = min(hi, n)
	if lo > n || lo > hi {
		return 0, 0, false, nil
	}
	if n == len(s) {
		return lo, hi, true, nil
	}
	a := len(value.TextSlice(s, 0, lo))
	return a, a + len(value.TextSlice(s, lo, hi)), true, nil
}

func strFind(s, name string) Func {
	return func(c *Call) (value.Value, error) {
		a, err := c.searchArgs(name)
		if err != nil {
			return nil, err
		}
		sub, ok := value.AsText(a[0])
		if !ok {
			return nil, value.Raise("TypeError", "must be str, not %s", value.TypeName(a[0]))
		}
		lo, hi, ok, err := within(s, a[1], a[2])
		if err != nil {
			return nil, err
		}
		at := -1
		if ok {
			part := s[lo:hi]
			switch name {
			case "count":
				if sub == "" {
					return int64(value.TextLen(part) + 1), nil
				}
				return int64(strings.Count(part, sub)), nil
			case "find", "index":
				at = strings.Index(part, sub)
			default:
				at = strings.LastIndex(part, sub)
			}
		}
		if name == "count" {
			return int64(0), nil
		}
		if at < 0 {
			if name == "index" || name == "rindex" {
				return nil, value.Raise("ValueError", "substring not found")
			}
			return int64(-1), nil
		}
		return int64(value.TextLen(s[:lo+at])), nil
	}
}

// searchArgs takes a thing to look for, and where to start and end.
func (c *Call) searchArgs(name string) ([]value.Value, error) {
	if c.Kw.Len() > 0 {
		return nil, value.Raise("TypeError", "%s() takes no keyword arguments", name)
	}
	switch n := len(c.Args); {
	case n == 0:
		return nil, value.Raise("TypeError", "%s() takes at least 1 argument (0 given)", name)
	case n > 3:
		return nil, value.Raise("TypeError", "%s() takes at most 3 arguments (%d given)", name, n)
	}
	out := []value.Value{absent{}, absent{}, absent{}}
	copy(out, c.Args)
	return out, nil
}

func strEnds(s, name string) Func {
	return func(c *Call) (value.Value, error) {
		a, err := c.searchArgs(name)
		if err != nil {
			return nil, err
		}
		lo, hi, ok, err := within(s, a[1], a[2])
		if err != nil {
			return nil, err
		}
		one := func(v value.Value, inTuple bool) (bool, error) {
			x, isText := value.AsText(v)
			if !isText {
				if inTuple {
					return false, value.Raise("TypeError", "tuple for %s must only contain str, not %s", name, value.TypeName(v))
				}
				return false, value.Raise("TypeError", "%s first arg must be str or a tuple of str, not %s", name, value.TypeName(v))
			}
			if !ok {
				return false, nil
			}
			if name == "startswith" {
				return strings.HasPrefix(s[lo:hi], x), nil
			}
			return strings.HasSuffix(s[lo:hi], x), nil
		}
		t, isTuple := value.AsTuple(a[0])
		if !isTuple {
			return one(a[0], false)
		}
		for _, v := range t {
			if hit, err := one(v, true); hit || err != nil {
				return hit, err
			}
		}
		return false, nil
	}
}

func strReplace(c *Call, s string, markup bool) (value.Value, error) {
	a, err := c.builtin("str", "replace", 2, 3)
	if err != nil {
		return nil, err
	}
	var text [2]string
	for i := range text {
		t, ok := value.AsText(a[i])
		if !ok {
			return nil, value.Raise("TypeError", "replace() argument %d must be str, not %s", i+1, noneName(a[i]))
		}
		if markup {
			m, err := escaped(a[i])
			if err != nil {
				return nil, err
			}
			t = string(m)
		}
		text[i] = t
	}
	count, err := intArg(a[2], -1)
	if err != nil {
		return nil, err
	}
	out, err := replaceText(s, text[0], text[1], count)
	return sameText(out, markup), err
}

func strJoin(c *Call, sep string, markup bool) (value.Value, error) {
	a, err := c.builtin("str", "join", 1, 1)
	if err != nil {
		return nil, err
	}
	if u, ok := a[0].(*Undefined); ok && u.Kind == Strict {
		return nil, u.Err()
	}
	if !value.IsIterable(a[0]) {
		return nil, value.Raise("TypeError", "can only join an iterable")
	}
	items, err := value.Items(a[0])
	if err != nil {
		return nil, err
	}
	parts := make([]string, len(items))
	for i, v := range items {
		if markup {
			m, err := escaped(v)
			if err != nil {
				return nil, err
			}
			parts[i] = string(m)
			continue
		}
		x, ok := value.AsText(v)
		if !ok {
			return nil, value.Raise("TypeError", "sequence item %d: expected str instance, %s found", i, value.TypeName(v))
		}
		parts[i] = x
	}
	out, err := joinText(parts, sep)
	return sameText(out, markup), err
}

func strTranslate(c *Call, s string, markup bool) (value.Value, error) {
	a, err := c.builtin("str", "translate", 1, 1)
	if err != nil {
		return nil, err
	}
	var failed error
	out := mapChars(s, func(b *strings.Builder, _ int, r rune) {
		if failed != nil {
			return
		}
		v, err := value.GetItem(a[0], int64(r))
		if isPy(err, "LookupError", "KeyError", "IndexError") {
			b.WriteRune(r)
			return
		}
		if err != nil {
			failed = err
			return
		}
		switch x := v.(type) {
		case nil:
		case int64:
			if x < 0 || x > unicode.MaxRune {
				failed = value.Raise("ValueError", "character mapping must be in range(0x110000)")
				return
			}
			b.WriteRune(rune(x))
		default:
			t, ok := value.AsText(v)
			if !ok {
				failed = value.Raise("TypeError", "character mapping must return integer, None or str")
				return
			}
			b.WriteString(t)
		}
		failed = value.CheckSize(b.Len())
	})
	if failed != nil {
		return nil, failed
	}
	return sameText(out, markup), nil
}

func strMaketrans(c *Call) (value.Value, error) {
	a, err := c.builtin("str", "maketrans", 1, 3)
	if err != nil {
		return nil, err
	}
	m := value.NewMap(8)
	if !given(a[1]) {
		d, ok := a[0].(value.Mapping)
		if !ok {
			return nil, value.Raise("TypeError", "if you give only one argument to maketrans it must be a dict")
		}
		for _, k := range d.Keys() {
			v, _ := d.Get(k)
			if t, ok := value.AsText(k); ok {
				chars := []rune(t)
				if len(chars) != 1 {
					return nil, value.Raise("ValueError", "string keys in translate table must be of length 1")
				}
				k = int64(chars[0])
			} else if _, ok := value.AsInt(k); !ok {
				return nil, value.Raise("TypeError", "keys in translate table must be strings or integers")
			}
			m.Set(k, v)
		}
		return m, nil
	}
	var text [3]string
	for i, v := range a {
		if !given(v) {
			continue
		}
		t, ok := value.AsText(v)
		if !ok {
			if i == 0 {
				return nil, value.Raise("TypeError", "first maketrans argument must be a string if there is a second argument")
			}
			return nil, value.Raise("TypeError", "maketrans() argument %d must be str, not %s", i+1, noneName(v))
		}
		text[i] = t
	}
	from, to := []rune(text[0]), []rune(text[1])
	if len(from) != len(to) {
		return nil, value.Raise("ValueError", "the first two maketrans arguments must have equal length")
	}
	for i := range from {
		m.Set(int64(from[i]), int64(to[i]))
	}
	for _, r := range text[2] {
		m.Set(int64(r), nil)
	}
	return m, nil
}
