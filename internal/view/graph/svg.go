package graph

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Measures of the drawing, in pixels.
const (
	boxHeight = 40
	charWidth = 7 // of a letter of 12 px, about
	boxPad    = 12
	gapX      = 24
	gapY      = 56
	margin    = 16
	maxLabel  = 48 // letters
	maxSpan   = 32 // layers: an edge over more is drawn straight
)

// A spot is where a node, or an edge that passes a layer, is drawn.
type spot struct {
	node  int // -1: an edge passes
	layer int
	x, w  float64 // left side and width
	order float64
}

// A layout has the nodes in layers: each is below all that it requires.
type layout struct {
	g      *Graph
	spots  []spot
	layers [][]int // spots, from left to right
	paths  [][]int // of each edge: spots from the upper one to the lower one
	turned []bool  // edges whose arrow points up
	width  float64
}

// style is the style sheet of a picture that stands alone.
const style = `<style>
.requisites text { font: 12px ui-sans-serif, system-ui, sans-serif; fill: #1f2328; text-anchor: middle }
.requisites .fun, .requisites .kind { font-size: 11px; fill: #59636e }
.requisites .kind { paint-order: stroke; stroke: #fff; stroke-width: 4px }
.requisites rect { fill: #f6f8fa; stroke: #59636e; rx: 6 }
.requisites path { fill: none; stroke: #59636e }
.requisites .tip { fill: #768390; stroke: none }
.requisites .bad { stroke: #d1242f }
.requisites .gone { stroke: #d1242f; stroke-dasharray: 4 }
@media screen and (prefers-color-scheme: dark) {
  .requisites { background: #0d1117 } .requisites text { fill: #e6edf3 } .requisites .kind { paint-order: stroke; stroke: #fff; stroke-width: 4px }
.requisites rect { fill: #161b22 }
  .requisites .fun, .requisites .kind { fill: #9198a1 } .requisites .kind { stroke: #0d1117 } .requisites path { stroke: #9198a1 }
}
</style>
`

// SVG draws the graph, with what is required above what requires it. Edges that
// are a part of a cycle, and what is not there, are red.
func (g *Graph) SVG(w io.Writer) error {
	return g.write(w, `role="img" aria-label="Requisites"`, style)
}

// Inline is SVG as part of a page, which has a style sheet, and whose reader follows the
// links.
func (g *Graph) Inline(w io.Writer) error {
	return g.write(w, `role="group" aria-label="Steps, and what they require"`, "")
}

func (g *Graph) write(w io.Writer, role, style string) error {
	l := g.arrange()
	height := float64(len(l.layers))*(boxHeight+gapY) - gapY + 2*margin
	if len(l.layers) == 0 {
		height = 2 * margin
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" class="requisites" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" %s>`+"\n",
		l.width+2*margin, height, l.width+2*margin, height, role)
	b.WriteString(style + `<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" class="tip"/></marker></defs>
`)
	for i, e := range g.Edges {
		l.drawEdge(&b, e, l.paths[i], l.turned[i])
	}
	for i := range l.spots {
		if l.spots[i].node >= 0 {
			l.drawNode(&b, &l.spots[i])
		}
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func (l *layout) y(s *spot) float64 { return margin + float64(s.layer)*(boxHeight+gapY) }

func (l *layout) drawNode(b *strings.Builder, s *spot) {
	n := &l.g.Nodes[s.node]
	class := ""
	switch {
	case n.Cycle:
		class = ` class="bad"`
	case n.Missing:
		class = ` class="gone"`
	}
	first, second := n.label()
	x, y := s.x+margin, l.y(s)
	group := ""
	if n.Class != "" {
		group = ` class="` + text(n.Class) + `"`
	}
	if n.Link != "" {
		fmt.Fprintf(b, `<a href="%s">`, text(n.Link))
	}
	fmt.Fprintf(b, `<g`+group+`><title>%s</title><rect x="%.1f" y="%.1f" width="%.1f" height="%d"%s/>`, text(n.title()), x, y, s.w, boxHeight, class)
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f">%s</text><text class="fun" x="%.1f" y="%.1f">%s</text></g>`+"\n", x+s.w/2, y+17, text(n.Mark+short(first)), x+s.w/2, y+32, text(short(second)))
	if n.Link != "" {
		b.WriteString("</a>\n")
	}
}

