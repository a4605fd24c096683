package ssh

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"brine/cmd/internal/summary"
	"brine/cmd/output"
	"brine/internal/core/fun"
	"brine/internal/core/redact"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// TestRecorded: a record gives back what was run.
func TestRecorded(t *testing.T) {
	t.Parallel()
	kw := value.MapOf("test", true, "pillar", value.MapOf("a", "secret"))
	load := jobs.Load{Fun: "state.apply", Arg: redact.Args(nil, []value.Value{"web", int64(3)}, kw), LeftOut: redact.LeftOut(nil, nil, kw)}.Map()
	if _, err := recorded(&jobs.Job{JID: "1", Load: load}, fun.Job{}); err == nil || !strings.Contains(err.Error(), "pillar=") || strings.Contains(err.Error(), "secret") {
		t.Errorf("a pillar that is not kept: %v", err)
	}
	kw.Delete("pillar")
	load = jobs.Load{Fun: "state.apply", Arg: redact.Args(nil, []value.Value{"web", int64(3)}, kw), LeftOut: redact.LeftOut(nil, nil, kw)}.Map()
	job, err := recorded(&jobs.Job{Load: load}, fun.Job{})
	if err != nil || job.Fun != "state.apply" || len(job.Args.Pos) != 2 || job.Args.Pos[1] != int64(3) || !value.Equal(job.Args.Kw, value.MapOf("test", true)) {
		t.Errorf("%v, %v", job, err)
	}
	load = jobs.Load{Fun: "ssh._raw", Arg: value.NewList("uptime")}.Map()
	if job, err = recorded(&jobs.Job{Load: load}, fun.Job{}); err != nil || job.Shell != "uptime" || job.Fun != "" || len(job.Args.Pos) != 0 {
		t.Errorf("%v, %v", job, err)
	}
	load = jobs.Load{Fun: "ssh._raw"}.Map()
	if _, err = recorded(&jobs.Job{Load: load}, fun.Job{}); err == nil {
		t.Error("a raw command without its text was taken")
	}
}

// TestGroupingOfMany: the results of 10,000 targets, failures in blocks of their own
// behind the others, with bounded names.
func TestGroupingOfMany(t *testing.T) {
	t.Parallel()
	var g grouping
	for i := range 10_000 {
		ret := fun.Return{ID: fmt.Sprintf("web%d", i), Stage: fun.Returned}
		var v value.Value = true
		switch {
		case i%2 == 1: // no two in a row: no ranges
			ret.Retcode, v = 2, "broken"
		case i >= 9000:
			ret.Stage, ret.Err = fun.Refused, &fun.NotBegunError{Wave: 2, Of: 4, Why: errors.New("no")}
			v = ret.Err.Error()
		}
		g.add(ret, v)
	}
	var got []string
	for _, x := range g.sorted() {
		got = append(got, fmt.Sprintf("%d %v %t", len(x.ids), x.v, x.bad))
		if names := summary.FoldSome(x.ids, output.GroupNames); len(names) > 100*len("web9999,")+len(" and 9999 more") {
			t.Errorf("%d characters of names", len(names))
		}
	}
	if want := "4500 true false|5000 broken true|500 not begun: stopped in wave 2 of 4: no true"; strings.Join(got, "|") != want {
		t.Errorf("groups %s, want %s", strings.Join(got, "|"), want)
	}
}
