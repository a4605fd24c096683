package report

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	_ "embed" // the page's parts
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"sort"
	"strconv"
	"strings"
	"time"
)

//go:embed head.html
var pageHead string

//go:embed results.html
var pageResults string

//go:embed page.css
var pageCSS string

//go:embed page.js
var pageJS string

// maxBars is how many bars the timeline has for the hosts of one step: those
// that took longest.
const maxBars = 40

// maxNodes and maxEdges limit the graph of requisites: a larger one is
// unreadable.
const (
	maxNodes = 300
	maxEdges = 1000
)

// maxFailures is how many groups of failures the page shows as text; the table
// has all.
const maxFailures = 200

// HTML writes one page that needs no network: a summary, failures (equal ones of
// several hosts together), a timeline of steps and hosts, the graph of requisites,
// and all results to search and filter. Its policy lets no other script than its own run.
//
// It is written without html/template: that library finds methods by name at run
// time, so the linker has to keep every method of the program, 8.5 MB of it.
func HTML(w io.Writer, r *Run) error {
	data, err := json.Marshal(newTable(r)) // escapes <, > and &
	if err != nil {
		return err
	}
	p := &page{b: bufio.NewWriter(w)}
	p.head(r)
	p.totals(r)
	p.failures(r)
	p.timeline(r)
	if err := p.graph(r); err != nil {
		return err
	}
	p.markup(pageResults)
	p.markup(`<script type="application/json" id="data">`)
	p.markup(string(data))
	p.markup("</script>\n<script>" + pageJS + "</script>\n</body>\n</html>\n")
	return p.b.Flush()
}

// A page is written from markup of our own and from text, which is escaped. The
// writer keeps the first error.
type page struct{ b *bufio.Writer }

// markup writes our own markup.
func (p *page) markup(s string) { _, _ = p.b.WriteString(s) }

// put writes markup in which each % is replaced by the text of an argument,
// escaped for elements and quoted attributes.
func (p *page) put(markup string, args ...string) {
	for _, arg := range args {
		before, after, _ := strings.Cut(markup, "%")
		p.markup(before)
		p.markup(html.EscapeString(strings.ReplaceAll(strings.ToValidUTF8(arg, "\uFFFD"), "\x00", "\uFFFD")))
		markup = after
	}
	p.markup(markup)
}

func (p *page) head(r *Run) {
	hash := sha256.Sum256([]byte(pageJS))
	verdict, class := "Succeeded", "ok"
	if r.Failed() {
		verdict, class = "Failed", "failed"
	}
	command := cmp.Or(r.command(), "run")
	p.put(pageHead, "sha256-"+base64.StdEncoding.EncodeToString(hash[:]), verdict, command)
	p.markup("<style>" + pageCSS + "</style>\n</head>\n<body>\n<header>\n")
	p.put(`<h1><span class="badge %">%</span> <code>%</code></h1>`+"\n<p>%.</p>\n<dl class=\"facts\">\n", class, verdict, command, r.sentence())
	for _, x := range [...][2]string{{"Job", r.JID}, {"Target", r.Tgt}} {
		if x[1] != "" {
			p.put("<div><dt>%</dt><dd><code>%</code></dd></div>\n", x[0], x[1])
		}
	}
	for _, x := range [...]struct {
		name string
		at   time.Time
	}{{"Started", r.Start}, {"Ended", r.End}} {
		if s := stamp(x.at); s != "" {
			p.put(`<div><dt>%</dt><dd><time datetime="%">%</time></dd></div>`+"\n", x.name, s, s)
		}
	}
	if r.Version != "" {
		p.put("<div><dt>brine</dt><dd>%</dd></div>\n", r.Version)
	}
	p.markup("</dl>\n</header>\n<main>\n")
}

func (p *page) totals(r *Run) {
	t := r.Total()
	p.markup(`<ul class="tiles" aria-label="Totals">` + "\n")
	for _, x := range [...]struct {
		n           int
		class, noun string
	}{{len(r.Hosts()), "", "hosts"}, {t.All(), "", "results"}, {t.Failed(), "failed", "failed"}, {t.ByStatus[NotRun], "not_run", "not run"}, {t.ByStatus[Changed], "changed", "changed"}, {t.ByStatus[Pending], "pending", "would change"}} {
		class := x.class
		if x.n == 0 {
			if class == "pending" {
				continue
			}
			class = ""
		}
		p.put(`<li class="%"><b>%</b> %</li>`+"\n", class, strconv.Itoa(x.n), x.noun)
	}
	p.put("<li><b>%</b> duration</li>\n</ul>\n", human(r.Length()))
}

