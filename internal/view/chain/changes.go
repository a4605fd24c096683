package chain

import (
	"cmp"
	"fmt"
	"slices"

	"brine/internal/py/value"
)

// Changes says in lines what is different in a later version of a chain. Values of
// pillars are left out: they may be secret.
func Changes(then, now *Chain) []string {
	var out []string
	if then.Description != now.Description {
		out = append(out, fmt.Sprintf("description: %q", now.Description))
	}
	if a, b := approves(then.Approve), approves(now.Approve); a != b {
		out = append(out, "approval before it starts: "+cmp.Or(b, "none"))
	}
	var before, after []int64 // ids of the steps that both have
	for i := range then.Steps {
		old := &then.Steps[i]
		k := slices.IndexFunc(now.Steps, func(s Step) bool { return s.ID == old.ID })
		if k < 0 {
			out = append(out, fmt.Sprintf("removed step %d: %s", i+1, old.Summary()))
			continue
		}
		before = append(before, old.ID)
		if text := old.becomes(&now.Steps[k]); text != "" {
			out = append(out, fmt.Sprintf("step %d: %s", i+1, text))
		}
	}
	for i := range now.Steps {
		s := &now.Steps[i]
		if slices.Contains(before, s.ID) {
			after = append(after, s.ID)
		} else {
			out = append(out, fmt.Sprintf("new step %d: %s", i+1, s.Summary()))
		}
	}
	if !slices.Equal(before, after) {
		out = append(out, fmt.Sprintf("order of the actions: %d", after))
	}
	return out
}

// becomes says how a step differs from the one that takes its place; "": it does
// not.
func (s *Step) becomes(now *Step) string {
	a, b := s.Summary(), now.Summary()
	switch {
	case a != b:
		return a + " -> " + b
	case !value.Equal(s.Pillar, now.Pillar) || !value.Equal(s.PillarFor, now.PillarFor):
		return b + ", with another pillar"
	case approves(s.Approve) != approves(now.Approve):
		return b + ", with the approval of " + cmp.Or(approves(now.Approve), "nobody")
	case s.Test != now.Test || s.Timeout != now.Timeout || !value.Equal(s.Packages, now.Packages) || s.Action != now.Action:
		return b + ", with other options"
	}
	return ""
}
