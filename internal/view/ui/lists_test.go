package ui

import (
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/internal/fleet/jobs"
	"brine/internal/fleet/kept"
	"brine/internal/py/value"
)

// column are the texts of the heads of rows of a page's table, or the first links in them.
func column(text string) (out []string) {
	for _, m := range regexp.MustCompile(`(?s)<th scope="row">(?:<a[^>]*>)?(.*?)</`).FindAllStringSubmatch(text, -1) {
		out = append(out, html.UnescapeString(strings.TrimSpace(m[1])))
	}
	return out
}

// TestListText says of lists how much of them is shown.
func TestListText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		l    listed
		want string
	}{
		{listed{What: "run", Shown: 1, All: 1}, "1 run"},
		{listed{What: "run"}, "0 runs"},
		{listed{What: "run", Shown: 500, All: 12034}, "500 of 12,034 runs"},
		{listed{What: "run", Shown: 50, From: 50, All: 1234567}, "51 to 100 of 1,234,567 runs"},
		{listed{What: "job", Shown: 50, All: 1000, More: true}, "50 of more than 1,000 jobs"},
		{listed{What: "job", Shown: 1000, All: 1000, More: true}, "1,000 of more than 1,000 jobs"},
	} {
		if got := tt.l.text(); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.l, got, tt.want)
		}
	}
}

// TestListHistory counts, sorts and pages executions.
func TestListHistory(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for day := range 120 {
		s.execute(jidAt(day), fmt.Sprintf("deploy%d", day%3), nil)
	}
	b := s.browser(Viewer)
	text := func(path string) string {
		t.Helper()
		w := b.get(path)
		status(t, path, w, 200)
		return w.Body.String()
	}
	if got := text("/history"); !strings.Contains(got, "50 of 120 executions") {
		t.Errorf("no total: %s", got)
	}
	if got := text("/history?name=deploy1&until=2026-01-31"); !strings.Contains(got, "10 executions") {
		t.Errorf("no total of what is chosen: %s", got)
	}
	first, last := text("/history?sort=name"), text("/history?sort=-name")
	if names := column(first); len(names) != 50 || names[0] != "deploy0" || names[49] != "deploy1" {
		t.Errorf("by name: %v", names)
	}
	if names := column(last); names[0] != "deploy2" || names[49] != "deploy1" {
		t.Errorf("by name, the other way round: %v", names)
	}
	if !strings.Contains(first, `aria-sort="ascending"`) || !strings.Contains(last, `aria-sort="descending"`) || !strings.Contains(first, `href="/history?sort=-name"`) {
		t.Errorf("the heads do not say how the list is sorted: %s", first)
	}
	rest := text("/history?sort=name&from=100")
	if names := column(rest); len(names) != 20 || names[19] != "deploy2" || !strings.Contains(rest, "101 to 120 of 120 executions") {
		t.Errorf("the last part: %v", names)
	}
	if got := text("/history?sort=pillar"); !strings.Contains(got, `role="alert"`) || len(column(got)) > 0 {
		t.Errorf("sorted by nothing: %s", got)
	}
}

// TestListJobs counts and sorts jobs, and those of some days.
func TestListJobs(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for day := range 120 {
		name := []string{"test.ping", "cmd.run", "pkg.install"}[day%3]
		s.record(jobs.Load{JID: jidAt(day), Fun: name, Tgt: "*", User: []string{"zoe", "ann"}[day%2], Minions: []string{"web1"}}, map[string]value.Value{"web1": true}, 0)
	}
	b := s.browser(Viewer)
	text := func(path string) string {
		t.Helper()
		w := b.get(path)
		status(t, path, w, 200)
		return w.Body.String()
	}
	for path, want := range map[string]string{
		"/jobs": "50 of 120 jobs", "/jobs?user=ann": "50 of 60 jobs", "/jobs?since=2026-01-03&until=2026-01-05": "3 jobs", "/jobs?until=2026-01-01": "1 job",
		"/jobs?text=cmd&sort=began": "40 jobs", "/jobs?sort=user&from=100": "101 to 120 of 120 jobs",
		"/jobs?since=soon": "is not a date", "/jobs?sort=none": "is not sorted by",
	} {
		if got := html.UnescapeString(text(path)); !strings.Contains(got, want) {
			t.Errorf("%s: no %q: %s", path, want, got)
		}
	}
	if rows := column(text("/jobs?sort=began")); len(rows) != 50 || rows[0] != jidAt(0) {
		t.Errorf("the oldest first: %v", rows)
	}
	page := text("/jobs?user=ann")
	rows := column(page)
	m := regexp.MustCompile(`href="([^"]*)">Older ones`).FindStringSubmatch(page)
	if m == nil {
		t.Fatalf("no older ones: %s", page)
	}
	for _, jid := range column(text(html.UnescapeString(m[1]))) {
		if slices.Contains(rows, jid) {
			t.Errorf("%s is on both parts", jid)
		}
		rows = append(rows, jid)
	}
	if len(rows) != 60 {
		t.Errorf("%d of 60 jobs are on two parts", len(rows))
	}
}

