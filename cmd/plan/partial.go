package plan

import (
	"fmt"
	"strings"

	"brine/cmd/app"
	"brine/internal/core/printable"
	"brine/internal/view/plan"
)

// leftOut are the targets that an apply passes over, with the reason.
type leftOut struct {
	faults []plan.Fault
	ids    map[string]bool
}

// add takes machines out that were not reached, and reports whether there are new
// ones.
func (l *leftOut) add(faults []plan.Fault) bool {
	n := len(l.faults)
	for _, f := range faults {
		if l.ids[f.Host] {
			continue
		}
		if l.ids == nil {
			l.ids = map[string]bool{}
		}
		l.ids[f.Host], l.faults = true, append(l.faults, f)
	}
	return len(l.faults) > n
}

// keep returns what tells the targets that are left, of those that keep reports.
func (l *leftOut) keep(keep func(string) bool) func(string) bool {
	if len(l.faults) == 0 {
		return keep
	}
	return func(id string) bool { return !l.ids[id] && (keep == nil || keep(id)) }
}

// tell says on stderr which targets were left out, and which steps match none. It
// returns the status of an apply that did not do all of its plan, where err is none.
func (l *leftOut) tell(a *app.App, p *plan.Plan, err error) error {
	for _, f := range l.faults {
		fmt.Fprintf(a.Err, "brine: left out: %s: %s\n", printable.Line(f.Host), printable.Line(strings.Join(strings.Fields(f.Reason), " ")))
	}
	unmatched := p.Unmatched()
	for _, step := range unmatched {
		fmt.Fprintf(a.Err, "brine: no target matches: step %s\n", printable.Line(step))
	}
	if err == nil && len(l.faults)+len(unmatched) > 0 {
		return app.Silent(app.ExitGeneric)
	}
	return err
}
