package plan_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/py/value"
	"brine/internal/testkit"
	"brine/internal/testkit/calltest"
	"brine/internal/view/plan"
)

// basis is a tree with one file and one directory, and a few functions.
func basis() plan.Basis {
	return plan.Basis{
		Served: func(path string) bool { return path == "web/conf" || path == "web" },
		Required: func(name string) ([]string, bool) {
			required, known := map[string][]string{"file.managed": nil, "file.exists": nil, "file.symlink": {"target"}, "test.nop": nil}[name]
			return required, known
		},
	}
}

// TestCertain: a failure is certain where nothing runs before it, or where nothing
// that runs before it can mend it.
func TestCertain(t *testing.T) {
	t.Parallel()
	const moves = `file_|-first_|-/first_|-managed: {__run_num__: 0, result: null, comment: would, changes: {newfile: /first}}`
	const fails = `%s: {__run_num__: 1, result: false, comment: boo, changes: {}}`
	for name, tt := range map[string]struct {
		before, tag, chunk, want string
	}{
		"alone":           {"{}", "file_|-x_|-/x_|-exists", "{state: file, __id__: x, name: /x, fun: exists}", "fail"},
		"behind a change": {moves, "file_|-x_|-/x_|-exists", "{state: file, __id__: x, name: /x, fun: exists}", "may_fail"},
		"no chunks":       {moves, "file_|-x_|-/x_|-exists", "{}", "may_fail"},
		"module test":     {moves, "test_|-x_|-x_|-fail_without_changes", "{}", "fail certain"},
		"no function":     {moves, "file_|-x_|-/x_|-exsts", "{state: file, __id__: x, name: /x, fun: exsts}", "fail certain"},
		"no argument":     {moves, "file_|-x_|-/x_|-symlink", "{state: file, __id__: x, name: /x, fun: symlink}", "fail certain"},
		"its argument":    {moves, "file_|-x_|-/x_|-symlink", "{state: file, __id__: x, name: /x, fun: symlink, target: /y}", "may_fail"},
		"no requisite":    {moves, "file_|-x_|-/x_|-exists", "{state: file, __id__: x, name: /x, fun: exists, require: [{file: gone}]}", "fail certain"},
		"a requisite":     {moves, "file_|-x_|-/x_|-exists", "{state: file, __id__: x, name: /x, fun: exists, require: [{file: first}, first, {sls: web}, {file: 'f*'}, {file.managed: first}]}", "may_fail"},
		"no source":       {moves, "file_|-x_|-/x_|-managed", "{state: file, __id__: x, name: /x, fun: managed, source: 'salt://web/cnf'}", "fail certain"},
		"no sources":      {moves, "file_|-x_|-/x_|-managed", "{state: file, __id__: x, name: /x, fun: managed, source: ['salt://a', {'salt://b': md5=1}]}", "fail certain"},
		"one source":      {moves, "file_|-x_|-/x_|-managed", "{state: file, __id__: x, name: /x, fun: managed, source: ['salt://a', 'salt://web/conf?saltenv=dev']}", "may_fail"},
		"another source":  {moves, "file_|-x_|-/x_|-managed", "{state: file, __id__: x, name: /x, fun: managed, source: ['salt://a', /here]}", "may_fail"},
		"a directory":     {moves, "file_|-x_|-/x_|-managed", "{state: file, __id__: x, name: /x, fun: managed, source: 'salt://web/'}", "may_fail"},
		"odd source":      {moves, "file_|-x_|-/x_|-managed", "{state: file, __id__: x, name: /x, fun: managed, source: [5, []]}", "may_fail"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rets := calltest.YAML(t, tt.before).(*value.Map)
			failing := calltest.YAML(t, fmt.Sprintf(fails, tt.tag)).(*value.Map)
			rets.Update(failing)
			first := calltest.YAML(t, "{state: file, __id__: first, name: /first, fun: managed}")
			states, _ := plan.States(rets, plan.NewLow(value.NewList(first, calltest.YAML(t, tt.chunk)), basis()))
			last := states[len(states)-1]
			got := last.Effect
			if last.Certain {
				got += " certain"
			}
			if got != tt.want || last.Comment != "boo" || (last.Unknown != "") != (tt.want == "may_fail") {
				t.Errorf("it is %q (%q, %q), want %q", got, last.Comment, last.Unknown, tt.want)
			}
		})
	}
}

