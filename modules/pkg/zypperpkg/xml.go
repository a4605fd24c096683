package zypperpkg

import (
	"strconv"
	"strings"

	"brine/internal/py/value"
)

// An element is an element of the XML that zypper prints, or text between tags,
// whose name is "".
type element struct {
	name  string
	attrs *value.Map // in order; nil for text
	text  string
	kids  []*element
}

// maxNesting bounds how deep elements are in elements.
const maxNesting = 64

// parseXML reads what zypper prints with --xmlout. It takes what is not XML for
// text, and ends elements that are not closed at the end. encoding/xml is not used:
// it is large, and agents travel.
func parseXML(s string) *element {
	root := &element{}
	open := []*element{root}
	for s != "" {
		top := open[len(open)-1]
		i := strings.IndexByte(s, '<')
		if i != 0 {
			if i < 0 {
				i = len(s)
			}
			top.kids = append(top.kids, &element{text: unescape(s[:i])})
			s = s[i:]
			continue
		}
		if rest, ok := strings.CutPrefix(s, "<!--"); ok {
			_, s, _ = strings.Cut(rest, "-->")
			continue
		}
		if rest, ok := strings.CutPrefix(s, "<![CDATA["); ok {
			var text string
			text, s, _ = strings.Cut(rest, "]]>")
			top.kids = append(top.kids, &element{text: text})
			continue
		}
		end := tagEnd(s)
		tag := s[1:end]
		s = s[min(end+1, len(s)):]
		switch {
		case tag == "" || tag[0] == '?' || tag[0] == '!':
		case tag[0] == '/':
			name := strings.TrimSpace(tag[1:])
			for n := len(open) - 1; n > 0; n-- {
				if open[n].name == name {
					open = open[:n]
					break
				}
			}
		default:
			body, closed := strings.CutSuffix(tag, "/")
			e := startTag(body)
			top.kids = append(top.kids, e)
			if !closed && len(open) < maxNesting {
				open = append(open, e)
			}
		}
	}
	return root
}

// tagEnd returns where the tag that s starts with ends: at a > outside of quotes.
func tagEnd(s string) int {
	var quote byte
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return i
		}
	}
	return len(s)
}

// startTag reads a name and attributes.
func startTag(s string) *element {
	name, rest, _ := strings.Cut(strings.ReplaceAll(strings.TrimSpace(s), "\n", " "), " ")
	e := &element{name: name, attrs: value.NewMap(4)}
	for {
		key, after, ok := strings.Cut(strings.TrimSpace(rest), "=")
		after = strings.TrimSpace(after)
		if !ok || after == "" || after[0] != '"' && after[0] != '\'' {
			return e
		}
		val, more, ok := strings.Cut(after[1:], after[:1])
		if !ok {
			return e
		}
		e.attrs.Set(strings.TrimSpace(key), unescape(val))
		rest = more
	}
}

var entities = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&apos;", "'", "&amp;", "&")

// unescape replaces the entities of XML and numbers of characters.
func unescape(s string) string {
	if !strings.Contains(s, "&") {
		return s
	}
	var b strings.Builder
	for {
		i := strings.Index(s, "&#")
		if i < 0 {
			b.WriteString(entities.Replace(s))
			return b.String()
		}
		b.WriteString(entities.Replace(s[:i]))
		digits, rest, ok := strings.Cut(s[i+2:], ";")
		base := 10
		if hex, isHex := strings.CutPrefix(digits, "x"); isHex {
			digits, base = hex, 16
		}
		n, err := strconv.ParseUint(digits, base, 21)
		if !ok || err != nil {
			b.WriteString("&#")
			s = s[i+2:]
			continue
		}
		b.WriteRune(rune(n))
		s = rest
	}
}

// all returns the elements of a name in e, at any depth, in order.
func (e *element) all(name string) []*element {
	var list []*element
	for _, k := range e.kids {
		if k.name == name && name != "" {
			list = append(list, k)
		}
		list = append(list, k.all(name)...)
	}
	return list
}

// first returns the first of all, or an empty element.
func (e *element) first(name string) *element {
	if list := e.all(name); len(list) > 0 {
		return list[0]
	}
	return &element{}
}

// attr returns an attribute; "" where there is none.
func (e *element) attr(name string) string { return e.attrs.Str(name) }

// content returns the text in e, not that of elements in it.
func (e *element) content() string {
	var parts []string
	for _, k := range e.kids {
		if k.name == "" {
			parts = append(parts, k.text)
		}
	}
	return strings.Join(parts, "\n")
}
