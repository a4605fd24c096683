package plan

import (
	"fmt"
	"slices"
	"strings"

	"brine/cmd/app"
	"brine/cmd/internal/summary"
	"brine/internal/view/plan"
)

// printSummary prints a line for each target of a plan, or for several of which the same
// is planned: behind the text, beside other formats.
func printSummary(a *app.App, p *plan.Plan, format string) {
	w := a.Err
	if format == "text" {
		w = a.Out
	}
	summary.Print(w, outcomes(p))
}

// A due is what a plan says of a target.
type due struct {
	n      map[string]int // states, by their effect
	same   int
	faults []string
}

// outcomes returns what a plan says of each target.
func outcomes(p *plan.Plan) []summary.Outcome {
	hosts := map[string]*due{}
	of := func(id string) *due {
		if hosts[id] == nil {
			hosts[id] = &due{n: map[string]int{}}
		}
		return hosts[id]
	}
	plan.Walk(p.Steps, func(st *plan.Step) bool {
		for _, g := range st.Groups {
			for _, id := range g.Hosts {
				d := of(id)
				d.same += g.Same
				for _, x := range g.States {
					d.n[x.Effect]++
				}
			}
		}
		for _, f := range st.Faults {
			if !f.Unmatched {
				d := of(f.Host)
				d.faults = append(d.faults, strings.Join(strings.Fields(f.Reason), " "))
			}
		}
		if st.Unknown != "" {
			for _, id := range st.Targets {
				of(id).n[plan.Unknown]++
			}
		}
		return true
	})
	out := make([]summary.Outcome, 0, len(hosts))
	for id, d := range hosts {
		parts := []string{fmt.Sprintf("unchanged=%d change=%d", d.same, d.n[plan.Change])}
		for _, x := range []struct{ effect, label string }{{plan.Unknown, "unknown"}, {plan.MayFail, "may_fail"}, {plan.Fail, "fail"}} {
			if n := d.n[x.effect]; n > 0 {
				parts = append(parts, fmt.Sprintf("%s=%d", x.label, n))
			}
		}
		text := strings.Join(parts, " ")
		if len(d.faults) > 0 {
			text += ": " + d.faults[0]
		}
		out = append(out, summary.Outcome{ID: id, Text: text, Failed: len(d.faults) > 0 || d.n[plan.Fail] > 0})
	}
	slices.SortFunc(out, func(a, b summary.Outcome) int { return summary.CompareIDs(a.ID, b.ID) })
	return out
}
