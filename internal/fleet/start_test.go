package fleet

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"brine/internal/core/fun"
)

// starting are machines that start at once, but for those named "late...".
type starting struct {
	machines
	steps int
}

func (s *starting) Step() { s.steps++ }

func (s *starting) Watched(w fun.StartWait) []string {
	return slices.DeleteFunc(slices.Clone(w.IDs), func(string) bool { return !w.Fresh })
}

func (s *starting) Starts(_ context.Context, w fun.StartWait, each func(fun.Start)) (late []fun.Late) {
	for _, id := range w.IDs {
		if strings.HasPrefix(id, "late") {
			late = append(late, fun.Late{ID: id, Why: "asleep"})
		} else {
			each(fun.Start{ID: id, Rebooted: true})
		}
	}
	return late
}

// told notes what a progress line would be told.
type told struct{ said []string }

func (n *told) Begin(job fun.Job, ids []string) {
	n.said = append(n.said, fmt.Sprintf("begin %s %v", job.Step, ids))
}
func (n *told) Wave(string, int, int, int) {}
func (n *told) At(_, id string, p Phase)   { n.said = append(n.said, fmt.Sprintf("%s %s", id, p)) }
func (n *told) Sent(_, id string, done, total int64) {
	n.said = append(n.said, fmt.Sprintf("%s %d of %d", id, done, total))
}
func (n *told) Done(r fun.Return) { n.said = append(n.said, "done "+r.ID) }
func (n *told) End(string)        { n.said = append(n.said, "end") }

func TestStarts(t *testing.T) {
	t.Parallel()
	s := &starting{machines: machines{ids: []string{"web1", "late2", "late1"}}}
	n := &told{}
	f := &Fleet{
		Providers: []Provider{&machines{ids: []string{"box1"}}, s}, Watch: n,
		NewJID: func() string { return "20200102030405000000" },
	}
	w := fun.StartWait{IDs: []string{"web1", "box1", "late2", "ghost", "late1"}, Fresh: true, Step: "wait"}
	if got := f.Watched(t.Context(), fun.StartWait{IDs: w.IDs}); len(got) != 0 {
		t.Errorf("Watched without Fresh = %v", got)
	}
	w.IDs = f.Watched(t.Context(), w)
	if got := strings.Join(w.IDs, " "); got != "late1 late2 web1" {
		t.Errorf("Watched = %s", got)
	}
	var back []string
	late := f.Starts(t.Context(), w, func(st fun.Start) { back = append(back, st.ID) })
	if fmt.Sprint(back, late) != "[web1] [{late1 asleep} {late2 asleep}]" {
		t.Errorf("Starts = %v, %v", back, late)
	}
	if got := strings.Join(n.said, "; "); got != "begin wait [late1 late2 web1]; late1 connecting; late2 connecting; web1 connecting; done web1; end" {
		t.Errorf("told: %s", got)
	}
	if _, err := f.Run(t.Context(), fun.Job{Tgt: "web1"}, func(fun.Return) error { return nil }); err != nil || s.steps != 1 {
		t.Errorf("%d steps, %v", s.steps, err)
	}
}
