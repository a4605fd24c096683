package pymethod

import (
	"strings"
	"unicode"

	"brine/internal/py/jinja/markupsafe"
	"brine/internal/py/jinja/pytext"
	"brine/internal/py/value"
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
		return func(c Call) (value.Value, error) { return strReplace(c, s, markup) }
	case "join":
		return func(c Call) (value.Value, error) { return strJoin(c, s, markup) }
	case "format", "format_map":
		return strFormat(s, markup, name)
	case "removeprefix", "removesuffix":
		return func(c Call) (value.Value, error) {
			a, err := c.Builtin("str", name, 1, 1)
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
		return func(c Call) (value.Value, error) {
			a, err := c.clinic("encode", "encoding", "errors")
			if err != nil {
				return nil, err
			}
			return EncodeText(s, a[0], a[1])
		}
	case "translate":
		return func(c Call) (value.Value, error) { return strTranslate(c, s, markup) }
	case "maketrans":
		return strMaketrans
	case "unescape", "striptags":
		if !markup {
			return nil
		}
		return func(c Call) (value.Value, error) {
			if name == "striptags" {
				return markupsafe.StripTags(s), nil
			}
			return markupsafe.Unescape(s), nil
		}
	case "escape":
		if !markup {
			return nil
		}
		return func(c Call) (value.Value, error) {
			a, err := c.Bind("escape", 1, "s")
			if err != nil {
				return nil, err
			}
			return markupsafe.Escaped(a[0])
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
	return func(c Call) (value.Value, error) {
		if _, err := c.Builtin("str", name, 0, 0); err != nil {
			return nil, err
		}
		switch name {
		case "upper":
			return SameText(pytext.Upper(s), markup), nil
		case "lower":
			return SameText(pytext.Lower(s), markup), nil
		case "casefold":
			return pytext.Casefold(s), nil
		case "capitalize":
			return SameText(pytext.Capitalize(s), markup), nil
		case "title":
			return SameText(pytext.Title(s), markup), nil
		}
		return SameText(pytext.Swapcase(s), markup), nil
	}
}

func strStrip(s string, markup bool, name string) Func {
	return func(c Call) (value.Value, error) {
		a, err := c.Builtin("str", name, 0, 1)
		if err != nil {
			return nil, err
		}
		return Strip(s, markup, name, OrNil(a[0]))
	}
}

// Strip is the method name (strip, lstrip or rstrip) of s, which is Markup or
// str: it cuts off the characters of chars, or where that is None white space.
func Strip(s string, markup bool, name string, chars value.Value) (value.Value, error) {
	cut := value.IsSpace
	if chars != nil {
		set, ok := value.AsText(chars)
		if !ok {
			return nil, value.Raise("TypeError", "%s arg must be None or str", name)
		}
		if markup {
			m, err := markupsafe.Escaped(chars)
			if err != nil {
				return nil, err
			}
			set = string(m)
		}
		cut = func(r rune) bool { return strings.ContainsRune(set, r) }
	}
	switch name {
	case "strip":
		s = strings.TrimFunc(s, cut)
	case "lstrip":
		s = strings.TrimLeftFunc(s, cut)
	default:
		s = strings.TrimRightFunc(s, cut)
	}
	return SameText(s, markup), nil
}

func strSplit(s string, markup bool, name string) Func {
	switch name {
	case "splitlines":
		return func(c Call) (value.Value, error) {
			a, err := c.clinic("splitlines", "keepends")
			if err != nil {
				return nil, err
			}
			keep, err := IntArg(a[0], 0)
			if err != nil {
				return nil, err
			}
			if err := pytext.CheckLines(s); err != nil {
				return nil, err
			}
			return strList(value.SplitLines(s, keep != 0), markup), nil
		}
	case "partition", "rpartition":
		return strPartition(s, markup, name)
	}
	return func(c Call) (value.Value, error) {
		a, err := c.clinic(name, "sep", "maxsplit")
		if err != nil {
			return nil, err
		}
		limit, err := IntArg(a[1], -1)
		if err != nil {
			return nil, err
		}
		parts, err := strParts(s, name, OrNil(a[0]), limit)
		if err != nil {
			return nil, err
		}
		return strList(parts, markup), nil
	}
}

// strParts splits at sep, or at blanks if it is nil, limit times if that is not
// negative: split from the left, rsplit from the right.
func strParts(s, name string, separator value.Value, limit int) ([]string, error) {
	check := pytext.CheckParts
	if limit >= 0 && limit < value.MaxItems {
		check = func(string, string) error { return nil }
	}
	if separator == nil {
		if err := check(s, ""); err != nil {
			return nil, err
		}
		if name == "split" {
			return pytext.SplitBlank(s, limit), nil
		}
		return pytext.RsplitBlank(s, limit), nil
	}
	sep, ok := value.AsText(separator)
	if !ok {
		return nil, value.Raise("TypeError", "must be str or None, not %s", value.TypeName(separator))
	}
	if sep == "" {
		return nil, value.Raise("ValueError", "empty separator")
	}
	if err := check(s, sep); err != nil {
		return nil, err
	}
	if name == "split" {
		return pytext.SplitSep(s, sep, limit), nil
	}
	return pytext.RsplitSep(s, sep, limit), nil
}

// strPartition is str.partition and rpartition.
func strPartition(s string, markup bool, name string) Func {
	return func(c Call) (value.Value, error) {
		a, err := c.Builtin("str", name, 1, 1)
		if err != nil {
			return nil, err
		}
		sep, ok := value.AsText(a[0])
		if !ok {
			return nil, value.Raise("TypeError", "must be str, not %s", value.TypeName(a[0]))
		}
		if markup {
			m, err := markupsafe.Escaped(a[0])
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
		return value.Tuple{SameText(l, markup), SameText(m, markup), SameText(r, markup)}, nil
	}
}

func strPad(s string, markup bool, name string) Func {
	if name == "expandtabs" {
		return func(c Call) (value.Value, error) {
			a, err := c.clinic("expandtabs", "tabsize")
			if err != nil {
				return nil, err
			}
			n, err := IntArg(a[0], 8)
			if err != nil {
				return nil, err
			}
			out, err := pytext.ExpandTabs(s, n)
			return SameText(out, markup), err
		}
	}
	return func(c Call) (value.Value, error) {
		most := 2
		if name == "zfill" {
			most = 1
		}
		a, err := c.Builtin("str", name, 1, most)
		if err != nil {
			return nil, err
		}
		width, err := AsIndex(a[0])
		if err != nil {
			return nil, err
		}
		if name == "zfill" {
			out, err := pytext.Zfill(s, width)
			return SameText(out, markup), err
		}
		fill := " "
		if Given(a[1]) {
			f, ok := value.AsText(a[1])
			if !ok {
				return nil, value.Raise("TypeError", "The fill character must be a unicode character, not %s", value.TypeName(a[1]))
			}
			if markup {
				m, err := markupsafe.Escaped(a[1])
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
		out, err := pytext.Justify(s, width, fill, how)
		return SameText(out, markup), err
	}
}

func strTest(s, name string) Func {
	return func(c Call) (value.Value, error) {
		if _, err := c.Builtin("str", name, 0, 0); err != nil {
			return nil, err
		}
		switch name {
		case "isalnum":
			return pytext.Every(s, pytext.IsAlnum), nil
		case "isalpha":
			return pytext.Every(s, unicode.IsLetter), nil
		case "isascii":
			return value.IsASCII(s), nil
		case "isdecimal":
			return pytext.Every(s, pytext.IsDecimal), nil
		case "isdigit":
			return pytext.Every(s, pytext.IsDigit), nil
		case "isidentifier":
			return pytext.IsIdentifier(s), nil
		case "islower":
			return pytext.CaseOnly(s, pytext.IsLower), nil
		case "isnumeric":
			return pytext.Every(s, pytext.IsNumeric), nil
		case "isprintable":
			return s == "" || pytext.Every(s, pytext.IsPrintable), nil
		case "isspace":
			return pytext.Every(s, value.IsSpace), nil
		case "istitle":
			return pytext.IsTitle(s), nil
		}
		return pytext.CaseOnly(s, pytext.IsUpper), nil
	}
}

// within resolves the optional start and end of a search to bytes of s; ok is
// false where start is past the end.
func within(s string, start, end value.Value) (lo, hi int, ok bool, err error) {
	n := value.TextLen(s)
	bound := func(v value.Value, dflt int) (int, error) {
		if !Given(v) || v == nil {
			return dflt, nil
		}
		i, err := AsIndex(v)
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
	return func(c Call) (value.Value, error) {
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
func (c Call) searchArgs(name string) ([]value.Value, error) {
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
	return func(c Call) (value.Value, error) {
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

func strReplace(c Call, s string, markup bool) (value.Value, error) {
	a, err := c.Builtin("str", "replace", 2, 3)
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
			m, err := markupsafe.Escaped(a[i])
			if err != nil {
				return nil, err
			}
			t = string(m)
		}
		text[i] = t
	}
	count, err := IntArg(a[2], -1)
	if err != nil {
		return nil, err
	}
	out, err := pytext.Replace(s, text[0], text[1], count)
	return SameText(out, markup), err
}

func strJoin(c Call, sep string, markup bool) (value.Value, error) {
	a, err := c.Builtin("str", "join", 1, 1)
	if err != nil {
		return nil, err
	}
	if u, ok := a[0].(value.Faulty); ok {
		if err := u.Fault("iter"); err != nil {
			return nil, err
		}
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
			m, err := markupsafe.Escaped(v)
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
	out, err := pytext.Join(parts, sep)
	return SameText(out, markup), err
}

func strTranslate(c Call, s string, markup bool) (value.Value, error) {
	a, err := c.Builtin("str", "translate", 1, 1)
	if err != nil {
		return nil, err
	}
	var failed error
	out := pytext.MapChars(s, func(b *strings.Builder, _ int, r rune) {
		if failed != nil {
			return
		}
		v, err := value.GetItem(a[0], int64(r))
		if Raised(err, "LookupError", "KeyError", "IndexError") {
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
	return SameText(out, markup), nil
}

func strMaketrans(c Call) (value.Value, error) {
	a, err := c.Builtin("str", "maketrans", 1, 3)
	if err != nil {
		return nil, err
	}
	m := value.NewMap(8)
	if !Given(a[1]) {
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
		if !Given(v) {
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
