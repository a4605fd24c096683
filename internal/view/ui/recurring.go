package ui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"brine/internal/fleet/history"
	"brine/internal/fleet/queue"
)

// A Recurrence is a schedule of a queue.
type Recurrence struct {
	Name, Queue, Runs string // such as "chain friday"
	When, Zone        string
	User              string
	Paused            bool
	Fault             string      // why it does not run
	Next              []time.Time // the next times, as far as they were asked for
	Last              time.Time
	LastJID, Result   string // of the last run
	Skips             int    // times that were left out, Skipped the newest one, Why the reason
	Skipped           time.Time
	Why               string
}

// A NewRecurrence is what somebody asks for.
type NewRecurrence struct {
	Name, Queue, Kind, What string
	Cron, Every             string // one of them
	Zone, Overlap, Missed   string
	User                    string
}

// The things to do with a schedule.
const (
	PauseRecurrence  = "pause"
	ResumeRecurrence = "resume"
	RemoveRecurrence = "remove"
)

// A calendarEntry is something that ran, or is to run.
type calendarEntry struct {
	At     time.Time
	Text   string
	Href   string // "": there is no page
	Status string // of what ran; "": it is to run
	Count  int    // how many at that day
}

// A calendarDay is a day of a calendar.
type calendarDay struct {
	Day     time.Time
	Other   bool // of another month
	Today   bool
	Entries []calendarEntry
	More    int
}

// A recurringView is the page of recurring runs.
type recurringView struct {
	All          []Recurrence
	Fault        string // why there are none
	Month        time.Time
	Weeks        [][]calendarDay
	HistoryFault string
	Chains       []Entry
	SLS          []string
	Templates    bool // the visitor may have some run
	Cut          bool // the month has more executions than are shown
	List         listed
}

// monthLayout is a month in an address.
const monthLayout = "2006-01"

// recurring shows the schedules of queues, and a calendar of what ran and what comes.
func (s *Server) recurring(w http.ResponseWriter, r *http.Request, v *visit) {
	now := s.opts.Now()
	month := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, now.Location())
	if text := r.URL.Query().Get("month"); text != "" {
		asked, err := time.ParseInLocation(monthLayout, text, now.Location())
		if err != nil || asked.Year() < 1970 || asked.Year() > 9000 {
			s.fail(w, r, http.StatusBadRequest, "Not a month", "The month "+short(text)+" is not one such as 2026-12.")
			return
		}
		month = asked
	}
	view := recurringView{Month: month, List: listedOf("/recurring", "schedule", r.URL.Query(), "month")}
	first, last := weeksOf(month)
	ctx := r.Context()
	var err error
	if view.All, err = s.back(ctx).recurring(ctx, last); err != nil {
		view.Fault = err.Error()
	} else if err = sorted(view.List, view.All, recurringOrder()); err != nil {
		view.Fault = err.Error()
	}
	view.List.All, view.List.Shown = len(view.All), len(view.All)
	ran, err := s.executed(ctx, first, last)
	if err != nil {
		view.HistoryFault = err.Error()
	}
	view.Cut = len(ran) == maxCalendar
	var planned []Planned
	if planned, err = s.back(ctx).planned(ctx); err != nil && view.Fault == "" {
		view.Fault = err.Error()
	}
	c, err := s.back(ctx).catalogue(ctx)
	if err != nil {
		s.fault(w, r, err)
		return
	}
	view.Chains = slices.DeleteFunc(slices.Clone(c.Chains), func(x Entry) bool { return x.Fault != "" || !v.plans("chain "+x.Name) })
	view.SLS = slices.DeleteFunc(slices.Clone(c.Orchestrations), func(name string) bool { return !v.plans("orchestration " + name) })
	view.Templates = slices.ContainsFunc(c.Templates, func(x Entry) bool { return v.plans("template " + x.Name) })
	view.Weeks = calendarOf(month, now, slices.Concat(ran, coming(view.All, planned, now)))
	render(w, r, statusOf(r), recurringPage(page{Title: "Recurring", At: "recurring", Who: v, Bad: rejectedOf(r)}, view))
}

// recurringOrder is what the list of schedules is sorted by. Those that have no next time, or
// no last one, come last or first.
func recurringOrder() order[Recurrence] {
	next := func(x Recurrence) time.Time {
		if len(x.Next) == 0 || x.Paused || x.Fault != "" {
			return time.Unix(1<<40, 0)
		}
		return x.Next[0]
	}
	return order[Recurrence]{
		"name": byText(func(x Recurrence) string { return x.Name }), "runs": byText(func(x Recurrence) string { return x.Runs }),
		"next": byTime(next), "last": byTime(func(x Recurrence) time.Time { return x.Last }), "queue": byText(func(x Recurrence) string { return x.Queue }),
	}
}

// weeksOf returns the first moment of the weeks of a month, and the first one behind them.
// Weeks begin on Mondays.
func weeksOf(month time.Time) (first, last time.Time) {
	first = month.AddDate(0, 0, -(int(month.Weekday())+6)%7)
	end := month.AddDate(0, 1, 0)
	return first, end.AddDate(0, 0, (8-int(end.Weekday()))%7)
}

// maxCalendar is how many executions a calendar has.
const maxCalendar = 2000

