package graph

import (
	"fmt"
	"io"
	"strings"
)

// label is a node in words: the ID, and what it is.
func (n *Node) label() (first, second string) {
	if n.Missing {
		return n.ID, n.Fun + ", not there"
	}
	return n.ID, n.Fun
}

// DOT writes the graph in the language of Graphviz. Arrows lead from what is
// required to what requires it, as a run goes.
func (g *Graph) DOT(w io.Writer) error {
	var b strings.Builder
	b.WriteString("digraph requisites {\n  rankdir=TB;\n  node [shape=box, style=rounded];\n")
	for i := range g.Nodes {
		n := &g.Nodes[i]
		first, second := n.label()
		attrs := ""
		switch {
		case n.Cycle:
			attrs = ", color=red"
		case n.Missing:
			attrs = ", color=red, style=\"rounded,dashed\""
		}
		fmt.Fprintf(&b, "  n%d [label=%s%s];\n", i, quoted(first+"\n"+second), attrs)
	}
	for _, e := range g.Edges {
		attrs := ""
		if e.Kind != "require" {
			attrs = "label=" + quoted(e.Kind)
		}
		if e.Cycle {
			attrs = strings.TrimPrefix(attrs+", color=red", ", ")
		}
		if attrs != "" {
			attrs = " [" + attrs + "]"
		}
		fmt.Fprintf(&b, "  n%d -> n%d%s;\n", e.To, e.From, attrs)
	}
	b.WriteString("}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// quoted is a string of DOT: control characters are dropped.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r < ' ' || r == 0x7f:
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Mermaid writes the graph as a flowchart of Mermaid, which code hosts show in
// Markdown.
func (g *Graph) Mermaid(w io.Writer) error {
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	var red, gone []string
	for i := range g.Nodes {
		n := &g.Nodes[i]
		first, second := n.label()
		fmt.Fprintf(&b, "  n%d[\"%s<br>%s\"]\n", i, mermaid(first), mermaid(second))
		switch {
		case n.Cycle:
			red = append(red, fmt.Sprintf("n%d", i))
		case n.Missing:
			gone = append(gone, fmt.Sprintf("n%d", i))
		}
	}
	var links []string
	for i, e := range g.Edges {
		arrow := "-->"
		if e.Kind != "require" {
			arrow = "-->|" + e.Kind + "|"
		}
		fmt.Fprintf(&b, "  n%d %s n%d\n", e.To, arrow, e.From)
		if e.Cycle {
			links = append(links, fmt.Sprint(i))
		}
	}
	if len(links) > 0 {
		fmt.Fprintf(&b, "  linkStyle %s stroke:red\n", strings.Join(links, ","))
	}
	if len(red) > 0 {
		fmt.Fprintf(&b, "  classDef cycle stroke:red\n  class %s cycle\n", strings.Join(red, ","))
	}
	if len(gone) > 0 {
		fmt.Fprintf(&b, "  classDef missing stroke:red,stroke-dasharray:4\n  class %s missing\n", strings.Join(gone, ","))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// mermaid writes text with entities for what Mermaid or HTML reads.
func mermaid(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < ' ' || r == 0x7f:
			b.WriteByte(' ')
		case strings.ContainsRune("\"<>&#`\\;|{}[]()", r):
			fmt.Fprintf(&b, "#%d;", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