// title is all that is known of a node.
func (n *Node) title() string {
	t := n.Fun + ": " + n.ID
	if n.Name != "" {
		t += ", name " + n.Name
	}
	if n.SLS != "" {
		t += ", in " + n.SLS
	}
	return t
}

func (l *layout) drawEdge(b *strings.Builder, e Edge, path []int, turned bool) {
	class, dash, end := "", "", "end"
	if turned {
		end = "start"
	}
	if e.Cycle {
		class = ` class="bad"`
	}
	if e.Kind != "require" {
		dash = ` stroke-dasharray="6 3"`
	}
	middle := func(s *spot) float64 { return s.x + s.w/2 + margin }
	first := &l.spots[path[0]]
	x, y := middle(first), l.y(first)+boxHeight
	fmt.Fprintf(b, `<path%s%s marker-%s="url(#arrow)" d="M%.1f %.1f`, class, dash, end, x, y)
	for _, i := range path[1:] {
		s := &l.spots[i]
		nx, ny := middle(s), l.y(s)
		half := (ny - y) / 2
		fmt.Fprintf(b, "C%.1f %.1f %.1f %.1f %.1f %.1f", x, y+half, nx, ny-half, nx, ny)
		if s.node < 0 {
			ny += boxHeight
			fmt.Fprintf(b, "L%.1f %.1f", nx, ny)
		}
		x, y = nx, ny
	}
	b.WriteString(`"/>`)
	if e.Kind != "require" {
		s := &l.spots[path[1]]
		fmt.Fprintf(b, `<text class="kind" x="%.1f" y="%.1f">%s</text>`, (middle(first)+middle(s))/2, l.y(first)+boxHeight+gapY/2, text(e.Kind))
	}
	b.WriteByte('\n')
}

// text is text in XML, without what no XML may have.
func text(s string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if r < ' ' || r == utf8.RuneError || r >= 0xfffe && r <= 0xffff {
			return ' '
		}
		return r
	}, s))
}

func short(s string) string {
	if r := []rune(s); len(r) > maxLabel {
		return string(r[:maxLabel-1]) + "…"
	}
	return s
}

// arrange places the nodes: in layers by the longest path, ordered so that few
// edges cross. Edges that would close a circle are turned round for this.
func (g *Graph) arrange() *layout {
	l := &layout{g: g}
	turned := g.acyclic()
	l.turned = turned
	layer := g.layersOf(turned)
	for i := range g.Nodes {
		first, second := g.Nodes[i].label()
		letters := max(utf8.RuneCountInString(short(first)), utf8.RuneCountInString(short(second)))
		l.place(spot{node: i, layer: layer[i], w: float64(letters*charWidth + 2*boxPad)})
	}
	for i, e := range g.Edges {
		up, down := e.To, e.From
		if turned[i] {
			up, down = down, up
		}
		path := []int{up}
		for k := layer[up] + 1; k < layer[down] && layer[down]-layer[up] <= maxSpan; k++ {
			path = append(path, l.place(spot{node: -1, layer: k}))
		}
		path = append(path, down)
		l.paths = append(l.paths, path)
	}
	l.order()
	l.spread()
	return l
}

func (l *layout) place(s spot) int {
	i := len(l.spots)
	for len(l.layers) <= s.layer {
		l.layers = append(l.layers, nil)
	}
	l.spots = append(l.spots, s)
	l.layers[s.layer] = append(l.layers[s.layer], i)
	return i
}