// executed are the executions of some days, those of a name on a day as one entry.
func (s *Server) executed(ctx context.Context, first, last time.Time) ([]calendarEntry, error) {
	var rows []history.Execution
	err := s.back(ctx).history(ctx, func(st *history.Store) (err error) {
		rows, err = st.Executions(ctx, history.Query{Since: first, Until: last, Limit: maxCalendar})
		return err
	})
	byDay := map[string]*calendarEntry{}
	var out []*calendarEntry
	for i := range rows {
		e := &rows[i]
		if e.Parent != "" || e.Test || !s.back(ctx).limits.allows(e.Kind+"s", e.Name) {
			continue
		}
		at := e.Started.In(first.Location())
		key := at.Format(time.DateOnly) + e.Kind + " " + e.Name + e.Status
		if x := byDay[key]; x != nil {
			x.Count++
			continue
		}
		x := &calendarEntry{At: at, Text: e.Name, Href: path("history", e.JID), Status: e.Status, Count: 1}
		byDay[key] = x
		out = append(out, x)
	}
	all := make([]calendarEntry, len(out))
	for i, x := range out {
		all[i] = *x
	}
	return all, err
}

// coming are the times at which something is to run.
func coming(all []Recurrence, planned []Planned, now time.Time) (out []calendarEntry) {
	for i := range all {
		x := &all[i]
		counts := map[string]int{}
		for _, at := range x.Next {
			at = at.In(now.Location())
			day := at.Format(time.DateOnly)
			if n, ok := counts[day]; ok {
				out[n].Count++
				continue
			}
			counts[day] = len(out)
			out = append(out, calendarEntry{At: at, Text: x.Name, Count: 1})
		}
	}
	for _, p := range planned {
		out = append(out, calendarEntry{At: p.At.In(now.Location()), Text: p.Chain, Href: path("chains", p.Chain), Count: 1})
	}
	return out
}

// dayShown is how many entries a day of a calendar shows.
const dayShown = 6

// calendarOf puts entries into the weeks of a month.
func calendarOf(month, now time.Time, entries []calendarEntry) (weeks [][]calendarDay) {
	byDay := map[string][]calendarEntry{}
	for _, e := range entries {
		key := e.At.Format(time.DateOnly)
		byDay[key] = append(byDay[key], e)
	}
	first, last := weeksOf(month)
	for at := first; at.Before(last); {
		week := make([]calendarDay, 7)
		for i := range week {
			key := at.Format(time.DateOnly)
			d := calendarDay{Day: at, Other: at.Month() != month.Month(), Today: key == now.Format(time.DateOnly), Entries: byDay[key]}
			slices.SortStableFunc(d.Entries, func(a, b calendarEntry) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Text, b.Text)) })
			if n := len(d.Entries) - dayShown; n > 0 {
				d.Entries, d.More = d.Entries[:dayShown], n
			}
			week[i] = d
			at = at.AddDate(0, 0, 1)
		}
		weeks = append(weeks, week)
	}
	return weeks
}

// text is an entry in words.
func (e *calendarEntry) text() string {
	text := e.At.Format("15:04") + " " + e.Text
	if e.Count > 1 {
		text += fmt.Sprintf(" (%d times)", e.Count)
	}
	return text
}

// badge is the badge with whose colour an entry is shown.
func (e *calendarEntry) badge() string {
	switch e.Status {
	case "":
		return "unfinished"
	case history.Succeeded:
		return "ok"
	case history.Running, history.Waiting:
		return "running"
	}
	return "failed"
}

// status is what became of an entry, in a word.
func (e *calendarEntry) status() string { return cmp.Or(e.Status, "to run") }

// recurs is what a form has run again and again: a kind such as chain, and a name.
func recurs(f url.Values) (kind, what string) {
	if t := strings.TrimSpace(f.Get("template")); t != "" {
		return "template", t
	}
	kind, what, _ = strings.Cut(strings.TrimSpace(f.Get("what")), " ")
	return kind, what
}

// addRecurring adds a schedule.
func (s *Server) addRecurring(w http.ResponseWriter, r *http.Request, v *visit) {
	f := r.PostForm
	x := NewRecurrence{
		Name: strings.TrimSpace(f.Get("name")), Queue: strings.TrimSpace(f.Get("queue")), Zone: cmp.Or(strings.TrimSpace(f.Get("zone")), "UTC"),
		Overlap: cmp.Or(f.Get("overlap"), queue.OverlapSkip), Missed: cmp.Or(f.Get("missed"), queue.MissedSkip), User: v.name,
	}
	x.Kind, x.What = recurs(f)
	when := strings.TrimSpace(f.Get("when"))
	if f.Get("form") == "cron" {
		x.Cron = when
	} else {
		x.Every = when
	}
	var err error
	if f.Get("confirm") != "yes" {
		err = onField("confirm-add", "nothing was added: confirm that it is to run regularly")
	} else {
		err = s.back(r.Context()).addRecurring(r.Context(), x)
	}
	if errors.Is(err, ErrNotFound) { // what the form names
		err = OnField("what", errors.New(err.Error()))
		if x.Kind == "template" {
			err = OnField("template", err)
		}
	}
	if err != nil {
		s.reject(w, r, "GET /recurring", "add", err)
		return
	}
	see(w, r, "recurring")
}

// changeRecurring pauses, resumes or removes a schedule.
func changeRecurring(what string) func(*Server, http.ResponseWriter, *http.Request, *visit) {
	return func(s *Server, w http.ResponseWriter, r *http.Request, _ *visit) {
		if err := s.back(r.Context()).changeRecurring(r.Context(), r.PathValue("name"), what); err != nil {
			s.fault(w, r, err)
			return
		}
		see(w, r, "recurring")
	}
}
