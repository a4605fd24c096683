// Package graph draws states or steps with their requisites: [Of] makes a graph
// of low data, and [Graph.DOT], [Graph.Mermaid] and [Graph.SVG] write it.
package graph

import (
	"slices"
	"strings"

	"brine/internal/py/value"
)

// A Graph is states and which of them requires which.
type Graph struct {
	Nodes []Node
	Edges []Edge
}

// A Node is a state or a step, or what a requisite names and is not there.
type Node struct {
	ID      string // of the SLS
	Fun     string // such as salt.state
	Name    string // of the state, where it is not the ID
	SLS     string
	Missing bool // there is only a requisite on it
	Cycle   bool // it requires itself, directly or by way of others
	// Class is the class of the node in SVG, by which a page colours it; "" for none.
	Class string
	// Mark stands before the label, Link is where the node leads, in SVG that is part of a
	// page; "" for none.
	Mark, Link string
}

// An Edge says that the node From requires the node To, by the requisite Kind.
type Edge struct {
	From, To int
	Kind     string
	Cycle    bool // it is a part of a cycle
}

// requisites are the requisites of low data, in the order in which they are
// drawn. Those that end in _in are gone there.
var requisites = []string{
	"require", "watch", "onchanges", "onfail", "prereq", "listen", "use",
	"require_any", "watch_any", "onchanges_any", "onfail_any", "onfail_all", "listen_any",
}

// Of makes the graph of low data, a list of dicts as state.show_lowstate returns
// them. Steps are in their order.
func Of(low *value.List) *Graph {
	b := &builder{g: &Graph{}, ids: map[string][]int{}, names: map[string][]int{}, sls: map[string][]int{}}
	var chunks []*value.Map
	for _, v := range low.Items {
		c, ok := v.(*value.Map)
		if !ok {
			continue
		}
		chunks = append(chunks, c)
		b.add(c)
	}
	for i, c := range chunks {
		for _, kind := range requisites {
			l := c.List(kind)
			for k := range l.Len() {
				b.link(i, kind, l.Items[k])
			}
		}
	}
	b.g.markCycles()
	return b.g
}

type builder struct {
	g *Graph
	// The nodes by state and ID, by state and name, and by SLS.
	ids, names, sls map[string][]int
	missing         map[string]int
}

func (b *builder) add(c *value.Map) {
	n := Node{ID: c.Str("__id__"), Fun: c.Str("state") + "." + c.Str("fun"), Name: value.Str(c.At("name")), SLS: c.Str("__sls__")}
	if n.Name == n.ID {
		n.Name = ""
	}
	i := len(b.g.Nodes)
	b.g.Nodes = append(b.g.Nodes, n)
	for _, key := range []string{c.Str("state"), "id"} {
		b.ids[key+"\x00"+n.ID] = append(b.ids[key+"\x00"+n.ID], i)
	}
	b.names[c.Str("state")+"\x00"+value.Str(c.At("name"))] = append(b.names[c.Str("state")+"\x00"+value.Str(c.At("name"))], i)
	b.sls[n.SLS] = append(b.sls[n.SLS], i)
}

// link adds the edges of one requisite, a dict with one key or an ID.
func (b *builder) link(from int, kind string, v value.Value) {
	module, want := "id", value.Str(v)
	if m, ok := v.(*value.Map); ok && m.Len() > 0 {
		k, x := m.Entry(0)
		module, want = value.Str(k), value.Str(x)
	}
	found := b.find(module, want)
	if len(found) == 0 {
		found = []int{b.absent(module, want)}
	}
	for _, to := range found {
		if to == from && module == "sls" {
			continue // a state may require its own SLS
		}
		b.g.Edges = append(b.g.Edges, Edge{From: from, To: to, Kind: kind})
	}
}