// TestListHosts sorts hosts by what is known of them, and counts them. Those whose newest job
// changed nothing have no good result of it.
func TestListHosts(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.record(jobs.Load{JID: jidAt(1), Fun: "cmd.run", Tgt: "*", Minions: []string{"web7", "web9"}}, map[string]value.Value{"web7": "no"}, 1)
	s.record(jobs.Load{JID: jidAt(2), Fun: "state.apply", Arg: value.NewList(value.MapOf("__kwarg__", true, "test", true)), Tgt: "*", Minions: []string{"web8"}}, map[string]value.Value{"web8": true}, 0)
	b := s.browser(Viewer)
	text := b.get("/hosts?expr=many&sort=result").Body.String()
	if rows := column(text); len(rows) != 100 || !slices.Contains(rows[:2], "web7") || !slices.Contains(rows[:2], "web9") || !strings.Contains(text, "100 of 250 hosts") {
		t.Errorf("those that failed first: %v", rows[:5])
	}
	if text := b.get("/hosts?expr=many&sort=-result").Body.String(); column(text)[0] != "web8" || !strings.Contains(text, `is-preview">preview`) {
		t.Errorf("those that failed last: %v", column(text)[:5])
	}
	if text := b.get("/hosts?expr=many&from=200").Body.String(); !strings.Contains(text, "201 to 250 of 250 hosts") || len(column(text)) != 50 {
		t.Errorf("the last part: %v", column(text))
	}
	if text := b.get("/hosts?expr=many&sort=x").Body.String(); !strings.Contains(text, `role="alert"`) {
		t.Errorf("sorted by nothing: %s", text)
	}
}

