// Package plantext prints plans for people.
package plantext

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"brine/cmd/internal/summary"
	"brine/internal/core/printable"
	"brine/internal/view/plan"
)

// Formats are the formats of brine plan.
func Formats() []string { return []string{"text", "diff", "json", "yaml"} }

// maxLines is how many lines of a state's changes are shown.
const maxLines = 60

// colours of a terminal.
type colours struct{ add, remove, warn, bold, end string }

func coloursOf(on bool) colours {
	if !on {
		return colours{}
	}
	return colours{add: "\x1b[0;32m", remove: "\x1b[0;31m", warn: "\x1b[0;33m", bold: "\x1b[0;1m", end: "\x1b[0;0m"}
}

// A printer collects the lines of a plan.
type printer struct {
	b      bytes.Buffer
	c      colours
	margin int // of the steps of an orchestration within others
}

func (p *printer) line(indent int, colour, format string, args ...any) {
	text := printable.Line(fmt.Sprintf(format, args...))
	if colour != "" {
		text = colour + text + p.c.end
	}
	fmt.Fprintf(&p.b, "%s%s\n", strings.Repeat(" ", p.margin+indent), text)
}

// Text returns a plan as text, its totals last.
func Text(pl *plan.Plan, colour bool) string {
	p := &printer{c: coloursOf(colour)}
	p.steps("", pl.Steps)
	p.line(0, p.c.bold, "%s", Totals(pl.Totals))
	switch {
	case pl.Partial():
		p.line(0, p.c.remove, "The plan is incomplete: with --without-unreachable it can be applied to the rest.")
	case !pl.Complete():
		p.line(0, p.c.remove, "The plan is incomplete and cannot be applied.")
	}
	return p.b.String()
}

// Hosts names machines: how many, and which, with ranges folded.
func Hosts(ids []string) string {
	sorted := slices.Clone(ids)
	slices.SortFunc(sorted, summary.CompareIDs)
	return fmt.Sprintf("%s: %s", Count(len(ids), "host"), strings.ReplaceAll(summary.FoldIDs(sorted), ",", ", "))
}

// Count is a number with what it counts: "1 host", "2 hosts".
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Totals is the last line of a plan.
func Totals(t plan.Totals) string {
	parts := []string{Count(t.Hosts, "host"), Count(t.Changes, "change")}
	more := func(n int, text string) {
		if n > 0 {
			parts = append(parts, text)
		}
	}
	more(t.Restarts, Count(t.Restarts, "restart"))
	more(t.Reboots, Count(t.Reboots, "reboot"))
	more(t.Downgrades, Count(t.Downgrades, "downgrade"))
	more(t.Removals, Count(t.Removals, "package")+" removed")
	more(t.Unknown, fmt.Sprintf("%d not known yet", t.Unknown))
	more(t.Failures, Count(t.Failures, "failure"))
	more(t.MayFail, fmt.Sprintf("%d may fail", t.MayFail))
	more(t.Unreached, fmt.Sprintf("%d not reached", t.Unreached))
	more(t.Unmatched, Count(t.Unmatched, "step")+" without a target")
	more(t.Faults, fmt.Sprintf("%d without a plan", t.Faults))
	return strings.Join(parts, ", ")
}

// steps prints the steps of an orchestration, their numbers behind that of the step
// that runs it.
func (p *printer) steps(number string, steps []*plan.Step) {
	for i, s := range steps {
		p.step(fmt.Sprintf("%s%d.", number, i+1), s)
	}
}

