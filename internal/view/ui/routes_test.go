package ui

import (
	"context"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/internal/fleet/approval"
	"brine/internal/fleet/drift"
	"brine/internal/fleet/facts"
	"brine/internal/fleet/history"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/kept"
	"brine/internal/py/value"
	"brine/internal/view/chain"
	"brine/internal/view/form"
	"brine/internal/view/orchestration"
)

var updateTable = flag.Bool("update", false, "write the table of the routes to docs/ui.md, and docs/openapi.json")

// A spy is a Backend that notes which powers its calls take, whoever grants them.
type spy struct {
	*fake
	mu    sync.Mutex
	used  powers
	specs []kept.Spec // of runs that were started
}

func (s *spy) note(p powers) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used |= p
}

// took returns the powers since it was called last.
func (s *spy) took() powers {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.used
	s.used = 0
	return p
}

func (s *spy) Recurring(ctx context.Context, until time.Time) ([]Recurrence, error) {
	s.note(readNames)
	return s.fake.Recurring(ctx, until)
}

func (s *spy) AddRecurring(ctx context.Context, x NewRecurrence) error {
	s.note(planRuns)
	return s.fake.AddRecurring(ctx, x)
}

func (s *spy) ChangeRecurring(ctx context.Context, name, what string) error {
	s.note(planRuns)
	return s.fake.ChangeRecurring(ctx, name, what)
}

// recurringOne adds the schedule weekly.
func recurringOne(s *site, _ *spy) string {
	if err := s.AddRecurring(s.t.Context(), NewRecurrence{Name: "weekly", Kind: "chain", What: "friday"}); err != nil {
		s.t.Error(err)
	}
	return ""
}

func (s *spy) Catalogue(ctx context.Context) (*Catalogue, error) {
	s.note(readNames)
	return s.fake.Catalogue(ctx)
}

func (s *spy) Steps(ctx context.Context, sls string) (*value.List, string, error) {
	s.note(readSteps | runTemplates)
	return s.fake.Steps(ctx, sls)
}

func (s *spy) Match(ctx context.Context, expr string, sight MatchLevel) ([]string, string, error) {
	s.note([]powers{knownPowers, exactPowers, fullPowers, knownPowers | readRecords}[sight])
	return s.fake.Match(ctx, expr, sight)
}

func (s *spy) Redact(ctx context.Context, texts []string) ([]string, error) {
	s.note(runTemplates)
	return s.fake.Redact(ctx, texts)
}

func (s *spy) Chains(ctx context.Context) (*chain.Store, error) {
	s.note(readSteps)
	return s.fake.Chains(ctx)
}

func (s *spy) CheckChain(ctx context.Context, name string) (faults, unsure []string, err error) {
	s.note(checkPowers)
	return s.fake.CheckChain(ctx, name)
}

func (s *spy) CheckOrchestration(ctx context.Context, name string) (faults, unsure []string, err error) {
	return s.CheckChain(ctx, name)
}

func (s *spy) CheckTemplate(ctx context.Context, name string) (faults, unsure []string, err error) {
	return s.CheckChain(ctx, name)
}

func (s *spy) Template(ctx context.Context, name string) (*orchestration.Template, *orchestration.Answers, error) {
	s.note(readNames)
	t, _, err := s.fake.Template(ctx, name)
	a := orchestration.NewAnswers()
	a.Values.Set("port", "31337")
	return t, a, err
}

func (s *spy) Form(ctx context.Context, sls string) (*form.Form, error) {
	s.note(readText)
	return s.fake.Form(ctx, sls)
}

func (s *spy) Jobs(ctx context.Context, f func(*jobs.Files) error) error {
	s.note(readRecords)
	return s.fake.Jobs(ctx, f)
}

func (s *spy) History(ctx context.Context, f func(*history.Store) error) error {
	s.note(readRecords)
	return s.fake.History(ctx, f)
}

func (s *spy) Drift(ctx context.Context) ([]*drift.Subject, []error, error) {
	s.note(readRecords)
	return s.fake.Drift(ctx)
}

func (s *spy) Facts(ctx context.Context, ids []string) (map[string]*facts.Facts, []error, error) {
	s.note(readRecords)
	return s.fake.Facts(ctx, ids)
}

