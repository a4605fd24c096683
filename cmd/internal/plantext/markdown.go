package plantext

import (
	"cmp"
	"fmt"
	"html"
	"strconv"
	"strings"
	"unicode/utf8"

	"brine/internal/core/printable"
	"brine/internal/view/plan"
)

// MaxMarkdown is how many bytes a plan has as Markdown: a comment of GitHub may have
// 65,536 characters, and one of GitLab more.
const MaxMarkdown = 60_000

// Bounds of its parts, in bytes. What does not fit into a part is counted, and named as
// far as mdNames lets it. The states get what the other parts leave.
const (
	mdTable  = 7_000
	mdList   = 3_500 // each
	mdWords  = 3_000
	mdNames  = 600
	mdAround = 600 // what a part says of what is left out, and its head

	mdBlock  = 4_000 // the differences of one state
	mdInline = 300   // one name or reason
)

// Markdown returns a plan as a comment of a merge request. Text of others is in it as
// code, or in a block that nothing in it ends.
func Markdown(pl *plan.Plan) string {
	m := &markdown{}
	m.printf("<!-- brine plan -->\n## Plan: %s\n\n%s.\n\n", code(commandText(pl.Command)), bold(Totals(pl.Totals)))
	switch {
	case pl.Partial():
		m.printf("The plan is incomplete: made with `--without-unreachable`, it is applied to the rest.\n\n")
	case !pl.Complete():
		m.printf("The plan is incomplete and cannot be applied.\n\n")
	}
	v := &mdView{facts: map[string]*mdFacts{}}
	v.steps("", pl.Steps)
	m.list("### Not reached, or without a plan\n\n", "hosts", v.faults, mdList)
	for _, e := range Verdicts {
		if e.Effect != plan.Change && e.Effect != "" {
			m.list("### "+strings.ToUpper(e.Text[:1])+e.Text[1:]+"\n\n", "entries", v.entries(e.Effect), mdList)
		}
	}
	m.list("### Packages that are removed or become older\n\n", "packages", v.entries(mdLosses), mdList)
	m.list("### Notes\n\n", "notes", v.entries(mdNotes), mdList)
	head := "| Step | Hosts | Would change | Not known yet | May fail | Would fail | Nothing to change | Without a plan |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
	m.list("### Steps\n\n"+head, "steps", v.rows, mdTable)
	words := &markdown{}
	words.list("", "words that differ", v.words, mdWords)
	m.list("### States\n\n", "states", v.details, MaxMarkdown-m.Len()-words.Len()-mdNames-mdAround)
	m.WriteString(words.String())
	return m.String()
}

func bold(s string) string { return "**" + s + "**" }

// commandText is what was planned, without arguments that may be long.
func commandText(c plan.Command) string {
	words := []string{}
	if c.Target != "" {
		words = append(words, c.Target)
	}
	for i, a := range c.Args {
		if i < 2 && !strings.Contains(a, "=") {
			words = append(words, a)
		}
	}
	return strings.Join(words, " ")
}

type markdown struct{ strings.Builder }

func (m *markdown) printf(format string, args ...any) { fmt.Fprintf(m, format, args...) }

// An mdEntry is one entry of a part. Its name stands for it where it does not fit.
type mdEntry struct{ name, text string }

// list writes the entries of a part that fit into so many bytes; the others are counted
// and named.
func (m *markdown) list(head, what string, entries []mdEntry, room int) {
	if len(entries) == 0 {
		return
	}
	m.WriteString(head)
	var left []string
	for _, e := range entries {
		if len(e.text) > room {
			left = append(left, e.name)
			continue
		}
		room -= len(e.text)
		m.WriteString(e.text)
	}
	m.WriteByte('\n')
	if len(left) == 0 {
		return
	}
	m.printf("%s of %d %s not shown, because the comment would be too long:", bold(strconv.Itoa(len(left))), len(entries), what)
	size := 0
	for i, name := range left {
		if size += len(name) + 2; size > mdNames {
			m.printf(" and %d more.", len(left)-i)
			break
		}
		m.printf(" %s%s", name, map[bool]string{true: ".", false: ","}[i == len(left)-1])
	}
	m.printf(" `brine plan` without `--out=markdown` shows all.\n\n")
}