// TestListRuns lists runs, by state, user, text and days, and leaves out those that the
// visitor may not see.
func TestListRuns(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	st := kept.New(s.dir+"/cache", time.Now)
	for i := range 60 {
		name, status := fmt.Sprintf("orch.%02d", i), 0
		if i%20 == 0 {
			status = 1
		}
		r, lock, err := st.Create(kept.Spec{Kind: kept.Orchestrations, Name: name, User: []string{"zoe", "ann"}[i%2], Test: i == 59}, nil, func(*kept.Run) []string { return []string{"orchestrate"} })
		if err != nil {
			t.Fatal(err)
		}
		_ = lock.Close()
		if i == 10 {
			continue // it is lost
		}
		if err := (&kept.Process{Run: r}).End(status, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	b := s.browser(Viewer)
	for path, want := range map[string]string{
		"/runs": "50 of 60 runs", "/runs?state=failed": "3 runs", "/runs?state=lost": "1 run", "/runs?user=ann&text=ORCH.1": "5 runs", "/runs?since=2001-01-01&until=2001-02-01": "There are no such runs",
		"/runs?state=good": "nknown state", "/runs?until=x": "is not a date", "/runs?sort=-run": "orch.59",
	} {
		if got := html.UnescapeString(b.get(path).Body.String()); !strings.Contains(strings.ToLower(got), strings.ToLower(want)) {
			t.Errorf("%s: no %q: %s", path, want, got)
		}
	}
	if rows := column(b.get("/runs?sort=run").Body.String()); len(rows) != 50 || rows[0] != "orch.00" {
		t.Errorf("by name: %v", rows)
	}
	if rows := column(s.guest(Scope{Orchestrations: []string{"orch.0*"}}).get("/runs").Body.String()); len(rows) != 10 {
		t.Errorf("for who is limited: %v", rows)
	}
	if text := b.get("/").Body.String(); !strings.Contains(text, `href="/runs">More runs`) || strings.Count(text, `href="/runs/`) != shownRuns || !strings.Contains(text, "preview") {
		t.Errorf("the first page: %s", text)
	}
}

// TestSearch looks for a text in everything, and says where it does not look.
func TestSearch(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for day := range 30 {
		s.execute(jidAt(day), "Web_site", nil)
	}
	s.fake.recurring = []Recurrence{{Name: "websites", Runs: "chain friday"}}
	s.planned = []Planned{{ID: "x", Chain: "website", At: time.Now(), User: "ann"}}
	b := s.browser(Viewer)
	find := func(q string) string { return b.get("/search?q=" + url.QueryEscape(q)).Body.String() }
	text := find("web")
	for _, want := range []string{`href="/hosts/web1"`, "20 of 30: search for more", `href="/history/` + jidAt(29), ">websites<", `href="/chains/website"`, "Not looked through", `href="/states?text=web"`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q: %s", want, text)
		}
	}
	if text := find("FRIDAY"); !strings.Contains(text, `href="/chains/friday"`) {
		t.Errorf("a chain: %s", text)
	}
	if w := b.get("/search?q=" + jidAt(1)); w.Header().Get("Location") != "/runs/"+jidAt(1) {
		t.Errorf("a job id leads to %q", w.Header().Get("Location"))
	}
	s.unfound = true
	if text := html.UnescapeString(find("web")); !strings.Contains(text, "Not everything was looked through: the roster cannot be read") || !strings.Contains(text, ">websites<") {
		t.Errorf("where the hosts cannot be read: %s", text)
	}
	text = s.guest(Scope{Chains: []string{"friday"}}).get("/search?q=web").Body.String()
	if strings.Contains(text, "/history/") || strings.Contains(text, "/hosts/") || strings.Contains(text, "websites") || !strings.Contains(text, "not for those who are limited") {
		t.Errorf("for who is limited: %s", text)
	}
}

// TestStepLabels has the steps of chains called as people do, wherever they are named.
func TestStepLabels(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"c1_step3_reboot": "Step 3: reboot", "c1_step3_reboot_wait": "Step 3: reboot and wait", "c1_step12_state_db_1": "Step 12: state on db_1", "c1_step2_upgrade_answers": "Step 2: upgrade, and ask for an answer",
		"c1_stepx_y": "c1_stepx_y", "c1_step": "c1_step", "other_step1_cmd": "other_step1_cmd", "c1_step1": "c1_step1",
	} {
		if got := stepLabel("c1", id); got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
	if got := labelled("c1", "One or more requisite failed: chains.c1.c1_step1_cmd, c1_step3_reboot_wait."); got != "One or more requisite failed: Step 1: cmd, Step 3: reboot and wait." {
		t.Errorf("in a text: %q", got)
	}
	s := newSite(t, nil)
	for _, day := range []int{3, 4} {
		s.execute(jidAt(day), "c1", func(row *value.Map) {
			if step := row.Str("step"); step != "" {
				row.Set("step", "c1_"+step+"_cmd")
			}
		})
	}
	s.orchestrated(jidAt(3), jobs.Load{Arg: value.Strings("chains.c1"), Metadata: value.MapOf("chain", "c1")}, "chains.c1")
	b := s.browser(Viewer)
	for _, path := range []string{"/history/" + jidAt(3), "/history/compare?jid=" + jidAt(3) + "&jid=" + jidAt(4), "/jobs/" + jidAt(3), "/hosts/web1"} {
		if text := b.get(path).Body.String(); strings.Contains(text, "c1_step") {
			t.Errorf("%s has the name of a step: %s", path, text)
		}
	}
}
