package trial

import (
	"crypto/sha256"
	_ "embed"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"
	"time"

	"brine/internal/core/printable"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/view/sarif"
)

// A Run says when and by what the tests were run.
type Run struct {
	Version    string
	Start, End time.Time
}

// rules are the kinds of faults, by the name of their check.
var rules = []sarif.Rule{
	{ID: "again", Doc: "A state changes something each time it is applied.", Why: "A run that has nothing to do must change nothing."},
	{ID: "apply", Doc: "A state fails on a fresh machine.", Why: "New hosts are not as the tree says."},
	{ID: "clean", Doc: "Something is left after a case was undone.", Why: "The states that undo it must undo all of it."},
	{ID: "compile", Doc: "A case does not compile.", Why: "None of its states runs."},
	{ID: coverageRule, Doc: "No case touches a state, a branch of Jinja or a key of the pillar.", Why: "Nothing tests it."},
	{ID: "expect", Doc: "A machine is not as the case expects.", Why: "The states lack something, or the case is wrong."},
	{ID: "golden", Doc: "What a case compiles to is not as in its golden file.", Why: "If the change is meant, write the file with --update."},
	{ID: "machine", Doc: "A machine could not be made or removed.", Why: "Nothing was tested on it."},
	{ID: "packages", Doc: "The packages of a case cannot be installed.", Why: "Nothing was tested."},
	{ID: "plan", Doc: "A run with test=True has something left to do.", Why: "A plan must be empty after it was applied."},
	{ID: "prepare", Doc: "What is needed before a test cannot be applied.", Why: "Nothing was tested."},
	{ID: "snapshot", Doc: "What tests share could not be saved.", Why: "Nothing was tested."},
	{ID: "test", Doc: "A run with test=True is not as the real one.", Why: "It must change nothing, and fail only where the real run does."},
}

// rule is the kind of a check, whose name begins with that of a machine where a job has several.
func (r *Result) rule(c Check) string {
	name := c.Name
	for _, n := range r.Case.Nodes {
		if rest, ok := strings.CutPrefix(name, n.Name+": "); ok {
			name = rest
		}
	}
	if slices.ContainsFunc(rules, func(k sarif.Rule) bool { return k.ID == name }) {
		return name
	}
	return "expect"
}

// each calls visit with each failure and with what no case touched, the rule and the place.
func (r *Report) each(visit func(res *Result, rule string, pos source.Pos, title, text string)) {
	for _, res := range r.Results {
		for _, c := range res.Checks {
			if c.Status != Failed {
				continue
			}
			pos := c.Pos
			if pos.File == "" {
				pos = res.Case.Pos
			}
			pos.File = r.Name(pos.File)
			visit(res, res.rule(c), pos, res.Name()+": "+c.Name, strings.TrimSpace(c.Text+"\n"+c.Hint))
		}
	}
	for _, p := range r.Stale {
		visit(nil, "golden", source.Pos{File: r.Name(p), Line: 1, Col: 1}, "golden file", "no case has this golden file: remove it")
	}
	if r.Coverage == nil {
		return
	}
	for _, part := range r.Coverage.parts() {
		for _, p := range part.missing {
			p.Pos.File = r.Name(p.Pos.File)
			visit(nil, coverageRule, p.Pos, part.what, p.Name)
		}
	}
}

// coverageRule is that of what no case touched, which fails nothing.
const coverageRule = "coverage"

// level is how bad what a rule finds is.
func level(rule string) sarif.Level {
	if rule == coverageRule {
		return sarif.Note
	}
	return sarif.Error
}

// SARIF writes the failures as SARIF 2.1.0.
func (r *Report) SARIF(w io.Writer, run Run) error {
	log := &sarif.Log{Tool: "brine test", Version: run.Version, Run: &sarif.Invocation{OK: !r.Failed(), Arguments: []string{"test"}, Start: run.Start, End: run.End}}
	for _, rule := range rules {
		rule.Level = level(rule.ID)
		log.Rules = append(log.Rules, rule)
	}
	r.each(func(_ *Result, rule string, pos source.Pos, title, text string) {
		log.Results = append(log.Results, sarif.Result{Rule: rule, Level: level(rule), Message: title + ": " + printable.Text(text), Pos: pos})
	})
	return log.Write(w)
}