// Kinds of facts beside effects.
const (
	mdLosses = "losses"
	mdNotes  = "notes"
)

// An mdView is the parts of a plan.
type mdView struct {
	faults, rows, details, words []mdEntry
	facts                        map[string]*mdFacts // by kind
	c                            colours
}

// mdFacts are facts with the hosts that they are true of.
type mdFacts struct {
	order []mdFact
	hosts map[mdFact][]string
}

type mdFact struct{ title, why string }

func (v *mdView) add(kind, title, why string, hosts ...string) {
	if v.facts[kind] == nil {
		v.facts[kind] = &mdFacts{hosts: map[mdFact][]string{}}
	}
	f, k := v.facts[kind], mdFact{title, why}
	if _, had := f.hosts[k]; !had {
		f.order = append(f.order, k)
	}
	f.hosts[k] = append(f.hosts[k], hosts...)
}

// entries returns the facts of a kind.
func (v *mdView) entries(kind string) []mdEntry {
	if v.facts[kind] == nil {
		return nil
	}
	var out []mdEntry
	for _, k := range v.facts[kind].order {
		text := "- " + code(k.title)
		if hosts := v.facts[kind].hosts[k]; len(hosts) > 0 {
			text += " on " + code(Hosts(hosts))
		}
		if k.why != "" {
			text += ": " + code(k.why)
		}
		out = append(out, mdEntry{code(k.title), text + "\n"})
	}
	return out
}

func (v *mdView) steps(number string, steps []*plan.Step) {
	for i, s := range steps {
		n := fmt.Sprintf("%s%d", number, i+1)
		v.step(n, s)
		v.steps(n+".", s.Steps)
	}
}

func (v *mdView) step(number string, s *plan.Step) {
	title := number + ". " + s.ID
	if s.Name != "" && s.Name != s.ID {
		title += " (" + s.Name + ")"
	}
	v.row(title, s)
	switch {
	case s.Unknown != "":
		v.add(plan.Unknown, title, s.Unknown, s.Targets...)
	case s.Skipped != "":
		v.add(mdNotes, title, "would not run: "+s.Skipped)
	case len(s.After) > 0:
		v.add(mdNotes, title, "may change once these steps ran: "+strings.Join(s.After, ", "))
	}
	if s.Subset > 0 {
		v.add(mdNotes, title, fmt.Sprintf("%d of its targets are chosen at random when it runs", s.Subset))
	}
	if len(s.Waves) > 0 {
		v.add(mdNotes, title, fmt.Sprintf("goes in %d waves", len(s.Waves)))
	}
	for _, f := range joinFaults(s.Faults) {
		v.faults = append(v.faults, mdEntry{code(f.who), fmt.Sprintf("- %s in step %s: %s\n", code(f.who), code(title), code(f.reason))})
	}
	bodies := map[*plan.State]*body{}
	hosts := 0
	for _, g := range s.Groups {
		hosts += len(g.Hosts)
		for _, st := range g.States {
			bodies[st] = v.c.state(st)
			v.known(number, g, st)
		}
	}
	w := newWords(bodies)
	for _, j := range plan.Joints(s.Groups) {
		for _, a := range share(j, bodies, w) {
			v.detail(number, j, a, hosts)
		}
	}
	for _, col := range w.columns {
		name := fmt.Sprintf("{%d} of step %s", col.number, number)
		text := "- " + code(name) + " is the ID of each host\n"
		if !col.ids {
			parts := []string{}
			for _, x := range col.values {
				parts = append(parts, fmt.Sprintf("  - %s on %s\n", code(x.text), code(Hosts(x.hosts))))
			}
			text = "- " + code(name) + " is\n" + strings.Join(parts, "")
		}
		v.words = append(v.words, mdEntry{code(name), text})
	}
}