func (s *spy) States(ctx context.Context, f func([]string, func(string) string) error) error {
	s.note(readNames)
	return s.fake.States(ctx, f)
}

func (s *spy) State(ctx context.Context, sls string) (*value.List, string, error) {
	s.note(readSteps | runTemplates)
	return s.fake.State(ctx, sls)
}

func (s *spy) Planned(ctx context.Context) ([]Planned, error) {
	s.note(readNames)
	return s.fake.Planned(ctx)
}

func (s *spy) Schedule(ctx context.Context, chain, at, user string, hosts []string) error {
	s.note(planRuns)
	return s.fake.Schedule(ctx, chain, at, user, hosts)
}

func (s *spy) Unschedule(ctx context.Context, id string) error {
	s.note(planRuns)
	return s.fake.Unschedule(ctx, id)
}

func (s *spy) SendEvent(ctx context.Context, tag string, data *value.Map) (string, error) {
	s.note(sendEvents)
	return s.fake.SendEvent(ctx, tag, data)
}

func (s *spy) Approve(ctx context.Context, id, definition string, a approval.Answer) (*approval.Entry, error) {
	s.note(answerRuns)
	return s.fake.Approve(ctx, id, definition, a)
}

// Start notes that a job which is not defined is run, if the test recorded it as such.
func (s *spy) Start(ctx context.Context, spec kept.Spec, answers *value.Map) (*kept.Run, error) {
	s.mu.Lock()
	s.specs = append(s.specs, spec)
	s.mu.Unlock()
	if slices.Contains(spec.Args, adHocJID) || slices.Contains(spec.Args, adHocOrchJID) || spec.Kind == kept.Functions && spec.AdHoc {
		s.note(runAny)
	} else {
		s.note(runDefined)
	}
	return s.fake.Start(ctx, spec, answers)
}

func (s *spy) End(ctx context.Context, r *kept.Run) error {
	s.note(endRuns)
	return s.fake.End(ctx, r)
}

func (s *spy) Drain(ctx context.Context, jid string) error {
	s.note(endRuns)
	return s.fake.Drain(ctx, jid)
}

// What the site of the test has.
const (
	adHocJID     = "20260101000000000100" // cmd.run of an administrator
	adHocOrchJID = "20260101000000000200" // an orchestration that is not on the pages
	orchJID      = "20260101000000000300"
	stepJID      = "20260101000000000301" // a step of it
	chainJID     = "20260101000000000400"
	chainStepJID = "20260101000000000401"
	pingJID      = "20260101000000000500"
	siteJID      = "20260101000000000600" // the template
	fakeJID      = "20260101000000000000" // of what the fake runs
	otherEnvJID  = "20260101000000000700" // orch.deploy of another saltenv
	hidden       = "password=hunter2-hidden"
	saidByWeb1   = "web1 says no"
)