// acyclic returns which edges are turned round so that no circle is left.
func (g *Graph) acyclic() []bool {
	type edge struct{ to, i int }
	out := make([][]edge, len(g.Nodes))
	for i, e := range g.Edges {
		out[e.To] = append(out[e.To], edge{e.From, i})
	}
	turned := make([]bool, len(g.Edges))
	state := make([]byte, len(g.Nodes)) // 1: on the way here, 2: done
	type frame struct{ node, next int }
	for root := range g.Nodes {
		if state[root] != 0 {
			continue
		}
		work := []frame{{node: root}}
		state[root] = 1
		for len(work) > 0 {
			f := &work[len(work)-1]
			if f.next == len(out[f.node]) {
				state[f.node] = 2
				work = work[:len(work)-1]
				continue
			}
			e := out[f.node][f.next]
			f.next++
			switch state[e.to] {
			case 0:
				state[e.to] = 1
				work = append(work, frame{node: e.to})
			case 1:
				turned[e.i] = true
			}
		}
	}
	return turned
}

// layersOf returns the layer of each node: one below the lowest that it requires.
func (g *Graph) layersOf(turned []bool) []int {
	out := make([][]int, len(g.Nodes))
	waits := make([]int, len(g.Nodes))
	for i, e := range g.Edges {
		up, down := e.To, e.From
		if turned[i] {
			up, down = down, up
		}
		if up != down {
			out[up] = append(out[up], down)
			waits[down]++
		}
	}
	layer := make([]int, len(g.Nodes))
	var ready []int
	for i, n := range waits {
		if n == 0 {
			ready = append(ready, i)
		}
	}
	for len(ready) > 0 {
		n := ready[0]
		ready = ready[1:]
		for _, to := range out[n] {
			layer[to] = max(layer[to], layer[n]+1)
			if waits[to]--; waits[to] == 0 {
				ready = append(ready, to)
			}
		}
	}
	return layer
}

// sweeps is how often the layers are ordered by their neighbours.
const sweeps = 8

// order sorts each layer by the middle of the neighbours in the layer before.
func (l *layout) order() {
	above, below := make([][]int, len(l.spots)), make([][]int, len(l.spots))
	for _, p := range l.paths {
		for i := range len(p) - 1 {
			if p[i] != p[i+1] {
				above[p[i+1]] = append(above[p[i+1]], p[i])
				below[p[i]] = append(below[p[i]], p[i+1])
			}
		}
	}
	for _, ids := range l.layers {
		for k, i := range ids {
			l.spots[i].order = float64(k)
		}
	}
	sortLayer := func(ids []int, near [][]int) {
		at := make(map[int]float64, len(ids))
		for k, i := range ids {
			at[i] = float64(k)
			if len(near[i]) == 0 {
				continue
			}
			sum := 0.0
			for _, j := range near[i] {
				sum += l.spots[j].order
			}
			at[i] = sum / float64(len(near[i]))
		}
		slices.SortStableFunc(ids, func(a, b int) int { return cmp.Compare(at[a], at[b]) })
		for k, i := range ids {
			l.spots[i].order = float64(k)
		}
	}
	for n := range sweeps {
		if n%2 == 0 {
			for k := 1; k < len(l.layers); k++ {
				sortLayer(l.layers[k], above)
			}
			continue
		}
		for k := len(l.layers) - 2; k >= 0; k-- {
			sortLayer(l.layers[k], below)
		}
	}
}

// spread gives each spot its place, and centers the layers.
func (l *layout) spread() {
	widths := make([]float64, len(l.layers))
	for k, ids := range l.layers {
		x := 0.0
		for _, i := range ids {
			l.spots[i].x = x
			x += l.spots[i].w + gapX
		}
		widths[k] = max(x-gapX, 0)
		l.width = max(l.width, widths[k])
	}
	for k, ids := range l.layers {
		for _, i := range ids {
			l.spots[i].x += (l.width - widths[k]) / 2
		}
	}
}
