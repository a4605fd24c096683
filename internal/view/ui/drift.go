package ui

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"brine/internal/fleet/drift"
)

// Bounds of the page of drift.
const (
	driftShown  = 200 // hosts
	driftStates = 5   // that deviate, of each host
)

// A driftRow is a host in the list, as one plan found it.
type driftRow struct {
	Plan, Status string
	drift.Record
}

// A driftView is what is known of all hosts.
type driftView struct {
	Rows    []driftRow // those that agree are last
	All     int
	Counts  []string // how many have which status
	Damaged int      // records and files that cannot be read
}

// drift shows which hosts agree with their states.
func (s *Server) drift(w http.ResponseWriter, r *http.Request, v *visit) {
	subjects, faults, err := s.back(r.Context()).drift(r.Context())
	if err != nil {
		s.fault(w, r, err)
		return
	}
	render(w, r, http.StatusOK, driftPage(page{Title: v.limits().titled("Drift"), At: "drift", Who: v}, driftOf(subjects, len(faults), s.opts.Now())))
}

// driftOf returns what is known at a time.
func driftOf(subjects []*drift.Subject, damaged int, now time.Time) driftView {
	v := driftView{Damaged: damaged}
	count := map[string]int{}
	for _, sub := range subjects {
		v.Damaged += sub.Damaged
		for _, rec := range sub.Records {
			x := driftRow{sub.Name, rec.At(now, drift.MaxAge), rec}
			count[x.Status]++
			v.Rows = append(v.Rows, x)
		}
	}
	order := drift.Statuses()
	slices.SortStableFunc(v.Rows, func(a, b driftRow) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Status), slices.Index(order, b.Status)), cmp.Compare(a.Host, b.Host))
	})
	for _, status := range order {
		if count[status] > 0 {
			v.Counts = append(v.Counts, fmt.Sprintf("%d %s", count[status], status))
		}
	}
	v.All = len(v.Rows)
	v.Rows = v.Rows[:min(len(v.Rows), driftShown)]
	return v
}

// driftBadge is the badge with whose colour a status is shown.
func driftBadge(status string) string {
	switch status {
	case drift.Agrees:
		return "ok"
	case drift.Deviates, drift.Unreachable, drift.NoPlan:
		return "failed"
	}
	return "unfinished"
}

// driftTime is a time as pages show it; "never" for none.
func driftTime(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return clock(t.UTC())
}

// deviating says what of a state deviates.
func deviating(d drift.Deviation) string {
	return strings.TrimSpace(d.ID + " (" + d.Fun + ") " + short(d.Text))
}