// sampleSite is a site with something behind each route.
func sampleSite(t *testing.T, origins ...string) (*site, *spy) {
	t.Helper()
	var sp *spy
	s := newSite(t, func(o *Options) {
		sp = &spy{fake: o.Backend.(*fake)}
		o.Backend = sp
		o.Origins = append(o.Origins, origins...)
	})
	st, _ := s.Chains(t.Context())
	for _, name := range []string{"friday", "monday"} {
		if err := st.Write(name, nil, []byte("description: about\nsteps:\n  - {id: 1, action: cmd, command: 'run "+hidden+"', targets: web1}\n  - {id: 2, action: wait, seconds: 1}\n")); err != nil {
			t.Fatal(err)
		}
	}
	c, _, err := st.Read("friday")
	if err != nil {
		t.Fatal(err)
	}
	bad := map[string]value.Value{"web1": saidByWeb1}
	s.record(jobs.Load{JID: adHocJID, Fun: "cmd.run", Arg: value.Strings("id"), Tgt: "*", Minions: []string{"web1"}}, bad, 1)
	s.record(jobs.Load{JID: pingJID, Fun: "test.ping", Tgt: "*", Minions: []string{"web1"}}, bad, 1)
	s.orchestrated(adHocOrchJID, jobs.Load{Arg: value.Strings("secret.sls")}, "secret.sls")
	s.orchestrated(fakeJID, jobs.Load{Arg: value.Strings("orch.deploy")}, "orch.deploy")
	s.orchestrated(orchJID, jobs.Load{Arg: value.Strings("orch.deploy")}, "orch.deploy")
	s.record(jobs.Load{JID: stepJID, Fun: "cmd.run", Arg: value.Strings("id"), Tgt: "*", Minions: []string{"web1"}, OrchJID: orchJID}, bad, 1)
	s.orchestrated(chainJID, jobs.Load{Arg: value.Strings("chains.friday"), Metadata: value.MapOf("chain", "friday", "definition", c.Hash())}, "chains.friday")
	s.record(jobs.Load{JID: chainStepJID, Fun: "cmd.run", Arg: value.Strings("id"), Tgt: "*", Minions: []string{"web1"}, OrchJID: chainJID}, bad, 1)
	s.orchestrated(siteJID, jobs.Load{Arg: value.Strings("site"), LeftOut: []string{"pillar"}}, "site")
	s.orchestrated(otherEnvJID, jobs.Load{Arg: value.NewList("orch.deploy", value.MapOf("__kwarg__", true, "saltenv", "dev"))}, "orch.deploy")
	s.execute(jidAt(1), "deploy", nil)
	s.execute(jidAt(2), "deploy", nil)
	return s, sp
}

// orchestrated stores an orchestration whose only step did not succeed.
func (s *site) orchestrated(jid string, l jobs.Load, sls string) {
	s.t.Helper()
	l.JID, l.Fun, l.Tgt, l.Runner, l.Minions = jid, "runner.state.orchestrate", "ctl", true, []string{"ctl"}
	f := jobs.NewFiles(filepath.Join(s.dir, "cache"), 0, s.opts.Now)
	rec, err := f.Begin(l)
	if err == nil {
		err = rec.Note("definition", value.MapOf("sls", value.Strings(sls), "low", value.NewList(value.MapOf("__id__", "x", "state", "salt", "fun", "function"))))
	}
	if err == nil {
		err = rec.End()
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// A sample is a request of a route.
type sample struct {
	path string
	form []string
	// least is the lowest role that this very request is for, where it is above that of
	// the row.
	least Role
	// before starts what the request needs, and returns what stands for RUN in the path.
	before func(*site, *spy) string
	want   int // status where it is allowed; 0: 200 or 303
}

// with is the path and the form with the id of a run.
func (m sample) with(id string) (path string, form []string) {
	if m.form != nil {
		form = []string{}
	}
	for _, x := range m.form {
		form = append(form, strings.ReplaceAll(x, "RUN", id))
	}
	return strings.ReplaceAll(m.path, "RUN", id), form
}

// aRun starts a run of the pages, over where end is set.
func aRun(over bool) func(*site, *spy) string {
	return func(s *site, sp *spy) string {
		x, _, err := s.runs.start(s.t.Context(), runSpec{Spec: kept.Spec{Kind: kept.Orchestrations, Name: "orch.deploy"}}, "editor")
		if err != nil {
			s.t.Fatal(err)
		}
		<-s.ran
		if over {
			s.fake.end <- 1
			<-x.done()
		}
		return x.ID
	}
}

// done is closed when a run has ended.
func (r *run) done() <-chan struct{} {
	out := make(chan struct{})
	go func() {
		defer close(out)
		for !r.isOver() {
			_, changed := r.view(1<<30, &Scope{})
			if r.isOver() {
				return
			}
			<-changed
		}
	}()
	return out
}

// asks has a run of ann wait for an approval, and returns its ID.
func asks(s *site, _ *spy) string {
	st := approval.New(filepath.Join(s.dir, "cache"), time.Now)
	if e, err := st.Entry(chainJID + "-start"); err == nil && e.Waits() { // asked for an earlier request
		return e.ID()
	}
	w, err := st.Ask(approval.Question{JID: chainJID, Kind: "chain", Name: "friday", Point: approval.Start, User: "ann", What: []string{hostile}, By: []string{"operator", "token:ci"}})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = w.Close() })
	return chainJID + "-start"
}

