package lint

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"brine/internal/core/printable"
	"brine/internal/py/value"
	"brine/internal/view/sarif"
)

// Formats returns the names that Write takes.
func Formats() []string { return []string{"text", "json", "sarif", "github"} }

// An Output says how a report is written.
type Output struct {
	Format  string
	Version string                   // of brine
	Name    func(path string) string // a path as the user knows it
	Least   Severity                 // of what text and GitHub annotations show
}

// Write writes a report.
func (r *Report) Write(w io.Writer, o Output) error {
	switch o.Format {
	case "json":
		return writeJSON(w, r.document(o))
	case "sarif":
		return r.sarif(o).Write(w)
	case "github":
		return r.github(w, o)
	}
	return r.text(w, o)
}

func writeJSON(w io.Writer, v value.Value) error {
	text, err := value.AppendJSON(nil, v, value.JSONOptions{Indent: 2, Strict: true})
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// fullMessage returns the message with the systems that it is about.
func (f *Finding) fullMessage() string {
	if len(f.Systems) == 0 {
		return f.Message
	}
	return f.Message + " (on " + strings.Join(f.Systems, ", ") + ")"
}

func (r *Report) text(w io.Writer, o Output) error {
	var b strings.Builder
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Severity < o.Least && f.Rule != notJudged {
			continue
		}
		pos := f.Pos
		pos.File = o.Name(pos.File)
		where := pos.String()
		if where == "" {
			where = "(tree)"
		}
		what := f.Severity.String()
		if f.aside() {
			what = "not judged"
		}
		fmt.Fprintf(&b, "%s: %s: %s [%s]\n", printable.Line(where), what, printable.Line(f.fullMessage()), f.Rule)
		if f.Hint != "" {
			fmt.Fprintf(&b, "\thint: %s\n", printable.Line(f.Hint))
		}
	}
	fmt.Fprintf(&b, "%d SLS: %s, %s, %s", r.SLS, count(r.Count(Error), "error"), count(r.Count(Warning), "warning"), count(r.Count(Info), "note"))
	if n := r.NotJudged(); n > 0 {
		fmt.Fprintf(&b, ", %s not judged", count(n, "place"))
	}
	if n, systems := r.leftOut(); n > 0 {
		fmt.Fprintf(&b, "; %d of the notes: faults on %s, which the tree does not name (--level info shows them)", n, strings.Join(systems, ", "))
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}

// leftOut returns how many faults only systems have that the tree does not name, and these.
func (r *Report) leftOut() (n int, systems []string) {
	for i := range r.Findings {
		if f := &r.Findings[i]; f.LeftOut && f.Severity == Info {
			n++
			systems = append(systems, f.Systems...)
		}
	}
	slices.Sort(systems)
	return n, slices.Compact(systems)
}

func count(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// document returns the report as data. Its version changes with its keys.
func (r *Report) document(o Output) *value.Map {
	list := value.NewList()
	for i := range r.Findings {
		f := &r.Findings[i]
		m := value.MapOf("rule", f.Rule, "severity", f.Severity.String(), "file", o.Name(f.Pos.File),
			"line", int64(f.Pos.Line), "column", int64(f.Pos.Col), "message", f.Message, "hint", f.Hint,
			"systems", value.Strings(f.Systems...), "fixable", f.Fix != nil)
		list.Append(m)
	}
	return value.MapOf("version", int64(2), "findings", list, "summary", value.MapOf(
		"sls", int64(r.SLS), "error", int64(r.Count(Error)), "warning", int64(r.Count(Warning)), "info", int64(r.Count(Info)), "not_judged", int64(r.NotJudged())))
}

// github writes annotations for GitHub Actions.
func (r *Report) github(w io.Writer, o Output) error {
	var b strings.Builder
	levels := [...]sarif.Level{Info: sarif.Note, Warning: sarif.Warning, Error: sarif.Error}
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Severity < o.Least && f.Rule != notJudged {
			continue
		}
		text := f.fullMessage()
		if f.Hint != "" {
			text += "\n" + f.Hint
		}
		pos := f.Pos
		pos.File = o.Name(pos.File)
		b.WriteString(sarif.Annotation(levels[f.Severity], pos, f.Rule, text))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// sarif returns the report as SARIF 2.1.0.
func (r *Report) sarif(o Output) *sarif.Log {
	levels := [...]sarif.Level{Info: sarif.Note, Warning: sarif.Warning, Error: sarif.Error}
	log := &sarif.Log{Tool: "brine lint", Version: o.Version}
	for _, rule := range Rules() {
		log.Rules = append(log.Rules, sarif.Rule{ID: rule.ID, Doc: rule.Doc, Why: rule.Why, Level: levels[rule.Severity], Off: rule.Off})
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		text := f.fullMessage()
		if f.Hint != "" {
			text += " (" + f.Hint + ")"
		}
		pos := f.Pos
		pos.File = o.Name(pos.File)
		log.Results = append(log.Results, sarif.Result{Rule: f.Rule, Level: levels[f.Severity], Message: text, Pos: pos})
	}
	return log
}

// Fix applies the edits of findings to the text of a file and returns the new text
// and how many edits there were. Edits that overlap are left out, and those of lines
// that are not what they were.
func Fix(text string, findings []Finding) (string, int) {
	lines := strings.Split(text, "\n")
	n := 0
	last := map[int]int{} // of a line, where the edit behind this one starts
	for i := len(findings) - 1; i >= 0; i-- {
		f := &findings[i]
		at := f.Pos.Line - 1
		if f.Fix == nil || at < 0 || at >= len(lines) {
			continue
		}
		end, ok := last[at]
		if !ok {
			if strings.TrimSuffix(lines[at], "\r") != f.Fix.Line {
				continue
			}
			end = len(f.Fix.Line)
		}
		if f.Fix.Start > f.Fix.End || f.Fix.End > end {
			continue
		}
		lines[at] = lines[at][:f.Fix.Start] + f.Fix.New + lines[at][f.Fix.End:]
		last[at] = f.Fix.Start
		n++
	}
	return strings.Join(lines, "\n"), n
}
