package ui

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestCalendar(t *testing.T) {
	t.Parallel()
	at := func(text string) time.Time {
		t.Helper()
		x, err := time.Parse("2006-01-02 15:04", text)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	for _, tt := range []struct {
		month, first, last string
		weeks              int
	}{
		{"2026-11", "2026-10-26", "2026-12-06", 6},
		{"2026-02", "2026-01-26", "2026-03-01", 5},
		{"2027-02", "2027-02-01", "2027-02-28", 4}, // four whole weeks
		{"2026-12", "2026-11-30", "2027-01-03", 5},
	} {
		month := at(tt.month + "-01 00:00")
		weeks := calendarOf(month, at("2026-11-29 12:00"), nil)
		first, last := weeks[0][0].Day, weeks[len(weeks)-1][6].Day
		if len(weeks) != tt.weeks || first.Format(time.DateOnly) != tt.first || last.Format(time.DateOnly) != tt.last || first.Weekday() != time.Monday {
			t.Errorf("%s: %d weeks from %s to %s", tt.month, len(weeks), first, last)
		}
	}
	all := []Recurrence{{Name: "often", Next: []time.Time{at("2026-11-30 01:00"), at("2026-11-30 02:00"), at("2026-12-01 01:00")}}}
	entries := coming(all, []Planned{{Chain: "friday", At: at("2026-11-30 00:30")}}, at("2026-11-29 12:00"))
	var got []string
	for _, week := range calendarOf(at("2026-11-01 00:00"), at("2026-11-29 12:00"), entries) {
		for _, d := range week {
			for _, e := range d.Entries {
				got = append(got, d.Day.Format("Jan 2 ")+e.text()+" "+e.status())
			}
		}
	}
	if want := "Nov 30 00:30 friday to run|Nov 30 01:00 often (2 times) to run|Dec 1 01:00 often to run"; strings.Join(got, "|") != want {
		t.Errorf("got %s, want %s", strings.Join(got, "|"), want)
	}
}

func TestRecurringPage(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	b := s.browser(Operator)
	s.fake.recurring = []Recurrence{
		{Name: hostile, Queue: "ops", Runs: "chain " + hostile, When: "every monday 04:00", Zone: "UTC", User: hostile, Skips: 2, Why: hostile, Skipped: time.Unix(0, 0)},
		{Name: "broken", Fault: hostile},
		{Name: "resting", Paused: true},
	}
	w := b.get("/recurring?month=2026-12")
	body := w.Body.String()
	for _, want := range []string{"December 2026", "month=2026-11", "month=2027-01", "2 times were left out", "does not run", "Resume resting", "chain friday"} {
		if w.Code != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%d: the page has no %q", w.Code, want)
		}
	}
	if strings.Contains(body, hostile) {
		t.Error("the page has text that is not escaped")
	}
	for _, month := range []string{"2026-13", "x", "9999-01", "2026-12-01"} {
		if w := b.get("/recurring?month=" + month); w.Code != http.StatusBadRequest {
			t.Errorf("month %s: %d", month, w.Code)
		}
	}
	form := []string{"name", "weekly", "what", "chain friday", "form", "every", "when", "monday 04:00", "queue", "ops"}
	if w := b.post("/recurring", form...); w.Code != http.StatusUnprocessableEntity || len(s.fake.recurring) != 3 {
		t.Errorf("without a confirmation: %d", w.Code)
	}
	b.post("/recurring", append(form, "confirm", "yes")...)
	if n := len(s.fake.recurring); n != 4 || s.fake.recurring[3].Runs != "chain friday" || s.fake.recurring[3].When != "monday 04:00" {
		t.Errorf("added %+v", s.fake.recurring)
	}
	b.post("/recurring/weekly/pause")
	if !s.fake.recurring[3].Paused {
		t.Error("it is not paused")
	}
	if w := b.post("/recurring/nothing/pause"); w.Code != http.StatusNotFound {
		t.Errorf("pause nothing: %d", w.Code)
	}
	b.post("/recurring/weekly/remove")
	if n := len(s.fake.recurring); n != 3 {
		t.Errorf("%d schedules", n)
	}
}