// samples are requests of all routes, by their patterns.
func samples(version string) map[string][]sample {
	planned := func(s *site, _ *spy) string {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.planned = []Planned{{ID: "friday-0", Chain: "friday", At: s.opts.Now()}}
		return ""
	}
	chainForm := func(kv ...string) []string { return append(kv, "version", version) }
	return map[string][]sample{
		"GET /assets/{file}":                  {{path: "/assets/app.js"}},
		"GET /login":                          {{path: "/login"}},
		"GET /login/oidc":                     {{path: "/login/oidc", want: 404}},
		"GET /login/oidc/callback":            {{path: "/login/oidc/callback?code=x&state=y", want: 404}},
		"POST /login":                         {{path: "/login", form: []string{"name", "x"}, want: 403}},
		"POST /logout":                        {{path: "/logout", form: []string{}}},
		"GET /{$}":                            {{path: "/"}},
		"GET /search":                         {{path: "/search?q=x"}},
		"GET /runs":                           {{path: "/runs?state=failed&sort=time"}},
		"GET /orchestrations/{sls}":           {{path: "/orchestrations/orch.deploy"}},
		"GET /orchestrations/{sls}/graph.svg": {{path: "/orchestrations/orch.deploy/graph.svg"}},
		"GET /orchestrations/{sls}/step":      {{path: "/orchestrations/orch.deploy/step?chain=friday"}},
		"POST /orchestrations/{sls}/run":      {{path: "/orchestrations/orch.deploy/run", form: []string{"confirm", "yes"}}},
		"POST /orchestrations/{sls}/plan":     {{path: "/orchestrations/orch.deploy/plan", form: []string{}}},
		"POST /chains/{name}/plan":            {{path: "/chains/friday/plan", form: chainForm("once", "1")}},
		"GET /chains/{name}":                  {{path: "/chains/friday"}},
		"GET /orchestrations/{sls}/check":     {{path: "/orchestrations/orch.deploy/check"}},
		"GET /templates/{name}/check":         {{path: "/templates/site/check"}},
		"GET /chains/{name}/check":            {{path: "/chains/friday/check"}},
		"POST /chains/{name}/run":             {{path: "/chains/friday/run", form: chainForm("confirm", "yes")}},
		"POST /chains/{name}/schedule":        {{path: "/chains/friday/schedule", form: chainForm("confirm", "yes", "at", "2099-01-01T00:00")}},
		"POST /chains/{name}/unschedule":      {{path: "/chains/friday/unschedule", form: []string{"id", "friday-0"}, before: planned}},
		"POST /chains":                        {{path: "/chains", form: []string{"name", "new"}}},
		"POST /chains/{name}/clone":           {{path: "/chains/friday/clone", form: []string{"name", "copy"}}},
		"POST /chains/{name}/delete":          {{path: "/chains/monday/delete", form: chainForm("confirm", "yes")}},
		"POST /chains/{name}/move":            {{path: "/chains/friday/move", form: chainForm("step", "1", "to", "2")}},
		"POST /chains/{name}/remove":          {{path: "/chains/friday/remove", form: chainForm("step", "1")}},
		"POST /chains/{name}/targets":         {{path: "/chains/friday/targets", form: chainForm("step", "1", "targets", "db1")}},
		"POST /chains/{name}/about":           {{path: "/chains/friday/about", form: chainForm("name", "tuesday", "description", "new")}},
		"POST /chains/{name}/approve":         {{path: "/chains/friday/approve", form: chainForm("step", "1", "who", "any")}},
		"GET /chains/{name}/text":             {{path: "/chains/friday/text"}},
		"POST /chains/{name}/text":            {{path: "/chains/friday/text", form: chainForm("text", "steps: []\n")}},
		"GET /chains/{name}/step":             {{path: "/chains/friday/step?step=1"}},
		"POST /chains/{name}/step":            {{path: "/chains/friday/step", form: chainForm("action", "wait", "seconds", "1")}},
		"GET /templates/{name}":               {{path: "/templates/site"}},
		"POST /templates/{name}": {
			{path: "/templates/site", form: []string{"op", "run", "confirm", "yes", "t:web", "web1", "v:port", "80", "v:token", "0123", "n:users", "0"}},
			{path: "/templates/site", form: []string{"op", "run", "confirm", "yes", "t:web", "web1", "v:port", "80", "v:token", "0123", "n:users", "0", "resume", siteJID}},
			{path: "/templates/site", form: []string{"op", "run", "confirm", "yes", "resume", adHocOrchJID}, want: 422},
			{path: "/templates/site", form: []string{"op", "plan", "t:web", "web1", "v:port", "80", "v:token", "0123", "n:users", "0"}},
			{path: "/templates/site", form: []string{"op", "run", "confirm", "yes", "t:web", "web1", "v:port", "80", "v:token", "0123", "n:users", "0", "plan", "RUN"}, before: planOf(kept.TemplatePlans, "site")},
		},
		"GET /runs/{id}":               {{path: "/runs/RUN", before: aRun(true)}},
		"GET /runs/{id}/events":        {{path: "/runs/RUN/events", before: aRun(true)}},
		"GET /runs/{id}/hosts":         {{path: "/runs/RUN/hosts?step=1", before: aRun(true)}},
		"GET /runs/{id}/output":        {{path: "/runs/RUN/output?host=web1", before: aRun(true)}, {path: "/runs/RUN/output?q=x", before: aRun(false)}},
		"GET /runs/{id}/output/events": {{path: "/runs/RUN/output/events?host=web1", before: aRun(true)}},
		"GET /runs/{id}/output/log":    {{path: "/runs/RUN/output/log", before: aRun(true)}},
		"GET /runs/{id}/plan":          {{path: "/runs/RUN/plan?format=diff", before: aPlan}},
		"POST /runs/{id}/apply":        {{path: "/runs/RUN/apply", form: []string{"confirm", "yes"}, before: aPlan}, {path: "/runs/RUN/apply", form: []string{}, before: planOf(kept.TemplatePlans, "site")}},
		"POST /runs/{id}/stop":         {{path: "/runs/RUN/stop", form: []string{}, before: aRun(false)}},
		"POST /runs/{id}/kill":         {{path: "/runs/RUN/kill", form: []string{}, before: aRun(false)}},
		"POST /runs/{id}/resume":       {{path: "/runs/RUN/resume", form: []string{}, before: aRun(true)}},
		"GET /approvals":               {{path: "/approvals", before: asks}},
		"POST /approvals/{id}/approve": {{path: "/approvals/RUN/approve", form: []string{"comment", "x"}, before: asks}},
		"POST /approvals/{id}/refuse":  {{path: "/approvals/RUN/refuse", form: []string{"comment", "x"}, before: asks}},
		"GET /history":                 {{path: "/history"}},
		"GET /history/compare":         {{path: "/history/compare?jid=" + jidAt(1) + "&jid=" + jidAt(2)}},
		"GET /history/{jid}":           {{path: "/history/" + jidAt(1)}},
		"GET /history/{jid}/events":    {{path: "/history/" + jidAt(1) + "/events"}},
		"GET /jobs":                    {{path: "/jobs?all=yes"}},
		"GET /jobs/{jid}":              {{path: "/jobs/" + adHocJID}},
		"POST /jobs/{jid}/resume": {
			{path: "/jobs/" + orchJID + "/resume", form: []string{}},
			{path: "/jobs/" + chainJID + "/resume", form: []string{}},
			{path: "/jobs/" + siteJID + "/resume", form: []string{}},
			{path: "/jobs/" + adHocOrchJID + "/resume", form: []string{}, least: Editor},
			{path: "/jobs/" + otherEnvJID + "/resume", form: []string{}, least: Editor},
		},
		"POST /jobs/{jid}/retry": {
			{path: "/jobs/" + stepJID + "/retry", form: []string{}},
			{path: "/jobs/" + chainStepJID + "/retry", form: []string{}},
			{path: "/jobs/" + pingJID + "/retry", form: []string{}},
			{path: "/jobs/" + adHocJID + "/retry", form: []string{}, least: Editor},
		},
		"GET /audit":                    {{path: "/audit"}},
		"GET /hosts":                    {{path: "/hosts?expr=G@os:x"}, {path: "/hosts?expr=G@os:x&by=facts"}},
		"GET /hosts/{id}":               {{path: "/hosts/web1"}},
		"POST /hosts/ping":              {{path: "/hosts/ping", form: []string{"host", "web1"}}, {path: "/hosts/ping", form: []string{"by", "facts", "host", "web1"}}},
		"POST /hosts/facts":             {{path: "/hosts/facts", form: []string{"host", "web1"}}, {path: "/hosts/facts", form: []string{"by", "facts", "host", "web1"}}},
		"POST /hosts/run":               {{path: "/hosts/run", form: []string{"host", "web1", "function", "cmd.run", "arguments", "id", "confirm", "yes"}}, {path: "/hosts/run", form: []string{"by", "facts", "host", "web1", "function", "cmd.run", "arguments", "id", "confirm", "yes"}}},
		"POST /hosts/chain":             {{path: "/hosts/chain", form: []string{"host", "web1", "name", "fresh", "action", "cmd"}}, {path: "/hosts/chain", form: []string{"by", "facts", "host", "web1", "name", "fresh", "action", "cmd"}}},
		"GET /targets":                  {{path: "/targets?expr=G@os:x"}},
		"GET /drift":                    {{path: "/drift"}},
		"GET /recurring":                {{path: "/recurring?month=2026-12"}},
		"POST /recurring":               {{path: "/recurring", form: []string{"name", "weekly", "what", "chain friday", "when", "monday 04:00", "queue", "ops", "confirm", "yes"}}},
		"POST /recurring/{name}/pause":  {{path: "/recurring/weekly/pause", form: []string{}, before: recurringOne}},
		"POST /recurring/{name}/resume": {{path: "/recurring/weekly/resume", form: []string{}, before: recurringOne}},
		"POST /recurring/{name}/remove": {{path: "/recurring/weekly/remove", form: []string{}, before: recurringOne}},
		"GET /states":                   {{path: "/states"}},
		"GET /states/{sls}":             {{path: "/states/web"}},
		"GET /states/{sls}/step":        {{path: "/states/web/step?chain=friday"}},
		"/":                             {{path: "/nothing", want: 404}},
	}
}

