package plan

import "slices"

// A Joint is a state of a step on all hosts that have it with the same effect.
type Joint struct {
	ID, Fun, Effect string
	Parts           []Part

	next *Joint
}

// A Part is a state as the hosts of one group have it.
type Part struct {
	State *State
	Hosts []string
}

// A jointKey tells the states of a step apart, whatever host they are of.
type jointKey struct{ id, fun, name, effect string }

// Joints returns the states of groups by their IDs, in the order of the run. A state
// with another effect is another joint: what is not known or fails is never among
// what would change. The name, which may have the host in it, tells states apart only
// where an ID has several.
func Joints(groups []*Group) []*Joint {
	several := map[[2]string]bool{}
	for _, g := range groups {
		seen := map[[2]string]bool{}
		for _, st := range g.States {
			k := [2]string{st.ID, st.Fun}
			several[k] = several[k] || seen[k]
			seen[k] = true
		}
	}
	first := &Joint{}
	found := map[jointKey]*Joint{}
	for _, g := range groups {
		last := first
		for _, st := range g.States {
			k := jointKey{id: st.ID, fun: st.Fun, effect: st.Effect}
			if several[[2]string{st.ID, st.Fun}] {
				k.name = st.Name
			}
			j := found[k]
			if j == nil {
				// Those with another effect stay together.
				last = last.lastOf(last.ID, last.Fun).lastOf(st.ID, st.Fun)
				j = &Joint{ID: st.ID, Fun: st.Fun, Effect: st.Effect, next: last.next}
				found[k], last.next = j, j
			}
			j.Parts = append(j.Parts, Part{st, g.Hosts})
			last = j
		}
	}
	var out []*Joint
	for j := first.next; j != nil; j = j.next {
		out = append(out, j)
	}
	return out
}

// lastOf returns the last of the joints right behind j that are of an ID; j for none.
func (j *Joint) lastOf(id, name string) *Joint {
	for j.next != nil && j.next.ID == id && j.next.Fun == name {
		j = j.next
	}
	return j
}

// verdicts are the effects of states, the one that says least first.
var verdicts = [...]string{Change, Unknown, MayFail, Fail}

// Verdict returns what a plan says of the hosts of a group: the effect of their
// states that weighs most, "" where nothing would change.
func (g *Group) Verdict() string {
	most := -1
	for _, st := range g.States {
		most = max(most, slices.Index(verdicts[:], st.Effect))
	}
	if most < 0 {
		return ""
	}
	return verdicts[most]
}

// Verdicts returns the hosts of groups by their verdicts.
func Verdicts(groups []*Group) map[string][]string {
	out := map[string][]string{}
	for _, g := range groups {
		v := g.Verdict()
		out[v] = append(out[v], g.Hosts...)
	}
	return out
}
