package graph_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
	"brine/internal/view/graph"
)

func low(t testing.TB, text string) *value.List {
	t.Helper()
	v, err := yamlsalt.LoadString(text)
	if err != nil {
		t.Fatal(err)
	}
	l, ok := v.(*value.List)
	if !ok {
		t.Fatalf("%q is not a list", text)
	}
	return l
}

const web = `
- {state: pkg, __id__: nginx, name: nginx, fun: installed, __sls__: web}
- {state: file, __id__: conf, name: /etc/nginx.conf, fun: managed, __sls__: web, require: [{pkg: nginx}]}
- {state: file, __id__: page, name: /srv/page, fun: managed, __sls__: site}
- {state: service, __id__: nginx, name: nginx, fun: running, __sls__: web, watch: [{file: /etc/*}], require: [{sls: site}, {id: nginx}]}
`

// TestOf finds what requisites name: by ID, by name, with wildcards, by SLS.
func TestOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, low, want string }{
		{"kinds", web, "1>0 require,3>2 require,3>0 require,3>3 require cycle,3>1 watch"},
		{"an own SLS", "- {state: a, __id__: x, fun: f, __sls__: s}\n- {state: a, __id__: y, fun: f, __sls__: s, require: [{sls: s}]}", "1>0 require"},
		{"missing", "- {state: a, __id__: x, fun: f, require: [{b: gone}, {b: gone}, other]}", "0>1 require,0>1 require,0>2 require"},
		{"a circle", "- {state: a, __id__: x, fun: f, require: [{a: y}]}\n- {state: a, __id__: y, fun: f, onchanges_any: [{a: x}]}\n- {state: a, __id__: z, fun: f, require: [{a: x}]}", "0>1 require cycle,1>0 onchanges_any cycle,2>0 require"},
		{"no requisites", "- {state: a, __id__: x, fun: f}\n- text", ""},
		{"odd", "- {state: a, __id__: x, fun: f, require: x, watch: [{}, null]}", "0>1 watch,0>2 watch"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, e := range graph.Of(low(t, tt.low)).Edges {
				s := fmt.Sprintf("%d>%d %s", e.From, e.To, e.Kind)
				if e.Cycle {
					s += " cycle"
				}
				got = append(got, s)
			}
			if s := strings.Join(got, ","); s != tt.want {
				t.Errorf("got %s, want %s", s, tt.want)
			}
		})
	}
}

// TestWrite holds that text of a tree stays text in each format.
func TestWrite(t *testing.T) {
	t.Parallel()
	g := graph.Of(low(t, `- {state: a, __id__: "x\"]; <script>&\n\x1b[31m", name: "y --> z", fun: f, require: [{a: "\\"}]}`))
	for name, write := range map[string]func(io.Writer) error{"dot": g.DOT, "mermaid": g.Mermaid, "svg": g.SVG} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		if strings.Contains(text, "<script>") && name != "dot" || strings.Contains(text, "\x1b") {
			t.Errorf("%s: %s", name, text)
		}
		if name == "dot" && !strings.Contains(text, `label="x\"]; <script>&\n[31m\na.f"`) {
			t.Errorf("%s: %s", name, text)
		}
		if name == "svg" {
			wellFormed(t, b.Bytes())
		}
	}
}

func wellFormed(t *testing.T, b []byte) {
	t.Helper()
	for d := xml.NewDecoder(bytes.NewReader(b)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
	}
}

// TestLarge draws what is large, deep and dense.
func TestLarge(t *testing.T) {
	t.Parallel()
	l := value.NewList()
	const n = 3000
	for i := range n {
		req := value.NewList()
		if i > 0 {
			req.Append(value.MapOf("a", fmt.Sprint(i-1)), value.MapOf("a", "0"))
		}
		l.Append(value.MapOf("state", "a", "__id__", fmt.Sprint(i), "name", fmt.Sprint(i), "fun", "f", "require", req))
	}
	g := graph.Of(l)
	if g.Cycles() {
		t.Error("a chain is no circle")
	}
	var b bytes.Buffer
	if err := g.SVG(&b); err != nil || b.Len() > 4<<20 {
		t.Errorf("%d bytes, %v", b.Len(), err)
	}
	wellFormed(t, b.Bytes())
}

// FuzzGraph draws whatever low data there is.
func FuzzGraph(f *testing.F) {
	f.Add(web)
	f.Add("- {state: a, __id__: x, fun: f, require: [{a: x}, {sls: '*'}]}")
	f.Fuzz(func(t *testing.T, text string) {
		v, err := yamlsalt.LoadString(text)
		l, ok := v.(*value.List)
		if err != nil || !ok {
			return
		}
		g := graph.Of(l)
		var b bytes.Buffer
		for _, write := range []func(io.Writer) error{g.DOT, g.Mermaid, g.SVG} {
			b.Reset()
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
		}
		wellFormed(t, b.Bytes())
	})
}
