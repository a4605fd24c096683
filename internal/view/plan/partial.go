package plan

import (
	"maps"
	"slices"
	"strings"
)

// Controller is the name of the controller's pillar among the inputs of a plan.
const Controller = "(controller)"

// Unreached are the machines that no plan was made for because they were not reached,
// with the reason, sorted.
func (p *Plan) Unreached() []Fault {
	found := map[string]Fault{}
	Walk(p.Steps, func(s *Step) bool {
		for _, f := range s.Faults {
			if _, had := found[f.Host]; f.Unreached && !had {
				found[f.Host] = f
			}
		}
		return true
	})
	out := make([]Fault, 0, len(found))
	for _, id := range slices.Sorted(maps.Keys(found)) {
		out = append(out, found[id])
	}
	return out
}

// Unmatched are the targets of steps that match nothing, behind the ID of the step.
func (p *Plan) Unmatched() []string {
	var out []string
	Walk(p.Steps, func(s *Step) bool {
		for _, f := range s.Faults {
			if f.Unmatched {
				out = append(out, s.ID+": "+f.Host)
			}
		}
		return true
	})
	return out
}

// Narrow takes the targets that keep does not report out of a plan, as if no step
// meant them. Steps that run on the controller stay as they are.
func (p *Plan) Narrow(keep func(id string) bool) {
	out := func(id string) bool { return !keep(id) }
	Walk(p.Steps, func(s *Step) bool {
		if p.Command.HasSteps() && !strings.HasPrefix(s.Fun, "salt.") {
			return true
		}
		had := len(s.Targets)
		if s.Targets = slices.DeleteFunc(s.Targets, out); had > 0 && len(s.Targets) == 0 && p.Command.HasSteps() {
			s.Skipped, s.Unknown, s.Restarts, s.Reboots = NoneWithin, "", false, false
		}
		for _, g := range s.Groups {
			g.Hosts = slices.DeleteFunc(g.Hosts, out)
		}
		s.Groups = slices.DeleteFunc(s.Groups, func(g *Group) bool { return len(g.Hosts) == 0 })
		s.Faults = slices.DeleteFunc(s.Faults, func(f Fault) bool { return f.Unreached && out(f.Host) })
		maps.DeleteFunc(s.Hosts, func(id string, _ Hashes) bool { return out(id) })
		maps.DeleteFunc(s.Leaves, func(id string, _ []*Leaves) bool { return out(id) })
		for i, wave := range s.Waves {
			s.Waves[i] = slices.DeleteFunc(wave, out)
		}
		return true
	})
	maps.DeleteFunc(p.Inputs.Roster, func(id, _ string) bool { return out(id) })
	maps.DeleteFunc(p.Inputs.Pillar, func(name, _ string) bool {
		id, _, _ := strings.Cut(name, " (") // behind it are the environments that a step names
		return name != Controller && out(id)
	})
	p.Finish()
}
