package yamlsalt_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

func FuzzLoad(f *testing.F) {
	for _, c := range recorded(f, "load.json") {
		f.Add(c.Str("text"))
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: "f", Ordered: len(text)%2 == 0}, []byte(text))
		if err != nil {
			var e *source.Error
			if !errors.As(err, &e) || e.Pos.Line < 1 || e.Pos.Col < 1 {
				t.Fatalf("Load(%q): no place: %v", text, err)
			}
			return
		}
		dumpAndLoad(t, v)
	})
}

// dumpAndLoad checks load(dump(v)) == v for what a loader makes.
func dumpAndLoad(t *testing.T, v value.Value) {
	for _, o := range []yamlsalt.DumpOptions{{}, yamlsalt.SafeOptions(), {FlowStyle: yamlsalt.FlowNever, Indent: 4, Width: 20}, {FlowStyle: yamlsalt.FlowAlways, AllowUnicode: true}, {DefaultStyle: "|", AllowUnicode: true}} {
		text, err := yamlsalt.Dump(v, o)
		if err != nil {
			t.Fatalf("Dump(%s): %v", value.Repr(v), err)
		}
		w, err := yamlsalt.LoadString(text)
		if err != nil || value.Repr(plain(w)) != value.Repr(plain(v)) && !value.Equal(plain(w), plain(v)) {
			t.Fatalf("Dump(%s, %+v) = %q, which loads as %s, %v", value.Repr(v), o, text, value.Repr(w), err)
		}
	}
}

// plain makes tuples lists and NaN text, which come back otherwise.
func plain(v value.Value) value.Value {
	switch v := v.(type) {
	case float64:
		if v != v {
			return "nan"
		}
	case value.Tuple:
		return plain(value.NewList(v...))
	case *value.List:
		l := value.NewList()
		for _, x := range v.Items {
			l.Append(plain(x))
		}
		return l
	case *value.Map:
		m := value.NewMap(v.Len())
		for k, x := range v.All() {
			m.Set(plain(k), plain(x))
		}
		return m
	}
	return v
}

func FuzzDumpLoad(f *testing.F) {
	for _, c := range recorded(f, "dump.json") {
		f.Add(string(value.EncodeJSON(c.At("value"))))
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := value.ParseJSON(text)
		if err != nil {
			return
		}
		dumpAndLoad(t, valid(v))
	})
}

// valid makes text of JSON what Dump keeps.
func valid(v value.Value) value.Value {
	switch v := v.(type) {
	case string:
		return strings.ToValidUTF8(v, "?")
	case *value.List:
		for i, x := range v.Items {
			v.Items[i] = valid(x)
		}
	case *value.Map:
		m := value.NewMap(v.Len())
		for k, x := range v.All() {
			m.Set(valid(k), valid(x))
		}
		return m
	}
	return v
}

// TestLoadAsV3 compares the structure of documents with gopkg.in/yaml.v3, where
// it takes them too: kinds of nodes, number of parts, text of quoted scalars.
func TestLoadAsV3(t *testing.T) {
	same := 0
	for _, c := range recorded(t, "load.json") {
		text := c.Str("text")
		v, err := yamlsalt.LoadString(text)
		if err != nil || strings.ContainsAny(text, "!\u0085\u2028\ufeff") || strings.Contains(text, "<<") || strings.Contains(text, "[?") {
			continue
		}
		var n yaml.Node
		if yaml.Unmarshal([]byte(text), &n) != nil || len(n.Content) == 0 {
			continue
		}
		same++
		if diff := compareV3(v, n.Content[0]); diff != "" {
			t.Errorf("Load(%q): %s", text, diff)
		}
	}
	if same < 300 {
		t.Errorf("only %d documents compared", same)
	}
}

func compareV3(v value.Value, n *yaml.Node) string {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch v := v.(type) {
	case *value.List:
		if n.Kind != yaml.SequenceNode || len(n.Content) != v.Len() {
			return fmt.Sprintf("list of %d is %v of %d", v.Len(), n.Kind, len(n.Content))
		}
		for i, x := range v.Items {
			if diff := compareV3(x, n.Content[i]); diff != "" {
				return diff
			}
		}
	case *value.Map:
		if n.Kind != yaml.MappingNode || len(n.Content) != 2*v.Len() {
			return fmt.Sprintf("map of %d is %v of %d", v.Len(), n.Kind, len(n.Content))
		}
		for i := range v.Len() {
			k, x := v.Entry(i)
			if diff := compareV3(k, n.Content[2*i]); diff != "" {
				return diff
			}
			if diff := compareV3(x, n.Content[2*i+1]); diff != "" {
				return diff
			}
		}
	case string:
		if n.Kind != yaml.ScalarNode || n.Value != v {
			return fmt.Sprintf("%q is %q", v, n.Value)
		}
	}
	return ""
}