func (p *printer) step(number string, s *plan.Step) {
	head := fmt.Sprintf("%s %s (%s)", number, s.ID, s.Fun)
	if s.ID == s.Fun {
		head = fmt.Sprintf("%s %s", number, s.ID)
	}
	if s.Name != "" {
		head += " " + s.Name
	}
	p.line(0, p.c.bold, "%s", head)
	for _, r := range s.Requires {
		p.line(3, "", "%s", r)
	}
	switch {
	case s.Skipped != "":
		p.line(3, "", "would not run: %s", s.Skipped)
	case len(s.Groups) == 0 && len(s.Targets) > 0 && len(s.Faults) == 0:
		p.line(3, "", "%s", Hosts(s.Targets))
	}
	if s.Subset > 0 {
		p.line(3, p.c.warn, "%d of these are chosen at random when it runs", s.Subset)
	}
	for i, ids := range s.Waves {
		p.line(3, "", "wave %d of %d: %s", i+1, len(s.Waves), Hosts(ids))
	}
	if s.Unknown != "" {
		p.line(3, p.c.warn, "%s", s.Unknown)
	}
	if len(s.After) > 0 && s.Skipped == "" && s.Unknown == "" {
		p.line(3, p.c.warn, "may change once these steps ran: %s", strings.Join(s.After, ", "))
	}
	for _, g := range s.Groups {
		p.group(g)
	}
	for _, f := range s.Faults {
		p.line(3, p.c.remove, "%s: %s", f.Host, oneLine(f.Reason))
	}
	if s.Orchestration != "" && s.Unknown == "" && len(s.Faults) == 0 {
		p.line(3, "", "%s of the orchestration %s", Count(len(s.Steps), "step"), s.Orchestration)
	}
	p.b.WriteByte('\n')
	p.margin += 3
	p.steps(number, s.Steps)
	p.margin -= 3
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func (p *printer) group(g *plan.Group) {
	if len(g.States) == 0 {
		p.line(3, "", "%s", Hosts(g.Hosts))
		p.line(5, "", "nothing to change (%s)", Count(g.Same, "state"))
		return
	}
	p.line(3, "", "%s", Hosts(g.Hosts))
	for _, st := range g.States {
		p.state(st)
	}
	if g.Same > 0 {
		p.line(5, "", "%s without changes", Count(g.Same, "state"))
	}
}

func (p *printer) state(st *plan.State) {
	name := ""
	if st.Name != st.ID {
		name = " " + oneLine(st.Name)
	}
	mark, colour := "~", p.c.add
	switch st.Effect {
	case plan.Fail:
		mark, colour = "!", p.c.remove
	case plan.Unknown, plan.MayFail:
		mark, colour = "?", p.c.warn
	}
	p.line(5, colour, "%s %s (%s)%s", mark, st.ID, st.Fun, name)
	failing := st.Effect == plan.Fail || st.Effect == plan.MayFail
	if st.Comment != "" && (failing || st.Diff == "" && len(st.Changes) == 0 && st.Unknown == "") {
		p.line(9, "", "%s", oneLine(st.Comment))
	}
	if st.Restart {
		p.line(9, p.c.warn, "restarts the service")
	}
	if st.Reboot {
		p.line(9, p.c.warn, "reboots the host")
	}
	if st.Unknown != "" {
		p.line(9, p.c.warn, "%s", st.Unknown)
	}
	if len(st.Packages) > 0 {
		p.packages(st.Packages)
		return
	}
	p.changes(st)
}

// changesText is the changes of a state other than a diff.
func changesText(changes json.RawMessage) string {
	var file struct {
		New string `json:"newfile"`
	}
	switch {
	case len(changes) == 0:
		return ""
	case json.Unmarshal(changes, &file) == nil && file.New != "":
		return "new file"
	case len(changes) < 160:
		return string(changes)
	}
	var b bytes.Buffer
	if json.Indent(&b, changes, "", "  ") != nil {
		return string(changes)
	}
	return b.String()
}

// changes prints the diff of a file, else the changes as JSON.
func (p *printer) changes(st *plan.State) {
	text := st.Diff
	switch {
	case st.New && text == "" && st.Size > 0:
		p.line(9, "", "new file, %s that are not shown", Count(int(st.Size), "byte"))
		return
	case st.New:
		p.line(9, "", "new file")
		if text == "" {
			return
		}
	case text == "":
		text = changesText(st.Changes)
	}
	n, head := 0, true
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if head = head && (strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "+++ ")); head {
			continue // the name of the state says it
		}
		if st.New && strings.HasPrefix(line, "@@ -0,0 ") {
			continue
		}
		if n++; n > maxLines {
			p.line(9, "", "... and %d more lines (--out=json has all)", strings.Count(text, "\n")-maxLines)
			return
		}
		colour := ""
		if st.Diff != "" && strings.HasPrefix(line, "+") {
			colour = p.c.add
		} else if st.Diff != "" && strings.HasPrefix(line, "-") {
			colour = p.c.remove
		}
		p.line(9, colour, "%s", line)
	}
}