// row is a step in the table: how many of its hosts would do what.
func (v *mdView) row(title string, s *plan.Step) {
	n := map[string]int{}
	for verdict, ids := range plan.Verdicts(s.Groups) {
		n[verdict] = len(ids)
	}
	faults := 0
	for _, f := range s.Faults {
		if !f.Unmatched {
			faults++
		}
	}
	if s.Unknown != "" {
		n[plan.Unknown] = max(1, len(s.Targets))
	}
	text := fmt.Sprintf("| %s | %d | %d | %d | %d | %d | %d | %d |\n", cell(title), len(s.Targets), n[plan.Change], n[plan.Unknown], n[plan.MayFail], n[plan.Fail], n[""], faults)
	v.rows = append(v.rows, mdEntry{code(title), text})
}

// known takes what of a state has to be seen first.
func (v *mdView) known(number string, g *plan.Group, st *plan.State) {
	if st.Effect != plan.Change {
		v.add(st.Effect, number+". "+st.ID+" ("+st.Fun+")", cmp.Or(st.Unknown, st.Comment, "no reason was given"), g.Hosts...)
	}
	for _, p := range st.Packages {
		if p.Loses() {
			v.add(mdLosses, packageText(p), "", g.Hosts...)
		}
	}
}

// detail adds a state with its differences, folded away.
func (v *mdView) detail(number string, j *plan.Joint, s shared, all int) {
	first := number + ". " + strings.TrimSpace(s.lines[0].text)
	where := Hosts(s.hosts)
	if len(s.hosts) < all {
		where = someHosts(s.hosts, all)
	}
	var text strings.Builder
	lang := "text"
	for _, p := range j.Parts {
		if p.State.Diff != "" || len(p.State.Files) > 0 {
			lang = "diff"
		}
	}
	for _, l := range s.lines[1:] {
		text.WriteString(l.text + "\n")
	}
	name := number + ". " + j.ID
	v.details = append(v.details, mdEntry{code(name), fmt.Sprintf("<details><summary><code>%s</code> %s: <code>%s</code></summary>\n\n%s</details>\n\n",
		htmlText(first), html.EscapeString(effectText(j.Effect)), htmlText(where), block(lang, text.String()))})
}

// effectText is an effect in words.
func effectText(effect string) string {
	for _, v := range Verdicts {
		if v.Effect == effect {
			return v.Text
		}
	}
	return effect
}

// block is text in a fence that nothing in it ends.
func block(lang, s string) string {
	if s == "" {
		return ""
	}
	more := ""
	if cut := cutAt(s, mdBlock); len(cut) < len(s) {
		if end := strings.LastIndexByte(cut, '\n'); end >= 0 {
			cut = cut[:end]
		}
		more = fmt.Sprintf("%d more bytes of this are not shown, because the comment would be too long.\n\n", len(s)-len(cut))
		s = cut + "\n"
	}
	s = ticks(s)
	fence := strings.Repeat("`", max(3, longestRun(s)+1))
	return fence + lang + "\n" + s + fence + "\n\n" + more
}

// cutAt returns the first bytes of a text, whole characters.
func cutAt(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

// inline is text on one line, of bounded length: what is cut is counted.
func inline(s string) string {
	s = ticks(printable.Line(oneLine(s)))
	if cut := cutAt(s, mdInline); len(cut) < len(s) {
		return fmt.Sprintf("%s... (%d more bytes)", cut, len(s)-len(cut))
	}
	return s
}

// maxTicks is the longest run of backticks that stays as it is: renderers do not know a
// longer fence than some hundred, or than 80 within a line.
const maxTicks = 16

// ticks is text whose backticks are written out where there are too many in a row.
func ticks(s string) string {
	if longestRun(s) > maxTicks {
		return strings.ReplaceAll(s, "`", `\x60`)
	}
	return s
}

// htmlText is inline text within HTML.
func htmlText(s string) string { return html.EscapeString(inline(s)) }

// code is inline text as code that nothing in it ends.
func code(s string) string {
	s = inline(s)
	if s == "" {
		return ""
	}
	fence := strings.Repeat("`", longestRun(s)+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}

// cell is code in a table. A pipe, which would end the cell in code as well, is
// written out.
func cell(s string) string { return strings.ReplaceAll(code(s), "|", `\x7c`) }

// longestRun is the length of the longest run of backticks.
func longestRun(s string) int {
	longest, run := 0, 0
	for _, c := range s {
		if c != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}