func TestExplodingAliases(t *testing.T) {
	var b strings.Builder
	b.WriteString("a0: &a0 [x]\n")
	for i := 1; i < 60; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9))
	}
	var merges, chain strings.Builder
	merges.WriteString("a0: &a0 {x: 1}\n")
	for i := 1; i < 60; i++ {
		fmt.Fprintf(&merges, "a%d: &a%d {<<: [*a%d, *a%d]}\n", i, i, i-1, i-1)
	}
	chain.WriteString("a0: &a0 [x]\n")
	for i := 1; i < 50000; i++ {
		fmt.Fprintf(&chain, "a%d: &a%d [*a%d]\n", i, i, i-1)
	}
	for name, text := range map[string]string{
		"lists": b.String(), "merges": merges.String(), "chain": chain.String(), "loop": "a: &a [*a]", "deep flow": strings.Repeat("[", 100000), "deep block": strings.Repeat("- ", 100000), "deep map": strings.Repeat("{a: ", 100000),
	} {
		if _, err := yamlsalt.LoadString(text); err == nil {
			t.Errorf("%s: loaded", name)
		}
	}
}

func TestPositions(t *testing.T) {
	text := "a:\n  - x\n  - y: 1\n    z: [p, q]\nb: {c: d}\n"
	v, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: "web/init.sls"}, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	m := v.(*value.Map)
	a := m.List("a")
	y := a.Items[1].(*value.Map)
	for _, tt := range []struct {
		got  source.Pos
		want string
	}{
		{m.Pos("a"), "web/init.sls:1:1"},
		{m.Pos("b"), "web/init.sls:5:1"},
		{a.PosAt(0), "web/init.sls:2:5"},
		{a.PosAt(1), "web/init.sls:3:5"},
		{y.Pos("z"), "web/init.sls:4:5"},
		{y.List("z").PosAt(1), "web/init.sls:4:12"},
		{m.Map("b").Pos("c"), "web/init.sls:5:5"},
	} {
		if tt.got.String() != tt.want {
			t.Errorf("place %s, want %s", tt.got, tt.want)
		}
	}
	// Lines of a template: the text's line 3 comes from line 30 of another file.
	o := yamlsalt.LoadOptions{Name: "x", Pos: func(line int) source.Pos { return source.Pos{File: "map.jinja", Line: line * 10} }}
	v, err = yamlsalt.Load(o, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := v.(*value.Map).Pos("b").String(); got != "map.jinja:50:1" {
		t.Errorf("place %s", got)
	}
	_, err = yamlsalt.Load(o, []byte("a: 1\na: 2\n"))
	var e *source.Error
	if !errors.As(err, &e) || e.Pos.String() != "map.jinja:20:1" || !strings.Contains(e.SaltText(), "line 2, column 1") {
		t.Errorf("Load = %v", err)
	}
}

func stateFile(n int) []byte {
	var b strings.Builder
	b.WriteString("include:\n  - base\n\n")
	for i := range n {
		fmt.Fprintf(&b, "service_%d:\n  pkg.installed:\n    - name: pkg%d\n    - version: 1.%d.3\n  file.managed:\n    - name: /etc/app/%d.conf\n    - source: salt://app/files/app.conf\n    - mode: '0644'\n    - template: jinja\n    - context:\n        port: %d\n        debug: False\n    - require:\n      - pkg: service_%d\n", i, i, i, i, 8000+i, i)
	}
	return []byte(b.String())
}

func BenchmarkLoad2000States(b *testing.B) {
	text := stateFile(2000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: "s.sls", Ordered: true}, text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDump2000States(b *testing.B) {
	v, err := yamlsalt.Load(yamlsalt.LoadOptions{}, stateFile(2000))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := yamlsalt.Dump(v, yamlsalt.SafeOptions()); err != nil {
			b.Fatal(err)
		}
	}
}