func (p *page) failures(r *Run) {
	groups := r.failures()
	if len(groups) == 0 {
		return
	}
	p.markup(`<section aria-labelledby="failures">` + "\n" + `<h2 id="failures">Failures</h2>` + "\n")
	left := max(0, len(groups)-maxFailures)
	for _, g := range groups[:len(groups)-left] {
		p.put(`<details open class="failure"><summary><code>%</code> <span class="fun">%</span> <span class="hosts">%: %</span></summary>`,
			join(g.Step, g.Case.Title()), g.Case.Fun, plural(len(g.Hosts), "host"), names(g.Hosts, 12))
		p.put("<pre>%</pre>", g.Case.why())
		if text := unmetText(g.Case); text != "" {
			p.put("<p>%.</p>", text)
		}
		if all := r.all(g); all != "" {
			p.put("<p>All of it: <code>%</code></p>", all)
		}
		p.markup("</details>\n")
	}
	if left > 0 {
		p.put("<p>% more are in the results.</p>\n", strconv.Itoa(left))
	}
	p.markup("</section>\n")
}

func (p *page) timeline(r *Run) {
	bars := r.timeline()
	if len(bars) == 0 {
		return
	}
	p.markup(`<section aria-labelledby="timeline">` + "\n" + `<h2 id="timeline">Timeline</h2>` + "\n" + `<div class="gantt" role="list">` + "\n")
	for _, b := range bars {
		depth := strconv.Itoa(b.Depth)
		if b.More > 0 {
			p.put(`<div class="row d%" role="listitem"><span class="label more">% shorter ones</span></div>`+"\n", depth, strconv.Itoa(b.More))
			continue
		}
		p.put(`<div class="row d%" role="listitem" title="%"><span class="label">%</span>`, depth, b.Title, b.Label)
		// The figures are formatted here: put would take their per cent signs
		// for its placeholders.
		p.markup(fmt.Sprintf(`<span class="track"><i class="%s" style="left:%.2f%%;width:%.2f%%"></i></span>`, b.Status, b.Left, b.Width))
		p.put(`<span class="time">%</span></div>`+"\n", human(b.Length))
	}
	p.markup("</div>\n</section>\n")
}

// graph draws the requisites, each state in the colour of its result. States
// without requisites say nothing there.
func (p *page) graph(r *Run) error {
	if r.Graph == nil || len(r.Graph.Edges) == 0 {
		return nil
	}
	g, alone := r.Graph.Linked()
	p.markup(`<section aria-labelledby="graph">` + "\n" + `<h2 id="graph">Requisites</h2>` + "\n")
	defer p.markup("</section>\n")
	if len(g.Nodes) > maxNodes || len(g.Edges) > maxEdges {
		p.put("<p>The graph is too large for this page: % with %. <code>brine graph -o graph.svg</code> draws it.</p>\n",
			plural(len(g.Nodes), "state"), plural(len(g.Edges), "requisite"))
		return nil
	}
	ended := map[[2]string]Status{}
	for _, s := range r.Suites {
		for _, c := range s.Cases {
			if key := [2]string{c.ID, c.Fun}; s.Step == "" {
				ended[key] = max(ended[key], c.Status)
			}
		}
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if st, ok := ended[[2]string{n.ID, n.Fun}]; ok {
			n.Class = st.String()
		}
	}
	p.markup(`<div class="scroll graph" tabindex="0">`)
	if err := g.SVG(p.b); err != nil {
		return err
	}
	p.markup("</div>\n")
	if alone > 0 {
		p.put("<p class=\"dim\">Not shown: % without requisites.</p>\n", plural(alone, "state"))
	}
	return nil
}

// A bar is a row of the timeline.
type bar struct {
	Label  string
	Title  string
	Depth  int
	Status Status
	Left   float64 // percent of the run
	Width  float64
	Length time.Duration
	More   int // so many rows are left out here; the rest is empty then
}

