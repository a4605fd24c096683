package saltjinja

import (
	"strings"

	"brine/internal/py/jinja"
	"brine/internal/py/jinja/markupsafe"
	"brine/internal/py/jinja/pymethod"
	"brine/internal/py/jinja/pytext"
	"brine/internal/py/value"
)

// filterXML writes nested data as XML: a dict's scalars are attributes of its
// element, its dicts and lists are elements below.
// Salt: salt/utils/jinja.py format_xml.
func filterXML(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("SerializerExtension.format_xml", 1, "value")
	if err != nil {
		return nil, err
	}
	if err := jinja.Defined(a[0]); err != nil {
		return nil, err
	}
	x := xmlTree{s: c.State}
	pairs, err := x.pairs(a[0])
	if err != nil {
		return nil, err
	}
	root, err := x.grow(pairs, nil, 0)
	if err != nil {
		return nil, err
	}
	if root == nil {
		return nil, value.Raise("AttributeError", "'NoneType' object has no attribute 'iter'")
	}
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\" ?>\n")
	root.write(&b, "")
	return markupsafe.Markup(b.String()), value.CheckSize(b.Len())
}

type xmlElement struct {
	tag   string
	attrs []string // names and values in turn
	text  string
	below []*xmlElement
}

type xmlTree struct{ s *jinja.State }

type xmlPair struct{ key, val value.Value }

// pairs are the tags and contents of a dict. A list of texts counts as pairs
// of its first two letters, any other list as none.
func (x *xmlTree) pairs(v value.Value) ([]xmlPair, error) {
	if items, ok := listItems(v); ok {
		if len(items) == 0 {
			return nil, value.Raise("IndexError", "list index out of range")
		}
		if _, ok := value.AsText(items[0]); !ok {
			return nil, nil
		}
		var out []xmlPair
		for _, it := range items {
			k, v, err := pymethod.UnpackPair(it)
			if err != nil {
				return nil, err
			}
			out = append(out, xmlPair{k, v})
		}
		return out, nil
	}
	m, ok := v.(value.Mapping)
	if !ok {
		return nil, value.Raise("TemplateRuntimeError", "Value is not a dict or list. Cannot render as XML")
	}
	var out []xmlPair
	for _, k := range m.Keys() {
		e, _ := m.Get(k)
		out = append(out, xmlPair{k, e})
	}
	return out, nil
}

func listItems(v value.Value) ([]value.Value, bool) {
	if l, ok := v.(*value.List); ok {
		return l.Items, true
	}
	return value.AsTuple(v)
}

// grow makes elements of pairs below parent and returns the last.
func (x *xmlTree) grow(pairs []xmlPair, parent *xmlElement, depth int) (*xmlElement, error) {
	if depth > 200 {
		return nil, value.Raise("RecursionError", "maximum recursion depth exceeded")
	}
	var last *xmlElement
	for _, p := range pairs {
		sub, err := x.growPair(p, parent, depth)
		if err != nil {
			return nil, err
		}
		if sub != nil {
			last = sub
		}
	}
	return last, nil
}

// growPair adds the element of one pair, or one for each item of a list, of
// which it returns none.
func (x *xmlTree) growPair(p xmlPair, parent *xmlElement, depth int) (*xmlElement, error) {
	var sub *xmlElement
	tag, ok := value.AsText(p.key)
	if !ok || !xmlName(tag) {
		return nil, value.Raise("ExpatError", "not well-formed (invalid token): element name %s", value.Repr(p.key))
	}
	l, isList := p.val.(*value.List)
	if isList {
		if err := x.growEach(tag, l.Items, parent, depth); err != nil {
			return nil, err
		}
	} else {
		sub = &xmlElement{tag: tag}
		if parent != nil {
			parent.below = append(parent.below, sub)
		}
	}
	if s, ok := xmlText(p.val); ok {
		sub.text = s
		return sub, nil
	}
	if m, ok := p.val.(value.Mapping); ok {
		if err := x.attributes(sub, m); err != nil {
			return nil, err
		}
	}
	if isList && len(l.Items) > 0 {
		if _, ok := value.AsText(l.Items[0]); !ok {
			return sub, nil // nothing but what was done for each item
		}
	}
	inner, err := x.nested(p.val)
	if err != nil {
		return nil, err
	}
	for _, q := range inner {
		if _, err := x.grow([]xmlPair{q}, sub, depth+1); err != nil {
			return nil, err
		}
	}
	return sub, nil
}

// growEach adds an element for each item.
func (x *xmlTree) growEach(tag string, items []value.Value, parent *xmlElement, depth int) error {
	for _, v := range items {
		if _, err := x.grow([]xmlPair{{tag, v}}, parent, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// xmlText returns the text of an element that has text alone: of text and
// numbers.
func xmlText(v value.Value) (string, bool) {
	if s, ok := value.AsText(v); ok {
		return s, true
	}
	_, isFloat := v.(float64)
	if _, isInt := value.AsBig(v); isFloat || isInt {
		return value.Str(v), true
	}
	return "", false
}

// nested are the pairs of v whose content is a dict or a list.
func (x *xmlTree) nested(v value.Value) ([]xmlPair, error) {
	if l, ok := v.(*value.List); ok {
		if len(l.Items) == 0 {
			return nil, value.Raise("IndexError", "list index out of range")
		}
		return nil, nil // letters are neither
	}
	pairs, err := x.pairs(v)
	var out []xmlPair
	for _, p := range pairs {
		switch p.val.(type) {
		case value.Mapping, *value.List:
			out = append(out, p)
		}
	}
	return out, err
}

func (x *xmlTree) attributes(e *xmlElement, m value.Mapping) error {
	for _, k := range m.Keys() {
		v, _ := m.Get(k)
		switch v.(type) {
		case value.Mapping, *value.List:
			continue
		}
		name, ok := value.AsText(k)
		if !ok || !xmlName(name) {
			return value.Raise("ExpatError", "not well-formed (invalid token): attribute name %s", value.Repr(k))
		}
		s, err := x.s.Str(v)
		if err != nil {
			return err
		}
		e.attrs = append(e.attrs, name, s)
	}
	return nil
}

func xmlName(s string) bool {
	for i, r := range s {
		if !pytext.IsAlnum(r) && r != '_' && r != ':' && (i == 0 || r != '-' && r != '.') || i == 0 && pytext.IsDecimal(r) {
			return false
		}
	}
	return s != ""
}

func xmlEscape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", `"`, "&quot;", ">", "&gt;").Replace(s)
}

func (e *xmlElement) write(b *strings.Builder, indent string) {
	b.WriteString(indent + "<" + e.tag)
	for i := 0; i < len(e.attrs); i += 2 {
		b.WriteString(" " + e.attrs[i] + `="` + xmlEscape(e.attrs[i+1]) + `"`)
	}
	switch {
	case e.text != "":
		b.WriteString(">" + xmlEscape(e.text) + "</" + e.tag + ">\n")
	case len(e.below) == 0:
		b.WriteString("/>\n")
	default:
		b.WriteString(">\n")
		for _, s := range e.below {
			s.write(b, indent+" ")
		}
		b.WriteString(indent + "</" + e.tag + ">\n")
	}
}