// find returns the nodes that a requisite names: by ID or name of a state, which
// may have wildcards, or all of an SLS.
func (b *builder) find(module, want string) []int {
	if module == "sls" {
		return b.byPattern(b.sls, "", want)
	}
	found := slices.Concat(b.byPattern(b.ids, module+"\x00", want), b.byPattern(b.names, module+"\x00", want))
	slices.Sort(found)
	return slices.Compact(found)
}

func (b *builder) byPattern(index map[string][]int, prefix, want string) []int {
	if found := index[prefix+want]; len(found) > 0 || !value.HasGlob(want) {
		return found
	}
	var out []int
	for key, nodes := range index {
		if name, ok := strings.CutPrefix(key, prefix); ok && value.Fnmatch(want, name) {
			out = append(out, nodes...)
		}
	}
	slices.Sort(out)
	return out
}

// absent returns the node of what is not there.
func (b *builder) absent(module, want string) int {
	key := module + "\x00" + want
	if i, ok := b.missing[key]; ok {
		return i
	}
	if b.missing == nil {
		b.missing = map[string]int{}
	}
	i := len(b.g.Nodes)
	b.g.Nodes = append(b.g.Nodes, Node{ID: want, Fun: module, Missing: true})
	b.missing[key] = i
	return i
}

// Linked returns the graph without the nodes that have no edge, and how many they
// are.
func (g *Graph) Linked() (linked *Graph, alone int) {
	has := make([]bool, len(g.Nodes))
	for _, e := range g.Edges {
		has[e.From], has[e.To] = true, true
	}
	linked = &Graph{}
	at := make([]int, len(g.Nodes))
	for i, n := range g.Nodes {
		if !has[i] {
			alone++
			continue
		}
		at[i] = len(linked.Nodes)
		linked.Nodes = append(linked.Nodes, n)
	}
	for _, e := range g.Edges {
		e.From, e.To = at[e.From], at[e.To]
		linked.Edges = append(linked.Edges, e)
	}
	return linked, alone
}

// Cycles reports whether states require each other in a circle.
func (g *Graph) Cycles() bool {
	return slices.ContainsFunc(g.Edges, func(e Edge) bool { return e.Cycle })
}

// Missing returns the nodes that requisites name and that are not there.
func (g *Graph) Missing() []Node {
	var out []Node
	for _, n := range g.Nodes {
		if n.Missing {
			out = append(out, n)
		}
	}
	return out
}

// markCycles finds the strongly connected parts of the graph, by Kosaraju's
// algorithm: the edges within one are those of circles.
func (g *Graph) markCycles() {
	to, from := make([][]int, len(g.Nodes)), make([][]int, len(g.Nodes))
	for _, e := range g.Edges {
		to[e.From] = append(to[e.From], e.To)
		from[e.To] = append(from[e.To], e.From)
	}
	var order []int
	seen := make([]bool, len(g.Nodes))
	for n := range g.Nodes {
		visit(to, n, seen, func(n int) { order = append(order, n) })
	}
	part := make([]int, len(g.Nodes))
	clear(seen)
	for i, n := range slices.Backward(order) {
		visit(from, n, seen, func(n int) { part[n] = i })
	}
	for i := range g.Edges {
		e := &g.Edges[i]
		if part[e.From] == part[e.To] {
			e.Cycle = true
			g.Nodes[e.From].Cycle, g.Nodes[e.To].Cycle = true, true
		}
	}
}

// visit calls done for each node that can be reached from a node and was not seen,
// a node after those that it leads to. It does not recur: graphs may be long.
func visit(out [][]int, from int, seen []bool, done func(int)) {
	if seen[from] {
		return
	}
	type frame struct{ node, next int }
	seen[from] = true
	for work := []frame{{node: from}}; len(work) > 0; {
		f := &work[len(work)-1]
		if f.next == len(out[f.node]) {
			done(f.node)
			work = work[:len(work)-1]
			continue
		}
		n := out[f.node][f.next]
		f.next++
		if !seen[n] {
			seen[n] = true
			work = append(work, frame{node: n})
		}
	}
}
