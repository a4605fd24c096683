package zypperpkg

import "testing"

// FuzzXML looks for text that cannot be read as what zypper prints.
func FuzzXML(f *testing.F) {
	f.Add(`<?xml version='1.0'?><a x="1 &gt; 0" y='&#x41;'><b/>text<![CDATA[<c>]]><!-- no --></a>`)
	f.Add(`<a <b x=">" </a></a></z>`)
	f.Add("plain & <")
	f.Fuzz(func(t *testing.T, text string) {
		e := parseXML(text)
		for _, name := range []string{"a", "message", ""} {
			for _, x := range e.all(name) {
				if x.name != name || name == "" {
					t.Errorf("an element %q is among %q", x.name, name)
				}
				_ = x.attr("x") + x.content() + x.plain()
			}
		}
	})
}

func TestXML(t *testing.T) {
	t.Parallel()
	e := parseXML(`<a x="1 &gt; 0" y='&#x41;&#66;&amp;lt;'><b z=""/>te<c>in</c>xt<![CDATA[<d>]]><!-- no --></a>`).first("a")
	if e.attr("x") != "1 > 0" || e.attr("y") != "AB&lt;" || e.content() != "te\nxt\n<d>" || len(e.kids) != 5 || !e.first("b").attrs.Has("z") {
		t.Errorf("%+v %q", e.attrs, e.content())
	}
}