// TestRoutes sends requests of each route as each role, and nobody. They are answered,
// recorded, read, reach and run what the row of the route says: no more and no less.
func TestRoutes(t *testing.T) {
	t.Parallel()
	rows := routes()
	var known []string
	for _, x := range rows {
		known = append(known, x.pattern)
	}
	for pattern := range samples("") {
		if !slices.Contains(known, pattern) {
			t.Errorf("samples of %s, which is no route", pattern)
		}
	}
	for _, x := range rows {
		t.Run(x.pattern, func(t *testing.T) {
			t.Parallel()
			all := samples(versionOf(nil))[x.pattern]
			if len(all) == 0 {
				t.Fatal("the test has no request of this route")
			}
			for role := Nobody; role <= Editor; role++ {
				used := powers(0)
				for _, m := range all {
					used |= tryRoute(t, x, m, role)
				}
				if want := seen(x.may[role]); role >= x.least && role != Nobody && used != want {
					t.Errorf("%s: the row grants %v, and %v is used", role, want.describe(), used.describe())
				}
			}
		})
	}
}

// seen are those of some powers that a spy sees. The test looks at texts and changes of
// chains and at kept answers itself; runs are in the memory of the server, see
// TestUngranted.
func seen(p powers) powers {
	if p&(readText|changeChains) != 0 {
		p |= readSteps
	}
	return p &^ (readText | changeChains | readAnswers | readRuns)
}

