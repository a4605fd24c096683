package survey_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/runner/fn/survey"
)

// fleet has machines that return what is asked for, and one that does not return.
type fleet struct {
	job  fun.Job
	says map[string]value.Value
	code int
}

func (*fleet) Match(context.Context, value.Value, string) ([]string, error) { return nil, nil }

func (f *fleet) Run(_ context.Context, job fun.Job, each func(fun.Return) error) (fun.Summary, error) {
	f.job = job
	var sum fun.Summary
	for id, v := range f.says {
		r := fun.Return{ID: id, Retcode: f.code, Body: fun.ValueBody{V: v}}
		if v == nil {
			r = fun.Return{ID: id, Stage: fun.Unreachable, Err: errors.New("no route to host")}
			sum.Missing = append(sum.Missing, id)
		}
		if err := each(r); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

func TestRunners(t *testing.T) {
	t.Parallel()
	three := map[string]value.Value{"a1": "x\ny\n", "b2": "x\nz", "c3": "x\ny\n"}
	for _, tt := range []struct {
		name string
		says map[string]value.Value
		code int
		kw   *value.Map
		want string
	}{
		{"hash", three, 0, nil, `[{'pool': ['a1', 'c3'], 'result': 'x\ny\n'}, {'pool': ['b2'], 'result': 'x\nz'}]`},
		{"hash", three, 0, value.MapOf("survey_sort", "up"), `[{'pool': ['b2'], 'result': 'x\nz'}, {'pool': ['a1', 'c3'], 'result': 'x\ny\n'}]`},
		{"hash", three, 0, value.MapOf("survey_sort", "left"), "error: survey_sort must be one of down, up, not 'left'"},
		{"hash", map[string]value.Value{"a1": true, "d4": nil}, 0, nil, "[{'pool': ['a1'], 'result': 'True'}, {'no return': {'d4': 'no route to host'}}] retcode 1"},
		{"hash", map[string]value.Value{"a1": "boo"}, 1, nil, "[{'pool': ['a1'], 'result': 'boo'}] retcode 1"},
		{"hash", nil, 0, nil, "[]"},
		{"diff", three, 0, nil, `[{'pool': ['a1', 'c3'], 'result': 'x\ny\n'}, {'pool': ['b2'], 'result': 'x\nz', 'diff': '--- a1\n+++ b2\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n'}]`},
	} {
		f := &fleet{says: tt.says, code: tt.code}
		if got := call(t, f, tt.name, fun.Args{Pos: []value.Value{"*", "test.echo", "x"}, Kw: tt.kw}); got != tt.want {
			t.Errorf("survey.%s of %v\ngot  %s\nwant %s", tt.name, tt.says, got, tt.want)
		}
	}
}

// TestArguments: what is not of the survey is for the function.
func TestArguments(t *testing.T) {
	t.Parallel()
	f := &fleet{}
	call(t, f, "hash", fun.Args{Pos: []value.Value{"web*", "test.arg", int64(1)}, Kw: value.MapOf("tgt_type", "glob", "a", int64(2))})
	if got := value.Repr(value.NewList(f.job.Tgt, f.job.TgtType, f.job.Fun, value.NewList(f.job.Args.Pos...), f.job.Args.Kw)); got != "['web*', 'glob', 'test.arg', [1], {'a': 2}]" {
		t.Errorf("the job is %s", got)
	}
	if got := call(t, nil, "hash", fun.Args{Pos: []value.Value{"*", "test.ping"}}); got != "error: there is no roster to run on: use 'brine run'" {
		t.Error(got)
	}
}

// TestLongResults: a result may be of any length.
func TestLongResults(t *testing.T) {
	t.Parallel()
	f := &fleet{says: map[string]value.Value{"a1": strings.Repeat("x\n", 6000), "b2": "y"}}
	if got := call(t, f, "diff", fun.Args{Pos: []value.Value{"*", "cmd.run"}}); !strings.Contains(got, "too many lines to compare") {
		t.Errorf("got %.200s", got)
	}
}

func call(t *testing.T, f *fleet, name string, args fun.Args) string {
	t.Helper()
	env := calltest.Env(host.NewFake(), value.NewMap(0), fun.Entry{Kind: fun.Runner, Name: "survey", Load: survey.Runners})
	if f != nil {
		env.Fleet = f
	}
	res, err := env.Invoker.Invoke(t.Context(), fun.Runner, "survey."+name, args)
	switch {
	case err != nil:
		return "error: " + err.Error()
	case res.Retcode != 0:
		return value.Repr(res.Value) + " retcode " + value.Str(int64(res.Retcode))
	}
	return value.Repr(res.Value)
}
