package ui

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"time"

	"brine/internal/fleet/queue"
)

// A RecurringSchedule is a schedule of a queue.
type RecurringSchedule struct {
	Name       string     `json:"name"`
	Queue      string     `json:"queue"`
	Runs       string     `json:"runs" doc:"What it runs, such as 'chain friday'."`
	When       string     `json:"when" doc:"An interval or a time, such as 'every 6h', or the fields of a crontab."`
	Timezone   string     `json:"timezone"`
	User       string     `json:"user,omitempty" doc:"Who added it."`
	Paused     bool       `json:"paused"`
	Fault      string     `json:"fault,omitempty" doc:"Why it does not run."`
	Next       *time.Time `json:"next,omitempty" doc:"The next time, within a year."`
	Last       *time.Time `json:"last,omitempty"`
	LastJID    string     `json:"last_jid,omitempty"`
	LastResult string     `json:"last_result,omitempty" doc:"The state of the last run in its queue."`
	Skips      int        `json:"skips" doc:"How many times were left out."`
	Skipped    *time.Time `json:"skipped,omitempty" doc:"The newest time that was left out."`
	Why        string     `json:"why,omitempty" doc:"Why it was left out."`
}

// A RecurringScheduleList is the schedules of the queues.
type RecurringScheduleList struct {
	Items []RecurringSchedule `json:"items" doc:"By name."`
}

// addRecurringSchedule asks for a schedule.
type addRecurringSchedule struct {
	Name     string `json:"name"`
	Queue    string `json:"queue" doc:"The queue whose workers run it."`
	Kind     string `json:"kind" enum:"chain,orchestration,template"`
	What     string `json:"what" doc:"The name of what runs; of a template, with the label of kept answers: NAME@LABEL."`
	Cron     string `json:"cron,omitempty" doc:"When: the fields of a crontab."`
	Every    string `json:"every,omitempty" doc:"When, instead: an interval such as 6h, or a time such as 'sunday 04:00'."`
	Timezone string `json:"timezone,omitempty" doc:"UTC if it is not given."`
	Overlap  string `json:"overlap,omitempty" enum:"skip,queue" doc:"If the last run has not ended; skip if it is not given."`
	Missed   string `json:"missed,omitempty" enum:"skip,run" doc:"If no worker was there in time; skip if it is not given."`
}

func (x addRecurringSchedule) form() url.Values {
	return url.Values{"name": {x.Name}, "what": {x.Kind + " " + x.What}, "when": {cmp.Or(x.Cron, x.Every)}, "zone": {x.Timezone}, "queue": {x.Queue}}
}

// shownNext is how far the next time of a schedule is looked for.
const shownNext = 366 * 24 * time.Hour

// known is a time, unless it is zero.
func known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func recurringFrom(x *Recurrence) RecurringSchedule {
	out := RecurringSchedule{
		Name: x.Name, Queue: x.Queue, Runs: x.Runs, When: x.When, Timezone: x.Zone, User: x.User, Paused: x.Paused, Fault: x.Fault,
		Last: known(x.Last), LastJID: x.LastJID, LastResult: x.Result, Skips: x.Skips, Skipped: known(x.Skipped), Why: x.Why,
	}
	if len(x.Next) > 0 {
		out.Next = known(x.Next[0])
	}
	return out
}

func (s *Server) apiRecurring(c *apiCall, _ *nothing) (*RecurringScheduleList, error) {
	all, err := s.back(c.r.Context()).recurring(c.r.Context(), s.opts.Now().Add(shownNext))
	out := &RecurringScheduleList{Items: []RecurringSchedule{}}
	for i := range all {
		out.Items = append(out.Items, recurringFrom(&all[i]))
	}
	return out, err
}

// recurringOf returns a schedule with a name.
func (s *Server) recurringOf(c *apiCall, name string) (*RecurringSchedule, error) {
	all, err := s.apiRecurring(c, nil)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all.Items, func(x RecurringSchedule) bool { return x.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("schedule %s: %w", name, ErrNotFound)
	}
	return &all.Items[i], nil
}

func (s *Server) apiAddRecurring(c *apiCall, in *addRecurringSchedule) (*RecurringSchedule, error) {
	if !slices.Contains([]string{"chain", "orchestration", "template"}, in.Kind) {
		return nil, &apiError{kind: badBody, detail: fmt.Sprintf("kind: %q is none of chain, orchestration and template.", in.Kind)}
	}
	if (in.Cron == "") == (in.Every == "") {
		return nil, &apiError{kind: badBody, detail: "Say when it runs, by one of cron and every."}
	}
	err := s.back(c.r.Context()).addRecurring(c.r.Context(), NewRecurrence{
		Name: in.Name, Queue: in.Queue, Kind: in.Kind, What: in.What, Cron: in.Cron, Every: in.Every, Zone: cmp.Or(in.Timezone, "UTC"),
		Overlap: cmp.Or(in.Overlap, queue.OverlapSkip), Missed: cmp.Or(in.Missed, queue.MissedSkip), User: c.v.name,
	})
	if err != nil {
		return nil, err
	}
	return s.recurringOf(c, in.Name)
}

// apiChangeRecurring pauses or resumes a schedule.
func apiChangeRecurring(what string) func(*Server, *apiCall, *nothing) (*RecurringSchedule, error) {
	return func(s *Server, c *apiCall, _ *nothing) (*RecurringSchedule, error) {
		name := c.r.PathValue("name")
		if err := s.back(c.r.Context()).changeRecurring(c.r.Context(), name, what); err != nil {
			return nil, err
		}
		return s.recurringOf(c, name)
	}
}

func (s *Server) apiRemoveRecurring(c *apiCall, _ *nothing) (*nothing, error) {
	return nil, s.back(c.r.Context()).changeRecurring(c.r.Context(), c.r.PathValue("name"), RemoveRecurrence)
}