// tryRoute sends a request, and returns what it used.
func tryRoute(t *testing.T, x route, m sample, role Role) powers {
	t.Helper()
	s, sp := sampleSite(t)
	st, _ := s.Chains(t.Context())
	_, text, _ := st.Read("friday")
	m = samples(versionOf(text))[x.pattern][slices.IndexFunc(samples("")[x.pattern], func(y sample) bool {
		return y.path == m.path && slices.Equal(y.form[:min(2, len(y.form))], m.form[:min(2, len(m.form))]) && len(y.form) == len(m.form)
	})]
	path := m.path
	if m.before != nil {
		path, m.form = m.with(m.before(s, sp))
	}
	before := chainsOf(t, s)
	method, _, _ := strings.Cut(x.pattern, " ")
	if method == "/" {
		method = http.MethodGet
	}
	what := fmt.Sprintf("%s as %s", m.path, role)
	var w *httptest.ResponseRecorder
	sp.took()
	recorded := len(s.actions)
	if role == Nobody {
		var body strings.Reader
		if m.form != nil {
			body = *strings.NewReader(formOf(m.form).Encode())
		}
		r := httptest.NewRequest(method, origin+path, &body)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", origin)
		w = s.do(r)
	} else {
		b := s.browser(role)
		var form url.Values
		if m.form != nil {
			form = formOf(m.form)
			form.Set("csrf", b.csrf())
		}
		w = b.do(b.request(method, path, form))
	}
	least := max(x.least, m.least)
	allowed := role >= least
	needs := least
	if role < x.least {
		needs = x.least
	}
	switch {
	case role == Nobody && x.least > Nobody:
		asked := w.Code == http.StatusSeeOther && strings.HasPrefix(w.Header().Get("Location"), "/login")
		kept := len(m.form) > 0 && w.Code == http.StatusForbidden && strings.Contains(w.Body.String(), "Your log-in has expired, so nothing was done.")
		if !asked && !kept {
			t.Errorf("%s: status %d", what, w.Code)
		}
	case !allowed:
		if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "This needs the role "+needs.String()) {
			t.Errorf("%s: status %d: %.300s", what, w.Code, w.Body)
		}
	case m.want != 0:
		if w.Code != m.want {
			t.Errorf("%s: status %d, want %d", what, w.Code, m.want)
		}
	case w.Code != http.StatusOK && w.Code != http.StatusSeeOther:
		t.Errorf("%s: status %d: %.2000s", what, w.Code, w.Body)
	}
	if x.action != "" && x.least > Nobody && role != Nobody {
		s.mu.Lock()
		n := len(s.actions)
		if n != recorded+1 || s.actions[n-1].OK != (allowed && m.want != 422) || s.actions[n-1].User != role.String() {
			t.Errorf("%s: record: %v", what, s.actions[recorded:])
		}
		s.mu.Unlock()
	}
	if allowed && x.may[role]&(runDefined|runAny) != 0 && m.want == 0 && strings.HasPrefix(w.Header().Get("Location"), "/runs/") {
		<-s.ran
	}
	if allowed && strings.HasSuffix(path, "/kill") {
		<-s.only().done()
	}
	used := sp.took()
	if !allowed {
		if bad := used &^ (readSteps | readRecords | readNames); bad != 0 || len(s.ran) > 0 {
			t.Errorf("%s: refused, and used %v", what, bad.describe())
		}
	}
	if bad := used &^ seen(x.may[role]); allowed && bad != 0 && x.least > Nobody && (x.action == "" || bad&^readSteps != 0) {
		t.Errorf("%s: used %v", what, bad.describe())
	}
	if changed := chainsOf(t, s) != before; changed != (allowed && x.may[role]&changeChains != 0) {
		t.Errorf("%s: the chains changed: %v", what, changed)
	}
	if has := strings.Contains(w.Body.String(), hidden); has && (!allowed || x.may[role]&readText == 0) {
		t.Errorf("%s: the page has a secret of a chain", what)
	}
	if has := strings.Contains(w.Body.String(), "31337"); has != (allowed && x.may[role]&readAnswers != 0) {
		t.Errorf("%s: the page has kept answers: %v", what, has)
	}
	if x.action != "" { // what the record says of it
		used &= seen(x.may[role])
	}
	return used
}

