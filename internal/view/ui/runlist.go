package ui

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// runsShown is how many runs a page lists.
const runsShown = 50

// A runsView is the list of runs as a page shows it.
type runsView struct {
	listed
	period
	Text, User, State string
	Rows              []runView
	Problem           string
}

// runStates are the states that the list of runs can be filtered by.
var runStates = []string{"running", "waiting", "stopping", "succeeded", "failed", "stopped", "refused", "interrupted", "lost", "unreadable"}

// runOrder is what the list of runs is sorted by.
func runOrder() order[runView] {
	return order[runView]{
		"run":     byText(func(x runView) string { return x.Spec.title() }),
		"status":  byText(runView.state),
		"started": byTime(func(x runView) time.Time { return x.Started }),
		"time":    func(a, b runView) int { return int(a.took() - b.took()) },
		"user":    byText(func(x runView) string { return x.User }),
	}
}

// took is how long the run took; 0 while it is under way.
func (v runView) took() time.Duration {
	if !v.over() {
		return 0
	}
	return v.Ended.Sub(v.Started)
}

// runList lists the runs that are kept.
func (s *Server) runList(w http.ResponseWriter, r *http.Request, v *visit) {
	q := r.URL.Query()
	x := runsView{listed: listedOf("/runs", "run", q, "text", "user", "state", "since", "until")}
	x.Text, x.User, x.State, x.period = x.Query.Get("text"), x.Query.Get("user"), x.Query.Get("state"), period{x.Query.Get("since"), x.Query.Get("until")}
	from, to, err := x.times()
	if err == nil && x.State != "" && !slices.Contains(runStates, x.State) {
		err = onField("state", fmt.Sprintf("unknown state %q: write one of %s", x.State, strings.Join(runStates, ", ")))
	}
	var rows []runView
	if err == nil {
		text := strings.ToLower(x.Text)
		err = s.eachRun(r.Context(), func(v runView) bool {
			outside := !from.IsZero() && v.Started.Before(from) || !to.IsZero() && v.Started.After(to)
			if !outside && (x.User == "" || v.User == x.User) && (x.State == "" || v.state() == x.State) && v.has(text) {
				rows = append(rows, v)
			}
			return true
		})
	}
	if err == nil {
		err = sorted(x.listed, rows, runOrder())
	}
	if err != nil {
		x.Problem, rows = err.Error(), nil
	}
	x.Rows = cutList(&x.listed, rows, runsShown)
	render(w, r, http.StatusOK, runsPage(page{Title: "Runs", At: "runs", Who: v}, x))
}

// has reports whether the run has a text, in small letters, in its id, its name or its user.
func (v runView) has(text string) bool {
	return strings.Contains(strings.ToLower(v.ID+" "+v.Spec.title()+" "+v.User), text)
}
