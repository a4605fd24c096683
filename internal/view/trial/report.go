package trial

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"brine/internal/core/printable"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/view/casefile"
	"brine/internal/view/sarif"
)

// Formats returns the names that [Report.Write] takes.
func Formats() []string { return []string{"text", "json", "github", "gitlab"} }

// A Report is what came of a run.
type Report struct {
	Suite   *casefile.Suite
	Results []*Result
	Stale   []string // golden files of no case
	// Untested are the SLS files that no case compiled; nil: that was not looked at.
	Untested []string
	Coverage *Coverage // nil: it was not asked for
	Name     func(string) string
}

// Failed reports whether anything failed.
func (r *Report) Failed() bool { return r.failed() > 0 || len(r.Stale) > 0 }

func (r *Report) failed() (n int) {
	for _, res := range r.Results {
		if res.Failed() {
			n++
		}
	}
	return n
}

// Write writes the report.
func (r *Report) Write(w io.Writer, format string) error {
	switch format {
	case "json":
		return r.json(w)
	case "github":
		return r.github(w)
	case "gitlab":
		return r.gitlab(w)
	}
	return r.text(w)
}

// text writes a line for each job, and under it what failed.
func (r *Report) text(w io.Writer) error {
	var b strings.Builder
	wide := 0
	for _, res := range r.Results {
		wide = max(wide, len(res.Name()))
	}
	for _, res := range r.Results {
		word := "ok"
		if res.Failed() {
			word = "FAILED"
		}
		fmt.Fprintf(&b, "%-*s  %-6s  %s\n", wide, res.Name(), word, printable.Line(res.summary()))
		for _, c := range res.Checks {
			if c.Status == Failed {
				r.failure(&b, c)
			}
		}
	}
	for _, p := range r.Stale {
		fmt.Fprintf(&b, "%s  FAILED  no case has this golden file: remove it\n", printable.Line(r.Name(p)))
	}
	if len(r.Untested) > 0 {
		fmt.Fprintf(&b, "no case compiles: %s\n", printable.Line(strings.Join(r.Untested, ", ")))
	}
	if c := r.Coverage; c != nil {
		for _, part := range c.parts() {
			r.missing(&b, part)
		}
		whys, names := c.unseen()
		for _, why := range whys {
			fmt.Fprintf(&b, "not looked at: %s: %s\n", why, printable.Line(strings.Join(names[why], ", ")))
		}
	}
	b.WriteString(r.total() + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// missing writes what no case touched.
func (r *Report) missing(b *strings.Builder, part coveragePart) {
	fmt.Fprintf(b, "%s: %d of %d\n", part.what, len(part.missing), part.all)
	for _, p := range part.missing {
		fmt.Fprintf(b, "  %s: %s\n", printable.Line(r.place(p.Pos)), printable.Line(p.Name))
	}
}

// summary has the checks of a job that did not fail.
func (r *Result) summary() string {
	var parts []string
	for _, c := range r.Checks {
		switch {
		case c.Status == Failed:
			parts = append(parts, c.Name+" failed")
		case c.Text != "" && !strings.Contains(c.Text, "\n"):
			parts = append(parts, c.Name+": "+c.Text)
		default:
			parts = append(parts, c.Name)
		}
	}
	return strings.Join(slices.Compact(parts), "; ")
}

// failure writes what failed, indented.
func (r *Report) failure(b *strings.Builder, c Check) {
	where := ""
	if !c.Pos.IsZero() {
		where = r.place(c.Pos) + ": "
	}
	fmt.Fprintf(b, "  %s%s: %s\n", printable.Line(where), printable.Line(c.Name), indented(c.Text))
	if c.Hint != "" {
		fmt.Fprintf(b, "    hint: %s\n", printable.Line(c.Hint))
	}
}

// indented is text whose lines after the first are indented.
func indented(text string) string {
	lines := strings.Split(printable.Text(text), "\n")
	for i := range lines {
		if i > 0 {
			lines[i] = "    " + lines[i]
		}
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

func (r *Report) place(p source.Pos) string {
	p.File = r.Name(p.File)
	return p.String()
}

// total is the last line.
func (r *Report) total() string {
	skipped, used := 0, 0
	for _, res := range r.Results {
		for _, c := range res.Checks {
			switch {
			case c.Status != Skipped:
			case c.Name == "machine": // see freshness
				used++
			default:
				skipped++
			}
		}
	}
	text := fmt.Sprintf("%s: %d passed, %d failed", count(len(r.Results), "test"), len(r.Results)-r.failed(), r.failed())
	if skipped > 0 {
		text += fmt.Sprintf("; %s not made", count(skipped, "check"))
	}
	if used > 0 {
		text += fmt.Sprintf("; %s not on a fresh machine", count(used, "test"))
	}
	if n := len(r.Stale); n > 0 {
		text += fmt.Sprintf("; %s of no case", count(n, "golden file"))
	}
	return text
}

// json writes the report as data. Its version changes with its keys.
func (r *Report) json(w io.Writer) error {
	list := value.NewList()
	for _, res := range r.Results {
		checks := value.NewList()
		for _, c := range res.Checks {
			checks.Append(value.MapOf("name", c.Name, "status", c.Status.String(), "text", c.Text, "hint", c.Hint,
				"file", r.Name(c.Pos.File), "line", int64(c.Pos.Line), "column", int64(c.Pos.Col), "seconds", c.Took.Seconds()))
		}
		list.Append(value.MapOf("case", res.Case.Name, "system", res.System, "failed", res.Failed(), "seconds", res.Took.Seconds(), "checks", checks))
	}
	stale := value.NewList()
	for _, p := range r.Stale {
		stale.Append(r.Name(p))
	}
	doc := value.MapOf("version", int64(1), "tests", list, "stale_golden_files", stale, "untested_sls", value.Strings(r.Untested...),
		"summary", value.MapOf("tests", int64(len(r.Results)), "failed", int64(r.failed())))
	if c := r.Coverage; c != nil {
		m := value.NewMap(0)
		for _, part := range c.parts() {
			m.Set(part.key, int64(part.all))
			m.Set("missing_"+part.key, r.places(part.missing))
		}
		unseen := value.NewList()
		for _, u := range c.Unseen {
			unseen.Append(value.MapOf("name", u.Name, "why", u.Why))
		}
		m.Set("not_looked_at", unseen)
		doc.Set("coverage", m)
	}
	text, err := value.AppendJSON(nil, doc, value.JSONOptions{Indent: 2, Strict: true})
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// places are places as data.
func (r *Report) places(places []Place) *value.List {
	list := value.NewList()
	for _, p := range places {
		list.Append(value.MapOf("name", p.Name, "file", r.Name(p.Pos.File), "line", int64(p.Pos.Line), "column", int64(p.Pos.Col)))
	}
	return list
}

// github writes annotations for GitHub Actions.
func (r *Report) github(w io.Writer) error {
	var b strings.Builder
	r.each(func(_ *Result, rule string, pos source.Pos, title, text string) {
		b.WriteString(sarif.Annotation(level(rule), pos, title, text))
	})
	b.WriteString(r.total() + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// Data returns the results in the form of returns of states, of which other reports are
// made: each job is a host, each check a state.
func (r *Report) Data() *value.Map {
	data := value.NewMap(len(r.Results))
	for _, res := range r.Results {
		host := value.NewMap(len(res.Checks))
		for i, c := range res.Checks {
			id := c.Name
			tag := fmt.Sprintf("brine_|-%d %s_|-%s_|-test", i, id, id)
			ret := value.MapOf("__id__", id, "name", id, "__sls__", res.Case.Name, "__run_num__", int64(i), "result", c.Status != Failed,
				"comment", strings.TrimSpace(c.Text+"\n"+c.Hint), "changes", value.NewMap(0), "duration", float64(c.Took)/float64(time.Millisecond))
			if c.Status == Skipped {
				ret.Set("skip_watch", true)
			}
			host.Set(tag, ret)
		}
		data.Set(res.Name(), host)
	}
	stale := value.NewMap(0)
	for i, p := range r.Stale {
		name := r.Name(p)
		stale.Set(fmt.Sprintf("brine_|-%d %s_|-%s_|-test", i, name, name), value.MapOf("__id__", name, "name", name, "__run_num__", int64(i),
			"result", false, "comment", "no case has this golden file: remove it", "changes", value.NewMap(0)))
	}
	if stale.Len() > 0 {
		data.Set("golden files", stale)
	}
	if r.Coverage != nil {
		data.Set("coverage", r.coverageData())
	}
	return data
}

// coverageData has a check for each kind of what no case touched. It fails nothing: what is
// missing is named in a check that was not made.
func (r *Report) coverageData() *value.Map {
	host := value.NewMap(0)
	add := func(id, text string, missing bool) {
		i := host.Len()
		ret := value.MapOf("__id__", id, "name", id, "__run_num__", int64(i), "result", true, "comment", text, "changes", value.NewMap(0))
		if missing {
			ret.Set("skip_watch", true)
		}
		host.Set(fmt.Sprintf("brine_|-%d %s_|-%s_|-test", i, id, id), ret)
	}
	for _, part := range r.Coverage.parts() {
		var text strings.Builder
		fmt.Fprintf(&text, "%d of %d", len(part.missing), part.all)
		for _, p := range part.missing {
			text.WriteString("\n" + r.place(p.Pos) + ": " + p.Name)
		}
		add(part.what, text.String(), len(part.missing) > 0)
	}
	whys, names := r.Coverage.unseen()
	for _, why := range whys {
		add("not looked at: "+why, strings.Join(names[why], ", "), true)
	}
	return host
}