func formOf(kv []string) url.Values {
	f := url.Values{}
	for i := 0; i < len(kv); i += 2 {
		f.Set(kv[i], kv[i+1])
	}
	return f
}

// chainsOf is what the directory of chains has.
func chainsOf(t *testing.T, s *site) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.dir, "*.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString(f + "\n" + string(text))
	}
	return out.String()
}

// TestRoutesAlone has no route be made but of the table, and the backend be used by no
// handler but through what the table grants.
func TestRoutesAlone(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	made := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			switch name := sel.Sel.Name; name {
			case "HandleFunc", "Handle":
				made++
			case "Backend":
				// The record of what was done, and the table's own gate.
				if inner, ok := sel.X.(*ast.SelectorExpr); ok && inner.Sel.Name == "opts" && file != "access.go" && file != "powers.go" && file != "runs.go" {
					t.Errorf("%s uses the backend without a power", file)
				}
			}
			return true
		})
	}
	if made != 1 {
		t.Errorf("routes are made in %d places", made)
	}
}

// TestUngranted has a handler ask for more than its row says.
func TestUngranted(t *testing.T) {
	t.Parallel()
	s, sp := sampleSite(t)
	ctx := t.Context()
	b := s.back(ctx)
	_, err1 := b.catalogue(ctx)
	_, _, err2 := b.steps(ctx, "orch.deploy")
	_, _, err3 := b.match(ctx, "*")
	_, _, err4 := b.matchDefined(ctx, "*")
	_, _, err5 := b.template(ctx, "site")
	_, err6 := b.chains(ctx)
	_, err7 := b.redacted(ctx, nil)
	_, err8 := b.planned(ctx)
	_, _, err9 := b.state(ctx, "web")
	_, err10 := s.start(ctx, runSpec{Spec: kept.Spec{Kind: kept.Chains, Name: "friday"}}, &visit{role: Editor})
	_, err11 := s.findRun(ctx, "x")
	_, _, err12 := b.drift(ctx)
	_, err13 := b.recurring(ctx, time.Time{})
	_, err14 := b.approvals(ctx)
	_, err15 := b.approve(ctx, "x", "", approval.Answer{})
	only, cancel := context.WithCancel(context.WithValue(ctx, powersKey{}, readSteps))
	defer cancel()
	st, err := s.back(only).chains(only)
	if err != nil {
		t.Fatal(err)
	}
	for i, err := range []error{
		err1, err2, err3, err4, err5, err6, err7, err8, err9, err10, err11, err12, err13, b.addRecurring(ctx, NewRecurrence{}), b.changeRecurring(ctx, "x", PauseRecurrence), b.jobs(ctx, nil), b.history(ctx, nil), b.states(ctx, nil), b.schedule(ctx, "friday", "", ""), b.events(ctx, nil, nil), b.unschedule(ctx, "x"), err14, err15,
		st.write("friday", nil, nil), st.rename("friday", "x", nil, nil), st.delete("friday", nil),
	} {
		if err != errUngranted { //nolint:errorlint // it is not wrapped
			t.Errorf("%d: %v", i+1, err)
		}
	}
	if sp.took() != readSteps {
		t.Error("the backend was asked")
	}
}

