package plan_test

import (
	"fmt"
	"slices"
	"testing"

	"brine/internal/view/plan"
)

// TestJoints: states are in the order of the run, once for each effect, and the name
// tells those of one ID apart.
func TestJoints(t *testing.T) {
	t.Parallel()
	state := func(id, name, effect string) *plan.State {
		return &plan.State{ID: id, Name: name, Fun: "x.y", Effect: effect}
	}
	groups := []*plan.Group{
		{Hosts: []string{"a"}, States: []*plan.State{state("one", "/a", plan.Change), state("two", "p", plan.Change), state("two", "q", plan.Change), state("four", "", plan.Change)}},
		{Hosts: []string{"b", "c"}, States: []*plan.State{state("one", "/b", plan.Change), state("two", "q", plan.Unknown), state("three", "", plan.Fail), state("four", "", plan.Change)}},
		{Hosts: []string{"d"}, States: []*plan.State{state("one", "/d", plan.MayFail)}},
		{Hosts: []string{"e"}},
	}
	var got []string
	for _, j := range plan.Joints(groups) {
		text := fmt.Sprintf("%s %s:", j.ID, j.Effect)
		for _, p := range j.Parts {
			text += fmt.Sprintf(" %q on %q", p.State.Name, p.Hosts)
		}
		got = append(got, text)
	}
	want := []string{
		`one change: "/a" on ["a"] "/b" on ["b" "c"]`, `one may_fail: "/d" on ["d"]`, `two change: "p" on ["a"]`, `two change: "q" on ["a"]`,
		`two unknown: "q" on ["b" "c"]`, `three fail: "" on ["b" "c"]`, `four change: "" on ["a"] "" on ["b" "c"]`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("Joints: %q, want %q", got, want)
	}
	verdicts := plan.Verdicts(groups)
	for effect, ids := range map[string][]string{plan.Change: {"a"}, plan.Fail: {"b", "c"}, plan.MayFail: {"d"}, "": {"e"}} {
		if !slices.Equal(verdicts[effect], ids) {
			t.Errorf("hosts of %q: %q, want %q", effect, verdicts[effect], ids)
		}
	}
}
