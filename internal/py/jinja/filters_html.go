package jinja

import (
	"regexp"
	"sort"
	"strings"
	"sync"

	"brine/internal/py/jinja/markupsafe"
	"brine/internal/py/jinja/pymethod"
	"brine/internal/py/jinja/pytext"
	"brine/internal/py/value"
)

func filterEscape(c *Call) (value.Value, error) {
	a, err := c.builtin("markupsafe._speedups", "escape", 1, 1)
	if err != nil {
		return nil, err
	}
	return markupsafe.Escaped(a[0])
}

func filterForceEscape(c *Call) (value.Value, error) {
	a, err := c.Params("do_forceescape", 0, "value")
	if err != nil {
		return nil, err
	}
	s, err := c.State.Str(a[0])
	return markupsafe.Markup(markupsafe.Escape(s)), err
}

func filterSafe(c *Call) (value.Value, error) {
	a, err := c.Params("do_mark_safe", 0, "value")
	if err != nil {
		return nil, err
	}
	s, err := c.State.Str(a[0])
	return markupsafe.Markup(s), err
}

func filterStriptags(c *Call) (value.Value, error) {
	a, err := c.Params("do_striptags", 0, "value")
	if err != nil {
		return nil, err
	}
	s, err := c.State.Str(a[0])
	return markupsafe.StripTags(s), err
}

func filterUrlencode(c *Call) (value.Value, error) {
	a, err := c.Params("do_urlencode", 0, "value")
	if err != nil {
		return nil, err
	}
	if _, ok := value.AsText(a[0]); ok || !value.IsIterable(a[0]) {
		return quoteURL(a[0], false)
	}
	src := a[0]
	if m, ok := src.(value.Mapping); ok {
		src = &value.View{Of: m, Kind: value.Pairs}
	}
	items, err := value.Items(src)
	if err != nil {
		return nil, err
	}
	parts := make([]string, len(items))
	for i, it := range items {
		k, v, err := pymethod.UnpackPair(it)
		if err != nil {
			return nil, err
		}
		ks, err := quoteURL(k, true)
		if err != nil {
			return nil, err
		}
		vs, err := quoteURL(v, true)
		if err != nil {
			return nil, err
		}
		parts[i] = ks + "=" + vs
	}
	return pytext.Join(parts, "&")
}

func filterXmlattr(c *Call) (value.Value, error) {
	a, err := c.Params("do_xmlattr", 1, "d", "autospace?")
	if err != nil {
		return nil, err
	}
	if err := Defined(a[0]); err != nil {
		return nil, err
	}
	m, ok := a[0].(value.Mapping)
	if !ok {
		return nil, pymethod.NoItems(a[0])
	}
	space, err := c.BoolArg(a[1], true)
	if err != nil {
		return nil, err
	}
	var parts []string
	for _, k := range m.Keys() {
		v, _ := m.Get(k)
		if _, undef := v.(*Undefined); v == nil || undef {
			continue
		}
		name, ok := value.AsText(k)
		if !ok {
			return nil, value.Raise("TypeError", "expected string or bytes-like object, got '%s'", value.TypeName(k))
		}
		if strings.ContainsAny(name, " \t\n\r\f\v/>=") {
			return nil, value.Raise("ValueError", "Invalid character in attribute name: %s", value.Repr(k))
		}
		ek, err := markupsafe.Escaped(k)
		if err != nil {
			return nil, err
		}
		ev, err := markupsafe.Escaped(v)
		if err != nil {
			return nil, err
		}
		parts = append(parts, string(ek)+`="`+string(ev)+`"`)
	}
	out := strings.Join(parts, " ")
	if space && out != "" {
		out = " " + out
	}
	return pymethod.SameText(out, c.State.Autoescape()), nil
}

func filterUrlize(c *Call) (value.Value, error) {
	a, err := c.Params("do_urlize", 1, "value", "trim_url_limit?", "nofollow?", "target?", "rel?", "extra_schemes?")
	if err != nil {
		return nil, err
	}
	u := urlizer{limit: -1}
	if v := pymethod.OrNil(a[1]); v != nil {
		if u.limit, err = pymethod.AsIndex(v); err != nil {
			return nil, err
		}
		u.limit = max(u.limit, 0)
	}
	nofollow, err := c.BoolArg(a[2], false)
	if err != nil {
		return nil, err
	}
	rels := map[string]bool{"noopener": true}
	if nofollow {
		rels["nofollow"] = true
	}
	if v := pymethod.OrNil(a[4]); v != nil {
		s, err := c.State.Str(v)
		if err != nil {
			return nil, err
		}
		for _, r := range pytext.SplitBlank(s, -1) {
			rels[r] = true
		}
	}
	names := make([]string, 0, len(rels))
	for r := range rels {
		names = append(names, r)
	}
	sort.Strings(names)
	u.attrs = ` rel="` + markupsafe.Escape(strings.Join(names, " ")) + `"`
	if v := pymethod.OrNil(a[3]); v != nil {
		m, err := markupsafe.Escaped(v)
		if err != nil {
			return nil, err
		}
		if m != "" {
			u.attrs += ` target="` + string(m) + `"`
		}
	}
	if v := pymethod.OrNil(a[5]); v != nil {
		items, err := value.Items(v)
		if err != nil {
			return nil, err
		}
		for _, it := range items {
			s, ok := value.AsText(it)
			if !ok || !schemePattern().MatchString(s) {
				return nil, errFilterArgument("%s is not a valid URI scheme prefix.", value.Repr(it))
			}
			u.schemes = append(u.schemes, s)
		}
	}
	text, err := markupsafe.Escaped(a[0])
	if err != nil {
		return nil, err
	}
	out := u.all(string(text))
	return pymethod.SameText(out, c.State.Autoescape()), value.CheckSize(len(out))
}