// TestBehindFailure: what requires a state that may fail is not known yet, and what
// requires one that is certain to fail is certain to fail.
func TestBehindFailure(t *testing.T) {
	t.Parallel()
	rets := calltest.YAML(t, `
file_|-first_|-/first_|-managed: {__run_num__: 0, result: null, comment: would, changes: {newfile: /first}}
file_|-may_|-/may_|-exists: {__run_num__: 1, result: false, comment: boo, changes: {}}
test_|-sure_|-sure_|-fail_without_changes: {__run_num__: 2, result: false, comment: boo, changes: {}}
file_|-a_|-/a_|-managed: {__run_num__: 3, result: false, comment: One or more requisite failed, changes: {}}
file_|-b_|-/b_|-managed: {__run_num__: 4, result: false, comment: One or more requisite failed, changes: {}}
file_|-c_|-/c_|-managed: {__run_num__: 5, result: false, comment: One or more requisite failed, changes: {}}
`).(*value.Map)
	low := calltest.YAML(t, `
- {state: file, __id__: may, name: /may, fun: exists}
- {state: test, __id__: sure, name: sure, fun: fail_without_changes}
- {state: file, __id__: a, name: /a, fun: managed, require: [{file: /may}]}
- {state: file, __id__: b, name: /b, fun: managed, watch: [{file: a}]}
- {state: file, __id__: c, name: /c, fun: managed, require: [sure]}
`)
	states, same := plan.States(rets, plan.NewLow(low, plan.Basis{}))
	var got []string
	for _, st := range states {
		got = append(got, fmt.Sprintf("%s %s %t %s", st.ID, st.Effect, st.Certain, st.Unknown))
	}
	want := []string{
		"first change false ", "may may_fail false may fail, unless a state before it mends that", "sure fail true ",
		"a unknown false not known until may ran: it runs if that does not fail", "b unknown false not known until a ran: it runs if that does not fail", "c fail true ",
	}
	if d := cmp.Diff(want, got); d != "" || same != 0 {
		t.Errorf("States (-want +got), %d same:\n%s", same, d)
	}
}

// TestMayFail: a step that fails may not fail behind steps that change something, also
// within another orchestration, and what only looks mends nothing.
func TestMayFail(t *testing.T) {
	t.Parallel()
	failing := func(id string, certain bool) *plan.Step {
		st := &plan.State{ID: id, Fun: "file.exists", Effect: plan.Fail, Comment: "not there", Certain: certain}
		return &plan.Step{ID: id, Fun: "file.exists", Targets: []string{"ctl"}, Groups: []*plan.Group{{Hosts: []string{"ctl"}, States: []*plan.State{st}}}}
	}
	due := func(id string) *plan.Step {
		st := &plan.State{ID: id, Fun: "file.managed", Effect: plan.Change}
		return &plan.Step{ID: id, Fun: "salt.state", Targets: []string{"web1"}, Groups: []*plan.Group{{Hosts: []string{"web1"}, States: []*plan.State{st}}}}
	}
	p := sample(t, 1)
	p.Steps = []*plan.Step{
		{ID: "ping", Fun: "salt.function", Name: "test.ping", Targets: []string{"web1"}, Unknown: "not known until it runs"},
		failing("early", false), due("make"), failing("sure", true),
		{ID: "smoke", Fun: "salt.runner", Name: "state.orchestrate", Targets: []string{}, Orchestration: "smoke", Steps: []*plan.Step{due("inner"), failing("late", false)}},
	}
	for range 2 { // a plan may be finished again
		p.Finish()
		var got []string
		plan.Walk(p.Steps, func(s *plan.Step) bool {
			for _, g := range s.Groups {
				got = append(got, g.States[0].ID+" "+g.States[0].Effect+" "+g.States[0].Unknown)
			}
			return true
		})
		want := []string{"early fail ", "make change ", "sure fail ", "inner change ", "late may_fail may fail, unless these steps mend that: make, inner"}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("states (-want +got):\n%s", d)
		}
		if p.Totals.Failures != 2 || p.Totals.MayFail != 1 || p.Totals.Unknown != 1 || !p.Failed() {
			t.Errorf("Totals %+v", p.Totals)
		}
	}
	data, err := plan.Encode(p, key())
	if err != nil {
		t.Fatal(err)
	}
	testkit.CheckSchema(t, "../../../docs/plan.schema.json", data)
	p.Steps = p.Steps[2:3]
	for range 30 {
		p.Steps = append(p.Steps, due("more"), failing("last", false))
	}
	if p.Finish(); p.Failed() || !p.Due() || p.Totals.MayFail != 30 {
		t.Errorf("what may fail is due and no failure: %+v", p.Totals)
	}
}
