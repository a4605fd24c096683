package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"brine/internal/py/value"
)

// shownFailures is how many kinds of failures the top of the page of a run has.
const shownFailures = 20

// A failure is what failed in a step, on hosts of which it says the same.
type failure struct {
	Step  int
	ID    string // of the step
	Text  string
	Hosts []string // none: the step itself failed
}

// A tile is a number at the top of the page of a run.
type tile struct{ Name, Text, Class string }

// hostSums are how many hosts of all steps did how. Due are those on which something would
// change, and Unknown those that ended without a result that says more.
type hostSums struct{ All, Good, Bad, Due, Unknown int }

// done is how many hosts have ended.
func (n hostSums) done() int { return n.Good + n.Bad + n.Due + n.Unknown }

// sums counts hosts, and gathers failures that are alike, those of the most hosts first. The
// caller has the run.
func (r *run) sums(limits *Scope, whole bool) (n hostSums, all []failure) {
	for i, s := range r.steps {
		n.All += s.Hosts
		n.Bad += s.Failed
		n.Good += s.Good
		n.Due += s.Due
		n.Unknown += s.Done - s.Failed - s.Good - s.Due
		at := map[string]int{}
		before, unseen := len(all), 0
		_, beyond := s.hidden(limits, whole)
		for _, h := range s.hosts {
			if h.State != "failed" {
				continue
			}
			if !limits.onHost(h.ID) {
				unseen++
				continue
			}
			k, known := at[h.Comment]
			if !known {
				k = len(all)
				at[h.Comment] = k
				all = append(all, failure{Step: i + 1, ID: r.Spec.label(s.ID), Text: h.Comment})
			}
			all[k].Hosts = append(all[k].Hosts, h.ID)
		}
		switch {
		case unseen > 0:
			all = append(all, failure{Step: i + 1, ID: r.Spec.label(s.ID), Text: limits.hiddenText(unseen)})
		case s.State == "failed" && len(all) == before && beyond:
			all = append(all, failure{Step: i + 1, ID: r.Spec.label(s.ID), Text: limits.hiddenText(0)})
		case s.State == "failed" && len(all) == before:
			all = append(all, failure{Step: i + 1, ID: r.Spec.label(s.ID), Text: r.Spec.labels(s.Comment)})
		}
	}
	for i := range all {
		slices.Sort(all[i].Hosts)
	}
	slices.SortFunc(all, func(x, y failure) int {
		if d := len(y.Hosts) - len(x.Hosts); d != 0 {
			return d
		}
		if d := x.Step - y.Step; d != 0 {
			return d
		}
		return strings.Compare(x.Text, y.Text)
	})
	return n, all
}

// tiles are the numbers at the top of the page.
func (v runView) tiles() []tile {
	out := []tile{{"Steps", fmt.Sprintf("%d of %d", v.Done, max(v.Total, v.Done)), ""}}
	if v.Failed > 0 {
		out = append(out, tile{"Steps failed", fmt.Sprint(v.Failed), "is-failed"})
	}
	if n := v.Hosts; n.All > 0 {
		out = append(out, tile{"Hosts done", fmt.Sprintf("%d of %d", n.done(), n.All), ""})
		for _, x := range []struct {
			n           int
			name, class string
		}{{n.Good, "Hosts good", "is-ok"}, {n.Due, "Hosts that would change", "is-would_change"}, {n.Unknown, "Hosts with no result", "is-unfinished"}, {n.Bad, "Hosts failed", "is-failed"}} {
			if x.n > 0 {
				out = append(out, tile{x.name, fmt.Sprint(x.n), x.class})
			}
		}
	}
	if v.over() {
		out = append(out, tile{"Time", durationText(v.Ended.Sub(v.Started).Round(time.Millisecond)), ""})
	}
	return out
}

// failuresText is how many kinds of failures there are.
func failuresText(all []failure) string {
	return fmt.Sprintf("%d kind%s of failure", len(all), value.Plural(len(all)))
}