// timeline returns a bar for each step and its slowest hosts; of a run without
// steps for each host, and for each state of a single one.
func (r *Run) timeline() []bar {
	total := r.Length()
	for _, s := range r.Suites {
		total = max(total, s.Begin+s.Length)
	}
	if total <= 0 {
		return nil
	}
	mk := func(label string, depth int, begin, length time.Duration, st Status) bar {
		return bar{
			Label: label, Title: label + ": " + human(length), Depth: depth, Status: st, Length: length,
			Left: 100 * float64(begin) / float64(total), Width: max(0.2, 100*float64(length)/float64(total)),
		}
	}
	hostsOf := map[string][]*Suite{}
	var outer []*Suite
	for _, s := range r.Suites {
		if s.Step == "" {
			outer = append(outer, s)
			continue
		}
		hostsOf[s.Step] = append(hostsOf[s.Step], s)
	}
	var bars []bar
	hosts := func(list []*Suite, depth int) {
		slow := append([]*Suite(nil), list...)
		sort.SliceStable(slow, func(i, j int) bool { return slow[i].Length > slow[j].Length })
		more := max(0, len(slow)-maxBars)
		for _, s := range slow[:len(slow)-more] {
			bars = append(bars, mk(s.Host, depth, s.Begin, s.Length, s.worst()))
		}
		if more > 0 {
			bars = append(bars, bar{Depth: depth, More: more})
		}
	}
	if len(outer) > 1 || len(outer) == 1 && len(hostsOf) == 0 && len(outer[0].Cases) == 0 {
		hosts(outer, 0)
		return bars
	}
	for _, s := range outer {
		slow := map[*Case]bool{}
		byLength := append([]*Case(nil), s.Cases...)
		sort.SliceStable(byLength, func(i, j int) bool { return byLength[i].Length > byLength[j].Length })
		for i, c := range byLength {
			slow[c] = i < 5*maxBars || c.orchestrates
		}
		more := 0
		for _, c := range s.Cases {
			if !slow[c] {
				more++
				continue
			}
			bars = append(bars, mk(c.Title(), 0, s.Begin+c.Begin, c.Length, c.Status))
			if c.orchestrates {
				hosts(hostsOf[join(s.Step, c.ID)], 1)
			}
		}
		if more > 0 {
			bars = append(bars, bar{More: more})
		}
	}
	return bars
}

// worst is the worst status of a suite's results.
func (s *Suite) worst() Status {
	worst := OK
	for st, n := range s.Count.ByStatus {
		if n > 0 && Status(st) != Skipped {
			worst = max(worst, Status(st))
		}
	}
	return worst
}

// A table is all results as the page's script reads them: texts are numbers of
// Strings, since most of a thousand hosts say the same.
type table struct {
	Strings []string `json:"strings"`
	Suites  [][2]int `json:"suites"` // step, host
	Rows    [][]any  `json:"rows"`   // suite, id, function, SLS, status, comment, diff, changes, begin and duration in ms

	seen map[string]int
}

func newTable(r *Run) *table {
	t := &table{seen: map[string]int{}, Suites: [][2]int{}, Rows: [][]any{}}
	t.str("")
	for i, s := range r.Suites {
		t.Suites = append(t.Suites, [2]int{t.str(s.Step), t.str(s.Host)})
		for _, c := range s.Cases {
			diff, rest := details(c)
			comment := c.Comment
			if c.Status == Failed {
				comment = c.why()
			}
			rest = written(rest)
			t.Rows = append(t.Rows, []any{
				i, t.str(c.Title()), t.str(c.Fun), t.str(c.SLS), int(c.Status), t.str(comment), t.str(diff), t.str(rest),
				milliseconds(s.Begin + c.Begin), milliseconds(c.Length),
			})
		}
	}
	return t
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()/10) / 100 }

func (t *table) str(s string) int {
	if i, ok := t.seen[s]; ok {
		return i
	}
	s2 := strings.ToValidUTF8(s, "\uFFFD")
	t.seen[s] = len(t.Strings)
	t.Strings = append(t.Strings, s2)
	return len(t.Strings) - 1
}
