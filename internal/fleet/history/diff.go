package history

import (
	"context"
	"fmt"
	"strings"

	"brine/internal/py/difflib"
	"brine/internal/py/value"
)

// A Diff is how two executions differ.
type Diff struct {
	Then, Now *Execution
	// Definition is a diff of the definitions, as lines; "" where they are the same.
	Definition string
	Pillar     bool // the pillars differ
	Steps      []StepDiff
}

// A StepDiff is how two executions of a step differ; one side is nil where only
// the other execution has the step.
type StepDiff struct {
	ID        string
	Then, Now *ExecutionStep
	Target    bool // its targets differ
	Pillar    bool // what it was given differs
	Hosts     []HostDiff
}

// A HostDiff is how a target's results of a step differ; one side is nil where
// the target was part of the other execution only.
type HostDiff struct {
	Host      string
	Then, Now *HostResult
}

// Diff compares two executions: their definitions, and what came of them. Steps
// are the same if their IDs and functions are, the first of them with the first
// and so on. Durations do not count.
func (s *Store) Diff(ctx context.Context, then, now *Execution) (*Diff, error) {
	d := &Diff{Then: then, Now: now, Pillar: then.Pillar != now.Pillar}
	if then.Definition != now.Definition {
		a, err := s.Definition(ctx, then.Definition)
		if err != nil {
			return nil, err
		}
		b, err := s.Definition(ctx, now.Definition)
		if err != nil {
			return nil, err
		}
		d.Definition = strings.TrimSuffix(difflib.String(a.lines(), b.lines(), then.JID, now.JID), "\n")
	}
	a, err := s.Steps(ctx, then)
	if err != nil {
		return nil, err
	}
	b, err := s.Steps(ctx, now)
	if err != nil {
		return nil, err
	}
	type name struct{ id, fun string }
	left := make(map[name][]int, len(b)) // steps of b without a counterpart
	for j := range b {
		n := name{b[j].ID, b[j].Fun}
		left[n] = append(left[n], j)
	}
	paired := make([]bool, len(b))
	for i := range a {
		n := name{a[i].ID, a[i].Fun}
		if len(left[n]) == 0 {
			d.step(&a[i], nil)
			continue
		}
		j := left[n][0]
		left[n], paired[j] = left[n][1:], true
		d.step(&a[i], &b[j])
	}
	for j := range b {
		if !paired[j] {
			d.step(nil, &b[j])
		}
	}
	return d, nil
}

// step adds what differs in a step, if anything does.
func (d *Diff) step(then, now *ExecutionStep) {
	if then == nil || now == nil {
		id := ""
		if then != nil {
			id = then.ID
		} else {
			id = now.ID
		}
		d.Steps = append(d.Steps, StepDiff{ID: id, Then: then, Now: now})
		return
	}
	sd := StepDiff{ID: then.ID, Then: then, Now: now, Target: then.Target != now.Target, Pillar: then.Pillar != now.Pillar}
	left := make(map[string]*HostResult, len(now.Hosts)) // results of now without a counterpart
	for j := range now.Hosts {
		left[now.Hosts[j].Host] = &now.Hosts[j]
	}
	for i := range then.Hosts {
		h := &then.Hosts[i]
		o := left[h.Host]
		delete(left, h.Host)
		if o == nil || !h.equal(o) {
			sd.Hosts = append(sd.Hosts, HostDiff{Host: h.Host, Then: h, Now: o})
		}
	}
	for j := range now.Hosts {
		if h := &now.Hosts[j]; left[h.Host] != nil {
			sd.Hosts = append(sd.Hosts, HostDiff{Host: h.Host, Now: h})
		}
	}
	if sd.Target || sd.Pillar || len(sd.Hosts) > 0 || then.Result != now.Result {
		d.Steps = append(d.Steps, sd)
	}
}

// equal reports whether two results are the same but for their times.
func (h *HostResult) equal(o *HostResult) bool {
	return h.Result == o.Result && h.Changed == o.Changed && string(value.EncodeJSON(h.Detail)) == string(value.EncodeJSON(o.Detail))
}

// lines is a definition as text that is compared.
func (d *Definition) lines() []string {
	if d == nil {
		return nil
	}
	out := []string{fmt.Sprintf("%s %s\n", d.Kind, d.Name)}
	if d.Description != "" {
		out = append(out, "description: "+d.Description+"\n")
	}
	for i := range d.Steps {
		s := &d.Steps[i]
		out = append(out, s.ID+": "+s.Fun+"\n")
		add := func(key, text string) {
			if text != "" {
				out = append(out, "  "+key+": "+text+"\n")
			}
		}
		add("action_id", s.ActionID)
		add("label", s.Label)
		add("tgt", s.Target)
		for k, v := range s.Args.All() {
			add(value.Str(k), value.Repr(v))
		}
	}
	return out
}