// TestTable compares the tables of the documentation with those of the code.
func TestTable(t *testing.T) {
	t.Parallel()
	compareTable(t, "ui.md", "routes", Table())
	compareTable(t, "ui/api.md", "problems", problemTable())
	compareTable(t, "ui/api.md", "routes", tableOf(apiRoutes()))
	var chunks []route
	for _, x := range lows() {
		x.pattern = strings.TrimPrefix(x.pattern, "salt-api ")
		chunks = append(chunks, x.route)
	}
	compareTable(t, "ui/api.md", "salt", strings.Replace(tableOf(chunks), "| route |", "| clients, function |", 1))
}

// problemTable is the table of the kinds of problems.
func problemTable() string {
	var b strings.Builder
	b.WriteString("| type | status | meaning |\n|---|---|---|\n")
	for _, p := range problems {
		fmt.Fprintf(&b, "| `%s` | %d | %s |\n", p.kind, p.status, p.title)
	}
	return b.String()
}

// compareTable compares a table of a page of docs.
func compareTable(t *testing.T, page, name, table string) {
	t.Helper()
	file := "../../../docs/" + page
	begin, end := "<!-- begin "+name+": written by go test ./internal/view/ui -run Table -update -->\n\n", "\n<!-- end "+name+" -->"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	old, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", file)
	}
	if old == table {
		return
	}
	if !*updateTable {
		t.Fatalf("a table in %s is not that of the code: go test ./internal/view/ui -run Table -update", file)
	}
	if err := os.WriteFile(file, []byte(before+begin+table+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