var (
	schemePattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[\pL\pN_.+\-]{2,}:/{0,2}$`)
	})
	// What counts as a web address: after a scheme or www. any host with a
	// letters-only or punycode ending, a bare host only under well-known
	// endings, and addresses of either IP family after a scheme.
	webPattern = sync.OnceValue(func() *regexp.Regexp {
		const word = `[\pL\pN_%-]`
		return regexp.MustCompile(`(?i)^(?:` +
			`(?:https?://|www\.)(?:` + word + `+\.)*(?:[a-z]{2,63}|xn--[\pL\pN_%]{2,59})` +
			`|(?:` + word + `{2,63}\.)+(?:com|net|int|edu|gov|org|info|mil)` +
			`|https?://(?:\d{1,3}(?:\.\d{1,3}){3}|\[(?:[\da-f]{0,4}:){2}(?:[\da-f]{0,4}:?){1,6}\])` +
			`)(?::\d{1,5})?(?:[/?#]\S*)?$`)
	})
	mailPattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\S+@[\pL\pN_][\pL\pN_.\-]*\.[\pL\pN_]+$`)
	})
)

// urlizer makes links of addresses in escaped text.
type urlizer struct {
	limit   int // of the text shown; -1 is none
	attrs   string
	schemes []string
}

func (u *urlizer) all(text string) string {
	var b strings.Builder
	for text != "" {
		i := strings.IndexFunc(text, value.IsSpace)
		if i < 0 {
			i = len(text)
		}
		b.WriteString(u.word(text[:i]))
		text = text[i:]
		j := strings.IndexFunc(text, func(r rune) bool { return !value.IsSpace(r) })
		if j < 0 {
			j = len(text)
		}
		b.WriteString(text[:j])
		text = text[j:]
	}
	return b.String()
}

// cutEnds takes opening brackets off the start and punctuation off the end.
func cutEnds(s string) (head, middle, tail string) {
	middle = s
	for again := true; again; {
		again = false
		for _, p := range []string{"(", "<", "&lt;"} {
			if strings.HasPrefix(middle, p) {
				middle, again = middle[len(p):], true
			}
		}
	}
	head = s[:len(s)-len(middle)]
	whole := middle
	for again := true; again; {
		again = false
		for _, p := range []string{")", ">", ".", ",", "&gt;"} {
			if strings.HasSuffix(middle, p) {
				middle, again = middle[:len(middle)-len(p)], true
			}
		}
	}
	return head, middle, whole[len(middle):]
}

func (u *urlizer) word(s string) string {
	head, middle, tail := cutEnds(s)
	// Brackets that opened within the address close within it.
	for _, pair := range [][2]string{{"(", ")"}, {"<", ">"}, {"&lt;", "&gt;"}} {
		open := strings.Count(middle, pair[0])
		if open <= strings.Count(middle, pair[1]) {
			continue
		}
		for range min(open, strings.Count(tail, pair[1])) {
			end := strings.Index(tail, pair[1]) + len(pair[1])
			middle, tail = middle+tail[:end], tail[end:]
		}
	}
	switch {
	case webPattern().MatchString(middle):
		href := middle
		if !strings.HasPrefix(href, "https://") && !strings.HasPrefix(href, "http://") {
			href = "https://" + href
		}
		middle = `<a href="` + href + `"` + u.attrs + `>` + u.shown(middle) + `</a>`
	case strings.HasPrefix(middle, "mailto:") && mailPattern().MatchString(middle[7:]):
		middle = `<a href="` + middle + `">` + middle[7:] + `</a>`
	case strings.Contains(middle, "@") && !strings.HasPrefix(middle, "www.") && !strings.Contains(middle, ":") &&
		mailPattern().MatchString(middle):
		middle = `<a href="mailto:` + middle + `">` + middle + `</a>`
	default:
		for _, scheme := range u.schemes {
			if middle != scheme && strings.HasPrefix(middle, scheme) {
				middle = `<a href="` + middle + `"` + u.attrs + `>` + middle + `</a>`
			}
		}
	}
	return head + middle + tail
}

func (u *urlizer) shown(s string) string {
	if u.limit >= 0 && value.TextLen(s) > u.limit {
		return value.TextSlice(s, 0, u.limit) + "..."
	}
	return s
}
