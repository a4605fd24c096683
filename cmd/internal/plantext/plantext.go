// Package plantext prints plans for people.
package plantext

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"brine/cmd/internal/summary"
	"brine/internal/core/printable"
	"brine/internal/view/plan"
)

// Formats are the formats of brine plan.
func Formats() []string { return []string{"text", "diff", "json", "yaml", "markdown", "html"} }

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

// A line is a line of a plan. Its text is safe to print.
type line struct {
	indent int
	colour string
	text   string
}

// lineOf returns a line of text that others may have written.
func lineOf(indent int, colour, format string, args ...any) line {
	return line{indent, colour, printable.Line(fmt.Sprintf(format, args...))}
}

// A printer collects the lines of a plan.
type printer struct {
	b      bytes.Buffer
	c      colours
	margin int // of the steps of an orchestration within others
}

func (p *printer) line(indent int, colour, format string, args ...any) {
	p.put(lineOf(indent, colour, format, args...))
}

func (p *printer) put(lines ...line) {
	for _, l := range lines {
		text := l.text
		if l.colour != "" {
			text = l.colour + text + p.c.end
		}
		fmt.Fprintf(&p.b, "%s%s\n", strings.Repeat(" ", p.margin+l.indent), text)
	}
}

// Text returns a plan as text, its totals last.
func Text(pl *plan.Plan, colour bool) string {
	p := &printer{c: coloursOf(colour)}
	p.steps("", pl.Steps)
	p.line(0, p.c.bold, "%s", Totals(pl.Totals))
	switch {
	case pl.Partial():
		p.line(0, p.c.remove, "The plan is incomplete: made with --without-unreachable, it is applied to the rest.")
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
	p.put(p.c.groups(s.Groups)...)
	for _, f := range joinFaults(s.Faults) {
		p.line(3, p.c.remove, "%s: %s", f.who, f.reason)
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