// gitlab writes the failures as GitLab reads the quality of code.
func (r *Report) gitlab(w io.Writer) error {
	list := value.NewList()
	r.each(func(_ *Result, rule string, pos source.Pos, title, text string) {
		// What is the same failure in another pipeline has the same one.
		id := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s", title, pos.File, text))
		severity := "major"
		if rule == coverageRule {
			severity = "info"
		}
		list.Append(value.MapOf("description", title+": "+printable.Text(text), "check_name", "brine test "+rule, "fingerprint", fmt.Sprintf("%x", id),
			"severity", severity, "location", value.MapOf("path", pos.File, "lines", value.MapOf("begin", int64(max(pos.Line, 1))))))
	})
	text, err := value.AppendJSON(nil, list, value.JSONOptions{Indent: 2, Strict: true})
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

//go:embed matrix.css
var matrixStyle string

// HTML writes a page with the matrix of cases and systems, and each check.
func (r *Report) HTML(w io.Writer, run Run) error {
	var b strings.Builder
	esc := func(s string) string { return html.EscapeString(printable.Text(s)) }
	b.WriteString(`<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">` +
		`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"><title>brine test</title><style>` + matrixStyle + "</style></head><body>\n")
	fmt.Fprintf(&b, "<h1>brine test</h1><p>%s; %s, %.1f s, brine %s</p>\n", esc(r.total()), run.Start.UTC().Format("2006-01-02 15:04:05 UTC"), run.End.Sub(run.Start).Seconds(), esc(run.Version))
	var cases, systems []string
	at := map[[2]string]int{}
	for i, res := range r.Results {
		at[[2]string{res.Case.Name, res.System}] = i + 1
		if !slices.Contains(cases, res.Case.Name) {
			cases = append(cases, res.Case.Name)
		}
		if !slices.Contains(systems, res.System) {
			systems = append(systems, res.System)
		}
	}
	b.WriteString(`<table class="matrix"><thead><tr><th scope="col">Case</th>`)
	for _, s := range systems {
		fmt.Fprintf(&b, `<th scope="col">%s</th>`, esc(s))
	}
	b.WriteString("</tr></thead><tbody>\n")
	for _, c := range cases {
		fmt.Fprintf(&b, `<tr><th scope="row">%s</th>`, esc(c))
		for _, s := range systems {
			i := at[[2]string{c, s}]
			if i == 0 {
				b.WriteString(`<td class="none">not tested</td>`)
				continue
			}
			res := r.Results[i-1]
			fmt.Fprintf(&b, `<td class="%s"><a href="#t%d">%s</a> %.1f s%s</td>`, res.color(), i, res.word(), res.Took.Seconds(), esc(res.notMade()))
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody></table>\n")
	for i, res := range r.Results {
		fmt.Fprintf(&b, `<h2 id="t%d">%s: %s</h2><table><thead><tr><th scope="col">Check</th><th scope="col">Result</th><th scope="col">Found</th></tr></thead><tbody>`, i+1, esc(res.Name()), res.word())
		for _, c := range res.Checks {
			text := c.Text
			if c.Status == Failed && !c.Pos.IsZero() {
				text = r.place(c.Pos) + ": " + text
			}
			if c.Hint != "" {
				text += "\nhint: " + c.Hint
			}
			fmt.Fprintf(&b, `<tr class="%s"><td>%s</td><td>%[1]s</td><td><pre>%[3]s</pre></td></tr>`+"\n", c.Status, esc(c.Name), esc(text))
		}
		b.WriteString("</tbody></table>\n")
	}
	r.rest(&b, esc)
	b.WriteString("</body></html>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// rest writes what is of no test.
func (r *Report) rest(b *strings.Builder, esc func(string) string) {
	for _, p := range r.Stale {
		fmt.Fprintf(b, `<p class="failed">%s: no case has this golden file</p>`+"\n", esc(r.Name(p)))
	}
	if len(r.Untested) > 0 {
		fmt.Fprintf(b, "<p>No case compiles: %s</p>\n", esc(strings.Join(r.Untested, ", ")))
	}
	if c := r.Coverage; c != nil {
		for _, part := range c.parts() {
			fmt.Fprintf(b, "<h2>%s: %d of %d</h2><ul>", esc(strings.ToUpper(part.what[:1])+part.what[1:]), len(part.missing), part.all)
			for _, p := range part.missing {
				fmt.Fprintf(b, "<li>%s: %s</li>", esc(r.place(p.Pos)), esc(p.Name))
			}
			b.WriteString("</ul>\n")
		}
		whys, names := c.unseen()
		for _, why := range whys {
			fmt.Fprintf(b, "<p>Not looked at: %s: %s</p>\n", esc(why), esc(strings.Join(names[why], ", ")))
		}
	}
}

// word says how a job ended.
func (r *Result) word() string {
	if r.Failed() {
		return Failed.String()
	}
	return Passed.String()
}

// color is what the matrix has of a job: green only if all checks were made.
func (r *Result) color() string {
	if !r.Failed() && r.notMade() != "" {
		return "part"
	}
	return r.word()
}

// notMade says how many checks of a job were not made.
func (r *Result) notMade() string {
	n := 0
	for _, c := range r.Checks {
		if c.Status == Skipped {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return ", " + count(n, "check") + " not made"
}
