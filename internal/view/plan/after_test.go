package plan_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"brine/internal/view/plan"
)

// TestAfter: a step comes after those before it that change one of its machines,
// or that it requires, in their order; on plans at random, by comparing each step
// with all before it.
func TestAfter(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		p := &plan.Plan{}
		changes := map[string]bool{}
		for i := range 1 + rnd.IntN(12) {
			s := &plan.Step{ID: fmt.Sprint("s", i), Fun: "salt.state"}
			for h := range 5 {
				if rnd.IntN(3) == 0 {
					s.Targets = append(s.Targets, fmt.Sprint("h", h))
				}
			}
			if i > 0 && rnd.IntN(3) == 0 {
				s.Requires = []string{fmt.Sprintf("require: salt: s%d", rnd.IntN(i))}
			}
			if len(s.Targets) > 0 && rnd.IntN(3) > 0 {
				changes[s.ID] = true
				s.Groups = []*plan.Group{{Hosts: s.Targets, States: []*plan.State{{ID: "x", Fun: "test.x", Effect: plan.Change}}}}
			}
			p.Steps = append(p.Steps, s)
		}
		p.Finish()
		for i, s := range p.Steps {
			var want []string
			for _, e := range p.Steps[:i] {
				shared := slices.ContainsFunc(e.Targets, func(id string) bool { return slices.Contains(s.Targets, id) })
				if changes[e.ID] && (shared || slices.Contains(s.Requires, "require: salt: "+e.ID)) {
					want = append(want, e.ID)
				}
			}
			if !slices.Equal(s.After, want) {
				t.Fatalf("%s comes after %q, want %q", s.ID, s.After, want)
			}
		}
	}
}
