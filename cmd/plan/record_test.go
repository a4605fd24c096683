package plan

import (
	"testing"

	"brine/internal/fleet/drift"
	"brine/internal/view/plan"
)

// TestSeen: only a host whose states were all looked at, of which there are some,
// agrees.
func TestSeen(t *testing.T) {
	t.Parallel()
	state := func(effect string) *plan.Group {
		return &plan.Group{Hosts: []string{"a"}, Same: 2, States: []*plan.State{{ID: "x", Fun: "file.managed", Effect: effect}}}
	}
	same := &plan.Group{Hosts: []string{"a"}, Same: 2}
	on := []string{"a"}
	for _, tt := range []struct {
		name  string
		steps []*plan.Step
		want  string // status and number of states that are due
		due   int
	}{
		{"all alike", []*plan.Step{{Fun: "salt.state", Targets: on, Groups: []*plan.Group{same}}}, drift.Agrees, 0},
		{"a change", []*plan.Step{{Fun: "salt.state", Targets: on, Groups: []*plan.Group{state(plan.Change)}}}, drift.Deviates, 1},
		{"a failure", []*plan.Step{{Fun: "salt.state", Targets: on, Groups: []*plan.Group{state(plan.Fail)}}}, drift.Deviates, 1},
		{"unknown", []*plan.Step{{Fun: "salt.state", Targets: on, Groups: []*plan.Group{state(plan.Unknown)}}}, drift.Unknown, 1},
		{"may fail", []*plan.Step{{Fun: "salt.state", Targets: on, Groups: []*plan.Group{state(plan.MayFail)}}}, drift.Unknown, 1},
		{"no states", []*plan.Step{{Fun: "salt.state", Targets: on, Groups: []*plan.Group{{Hosts: on}}}}, drift.Unknown, 0},
		{"a change in one of two steps", []*plan.Step{{Fun: "salt.state", Targets: on, Groups: []*plan.Group{state(plan.Change)}}, {Fun: "salt.state", Targets: on, Groups: []*plan.Group{same}}}, drift.Deviates, 1},
		{"within a step", []*plan.Step{{Fun: "salt.runner", Steps: []*plan.Step{{Fun: "salt.state", Targets: on, Groups: []*plan.Group{state(plan.Change)}}}}}, drift.Deviates, 1},
		{"a step that is not known", []*plan.Step{{Fun: "salt.state", Targets: on, Groups: []*plan.Group{same}}, {Fun: "salt.state", Targets: on, Unknown: "too early"}}, drift.Unknown, 0},
		{"a step with onfail", []*plan.Step{{Fun: "salt.state", Targets: on, Groups: []*plan.Group{same}}, {Fun: "salt.state", Targets: on, Unknown: failUnknown}}, drift.Agrees, 0},
		{"a function", []*plan.Step{{Fun: "salt.state", Targets: on, Groups: []*plan.Group{same}}, {Fun: "salt.function", Targets: on, Unknown: "not known"}}, drift.Agrees, 0},
		{"unreachable in a later step", []*plan.Step{{Fun: "salt.state", Targets: on, Groups: []*plan.Group{same}}, {Fun: "salt.state", Targets: on, Faults: []plan.Fault{{Host: "a", Unreached: true}}}}, drift.Unreachable, 0},
		{"no plan in a later step", []*plan.Step{{Fun: "salt.state", Targets: on, Groups: []*plan.Group{state(plan.Change)}}, {Fun: "salt.state", Targets: on, Faults: []plan.Fault{{Host: "a", Reason: "no SLS"}}}}, drift.NoPlan, 1},
		{"a step whose targets are not known", []*plan.Step{{Fun: "salt.state", Targets: on, Groups: []*plan.Group{same}}, {Fun: "salt.state", Faults: []plan.Fault{{Host: "G@x:y", Reason: "no grains"}}}}, drift.Unknown, 0},
		{"a step that matches nothing", []*plan.Step{{Fun: "salt.state", Targets: on, Groups: []*plan.Group{same}}, {Fun: "salt.state", Faults: []plan.Fault{{Host: "b*", Unmatched: true}}}}, drift.Agrees, 0},
	} {
		got := seen(&plan.Plan{Steps: tt.steps})
		if len(got) != 1 || got[0].Host != "a" || got[0].Status != tt.want || len(got[0].Due) != tt.due {
			t.Errorf("%s: %+v, want %s with %d", tt.name, got, tt.want, tt.due)
		}
	}
	if got := seen(&plan.Plan{Steps: []*plan.Step{{Fun: "salt.function", Targets: on, Unknown: "not known"}, {Fun: "salt.state", Faults: []plan.Fault{{Host: "b*", Unmatched: true}}}}}); len(got) != 0 {
		t.Errorf("nothing was looked at: %+v", got)
	}
}

// TestSubject: a plan of other targets has the same name in the records, and one of
// other states another.
func TestSubject(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]plan.Command{
		"state.apply web":                {Kind: plan.SSH, Target: "web*", Args: []string{"state.apply", "web"}, Flags: []plan.Flag{{Name: "config-dir", Value: "/x"}, {Name: "limit", Value: "a"}}},
		"state.apply":                    {Kind: plan.Call, Args: []string{"state.apply"}},
		"orchestrate orch.deploy a=1":    {Kind: plan.Orchestrate, Args: []string{"orch.deploy", "a=1"}},
		"state.apply web --saltenv=test": {Kind: plan.SSH, Target: "*", Args: []string{"state.apply", "web"}, Flags: []plan.Flag{{Name: "saltenv", Value: "test"}}},
	} {
		if got := subject(c); got != want {
			t.Errorf("subject %q, want %q", got, want)
		}
	}
}
